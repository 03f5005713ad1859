//! The messages of collectives in rounds, by algorithm (Thakur, Rabenseifner and Gropp, "Optimization of Collective
//! Communication Operations in MPICH", IJHPCA 2005).
//!
//! ```text
//! n members, S bytes: those of the whole vector; of an all-gather, the part of each member, as in ASTRA-sim
//!                    ring                        tree (binomial)             halving_doubling (n a power of two)
//! all-reduce         2 (n - 1) steps of S / n    reduce, then broadcast of S 2 log2 n steps: S / 2, S / 4, ... and back
//! reduce-scatter     n - 1 steps of S / n        as ring                     log2 n steps: S / 2, S / 4, ...
//! all-gather         n - 1 steps of S            as ring                     log2 n steps: S, 2 S, 4 S, ...
//! broadcast, reduce  binomial tree from or to the first member, log2 n steps of S
//! all-to-all         each member sends S / n to each other one at once; gather, scatter: from or to the first member
//! barrier            log2 n steps of one byte (dissemination)
//! ```

use priolane_core::keys::Words;

/// The algorithm of all-reduces, reduce-scatters and all-gathers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Words)]
pub enum Algorithm {
    /// A ring.
    #[default]
    Ring,
    /// Binomial trees.
    Tree,
    /// Recursive halving and doubling.
    HalvingDoubling,
}

impl Algorithm {
    /// The algorithms and their names.
    pub const ALL: [(&str, Self); 3] =
        [("ring", Self::Ring), ("tree", Self::Tree), ("halving_doubling", Self::HalvingDoubling)];
}

/// A collective, as Chakra numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    AllReduce,
    Reduce,
    AllGather,
    Gather,
    Scatter,
    Broadcast,
    AllToAll,
    ReduceScatter,
    Barrier,
}

impl Collective {
    pub(crate) fn of_chakra(number: u64) -> Option<Self> {
        Some(match number {
            0 => Self::AllReduce,
            1 => Self::Reduce,
            2 => Self::AllGather,
            3 => Self::Gather,
            4 => Self::Scatter,
            5 => Self::Broadcast,
            6 => Self::AllToAll,
            7 | 8 => Self::ReduceScatter,
            9 => Self::Barrier,
            _ => return None,
        })
    }
}

/// The direction of messages on a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    ToFirst,
    FromFirst,
}

/// A message of a round, between members of the collective by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Payload bytes, at least 1.
    pub(crate) bytes: u64,
}

/// The messages that are independent of each other; those of the next round depend on what their senders received.
pub(crate) type Round = Vec<Message>;

/// Returns the rounds of a collective of `n` members.
///
/// # Errors
/// Returns the reason if the algorithm cannot do this collective.
pub(crate) fn rounds(
    collective: Collective,
    algorithm: Algorithm,
    (n, bytes): (usize, u64),
) -> Result<Vec<Round>, String> {
    let part = bytes.div_ceil(n as u64);
    let halving = matches!(algorithm, Algorithm::HalvingDoubling);
    let is_exchange =
        matches!(collective, Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter);
    if halving && is_exchange && !n.is_power_of_two() {
        return Err(format!("halving_doubling needs a power of two, not {n} ranks"));
    }
    let distances = || (0..n.ilog2()).map(|bit| 1_usize << bit);
    let halves = || distances().rev().map(|distance| (distance, distance as u64 * part));
    let doubles = |of: u64| distances().map(move |distance| (distance, distance as u64 * of));
    Ok(match (collective, algorithm) {
        (Collective::AllReduce, Algorithm::Ring) => [ring(n, part), ring(n, part)].concat(),
        (Collective::AllReduce, Algorithm::Tree) => {
            [tree(n, bytes, Direction::ToFirst), tree(n, bytes, Direction::FromFirst)].concat()
        }
        (Collective::AllReduce, Algorithm::HalvingDoubling) => {
            [exchange(n, halves()), exchange(n, doubles(part))].concat()
        }
        (Collective::ReduceScatter, Algorithm::HalvingDoubling) => exchange(n, halves()),
        (Collective::AllGather, Algorithm::HalvingDoubling) => exchange(n, doubles(bytes)),
        (Collective::ReduceScatter, _) => ring(n, part),
        (Collective::AllGather, _) => ring(n, bytes),
        (Collective::Reduce, _) => tree(n, bytes, Direction::ToFirst),
        (Collective::Broadcast, _) => tree(n, bytes, Direction::FromFirst),
        (Collective::AllToAll, _) => {
            let others = (1..n).flat_map(|far| (0..n).map(move |from| (from, (from + far) % n)));
            vec![round(others.map(|(from, to)| (from, to, part)))]
        }
        (Collective::Gather, _) => vec![round((1..n).map(|member| (member, 0, bytes)))],
        (Collective::Scatter, _) => vec![round((1..n).map(|member| (0, member, bytes)))],
        (Collective::Barrier, _) => {
            let distances = (0..usize::BITS).map(|bit| 1_usize << bit).take_while(|&distance| distance < n);
            distances.map(|far| round((0..n).map(|from| (from, (from + far) % n, 1)))).collect()
        }
    })
}

fn round(messages: impl Iterator<Item = (usize, usize, u64)>) -> Round {
    messages.map(|(from, to, bytes)| Message { from, to, bytes: bytes.max(1) }).collect()
}

fn ring(n: usize, bytes_of_step: u64) -> Vec<Round> {
    (1..n).map(|_| round((0..n).map(|from| (from, (from + 1) % n, bytes_of_step)))).collect()
}

/// To or from the first member over a binomial tree.
fn tree(n: usize, bytes: u64, direction: Direction) -> Vec<Round> {
    let distances = (0..usize::BITS).map(|bit| 1_usize << bit).take_while(|&distance| distance < n);
    let edges = |distance: usize| (0..n).step_by(2 * distance).filter(move |low| low + distance < n);
    let of_distance = |distance: usize| {
        round(edges(distance).map(|low| match direction {
            Direction::ToFirst => (low + distance, low, bytes),
            Direction::FromFirst => (low, low + distance, bytes),
        }))
    };
    let mut rounds: Vec<Round> = distances.map(of_distance).collect();
    if direction == Direction::FromFirst {
        rounds.reverse();
    }
    rounds
}

/// Exchanges with the member at each distance.
fn exchange(n: usize, rounds: impl Iterator<Item = (usize, u64)>) -> Vec<Round> {
    rounds.map(|(far, bytes)| round((0..n).map(|member| (member, member ^ far, bytes)))).collect()
}

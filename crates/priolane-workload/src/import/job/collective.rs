//! Collectives as messages, by algorithm (Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication
//! Operations in MPICH", IJHPCA 2005).
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

use super::op::Kind;

/// The algorithm of all-reduces, reduce-scatters and all-gathers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
pub(super) enum Collective {
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
    pub(super) fn of_chakra(number: u64) -> Option<Self> {
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

/// An op of a member, and the earlier ops of that member that it waits for, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) after: Vec<u32>,
}

/// The ops of one member.
#[derive(Debug, Default)]
struct Member {
    parts: Vec<Part>,
    /// The last receives, which the next sends wait for.
    last: Vec<u32>,
}

/// A collective of these ranks, under construction.
struct Builder<'a> {
    ranks: &'a [u32],
    tag: u32,
    members: Vec<Member>,
}

impl Builder<'_> {
    /// Member `from` sends `bytes` to member `to` once it has what it received in earlier rounds; the two places of a
    /// round are independent of each other.
    fn round(&mut self, messages: impl Iterator<Item = (usize, usize, u64)>) {
        let mut received = vec![Vec::new(); self.members.len()];
        for (from, to, bytes) in messages {
            let bytes = bytes.max(1);
            let send = Kind::Send { bytes, to: self.ranks[to], tag: self.tag };
            let after = self.members[from].last.clone();
            self.members[from].parts.push(Part { kind: send, after });
            let receive = Kind::Receive { bytes, from: Some(self.ranks[from]), tag: Some(self.tag) };
            let parts = &mut self.members[to].parts;
            received[to].push(parts.len() as u32);
            parts.push(Part { kind: receive, after: Vec::new() });
        }
        for (member, received) in self.members.iter_mut().zip(received) {
            // A receive follows those before it, so that the last ones stand for all.
            let before = member.last.clone();
            for &receive in &received {
                member.parts[receive as usize].after.clone_from(&before);
            }
            if !received.is_empty() {
                member.last = received;
            }
        }
    }

    fn ring(&mut self, bytes_of_step: u64) {
        let n = self.ranks.len();
        for _ in 1..n {
            self.round((0..n).map(|member| (member, (member + 1) % n, bytes_of_step)));
        }
    }

    /// To or from the first member over a binomial tree.
    fn tree(&mut self, bytes: u64, direction: Direction) {
        let n = self.ranks.len();
        let distances = || (0..usize::BITS).map(|bit| 1_usize << bit).take_while(|&distance| distance < n);
        let edges = |distance: usize| (0..n).step_by(2 * distance).filter(move |low| low + distance < n);
        let round = |builder: &mut Self, distance: usize| {
            let message = |low: usize| match direction {
                Direction::ToFirst => (low + distance, low, bytes),
                Direction::FromFirst => (low, low + distance, bytes),
            };
            builder.round(edges(distance).map(message));
        };
        if direction == Direction::ToFirst {
            distances().for_each(|distance| round(self, distance));
        } else {
            distances().collect::<Vec<_>>().into_iter().rev().for_each(|distance| round(self, distance));
        }
    }

    /// Exchanges with the member at each distance.
    fn exchange(&mut self, rounds: impl Iterator<Item = (usize, u64)>) {
        let n = self.ranks.len();
        for (distance, bytes) in rounds {
            self.round((0..n).map(|member| (member, member ^ distance, bytes)));
        }
    }
}

/// Returns the ops of each member.
///
/// # Errors
/// Returns the reason if the algorithm cannot do this collective.
pub(super) fn parts(
    collective: Collective,
    algorithm: Algorithm,
    ranks: &[u32],
    bytes: u64,
    tag: u32,
) -> Result<Vec<Vec<Part>>, String> {
    let n = ranks.len();
    let members = (0..n).map(|_| Member::default()).collect();
    let mut builder = Builder { ranks, tag, members };
    let part = bytes.div_ceil(n as u64);
    let halving = matches!(algorithm, Algorithm::HalvingDoubling);
    let is_exchange =
        matches!(collective, Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter);
    if halving && is_exchange && !n.is_power_of_two() {
        return Err(format!("halving_doubling needs a power of two, not {n} ranks"));
    }
    let distances = || (0..n.ilog2()).map(|bit| 1_usize << bit);
    let halves = || distances().rev().map(|distance| (distance, distance as u64 * part));
    match (collective, algorithm) {
        (Collective::AllReduce, Algorithm::Ring) => (0..2).for_each(|_| builder.ring(part)),
        (Collective::AllReduce, Algorithm::Tree) => {
            builder.tree(bytes, Direction::ToFirst);
            builder.tree(bytes, Direction::FromFirst);
        }
        (Collective::AllReduce, Algorithm::HalvingDoubling) => {
            builder.exchange(halves());
            builder.exchange(distances().map(|distance| (distance, distance as u64 * part)));
        }
        (Collective::ReduceScatter, Algorithm::HalvingDoubling) => builder.exchange(halves()),
        (Collective::AllGather, Algorithm::HalvingDoubling) => {
            builder.exchange(distances().map(|distance| (distance, distance as u64 * bytes)));
        }
        (Collective::ReduceScatter, _) => builder.ring(part),
        (Collective::AllGather, _) => builder.ring(bytes),
        (Collective::Reduce, _) => builder.tree(bytes, Direction::ToFirst),
        (Collective::Broadcast, _) => builder.tree(bytes, Direction::FromFirst),
        (Collective::AllToAll, _) => {
            let others = (1..n).flat_map(|far| (0..n).map(move |member| (member, (member + far) % n)));
            builder.round(others.map(|(from, to)| (from, to, part)));
        }
        (Collective::Gather, _) => builder.round((1..n).map(|member| (member, 0, bytes))),
        (Collective::Scatter, _) => builder.round((1..n).map(|member| (0, member, bytes))),
        (Collective::Barrier, _) => {
            let distances = (0..usize::BITS).map(|bit| 1_usize << bit).take_while(|&distance| distance < n);
            for distance in distances {
                builder.round((0..n).map(|member| (member, (member + distance) % n, 1)));
            }
        }
    }
    Ok(builder.members.into_iter().map(|member| member.parts).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, VecDeque};

    use super::*;

    /// The members whose data reached each member at the end, and the rounds that took.
    fn run(parts: &[Vec<Part>]) -> (Vec<BTreeSet<usize>>, usize, u64) {
        let mut known: Vec<Vec<BTreeSet<usize>>> =
            parts.iter().map(|own| vec![BTreeSet::new(); own.len()]).collect();
        let mut depth: Vec<Vec<usize>> = parts.iter().map(|own| vec![0; own.len()]).collect();
        let (mut bytes_sent, mut in_flight) =
            (0, BTreeMap::<(u32, u32), VecDeque<(BTreeSet<usize>, usize)>>::new());
        let mut open: Vec<VecDeque<usize>> = parts.iter().map(|own| (0..own.len()).collect()).collect();
        let mut moved = true;
        while std::mem::take(&mut moved) {
            for member in 0..parts.len() {
                for _ in 0..open[member].len() {
                    let Some(place) = open[member].pop_front() else { break };
                    let part = &parts[member][place];
                    let ready = part.after.iter().all(|&first| !open[member].contains(&(first as usize)));
                    let mut set: BTreeSet<usize> =
                        part.after.iter().flat_map(|&first| known[member][first as usize].clone()).collect();
                    set.insert(member);
                    let before =
                        part.after.iter().map(|&first| depth[member][first as usize]).max().unwrap_or(0);
                    match part.kind {
                        Kind::Send { to, bytes, .. } if ready => {
                            bytes_sent += bytes;
                            in_flight
                                .entry((member as u32, to))
                                .or_default()
                                .push_back((set.clone(), before + 1));
                            (known[member][place], depth[member][place]) = (set, before);
                        }
                        Kind::Receive { from: Some(from), .. } if ready => {
                            let queue = in_flight.entry((from, member as u32)).or_default();
                            let Some((sent, at)) = queue.pop_front() else {
                                open[member].push_back(place);
                                continue;
                            };
                            set.extend(sent);
                            (known[member][place], depth[member][place]) = (set, before.max(at));
                        }
                        _ => {
                            open[member].push_back(place);
                            continue;
                        }
                    }
                    moved = true;
                }
            }
        }
        assert!(open.iter().all(VecDeque::is_empty), "{open:?}");
        let finally = known.into_iter().map(|own| own.into_iter().flatten().collect()).collect();
        (finally, depth.into_iter().flatten().max().unwrap_or(0), bytes_sent)
    }

    /// Hops between the first of `n` members and the farthest one on a binomial tree: each clears one bit of a number.
    fn hops(n: u32) -> usize {
        (0..n).map(u32::count_ones).max().unwrap_or(0) as usize
    }

    fn of(
        collective: Collective,
        algorithm: Algorithm,
        n: u32,
        bytes: u64,
    ) -> (Vec<BTreeSet<usize>>, usize, u64) {
        let ranks: Vec<u32> = (0..n).collect();
        run(&parts(collective, algorithm, &ranks, bytes, 7).unwrap())
    }

    #[test]
    fn what_everybody_gets_comes_from_everybody_in_the_steps_and_bytes_that_are_published() {
        for n in 2..=17_u32 {
            let (all, log) =
                ((0..n as usize).collect::<BTreeSet<_>>(), n.next_power_of_two().ilog2() as usize);
            let (steps, bytes) = (u64::from(n - 1), u64::from(n) * 100);
            let check = |collective, algorithm, depth: usize, sent: u64| {
                let (known, found, total) = of(collective, algorithm, n, bytes);
                assert!(
                    known.iter().all(|known| *known == all),
                    "{collective:?} {algorithm:?} of {n}: {known:?}"
                );
                assert_eq!((found, total), (depth, sent), "{collective:?} {algorithm:?} of {n}");
            };
            check(Collective::AllReduce, Algorithm::Ring, 2 * steps as usize, 2 * steps * bytes);
            check(Collective::AllReduce, Algorithm::Tree, 2 * hops(n), 2 * steps * bytes);
            check(Collective::ReduceScatter, Algorithm::Ring, steps as usize, steps * bytes);
            check(Collective::AllGather, Algorithm::Tree, steps as usize, steps * bytes * u64::from(n));
            check(Collective::AllToAll, Algorithm::Ring, 1, steps * bytes);
            check(Collective::Barrier, Algorithm::Ring, log, u64::from(n) * log as u64);
            if n.is_power_of_two() {
                let of_all = Algorithm::HalvingDoubling;
                check(Collective::AllReduce, of_all, 2 * log, 2 * steps * bytes);
                check(Collective::ReduceScatter, of_all, log, steps * bytes);
                check(Collective::AllGather, of_all, log, steps * bytes * u64::from(n));
            } else {
                let ranks: Vec<u32> = (0..n).collect();
                let refused = parts(Collective::AllReduce, Algorithm::HalvingDoubling, &ranks, 8, 0);
                assert_eq!(refused, Err(format!("halving_doubling needs a power of two, not {n} ranks")));
            }
        }
    }

    #[test]
    fn trees_lead_to_or_from_the_first_member() {
        for n in 2..=17_u32 {
            let sent = u64::from(n - 1) * 50;
            let (known, depth, bytes) = of(Collective::Broadcast, Algorithm::Ring, n, 50);
            assert!(known.iter().all(|known| known.contains(&0)), "{known:?}");
            assert_eq!((depth, bytes), (hops(n), sent));
            let (known, depth, bytes) = of(Collective::Reduce, Algorithm::Ring, n, 50);
            assert_eq!((known[0].len(), depth, bytes), (n as usize, hops(n), sent));
            let (known, depth, bytes) = of(Collective::Gather, Algorithm::Ring, n, 50);
            assert_eq!((known[0].len(), depth, bytes), (n as usize, 1, sent));
            let (known, depth, bytes) = of(Collective::Scatter, Algorithm::Ring, n, 50);
            assert!(known.iter().all(|known| known.contains(&0)));
            assert_eq!((depth, bytes), (1, sent));
        }
    }
}

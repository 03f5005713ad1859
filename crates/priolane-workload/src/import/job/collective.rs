//! Collectives as ops of ranks.

use super::op::Kind;
use crate::rounds::{Algorithm, Collective, Message, rounds};

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
    fn round(&mut self, messages: &[Message]) {
        let mut received = vec![Vec::new(); self.members.len()];
        for &Message { from, to, bytes } in messages {
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
    let rounds = rounds(collective, algorithm, (ranks.len(), bytes))?;
    let members = (0..ranks.len()).map(|_| Member::default()).collect();
    let mut builder = Builder { ranks, tag, members };
    rounds.iter().for_each(|round| builder.round(round));
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

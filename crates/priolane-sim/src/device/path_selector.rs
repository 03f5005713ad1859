//! How a switch takes one of several equal paths (docs/assumptions.md#spray).
//!
//! ```text
//! random       one drawn evenly
//! round robin  one after the other, for each of payload, tokens and control packets; the first is drawn
//! DRILL(2, 1)  two drawn, different ones, and the best of the last time: the one with the fewest bytes queued, of equals
//!              the one whose line is free first, of those the one drawn first
//! ```
//!
//! The turns and the best of the last time are kept for each *run*, a set of equal paths of the switch.

use priolane_core::packet::Kind;
use priolane_core::rng::Stream;
use priolane_core::units::Time;

use crate::model::topology::{NextHops, Pick};

/// How a switch chooses among equal paths.
#[derive(Debug)]
pub(crate) enum PathSelector {
    /// By a packet's entropy.
    ByEntropy(Pick),
    /// One drawn for each packet.
    Random(Box<Stream>),
    /// In turns.
    RoundRobin(Box<RoundRobinState>),
    /// By what waits at the ports.
    Drill(Box<Drill>),
}

/// The ports of equal paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EqualCostPorts<'a> {
    /// The name of the run.
    pub(crate) run: u32,
    /// Places among the egress ports of the switch.
    pub(crate) ports: &'a [u32],
}

/// Whose turn it is, by run.
#[derive(Debug)]
pub(crate) struct RoundRobinState(Vec<Turn>);

#[derive(Debug)]
struct Turn {
    run: u32,
    /// The next of payload, tokens and control packets.
    next: [u32; 3],
}

impl RoundRobinState {
    /// Of these runs, the first of each drawn.
    pub(crate) fn new(runs: Vec<NextHops>, rng: &mut Stream) -> Self {
        let turn = |NextHops { first, count }| Turn {
            run: first,
            next: std::array::from_fn(|_| rng.below(u64::from(count)) as u32),
        };
        Self(runs.into_iter().map(turn).collect())
    }

    /// The place in `run` of the path that a packet of `kind` takes.
    #[inline(never)]
    pub(crate) fn next(&mut self, run: NextHops, kind: Kind) -> u32 {
        let Some(turn) = self.0.iter_mut().find(|turn| turn.run == run.first) else { return 0 };
        let next = &mut turn.next[match kind {
            Kind::Data => 0,
            Kind::Credit => 1,
            _ => 2,
        }];
        // Where links fail a run's name may come to mean fewer paths.
        let place = if *next < run.count { *next } else { 0 };
        *next = place + 1;
        place
    }
}

/// What waits before a port, and when its line is free.
pub(crate) type Load = (u64, Time);

/// The best of the last time, by run.
#[derive(Debug)]
pub(crate) struct Drill {
    rng: Stream,
    /// Run and place in it.
    best: Vec<(u32, u32)>,
}

impl Drill {
    /// Of these runs, the first path of each the best so far.
    pub(crate) fn new(runs: Vec<u32>, rng: Stream) -> Self {
        Self { rng, best: runs.into_iter().map(|run| (run, 0)).collect() }
    }

    /// The port that a packet takes; `load` is asked for two or three of them.
    pub(crate) fn choose(
        &mut self,
        equal_cost_ports: EqualCostPorts,
        mut load: impl FnMut(u32) -> Load,
    ) -> u32 {
        let count = equal_cost_ports.ports.len() as u64;
        if count < 2 {
            return equal_cost_ports.ports[0];
        }
        let one = self.rng.below(count) as u32;
        let other = (one + 1 + self.rng.below(count - 1) as u32) % count as u32;
        let mut kept = self.best.iter_mut().find(|(run, _)| *run == equal_cost_ports.run);
        let last = kept.as_ref().map(|(_, place)| *place).filter(|&place| u64::from(place) < count);
        let drawn = [Some(one), Some(other), last].into_iter().flatten();
        let best = drawn.min_by_key(|&place| load(equal_cost_ports.ports[place as usize])).unwrap_or(one);
        if let Some((_, place)) = &mut kept {
            *place = best;
        }
        equal_cost_ports.ports[best as usize]
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::rng::Purpose;

    use super::*;

    fn rng() -> Stream {
        Stream::new(1, Purpose::Paths, 0)
    }

    #[test]
    fn turns_are_even_to_one_and_apart_by_kind() {
        let runs = [NextHops { first: 10, count: 3 }, NextHops { first: 20, count: 2 }];
        let mut turns = RoundRobinState::new(runs.to_vec(), &mut rng());
        let mut counts = [[0u32; 3]; 2];
        for packet in 0..1_000 {
            // Tokens between payload: neither disturbs the other's turns.
            let kind = [Kind::Data, Kind::Credit][packet % 2];
            counts[packet % 2][turns.next(runs[0], kind) as usize] += 1;
            assert!(turns.next(runs[1], kind) < 2);
        }
        for count in counts {
            assert!(count.iter().max().unwrap() - count.iter().min().unwrap() <= 1, "{counts:?}");
        }
        // A run that lost paths goes on with those that are left.
        assert!((0..9).all(|_| turns.next(NextHops { first: 10, count: 2 }, Kind::Data) < 2));
    }

    #[test]
    fn drill_takes_the_least_loaded_of_two_drawn_and_the_best_of_the_last_time() {
        let ports = [4, 5, 6, 7];
        let equal_cost_ports = EqualCostPorts { run: 3, ports: &ports };
        let mut drill = Drill::new(vec![3], rng());
        // Port 6 is empty: once it was drawn it is the best of the last time, and stays it while it is empty.
        let empty = |port: u32| (u64::from(port != 6), Time::ZERO);
        let taken: Vec<u32> = (0..100).map(|_| drill.choose(equal_cost_ports, empty)).collect();
        let first = taken.iter().position(|&port| port == 6).unwrap();
        assert!(first < 20 && taken[first..].iter().all(|&port| port == 6), "{taken:?}");
        // As it fills, another one is found among any two.
        assert_ne!(drill.choose(equal_cost_ports, |port| (u64::from(port == 6), Time::ZERO)), 6);
        // Three are looked at, two of them different.
        let mut asked = Vec::new();
        drill.choose(equal_cost_ports, |port| {
            asked.push(port);
            (0, Time::ZERO)
        });
        assert!(asked.len() == 3 && asked[0] != asked[1], "{asked:?}");
        // Of equal queues the one whose line is free first.
        let by_line = |port: u32| (0, Time(u64::from(7 - port)));
        let last = (0..50).map(|_| drill.choose(equal_cost_ports, by_line)).last();
        assert_eq!(last, Some(7));
    }
}

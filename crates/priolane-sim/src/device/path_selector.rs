//! The selection by a switch of one of several equal paths (docs/assumptions.md#spray).
//!
//! ```text
//! random       one uniformly at random, drawn from the packet's arrival
//! round robin  one after the other, separately for payload, tokens and control packets, with a random start
//! DRILL(2, 1)  among two different random ones and the best of the last decision: the one with the fewest queued
//!              bytes; ties go to the one whose link is free first, then to the one drawn first
//! ```
//!
//! The positions and the best of the last decision are kept per *run*, a set of equal paths of the switch.

use priolane_core::packet::Kind;
use priolane_core::rng::{CounterRng, Stream};
use priolane_core::units::Time;

use crate::device::event_sink::Ingress;
use crate::model::topology::{NextHops, Pick};

/// The way in which a switch selects among equal paths.
#[derive(Debug)]
pub(crate) enum PathSelector {
    /// By a packet's entropy.
    ByEntropy(Pick),
    /// At random for each packet.
    Random(CounterRng),
    /// Round robin.
    RoundRobin(Box<RoundRobinState>),
    /// By the backlog of ports.
    Drill(Box<Drill>),
}

/// The arrival of a packet at a switch: no two packets have the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) at: Time,
    /// The rank of the ingress link.
    pub(crate) from: u32,
}

impl Visit {
    /// Returns the number by which random choices for the packet are drawn.
    #[inline]
    pub(crate) fn counter(self) -> u64 {
        self.at.0 ^ u64::from(self.from).rotate_right(Ingress::RANK_BITS)
    }
}

/// The ports of equal paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EqualCostPorts<'a> {
    /// The identifier of the run.
    pub(crate) run: u32,
    /// Indices of egress ports of the switch.
    pub(crate) ports: &'a [u32],
}

/// Round-robin positions by run.
#[derive(Debug)]
pub(crate) struct RoundRobinState(Vec<Turn>);

#[derive(Debug)]
struct Turn {
    run: u32,
    /// The next position of payload, tokens and control packets.
    next: [u32; 3],
}

impl RoundRobinState {
    /// Creates random initial positions for these runs.
    pub(crate) fn new(runs: Vec<NextHops>, rng: &mut Stream) -> Self {
        let turn = |NextHops { first, count }| Turn {
            run: first,
            next: std::array::from_fn(|_| rng.below(u64::from(count)) as u32),
        };
        Self(runs.into_iter().map(turn).collect())
    }

    /// Returns the index in `run` of the path for a packet of `kind`, and advances.
    #[inline(never)]
    pub(crate) fn next(&mut self, run: NextHops, kind: Kind) -> u32 {
        let Some(turn) = self.0.iter_mut().find(|turn| turn.run == run.first) else { return 0 };
        let next = &mut turn.next[match kind {
            Kind::Data => 0,
            Kind::Credit => 1,
            _ => 2,
        }];
        // With link failures, a run's identifier may later stand for fewer paths.
        let place = if *next < run.count { *next } else { 0 };
        *next = place + 1;
        place
    }
}

/// Queued bytes of a port, and when its link is free.
pub(crate) type Load = (u64, Time);

/// The best port of the last decision, by run.
#[derive(Debug)]
pub(crate) struct Drill {
    rng: Stream,
    /// Runs with their best index.
    best: Vec<(u32, u32)>,
}

impl Drill {
    /// Creates the state for these runs, with the first path of each as the best.
    pub(crate) fn new(runs: Vec<u32>, rng: Stream) -> Self {
        Self { rng, best: runs.into_iter().map(|run| (run, 0)).collect() }
    }

    /// Returns the port of a packet; calls `load` for two or three ports.
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
            // Tokens interleaved with payload: neither affects the other's positions.
            let kind = [Kind::Data, Kind::Credit][packet % 2];
            counts[packet % 2][turns.next(runs[0], kind) as usize] += 1;
            assert!(turns.next(runs[1], kind) < 2);
        }
        for count in counts {
            assert!(count.iter().max().unwrap() - count.iter().min().unwrap() <= 1, "{counts:?}");
        }
        // A run that lost paths continues with the remaining ones.
        assert!((0..9).all(|_| turns.next(NextHops { first: 10, count: 2 }, Kind::Data) < 2));
    }

    #[test]
    fn drill_takes_the_least_loaded_of_two_drawn_and_the_best_of_the_last_time() {
        let ports = [4, 5, 6, 7];
        let equal_cost_ports = EqualCostPorts { run: 3, ports: &ports };
        let mut drill = Drill::new(vec![3], rng());
        // Port 6 is empty: once drawn it is the best of the last decision, and remains so while it is empty.
        let empty = |port: u32| (u64::from(port != 6), Time::ZERO);
        let taken: Vec<u32> = (0..100).map(|_| drill.choose(equal_cost_ports, empty)).collect();
        let first = taken.iter().position(|&port| port == 6).unwrap();
        assert!(first < 20 && taken[first..].iter().all(|&port| port == 6), "{taken:?}");
        // As it fills, another port is found among any two.
        assert_ne!(drill.choose(equal_cost_ports, |port| (u64::from(port == 6), Time::ZERO)), 6);
        // Three ports are compared, two of them different.
        let mut asked = Vec::new();
        drill.choose(equal_cost_ports, |port| {
            asked.push(port);
            (0, Time::ZERO)
        });
        assert!(asked.len() == 3 && asked[0] != asked[1], "{asked:?}");
        // Among equal queues, the port whose link is free first.
        let by_line = |port: u32| (0, Time(u64::from(7 - port)));
        let last = (0..50).map(|_| drill.choose(equal_cost_ports, by_line)).last();
        assert_eq!(last, Some(7));
    }
}

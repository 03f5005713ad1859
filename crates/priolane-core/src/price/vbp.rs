//! VM-based pricing (PACCP §IV-A): a virtual machine's (theta, w), split evenly over its active flows.
//!
//! ```text
//! arrival, departure   n active flows: (theta / n, w / n) each, at once
//! with an interval     the arriving flow gets its current share at once, the others get theirs when the interval ends
//! ```
//!
//! Shares are whole bits per second and thousandths. The remainder goes to the oldest flows, one unit each, so that
//! sums are exact. A flow's weight is at least 0.001 (docs/assumptions.md#vbp-split).

use std::num::NonZeroU32;

use crate::endpoint::Weights;
use crate::ids::FlowId;
use crate::units::{Rate, Span, Time};

/// Returns share number `place`, from 0, of `pair` split over `flows`.
pub fn share(pair: Weights, flows: NonZeroU32, place: u32) -> Weights {
    let n = u64::from(flows.get());
    let part = |whole: u64| whole / n + u64::from(u64::from(place) < whole % n);
    Weights {
        theta: Rate::from_bps(part(pair.theta_bps())),
        w_milli: (part(u64::from(pair.w_milli)) as u32).max(1),
    }
}

/// A custom split that exceeds what the virtual machine paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overdrawn {
    /// The sum of minimum rates is too large.
    #[error("the flows' minimum rates sum to {asked} bit/s, but their machine paid for {paid}")]
    Theta {
        /// The sum of the flows, in bits per second.
        asked: u128,
        /// The machine's, in bits per second.
        paid: u64,
    },
    /// The sum of weights is too large, in thousandths.
    #[error("the flows' weights sum to {asked} thousandths, but their machine paid for {paid}")]
    Weight {
        /// The sum of the flows.
        asked: u64,
        /// The machine's.
        paid: u32,
    },
}

/// Checks a custom split of `pair` over `flows`: sum theta_i <= theta and sum w_i <= w (PACCP §IV).
///
/// # Errors
/// Returns the amount that exceeds the machine's pair.
pub fn custom(pair: Weights, flows: &[Weights]) -> Result<(), Overdrawn> {
    let theta: u128 = flows.iter().map(|flow| u128::from(flow.theta_bps())).sum();
    let weight: u64 = flows.iter().map(|flow| u64::from(flow.w_milli)).sum();
    if theta > u128::from(pair.theta_bps()) {
        return Err(Overdrawn::Theta { asked: theta, paid: pair.theta_bps() });
    }
    if weight > u64::from(pair.w_milli) {
        return Err(Overdrawn::Weight { asked: weight, paid: pair.w_milli });
    }
    Ok(())
}

/// New pairs of flows that share a machine's pair.
pub type Changes = Vec<(FlowId, Weights)>;

/// A virtual machine and its active flows.
#[derive(Clone, Debug)]
pub struct VirtualMachine {
    pair: Weights,
    interval: Option<Span>,
    /// In order of arrival, with the current pair of each.
    active: Vec<(FlowId, Weights)>,
    /// The time at which the shares are recomputed next.
    due: Time,
}

impl VirtualMachine {
    /// Creates a machine without flows that paid for `pair`. It recomputes shares at each arrival and departure. With
    /// an interval above zero, it does so one interval after the first pending change.
    pub fn new(pair: Weights, interval: Option<Span>) -> Self {
        Self { pair, interval: interval.filter(|&i| i > Span::ZERO), active: Vec::new(), due: Time::NEVER }
    }

    /// Starts a flow and returns its pair. The pairs of other flows change by [`VirtualMachine::changes`].
    pub fn arrive(&mut self, flow: FlowId, now: Time) -> Weights {
        let place = self.active.len() as u32;
        let count = NonZeroU32::new(place.saturating_add(1)).unwrap_or(NonZeroU32::MAX);
        let weights = share(self.pair, count, place);
        self.active.push((flow, weights));
        self.unsettled(now);
        weights
    }

    /// Ends a flow. Unknown flows are ignored.
    pub fn depart(&mut self, flow: FlowId, now: Time) {
        if let Some(place) = self.active.iter().position(|&(f, _)| f == flow) {
            self.active.remove(place);
            self.unsettled(now);
        }
    }

    /// Returns when [`VirtualMachine::changes`] next has changes; `Time::NEVER` if shares are up to date.
    pub fn due(&self) -> Time {
        self.due
    }

    /// Returns the shares that change now, if they are due.
    pub fn changes(&mut self, now: Time) -> Changes {
        if self.due > now {
            return Vec::new();
        }
        self.due = Time::NEVER;
        let Some(count) = NonZeroU32::new(self.active.len() as u32) else { return Vec::new() };
        let mut changes = Vec::new();
        for (place, (flow, has)) in (0..).zip(&mut self.active) {
            let weights = share(self.pair, count, place);
            if weights != *has {
                *has = weights;
                changes.push((*flow, weights));
            }
        }
        changes
    }

    /// Returns the active flows with their current pairs, oldest first.
    pub fn active(&self) -> &[(FlowId, Weights)] {
        &self.active
    }

    fn unsettled(&mut self, now: Time) {
        self.due = self.due.min(self.interval.map_or(now, |interval| now + interval));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    const PAIR: Weights = Weights { theta: Rate::from_bps(5_000_000_000), w_milli: 2_000 };

    fn sums(vm: &VirtualMachine) -> (u64, u32) {
        vm.active().iter().fold((0, 0), |(theta, w), (_, has)| (theta + has.theta_bps(), w + has.w_milli))
    }

    /// Property 20.
    #[test]
    fn at_every_instant_the_active_flows_have_the_whole_pair() {
        let mut vm = VirtualMachine::new(PAIR, None);
        let mut draw = Stream::new(1, Purpose::Search, 9);
        let mut active = Vec::new();
        for step in 0..2_000 {
            if draw.chance(0.55) || vm.active().is_empty() {
                vm.arrive(FlowId(step), Time(0));
                active.push(FlowId(step));
            } else {
                let gone = vm.active()[draw.below(vm.active().len() as u64) as usize].0;
                vm.depart(gone, Time(0));
                active.retain(|&flow| flow != gone);
                vm.depart(gone, Time(0));
            }
            let has: Vec<FlowId> = vm.active().iter().map(|&(flow, _)| flow).collect();
            assert_eq!(has, active, "step {step}");
            vm.changes(Time(0));
            if !vm.active().is_empty() {
                assert_eq!(sums(&vm), (5_000_000_000, 2_000), "step {step}: {} flows", vm.active().len());
            }
        }
    }

    #[test]
    fn shares_differ_by_a_unit_at_most() {
        let three = NonZeroU32::new(3).unwrap();
        let shares = [0, 1, 2].map(|place| share(PAIR, three, place));
        assert_eq!(shares.map(Weights::theta_bps), [1_666_666_667, 1_666_666_667, 1_666_666_666]);
        assert_eq!(shares.map(|s| s.w_milli), [667, 667, 666]);
        assert_eq!(share(Weights::BEST_EFFORT, NonZeroU32::new(5_000).unwrap(), 4_000).w_milli, 1);
    }

    #[test]
    fn with_an_interval_the_others_follow_at_its_end() {
        let mut vm = VirtualMachine::new(PAIR, Some(Span(100)));
        assert_eq!(vm.arrive(FlowId(0), Time(10)), PAIR);
        assert_eq!((vm.due(), vm.changes(Time(110)).len()), (Time(110), 0));
        assert_eq!(vm.arrive(FlowId(1), Time(200)).w_milli, 1_000);
        assert_eq!((vm.changes(Time(299)).len(), sums(&vm).1), (0, 3_000));
        vm.arrive(FlowId(2), Time(250));
        // The first two flows at 300, the end of the interval that the second began; the third flow got its third on
        // arrival.
        assert_eq!(vm.changes(Time(300)).len(), 2);
        assert_eq!((sums(&vm), vm.due()), ((5_000_000_000, 2_000), Time::NEVER));
    }

    #[test]
    fn a_split_of_ones_own_stays_within_the_pair() {
        let of = |bps, w_milli| Weights { theta: Rate::from_bps(bps), w_milli };
        assert_eq!(custom(PAIR, &[of(5_000_000_000, 1_000), of(0, 1_000)]), Ok(()));
        let theta = custom(PAIR, &[of(5_000_000_000, 1_000), of(1, 1_000)]);
        assert_eq!(theta, Err(Overdrawn::Theta { asked: 5_000_000_001, paid: 5_000_000_000 }));
        assert_eq!(custom(PAIR, &[of(0, 2_001)]), Err(Overdrawn::Weight { asked: 2_001, paid: 2_000 }));
    }
}

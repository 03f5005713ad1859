//! Flow-based pricing (PACCP §IV-B): a flow's own (theta, w), upgraded and downgraded while it runs.
//!
//! ```text
//! open(pair)      metering starts with this pair                     a machine pays P0 per second throughout
//! change(pair)    the usage so far is metered; metering continues with the new pair
//! close(bytes)    the rest is metered
//! ```
//!
//! Bytes are charged at the pair that the flow has while it sends them: [`FlowMeter::sent`].

use super::tariff::{Bill, Tariff, Usage};
use crate::endpoint::Weights;
use crate::units::Time;

/// The usage meter of one flow.
#[derive(Clone, Debug)]
pub struct FlowMeter {
    pair: Weights,
    since: Time,
    /// Usage with pairs above best effort.
    usage: Usage,
}

impl FlowMeter {
    /// Starts metering a flow at `now` with `pair`.
    pub fn open(pair: Weights, now: Time) -> Self {
        Self { pair, since: now, usage: Usage::default() }
    }

    /// Changes the flow's pair at `now`, which is not before the last change.
    pub fn change(&mut self, pair: Weights, now: Time) {
        self.settle(now);
        self.pair = pair;
    }

    /// Counts `bytes` sent with the current pair.
    pub fn sent(&mut self, bytes: u64) {
        self.usage.send(self.pair, bytes);
    }

    /// Returns the current pair.
    pub fn pair(&self) -> Weights {
        self.pair
    }

    /// Returns the flow's usage beyond best effort until it ends at `now`.
    pub fn close(mut self, now: Time) -> Usage {
        self.settle(now);
        self.usage
    }

    /// A best-effort flow pays nothing: its machine has paid upfront.
    fn settle(&mut self, now: Time) {
        if is_more(self.pair) {
            self.usage.add(self.pair, now.since(self.since));
        }
        self.since = now;
    }
}

/// Prices of a machine, paid upfront, and of its flows, paid on demand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// P0 of the machine, per second, for best effort.
    pub upfront: f64,
    /// P0s, P1s and P2s of a flow.
    pub flow: Tariff,
}

impl Prices {
    /// Returns the bill of a machine that runs for `seconds`, without the bills of its flows.
    pub fn machine(&self, seconds: f64) -> Bill {
        Bill { base: self.upfront * seconds, ..Bill::default() }
    }
}

/// Returns whether `pair` is above best effort, and so is charged to its flow.
pub(crate) fn is_more(pair: Weights) -> bool {
    pair.theta.is_some() || pair.w_milli > Weights::BEST_EFFORT.w_milli
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::tariff::Charge;
    use crate::units::{Rate, Span};

    const SECOND: Span = Span::from_ms(1_000);
    const FLOW: Tariff = Tariff { p0: 0.5, p1: 0.3, p2: 1e-9, charge: Charge::Sent };

    #[test]
    fn upgrade_and_downgrade_are_charged_for_as_long_as_they_last() {
        let ds = Weights { theta: None, w_milli: 3_000 };
        let mrg = Weights { theta: Rate::from_bps(1_000_000_000), w_milli: 2_000 };
        let mut account = FlowMeter::open(Weights::BEST_EFFORT, Time::ZERO);
        account.sent(125_000_000);
        account.change(ds, Time::ZERO + SECOND.times(2));
        account.sent(125_000_000);
        account.change(mrg, Time::ZERO + SECOND.times(5));
        account.sent(125_000_000);
        account.change(Weights::BEST_EFFORT, Time::ZERO + SECOND.times(6));
        let usage = account.close(Time::ZERO + SECOND.times(9));
        // 3 s of w = 3 and 1 s of w = 2: 4 s, 7 weight-seconds; 10^9 bits sent with a minimum, 10^9 reserved.
        let bill = FLOW.bill(&usage);
        assert!((bill.base - 2.0).abs() < 1e-12 && (bill.weight - 2.1).abs() < 1e-12);
        assert!((bill.rate - 1.0).abs() < 1e-12 && (usage.reserved_bits() - 1e9).abs() < 1e-3);
    }

    #[test]
    fn a_best_effort_flow_costs_nothing_beyond_the_upfront_fee() {
        let mut account = FlowMeter::open(Weights::BEST_EFFORT, Time::ZERO);
        account.sent(1_000_000);
        assert_eq!(FLOW.bill(&account.close(Time::ZERO + SECOND)).total(), 0.0);
        assert_eq!(Prices { upfront: 2.0, flow: FLOW }.machine(3.0).total(), 6.0);
    }
}

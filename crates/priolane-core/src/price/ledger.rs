//! Bills of a run: the metered usage of each machine and flow, and its cost (PACCP §IV).
//!
//! ```text
//! vbp   machine   P0 + P1 (w - 1) + P2 theta for as long as it runs; its flows cost nothing more
//! fbp   machine   P0 upfront;  flow   P0s + P1s (w - 1) + P2s theta while it is above best effort
//! ```

use super::fbp::{FlowMeter, Prices};
use super::tariff::{Bill, Tariff, Usage};
use crate::endpoint::Weights;
use crate::ids::FlowId;
use crate::units::{Span, Time};

/// Usage of a flow, for its bill.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageRecord {
    /// The flow.
    pub flow: FlowId,
    /// The machine of the flow, as an index in the list of machines.
    pub machine: usize,
    /// Its pairs, each with the instant from which it holds, in order of time; the first from its start. Never empty.
    pub pairs: Vec<(Time, Weights)>,
    /// End of the flow or of the run.
    pub end: Time,
    /// Payload bytes sent with each pair.
    pub bytes: Vec<u64>,
}

/// A price plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PricePlan {
    /// Machines pay for their flows.
    Vbp(Tariff),
    /// Machines pay upfront, flows pay for themselves.
    Fbp(Prices),
}

impl PricePlan {
    /// Returns its short name: vbp or fbp.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Vbp(_) => "vbp",
            Self::Fbp(_) => "fbp",
        }
    }
}

/// A bill with its payer.
#[derive(Clone, Debug, PartialEq)]
pub struct Invoice {
    /// The machine.
    pub machine: usize,
    /// The flow, if it is a flow's own bill.
    pub flow: Option<FlowId>,
    /// The usage.
    pub usage: Usage,
    /// Its cost.
    pub bill: Bill,
}

/// Computes the bills of a run of length `run`. Under VBP, `machines[m]` is the pair that machine m pays for. Machines
/// come first, then flows with a bill, in the given order.
pub fn bills(plan: PricePlan, machines: &[Weights], flows: &[UsageRecord], run: Span) -> Vec<Invoice> {
    let machine = |(machine, &pair): (usize, &Weights)| match plan {
        PricePlan::Vbp(tariff) => {
            let mut usage = Usage::default();
            usage.add(pair, run);
            let own = flows.iter().filter(|flow| flow.machine == machine);
            usage.send(pair, own.flat_map(|flow| &flow.bytes).sum());
            Invoice { machine, flow: None, usage, bill: tariff.bill(&usage) }
        }
        PricePlan::Fbp(prices) => {
            let mut usage = Usage::default();
            usage.add(Weights::BEST_EFFORT, run);
            Invoice { machine, flow: None, usage, bill: prices.machine(usage.seconds()) }
        }
    };
    let mut owed: Vec<Invoice> = machines.iter().enumerate().map(machine).collect();
    if let PricePlan::Fbp(prices) = plan {
        owed.extend(flows.iter().filter_map(|flow| flow_bill(flow, &prices.flow)));
    }
    owed
}

fn flow_bill(flow: &UsageRecord, tariff: &Tariff) -> Option<Invoice> {
    let (&(start, first), later) = flow.pairs.split_first()?;
    let mut account = FlowMeter::open(first, start);
    let mut bytes = flow.bytes.iter().copied();
    account.sent(bytes.next().unwrap_or(0));
    for &(at, pair) in later.iter().filter(|&&(at, _)| at < flow.end) {
        account.change(pair, at);
        account.sent(bytes.next().unwrap_or(0));
    }
    let usage = account.close(flow.end);
    let bill = tariff.bill(&usage);
    (usage != Usage::default()).then_some(Invoice {
        machine: flow.machine,
        flow: Some(flow.flow),
        usage,
        bill,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::tariff::Charge;
    use crate::units::Rate;

    const SECOND: Span = Span::from_ms(1_000);
    const TARIFF: Tariff = Tariff { p0: 1.0, p1: 0.6, p2: 1e-9, charge: Charge::Reserved };

    fn at(seconds: u64) -> Time {
        Time::ZERO + SECOND.times(seconds)
    }

    fn pair(gbps: u64, w_milli: u32) -> Weights {
        Weights { theta: Rate::from_bps(gbps * 1_000_000_000), w_milli }
    }

    fn flow(id: u32, machine: usize, pairs: &[(Time, Weights)], end: Time) -> UsageRecord {
        UsageRecord {
            flow: FlowId(id),
            machine,
            pairs: pairs.to_vec(),
            end,
            bytes: vec![250_000_000; pairs.len()],
        }
    }

    #[test]
    fn machines_pay_for_their_time_whatever_their_flows_do() {
        let machines = [Weights::BEST_EFFORT, pair(2, 2_000)];
        let flows = [flow(0, 1, &[(at(1), pair(1, 1_000))], at(2))];
        let totals = |charge| -> Vec<f64> {
            let plan = PricePlan::Vbp(Tariff { charge, ..TARIFF });
            bills(plan, &machines, &flows, SECOND.times(10)).iter().map(|o| o.bill.total()).collect()
        };
        // 10 s of P0; 10 s of 1 + 0.6 + 2, or of 1.6 and 2 * 10^9 bits sent.
        for (got, expected) in
            [(totals(Charge::Reserved), [10.0, 36.0]), (totals(Charge::Sent), [10.0, 18.0])]
        {
            assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{got:?}");
        }
    }

    #[test]
    fn flows_pay_for_what_is_more_than_best_effort() {
        let flows = [
            flow(0, 0, &[(at(0), Weights::BEST_EFFORT)], at(9)),
            // 2 s of w = 3, then 3 s of (1 Gbps, 2); the change after the end is ignored.
            flow(1, 0, &[(at(1), pair(0, 3_000)), (at(3), pair(1, 2_000)), (at(8), pair(0, 9_000))], at(6)),
        ];
        let plan = PricePlan::Fbp(Prices { upfront: 0.1, flow: TARIFF });
        let owed = bills(plan, &[Weights::BEST_EFFORT], &flows, SECOND.times(10));
        assert_eq!(owed.len(), 2);
        assert!((owed[0].bill.total() - 1.0).abs() < 1e-12);
        // 5 s of P0s = 5; 0.6 (2 * 2 + 3 * 1) = 4.2; 3 * 10^9 bits reserved = 3.
        let Bill { base, weight, rate } = owed[1].bill;
        assert_eq!(owed[1].flow, Some(FlowId(1)));
        assert!((base - 5.0).abs() < 1e-9 && (weight - 4.2).abs() < 1e-9 && (rate - 3.0).abs() < 1e-9);
    }

    /// Property 20: prices are linear, so splitting usage in time or by shares above one does not change the total.
    #[test]
    fn a_bill_does_not_hang_on_where_its_time_is_cut() {
        let whole = flow(0, 0, &[(at(0), pair(1, 2_000))], at(6));
        let cut = flow(0, 0, &[(at(0), pair(1, 2_000)), (at(2), pair(1, 2_000))], at(6));
        let plan = PricePlan::Fbp(Prices { upfront: 0.0, flow: TARIFF });
        let total =
            |f: UsageRecord| bills(plan, &[Weights::BEST_EFFORT], &[f], SECOND.times(6))[1].bill.total();
        assert_eq!(total(whole), total(cut));
    }
}

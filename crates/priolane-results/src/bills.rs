//! The bills of a run: usage, cost and goodput of each machine, and of each flow that pays for itself.
//!
//! ```text
//! machine       a host in a group that pays (or that sends flows of the group), for the whole run
//! vbp           the machine pays for its pair; its flows pay nothing
//! fbp           the machine pays P0; a flow pays while it is above best effort
//! bytes         of a completed flow its size, else the bytes that its sender last reported acknowledged; if the pair
//!               changed, those of the last report before the change
//! ```

use std::collections::BTreeMap;

use priolane_core::endpoint::{Control, FlowSpec, Weights};
use priolane_core::ids::FlowId;
use priolane_core::price::Cos;
use priolane_core::price::ledger::{self, Invoice, PricePlan, UsageRecord};
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{FlowRecord, Outcome, StartTime};
use priolane_sim::scenario::ScenarioSpec;

use crate::row;
use crate::source::Source;

/// Payers and prices of a run, by group.
#[derive(Clone, Debug, PartialEq)]
pub struct Pricing {
    /// The groups, by number.
    pub groups: Vec<PayingGroup>,
}

/// A group of machines.
#[derive(Clone, Debug, PartialEq)]
pub struct PayingGroup {
    /// The price plan of its flows.
    pub plan: PricePlan,
    /// The pair that its machines pay for, if they do.
    pub pair: Weights,
    /// Its hosts.
    pub hosts: Vec<u16>,
}

row! {
    /// A row of `bills.parquet`: usage and cost of a machine, or of a flow that pays for itself.
    pub struct BillRow<'a> {
        group: &'a str, "", "group of the experiment";
        host: u32, "1", "host of the machine";
        flow: Option<u32>, "1", "flow that is billed separately; null for a machine";
        plan: &'a str, "",
            "what is billed for the group's flows: vbp, their machine; fbp, each flow";
        cos: &'a str, "", "class of service of the minimum rate and weight below: BE, DS or MRG";
        theta_bps: u64, "bit/s",
            "paid minimum rate, for a flow at its start; 0 for none";
        w: f64, "1", "paid weight, for a flow at its start";
        seconds: f64, "s",
            "charged time: the run; for a flow, the time in which its class was above BE";
        weight_seconds: f64, "s", "integral of w - 1, where above 0, over the charged time";
        reserved_bits: f64, "bit", "integral of the minimum rate over the charged time";
        sent_bits: f64, "bit", "payload bits sent with a minimum rate";
        base: f64, "currency", "amount due by P0 (for a flow, by P0s)";
        weight: f64, "currency", "amount due by P1";
        rate: f64, "currency", "amount due by P2";
        total: f64, "currency", "total amount due";
        delivered_bytes: u64, "B",
            "delivered payload bytes; for a machine, those of all its flows, including flows billed \
             separately";
        rate_bps: Option<f64>, "bit/s", "delivered_bytes divided by the length of the run; null for a run \
                                         of zero length";
    }
}

/// Computes the bills of a run: by group, machines by host, then flows by id.
pub fn bills<'a>(pricing: &Pricing, source: &Source<'a>, outcome: &Outcome) -> Vec<BillRow<'a>> {
    let reported = SenderReports::of(outcome);
    let mut rows = Vec::new();
    for (number, paying) in (0..).zip(&pricing.groups) {
        let group = Group { number, name: source.group(number).unwrap_or_default(), paying };
        rows.extend(group.bills(source.scenario, outcome, &reported));
    }
    rows
}

struct Group<'a, 'p> {
    number: u16,
    name: &'a str,
    paying: &'p PayingGroup,
}

impl<'a> Group<'a, '_> {
    fn bills(
        &self,
        scenario: &ScenarioSpec,
        outcome: &Outcome,
        reported: &SenderReports,
    ) -> Vec<BillRow<'a>> {
        let own = |(spec, record): &(FlowSpec, FlowRecord)| {
            spec.group == self.number && started(spec, record, outcome.stopped_at)
        };
        let flows: Vec<(FlowSpec, FlowRecord)> =
            scenario.flows.iter().zip(&outcome.flows).filter(own).collect();
        let mut hosts: Vec<u16> = self.paying.hosts.clone();
        hosts.extend(flows.iter().map(|(spec, _)| spec.src.0));
        hosts.sort_unstable();
        hosts.dedup();
        let machine = |host: u16| hosts.binary_search(&host).unwrap_or_default();
        let changes = changes(scenario);
        let metered: Vec<UsageRecord> = flows
            .iter()
            .map(|(spec, record)| {
                let end = end(spec, record, outcome.stopped_at);
                let pairs = pairs(spec, changes.get(&spec.id), end);
                let bytes = reported.between((spec, record), &pairs);
                UsageRecord { flow: spec.id, machine: machine(spec.src.0), pairs, end, bytes }
            })
            .collect();
        let pair = match self.paying.plan {
            PricePlan::Vbp(_) => self.paying.pair,
            PricePlan::Fbp(_) => Weights::BEST_EFFORT,
        };
        let run = outcome.stopped_at.since(Time::ZERO);
        let owed = ledger::bills(self.paying.plan, &vec![pair; hosts.len()], &metered, run);
        let place: BTreeMap<FlowId, usize> = metered.iter().enumerate().map(|(i, m)| (m.flow, i)).collect();
        let row = |owed: Invoice| {
            let flow = owed.flow.map(|flow| &metered[place[&flow]]);
            let of_machine = || metered.iter().filter(|m| m.machine == owed.machine);
            let delivered = flow
                .map_or_else(|| of_machine().flat_map(|m| &m.bytes).sum(), |flow| flow.bytes.iter().sum());
            let pair = flow.map_or(pair, |flow| flow.pairs[0].1);
            self.row((hosts[owed.machine], pair), &owed, (delivered, run))
        };
        owed.into_iter().map(row).collect()
    }

    /// Returns the row of the bill `owed` of a host, or of a flow of it, for a pair, with the delivered bytes and the
    /// length of the run.
    fn row(
        &self,
        (host, pair): (u16, Weights),
        owed: &Invoice,
        (delivered, run): (u64, Span),
    ) -> BillRow<'a> {
        let Invoice { usage, bill, .. } = owed;
        let run = run.as_secs_f64();
        BillRow {
            group: self.name,
            host: host.into(),
            flow: owed.flow.map(|flow| flow.0),
            plan: self.paying.plan.name(),
            cos: Cos::of(pair).word(),
            theta_bps: pair.theta_bps(),
            w: pair.w(),
            seconds: usage.seconds(),
            weight_seconds: usage.weight_seconds(),
            reserved_bits: usage.reserved_bits(),
            sent_bits: usage.sent_bits(),
            base: bill.base,
            weight: bill.weight,
            rate: bill.rate,
            total: bill.total(),
            delivered_bytes: delivered,
            rate_bps: (run > 0.0).then(|| delivered as f64 * 8.0 / run),
        }
    }
}

fn started(spec: &FlowSpec, record: &FlowRecord, stop: Time) -> bool {
    !matches!(record.began, StartTime::Never | StartTime::NotIssued) && spec.start < stop
}

/// Returns when a flow stopped paying: at its last acknowledgement, or at the end of the run.
fn end(spec: &FlowSpec, record: &FlowRecord, stop: Time) -> Time {
    let took: Option<Span> = record.fct_acked.or(record.fct);
    took.map_or(stop, |took| (spec.start + took).min(stop))
}

/// Returns the changes of pairs of running flows, by flow and in order of time.
fn changes(scenario: &ScenarioSpec) -> BTreeMap<FlowId, Vec<(Time, Weights)>> {
    let mut changes: BTreeMap<FlowId, Vec<(Time, Weights)>> = BTreeMap::new();
    for control in &scenario.controls {
        if let Control::Weights { theta, w_milli } = control.control {
            changes.entry(control.flow).or_default().push((control.at, Weights { theta, w_milli }));
        }
    }
    changes
}

fn pairs(spec: &FlowSpec, changes: Option<&Vec<(Time, Weights)>>, end: Time) -> Vec<(Time, Weights)> {
    let later = changes.into_iter().flatten().filter(|&&(at, _)| at > spec.start && at < end);
    std::iter::once((spec.start, spec.weights)).chain(later.copied()).collect()
}

/// Reports of senders, by flow.
struct SenderReports(BTreeMap<FlowId, Vec<(Time, u64)>>);

impl SenderReports {
    fn of(outcome: &Outcome) -> Self {
        let mut reports: BTreeMap<FlowId, Vec<(Time, u64)>> = BTreeMap::new();
        for report in &outcome.flow_samples {
            reports.entry(report.flow).or_default().push((report.at, report.acked_bytes));
        }
        Self(reports)
    }

    /// Returns the bytes sent with each of `pairs`.
    fn between(&self, (spec, record): (&FlowSpec, &FlowRecord), pairs: &[(Time, Weights)]) -> Vec<u64> {
        let reports = self.0.get(&spec.id).map_or(&[][..], Vec::as_slice);
        let until = |at: Time| {
            let count = reports.partition_point(|&(when, _)| when <= at);
            count.checked_sub(1).map_or(0, |last| reports[last].1)
        };
        let whole = spec.size.filter(|_| record.fct.is_some()).map(|size| size - record.missing.min(size));
        let total = whole.unwrap_or_else(|| until(Time::NEVER));
        let ends = pairs[1..].iter().map(|&(at, _)| until(at).min(total)).chain([total]);
        let mut before = 0;
        ends.map(|sum| {
            let bytes = sum - before;
            before = sum;
            bytes
        })
        .collect()
    }
}

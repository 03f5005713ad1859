//! The bills of a run: what each machine, and each flow that pays for itself, used, owes and got.
//!
//! ```text
//! machine       a host in a group that pays (or that sends flows of the group): there for the whole run
//! vbp           the machine owes for its pair; its flows owe nothing
//! fbp           the machine owes P0; a flow owes for as long as it is more than best effort
//! bytes         of a flow that completed its size, else what its sender last reported acknowledged; with a pair
//!               that changed, as of the last report before the change
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

/// Who pays in a run, and how much for what: by group.
#[derive(Clone, Debug, PartialEq)]
pub struct Pricing {
    /// The groups, by number.
    pub groups: Vec<PayingGroup>,
}

/// A group of machines.
#[derive(Clone, Debug, PartialEq)]
pub struct PayingGroup {
    /// Who pays for its flows, and which prices.
    pub plan: PricePlan,
    /// What its machines pay for where they do.
    pub pair: Weights,
    /// Its hosts.
    pub hosts: Vec<u16>,
}

row! {
    /// A row of `bills.parquet`: what a machine, or a flow that pays for itself, used and owes.
    pub struct BillRow<'a> {
        group: &'a str, "", "the experiment's group";
        host: u32, "1", "the host that the machine is";
        flow: Option<u32>, "1", "the flow that pays for itself; null for a machine";
        plan: &'a str, "",
            "who pays for the group's flows: vbp, their machine; fbp, they themselves";
        cos: &'a str, "", "class of service that the pair below buys: BE, DS or MRG";
        theta_bps: u64, "bit/s",
            "minimum rate paid for, of a flow that at its start; 0 for none";
        w: f64, "1", "weight paid for, of a flow that at its start";
        seconds: f64, "s",
            "time charged: the run, or of a flow the time in which it was more than BE";
        weight_seconds: f64, "s", "integral of w - 1, where above 0, over that time";
        reserved_bits: f64, "bit", "integral of the minimum rate over that time";
        sent_bits: f64, "bit", "payload sent with a minimum rate";
        base: f64, "currency", "P0's part of what is owed (of a flow P0s')";
        weight: f64, "currency", "P1's part";
        rate: f64, "currency", "P2's part";
        total: f64, "currency", "all that is owed";
        delivered_bytes: u64, "B",
            "payload delivered, of a machine that of all its flows, paid apart or not";
        rate_bps: Option<f64>, "bit/s", "delivered_bytes over the run; null for a run of no length";
    }
}

/// The bills of a run: by group machines by host, then flows by id.
pub fn bills<'a>(pricing: &Pricing, source: &Source<'a>, outcome: &Outcome) -> Vec<BillRow<'a>> {
    let reported = Reported::of(outcome);
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
    fn bills(&self, scenario: &ScenarioSpec, outcome: &Outcome, reported: &Reported) -> Vec<BillRow<'a>> {
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

    /// The row of `owed` by a host, or a flow of it, for a pair, with bytes delivered in a run of a length.
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

/// When a flow stopped paying: at its last acknowledgement, or with the run.
fn end(spec: &FlowSpec, record: &FlowRecord, stop: Time) -> Time {
    let took: Option<Span> = record.fct_acked.or(record.fct);
    took.map_or(stop, |took| (spec.start + took).min(stop))
}

/// Changes of pairs in mid-life, by flow and in order of time.
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

/// What senders reported, by flow.
struct Reported(BTreeMap<FlowId, Vec<(Time, u64)>>);

impl Reported {
    fn of(outcome: &Outcome) -> Self {
        let mut reports: BTreeMap<FlowId, Vec<(Time, u64)>> = BTreeMap::new();
        for report in &outcome.reports {
            reports.entry(report.flow).or_default().push((report.at, report.acked_bytes));
        }
        Self(reports)
    }

    /// Bytes sent with each of `pairs`.
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

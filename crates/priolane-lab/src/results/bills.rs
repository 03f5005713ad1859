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
use priolane_core::price::ledger::{self, Metered, Owed, PricePlan};
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{Began, FlowRecord, Outcome};
use priolane_sim::scenario::Scenario;

use crate::experiment::{Payer, Price};

/// Who pays in a run, and how much for what.
#[derive(Clone, Debug, PartialEq)]
pub struct Pricing {
    /// Prices.
    pub price: Price,
    /// By group: who pays, for which pair, and its hosts.
    pub groups: Vec<PayingGroup>,
}

/// A group of machines.
#[derive(Clone, Debug, PartialEq)]
pub struct PayingGroup {
    /// Who pays for its flows.
    pub payer: Payer,
    /// What its machines pay for where they do.
    pub pair: Weights,
    /// Its hosts.
    pub hosts: Vec<u16>,
}

/// A line of the bill.
#[derive(Clone, Debug, PartialEq)]
pub struct BillRow {
    /// The group.
    pub group: u16,
    /// The host that the machine is.
    pub host: u16,
    /// Who pays for the group's flows.
    pub payer: Payer,
    /// The pair that is paid for; of a flow that at its start.
    pub pair: Weights,
    /// What is owed, and for what; its machine is a place in no list that is left.
    pub owed: Owed,
    /// Payload delivered: the flow's, or that of all flows of the machine.
    pub delivered: u64,
}

/// The bills of a run: by group machines by host, then flows by id.
pub fn bills(pricing: &Pricing, scenario: &Scenario, outcome: &Outcome) -> Vec<BillRow> {
    let reported = Reported::of(outcome);
    let mut rows = Vec::new();
    for (group, paying) in (0..).zip(&pricing.groups) {
        let run = Group { number: group, paying, price: &pricing.price };
        rows.extend(run.bills(scenario, outcome, &reported));
    }
    rows
}

struct Group<'a> {
    number: u16,
    paying: &'a PayingGroup,
    price: &'a Price,
}

impl Group<'_> {
    fn bills(&self, scenario: &Scenario, outcome: &Outcome, reported: &Reported) -> Vec<BillRow> {
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
        let metered: Vec<Metered> = flows
            .iter()
            .map(|(spec, record)| {
                let end = end(spec, record, outcome.stopped_at);
                let pairs = pairs(spec, changes.get(&spec.id), end);
                let bytes = reported.between((spec, record), &pairs);
                Metered { flow: spec.id, machine: machine(spec.src.0), pairs, end, bytes }
            })
            .collect();
        let (plan, pair) = match self.paying.payer {
            Payer::Vbp => (PricePlan::Vbp(self.price.machines()), self.paying.pair),
            Payer::Fbp => (PricePlan::Fbp(self.price.flows()), Weights::BEST_EFFORT),
        };
        let run = outcome.stopped_at.since(Time::ZERO);
        let owed = ledger::bills(plan, &vec![pair; hosts.len()], &metered, run);
        let place: BTreeMap<FlowId, usize> = metered.iter().enumerate().map(|(i, m)| (m.flow, i)).collect();
        let row = |owed: Owed| {
            let flow = owed.flow.map(|flow| &metered[place[&flow]]);
            let of_machine = || metered.iter().filter(|m| m.machine == owed.machine);
            BillRow {
                group: self.number,
                host: hosts[owed.machine],
                payer: self.paying.payer,
                pair: flow.map_or(pair, |flow| flow.pairs[0].1),
                delivered: flow.map_or_else(
                    || of_machine().flat_map(|m| &m.bytes).sum(),
                    |flow| flow.bytes.iter().sum(),
                ),
                owed,
            }
        };
        owed.into_iter().map(row).collect()
    }
}

fn started(spec: &FlowSpec, record: &FlowRecord, stop: Time) -> bool {
    !matches!(record.began, Began::Never | Began::NotIssued) && spec.start < stop
}

/// When a flow stopped paying: at its last acknowledgement, or with the run.
fn end(spec: &FlowSpec, record: &FlowRecord, stop: Time) -> Time {
    let took: Option<Span> = record.fct_acked.or(record.fct);
    took.map_or(stop, |took| (spec.start + took).min(stop))
}

/// Changes of pairs in mid-life, by flow and in order of time.
fn changes(scenario: &Scenario) -> BTreeMap<FlowId, Vec<(Time, Weights)>> {
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

#[cfg(test)]
mod tests;

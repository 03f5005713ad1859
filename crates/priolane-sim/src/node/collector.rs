//! Gathers what the nodes of a finished run hand over.

use priolane_core::endpoint::FlowReport;
use priolane_core::ids::{CLASSES, Class, FlowId, LinkId};
use priolane_core::packet::{Header, Kind};
use priolane_core::units::Time;

use super::counts::Counts;
use super::gate::Gate;
use super::host::Exchanged;
use super::standstill::Standstill;
use crate::outcome::{Began, FlowRecord, FlowSample, Ledger, Outcome, Tally};
use crate::scenario::{ClassSpan, Scenario};
use crate::waits::mark_not_issued;

/// The outcome in the making.
#[derive(Debug)]
pub(crate) struct Collector<'a> {
    scenario: &'a Scenario,
    /// When flows were delivered; how long they took is known once all starts are.
    delivered: Vec<(FlowId, Time)>,
    standstill: Standstill,
    outcome: Outcome,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(scenario: &'a Scenario) -> Self {
        let record = |flow: &priolane_core::endpoint::FlowSpec| FlowRecord {
            class: ClassSpan { asked: flow.class, given: flow.class, first: flow.class, last: flow.class },
            ..FlowRecord::default()
        };
        let mut flows: Vec<FlowRecord> = scenario.flows.iter().map(record).collect();
        scenario.waits.iter().for_each(|wait| flows[wait.flow.index()].began = Began::Never);
        let outcome = Outcome { flows, ..Outcome::default() };
        Self { scenario, delivered: Vec::new(), standstill: Standstill::default(), outcome }
    }

    /// Counts of one line and the queues in front of it.
    pub(crate) fn port(&mut self, counts: &Counts, link: LinkId, at: Time, queue_of: &dyn Fn(Class) -> u8) {
        self.outcome.ports.extend(counts.records(link, at, queue_of));
        let Ledger { dropped, lost, trimmed, expired, .. } = &mut self.outcome.ledger;
        for (class, [at_queue, on_link, cut, too_old]) in counts.losses().enumerate() {
            dropped[class].merge(at_queue);
            lost[class].merge(on_link);
            trimmed[class].merge(cut);
            expired[class].merge(too_old);
        }
        self.outcome.work.packet_hops += counts.served();
    }

    /// Pauses at the end, and what they wait for.
    pub(crate) fn standstill(&mut self) -> &mut Standstill {
        &mut self.standstill
    }

    /// A packet that is still in a queue or on a link; pause frames are no one's.
    pub(crate) fn resident(&mut self, header: &Header) {
        if header.kind == Kind::Pause {
            return;
        }
        self.outcome.ledger.resident[usize::from(header.class) % CLASSES].add(header.wire);
    }

    /// What a host's transport gave and took, by class.
    pub(crate) fn host(&mut self, exchanged: &[Exchanged; CLASSES]) {
        let Ledger { made, delivered, .. } = &mut self.outcome.ledger;
        for (class, of_class) in exchanged.iter().enumerate() {
            made[class].merge(&of_class.made);
            delivered[class].merge(&of_class.taken);
        }
    }

    /// Packets that a switch knew no way for, by class.
    pub(crate) fn unrouted(&mut self, tallies: &[Tally; CLASSES]) {
        std::iter::zip(&mut self.outcome.ledger.unrouted, tallies).for_each(|(all, more)| all.merge(more));
    }

    /// The last byte of `flow` arrived at `at`, but for `missing` bytes that were given up.
    pub(crate) fn delivered(&mut self, flow: FlowId, at: Time, missing: u64) {
        self.delivered.push((flow, at));
        self.outcome.flows[flow.index()].missing = missing;
    }

    /// Flows that waited, and when they started.
    pub(crate) fn started(&mut self, started: &[(FlowId, Time)]) {
        for &(flow, at) in started {
            self.outcome.flows[flow.index()].began = Began::At(at);
        }
    }

    /// What the admission policy of a host gave its flows, and what it has come to.
    pub(crate) fn admitted(&mut self, gate: &Gate) {
        for (flow, given) in gate.given() {
            let record = &mut self.outcome.flows[flow.index()];
            record.class =
                ClassSpan { given: given.at_start, first: given.at_start, last: given.now, ..record.class };
            record.moves = given.moves;
            record.held = given.held;
        }
        self.outcome.notices.extend(gate.notices());
        self.outcome.admission.extend(gate.account());
    }

    /// What a sender reported while its flow went on.
    pub(crate) fn reported(&mut self, report: FlowSample) {
        self.outcome.reports.push(report);
    }

    /// The sender of a flow reports its end, after what admission gave it.
    pub(crate) fn completed(&mut self, report: &FlowReport) {
        let record = &mut self.outcome.flows[report.flow.index()];
        record.fct_acked = Some(record.held + report.elapsed);
        record.class.first = report.class_first;
        record.class.last = report.class_last;
        record.retransmits = report.retransmits;
        record.timeouts = report.timeouts;
    }

    /// The whole, in canonical order.
    pub(crate) fn into_outcome(mut self) -> Outcome {
        let Outcome { flows, .. } = &mut self.outcome;
        for (flow, at) in self.delivered {
            let record = &mut flows[flow.index()];
            let start = match record.began {
                Began::At(start) => start,
                _ => self.scenario.flows[flow.index()].start,
            };
            record.fct = Some(at.since(start));
        }
        mark_not_issued(&self.scenario.waits, flows);
        self.outcome.deadlock = self.standstill.cycle();
        self.outcome.ports.sort_by_key(|p| (p.link, p.class));
        self.outcome.samples.sort_by_key(|s| (s.at, s.link));
        self.outcome.reports.sort_by_key(|r| (r.at, r.flow));
        self.outcome.admission.sort_by_key(|(host, _)| *host);
        self.outcome.notices.sort_by_key(|&(host, group, _)| (host, group));
        self.outcome
    }

    /// The outcome, for what only the engine knows.
    pub(crate) fn outcome(&mut self) -> &mut Outcome {
        &mut self.outcome
    }
}

impl Tally {
    /// Adds `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

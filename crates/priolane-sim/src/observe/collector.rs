//! Collects the results of the nodes of a finished run.

use priolane_core::admit::AdmissionState as PolicyAccount;
use priolane_core::endpoint::CreditStats;
use priolane_core::ids::{CLASSES, Class, FlowId, HostId, LinkId};
use priolane_core::packet::{Header, Kind};
use priolane_core::units::Time;

use super::completion_log::FlowLog;
use super::counters::{HostCounters, PortCounters};
use super::pfc_deadlock::PfcDeadlockDetector;
use crate::model::dependencies::{FlowDependency, Step, StepId, Work};
use crate::model::scenario::Scenario;
use crate::observe::outcome::{Ledger, Notices, Outcome, PacketCount, PortQueue, ReceivedPayload};
use crate::observe::records::{ClassSpan, FlowRecords, RecordColumns, StartTime};

/// The outcome under construction.
#[derive(Debug)]
pub(crate) struct Collector<'a> {
    scenario: &'a Scenario,
    deadlock_detector: PfcDeadlockDetector,
    outcome: Outcome,
}

impl<'a> Collector<'a> {
    /// Creates a collector from the flow logs of all parts.
    pub(crate) fn new(scenario: &'a Scenario, mut logs: Vec<FlowLog>) -> Self {
        let times = FlowLog::take_times(&mut logs);
        let classes = scenario.flows.iter().map(|flow| ClassSpan::all(flow.class));
        let mut flows = FlowRecords::new(RecordColumns::new(times, classes));
        for wait in &scenario.waits {
            flows.edit(wait.flow.index(), |record| record.began = StartTime::Never);
        }
        let mut outcome = Outcome { flows, ..Outcome::default() };
        logs.into_iter().for_each(|log| log.apply(&mut outcome));
        Self { scenario, deadlock_detector: PfcDeadlockDetector::default(), outcome }
    }

    /// Adds the counters of a link and its queues.
    pub(crate) fn port(
        &mut self,
        counts: &PortCounters,
        link: LinkId,
        at: Time,
        queue_of: &dyn Fn(Class) -> u8,
    ) {
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

    /// Returns the detector for the pauses at the end and their dependencies.
    pub(crate) fn deadlock_detector(&mut self) -> &mut PfcDeadlockDetector {
        &mut self.deadlock_detector
    }

    /// Counts a packet that is still in a queue or on a link; pause frames are ignored.
    pub(crate) fn resident(&mut self, header: &Header) {
        if header.kind == Kind::Pause {
            return;
        }
        self.outcome.ledger.resident[usize::from(header.class) % CLASSES].add(header.wire);
    }

    /// Adds the packets that a host's transport sent and received, by class.
    pub(crate) fn host(&mut self, exchanged: &[HostCounters; CLASSES]) {
        let Ledger { made, delivered, .. } = &mut self.outcome.ledger;
        for (class, of_class) in exchanged.iter().enumerate() {
            made[class].merge(&of_class.made);
            delivered[class].merge(&of_class.taken);
        }
    }

    /// Adds the statistics of a port at which payload waited.
    pub(crate) fn queue(&mut self, queue: Option<PortQueue>) {
        self.outcome.queues.extend(queue);
    }

    /// Adds the payload that arrived at a host, and the token counters there.
    pub(crate) fn received(&mut self, received: &ReceivedPayload, tokens: Option<CreditStats>) {
        self.outcome.received.merge(received);
        if let Some(account) = tokens {
            self.outcome.tokens.get_or_insert_default().merge(&account);
        }
    }

    /// Adds the packets without a route at a switch, by class.
    pub(crate) fn unrouted(&mut self, tallies: &[PacketCount; CLASSES]) {
        std::iter::zip(&mut self.outcome.ledger.unrouted, tallies).for_each(|(all, more)| all.merge(more));
    }

    /// Adds the notifications to the applications of a host, by group.
    pub(crate) fn notices(&mut self, of_host: impl Iterator<Item = (HostId, u16, Notices)>) {
        self.outcome.notices.extend(of_host);
    }

    /// Adds the final state of the admission policy of a host.
    pub(crate) fn admission(&mut self, host: HostId, account: PolicyAccount) {
        self.outcome.admission.push((host, account));
    }

    /// Returns the outcome in canonical order.
    pub(crate) fn into_outcome(mut self) -> Outcome {
        let Outcome { flows, .. } = &mut self.outcome;
        flows.columns_mut().reckon_from_starts(self.scenario.flows.iter().map(|flow| flow.start));
        mark_not_issued(&self.scenario.waits, &self.scenario.steps, flows);
        self.outcome.deadlock = self.deadlock_detector.cycle();
        self.outcome.ports.sort_by_key(|p| (p.link, p.class));
        self.outcome.queues.sort_by_key(|q| q.link);
        self.outcome.storms.sort_by_key(|storm| (storm.link, storm.class));
        self.outcome.samples.sort();
        self.outcome.flow_samples.sort_by_key(|r| (r.at, r.flow));
        self.outcome.admission.sort_by_key(|(host, _)| *host);
        self.outcome.notices.sort_by_key(|&(host, group, _)| (host, group));
        self.outcome
    }

    /// Returns the outcome, for additions by the engine.
    pub(crate) fn outcome(&mut self) -> &mut Outcome {
        &mut self.outcome
    }
}

/// Separates flows that were never issued from those that waited until the end. A bounded flow that did not start was
/// not issued, and neither were the flows that depend on it.
fn mark_not_issued(waits: &[FlowDependency], steps: &[Step], flows: &mut FlowRecords) {
    let never = |flows: &FlowRecords, flow: FlowId| flows.at(flow.index()).began == StartTime::Never;
    let bounded = waits.iter().filter(|wait| wait.until.is_some()).map(|wait| wait.flow);
    let mut found: Vec<Work> = bounded.filter(|&flow| never(flows, flow)).map(Work::Flow).collect();
    if found.is_empty() {
        return;
    }
    let of_flows = waits.iter().map(|wait| (Work::Flow(wait.flow), &wait.after));
    let of_steps = steps.iter().zip(0..).map(|(step, number)| (Work::Step(StepId(number)), &step.after));
    let pairs = of_flows.chain(of_steps);
    let mut followers: Vec<(Work, Work)> =
        pairs.flat_map(|(work, after)| after.iter().map(move |first| (first.work, work))).collect();
    followers.sort_unstable();
    let mut passed = vec![false; steps.len()];
    while let Some(work) = found.pop() {
        match work {
            Work::Flow(flow) => flows.edit(flow.index(), |record| record.began = StartTime::NotIssued),
            Work::Step(step) if std::mem::replace(&mut passed[step.index()], true) => continue,
            Work::Step(_) => {}
        }
        let from = followers.partition_point(|&(first, _)| first < work);
        let of_work = followers[from..].iter().take_while(|&&(first, _)| first == work);
        let waits_still = |&follower: &Work| match follower {
            Work::Flow(flow) => never(flows, flow),
            Work::Step(_) => true,
        };
        found.extend(of_work.map(|&(_, follower)| follower).filter(waits_still));
    }
}

impl PacketCount {
    /// Adds the counts of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::rng::{Purpose, Stream};
    use priolane_core::units::Span;

    use super::*;
    use crate::model::dependencies::Predecessor;
    use crate::observe::records::FlowRecord;

    /// Whether a flow that never started was not issued, by its definition: it is bounded, or depends on such a flow.
    fn is_not_issued(waits: &[FlowDependency], never: &[bool], flow: usize) -> bool {
        let Some(wait) = waits.iter().find(|wait| wait.flow.index() == flow) else { return false };
        let follows = || {
            wait.after.iter().any(|first| match first.work {
                Work::Flow(first) => is_not_issued(waits, never, first.index()),
                Work::Step(_) => false,
            })
        };
        never[flow] && (wait.until.is_some() || follows())
    }

    #[test]
    fn flows_are_not_issued_by_their_own_bound_or_that_of_one_they_follow() {
        let mut draw = Stream::new(3, Purpose::Ties, 0);
        let mut found = [0, 0];
        for _ in 0..300 {
            let flows = 2 + draw.below(12) as u32;
            let mut waits = Vec::new();
            for flow in (1..flows).map(FlowId).filter(|_| draw.chance(0.8)).collect::<Vec<_>>() {
                let mut after: Vec<FlowId> =
                    (0..1 + draw.below(3)).map(|_| FlowId(draw.below(u64::from(flow.0)) as u32)).collect();
                after.sort_unstable();
                after.dedup();
                let until = draw.chance(0.25).then_some(Time(5));
                waits.push(FlowDependency { flow, after: Predecessor::flows(after, Span(1)), until });
            }
            let waits_for = |flow: u32| waits.iter().any(|wait: &FlowDependency| wait.flow.0 == flow);
            let never: Vec<bool> = (0..flows).map(|flow| waits_for(flow) && draw.chance(0.7)).collect();
            let record = |&never: &bool| FlowRecord {
                began: if never { StartTime::Never } else { StartTime::AsPlanned },
                ..FlowRecord::default()
            };
            let mut records = FlowRecords::from(never.iter().map(record).collect::<Vec<_>>());
            mark_not_issued(&waits, &[], &mut records);
            for (flow, &never_began) in never.iter().enumerate() {
                let not_issued = is_not_issued(&waits, &never, flow);
                let expected = match (not_issued, never_began) {
                    (true, _) => StartTime::NotIssued,
                    (false, true) => StartTime::Never,
                    (false, false) => StartTime::AsPlanned,
                };
                assert_eq!(records.at(flow).began, expected, "flow {flow} of {waits:?}, {never:?}");
                found[usize::from(not_issued)] += usize::from(never_began);
            }
        }
        assert!(found.iter().all(|&found| found > 200), "{found:?}");
    }
}

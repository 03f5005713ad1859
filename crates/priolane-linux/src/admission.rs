//! The admission of a host whose run takes `scale` times as long as its experiment. Policies see the time of the
//! experiment.
//!
//! Times at hosts are nanoseconds of the run. A policy receives `t * 1000 / scale` picoseconds, and spans are converted
//! alike.

use std::collections::HashMap;

use priolane_core::admit::{AdmissionDecision, AdmissionState, HostAdmission, Notices};
use priolane_core::endpoint::{FlowReport, FlowSpec, Weights};
use priolane_core::ids::{Class, FlowId, HostId};
use priolane_core::units::{PS_PER_S, Rate, Span, Time};

use crate::admission_job::{AdmissionCall, AdmissionEvent, AdmissionJob, AdmittedFlow, EndOfMessage};
use crate::job::{Flow, FlowKind};

/// The number of picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;

/// The admission policy of a host, with all its calls so far.
#[derive(Debug)]
pub struct ScaledAdmission {
    admission: HostAdmission,
    scale: u64,
    /// The times at which flows that are held back first asked.
    held: HashMap<u32, u64>,
    /// The classes and bytes of flows that have started and not ended.
    running: HashMap<u32, (Class, u64)>,
    /// The latest instant that was passed to the policy, which never sees an earlier one.
    last_ns: u64,
    events: Vec<AdmissionEvent>,
}

impl ScaledAdmission {
    /// Creates the admission of host `host` before its first flow. The admission probabilities are sampled each `watch`
    /// of the experiment.
    ///
    /// # Errors
    /// Returns the errors of [`AdmissionJob::build`].
    pub fn new(job: &AdmissionJob, host: u16, watch: Option<Span>) -> Result<Self, String> {
        Ok(Self {
            admission: job.build(host, watch)?,
            scale: job.scale,
            held: HashMap::new(),
            running: HashMap::new(),
            last_ns: 0,
            events: Vec::new(),
        })
    }

    /// Converts a span of the run to the time of the experiment.
    fn span(&self, ns: u64) -> Span {
        let ps = u128::from(ns) * u128::from(PS_PER_NS) / u128::from(self.scale);
        Span(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    fn time(&self, ns: u64) -> Time {
        Time(self.span(ns).0)
    }

    /// Returns the first nanosecond of the run that is not before `at`.
    fn ns(&self, at: Time) -> u64 {
        let ns = (u128::from(at.0) * u128::from(self.scale)).div_ceil(u128::from(PS_PER_NS));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// Returns the flow in the form that simulated hosts use, if it starts at `at_ns` and first asked at `asked_ns`.
    fn spec(&self, flow: &Flow, (asked_ns, at_ns): (u64, u64)) -> FlowSpec {
        let &Flow { id, src, dst, bytes, kind, class, deadline_ns, theta_bps, w_milli, group, .. } = flow;
        let size = (kind == FlowKind::Message).then_some(bytes);
        let theta = theta_bps.and_then(|bps| Rate::from_bps(bps.saturating_mul(self.scale)));
        FlowSpec {
            start: self.time(at_ns),
            class,
            deadline: deadline_ns.map(|within| self.time(asked_ns.saturating_add(within))),
            group,
            weights: Weights { theta, w_milli },
            ..FlowSpec::new(FlowId(id), (HostId(src), HostId(dst)), size)
        }
    }

    /// Asks for the class of a flow that would start at `at_ns`. Returns `None` if the application of the flow holds it
    /// back.
    pub fn ask(&mut self, flow: &Flow, at_ns: u64) -> Option<AdmittedFlow> {
        let at_ns = self.forward(at_ns);
        let asked_ns = match self.held.get(&flow.id) {
            Some(&first) => {
                self.admission.ask_again();
                first
            }
            None => at_ns,
        };
        let spec = self.spec(flow, (asked_ns, at_ns));
        let admitted = match self.admission.ask(&spec, spec.start) {
            AdmissionDecision::Later => {
                self.held.entry(flow.id).or_insert(at_ns);
                None
            }
            AdmissionDecision::Issue { class, .. } => {
                self.held.remove(&flow.id);
                self.running.insert(flow.id, (class, flow.bytes));
                Some(AdmittedFlow { class, held_ns: at_ns - asked_ns })
            }
        };
        let given = admitted.map(|admitted| admitted.class);
        self.note(at_ns, flow.id, AdmissionCall::Asked { given });
        admitted
    }

    /// Returns when the next flow that is held back asks again, in nanoseconds of the run, and the number of that flow.
    pub fn next(&self) -> Option<(u64, u32)> {
        self.admission.next().map(|(at, flow)| (self.ns(at), flow.0))
    }

    /// Tells the policy that a flow was delivered, as known to the sender at `at_ns`.
    pub fn completed(&mut self, flow: u32, at_ns: u64, end: EndOfMessage) {
        let at_ns = self.forward(at_ns);
        let Some((class, bytes)) = self.running.remove(&flow) else { return };
        let elapsed = self.span(end.elapsed_ns);
        let rate_bps = (u128::from(bytes) * 8 * u128::from(PS_PER_S)).checked_div(u128::from(elapsed.0));
        let report = FlowReport {
            flow: FlowId(flow),
            bytes,
            remaining: 0,
            rate_bps: rate_bps.map_or(0, |bps| u64::try_from(bps).unwrap_or(u64::MAX)),
            retransmitted: end.retransmitted,
            retransmits: end.retransmits,
            timeouts: end.timeouts,
            initial_timeouts: 0,
            spurious: 0,
            rtt: self.span(end.rtt_ns),
            elapsed,
            class_first: class,
            class_last: class,
        };
        self.admission.completed(&report, self.time(at_ns));
        self.note(at_ns, flow, AdmissionCall::Completed(end));
    }

    /// Tells the policy that a flow was aborted, or has failed, at `at_ns`.
    pub fn aborted(&mut self, flow: u32, at_ns: u64) {
        let at_ns = self.forward(at_ns);
        self.admission.aborted(FlowId(flow));
        self.held.remove(&flow);
        self.running.remove(&flow);
        self.note(at_ns, flow, AdmissionCall::Aborted);
    }

    /// Returns the instant that is passed to the policy instead of `at_ns`. A host learns of the end of a flow a little
    /// later, and may have asked for another flow in between.
    fn forward(&mut self, at_ns: u64) -> u64 {
        self.last_ns = self.last_ns.max(at_ns);
        self.last_ns
    }

    fn note(&mut self, at_ns: u64, flow: u32, call: AdmissionCall) {
        self.events.push(AdmissionEvent { at_ns, flow, call });
    }

    /// Replays the calls of a host in their order, from the first one on. `flows` contains all flows of the run.
    ///
    /// # Errors
    /// Returns the errors of [`AdmissionJob::build`], and an error if a call concerns a flow that is not in the run, or
    /// if the host gave a flow another class.
    pub fn again(
        job: &AdmissionJob,
        host: u16,
        watch: Option<Span>,
        flows: &HashMap<u32, &Flow>,
        events: &[AdmissionEvent],
    ) -> Result<Self, String> {
        let mut admission = Self::new(job, host, watch)?;
        for &AdmissionEvent { at_ns, flow, call } in events {
            match call {
                AdmissionCall::Asked { given } => {
                    let spec = flows.get(&flow).ok_or_else(|| format!("flow {flow} is not of this run"))?;
                    let again = admission.ask(spec, at_ns).map(|admitted| admitted.class);
                    if again != given {
                        return Err(format!(
                            "host {host} gave flow {flow} class {given:?}, its policy {again:?}"
                        ));
                    }
                }
                AdmissionCall::Completed(end) => admission.completed(flow, at_ns, end),
                AdmissionCall::Aborted => admission.aborted(flow, at_ns),
            }
        }
        Ok(admission)
    }

    /// Returns all calls in their order.
    pub fn into_events(self) -> Vec<AdmissionEvent> {
        self.events
    }

    /// Returns the state of the policy, or `None` if no flow started.
    pub fn account(&self) -> Option<AdmissionState> {
        self.admission.account()
    }

    /// Returns the notifications to applications and their reactions, by group.
    pub fn notices(&self) -> impl Iterator<Item = (u16, Notices)> {
        self.admission.notices()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission_job::Reaction;
    use crate::admission_job::tests::{admission, aequitas};
    use crate::host_jobs::tests::plain;
    use priolane_core::rng::{Purpose, Stream};
    use serde_json::json;

    fn end(elapsed_ns: u64) -> EndOfMessage {
        EndOfMessage { elapsed_ns, rtt_ns: 0, retransmitted: 0, retransmits: 0, timeouts: 0 }
    }

    fn p(admission: &ScaledAdmission) -> f64 {
        admission.account().unwrap().keys[0].p
    }

    #[test]
    fn a_policy_sees_the_times_of_the_experiment() {
        // A flow of one MTU is to take less than 10 us, which are 1 ms at scale 100.
        for (elapsed_ns, expected) in [(999_999, 1.0), (1_000_000, 0.5)] {
            let mut host = ScaledAdmission::new(&aequitas(), 0, None).unwrap();
            assert_eq!(host.ask(&plain(3), 70), Some(AdmittedFlow { class: 0, held_ns: 0 }));
            host.completed(3, 70 + elapsed_ns, end(elapsed_ns));
            assert_eq!(p(&host), expected, "{elapsed_ns} ns");
        }
        // Firapam: 3 ms with a deadline of 2 ms. With t = 1 and c = 0, g = 1 + b 0.001 s; at b = 1000 and a = 0.001, a g = 0.002.
        let row = json!({
            "kind": "firapam", "levels": 2, "t": 1.0, "b": 1000.0, "c": 0.0, "a": 0.001, "step": 0.1, "b_up": 1.1,
        });
        let mut host = ScaledAdmission::new(&admission(row), 0, None).unwrap();
        let flow = Flow { bytes: 125_000, deadline_ns: Some(200_000_000), ..plain(0) };
        host.ask(&flow, 5_000);
        host.completed(0, 300_005_000, end(300_000_000));
        assert!((p(&host) - 1.002).abs() < 1e-12, "{}", p(&host));
    }

    #[test]
    fn a_flow_that_is_held_back_asks_again_and_counts_from_its_first_request() {
        let defer = Reaction::Defer { by_ps: 2_000_000, times: 1 };
        let row = json!({ "kind": "aequitas", "levels": 2, "targets": ["10us"], "beta": 1.0, "floor": 1e-9 });
        let job = AdmissionJob { on_downgrade: vec![Reaction::Ignore, defer], ..admission(row) };
        let mut host = ScaledAdmission::new(&job, 0, None).unwrap();
        host.ask(&plain(0), 0);
        host.completed(0, 2_000_000, end(2_000_000));
        // From now on all are downgraded, as good as certainly; the second group waits 2 us, 200 us at this scale.
        let held = Flow { group: 1, deadline_ns: Some(900_000), ..plain(1) };
        assert_eq!((host.ask(&held, 3_000_000), host.next()), (None, Some((3_200_000, 1))));
        assert_eq!(host.ask(&plain(2), 3_100_000), Some(AdmittedFlow { class: 1, held_ns: 0 }));
        assert_eq!(host.ask(&held, 3_210_000), Some(AdmittedFlow { class: 1, held_ns: 210_000 }));
        assert_eq!(host.next(), None);
        let notices: Vec<_> =
            host.notices().map(|(group, of)| (group, of.downgraded, of.deferrals)).collect();
        assert_eq!(notices, [(0, 1, 0), (1, 2, 1)]);
        // One that is aborted while it waits asks no more.
        host.ask(&Flow { group: 1, ..plain(5) }, 4_000_000);
        host.aborted(5, 4_000_001);
        assert_eq!(host.next(), None);
    }

    #[test]
    fn an_end_that_is_known_late_is_not_before_the_last_request() {
        let mut host = ScaledAdmission::new(&aequitas(), 0, None).unwrap();
        host.ask(&plain(0), 100);
        host.ask(&plain(1), 5_000);
        host.completed(0, 4_990, end(4_890));
        let at: Vec<u64> = host.into_events().iter().map(|event| event.at_ns).collect();
        assert_eq!(at, [100, 5_000, 5_000]);
    }

    /// Sends flows of random sizes, classes, deadlines and times, as a host would.
    fn lived(host: &mut ScaledAdmission, flows: &[Flow]) -> Vec<Option<u8>> {
        let mut draw = Stream::new(9, Purpose::Ties, 0);
        let mut running: Vec<(u64, u32, EndOfMessage)> = Vec::new();
        let mut given = Vec::new();
        for flow in flows {
            running.sort_by_key(|&(at_ns, id, _)| (at_ns, id));
            let ended = running.partition_point(|&(at_ns, ..)| at_ns <= flow.start_ns);
            running.drain(..ended).for_each(|(at_ns, id, end)| host.completed(id, at_ns, end));
            let admitted = host.ask(flow, flow.start_ns);
            given.push(admitted.map(|admitted| admitted.class));
            let took = 200_000 + draw.below(3_000_000);
            let again = draw.below(3) * 1_456;
            running.push((flow.start_ns + took, flow.id, EndOfMessage { retransmitted: again, ..end(took) }));
        }
        given
    }

    fn flows() -> Vec<Flow> {
        let mut draw = Stream::new(8, Purpose::Ties, 0);
        let flow = |id: u32| Flow {
            dst: 1 + draw.below(3) as u16,
            bytes: 1 + draw.below(300_000),
            class: draw.below(3) as u8,
            start_ns: u64::from(id) * 150_000,
            deadline_ns: (draw.below(4) > 0).then(|| 300_000 + draw.below(2_000_000)),
            ..plain(id)
        };
        (0..500).map(flow).collect()
    }

    /// Returns policies of three classes.
    fn policies() -> [AdmissionJob; 4] {
        let of = |row| AdmissionJob { scale: 1_000, ..admission(row) };
        [
            of(json!({ "kind": "aequitas", "levels": 3, "targets": ["15ns", "25ns"], "window": "2us" })),
            of(json!({ "kind": "firapam", "levels": 3, "b": 9e7 })),
            of(json!({ "kind": "firapam", "levels": 3, "mode": "literal", "b": 9e7 })),
            of(json!({ "kind": "pase", "levels": 3 })),
        ]
    }

    #[test]
    fn decisions_are_those_of_the_simulators_policy_for_the_same_starts_and_ends() {
        let flows = flows();
        for job in policies() {
            let mut host = ScaledAdmission::new(&job, 0, None).unwrap();
            let given = lived(&mut host, &flows);
            let account = host.account();
            // A nanosecond at scale 1000 is a picosecond.
            let mut simulated = job.build(0, None).unwrap();
            let mut again = Vec::new();
            for AdmissionEvent { at_ns, flow, call } in host.into_events() {
                let now = Time(at_ns);
                let Flow { src, dst, bytes, class, deadline_ns, .. } = flows[flow as usize];
                match call {
                    AdmissionCall::Asked { .. } => {
                        let spec = FlowSpec {
                            start: now,
                            class,
                            deadline: deadline_ns.map(|within| now + Span(within)),
                            ..FlowSpec::new(FlowId(flow), (HostId(src), HostId(dst)), Some(bytes))
                        };
                        let AdmissionDecision::Issue { class, .. } = simulated.ask(&spec, now) else {
                            panic!()
                        };
                        again.push(Some(class));
                    }
                    AdmissionCall::Completed(EndOfMessage { elapsed_ns, retransmitted, .. }) => {
                        let report = FlowReport {
                            flow: FlowId(flow),
                            bytes,
                            remaining: 0,
                            rate_bps: 0,
                            retransmitted,
                            retransmits: 0,
                            timeouts: 0,
                            initial_timeouts: 0,
                            spurious: 0,
                            rtt: Span::ZERO,
                            elapsed: Span(elapsed_ns),
                            class_first: class,
                            class_last: class,
                        };
                        simulated.completed(&report, now);
                    }
                    AdmissionCall::Aborted => panic!("none was aborted"),
                }
            }
            assert_eq!(given, again, "{:?}", job.row);
            assert_eq!(account, simulated.account(), "{:?}", job.row);
            let moved = flows.iter().zip(&given).filter(|(flow, given)| Some(flow.class) != **given).count();
            assert!(moved > 20, "{moved} flows were moved: {:?}", job.row);
        }
    }

    #[test]
    fn the_calls_of_a_host_have_the_same_answers_again_and_a_wrong_one_is_found() {
        let flows = flows();
        let by_id: HashMap<u32, &Flow> = flows.iter().map(|flow| (flow.id, flow)).collect();
        for job in policies() {
            let mut host = ScaledAdmission::new(&job, 7, None).unwrap();
            lived(&mut host, &flows);
            let account = host.account();
            let mut events = host.into_events();
            let again = |host, events: &[_]| ScaledAdmission::again(&job, host, None, &by_id, events);
            let same = again(7, &events).unwrap();
            assert_eq!(same.account(), account);
            assert_eq!(same.into_events(), events);
            let AdmissionCall::Asked { given: Some(given) } = &mut events[0].call else { panic!() };
            *given += 1;
            let error = again(7, &events).unwrap_err();
            assert!(error.starts_with("host 7 gave flow 0 class "), "{error}");
            let stranger = AdmissionEvent { flow: 777, ..events[0] };
            assert_eq!(again(7, &[stranger]).unwrap_err(), "flow 777 is not of this run");
        }
    }

    #[test]
    fn an_instant_of_the_experiment_is_reached_at_the_first_nanosecond_not_before_it() {
        let host = ScaledAdmission::new(&AdmissionJob { scale: 3, ..aequitas() }, 0, None).unwrap();
        // 1 ps at scale 3 is 0.003 ns.
        assert_eq!([0, 1, 1_000, 1_001].map(|ps| host.ns(Time(ps))), [0, 1, 3, 4]);
        assert_eq!(host.time(4), Time(1_333));
        let flow = Flow { theta_bps: Some(20), ..plain(1) };
        assert_eq!(host.spec(&flow, (0, 0)).weights.theta, Rate::from_bps(60));
    }

    #[test]
    fn a_flow_ends_for_its_policy_once() {
        let mut host = ScaledAdmission::new(&aequitas(), 0, None).unwrap();
        host.ask(&plain(3), 0);
        host.aborted(3, 5);
        host.completed(3, 9, end(9));
        let calls: Vec<AdmissionCall> = host.into_events().iter().map(|event| event.call).collect();
        assert_eq!(calls, [AdmissionCall::Asked { given: Some(0) }, AdmissionCall::Aborted]);
    }
}

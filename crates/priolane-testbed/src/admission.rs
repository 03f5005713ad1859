//! Admission at the hosts of a run: the policy that they get from the experiment, and its decisions there.

use std::collections::HashMap;

use priolane_core::admit::{AdmissionState, Notices, Policy};
use priolane_core::ids::HostId;
use priolane_lab::plan::Run;
use priolane_linux::admission::ScaledAdmission;
use priolane_linux::admission_job::{AdmissionJob, Reaction};
use priolane_linux::job::{Flow, HostReport};
use priolane_sim::scenario::ScenarioSpec;
use priolane_source::InputError;
use serde_json::Value;

use super::refusals::error;
use super::traffic;

/// The key of the policy of `run`.
fn key(run: &Run) -> String {
    format!("scheme.{}.admit", run.scheme)
}

/// Returns the job from which hosts decide as simulated ones do; `None` if every flow gets the class that it asks for.
///
/// # Errors
/// A policy that has no form in JSON: a defect.
pub(super) fn job(
    run: &Run,
    scenario: &ScenarioSpec,
    scale: u64,
) -> Result<Option<AdmissionJob>, InputError> {
    if matches!(scenario.admission, Policy::None(_)) {
        return Ok(None);
    }
    let Ok(Value::Object(row)) = serde_json::to_value(&scenario.admission) else {
        let what = "its policy has no form in JSON";
        return Err(error(run, &key(run), what, "another scheme, and report a defect"));
    };
    Ok(Some(AdmissionJob {
        row,
        seed: scenario.seed,
        mss: scenario.frame.mss().into(),
        line_bps: scenario.topology.host_capacity(HostId(0)).bps(),
        scale,
        on_downgrade: scenario.on_downgrade.iter().map(|&reaction| Reaction::from(reaction)).collect(),
    }))
}

/// The outcome of admission at all hosts, in order of hosts.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct AdmissionOutcome {
    /// The policy of each host that sent a flow.
    pub(super) accounts: Vec<(HostId, AdmissionState)>,
    /// The notifications to applications, by host and group.
    pub(super) notices: Vec<(HostId, u16, Notices)>,
}

/// The outcome of admission at `hosts`, whose calls the policy gets again.
///
/// # Errors
/// A host that gave a flow another class than its policy does.
pub(super) fn outcome(
    run: &Run,
    scenario: &ScenarioSpec,
    job: Option<&AdmissionJob>,
    hosts: &[HostReport],
) -> Result<AdmissionOutcome, InputError> {
    let mut outcome = AdmissionOutcome::default();
    let Some(job) = job else { return Ok(outcome) };
    let flows = traffic::traffic(run, scenario, job.scale)?.flows;
    let flows: HashMap<u32, &Flow> = flows.iter().map(|flow| (flow.id, flow)).collect();
    for report in hosts {
        let every = scenario.admission_every;
        let again = ScaledAdmission::again(job, report.host, every, &flows, &report.admission);
        let admission = again.map_err(|what| {
            error(run, &key(run), what, "one release of priolane at all hosts, and report a defect")
        })?;
        let host = HostId(report.host);
        outcome.accounts.extend(admission.account().map(|account| (host, account)));
        outcome.notices.extend(admission.notices().map(|(group, notices)| (host, group, notices)));
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use priolane_lab::execute::{FinishedRun, store_measured};
    use priolane_lab::plan;
    use priolane_linux::admission_job::{AdmissionCall, AdmittedFlow, EndOfMessage};
    use priolane_linux::job::SentMessage;
    use priolane_linux::run::TestbedReport;
    use priolane_results::store::Store;
    use priolane_sim::outcome::ClassSpan;

    use super::super::tests::{STAR, name, run_of};
    use super::super::{Choices, PlannedMeasurement, job, measurement};
    use super::*;

    /// The further keys of the flows of the star, and schemes that admit them.
    const ADMISSION: &str = r#"
deadline = [{ share = 0.5, within = "400us" }, { share = 0.5, within = "4ms" }]
on_downgrade = { kind = "defer", by = "50us", times = 2 }

[scheme.firapam]
admit = { mi = "rpc" }
assign = { kind = "random_fraction", fractions = [0.5, 0.25, 0.25] }

# A target that only flows of 1000 packets meet.
[scheme.aequitas]
admit = { targets = ["100ns", "100ns"], beta = 1.0 }
assign = { kind = "random_fraction", fractions = [0.5, 0.25, 0.25] }

[scheme.moving]
base = "firapam"
admit = { mi = "rtt", remap = "per_mi" }
"#;

    /// The star with flows that have deadlines and ask for three classes.
    fn admitted_star() -> String {
        let star = STAR
            .replace(r#"["dctcp", "pias", "pfabric"]"#, r#"["firapam", "aequitas", "moving"]"#)
            .replace("seeds = 1\n", "seeds = [7]\nadmission_every = \"1ms\"\n")
            .replace("flows = 40", "flows = 60");
        format!("{star}{ADMISSION}")
    }

    #[test]
    fn hosts_get_the_policy_of_the_experiment_in_its_own_time() {
        let run = run_of("firapam", &admitted_star());
        let planned = job(&run, name(), Choices::default()).unwrap();
        let admission = planned.job.scheme.admission.as_ref().unwrap();
        let scenario = plan::build(&run).unwrap().scenario;
        assert_eq!((admission.seed, admission.mss, admission.scale), (7, 1_460, 100));
        assert_eq!(admission.line_bps, 10_000_000_000);
        assert_eq!(admission.row["b"], 900.0);
        // 50 us, which are 5 ms at this scale.
        assert_eq!(admission.on_downgrade, [Reaction::Defer { by_ps: 50_000_000, times: 2 }]);
        assert_eq!(admission.policy(), Ok(scenario.admission.clone()));
        assert_eq!(planned.job.flows[0].class, scenario.flows.at(0).class);
        assert_eq!(
            job(&run_of("dctcp", STAR), name(), Choices::default()).unwrap().job.scheme.admission,
            None
        );
        let error =
            job(&run_of("moving", &admitted_star()), name(), Choices::default()).unwrap_err().to_string();
        let expected = "scheme.moving.admit.mi: hosts here report a flow when it ends, and not at each monitor interval. Use mi = \"rpc\", or";
        assert!(error.contains(expected), "{error}");
    }

    /// A run of Aequitas in which each flow ends after 10 ms, 100 us of the experiment, and the calls of its hosts.
    fn admitted(run: &Run) -> (PlannedMeasurement, TestbedReport) {
        let planned = job(run, name(), Choices::default()).unwrap();
        let admission = planned.job.scheme.admission.clone().unwrap();
        let end =
            EndOfMessage { elapsed_ns: 10_000_000, rtt_ns: 0, retransmitted: 0, retransmits: 0, timeouts: 0 };
        let of = |host: u16| {
            let mut admission = ScaledAdmission::new(&admission, host, None).unwrap();
            let mut sent = Vec::new();
            let mut starts = planned.job.flows.iter().filter(|flow| flow.src == host).peekable();
            loop {
                let next_ns = starts.peek().map_or(u64::MAX, |flow| flow.start_ns);
                let held = admission.next().filter(|&(at_ns, _)| at_ns < next_ns);
                let held = held.map(|(at_ns, id)| (at_ns, &planned.job.flows[id as usize]));
                let Some((at_ns, flow)) = held.or_else(|| starts.next().map(|flow| (flow.start_ns, flow)))
                else {
                    break;
                };
                let Some(admitted) = admission.ask(flow, at_ns) else { continue };
                admission.completed(flow.id, at_ns, end);
                let (acked_ns, admitted) = (Some(at_ns + end.elapsed_ns), Some(admitted));
                let at_ns = at_ns - admitted.unwrap().held_ns;
                let id = flow.id;
                sent.push(SentMessage {
                    id,
                    at_ns,
                    admitted,
                    acked_ns,
                    retransmits: 0,
                    timeouts: 0,
                    changes: 0,
                    failed: None,
                });
            }
            HostReport { sent, admission: admission.into_events(), ..HostReport::empty(host) }
        };
        let hosts = (0..3).map(of).collect();
        let measured = TestbedReport {
            hosts,
            queues: Vec::new(),
            switches: Vec::new(),
            machines: Vec::new(),
            elapsed_ns: 4_000_000_000,
        };
        (planned, measured)
    }

    #[test]
    fn tables_say_which_class_a_flow_asked_for_and_ran_in_and_what_the_policy_learned() {
        let run = run_of("aequitas", &admitted_star());
        let (planned, measured) = admitted(&run);
        let made = measurement(&run, (&planned.job.scheme, planned.scale), &measured).unwrap();
        let scenario = plan::build(&run).unwrap().scenario;
        let mut downgraded = 0;
        for (place, flow) in scenario.flows.iter().enumerate() {
            let record = made.outcome.flows.at(place);
            let sent =
                measured.hosts.iter().flat_map(|host| &host.sent).find(|sent| sent.id == flow.id.0).unwrap();
            let AdmittedFlow { class, held_ns } = sent.admitted.unwrap();
            let expected = ClassSpan { asked: flow.class, given: class, first: class, last: class };
            assert_eq!((record.class, record.held.0), (expected, held_ns * 10));
            // 100 us from the flow's last request on.
            assert_eq!(record.fct_acked.unwrap().0, 100_000_000 + held_ns * 10);
            downgraded += u32::from(class > flow.class);
        }
        assert!(downgraded > 0);
        let hosts: Vec<u16> = made.outcome.admission.iter().map(|(host, _)| host.0).collect();
        assert_eq!(hosts, [0, 1, 2]);
        let deferrals: u64 = made.outcome.notices.iter().map(|(.., notices)| notices.deferrals).sum();
        assert!(deferrals > 0);
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let FinishedRun::Simulated(record) = store_measured(&run, &store, made).unwrap() else { panic!() };
        let admission = record.admission.unwrap();
        assert!(admission.keys.count > 0 && !admission.over_time.unwrap().classes.is_empty());
        assert_eq!(admission.notices[0].deferrals, deferrals);
    }

    #[test]
    fn a_host_that_decides_otherwise_than_its_policy_is_found() {
        let run = run_of("aequitas", &admitted_star());
        let (planned, mut measured) = admitted(&run);
        let wrong = AdmissionCall::Asked { given: Some(9) };
        measured.hosts[1].admission[0].call = wrong;
        let error =
            measurement(&run, (&planned.job.scheme, planned.scale), &measured).unwrap_err().to_string();
        assert!(error.contains("scheme.aequitas.admit: host 1 gave flow"), "{error}");
    }
}

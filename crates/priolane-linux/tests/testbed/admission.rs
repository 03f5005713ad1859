//! Tests of admission at hosts: flows leave in the class that they are given, and the policy of the simulator gives the
//! same.

use priolane_core::admit::AdmissionDecision;
use priolane_core::endpoint::{FlowReport, FlowSpec};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};
use priolane_linux::admission_job::{AdmissionCall, AdmissionEvent, AdmissionJob};
use priolane_linux::job::{Flow, HostReport, SchemeJob};
use priolane_linux::machines::{AgentAddress, MachinesJob};
use priolane_linux::network::Network;
use priolane_linux::port::Port;
use priolane_linux::run::TestbedReport;
use serde_json::json;

use crate::machines;
use crate::made::{line, plan};
use crate::runs::{arrived, dctcp, flow, job, measured, port};

/// The number of nanoseconds of the run for each nanosecond of the experiment.
const SCALE: u64 = 20;
/// The number of packets of a flow, and the length of a flow in bytes.
const PACKETS: u64 = 10;
const BYTES: u64 = 14_560;

/// Returns Aequitas with two classes and a target that no packet meets. The first flow to a host that ends leaves one
/// in a thousand flows to that host in class 0.
fn aequitas() -> AdmissionJob {
    let row = json!({ "kind": "aequitas", "levels": 2, "targets": ["1ns"], "beta": 1.0, "floor": 0.001 });
    let serde_json::Value::Object(row) = row else { panic!("{row}") };
    let line_bps = 100_000_000 * SCALE;
    AdmissionJob { row, seed: 5, mss: 1_456, line_bps, scale: SCALE, on_downgrade: Vec::new() }
}

/// Returns the classes that the policy gives to flows with the starts and ends of `report`, in picoseconds of the
/// experiment.
fn classes_of_the_policy(admission: &AdmissionJob, flows: &[Flow], report: &HostReport) -> Vec<(u32, u8)> {
    let ps = |ns: u64| ns * 1_000 / SCALE;
    let mut policy = admission.build(report.host, None).unwrap();
    let mut classes = Vec::new();
    for &AdmissionEvent { at_ns, flow, call } in &report.admission {
        let now = Time(ps(at_ns));
        let Flow { src, dst, bytes, class, .. } = flows[flow as usize];
        match call {
            AdmissionCall::Asked { .. } => {
                let hosts = (HostId(src), HostId(dst));
                let spec = FlowSpec { start: now, class, ..FlowSpec::new(FlowId(flow), hosts, Some(bytes)) };
                match policy.ask(&spec, now) {
                    AdmissionDecision::Issue { class, .. } => classes.push((flow, class)),
                    AdmissionDecision::Later => panic!("flow {flow} was held back"),
                }
            }
            AdmissionCall::Completed(end) => {
                let report = FlowReport {
                    flow: FlowId(flow),
                    bytes,
                    remaining: 0,
                    rate_bps: 0,
                    retransmitted: end.retransmitted,
                    retransmits: end.retransmits,
                    timeouts: end.timeouts,
                    initial_timeouts: 0,
                    spurious: 0,
                    rtt: Span(ps(end.rtt_ns)),
                    elapsed: Span(ps(end.elapsed_ns)),
                    class_first: 0,
                    class_last: 0,
                };
                policy.completed(&report, now);
            }
            AdmissionCall::Aborted => panic!("flow {flow} failed"),
        }
    }
    classes
}

/// Returns the number of downgraded flows, after checking that all hosts gave the classes that the policy gives.
fn as_the_policy_decides(flows: &[Flow], measured: &TestbedReport) -> u64 {
    let mut downgraded = 0;
    for report in &measured.hosts {
        let given: Vec<(u32, u8)> =
            report.sent.iter().map(|sent| (sent.id, sent.admitted.unwrap().class)).collect();
        assert_eq!(given, classes_of_the_policy(&aequitas(), flows, report), "host {}", report.host);
        let ends = report.admission.iter().filter(|event| matches!(event.call, AdmissionCall::Completed(_)));
        assert_eq!(ends.count(), given.len());
        downgraded += given.iter().filter(|&&(_, class)| class == 1).count() as u64;
    }
    downgraded
}

#[test]
fn a_downgraded_flow_leaves_in_the_dscp_of_its_class_as_the_simulators_policy_decides() {
    let mut of_class = [1; 16];
    of_class[0] = 0;
    let port = Port { queues: 2, of_class, ..port() };
    // Two senders to one host, a flow each 60 ms.
    let flows: Vec<Flow> =
        (0..30).map(|id| flow(id, ((id % 2) as u16, 2), BYTES, u64::from(id) * 60)).collect();
    let scheme = SchemeJob { admission: Some(aequitas()), ..dctcp() };
    let job = job(plan("q", Network::star(3, &line(port))), scheme, flows.clone());
    let Some(measured) = measured(&job) else { return };
    assert_eq!(arrived(&measured).len(), 30);
    let downgraded = as_the_policy_decides(&flows, &measured);
    println!("{downgraded} of 30 flows were downgraded");
    assert!(downgraded > 0);
    let packets = |queue| {
        let to_host_2 = measured.queues.iter().find(|of| (of.cable, of.queue) == (2, queue));
        to_host_2.unwrap().packets
    };
    // Whole flows and no acknowledgements go there; greetings and requests are in class 0 too.
    assert!(packets(1) >= PACKETS * downgraded, "{} packets of {downgraded} flows", packets(1));
    assert!(packets(0) >= PACKETS * (30 - downgraded), "{} packets", packets(0));
    assert!(packets(0) < PACKETS * (30 - downgraded) + 150, "{} packets", packets(0));
}

#[test]
fn hosts_on_several_machines_decide_as_the_simulators_policy() {
    let mark = format!("admission{}", std::process::id());
    // Clocks an hour apart: a host decides by its own.
    let agents = ["3600000000000", "0"]
        .map(|shift| AgentAddress::Command(machines::agent(&mark, &["--clock-shift", shift])));
    let flows: Vec<Flow> = (0..16)
        .map(|id| flow(id, ((id % 2) as u16, 2 + (id % 2) as u16), BYTES, u64::from(id) * 60))
        .collect();
    let job = machines::job(17, agents, flows.clone());
    let job = MachinesJob { scheme: SchemeJob { admission: Some(aequitas()), ..job.scheme }, ..job };
    let measured = machines::measured(&job).unwrap();
    assert_eq!(arrived(&measured).len(), 16);
    let downgraded = as_the_policy_decides(&flows, &measured);
    println!("{downgraded} of 16 flows were downgraded");
    assert!(downgraded > 0);
    machines::none_left(&mark);
}

use std::path::Path;

use priolane_core::port::{DisciplineSpec, TokenOrder};
use priolane_lab::execute::{FinishedRun, store_measured};
use priolane_lab::plan::{Options, Run, from_text};
use priolane_linux::clock::{ClockOffset, MachineReport};
use priolane_linux::counters::QueueCount;
use priolane_linux::job::{
    ArrivedMessage, Bins, Change, FlowChange, FlowKind, FlowProgress, HostReport, SentMessage,
};
use priolane_linux::network::SwitchPort;
use priolane_linux::port::{Amount, Backlog, Mark, Service};
use priolane_linux::run::{Ends, TestbedReport};
use priolane_linux::switch::{ForwardCounts, PortCounts, SwitchReport};
use priolane_linux::user_port::UserPort;
use priolane_results::store::Store;
use priolane_results::summary::PortSet;

use super::*;

mod refused;

pub(super) const STAR: &str = r#"
title = "Two to one"
schemes = ["dctcp", "pias", "pfabric"]
seeds = 1
time = { flows = 40, limit = "100ms" }

[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us" }

[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.5 }
"#;

pub(super) fn run_of(scheme: &str, text: &str) -> Run {
    let options = Options { schemes: Some(vec![scheme.to_owned()]), ..Options::default() };
    let plan = from_text("star.toml", text, Path::new("."), &options).unwrap();
    plan.runs.into_iter().find(|run| run.scheme == scheme).unwrap()
}

pub(super) fn name() -> Name {
    Name::try_from("t".to_owned()).unwrap()
}

#[test]
fn a_run_becomes_a_testbed_and_messages_at_the_usual_scale() {
    let planned = job(&run_of("dctcp", STAR), name(), Choices::default()).unwrap();
    let RunJob { plan, scheme, flows, limit_ns, .. } = &planned.job;
    // 10 Gbit/s become 100 Mbit/s, 1 us becomes 100 us, 100 ms become 10 s.
    assert_eq!((planned.scale, *limit_ns), (100, 10_000_000_000));
    let cable = &plan.network.cables[0];
    assert_eq!((cable.rate_bps, cable.delay_ns), (100_000_000, 100_000));
    let Some(SwitchPort::Kernel(port)) = &cable.ports[1] else { panic!("{cable:?}") };
    assert_eq!(port.mark, Some(Mark { above: Amount::Packets(65), per: Backlog::Port }));
    assert_eq!(port.room, Some(Amount::Packets(240)));
    assert_eq!(scheme.transport["min_rto"], "1s");
    assert_eq!(flows.len(), 40);
    let run = run_of("dctcp", STAR);
    let built = plan::build(&run).unwrap();
    let last = built.scenario.flows.at(39);
    assert_eq!((flows[39].bytes, flows[39].src), (last.size.unwrap(), last.src.0));
    assert_eq!(flows[39].start_ns, last.start.0 / 10);
    assert!(priolane_linux::scheme::scheme(scheme).is_ok());
}

#[test]
fn hosts_know_the_empty_path_where_transports_compare_delays_and_all_paths_are_alike() {
    let two_racks = STAR.replace(
        "kind = \"single_switch\"\nhosts = 3",
        "kind = \"leaf_spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\nfabric_link = { rate = \"10Gbps\", delay = \"1us\" }",
    );
    for (scheme, text, knows) in [
        ("prioplus_swift", STAR, true),
        ("swift", STAR, true),
        ("dctcp", STAR, false),
        ("prioplus_swift", &two_racks, false),
        ("pfabric", &two_racks, true),
    ] {
        let text = text.replace("\"pias\"", "\"swift\", \"prioplus_swift\"");
        let planned = job(&run_of(scheme, &text), name(), Choices::default()).unwrap();
        assert_eq!(planned.job.knows_paths, knows, "{scheme}");
    }
}

#[test]
fn strict_queues_and_thresholds_of_a_scheme_are_kept() {
    let planned =
        job(&run_of("pias", STAR), name(), Choices { scale: Some(200), ..Choices::default() }).unwrap();
    let Some(SwitchPort::Kernel(port)) = planned.job.plan.network.cables[2].ports[1].clone() else {
        panic!("{:?}", planned.job.plan)
    };
    assert_eq!((port.queues, port.service), (8, Service::Strict));
    assert_eq!(planned.job.scheme.class.thresholds.len(), 7);
    assert_eq!(planned.job.plan.network.cables[2].rate_bps, 50_000_000);
    assert!(
        planned.notes.iter().any(|note| note.contains("each of 8 queues has as much")),
        "{:?}",
        planned.notes
    );
}

#[test]
fn a_shared_buffer_becomes_what_one_queue_may_hold_alone() {
    let planned = job(&run_of("swift", STAR), name(), Choices::default()).unwrap();
    let Some(SwitchPort::Kernel(port)) = planned.job.plan.network.cables[2].ports[1].clone() else {
        panic!("{:?}", planned.job.plan)
    };
    // 2.64 MB with alpha = 1/4: a fifth.
    assert_eq!(port.room, Some(Amount::Bytes(528_000)));
    assert!(planned.notes.iter().any(|note| note.contains("share in the simulator")), "{:?}", planned.notes);
}

#[test]
fn what_a_testbed_cannot_do_is_refused_with_a_reason() {
    let error_of =
        |scheme: &str, choices| job(&run_of(scheme, STAR), name(), choices).unwrap_err().to_string();
    let kernel = Choices { switch: Some(SwitchKind::Kernel), ..Choices::default() };
    let error = error_of("pfabric", kernel);
    assert!(error.starts_with("star.toml: scheme.pfabric.port: ports that sort packets"), "{error}");
    assert!(error.ends_with("no qdisc does. Use --switch user, or `priolane run`."), "{error}");
    let error = error_of("dctcp", Choices { scale: Some(1), ..Choices::default() });
    assert!(
        error.contains("at scale 1 lines have 10000000000 to 10000000000 bit/s. Use a --scale at which"),
        "{error}"
    );
}

#[test]
fn times_of_a_measurement_are_those_of_the_experiment() {
    let run = run_of("pias", STAR);
    let planned = job(&run, name(), Choices::default()).unwrap();
    let flow = planned.job.flows[0];
    let sent = SentMessage {
        id: flow.id,
        at_ns: flow.start_ns + 1_000,
        admitted: None,
        acked_ns: Some(flow.start_ns + 3_001_000),
        retransmits: 2,
        timeouts: 1,
        changes: 0,
        failed: None,
    };
    let arrived = ArrivedMessage { id: flow.id, at_ns: flow.start_ns + 2_001_000, missing: 0 };
    let report = HostReport {
        host: flow.src,
        sent: vec![sent],
        arrived: vec![arrived],
        progress: Vec::new(),
        wrong: 0,
        not_real_time: None,
        counts: [("marked".to_owned(), 7)].into(),
        admission: Vec::new(),
    };
    let queues = vec![QueueCount {
        cable: 2,
        end: 1,
        queue: 3,
        class: 3,
        packets: 5,
        bytes: 7_690,
        dropped: 1,
        waited_ps: 900,
        ..QueueCount::default()
    }];
    let measured = TestbedReport {
        hosts: vec![report],
        queues,
        switches: Vec::new(),
        machines: Vec::new(),
        elapsed_ns: 4_000_000_000,
    };
    let made = measurement(&run, (&planned.job.scheme, planned.scale), &measured).unwrap();
    let record = made.outcome.flows.at(0);
    // 2 ms at scale 100 are 20 us.
    assert_eq!(record.fct.map(|fct| fct.0), Some(20_000_000));
    assert_eq!(record.fct_acked.map(|fct| fct.0), Some(30_000_000));
    assert_eq!((record.retransmits, record.timeouts), (2, 1));
    assert_eq!(made.outcome.flows.at(1).fct, None);
    assert_eq!(made.outcome.stopped_at.0, 40_000_000_000);
    let port = made.outcome.ports[0];
    // Host 2 receives on link 5.
    assert_eq!((port.link.0, port.class, port.queue, port.packets), (5, 3, 3, 5));
    assert_eq!(port.waited, 9);
    assert_eq!((made.drops, made.marks), (Some(1), 7));
    let known = ClockOffset { offset_ns: 0, uncertainty_ns: 1 };
    let machines =
        vec![MachineReport { name: "left".to_owned(), hosts: vec![0, 1, 2], before: known, after: known }];
    let between = TestbedReport { queues: Vec::new(), machines, ..measured };
    let made_there = measurement(&run, (&planned.job.scheme, planned.scale), &between).unwrap();
    assert_eq!(made_there.drops, None, "the switches between machines do not tell");
    assert_eq!(
        made.warnings,
        ["pias: measured on Linux at scale 100 with switches of the kernel, not simulated"]
    );
}

#[test]
fn on_several_machines_hosts_are_those_of_the_experiment_and_no_switch_is() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("m.toml");
    let machine = |name: &str, address: &str, hosts: &str| {
        format!("[[machine]]\nname = {name:?}\nssh = {name:?}\naddress = {address:?}\nhosts = {hosts:?}\n")
    };
    std::fs::write(&file, machine("left", "192.0.2.1", "0,2") + &machine("right", "192.0.2.2", "1")).unwrap();
    // Ports that no testbed can be are no obstacle where none are made.
    for scheme in ["dctcp", "pfabric"] {
        let planned = job_on_machines(&run_of(scheme, STAR), None, &file).unwrap();
        let MachinesJob { machines, network, flows, scheme: speaks, limit_ns, .. } = &planned.job;
        assert_eq!((planned.scale, *limit_ns, flows.len()), (100, 10_000_000_000, 40));
        assert_eq!(
            machines.iter().map(|machine| &machine.hosts[..]).collect::<Vec<_>>(),
            [&[0, 2][..], &[1]]
        );
        assert!(network.cables.iter().all(|cable| cable.ports == [None, None]));
        assert_eq!((network.line_rate(1), speaks.ranks), (100_000_000, false));
        assert!(planned.notes[0].starts_with(&format!("{scheme}: switches are those between the machines")));
    }
    std::fs::write(&file, machine("left", "192.0.2.1", "0,1")).unwrap();
    let error = job_on_machines(&run_of("dctcp", STAR), None, &file).unwrap_err().to_string();
    assert!(
        error.ends_with("m.toml: machine: no machine has host 2. Use each host of the experiment once."),
        "{error}"
    );
}

#[test]
fn the_kernel_limits_tokens_that_expire_at_hosts_if_anywhere() {
    let planned = job(&run_of("expresspass", STAR), name(), Choices::default()).unwrap();
    let Some(SwitchPort::Kernel(port)) = planned.job.plan.network.cables[2].ports[1].clone() else {
        panic!("{:?}", planned.job.plan)
    };
    let Service::Tokens(tokens) = port.service else { panic!("{port:?}") };
    assert_eq!((tokens.classes, tokens.depth, tokens.burst, port.queues), (1, 8, 2, 3));
    let says = |what: &str| planned.notes.iter().any(|note| note.contains(what));
    assert!(says("switches of the kernel") && says("tokens have 84 B on the wire"), "{:?}", planned.notes);
    let kernel = Choices { switch: Some(SwitchKind::Kernel), ..Choices::default() };
    let error = job(&run_of("top", STAR), name(), kernel).unwrap_err().to_string();
    assert!(error.contains("ports where tokens expire: no qdisc drops a packet for its age"), "{error}");
}

/// The port of a switch in user space towards host 2, and what is said before the run.
fn user_port(scheme: &str, choices: Choices) -> (UserPort, PlannedMeasurement) {
    let planned = job(&run_of(scheme, STAR), name(), choices).unwrap();
    let Some(SwitchPort::User(port)) = planned.job.plan.network.cables[2].ports[1].clone() else {
        panic!("{:?}", planned.job.plan)
    };
    (*port, planned)
}

#[test]
fn ports_that_no_qdisc_is_are_those_of_the_simulator_in_user_space() {
    let shows = |planned: &PlannedMeasurement, what: &str| {
        assert!(planned.notes[0].contains(what), "{:?}", planned.notes);
    };
    let (pfabric, planned) = user_port("pfabric", Choices::default());
    shows(
        &planned,
        "pfabric: switches in user space: ports that sort packets by the remaining bytes of a flow",
    );
    assert!(planned.job.scheme.ranks);
    assert_eq!(pfabric.room.map(|room| room.most), Some(Amount::Packets(24)));
    let (tokens, planned) = user_port("ideal_tokens", Choices::default());
    assert!(planned.job.scheme.ranks);
    let Ok(DisciplineSpec::Tokens(tokens)) = tokens.discipline() else { panic!("{tokens:?}") };
    assert_eq!((tokens.order, tokens.token_wire), (TokenOrder::Rank, 92));
    for scheme in ["top", "expresspass", "ndp", "pifo_swift", "aifo_swift", "dctcp", "pias", "swift"] {
        let user = Choices { switch: Some(SwitchKind::User), ..Choices::default() };
        let (port, planned) = user_port(scheme, user);
        shows(&planned, &format!("{scheme}: switches in user space"));
        assert!(!planned.job.scheme.ranks, "{scheme}");
        let run = run_of(scheme, STAR);
        let built = plan::build(&run).unwrap();
        // Link 5 leads from the switch to host 2.
        let spec = built.scenario.ports[5].clone();
        assert_eq!(
            (port.discipline(), port.buffer(), port.link),
            (Ok(spec.discipline), spec.buffer, 5),
            "{scheme}"
        );
        assert_eq!(port.shared_buffer(), built.scenario.switch.memory, "{scheme}");
    }
}

/// Two endless flows to one host, of which one pays, starts late and is aborted.
const ENDLESS: &str = r#"
title = "Two without an end"
schemes = ["paccp"]
seeds = 1
rates_every = "100us"
time = { warmup = "1ms", measure = "3ms" }
control = [
  { at = "2ms", group = "late", pay = { w = 3, theta = "1Gbps" } },
  { at = "3ms", group = "late", abort = true },
]

[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us" }

[[group]]
name = "early"
hosts = "0"
app = "long_lived"
pairs = { rule = "to_one", host = 2 }
size = "endless"

[[group]]
name = "late"
hosts = "1"
app = "long_lived"
pairs = { rule = "to_one", host = 2 }
size = "endless"
active = { from = "950us" }
"#;

#[test]
fn an_endless_flow_is_a_message_that_no_line_carries_until_the_end_and_its_changes_are_scaled() {
    let planned = job(&run_of("paccp", ENDLESS), name(), Choices::default()).unwrap();
    let RunJob { flows, changes, bins, limit_ns, ends, .. } = &planned.job;
    assert_eq!((planned.scale, *limit_ns, *ends), (100, 400_000_000, Ends::AtLimit));
    // 100 Mbit/s carry 5 MB in 400 ms, and 3.8125 MB in the 305 ms from 95 ms on.
    let seen: Vec<_> = flows.iter().map(|flow| (flow.kind, flow.start_ns, flow.bytes)).collect();
    assert_eq!(seen, [(FlowKind::Endless, 0, 5_000_000), (FlowKind::Endless, 95_000_000, 3_812_500)]);
    let late = flows[1].id;
    let change = |at_ms: u64, change| FlowChange { at_ns: at_ms * 1_000_000, flow: late, change };
    let weights = Change::Weights { theta_bps: Some(10_000_000), w_milli: 3_000 };
    assert_eq!(changes, &[change(200, weights), change(300, Change::Abort)]);
    assert_eq!(*bins, Some(Bins { every_ns: 10_000_000, count: 41 }));
    assert!(planned.notes.iter().any(|note| note.starts_with("endless flows: here messages")));
    // What ends does not last until the limit.
    let planned = job(&run_of("dctcp", STAR), name(), Choices::default()).unwrap();
    assert_eq!((planned.job.ends, planned.job.bins), (Ends::WhenDone, None));
    let text = ENDLESS.replace("\"100us\"", "\"100ns\"").replace("\"3ms\" }", "\"399ms\" }");
    let error = job(&run_of("paccp", &text), name(), Choices::default()).unwrap_err().to_string();
    assert!(
        error.contains("rates_every: rates of 2 flows in 4000001 bins; hosts report 4194304 at most"),
        "{error}"
    );
}

#[test]
fn what_arrives_of_endless_flows_becomes_their_rates_from_start_to_abort() {
    let run = run_of("paccp", ENDLESS);
    let planned = job(&run, name(), Choices::default()).unwrap();
    let report = |host, progress| HostReport {
        host,
        sent: Vec::new(),
        arrived: Vec::new(),
        progress,
        wrong: 0,
        not_real_time: None,
        counts: Default::default(),
        admission: Vec::new(),
    };
    let of = |id: u32, bins: std::ops::Range<usize>| FlowProgress {
        id,
        bytes: (0..41).map(|bin| if bins.contains(&bin) { 125_000 } else { 0 }).collect(),
    };
    let [early, late] = [planned.job.flows[0].id, planned.job.flows[1].id];
    let measured = TestbedReport {
        hosts: vec![report(2, vec![of(early, 0..41), of(late, 9..30)])],
        queues: Vec::new(),
        switches: Vec::new(),
        machines: Vec::new(),
        elapsed_ns: 400_300_000,
    };
    let made = measurement(&run, (&planned.job.scheme, planned.scale), &measured).unwrap();
    assert_eq!(made.outcome.stopped_at.0, 4_000_000_000);
    let of_flow = |id: u32| made.outcome.flow_samples.iter().filter(move |sample| sample.flow.0 == id);
    let ends = |id| {
        let (first, last) = (of_flow(id).next().unwrap(), of_flow(id).next_back().unwrap());
        (first.at.0 / 1_000_000, last.at.0 / 1_000_000, last.acked_bytes)
    };
    // One bin of 100 us after another; the late one from 950 us on, and until its abort at 3 ms.
    assert_eq!(ends(early), (100, 4_000, 40 * 125_000));
    assert_eq!(ends(late), (1_000, 3_000, 21 * 125_000));
    assert_eq!((of_flow(early).count(), of_flow(late).count()), (40, 21));
    // 125 kB in 100 us are 10 Gbit/s.
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let FinishedRun::Simulated(record) = store_measured(&run, &store, made).unwrap() else { panic!() };
    let rates = record.rates.unwrap();
    assert_eq!(rates.classes["all"].mean, Some(1e10));
    assert_eq!(rates.classes["all"].rates[..2], [Some(1e10); 2]);
    // What real switches do not say is not there.
    let queues = record.ports.values().map(|set| (set.max_queue_bytes, set.wait_s));
    assert!(
        queues.clone().count() > 0 && queues.clone().all(|set| set == (None, None)),
        "{:?}",
        record.ports
    );
    // Those in user space say how long their queues were.
    let port = PortCounts { cable: 2, end: 1, longest_queue: 6_152, ..PortCounts::default() };
    let switch =
        SwitchReport { switch: 0, ports: vec![port], counts: ForwardCounts::default(), not_real_time: None };
    let measured = TestbedReport { switches: vec![switch], ..measured };
    let made = measurement(&run, (&planned.job.scheme, planned.scale), &measured).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let FinishedRun::Simulated(record) = store_measured(&run, &store, made).unwrap() else { panic!() };
    let queues = [PortSet::Hosts, PortSet::Edge, PortSet::Core].map(|set| record.ports[&set].max_queue_bytes);
    assert_eq!(queues, [None, Some(6_152), Some(0)]);
}

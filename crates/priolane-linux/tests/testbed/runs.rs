//! Tests of runs: host processes in the namespaces of a testbed, and their measurements.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use priolane_linux::job::{Flow, FlowKind, Ladder, Order, SchemeJob};
use priolane_linux::journal::DIRECTORY;
use priolane_linux::network::Network;
use priolane_linux::plan::TestbedPlan;
use priolane_linux::port::{Amount, Backlog, Mark, Port};
use priolane_linux::probe::{Machine, Marks};
use priolane_linux::run::{Ends, RunJob, TestbedReport, run};
use serde_json::json;

use crate::made::{line, namespaces, plan, program};

pub(crate) fn scheme(row: serde_json::Value) -> SchemeJob {
    let serde_json::Value::Object(transport) = row else { panic!("{row}") };
    let class = Ladder::default();
    SchemeJob {
        transport,
        order: Order::RoundRobin,
        host_level: class.clone(),
        class,
        ranks: false,
        admission: None,
    }
}

pub(crate) fn dctcp() -> SchemeJob {
    scheme(json!({ "kind": "dctcp", "min_rto": "300ms", "initial_rto": "300ms" }))
}

pub(crate) fn flow(id: u32, (src, dst): (u16, u16), bytes: u64, start_ms: u64) -> Flow {
    let start_ns = start_ms * 1_000_000;
    Flow {
        id,
        src,
        dst,
        bytes,
        kind: FlowKind::Message,
        start_ns,
        class: 0,
        deadline_ns: None,
        group: 0,
        theta_bps: None,
        w_milli: 1_000,
    }
}

/// Returns a port with one queue, a capacity and marking.
pub(crate) fn port() -> Port {
    let mark = Some(Mark { above: Amount::Packets(10), per: Backlog::Port });
    Port { mark, room: Some(Amount::Packets(240)), ..Port::fifo() }
}

pub(crate) fn job(plan: TestbedPlan, scheme: SchemeJob, flows: Vec<Flow>) -> RunJob {
    RunJob {
        plan,
        scheme,
        knows_paths: false,
        flows,
        changes: Vec::new(),
        bins: None,
        limit_ns: 20_000_000_000,
        ends: Ends::WhenDone,
        real_time: Some(20),
    }
}

/// Runs a job. Returns `None`, with the reason on standard error, if this machine cannot run it.
pub(crate) fn measured(job: &RunJob) -> Option<TestbedReport> {
    let marks = Marks::of(job.plan.ports().map(|(.., port)| port));
    let marking = match Machine::examine().marking(marks) {
        Ok(marking) => marking,
        Err(lacking) => {
            eprintln!("skipped: {lacking}");
            return None;
        }
    };
    let job = RunJob { plan: TestbedPlan { marking, ..job.plan.clone() }, ..job.clone() };
    // One at a time: each takes both cores of a small machine.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Some(run(&job, (&program(), Path::new(DIRECTORY)), &mut |_| true).unwrap())
}

/// Returns the time from hand-over to arrival of the last byte, in milliseconds.
pub(crate) fn fct_ms(measured: &TestbedReport, id: u32) -> f64 {
    let sent = measured.hosts.iter().flat_map(|host| &host.sent).find(|sent| sent.id == id).unwrap();
    let arrived = measured.hosts.iter().flat_map(|host| &host.arrived).find(|came| came.id == id);
    let arrived = arrived.unwrap_or_else(|| panic!("flow {id} did not arrive: {sent:?}"));
    (arrived.at_ns - sent.at_ns) as f64 / 1e6
}

pub(crate) fn arrived(measured: &TestbedReport) -> BTreeSet<u32> {
    let all: Vec<u32> = measured.hosts.iter().flat_map(|host| &host.arrived).map(|came| came.id).collect();
    let ids: BTreeSet<u32> = all.iter().copied().collect();
    assert_eq!(ids.len(), all.len(), "a message arrived twice");
    ids
}

#[test]
fn messages_arrive_whole_at_the_rate_of_the_line_and_marks_keep_the_queue_short() {
    let plan = plan("r", Network::star(3, &line(port())));
    let tag = format!("prl-{}-", plan.name);
    // Two senders to one host, 2.5 MB each, and a byte.
    let flows = vec![flow(0, (0, 2), 2_500_000, 0), flow(1, (1, 2), 2_500_000, 0), flow(2, (2, 0), 1, 100)];
    let Some(measured) = measured(&job(plan, dctcp(), flows)) else { return };
    assert_eq!(arrived(&measured), [0, 1, 2].into());
    // 5 MB in packets of 1456 of 1538 bytes at 100 Mbit/s take 422.5 ms. Hosts may be late on a busy machine, never early.
    let last = fct_ms(&measured, 0).max(fct_ms(&measured, 1));
    println!("5 MB from two hosts to one: {last:.1} ms of 422.5");
    assert!(last > 420.0, "{last} ms");
    let count = |name: &str| measured.hosts.iter().map(|host| host.counts[name]).sum::<u64>();
    assert!(count("marked") > 0, "{} packets were marked", count("marked"));
    assert_eq!(measured.queues.iter().map(|queue| queue.dropped).sum::<u64>(), 0);
    assert_eq!(measured.hosts.iter().map(|host| host.wrong).sum::<u64>(), 0);
    let to_host_2 = measured.queues.iter().find(|queue| queue.cable == 2).unwrap();
    assert!(to_host_2.bytes > 5_000_000, "{to_host_2:?}");
    assert!(namespaces(&tag).is_empty());
}

#[test]
fn a_better_class_passes_a_worse_one_in_the_switch() {
    let mut of_class = [1; 16];
    of_class[0] = 0;
    let port = Port { queues: 2, of_class, ..port() };
    let low = Flow { class: 1, ..flow(0, (0, 2), 2_500_000, 0) };
    let high = flow(1, (1, 2), 250_000, 100);
    let job = job(plan("c", Network::star(3, &line(port))), dctcp(), vec![low, high]);
    let Some(measured) = measured(&job) else { return };
    // 250 kB alone take 21.1 ms, and in turn with the other twice that; the other takes 232 ms at least.
    let (low, high) = (fct_ms(&measured, 0), fct_ms(&measured, 1));
    println!("250 kB of the better class: {high:.1} ms of 21.1; 2.5 MB of the worse: {low:.1} ms of 232");
    assert!(high > 20.0 && low > 230.0, "{high} ms, {low} ms");
    let packets =
        |queue| measured.queues.iter().find(|of| (of.cable, of.queue) == (2, queue)).unwrap().packets;
    // 250 kB are 172 packets, 2.5 MB 1718.
    assert!(packets(0) >= 172 && packets(1) >= 1_718, "{} and {} packets", packets(0), packets(1));
}

#[test]
fn lines_are_as_long_as_the_plan_says() {
    let mut slow = line(port());
    slow.delay_ns = 5_000_000;
    let job = job(plan("w", Network::star(2, &slow)), dctcp(), vec![flow(0, (0, 1), 1_000, 100)]);
    let Some(measured) = measured(&job) else { return };
    let sent = &measured.hosts[0].sent[0];
    let fct = fct_ms(&measured, 0);
    println!("1 kB over two lines of 5 ms: {fct:.2} ms");
    // One way takes 10 ms; DCTCP asks before it sends, there and back. The hosts have greeted each other before.
    assert!(fct >= 30.0, "{fct} ms");
    assert!(sent.acked_ns.unwrap() - sent.at_ns >= 20_000_000, "{sent:?}");
}

#[test]
fn nothing_is_left_of_a_run_that_is_killed() {
    let plan = plan("g", Network::star(2, &line(port())));
    let tag = format!("prl-{}-", plan.name);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.json");
    // It would take 10 s.
    let job = job(plan, dctcp(), vec![flow(0, (0, 1), 125_000_000, 0)]);
    fs::write(&path, serde_json::to_string(&job).unwrap()).unwrap();
    let mut child = Command::new(&program()[0]).arg("run").arg(&path).stdout(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while namespaces(&tag).len() < 3 {
        if let Some(ended) = child.try_wait().unwrap() {
            assert_eq!(ended.code(), Some(3), "the run failed");
            return eprintln!("skipped: this machine cannot");
        }
        assert!(started.elapsed() < Duration::from_secs(60), "no testbed");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = Instant::now();
    while !namespaces(&tag).is_empty() {
        assert!(killed.elapsed() < Duration::from_secs(60), "{:?} are left", namespaces(&tag));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_neither_uses_nor_removes_a_testbed_that_is_up() {
    let plan = plan("u", Network::star(2, &line(Port::fifo())));
    let Some(testbed) = crate::made::up(plan.clone()) else { return };
    let tag = format!("prl-{}-", plan.name);
    testbed.release();
    let job = job(plan.clone(), dctcp(), vec![flow(0, (0, 1), 1, 0)]);
    let error = run(&job, (&program(), Path::new(DIRECTORY)), &mut |_| true).unwrap_err();
    let there = namespaces(&tag).len();
    priolane_linux::testbed::down(&plan.name, Path::new(DIRECTORY)).unwrap();
    assert!(error.to_string().starts_with("there is a testbed"), "{error}");
    assert_eq!(there, 3);
}

#[test]
fn what_is_wrong_with_a_scheme_is_told_and_nothing_is_left() {
    let plan = plan("x", Network::star(2, &line(Port::fifo())));
    let tag = format!("prl-{}-", plan.name);
    if let Err(lacking) = Machine::examine().marking(Marks::None) {
        return eprintln!("skipped: {lacking}");
    }
    let job = job(plan, scheme(json!({ "kind": "dctpc" })), vec![flow(0, (0, 1), 1, 0)]);
    let error = run(&job, (&program(), Path::new(DIRECTORY)), &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("scheme.transport: kind: there is no \"dctpc\""), "{error}");
    assert!(namespaces(&tag).is_empty());
}

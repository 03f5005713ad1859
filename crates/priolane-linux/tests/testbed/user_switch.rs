//! Tests of switches in user space between real hosts, with the ports that no qdisc provides.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use priolane_linux::command::run;
use priolane_linux::counters::QueueCount;
use priolane_linux::job::SchemeJob;
use priolane_linux::journal::{DIRECTORY, Journal};
use priolane_linux::network::{Line, Network};
use priolane_linux::plan::TestbedPlan;
use priolane_linux::port::{Amount, Backlog, Mark};
use priolane_linux::run::{TestbedReport, run as measure};
use priolane_linux::switch::ask;
use priolane_linux::testbed;
use priolane_linux::user_port::{PortLimit, UserPort};
use serde_json::{Value, json};

use crate::made::{line, namespaces, plan, program, up};
use crate::runs::{arrived, dctcp, fct_ms, flow, job, measured, scheme};

fn port(row: Value, packets: u32) -> UserPort {
    let Value::Object(row) = row else { panic!("{row}") };
    let room = Some(PortLimit { most: Amount::Packets(packets), per: Backlog::Port });
    UserPort { row, room, ..UserPort::fifo() }
}

fn star(tag: &str, port: UserPort) -> TestbedPlan {
    plan(tag, Network::star(3, &line(port)))
}

/// Runs two senders to one host with 750 kB each, and messages of one byte and of one packet in the other direction.
fn two_to_one(tag: &str, port: UserPort, scheme: SchemeJob) -> Option<TestbedReport> {
    let flows = vec![
        flow(0, (0, 2), 750_000, 0),
        flow(1, (1, 2), 750_000, 0),
        flow(2, (2, 0), 1, 20),
        flow(3, (2, 1), 1_400, 30),
    ];
    let plan = star(tag, port);
    let tag = format!("prl-{}-", plan.name);
    let measured = measured(&job(plan, scheme, flows))?;
    assert_eq!(arrived(&measured), [0, 1, 2, 3].into());
    assert_eq!(measured.hosts.iter().map(|host| host.wrong).sum::<u64>(), 0);
    let last = fct_ms(&measured, 0).max(fct_ms(&measured, 1));
    println!("1.5 MB from two hosts to one: {last:.1} ms of 127; {:?}", to_host_2(&measured));
    // 1.5 MB in packets of at most 1456 of 1538 bytes at 100 Mbit/s take 126.7 ms. Hosts may be late, never early.
    assert!(last > 126.0, "{last} ms");
    let [report] = &measured.switches[..] else { panic!("{:?}", measured.switches) };
    assert_eq!((report.counts.foreign, report.counts.malformed, report.counts.unroutable), (0, 0, 0));
    assert!(namespaces(&tag).is_empty());
    Some(measured)
}

/// Returns the counters of the port to host 2, summed over all classes.
fn to_host_2(measured: &TestbedReport) -> QueueCount {
    let of = measured.queues.iter().filter(|queue| (queue.cable, queue.end) == (2, 1));
    of.fold(QueueCount::default(), |sum, count| QueueCount {
        packets: sum.packets + count.packets,
        bytes: sum.bytes + count.bytes,
        dropped: sum.dropped + count.dropped,
        marked: sum.marked + count.marked,
        trimmed: sum.trimmed + count.trimmed,
        expired: sum.expired + count.expired,
        ..sum
    })
}

#[test]
fn dctcp_keeps_the_queue_of_a_switch_in_user_space_short() {
    let mark = Some(Mark { above: Amount::Packets(10), per: Backlog::Port });
    let port = UserPort { mark, ..port(json!({ "kind": "fifo", "buffer": "unbounded" }), 240) };
    let Some(measured) = two_to_one("ud", port, dctcp()) else { return };
    let (count, marked) = (to_host_2(&measured), measured.hosts[2].counts["marked"]);
    assert!(marked > 0 && count.marked >= marked, "{marked} of {} marks arrived", count.marked);
    assert_eq!(count.dropped, 0);
    // 1032 packets of data, and what goes besides.
    assert!(count.packets >= 1_032 && count.bytes > 1_500_000, "{count:?}");
}

#[test]
fn headers_of_ndp_arrive_where_payload_finds_no_room() {
    let row = json!({
        "kind": "trimming", "headers": "1125pkt", "overflow": "return", "buffer": { "shared": "8pkt" },
    });
    let ndp = scheme(json!({ "kind": "ndp", "pull": "fair", "window": 12, "rto": "100ms" }));
    let Some(measured) = two_to_one("un", port(row, 8), ndp) else { return };
    let count = to_host_2(&measured);
    // Two first windows meet in a queue of 8.
    assert!(count.trimmed > 0, "{count:?}");
    assert_eq!(count.dropped, 0);
}

#[test]
fn tokens_of_top_keep_to_their_rate_in_a_switch() {
    let row = json!({ "kind": "tokens", "buffer": { "shared": "250pkt" } });
    let top = scheme(json!({ "kind": "top", "expiry": "switch", "min_rto": "500ms" }));
    let Some(measured) = two_to_one("ut", port(row, 250), top) else { return };
    // The tokens of host 2 leave its own line; the switch hands them on to hosts 0 and 1.
    let tokens: u64 = measured.queues.iter().filter(|of| of.cable < 2).map(|of| of.packets).sum();
    assert!(tokens > 1_030, "{tokens} packets went to the senders");
    let count = to_host_2(&measured);
    assert_eq!(count.dropped, 0, "data that tokens asked for finds room");
}

#[test]
fn messages_cross_two_switches_at_the_rate_of_the_slower_cable() {
    let port = || port(json!({ "kind": "fifo", "buffer": "unbounded" }), 240);
    let slow = Line { rate_bps: 20_000_000, delay_ns: 1_000_000, port: port().into() };
    let plan = plan("u2", Network::dumbbell([2, 2], &line(port()), &slow));
    // Hosts 0 and 1 are left. The bottleneck is shared one way, and alone the other.
    let flows = vec![flow(0, (0, 2), 145_600, 0), flow(1, (1, 3), 145_600, 0), flow(2, (3, 0), 145_600, 0)];
    let Some(measured) = measured(&job(plan, dctcp(), flows)) else { return };
    assert_eq!(arrived(&measured), [0, 1, 2].into());
    // 100 packets take 61.5 ms at 20 Mbit/s, 200 take 123 ms.
    let (last, alone) = (fct_ms(&measured, 0).max(fct_ms(&measured, 1)), fct_ms(&measured, 2));
    println!("over 20 Mbit/s: 200 packets {last:.1} ms of 123, 100 packets {alone:.1} ms of 61.5");
    assert!(last > 122.0 && alone > 61.0, "{last} and {alone} ms");
    assert_eq!(measured.switches.len(), 2);
    // Cable 4 is the bottleneck; each switch has counted what it sent over it.
    for (end, least) in [(0, 200), (1, 100)] {
        let over = measured.queues.iter().filter(|of| (of.cable, of.end) == (4, end));
        assert!(over.map(|of| of.packets).sum::<u64>() >= least);
    }
}

#[test]
fn pfabric_lets_a_short_message_pass_a_long_one() {
    let row = json!({ "kind": "pfabric", "buffer": { "shared": "24pkt" } });
    let rto = "20ms";
    let row_of = json!({
        "kind": "pfabric", "handshake": "none", "first_window": "12pkt", "max_cwnd": "12pkt", "dup_threshold": 1_000_000_000, "min_rto": rto, "initial_rto": rto,
        "max_rto": rto,
    });
    let pfabric = SchemeJob { ranks: true, ..scheme(row_of) };
    let Some(_) = two_to_one("up", port(row.clone(), 24), pfabric.clone()) else { return };
    let flows = vec![flow(0, (0, 2), 2_500_000, 0), flow(1, (1, 2), 145_000, 100)];
    let Some(measured) = measured(&job(star("uq", port(row, 24)), pfabric, flows)) else { return };
    let (long, short) = (fct_ms(&measured, 0), fct_ms(&measured, 1));
    println!("145 kB beside 2.5 MB: {short:.1} ms of 12.3; {long:.1} ms of 212.6");
    // Alone it takes 12.3 ms, in turn with the other twice that.
    assert!(short > 12.0 && long > 224.0, "{short} and {long} ms");
}

#[test]
fn nothing_is_left_of_a_switch_after_down_and_after_its_users_were_killed() {
    let planned = star("uk", port(json!({ "kind": "fifo", "buffer": "unbounded" }), 9));
    let Some(testbed) = up(planned.clone()) else { return };
    let directory = Journal::path(Path::new(DIRECTORY), &planned.name);
    assert_eq!(ask(&directory, 0).unwrap().ports.len(), 3);
    testbed.release();
    // Its maker let go of it; it runs on until somebody takes the testbed down.
    assert_eq!(processes(&directory).len(), 1);
    testbed::down(&planned.name, Path::new(DIRECTORY)).unwrap();
    assert!(processes(&directory).is_empty() && namespaces(&format!("prl-{}-", planned.name)).is_empty());
    let path = directory.with_extension("job");
    fs::write(
        &path,
        serde_json::to_string(&job(planned.clone(), dctcp(), vec![flow(0, (0, 1), 125_000_000, 0)])).unwrap(),
    )
    .unwrap();
    let mut child = Command::new(&program()[0]).arg("run").arg(&path).stdout(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while ask(&directory, 0).is_err() {
        assert!(started.elapsed() < Duration::from_secs(60), "no switch");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = Instant::now();
    while !processes(&directory).is_empty() || directory.exists() {
        assert!(killed.elapsed() < Duration::from_secs(60), "{:?} are left", processes(&directory));
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::remove_file(path).unwrap();
    assert!(namespaces(&format!("prl-{}-", planned.name)).is_empty());
}

/// Returns the processes of switches of the testbed in `directory`, by their numbers.
fn processes(directory: &Path) -> Vec<String> {
    let words = format!("\0switch\0{}\0", directory.display());
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let is_switch = |process: &fs::DirEntry| {
        fs::read_to_string(process.path().join("cmdline")).is_ok_and(|line| line.contains(&words))
    };
    all.filter(is_switch).map(|process| process.file_name().into_string().unwrap()).collect()
}

#[test]
fn a_run_whose_switch_is_killed_says_so() {
    let planned = star("ux", port(json!({ "kind": "fifo", "buffer": "unbounded" }), 9));
    if up(planned.clone()).is_none() {
        return;
    }
    let directory = Journal::path(Path::new(DIRECTORY), &planned.name);
    let killer = {
        let directory = directory.clone();
        std::thread::spawn(move || {
            let started = Instant::now();
            while ask(&directory, 0).is_err() && started.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(10));
            }
            processes(&directory)
                .iter()
                .for_each(|pid| drop(run(&["sh", "-c", &format!("kill -KILL {pid}")])));
        })
    };
    let job = job(planned, dctcp(), vec![flow(0, (0, 1), 125_000_000, 0)]);
    let error = measure(&job, (&program(), Path::new(DIRECTORY)), &mut |_| true).unwrap_err();
    killer.join().unwrap();
    assert!(error.to_string().starts_with("switch 0: "), "{error}");
    assert!(!directory.exists());
}

use std::fs::{self, File};
use std::ops::ControlFlow;

use super::*;
use crate::execute::{Settings, execute};
use priolane_results::cell::{Cell, View};
use priolane_results::{RecordBatch, tables};
use priolane_testkit::one_switch;

mod chosen;
mod network;
mod parsed;

use parsed::{Packet, parse};

/// Three hosts on one switch, 10 Gbps, 1 us; three flows, 1 us apart; no handshake in `dctcp`.
const EXPERIMENT: &str = one_switch!(
    r#"
title = "Three flows"
schemes = ["dctcp", "newreno"]
time = { flows = 3 }
seeds = 2
"#,
    3,
    r#"[host]
send_jitter = "0ns"
[[group]]
name = "list"
hosts = "*"
app = "flows"
list = "flows.csv"
[scheme.dctcp]
transport = { handshake = "none" }
port = { kind = "strict", queues = 3 }
[scheme.newreno]
port = { kind = "strict", queues = 3 }
[sweep]
"topology.host_link.delay" = ["1us", "5us"]
"#
);

/// Two full packets and 100 B from host 0 to host 1; then 300 packets each from 2 to 1 and from 0 to 1.
const FLOWS: &str = "start_ns,src,dst,bytes,class\n5000,0,1,3020,2\n40000,2,1,438000,0\n40000,0,1,438000,0\n";

struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x.toml"), EXPERIMENT).unwrap();
        fs::write(dir.path().join("flows.csv"), FLOWS).unwrap();
        Self(dir)
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("x.toml")
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("out")
    }

    fn trace(&self, options: &Options, request: &Request) -> Result<Report, Failure> {
        trace(&self.file(), options, request, &self.out(), &mut |_| ControlFlow::Continue(()))
    }

    fn refused(&self, options: &Options, request: &Request) -> InputError {
        match self.trace(options, request) {
            Err(Failure::Input(error)) => {
                assert!(!self.out().exists());
                error
            }
            other => panic!("not refused: {other:?}"),
        }
    }
}

fn only(scheme: &str, sets: &[(&str, &str)]) -> Options {
    let sets = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Options { schemes: Some(vec![scheme.to_owned()]), sets, ..Options::default() }
}

fn flow(flow: u32) -> Request {
    let point = vec![("topology.host_link.delay".to_owned(), "1us".to_owned())];
    Request { flow, seed: Some(1), point, at: None }
}

/// Returns the named columns of a table, row by row, as text, and its last batch.
fn read(path: &Path, columns: &[&str]) -> (Vec<String>, RecordBatch) {
    let mut rows = Vec::new();
    let mut last = None;
    for batch in tables::read_file(path).unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let cell =
                |name: &&str| View::of(batch.column_by_name(name).unwrap()).unwrap().cell(row).to_string();
            rows.push(columns.iter().map(cell).collect::<Vec<_>>().join(" "));
        }
        last = Some(batch);
    }
    (rows, last.expect("a batch"))
}

fn capture(report: &Report) -> Vec<Packet> {
    let packets = parse(&fs::read(&report.files[2]).unwrap());
    assert_eq!(packets.len(), report.seen.captured);
    packets
}

#[test]
fn three_packets_in_rows() {
    let bench = Bench::new();
    let report = bench.trace(&only("dctcp", &[]), &flow(0)).unwrap();
    let columns = ["kind", "hop", "port", "class", "queued_ps", "start_ps", "end_ps", "arrived_ps", "fate"];
    let (rows, batch) = read(&report.files[0], &columns);
    let schema = batch.schema();
    // 800 ps/B: 1538 B take 1,230,400 ps, 178 B take 142,400 ps; 1 us per link. The host queue takes all three packets
    // at once; at the switch, the short one waits for the previous one.
    assert_eq!(
        &rows[..6],
        [
            "data 0 h0->s0 2 5000000 5000000 6230400 7230400 arrived",
            "data 1 s0->h1 2 7230400 7230400 8460800 9460800 arrived",
            "data 0 h0->s0 2 5000000 6230400 7460800 8460800 arrived",
            "data 1 s0->h1 2 8460800 8460800 9691200 10691200 arrived",
            "data 0 h0->s0 2 5000000 7460800 7603200 8603200 arrived",
            "data 1 s0->h1 2 8603200 9691200 9833600 10833600 arrived",
        ]
    );
    assert_eq!(rows.len(), 12);
    for field in schema.fields() {
        assert!(field.metadata().get("unit").is_some() && field.metadata().get("meaning").is_some());
    }
    let about = tables::metadata(&report.files[0]).unwrap();
    assert_eq!(about.get("digest"), Some(&report.digest));
    assert_eq!(report.flow.ports, ["h0->s0", "s0->h1", "h1->s0", "s0->h0"]);
    assert_eq!((report.flow.fct_ps, report.seen.packets, report.seen.hops), (Some(5_833_600), 6, 12));
    let (state, _) = read(&report.files[1], &["t_ps", "metric", "value"]);
    assert!(state.contains(&"11595200 acked_bytes 1460".to_owned()), "{state:?}");
    assert!(state.contains(&"11595200 alpha 0".to_owned()), "{state:?}");
}

#[test]
fn three_packets_in_the_capture_byte_by_byte() {
    let bench = Bench::new();
    let report = bench.trace(&only("dctcp", &[]), &flow(0)).unwrap();
    assert_eq!(report.at, "h0->s0");
    let packets = capture(&report);
    // Outgoing packets are recorded when they are sent, incoming ones when they have arrived. An ACK leaves when its
    // packet arrives, and takes 2 x (67,200 + 1,000,000) ps. Times are rounded down to nanoseconds.
    let times: Vec<u64> = packets.iter().map(|p| p.ns).collect();
    assert_eq!(times, [5_000, 6_230, 7_460, 11_595, 12_825, 12_968]);
    let numbers: Vec<(u32, u32, u16)> = packets.iter().map(|p| (p.seq, p.ack, p.payload)).collect();
    assert_eq!(
        numbers,
        [(1, 1, 1460), (1461, 1, 1460), (2921, 1, 100), (1, 1461, 0), (1, 2921, 0), (1, 3021, 0)]
    );
    // On the link: 14 B Ethernet, 20 B IPv4, 20 B TCP and the payload; at least 60 B. At most 96 B are captured.
    let lengths: Vec<(u32, usize)> = packets.iter().map(|p| (p.length, p.kept)).collect();
    assert_eq!(lengths, [(1514, 96), (1514, 96), (154, 96), (60, 60), (60, 60), (60, 60)]);
    for (i, packet) in packets.iter().enumerate() {
        let out = i < 3;
        assert_eq!(
            packet.addresses,
            if out { [[10, 0, 0, 1], [10, 0, 0, 2]] } else { [[10, 0, 0, 2], [10, 0, 0, 1]] }
        );
        assert_eq!(packet.ports, if out { [49_152, 40_000] } else { [40_000, 49_152] });
        assert_eq!((packet.dscp, packet.ttl), if out { (2, 64) } else { (0, 63) });
        // Data is ECN-capable, ECT(0); ACKs are not.
        assert_eq!(packet.ecn, if out { 2 } else { 0 });
    }
    // ACK is always set, PSH (8) on the last packet.
    let flags: Vec<u8> = packets.iter().map(|p| p.flags).collect();
    assert_eq!(flags, [0x10, 0x10, 0x18, 0x10, 0x10, 0x10]);
}

#[test]
fn a_handshake_has_the_numbers_before_the_payload() {
    let bench = Bench::new();
    let report = bench.trace(&only("newreno", &[]), &flow(0)).unwrap();
    let packets = capture(&report);
    let first: Vec<_> = packets[..4].iter().map(|p| (p.flags, p.seq, p.ack, p.payload)).collect();
    assert_eq!(first, [(0x02, 0, 0, 0), (0x12, 0, 1, 0), (0x10, 1, 1, 0), (0x10, 1, 1, 1460)]);
}

#[test]
fn another_point_sees_other_times_and_hops() {
    let bench = Bench::new();
    let request = Request { at: Some("s0->h1".to_owned()), ..flow(0) };
    let packets = capture(&bench.trace(&only("dctcp", &[]), &request).unwrap());
    // Data leaves the switch (TTL 63); ACKs arrive from host 1 (TTL 64) after 67,200 + 1,000,000 ps.
    let seen: Vec<(u64, u8)> = packets.iter().map(|p| (p.ns, p.ttl)).collect();
    assert_eq!(seen, [(7_230, 63), (8_460, 63), (9_691, 63), (10_528, 64), (11_758, 64), (11_900, 64)]);
}

#[test]
fn a_loss_shows_and_so_do_selective_acks_and_the_retransmission() {
    let bench = Bench::new();
    let options = only("dctcp", &[("topology.host_link.loss", "0.02")]);
    let report = bench.trace(&options, &flow(1)).unwrap();
    assert!(report.seen.lost > 0 && report.seen.again > 0, "{:?}", report.seen);
    let (rows, _) = read(&report.files[0], &["kind", "fate", "again", "offset", "hop", "reason"]);
    let lost: Vec<&String> = rows.iter().filter(|row| row.starts_with("data lost false")).collect();
    assert!(!lost.is_empty());
    for row in lost {
        assert!(row.ends_with("random loss of the link"), "{row}");
        let offset = row.split(' ').nth(3).unwrap();
        let again = |row: &String| {
            let cells: Vec<&str> = row.split(' ').collect();
            (cells[0], cells[2], cells[3], cells[4]) == ("data", "true", offset, "0")
        };
        assert!(rows.iter().any(again), "{row} was not sent again");
    }
    let packets = capture(&report);
    let data: Vec<u32> = packets.iter().filter(|p| p.payload > 0).map(|p| p.seq).collect();
    assert!(data.windows(2).any(|pair| pair[1] < pair[0]), "no retransmission in the capture");
    let sacks: Vec<&Packet> = packets.iter().filter(|p| !p.sack.is_empty()).collect();
    assert!(sacks.len() > 3);
    for packet in sacks {
        // 14 + 20 + 20 and two no-operations, kind, length, 8 B per block: longer than the 60 B of other ACKs.
        let blocks = packet.sack.len() as u32;
        assert_eq!(packet.length, (14 + 20 + 20 + 4 + 8 * blocks).max(60));
        assert!(packet.sack.iter().all(|&(start, end)| packet.ack < start && start < end), "{packet:?}");
    }
}

#[test]
fn marks_come_as_ce_and_go_back_as_ece() {
    let bench = Bench::new();
    // The port to host 1 carries two flows, so its queue reaches the marking threshold.
    let sets = [("scheme.dctcp.port.ecn", "{ per = \"port\", at = { \"10Gbps\" = \"5pkt\" } }")];
    let at_host = Request { at: Some("s0->h1".to_owned()), ..flow(1) };
    let report = bench.trace(&only("dctcp", &sets), &at_host).unwrap();
    let packets = capture(&report);
    let ce = packets.iter().filter(|p| p.ecn == 3).count();
    let ece = packets.iter().filter(|p| p.flags & 0x40 != 0).count();
    assert!(report.seen.marked > 10 && ce == report.seen.marked, "{ce} CE, {:?}", report.seen);
    assert_eq!(ece, ce, "one ACK per packet, none lost");
    let (state, _) = read(&report.files[1], &["metric", "value"]);
    assert!(state.iter().any(|row| row.starts_with("alpha ") && row != "alpha 0"));
}

#[test]
fn headers_with_room_for_options_keep_their_length() {
    let bench = Bench::new();
    let frame = "{ mtu = \"1500B\", header = \"52B\", link = \"18B\", minimum = \"64B\", gap = \"20B\", ack = \"52B\", \
                 syn = \"56B\" }";
    let sets = [("frame", frame), ("topology.host_link.loss", "0.02")];
    let report = bench.trace(&only("newreno", &sets), &flow(1)).unwrap();
    let packets = capture(&report);
    // SYN: 14 + 56. Data: 1448 B and 14 + 52. ACK: 14 + 52, including one block (4 + 8 = 12 B); a second block adds 8
    // B.
    assert_eq!((packets[0].length, packets[0].payload), (70, 0));
    assert!(packets.iter().filter(|p| p.payload == 1448).all(|p| p.length == 1514));
    let length = |blocks: usize| {
        packets.iter().filter(move |p| p.payload == 0 && p.flags & 2 == 0 && p.sack.len() == blocks)
    };
    assert!(length(0).count() > 10 && length(0).all(|p| p.length == 66));
    assert!(length(1).count() > 0 && length(1).all(|p| p.length == 66));
    assert!(length(2).all(|p| p.length == 74));
}

#[test]
fn a_traced_run_has_the_digest_of_the_untraced_one() {
    for (scheme, sets) in [("dctcp", &[][..]), ("newreno", &[("topology.host_link.loss", "0.01")])] {
        let bench = Bench::new();
        let options = only(scheme, sets);
        let report = bench.trace(&options, &flow(2)).unwrap();
        let plan = plan::plan(&bench.file(), &options).unwrap();
        let run = plan.runs.iter().find(|run| run.id == report.run).unwrap();
        for engine in [priolane_sim::scenario::Engine::Window, priolane_sim::scenario::Engine::Wheel] {
            let store = tempfile::tempdir().unwrap();
            let settings = Settings { engine, ..Settings::default() };
            let done = execute(run, store.path(), &settings, &mut |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(done.record().digest, report.digest);
            assert_eq!(done.record().stopped_at_ps, report.stopped_at_ps);
        }
    }
}

#[test]
fn the_same_trace_is_the_same_bytes() {
    let [a, b] = [0, 1].map(|_| {
        let report = Bench::new();
        let files = report.trace(&only("dctcp", &[]), &flow(1)).unwrap().files;
        files.map(|file| fs::read(file).unwrap())
    });
    assert_eq!(a, b);
}

#[test]
fn several_runs_are_one_message_that_says_what_to_add() {
    let bench = Bench::new();
    let error = bench.refused(&Options::default(), &Request::default());
    assert_eq!(error.what, "8 runs match");
    assert_eq!(
        error.fix,
        "Add --scheme dctcp|newreno and --seed K (from 1 to 2) and --point topology.host_link.delay=1us|5us"
    );
    let error =
        bench.refused(&only("newreno", &[("topology.host_link.delay", "\"1us\"")]), &Request::default());
    assert_eq!((error.what.as_str(), error.fix.as_str()), ("2 runs match", "Add --seed K (from 1 to 2)"));
}

#[test]
fn what_does_not_exist_is_refused_before_anything_runs() {
    let bench = Bench::new();
    let dctcp = only("dctcp", &[]);
    let with = |request: Request| bench.refused(&dctcp, &request);
    let error = with(flow(3));
    assert_eq!((error.key.as_str(), error.fix.as_str()), ("--flow", "a flow from 0 to 2"));
    assert_eq!(with(Request { seed: Some(3), ..flow(0) }).key, "--seed");
    assert_eq!(with(Request { seed: Some(0), ..flow(0) }).key, "--seed");
    let error = with(Request { at: Some("s0->h9".into()), ..flow(0) });
    assert_eq!(error.fix, "a port of its path (h0->s0, s0->h1), or another port of the network");
    let point = |key: &str, value: &str| Request { point: vec![(key.into(), value.into())], ..flow(0) };
    assert_eq!(with(point("seeds", "1")).what, "\"seeds\" is not swept");
    assert_eq!(with(point("topology.host_link.delay", "2us")).fix, "one of 1us, 5us");
    assert_eq!(bench.refused(&only("nobody", &[]), &flow(0)).file, "--schemes");
}

#[test]
fn a_stopped_trace_leaves_nothing_and_a_whole_one_no_temporary() {
    let bench = Bench::new();
    // 69,000 packets: enough for the engine to report progress.
    fs::write(bench.0.path().join("flows.csv"), "start_ns,src,dst,bytes\n0,0,1,100000000\n").unwrap();
    let stop = &mut |_| ControlFlow::Break(());
    let one = [("time.flows", "1"), ("scheme.dctcp.port.queues", "1")];
    let result = trace(&bench.file(), &only("dctcp", &one), &flow(0), &bench.out(), stop);
    assert!(matches!(result, Err(Failure::Interrupted)), "{result:?}");
    assert!(!bench.out().exists());
    fs::write(bench.0.path().join("flows.csv"), FLOWS).unwrap();
    bench.trace(&only("dctcp", &[]), &flow(1)).unwrap();
    let mut left: Vec<String> =
        fs::read_dir(bench.out()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["trace-1-state.parquet", "trace-1.parquet", "trace-1.pcap"]);
}

#[test]
fn a_killed_writers_temporaries_go_and_a_living_ones_stay() {
    let bench = Bench::new();
    fs::create_dir_all(bench.out()).unwrap();
    let [dead, living, other] =
        [".trace-7.pcap.41.tmp", ".trace-0.parquet.42.tmp", ".trace-mine"].map(|name| bench.out().join(name));
    for path in [&dead, &living, &other] {
        fs::write(path, "half of it").unwrap();
    }
    let lock = File::open(&living).unwrap();
    lock.lock().unwrap();
    bench.trace(&only("dctcp", &[]), &flow(0)).unwrap();
    assert!(!dead.exists() && living.exists() && other.exists());
    drop(lock);
    bench.trace(&only("dctcp", &[]), &flow(0)).unwrap();
    assert!(!living.exists() && other.exists());
}

#[test]
fn a_directory_that_cannot_be_written_is_said() {
    let bench = Bench::new();
    fs::write(bench.out(), "in the way").unwrap();
    let result = bench.trace(&only("dctcp", &[]), &flow(0));
    assert!(matches!(result, Err(Failure::Store(_))), "{result:?}");
}

#[test]
fn what_never_happened_is_null() {
    let bench = Bench::new();
    let report = bench.trace(&only("dctcp", &[("topology.host_link.loss", "0.02")]), &flow(1)).unwrap();
    let (rows, _) = read(&report.files[0], &["fate", "arrived_ps", "delivered_ps"]);
    let null = Cell::Null.to_string();
    assert!(
        rows.iter().filter(|row| row.starts_with("lost")).all(|row| *row == format!("lost {null} {null}"))
    );
}

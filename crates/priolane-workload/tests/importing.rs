//! Imports, counted by hand: samples of every format, odd rows included.

use std::path::Path;

use priolane_core::sizes::Interpolation;
use priolane_core::units::{Span, Time};
use priolane_sim::topology::file;
use priolane_source::InputError;
use priolane_workload::flow_list::{self, Row};
use priolane_workload::import::{
    self, Failure, Format, Guess, ImportedFlows, Network, Options, Recording, Report, Request, SizeTable,
    Source, Start,
};
use priolane_workload::size_csv;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("import_samples/", $name))
    };
}

const TOPOLOGY: &str = sample!("hpcc_topology.txt");

fn read(text: &str, options: &Options) -> Result<(ImportedFlows, Guess), InputError> {
    import::read(text.as_bytes(), Source { file: "x", format: None, network: None }, options)
}

fn good(text: &str, options: &Options) -> (ImportedFlows, Format) {
    let (imported, guess) = read(text, options).unwrap();
    assert!(guess.from.is_some());
    (imported, guess.format)
}

/// `start_ps src dst bytes` of each row.
fn flows(imported: &ImportedFlows) -> Vec<(u64, u16, u16, u64)> {
    let flow = |row: &Row| (row.flow.start.0, row.flow.src.0, row.flow.dst.0, row.flow.size.unwrap());
    imported.rows.iter().map(flow).collect()
}

fn dropped(imported: &ImportedFlows) -> Vec<(&str, u64, u128)> {
    imported.dropped.iter().map(|dropped| (dropped.reason, dropped.count, dropped.bytes)).collect()
}

fn network() -> Network {
    import::read_topology(&mut TOPOLOGY.as_bytes(), "t").unwrap()
}

#[test]
fn hpcc_flows_start_at_zero_or_where_they_did() {
    let (imported, format) = good(sample!("hpcc_flow.txt"), &Options::default());
    assert_eq!(format, Format::Hpcc);
    assert_eq!(flows(&imported), [(0, 2, 1, 200_000_000), (1_000_000, 1, 2, 1000)]);
    assert_eq!(
        dropped(&imported),
        [
            ("no bytes", 1, 0),
            ("source and destination are the same host", 1, 5000),
            ("the flow is beyond the number in the first line", 1, 7)
        ]
    );
    // Rows 5 = 2 listed + 3 dropped; node 4 is the largest named.
    assert_eq!((imported.read, imported.hosts, imported.first_start_ps), (5, 5, 2_000_000_000_000));
    let keep = Options { start: Start::Keep, ..Options::default() };
    assert_eq!(flows(&good(sample!("hpcc_flow.txt"), &keep).0)[1].0, 2_000_001_000_000);
    let later = Options { start: Start::First(Time(7)), ..Options::default() };
    assert_eq!(flows(&good(sample!("hpcc_flow.txt"), &later).0)[1].0, 1_000_007);
}

#[test]
fn hpcc_topologies_give_hosts_their_places() {
    let network = network();
    assert_eq!(network.hosts, [1, 2, 3, 4]);
    let topology = file::parse(&network.text).unwrap();
    assert_eq!((topology.hosts, network.text.lines().count()), (4, 1 + 5 + 4));
    assert!(network.text.contains("link,s0,h3,25Gbps,0.001ms,0.000001\n"), "{}", network.text);
    let source = Source { file: "x", format: None, network: Some(&network) };
    let (imported, _) =
        import::read(sample!("hpcc_flow.txt").as_bytes(), source, &Options::default()).unwrap();
    assert_eq!(flows(&imported), [(0, 1, 0, 200_000_000), (1_000_000, 0, 1, 1000)]);
    // A switch sends no flow.
    let error = import::read("1\n0 1 3 100 5 2\n".as_bytes(), source, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "x:2: unknown host 0. Use hosts of the network.");
}

#[test]
fn defects_of_a_topology_are_told_at_its_own_line() {
    let refused = |from: &str, to: &str| {
        let text = TOPOLOGY.replacen(from, to, 1);
        import::read_topology(&mut text.as_bytes(), "t").unwrap_err().to_string()
    };
    assert!(refused("25Gbps", "25Gbit").starts_with("t:5: "), "{}", refused("25Gbps", "25Gbit"));
    assert!(refused("1us", "0us").starts_with("t:4: "));
    assert!(refused("4 0 100", "9 0 100").starts_with("t:6: "));
    assert!(refused("5 1 4", "5 1 5").contains("states 5 links, but there are 4"));
    assert!(refused("5 1 4", "99999999999 1 4").starts_with("t:1: "));
    assert!(refused("5 1 4\n0\n", "5 2 4\n0 0\n").starts_with("t:2: "));
    assert!(
        refused("100Gbps 0.001ms 0\n0 2", "100Gbps 0.001ms\n0 2").starts_with("t:3: the link has 4 parts")
    );
}

#[test]
fn triggers_become_flows_that_wait() {
    let (imported, format) = good(sample!("htsim.cm"), &Options::default());
    assert_eq!(format, Format::Htsim);
    let written = written(&imported);
    // id 1, 2 (oneshot), 4 (barrier of 1 and 3), 5 (multishot) at 0; id 3 after 1 us, id 8 after 2 us.
    assert_eq!(
        written,
        "start_ns,src,dst,bytes,after,delay_ns\n0,0,13,2000000,,\n0,13,4,1000,0,\n0,2,3,500,0+4,\n\
         0,4,5,10,2,\n1000,1,2,4000,,\n2000,7,8,40,,\n"
    );
    assert_eq!(
        dropped(&imported),
        [
            ("its trigger fires before the last of several flows", 1, 50),
            ("its trigger never fires", 1, 20),
            ("source and destination are the same host", 1, 30),
        ]
    );
    assert_eq!((imported.read, imported.hosts), (9, 16));
    assert!(imported.notes.iter().any(|note| note == "1 failures were not imported"));
    // The list is one that runs: dependencies between flows, and no delay but the app's.
    let rows = flow_list::read_rows(written.as_bytes(), "f", 16).unwrap();
    let waits: Vec<(u32, usize)> =
        rows.iter().filter(|row| !row.after.is_empty()).map(|row| (row.flow.id.0, row.after.len())).collect();
    assert_eq!(waits, [(1, 1), (2, 2), (3, 1)]);
    assert!(rows.iter().all(|row| row.delay.is_none()));
}

#[test]
fn flows_that_wait_for_what_never_starts_are_dropped() {
    let circle = "Nodes 4\nConnections 4\nTriggers 3\n0->1 id 1 trigger 1 size 5 recv_done_trigger 2\n\
                  1->2 id 2 trigger 2 size 6 recv_done_trigger 1\n2->3 id 3 start 0 size 7\n\
                  3->0 id 4 trigger 3 size 8\ntrigger id 1 oneshot\ntrigger id 2 oneshot\ntrigger id 3 oneshot\n";
    let (imported, _) = good(circle, &Options::default());
    assert_eq!(flows(&imported), [(0, 2, 3, 7)]);
    assert_eq!(
        dropped(&imported),
        [("its trigger never fires", 1, 8), ("the flow depends on one that never starts", 2, 11)]
    );
    // Its starter sends nothing, so nothing starts it.
    let empty = "Nodes 4\nConnections 3\nTriggers 1\n0->1 id 1 start 1 size 0 send_done_trigger 1\n\
                 1->2 id 2 trigger 1 size 6\n2->3 id 3 start 0 size 7\ntrigger id 1 oneshot\n";
    let (imported, _) = good(empty, &Options::default());
    assert_eq!(dropped(&imported), [("no bytes", 1, 0), ("the flow depends on one that never starts", 1, 6)]);
}

#[test]
fn connection_matrices_are_held_to_their_counts_and_unit() {
    let (imported, format) = good(sample!("htsim_us.cm"), &Options::default());
    assert_eq!((format, imported.first_start_ps), (Format::HtsimUs, 500_000));
    let refused = |from: &str, to: &str| {
        read(&sample!("htsim.cm").replacen(from, to, 1), &Options::default()).unwrap_err().to_string()
    };
    assert!(
        refused("Connections 9", "Connections 8")
            .contains("the file declares 8 Connections, but there are 9")
    );
    assert!(refused("Triggers 5\n", "").contains("the file declares 0 Triggers, but there are 5"));
    assert!(refused("Failures 1", "Failures 2").contains("Failures"));
    assert!(refused("Nodes 16", "Nodes 13").starts_with("x:6: unknown host 13"));
    assert!(refused("Nodes 16", "Nodes 99999999999").starts_with("x:2: "));
    assert!(refused("trigger 8 size", "trigger 80 size").starts_with("x:11: unknown trigger 80"));
    assert!(refused("start 0", "trigger 5 start 0").contains("both start and trigger"));
    assert!(refused("id 2 ", "id 1 ").contains("connection 1 appears twice"));
    assert!(refused("id 2 ", "id 0 ").contains("0 is not an id"));
    assert!(refused("size 1000", "size").contains("incomplete"));
    let source = Source { file: "x", format: Some(Format::Htsim), network: None };
    let error = import::read(sample!("htsim_us.cm").as_bytes(), source, &Options::default()).unwrap_err();
    assert!(error.fix.contains("htsim-us"), "{error}");
    let fold = Options { hosts: Some(8), ..Options::default() };
    assert!(read(sample!("htsim.cm"), &fold).unwrap_err().what.contains("cannot be folded"));
}

#[test]
fn yaps_traces_have_nine_eight_or_five_columns() {
    let (nine, format) = good(sample!("yaps_nine.txt"), &Options::default());
    // 137 x 1460 bytes; 1.5 us apart.
    assert_eq!((format, nine.hosts), (Format::Yaps, 78));
    assert_eq!(flows(&nine), [(0, 3, 77, 200_020), (1_500_000, 77, 3, 1460)]);
    let (eight, _) = good(sample!("yaps_eight.txt"), &Options { mss: Some(1000), ..Options::default() });
    // The first row's time has 19 decimals; both ends are 1 us and 1 s + 1 us.
    assert_eq!(flows(&eight), [(0, 1, 0, 3000), (1_000_000_000_000, 0, 1, 2000)]);
    assert_eq!((eight.rounded, eight.first_start_ps), (1, 1_000_000));
    let (five, _) = good(sample!("yaps_five.txt"), &Options::default());
    assert_eq!((flows(&five), five.first_start_ps), (vec![(0, 3, 77, 200_020)], 1_000_001_000_000));
    let cut = format!("{}2 1.1 0 0 1", sample!("yaps_nine.txt"));
    assert!(
        read(&cut, &Options::default()).unwrap_err().to_string().starts_with("x:3: the row has 5 columns")
    );
}

#[test]
fn aequitas_priorities_are_classes_with_latency_first() {
    let (imported, format) = good(sample!("aequitas.csv"), &Options::default());
    assert_eq!(format, Format::Aequitas);
    assert_eq!(flows(&imported), [(0, 7, 3, 100), (500_000, 2, 1, 5), (1_000_000, 3, 7, 32_768)]);
    assert_eq!(imported.rows.iter().map(|row| row.flow.class).collect::<Vec<_>>(), [2, 1, 0]);
    assert_eq!((imported.read, dropped(&imported)), (4, vec![("the priority is not 0, 1 or 2", 1, 999)]));
}

#[test]
fn coflows_are_split_evenly_to_the_byte() {
    let (imported, format) = good(sample!("coflow.txt"), &Options::default());
    assert_eq!((format, imported.hosts, imported.read), (Format::Coflow, 4, 3));
    let (half, quarter, late) = (1 << 19, 1 << 18, 20_000_000_000);
    // 0.00001 of 2^20 bytes are 10, over three mappers.
    assert_eq!(
        flows(&imported),
        [
            (0, 0, 2, half),
            (0, 1, 2, half),
            (0, 0, 3, quarter),
            (0, 1, 3, quarter),
            (late, 0, 3, 4),
            (late, 1, 3, 3),
            (late, 2, 3, 3)
        ]
    );
    assert_eq!(
        imported.rows.iter().map(|row| row.flow.coflow.unwrap().number()).collect::<Vec<_>>(),
        [1, 1, 1, 1, 7, 7, 7]
    );
    assert_eq!(dropped(&imported), [("source and destination are the same host", 1, 2 << 20)]);
    let (decimal, _) =
        good(sample!("coflow.txt"), &Options { megabyte: Some(1_000_000), ..Options::default() });
    assert_eq!(decimal.rows[0].flow.size, Some(500_000));
}

#[test]
fn ports_are_folded_by_remainder_and_the_factor_is_stated() {
    let (imported, _) = good(sample!("coflow.txt"), &Options { hosts: Some(2), ..Options::default() });
    let (half, quarter, late) = (1 << 19, 1 << 18, 20_000_000_000);
    assert_eq!(flows(&imported), [(0, 1, 0, half), (0, 0, 1, quarter), (late, 0, 1, 4), (late, 0, 1, 3)]);
    let local = u128::from(half + quarter + 3);
    assert_eq!(
        dropped(&imported),
        [
            ("source and destination are the same host", 1, 2 << 20),
            ("source and destination fold onto one host", 3, local)
        ]
    );
    let fold = imported.fold.unwrap();
    assert_eq!((fold.from, fold.to, fold.factor, imported.hosts), (4, 2, 2.0, 2));
    let hosts: Vec<u16> = imported.names.iter().map(|(_, host)| host.0).collect();
    assert_eq!(hosts, [0, 1, 0, 1]);
    // A larger network is no fold.
    let (wide, _) = good(sample!("coflow.txt"), &Options { hosts: Some(100), ..Options::default() });
    assert_eq!((wide.fold, wide.hosts), (None, 100));
}

#[test]
fn records_of_one_flow_are_merged_and_lose_their_headers() {
    let (imported, format) = good(sample!("nfdump_old.csv"), &Options::default());
    assert_eq!(format, Format::Nfdump);
    let second = 1_000_000_000_000;
    // UDP: 200 - 2 (20 + 8). Two records 1 s apart: 225000 - 150 (20 + 32) - 8; one 209 s later: 10000 - 520 - 8.
    assert_eq!(flows(&imported), [(0, 2, 0, 144), (second, 0, 1, 217_192), (301 * second, 0, 1, 9472)]);
    assert_eq!(
        dropped(&imported),
        [
            ("an address is unreadable", 1, 0),
            ("no payload", 1, 0),
            ("the destination is a multicast or broadcast address", 1, 0),
            ("the row is incomplete", 1, 0),
            ("the time is unreadable", 1, 0),
        ]
    );
    // Rows 9 = 3 listed + 1 merged + 5 dropped.
    assert_eq!((imported.read, imported.merged), (9, 1));
    let names: Vec<&str> = imported.names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["10.0.0.1", "10.0.0.5", "10.0.0.9"]);
    // No gap allowed: three flows of those ends; 300 s allowed: one of 235000 - 160 x 52 - 8.
    let (apart, _) = good(sample!("nfdump_old.csv"), &Options { gap: Some(Span(0)), ..Options::default() });
    assert_eq!((apart.rows.len(), apart.merged), (4, 0));
    let wide = Options { gap: Some(Span(300 * second)), ..Options::default() };
    assert_eq!(flows(&good(sample!("nfdump_old.csv"), &wide).0)[1], (second, 0, 1, 226_672));
}

#[test]
fn a_flow_that_several_routers_recorded_is_taken_once() {
    // Two routers on the path of one flow, the second of which exported it in two parts and saw a packet less.
    let rows = [
        "2024-05-01 12:00:00,2024-05-01 12:00:20,20.000,10.0.0.1,10.0.0.5,40122,5001,TCP,...AP.SF,100,150000,ROUTER_A",
        "2024-05-01 12:00:00,2024-05-01 12:00:09,9.000,10.0.0.1,10.0.0.5,40122,5001,TCP,...AP.SF,50,75000,ROUTER_B",
        "2024-05-01 12:00:10,2024-05-01 12:00:20,10.000,10.0.0.1,10.0.0.5,40122,5001,TCP,...AP.SF,49,73500,ROUTER_B",
    ];
    let text = |column: &str, [a, b]: [&str; 2]| {
        let rows = rows.map(|row| row.replace("ROUTER_A", a).replace("ROUTER_B", b));
        format!("ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt,{column}\n{}\n", rows.join("\n"))
    };
    let (named, _) = good(&text("ra", ["192.0.2.1", "192.0.2.2"]), &Options::default());
    // 150000 - 100 x 52 - 8.
    assert_eq!(flows(&named), [(0, 0, 1, 144_792)]);
    let other = 75_000 + 73_500 - 99 * 52;
    assert_eq!(dropped(&named), [("another interface, switch or router recorded the flow too", 2, other)]);
    assert!(named.notes.is_empty(), "{:?}", named.notes);
    // Without names they are one flow of twice the bytes, and the report says why that may be.
    let (unnamed, _) = good(&text("smk", ["24", "24"]), &Options::default());
    assert_eq!(flows(&unnamed), [(0, 0, 1, 144_800 + other as u64 - 8)]);
    assert!(unnamed.notes[0].starts_with("2 records overlap in time"), "{:?}", unnamed.notes);
    // A router that exports a flow in parts one after the other has none that overlap.
    let (parts, _) = good(sample!("nfdump_old.csv"), &Options::default());
    assert!(!parts.notes.iter().any(|note| note.contains("overlap")), "{:?}", parts.notes);
}

#[test]
fn new_columns_of_nfdump_and_sampled_records_are_read() {
    let (imported, _) = good(sample!("nfdump_new.csv"), &Options::default());
    // IPv6 and TCP: 10728 - 10 (40 + 32) - 8; ICMP: 84 - 20.
    assert_eq!(flows(&imported), [(0, 2, 3, 10_000), (125_000_000_000, 0, 1, 64)]);
    let sampled = Options { sampling: Some(100), ..Options::default() };
    assert_eq!(flows(&good(sample!("nfdump_new.csv"), &sampled).0)[0].3, 1_000_000);
    // The header may come again, and rows after `Summary` are none.
    let twice = format!("{0}Summary\n1,2,3\n{0}", sample!("nfdump_new.csv"));
    let (twice, _) = good(&twice, &Options::default());
    assert_eq!((twice.read, twice.rows.len(), twice.merged), (4, 2, 2));
}

#[test]
fn both_directions_of_a_connection_are_flows() {
    let (imported, format) = good(sample!("zeek_conn.log"), &Options::default());
    assert_eq!(format, Format::Zeek);
    let later = 123_455_000_000;
    assert_eq!(flows(&imported), [(0, 2, 0, 43), (later, 1, 0, 100), (later, 0, 1, 5000)]);
    assert_eq!(imported.first_start_ps, 1_621_820_000_000_001_000_000);
    assert_eq!(
        dropped(&imported),
        [
            ("no payload in either direction", 1, 0),
            ("source and destination are the same host", 2, 15),
            ("the destination is a multicast or broadcast address", 1, 0),
            ("the row is incomplete", 1, 0),
        ]
    );
    assert_eq!((imported.read, imported.rounded), (6, 0));
    // Flows of one instant, spread over 1 us: the third row starts half of it later.
    let spread = Options { spread: Some(Span(1_000_000)), ..Options::default() };
    let starts: Vec<u64> =
        flows(&good(sample!("zeek_conn.log"), &spread).0).iter().map(|flow| flow.0).collect();
    assert_eq!(starts, [0, later, later + 500_000]);
}

#[test]
fn flow_logs_of_aws_are_merged_and_counted_once() {
    let (imported, format) = good(sample!("vpc_default.txt"), &Options::default());
    assert_eq!(format, Format::Vpc);
    let second = 1_000_000_000_000;
    // UDP: 200 - 2 (20 + 8). Two records 1 s apart: 225000 - 150 (20 + 32) - 8. ICMP: 336 - 4 x 20.
    assert_eq!(flows(&imported), [(0, 2, 0, 144), (second, 0, 1, 217_192), (21 * second, 3, 0, 256)]);
    assert_eq!(
        dropped(&imported),
        [
            // 150000 - 100 (20 + 32), of the receiving interface.
            ("another interface, switch or router recorded the flow too", 1, 144_800),
            ("no payload", 1, 0),
            ("no traffic in the interval (NODATA)", 1, 0),
            ("records were skipped in the interval (SKIPDATA)", 1, 0),
            ("the destination is a multicast or broadcast address", 1, 0),
            ("the row is incomplete", 1, 0),
            ("the traffic was rejected (REJECT)", 1, 4249),
        ]
    );
    // Rows 11 = 3 listed + 1 merged + 7 dropped.
    assert_eq!((imported.read, imported.merged), (11, 1));
    let recording = Recording { sampling: None, midstream: None, late_ps: 60 * second };
    assert_eq!((imported.recording, imported.tick_ps), (recording, second));
    let (apart, _) = good(sample!("vpc_default.txt"), &Options { gap: Some(Span(0)), ..Options::default() });
    assert_eq!((apart.rows.len(), apart.merged), (4, 0));
}

#[test]
fn flow_logs_of_aws_name_their_fields() {
    let (imported, format) = good(sample!("vpc_header.txt"), &Options::default());
    assert_eq!(format, Format::Vpc);
    let second = 1_000_000_000_000;
    // IPv4: 10528 - 10 (20 + 32) - 8; IPv6: 21448 - 20 (40 + 32) - 8, twice, 60 s apart.
    assert_eq!(flows(&imported), [(0, 1, 0, 10_000), (second, 2, 3, 20_000), (100 * second, 2, 3, 20_000)]);
    // The packet's addresses, not the interface's.
    let names: Vec<&str> = imported.names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["10.0.0.5", "10.0.1.7", "2001:db8::1", "2001:db8::2"]);
    // The connection without a SYN began before the log; its second flow is a later part of it.
    assert_eq!(imported.recording.midstream, Some(1));
    let refused = |from: &str, to: &str| {
        let text = sample!("vpc_header.txt").replace(from, to);
        read(&text, &Options::default()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(" bytes ", " octets "),
        "x:1: bytes: the field is missing. Use a flow log that has it."
    );
    assert_eq!(
        refused("pkt_dstaddr dstaddr", "a b"),
        "x:1: dstaddr: the field is missing. Use a flow log that has it."
    );
    let headless = sample!("vpc_header.txt").split_once('\n').unwrap().1;
    let source = Source { file: "x", format: Some(Format::Vpc), network: None };
    let error = import::read(headless.as_bytes(), source, &Options::default()).unwrap_err().to_string();
    assert!(error.starts_with("x:1: no header names the 15 fields"), "{error}");
    // Files that were put together: the header comes again. Twice (10528 - 10 (20 + 32)), - 8 once.
    let (twice, _) = good(&format!("{0}{0}", sample!("vpc_header.txt")), &Options::default());
    assert_eq!((twice.read, twice.merged, flows(&twice)[0].3), (6, 3, 20_008));
    // Without packets, headers stay in the bytes.
    let (whole, _) = good(&sample!("vpc_header.txt").replace(" packets ", " - "), &Options::default());
    assert_eq!(flows(&whole)[0].3, 10_528);
    assert!(whole.notes.iter().any(|note| note.contains("bytes include headers")), "{:?}", whole.notes);
}

#[test]
fn sampled_packets_stand_for_those_between_them() {
    let (imported, format) = good(sample!("sflow.csv"), &Options::default());
    assert_eq!(format, Format::Sflow);
    // Two packets of 1500 - (20 + 32), each for 100; 148 - (40 + 8), for 200, 1.25 s later.
    assert_eq!(flows(&imported), [(0, 0, 1, 289_600), (1_250_000_000_000, 2, 3, 20_000)]);
    assert_eq!(
        dropped(&imported),
        [
            ("another interface, switch or router recorded the flow too", 1, 144_800),
            ("no payload", 1, 0),
            ("the destination is a multicast or broadcast address", 1, 0),
            ("the packet is not IP", 1, 0),
            ("the row has another number of cells than the header", 1, 0),
            ("the sampling rate is unreadable", 1, 0),
            ("the time is zero", 1, 0),
        ]
    );
    // Rows 10 = 2 listed + 1 merged + 7 dropped.
    assert_eq!((imported.read, imported.merged), (10, 1));
    let recording = Recording { sampling: Some(200), midstream: None, late_ps: 1_000_000_000_000 };
    assert_eq!(imported.recording, recording);
    assert!(
        imported.notes.iter().any(|note| note.contains("from 1 in 100 to 1 in 200")),
        "{:?}",
        imported.notes
    );
    assert!(imported.notes.iter().any(|note| note.starts_with("2 switches sampled")), "{:?}", imported.notes);
    // A pause of half a second above the gap makes two flows.
    let apart = Options { gap: Some(Span(499_999_999_999)), ..Options::default() };
    assert_eq!(
        flows(&good(sample!("sflow.csv"), &apart).0)[..2],
        [(0, 0, 1, 144_800), (500_000_000_000, 0, 1, 144_800)]
    );
}

#[test]
fn samples_have_the_time_of_the_switch_the_collector_or_the_capture() {
    let row = "10.0.0.1,10.0.0.5,6,1052,10";
    let first = |fields: &str, time: &str| {
        let text = format!("{fields},srcIP,dstIP,IPProtocol,IPSize,meanSkipCount\n{time},{row}\n");
        let (imported, _) = good(&text, &Options::default());
        (imported.first_start_ps, imported.recording.late_ps)
    };
    let (at, late) = (1_714_521_600_000_001_000_000, 1_000_000_000_000);
    assert_eq!(first("unixSecondsUTC,timestamp_nS", "1714521601,1714521600000001000"), (at, 0));
    assert_eq!(first("unixSecondsUTC,unixSecondsUTC_uS", "1714521600,1"), (at, late));
    // A capture that sflowtool -r reads has no time of arrival; its own is in the local zone.
    let captured = "unixSecondsUTC,pcapTimestamp,pcapTimestamp_uS";
    assert_eq!(first(captured, "0,2024-05-01T02:00:00+0200,1"), (at, late));
}

#[test]
fn samples_without_times_are_refused_with_the_command_to_run() {
    let refused = |text: &str, format| {
        let source = Source { file: "x", format, network: None };
        import::read(text.as_bytes(), source, &Options::default()).unwrap_err().to_string()
    };
    let untimed = "FLOW,10.0.0.254,0,0,00902773db08,001083265e00,0x0800,0,0,10.0.0.1,10.0.0.2,17,0x00,64,35690,161,\
                   0x00,143,125,80\n";
    let error = refused(untimed, None);
    assert!(
        error.starts_with("x:1: lines of sflowtool -l have no times. Run sflowtool -L unixSecondsUTC,"),
        "{error}"
    );
    let headless = sample!("sflow.csv").split_once('\n').unwrap().1;
    assert!(
        refused(headless, Some(Format::Sflow)).starts_with("x:1: no header names the fields. Run sflowtool")
    );
    let error = refused(&sample!("sflow.csv").replace("unixSecondsUTC", "sampleType"), None);
    assert!(error.starts_with("x:1: unixSecondsUTC: the field is missing. Run sflowtool"), "{error}");
    let error = refused(&sample!("sflow.csv").replace("meanSkipCount", "samplePool"), None);
    assert!(error.starts_with("x:1: meanSkipCount: the field is missing."), "{error}");
}

#[test]
fn packets_of_a_capture_become_flows_of_payload() {
    let (imported, format) = good(sample!("tshark.csv"), &Options::default());
    assert_eq!(format, Format::Tshark);
    let us = 1_000_000;
    // From the first payload, 301 us after the file's first second: two segments of 1400 back, a repeated one left
    // out; UDP 38 - 8; the inner packet of a tunnel; 40 bytes 19.9997 s after the 100 before.
    assert_eq!(
        flows(&imported),
        [
            (0, 0, 1, 100),
            (200 * us, 1, 0, 2800),
            (499_699 * us, 2, 0, 30),
            (699_699 * us, 5, 6, 500),
            (949_699 * us, 3, 4, 60),
            (19_999_699 * us, 0, 1, 40),
        ]
    );
    assert_eq!(
        dropped(&imported),
        [
            ("no payload", 5, 0),
            ("the destination is a multicast or broadcast address", 1, 0),
            ("the segment is a retransmission", 1, 0),
        ]
    );
    // Rows 14 = 6 listed + 1 merged + 7 dropped. Two connections have no SYN.
    assert_eq!((imported.read, imported.merged), (14, 1));
    assert_eq!(
        (imported.recording.midstream, imported.recording.late_ps, imported.tick_ps),
        (Some(2), 0, us)
    );
    // Segments 10 us apart, with a gap of 10 us and below.
    let count = |gap: u64| {
        good(sample!("tshark.csv"), &Options { gap: Some(Span(gap)), ..Options::default() }).0.rows.len()
    };
    assert_eq!((count(10 * us), count(10 * us - 1)), (6, 7));
    // Without the two optional fields, nothing is said of beginnings, and repeated segments count.
    let bare = sample!("tshark.csv").replace("tcp.flags.syn,tcp.analysis.retransmission", "a,b");
    let (bare, _) = good(&bare, &Options::default());
    assert_eq!((bare.recording.midstream, flows(&bare)[1].3), (None, 4200));
}

#[test]
fn packets_are_read_with_any_separator_and_in_any_order() {
    let (expected, _) = good(sample!("tshark.csv"), &Options::default());
    let tabs = sample!("tshark.csv")
        .replace(',', "\t")
        .replace("\t0\t\n", "\tFalse\t\n")
        .replace("\t1\t\n", "\tTrue\t\n");
    assert_eq!(good(&tabs, &Options::default()).0, expected);
    let turned: String = sample!("tshark.csv")
        .lines()
        .map(|line| {
            line.split(',').rev().map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(";") + "\n"
        })
        .collect();
    let (head, rows) = turned.split_once('\n').unwrap();
    let turned = format!("{}\n{rows}", head.replace('"', ""));
    assert_eq!(good(&turned, &Options::default()).0, expected);
    // Packets that are not in order of time.
    let (head, rows) = sample!("tshark.csv").split_once('\n').unwrap();
    let backwards: Vec<&str> = rows.lines().rev().collect();
    let (backwards, _) = good(&format!("{head}\n{}\n", backwards.join("\n")), &Options::default());
    assert_eq!((flows(&backwards), backwards.merged), (flows(&expected), 1));
    let refused = |from: &str, to: &str| {
        let text = sample!("tshark.csv").replace(from, to);
        read(&text, &Options::default()).unwrap_err().to_string()
    };
    let fix = "Use the command of docs/importing.md, with -E header=y.";
    assert_eq!(refused("tcp.len,udp.srcport", "a,b"), format!("x:1: tcp.len: the field is missing. {fix}"));
    let headless = sample!("tshark.csv").split_once('\n').unwrap().1;
    let source = Source { file: "x", format: Some(Format::Tshark), network: None };
    let error = import::read(headless.as_bytes(), source, &Options::default()).unwrap_err().to_string();
    assert_eq!(error, format!("x:1: no header names the fields. {fix}"));
    // Cells with two addresses, as tshark prints without -E occurrence=l.
    let (nested, _) =
        good(&sample!("tshark.csv").replace("192.168.1.1,", "10.0.0.1,192.168.1.1,"), &Options::default());
    assert!(dropped(&nested).contains(&("the row has another number of cells than the header", 1, 0)));
}

#[test]
fn connections_that_began_before_the_log_are_counted() {
    // nfdump: a SYN in no record of the first flow of its ports. Sampled records say nothing.
    let text = sample!("nfdump_old.csv");
    assert_eq!(good(text, &Options::default()).0.recording.midstream, Some(0));
    let (late, _) = good(&text.replace("...AP.SF", "...AP..F"), &Options::default());
    assert_eq!(late.recording.midstream, Some(1));
    let (unflagged, _) = good(&text.replace("...AP.SF", "........"), &Options::default());
    assert_eq!(unflagged.recording.midstream, None);
    let sampled = Options { sampling: Some(10), ..Options::default() };
    assert_eq!(good(text, &sampled).0.recording, Recording { sampling: Some(10), ..Recording::default() });
    // Zeek: the state OTH, of both directions, of TCP only.
    let text = sample!("zeek_conn.log").replace("resp_bytes", "resp_bytes\tconn_state");
    let with_state = |tcp: &str| {
        let text = text.replace("100\t5000", &format!("100\t5000\t{tcp}")).replace("43\t-", "43\t-\tOTH");
        good(&text, &Options::default()).0.recording.midstream
    };
    assert_eq!((with_state("SF"), with_state("OTH")), (Some(0), Some(2)));
    assert_eq!(good(sample!("zeek_conn.log"), &Options::default()).0.recording.midstream, None);
}

#[test]
fn the_clock_of_a_file_is_as_coarse_as_its_starts() {
    // 0.123455 s apart: microseconds. Half past a second: tenths.
    assert_eq!(good(sample!("zeek_conn.log"), &Options::default()).0.tick_ps, 1_000_000);
    let tenths = sample!("yaps_five.txt").replace("1000001", "1500000");
    assert_eq!(good(&tenths, &Options::default()).0.tick_ps, 100_000_000_000);
    let spread = Options { spread: Some(Span(1_000_000)), ..Options::default() };
    let (spread, _) = good(sample!("nfdump_old.csv"), &spread);
    assert_eq!((spread.tick_ps, spread.spread_ps), (1_000_000_000_000, 1_000_000));
}

#[test]
fn an_unreadable_port_is_no_port_zero() {
    let text = sample!("nfdump_old.csv").replace("40122,5001", "40122,http");
    let (imported, _) = good(&text, &Options::default());
    assert!(dropped(&imported).contains(&("a port is unreadable", 3, 0)), "{:?}", dropped(&imported));
    let icmp = sample!("nfdump_old.csv").replace("5353,53,UDP", "0,8.0,ICMP");
    assert_eq!(dropped(&good(&icmp, &Options::default()).0).len(), 5);
}

#[test]
fn what_cannot_be_guessed_says_what_it_may_be() {
    let refused = |text: &str| read(text, &Options::default()).unwrap_err().to_string();
    assert!(refused("").contains("it has no content"));
    assert!(refused("{\"ts\":1}\n").contains("JSON"));
    assert!(refused("start_ns,src,dst,bytes\n0,0,1,5\n").contains("needs no import"));
    assert!(refused(TOPOLOGY).contains("--topology"));
    assert!(refused("hello world\n").contains("no known format. Use one of hpcc, htsim"));
    assert!(
        refused("1\n0 0 3 100 5 1\n")
            .contains("no flow of the file can be imported: source and destination are the same host (1)")
    );
    let gap = Options { gap: Some(Span(1)), ..Options::default() };
    assert!(
        read(sample!("yaps_nine.txt"), &gap)
            .unwrap_err()
            .what
            .contains("--gap has no meaning for the format yaps")
    );
    let far = "0 1 0 0 1 0 0 0 1\n1 9999999 0 0 1 0 0 0 1\n";
    assert!(refused(far).contains("26 days"));
    assert!(refused("0 1 0 0 1 0 0 0 70000\n").contains("--hosts"));
}

#[test]
fn files_that_are_no_text_say_what_makes_text_of_them() {
    let refused = |text: &[u8], format| {
        let source = Source { file: "x", format, network: None };
        import::read(text, source, &Options::default()).unwrap_err().to_string()
    };
    let capture =
        "x: the file is a packet capture. Print its packets with tshark, as docs/importing.md says.";
    for begin in [b"\xd4\xc3\xb2\xa1\x02\0", b"\x0a\x0d\x0d\x0a\x1c\0", b"\xa1\xb2\x3c\x4d\0\x02"] {
        assert_eq!(refused(begin, None), capture);
        assert_eq!(refused(begin, Some(Format::Tshark)), capture);
    }
    let nfcapd = "x: the file is one that nfcapd wrote. Print its records with nfdump -r FILE -o csv.";
    assert_eq!(refused(b"\x0c\xa5\x02\0\x01", Some(Format::Nfdump)), nfcapd);
    assert_eq!(refused(b"\x1f\x8b\x08\0", Some(Format::Vpc)), "x: the file is compressed. Unpack it first.");
    assert!(refused(b"\xde\xad\xbe\xef", None).contains("rwcut"));
    assert_eq!(refused(b"PAR1", Some(Format::Vpc)), "x: the file is Parquet. Use a log in plain text.");
    let table = "=====\nTCP Conversations\nFilter:<No Filter>\n";
    assert!(refused(table.as_bytes(), None).contains("a table of conversations of tshark"));
}

fn written(imported: &ImportedFlows) -> String {
    let mut out = Vec::new();
    let extras = [
        (flow_list::OptionalColumn::Class, imported.rows.iter().any(|row| row.flow.class > 0)),
        (flow_list::OptionalColumn::Coflow, imported.rows.iter().any(|row| row.flow.coflow.is_some())),
        (flow_list::OptionalColumn::After, imported.rows.iter().any(|row| !row.after.is_empty())),
    ];
    let extras: Vec<_> = extras.into_iter().filter(|(_, used)| *used).map(|(extra, _)| extra).collect();
    let mut writer = flow_list::Writer::new(&mut out, &extras).unwrap();
    imported.rows.iter().for_each(|row| writer.row(row).unwrap());
    String::from_utf8(out).unwrap()
}

fn request(folder: &Path, file: &str, text: &str) -> Request {
    let path = folder.join(file);
    std::fs::write(&path, text).unwrap();
    let json = serde_json::json!({ "format": "auto", "file": path, "out": folder.join("out.csv") });
    serde_json::from_value(json).unwrap()
}

#[test]
fn every_sample_comes_back_from_its_list() {
    let samples = [
        sample!("hpcc_flow.txt"),
        sample!("htsim.cm"),
        sample!("htsim_us.cm"),
        sample!("yaps_nine.txt"),
        sample!("yaps_eight.txt"),
        sample!("yaps_five.txt"),
        sample!("aequitas.csv"),
        sample!("coflow.txt"),
        sample!("nfdump_old.csv"),
        sample!("nfdump_new.csv"),
        sample!("zeek_conn.log"),
        sample!("vpc_default.txt"),
        sample!("vpc_header.txt"),
        sample!("sflow.csv"),
        sample!("tshark.csv"),
    ];
    for text in samples {
        let folder = tempfile::tempdir().unwrap();
        let report = import::import_files(&request(folder.path(), "in", text)).unwrap();
        let (imported, _) = read(text, &Options::default()).unwrap();
        let list = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
        assert_eq!(flow_list::read_rows(list.as_bytes(), "out.csv", imported.hosts).unwrap(), imported.rows);
        assert_eq!(list, written(&imported));
        let hosts = std::fs::read_to_string(folder.path().join("out.hosts.csv")).unwrap();
        assert_eq!(hosts.lines().count(), 1 + imported.names.len());
        let kept = std::fs::read_to_string(folder.path().join("out.report.json")).unwrap();
        let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(kept, serde_json::to_value(&report).unwrap());
        let waiting = imported.rows.iter().filter(|row| !row.after.is_empty()).count();
        assert_eq!(
            (report.rows, report.flows, report.waiting, report.rounded_times),
            (imported.read, imported.rows.len() as u64, waiting as u64, imported.rounded)
        );
        assert_eq!(report.bytes, flows(&imported).iter().map(|flow| u128::from(flow.3)).sum());
        balanced(&report);
    }
}

/// What is listed, merged and dropped is what was read, where a row is one flow.
fn balanced(report: &Report) {
    let dropped: u64 = report.dropped.iter().map(|dropped| dropped.count).sum();
    if !matches!(report.format, "coflow" | "zeek") {
        assert_eq!(report.rows, report.flows + report.merged + dropped, "{report:?}");
    }
}

#[test]
fn a_topology_and_a_size_table_are_left_beside_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let mut request = request(folder.path(), "flow.txt", sample!("hpcc_flow.txt"));
    std::fs::write(folder.path().join("topology.txt"), TOPOLOGY).unwrap();
    request.topology = Some(folder.path().join("topology.txt"));
    request.sizes = Some(folder.path().join("sizes.csv"));
    let report = import::import_files(&request).unwrap();
    let topology = std::fs::read_to_string(folder.path().join("out.topology.csv")).unwrap();
    assert_eq!(file::parse(&topology).unwrap().hosts, report.hosts);
    let table = std::fs::read(folder.path().join("sizes.csv")).unwrap();
    let law = size_csv::parse("sizes.csv", &table, Interpolation::Step).unwrap();
    // Half the flows have 1000 bytes, half 200 MB.
    assert_eq!((law.quantile(0.5), law.quantile(0.51), law.mean()), (1000.0, 2e8, 100_000_500.0));
    assert_eq!(report.sizes.unwrap().mean_of_table, 100_000_500.0);
    assert_eq!((report.first_start_s.as_str(), report.span_ps, report.instants), ("2", 1_000_000, 2));
}

#[test]
fn a_report_counts_each_time_that_was_rounded() {
    let folder = tempfile::tempdir().unwrap();
    // Both starts have 13 decimals of a second.
    let text = "0 0.5000000000001 1.5 2 0.4 0 0 1\n1 0.6000000000001 1.5 3 0.4 0 1 0\n";
    let report = import::import_files(&request(folder.path(), "in", text)).unwrap();
    assert_eq!((report.format, report.rounded_times), ("yaps", 2));
}

#[test]
fn a_failed_import_leaves_files_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let mut request = request(folder.path(), "in", "1\n0 1 3 100 5\n");
    std::fs::write(folder.path().join("out.csv"), "mine").unwrap();
    assert!(matches!(import::import_files(&request), Err(Failure::Input(_))));
    std::fs::write(&request.file, sample!("hpcc_flow.txt")).unwrap();
    request.out = request.file.clone();
    let Err(Failure::Input(error)) = import::import_files(&request) else { panic!() };
    assert!(error.what.contains("would be overwritten"), "{error}");
    request.out = folder.path().join("new.csv");
    request.sizes = Some(folder.path().join("in").join("sizes.csv"));
    assert!(matches!(import::import_files(&request), Err(Failure::Output { .. })));
    // A folder in the place of a file: found before any file is put in place.
    let taken = tempfile::tempdir().unwrap();
    request.sizes = Some(taken.path().to_owned());
    assert!(matches!(import::import_files(&request), Err(Failure::Input(_))));
    assert_eq!(std::fs::read_to_string(folder.path().join("out.csv")).unwrap(), "mine");
    let mut left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["in", "out.csv"]);
    for (flag, value) in [("start", "soon"), ("spread", "1"), ("gap", "99999999s")] {
        let mut json = serde_json::json!({ "format": "zeek", "file": "none", "out": "out.csv" });
        json[flag] = value.into();
        let Err(Failure::Input(error)) = import::import_files(&serde_json::from_value(json).unwrap()) else {
            panic!()
        };
        assert_eq!(error.file, format!("--{flag}"));
    }
}

#[test]
fn an_import_replaces_what_an_import_wrote_and_nobody_changed() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let mut request = request(folder.path(), "flow.txt", sample!("hpcc_flow.txt"));
    std::fs::write(place("topology.txt"), TOPOLOGY).unwrap();
    let refused = |request: &Request, name: &str| {
        let Err(Failure::Input(error)) = import::import_files(request) else { panic!("{name} was replaced") };
        assert_eq!(error.file, place(name).display().to_string());
    };
    let outputs = ["out.csv", "out.hosts.csv", "out.report.json", "out.topology.csv", "sizes.csv"];
    request.topology = Some(place("topology.txt"));
    request.sizes = Some(place("sizes.csv"));
    for name in outputs {
        std::fs::write(place(name), "mine").unwrap();
        refused(&request, name);
        std::fs::remove_file(place(name)).unwrap();
    }
    import::import_files(&request).unwrap();
    // An import without topology and sizes leaves both, which the next one may still replace.
    request.topology = None;
    request.sizes = None;
    import::import_files(&request).unwrap();
    request.topology = Some(place("topology.txt"));
    request.sizes = Some(place("sizes.csv"));
    import::import_files(&request).unwrap();
    for name in outputs {
        let whole = std::fs::read(place(name)).unwrap();
        std::fs::write(place(name), "changed").unwrap();
        // Without its report, no file is known.
        refused(&request, if name == "out.report.json" { "out.csv" } else { name });
        std::fs::write(place(name), whole).unwrap();
    }
    let mut report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place("out.report.json")).unwrap()).unwrap();
    report["sha256"] = "".into();
    std::fs::write(place("out.report.json"), report.to_string()).unwrap();
    refused(&request, "out.csv");
}

#[test]
fn large_lists_give_tables_of_bounded_length_and_the_same_mean() {
    // 20,000 sizes: 1 to 19,999 bytes, and one flow with two thirds of all bytes.
    let large: u64 = 400_000_000;
    let row = |bytes: u64| format!("0 0 0 0 {bytes} 0 0 0 1\n");
    let text: String = (1..20_000).chain([large]).map(row).collect();
    let (imported, _) = good(&text, &Options { mss: Some(1), ..Options::default() });
    let table = SizeTable::of(&imported.rows, "many\nlines");
    let law = size_csv::parse("t", table.text.as_bytes(), Interpolation::Step).unwrap();
    let mean = (19_999 * 20_000 / 2 + large) as f64 / 20_000.0;
    assert_eq!(table.report.mean_of_list, mean);
    assert!((law.mean() - mean).abs() < 1.0 && (table.report.mean_of_table - law.mean()).abs() < 1e-3);
    assert!((200..=import::MAX_SIZE_ROWS).contains(&table.report.rows), "{:?}", table.report);
    assert_eq!((law.quantile(1.0), table.report.distinct), (large as f64, 20_000));
}

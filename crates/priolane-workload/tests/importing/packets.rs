//! Sampled packets of sFlow and packets of captures.

use priolane_core::units::Span;
use priolane_workload::import::{self, Format, Options, Recording, Source};

use crate::support::{dropped, flows, good, read};

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

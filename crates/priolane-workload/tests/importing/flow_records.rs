//! Records of flows: NetFlow, connections of Zeek, flow logs of AWS.

use priolane_core::units::Span;
use priolane_workload::import::{self, Format, Options, Recording, Source};

use crate::support::{dropped, flows, good, read};

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
fn json_lines_of_zeek_are_read_as_its_table() {
    let (imported, format) = good(sample!("zeek.json"), &Options::default());
    assert_eq!(format, Format::Zeek);
    let ms = 1_000_000_000;
    // Hosts 0 to 4: .0.1, .0.5, .0.9, .0.14, .1.78. The last response has 1607364734 - 1607310063 bytes that were seen.
    assert_eq!(
        flows(&imported),
        [
            (0, 0, 1, 1000),
            (0, 1, 0, 200_000),
            (750 * ms, 1, 2, 40),
            (1750 * ms, 3, 4, 1782),
            (1750 * ms, 4, 3, 54_671)
        ]
    );
    let note = "1 flows state more bytes than their packets carried: they have those that were seen, 1607310063 bytes less \
                (missed_bytes)";
    assert_eq!(imported.notes, [note]);
    // Without missed_bytes: 56983 bytes of IP less 56 headers of 52 bytes.
    let (without, _) = good(&sample!("zeek.json").replace("missed_bytes", "other"), &Options::default());
    assert_eq!(flows(&without)[4].3, 56_983 - 56 * 52);
    let (broken, _) = good(&format!("{}{{\"id.orig_h\":\n", sample!("zeek.json")), &Options::default());
    assert_eq!(dropped(&broken), [("the row is not a JSON object", 1, 0)]);
}

#[test]
fn json_lines_of_goflow2_and_of_flow_logs_are_read() {
    let (imported, format) = good(sample!("goflow2.json"), &Options::default());
    assert_eq!(format, Format::Goflow2);
    let ms = 1_000_000_000;
    // 150000 - 100 x 52; ten times 1500 - 28. The second exporter saw 75000 - 50 x 52 bytes of the first flow.
    assert_eq!(flows(&imported), [(0, 0, 1, 144_800), (750 * ms, 1, 0, 14_720)]);
    assert_eq!(
        dropped(&imported),
        [
            ("another interface, switch or router recorded the flow too", 1, 72_400),
            ("the bytes are more than its packets can carry", 1, 0)
        ]
    );
    assert_eq!(imported.recording.sampling, Some(10));
    // The message of a program among the records costs one row.
    let (first, rest) = sample!("goflow2.json").split_once('\n').unwrap();
    let (broken, _) =
        good(&format!("{first}\nlevel=info msg=\"1 packet lost\"\n{rest}"), &Options::default());
    assert_eq!(flows(&broken), flows(&imported));
    assert_eq!(broken.read, imported.read + 1);
    assert!(dropped(&broken).contains(&("the row is not a JSON object", 1, 0)));

    let all = Options { sampling: Some(2), ..Options::default() };
    assert_eq!(flows(&good(sample!("goflow2.json"), &all).0)[0].3, 289_600);
    let (imported, format) = good(sample!("vpc.json"), &Options::default());
    assert_eq!(format, Format::Vpc);
    // 150000 - 100 x 52 - 8, 10000 - 10 x 52 - 8.
    assert_eq!(flows(&imported), [(0, 0, 1, 144_792), (1000 * ms, 1, 0, 9472)]);
    assert_eq!(dropped(&imported), [("no traffic in the interval (NODATA)", 1, 0)]);
}

/// A flow log of AWS with a flow of `bytes` at each second, of IP packets without payload in common.
fn flow_log(rows: &[(u64, u64)]) -> String {
    let row = |(nth, &(second, bytes)): (usize, &(u64, u64))| {
        let end = second + 1;
        format!("2 1 eni-0a 10.0.0.1 10.0.0.5 {nth} 5001 17 1 {} {second} {end} ACCEPT OK\n", bytes + 28)
    };
    rows.iter().enumerate().map(row).collect()
}

#[test]
fn a_broken_clock_drops_its_rows_and_not_the_log() {
    let now = 1_714_521_600;
    let starts = |text: &str, options: &Options| {
        let (imported, _) = good(text, options);
        let bytes: Vec<u64> = flows(&imported).iter().map(|flow| flow.3).collect();
        (bytes, dropped(&imported), imported.first_start_ps)
    };
    let second = 1_000_000_000_000;
    // The first row is of 1970, and one of next year.
    let text = flow_log(&[(0, 1), (now, 2), (now + 5, 3), (now + 31_536_000, 4)]);
    let far = "the start is more than 26 days from that of most flows";
    let found = starts(&text, &Options::default());
    assert_eq!(found, (vec![2, 3], vec![(far, 2, 5)], u128::from(now) * second));
    // Of 40 days, the 26 with most flows.
    let day = 86_400;
    let text = flow_log(&[(now, 1), (now + 20 * day, 2), (now + 40 * day, 4), (now + 41 * day, 8)]);
    assert_eq!(starts(&text, &Options::default()).0, [2, 4, 8]);
    // A part of a log, which begins at --from and ends before --until.
    let text = flow_log(&[(now, 1), (now + 1, 2), (now + 2, 4), (now + 3, 8)]);
    let at = |seconds: u64| Some(u128::from(now + seconds) * second);
    let part = Options { from: at(1), until: at(3), ..Options::default() };
    let (bytes, dropped, first) = starts(&text, &part);
    assert_eq!((bytes, first), (vec![2, 4], u128::from(now + 1) * second));
    assert_eq!(
        dropped,
        [("the flow does not start before --until", 1, 8), ("the flow starts before --from", 1, 1)]
    );
    let simulator = read(sample!("yaps_nine.txt"), &part).unwrap_err().what;
    assert!(simulator.contains("--from has no meaning for the format yaps"), "{simulator}");
}

#[test]
fn a_list_has_at_most_65536_hosts_unless_they_are_folded() {
    // One receiver, and senders from 10.0.0.0 on: one address a row.
    let log = |senders: u32| -> String {
        let row = |sender: u32| {
            let [_, high, middle, low] = sender.to_be_bytes();
            format!(
                "2 123456789010 eni-0a 10.{high}.{middle}.{low} 192.168.0.1 40122 5001 6 100 150000 1714521600 \
                 1714521660 ACCEPT OK\n"
            )
        };
        (0..senders).map(row).collect()
    };
    let (most, _) = good(&log(65_535), &Options::default());
    assert_eq!((most.rows.len(), most.names.len()), (65_535, 65_536));
    let error = read(&log(65_536), &Options::default()).unwrap_err().to_string();
    assert!(error.starts_with("x:65536: there are more than 65536 hosts. Use --hosts N"), "{error}");
    let (folded, _) = good(&log(65_536), &Options { hosts: Some(16), ..Options::default() });
    assert!(folded.rows.iter().all(|row| row.flow.src.0 < 16 && row.flow.dst.0 < 16));
}

#[test]
fn tables_of_scripts_with_semicolons_or_tabs_and_an_index_are_read() {
    let commas = sample!("nfdump_new.csv");
    let expected = flows(&good(commas, &Options::default()).0);
    assert!(!expected.is_empty());
    let with_index = |separator: &str, header: &str| {
        let lines = commas.lines().filter(|line| !line.is_empty()).enumerate();
        let line = |(n, line): (usize, &str)| {
            let (index, line) = if n == 0 { (String::new(), header) } else { ((n - 1).to_string(), line) };
            format!("{index}{separator}{}\n", line.replace(',', separator))
        };
        lines.map(line).collect::<String>()
    };
    let header = commas.lines().next().unwrap();
    let of_scripts = header
        .replace("firstSeen", "start_time")
        .replace("srcAddr", "src_ip")
        .replace("dstAddr", "dst_ip")
        .replace("srcPort", "src_port")
        .replace("dstPort", "dst_port")
        .replace("proto,", "protocol,");
    assert_ne!(of_scripts, header);
    for separator in [",", ";", "\t"] {
        for header in [header, &of_scripts] {
            let (imported, format) = good(&with_index(separator, header), &Options::default());
            assert_eq!(
                (format, flows(&imported)),
                (Format::Nfdump, expected.clone()),
                "{separator:?} {header}"
            );
        }
    }
}

//! Written lists against a writer of three lines, and imported samples under changes that must not matter.

use priolane_core::ids::CoflowId;

use super::*;
use crate::flow_list::{self, After, OptionalColumn, Row, Writer};
use crate::import::{self, Format, Options, Source};

/// Nanoseconds, with three decimals unless all are zero.
fn ns(ps: u64) -> String {
    format!("{}.{:03}", ps / 1_000, ps % 1_000).trim_end_matches(".000").to_owned()
}

/// The cells of a column in a row, as the documentation of the format states them.
fn cells(column: OptionalColumn, row: &Row) -> String {
    let flow = &row.flow;
    let joined = || row.after.iter().map(named).collect::<Vec<_>>().join("+");
    match column {
        OptionalColumn::Class => flow.class.to_string(),
        OptionalColumn::Group => flow.group.to_string(),
        OptionalColumn::Coflow => flow.coflow.map_or(String::new(), |coflow| coflow.number().to_string()),
        OptionalColumn::Deadline => flow.deadline.map_or(String::new(), |at| ns(at.0)),
        OptionalColumn::After => {
            format!("{},{}", joined(), row.delay.map_or(String::new(), |delay| ns(delay.0)))
        }
    }
}

/// A row that another depends on, with its delay.
fn named(after: &After) -> String {
    let delay = after.delay.map_or(String::new(), |delay| format!("@{}", ns(delay.0)));
    format!("{}{delay}", after.row.0)
}

fn drawn(id: u32, stream: &mut Stream) -> Row {
    let src = stream.below(4) as u16;
    let dst = (src + 1 + stream.below(3) as u16) % 4;
    let start = [0, 1, 1_000, 1_500, 12_345][stream.below(5) as usize];
    let size = (stream.below(4) > 0).then(|| 1 + stream.below(9));
    let waits = id > 2 && stream.below(2) == 0;
    let flow = FlowSpec {
        id: FlowId(id),
        class: stream.below(16) as u8,
        deadline: (stream.below(2) == 0).then(|| Time(start + 1 + stream.below(3_000))),
        coflow: (stream.below(2) == 0).then(|| CoflowId::new(stream.below(9) as u32).unwrap()),
        group: stream.below(3) as u16,
        ..flow(start, src, dst, size)
    };
    // What others wait for ends: rows 0 to 2 have a size.
    let size = if id <= 2 { Some(size.unwrap_or(5)) } else { size };
    let delay = (stream.below(2) == 0).then(|| Span(1 + stream.below(4_000)));
    let own = After { row: FlowId(0), delay };
    Row {
        flow: FlowSpec { size, ..flow },
        after: if waits { vec![own, After::row(FlowId(2))] } else { Vec::new() },
        delay: (waits && stream.below(2) == 0).then(|| Span(1 + stream.below(4_000))),
        path: None,
    }
}

#[test]
fn a_written_list_has_each_column_that_was_asked_for_and_reads_back() {
    use OptionalColumn::{After, Class, Coflow, Deadline, Group};
    let all = [
        (Class, "class"),
        (Coflow, "coflow"),
        (After, "after,delay_ns"),
        (Deadline, "deadline_ns"),
        (Group, "group"),
    ];
    let mut stream = Stream::new(3, Purpose::Ties, 0);
    for subset in 0..1_u32 << all.len() {
        let asked: Vec<(OptionalColumn, &str)> =
            (0..all.len()).filter(|place| subset >> place & 1 == 1).map(|place| all[place]).collect();
        let rows: Vec<Row> = (0..12).map(|id| drawn(id, &mut stream)).collect();
        let mut expected = String::from("start_ns,src,dst,bytes");
        asked.iter().for_each(|(_, name)| expected += &format!(",{name}"));
        expected.push('\n');
        for row in &rows {
            let bytes = row.flow.size.map_or("endless".to_owned(), |bytes| bytes.to_string());
            expected += &format!("{},{},{},{bytes}", ns(row.flow.start.0), row.flow.src.0, row.flow.dst.0);
            asked.iter().for_each(|&(column, _)| expected += &format!(",{}", cells(column, row)));
            expected.push('\n');
        }
        let columns: Vec<OptionalColumn> = asked.iter().map(|asked| asked.0).collect();
        let mut written = Vec::new();
        let mut writer = Writer::new(&mut written, &columns).unwrap();
        rows.iter().for_each(|row| writer.row(row).unwrap());
        assert_eq!(String::from_utf8(written.clone()).unwrap(), expected);
        if columns.contains(&Group) {
            let error = flow_list::read_rows(&written[..], "f.csv", 4).unwrap_err();
            assert!(error.what.contains("unknown column"), "{error}");
            continue;
        }
        let read = flow_list::read_rows(&written[..], "f.csv", 4).unwrap();
        assert_eq!(read.len(), rows.len());
        for (found, row) in read.iter().zip(&rows) {
            let has = |column| columns.contains(&column);
            let kept = FlowSpec {
                class: if has(Class) { row.flow.class } else { 0 },
                deadline: row.flow.deadline.filter(|_| has(Deadline)),
                coflow: row.flow.coflow.filter(|_| has(Coflow)),
                group: 0,
                ..row.flow
            };
            assert_eq!(found.flow, kept);
            let waits = if has(After) { (row.after.clone(), row.delay) } else { (Vec::new(), None) };
            assert_eq!((found.after.clone(), found.delay, found.path), (waits.0, waits.1, None));
        }
    }
}

const SAMPLES: [(Format, &str); 12] = [
    (Format::Hpcc, include_str!("../../tests/import_samples/hpcc_flow.txt")),
    (Format::Htsim, include_str!("../../tests/import_samples/htsim.cm")),
    (Format::Yaps, include_str!("../../tests/import_samples/yaps_five.txt")),
    (Format::Yaps, include_str!("../../tests/import_samples/yaps_eight.txt")),
    (Format::Aequitas, include_str!("../../tests/import_samples/aequitas.csv")),
    (Format::Coflow, include_str!("../../tests/import_samples/coflow.txt")),
    (Format::Nfdump, include_str!("../../tests/import_samples/nfdump_old.csv")),
    (Format::Zeek, include_str!("../../tests/import_samples/zeek_conn.log")),
    (Format::Vpc, include_str!("../../tests/import_samples/vpc_default.txt")),
    (Format::Vpc, include_str!("../../tests/import_samples/vpc_header.txt")),
    (Format::Sflow, include_str!("../../tests/import_samples/sflow.csv")),
    (Format::Tshark, include_str!("../../tests/import_samples/tshark.csv")),
];

fn imported(format: Format, text: &str, options: &Options) -> import::ImportedFlows {
    let source = Source { file: "x", format: Some(format), network: None };
    import::read(text.as_bytes(), source, options).unwrap_or_else(|error| panic!("{format:?}: {error}")).0
}

#[test]
fn empty_lines_and_ends_of_lines_of_other_systems_change_nothing() {
    for (format, text) in SAMPLES {
        let plain = imported(format, text, &Options::default());
        let with = |end: &str| {
            let lines: String = text.lines().map(|line| format!("{line}{end}")).collect();
            imported(format, &lines, &Options::default())
        };
        assert_eq!(with("\n\n"), plain, "{format:?}");
        assert_eq!(with("\r\n"), plain, "{format:?}");
    }
}

#[test]
fn only_formats_that_have_classes_and_coflows_give_them() {
    for (format, text) in SAMPLES {
        let rows = imported(format, text, &Options::default()).rows;
        let (classes, coflows) =
            (rows.iter().any(|row| row.flow.class > 0), rows.iter().any(|row| row.flow.coflow.is_some()));
        assert_eq!((classes, coflows), (format == Format::Aequitas, format == Format::Coflow), "{format:?}");
        assert!(rows.iter().all(|row| row.flow.deadline.is_none() && row.path.is_none()), "{format:?}");
        assert!(rows.windows(2).all(|two| two[0].flow.start <= two[1].flow.start), "{format:?}");
    }
}

#[test]
fn hosts_are_folded_only_where_there_are_fewer_than_names() {
    for (format, text) in SAMPLES.into_iter().filter(|(format, _)| *format != Format::Htsim) {
        let plain = imported(format, text, &Options::default());
        if plain.hosts <= 2 {
            continue;
        }
        assert_eq!(plain.fold, None, "{format:?}");
        let of = |hosts: u32| imported(format, text, &Options { hosts: Some(hosts), ..Options::default() });
        assert_eq!((of(plain.hosts).fold, of(plain.hosts).rows), (None, plain.rows.clone()), "{format:?}");
        assert_eq!((of(plain.hosts + 1).fold, of(plain.hosts + 1).hosts), (None, plain.hosts + 1));
        let fewer = of(plain.hosts - 1);
        let fold = fewer.fold.unwrap();
        assert_eq!((fold.from, fold.to), (u64::from(plain.hosts), plain.hosts - 1), "{format:?}");
        assert!((fold.factor * f64::from(fold.to) - fold.from as f64).abs() < 1e-9);
        // Nothing but flows between hosts that became one is lost.
        let lost: u64 = fewer.dropped.iter().map(|dropped| dropped.count).sum::<u64>()
            - plain.dropped.iter().map(|dropped| dropped.count).sum::<u64>();
        assert_eq!(fewer.rows.len() as u64 + lost, plain.rows.len() as u64, "{format:?}");
    }
}

#[test]
fn a_file_without_rows_is_refused_with_what_it_begins_with() {
    let refused = |format, text: &str| {
        let source = Source { file: "x", format: Some(format), network: None };
        import::read(text.as_bytes(), source, &Options::default()).unwrap_err().to_string()
    };
    assert_eq!(refused(Format::Hpcc, ""), "x: the file is empty. Begin with the number of flows.");
    for format in Format::ALL {
        for text in ["", "\n\n"] {
            let message = refused(format, text);
            assert!(message.starts_with("x: ") && !message.contains('\n'), "{format:?}: {message}");
        }
    }
}

#[test]
fn a_log_may_have_the_addresses_of_packets_alone() {
    let log = "start end srcport dstport protocol packets bytes pkt-srcaddr pkt-dstaddr\n\
               100 101 1 2 17 2 200 10.0.0.1 10.0.0.2\n100 101 1 2 17 2 200 10.0.0.1\n";
    let found = imported(Format::Vpc, log, &Options::default());
    // UDP: 200 - 2 (20 + 8); a row that lacks a cell is incomplete.
    assert_eq!(found.rows.iter().map(|row| row.flow.size).collect::<Vec<_>>(), [Some(144)]);
    let dropped: Vec<(&str, u64)> = found.dropped.iter().map(|drop| (drop.reason, drop.count)).collect();
    assert_eq!(dropped, [("the row is incomplete", 1)]);
}

#[test]
fn what_a_report_notes_is_noted_where_it_holds_and_nowhere_else() {
    let notes = |format, text: &str| imported(format, text, &Options::default()).notes;
    let counted = include_str!("../../tests/import_samples/nfdump_old.csv");
    let headers = "some records have no packet count, so bytes include headers";
    assert!(!notes(Format::Nfdump, counted).iter().any(|note| note == headers));
    let uncounted = counted.replace("ipkt", "xpkt");
    assert_ne!(uncounted, counted);
    assert!(notes(Format::Nfdump, &uncounted).iter().any(|note| note == headers));
    let sampled = imported(Format::Nfdump, counted, &Options { sampling: Some(2), ..Options::default() });
    let note = "bytes are multiplied by 2: sampling misses many small flows";
    assert!(sampled.notes.iter().any(|own| own == note), "{:?}", sampled.notes);
    let eight = notes(Format::Yaps, include_str!("../../tests/import_samples/yaps_eight.txt"));
    assert_eq!(eight, ["sizes are read as packets of 1460 bytes"]);
    assert_eq!(notes(Format::Yaps, include_str!("../../tests/import_samples/yaps_five.txt")), [""; 0]);
}

#[test]
fn numbers_alone_are_guessed_by_how_many_and_whether_they_are_whole() {
    let guess = |text: &str| {
        let source = Source { file: "x", format: None, network: None };
        import::read(text.as_bytes(), source, &Options::default()).map(|(_, guess)| guess.format)
    };
    assert_eq!(guess("1\n0 1 3 100 5 2\n").ok(), Some(Format::Hpcc));
    assert_eq!(guess("2 1\n1 0 1 1 1 2:1\n").ok(), Some(Format::Coflow));
    let topology = guess("3 1 2\n").unwrap_err().to_string();
    assert!(topology.contains("topology of an ns-3"), "{topology}");
    for fraction in ["1.5\n0 1 3 100 5 2\n", "2 1.5\n1 0 1 1 1 2:1\n", "3 1 2.5\n", "3.5 1 2\n"] {
        let error = guess(fraction).unwrap_err().to_string();
        assert!(error.contains("no known format"), "{fraction:?}: {error}");
    }
}

#[test]
fn an_app_is_a_closed_loop_exactly_if_flows_wait_for_others() {
    let network = Network::of(8);
    let site = WorkloadContext { until: Until::Time(Time(Span::from_ms(4).0)), ..network.site() };
    let starts = Starts::within(Span::ZERO);
    let apps = [
        App::Ring(Ring { reduced: 800, compute: Span::from_us(500), iterations: Some(2), starts }),
        App::Permutation(Permutation { size: Some(1_000), starts }),
        App::Incast(Incast {
            epochs: Epochs::Every,
            period: Some(Span::from_ms(1)),
            load: None,
            fan_in: 3,
            size: 1_000,
            receiver: None,
            starts,
        }),
    ];
    for app in apps {
        let traffic = crate::traffic(&app, &site).unwrap();
        assert!(!traffic.flows.is_empty());
        assert_eq!(app.part().is_closed_loop(), !traffic.waits.is_empty(), "{app:?}");
    }
}

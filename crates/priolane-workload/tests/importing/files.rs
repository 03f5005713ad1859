//! Files that an import leaves, and those that it replaces.

use std::path::Path;

use priolane_core::sizes::Interpolation;
use priolane_sim::topology::file;
use priolane_workload::flow_list;
use priolane_workload::import::{self, Failure, Options, Report, Request, SizeTable};
use priolane_workload::size_csv;

use crate::support::{TOPOLOGY, flows, good, read, written};

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
        sample!("zeek.json"),
        sample!("goflow2.json"),
        sample!("vpc.json"),
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

/// Checks that the rows that are listed, merged and dropped are the rows that were read, where a row is one flow.
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
    for (flag, value) in
        [("start", "soon"), ("spread", "1"), ("gap", "99999999s"), ("from", "noon"), ("until", "x")]
    {
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

/// Numbers of processes end below 2^22.
const ENDED: u32 = 1 << 30;

#[test]
fn an_import_that_was_killed_while_it_renamed_its_files_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let outputs = ["out.csv", "out.hosts.csv", "sizes.csv", "out.report.json"];
    let content = || outputs.map(|name| std::fs::read(place(name)).unwrap());
    let of = |name: &str, text: &str| {
        let mut request = request(folder.path(), name, text);
        request.sizes = Some(place("sizes.csv"));
        request
    };
    let (first, second) =
        (of("hpcc.txt", sample!("hpcc_flow.txt")), of("yaps.txt", sample!("yaps_nine.txt")));
    import::import_files(&first).unwrap();
    let before = content();
    import::import_files(&second).unwrap();
    let after = content();
    // How many files have their names when it is killed. The first import has left files, or there was none.
    for (renamed, is_first) in (0..outputs.len()).flat_map(|renamed| [(renamed, false), (renamed, true)]) {
        for (nth, name) in outputs.into_iter().enumerate() {
            let _ = std::fs::remove_file(place(name));
            if nth >= renamed {
                std::fs::write(place(&format!(".{name}.{ENDED}.part")), &after[nth]).unwrap();
            }
            if nth < renamed || !is_first {
                std::fs::write(place(name), if nth < renamed { &after[nth] } else { &before[nth] }).unwrap();
            }
        }
        import::import_files(&second).unwrap();
        assert_eq!(content(), after);
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, outputs.len() + 2, "the outputs and both inputs, and no temporary file");
    }
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

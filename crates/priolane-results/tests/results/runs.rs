use std::fs;

use arrow_array::RecordBatch;
use priolane_core::endpoint::ThresholdSet;
use priolane_core::ids::LinkId;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{Outcome, ThresholdChange};

use priolane_results::cell::{Cell, View};
use priolane_results::column::Row;
use priolane_results::compare::{RunComparison, compare};
use priolane_results::draft::{Draft, PublishOutcome};
use priolane_results::flows::FlowRow;
use priolane_results::ports::PortRow;
use priolane_results::record::RunRecord;
use priolane_results::rows::{Rows, Table};
use priolane_results::store::{RunId, Store};
use priolane_results::summary::Summary;
use priolane_results::{digest, record, tables};
use priolane_testkit::made_up::MadeUp;

const ID: &str = "00000000000000aa";

fn digest_of(fixture: &MadeUp) -> String {
    digest::of_rows(&Rows::new(fixture.source(), &fixture.outcome))
}

/// A summary that changes with completion times.
fn summary_of(fixture: &MadeUp) -> Summary {
    let fcts: Vec<f64> = fixture.outcome.flows.iter().filter_map(|f| Some(f.fct?.as_secs_f64())).collect();
    let mean_fct_s = (!fcts.is_empty()).then(|| fcts.iter().sum::<f64>() / fcts.len() as f64);
    Summary { flows: fcts.len() as u64, mean_fct_s, ..Summary::default() }
}

pub(crate) fn record_of(fixture: &MadeUp) -> RunRecord {
    RunRecord {
        run: ID.into(),
        version: "0".into(),
        title: "T".into(),
        scheme: "s".into(),
        point: Default::default(),
        seed: 1,
        merged: serde_json::Value::Null,
        digest: digest_of(fixture),
        stopped_at_ps: 0,
        counters: record::Counters::of(&fixture.scenario, &fixture.outcome),
        load: Default::default(),
        findings: Vec::new(),
        warnings: Vec::new(),
        admission: None,
        priorities: record::priorities(&fixture.outcome),
        ledger: record::ledger(&fixture.outcome.ledger),
        rates: None,
        order: None,
        coflows: Default::default(),
        jobs: Default::default(),
        effective: None,
        ports: Default::default(),
        storms: Vec::new(),
        received: Default::default(),
        tokens: None,
        measured: None,
        steady: Default::default(),
        summary: [("all".to_owned(), summary_of(fixture))].into(),
        files: Vec::new(),
    }
}

fn store(dir: &std::path::Path, fixture: &MadeUp) -> PublishOutcome {
    let store = Store::open(dir).unwrap();
    let mut draft = Draft::begin(&store, &RunId::new(ID).unwrap()).unwrap();
    for table in Table::ALL {
        draft.write(table, &Rows::new(fixture.source(), &fixture.outcome)).unwrap();
    }
    draft.publish(&mut record_of(fixture)).unwrap()
}

fn accepted(dir: &std::path::Path) -> bool {
    Store::at(dir).accept(&RunId::new(ID).unwrap()).is_some()
}

fn threshold_changes() -> Vec<ThresholdChange> {
    vec![ThresholdChange { at: Time(7), of: ThresholdSet::Class, bytes: vec![10, 2_000] }]
}

#[test]
fn what_the_controller_tells_follows_the_samples() {
    let mut fixture = MadeUp::with_flows(1);
    fixture.outcome.thresholds = threshold_changes();
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    let sampled = 3 * fixture.outcome.samples.ports.len();
    assert_eq!(rows.len(Table::Series), sampled + 2);
    let batch = rows.batch(Table::Series, sampled + 1..sampled + 2);
    let cell = |column: usize| View::of(batch.column(column)).unwrap().cell(0).to_string();
    assert_eq!([0, 1, 2, 3].map(cell), ["7", "controller", "class_threshold_2", "2000"]);
    // A batch may begin among samples and end among thresholds.
    assert_eq!(rows.batch(Table::Series, sampled - 1..sampled + 2).num_rows(), 3);
}

#[test]
fn a_sample_gives_a_row_for_each_metric() {
    let fixture = MadeUp::with_flows(1).with_series(3);
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    // Three metrics of each of 3 samples, two thresholds of each of 3 changes.
    assert_eq!(rows.len(Table::Series), 3 * 3 + 2 * 3);
    // The last metric of the second sample: two packets of 1538 B were sent.
    let batch = rows.batch(Table::Series, 5..6);
    let cell = |column: usize| View::of(batch.column(column)).unwrap().cell(0).to_string();
    assert_eq!([0, 2, 3].map(cell), ["2000", "sent_bytes", "3076"]);
}

#[test]
fn digest_changes_with_any_row() {
    let base = digest_of(&MadeUp::with_flows(4));
    let changes: [fn(&mut MadeUp); 14] = [
        |f| f.outcome.thresholds = threshold_changes(),
        |f| f.outcome.flows.edit(3, |flow| flow.fct = Some(Span(1))),
        |f| f.outcome.flows.edit(0, |flow| flow.fct_acked = None),
        |f| f.outcome.flows.edit(1, |flow| flow.class.last = 9),
        |f| f.outcome.flows.edit(2, |flow| flow.timeouts = 1),
        |f| f.scenario.flows.edit(0, |flow| flow.deadline = Some(Time(5))),
        |f| f.scenario.flows.edit(3, |flow| flow.size = None),
        |f| f.groups[0] = "other".into(),
        |f| f.measured[2] = false,
        |f| f.bare_fct[1] = Span(999),
        |f| f.outcome.ports[0].waited += 1,
        |f| f.outcome.samples.ports[0].queued_packets += 1,
        |f| f.outcome.samples.ports[0].sent_bytes += 1,
        |f| f.outcome.samples.ports.clear(),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut fixture = MadeUp::with_flows(4);
        change(&mut fixture);
        assert_ne!(digest_of(&fixture), base, "change {i}");
    }
}

#[test]
fn digest_does_not_change_with_the_engine() {
    let base = digest_of(&MadeUp::with_flows(4));
    let mut fixture = MadeUp::with_flows(4);
    fixture.outcome.work.events = 1_000_000;
    assert_eq!(digest_of(&fixture), base);
}

#[test]
fn digest_does_not_depend_on_the_order_of_records() {
    let mut fixture = MadeUp::with_flows(2);
    let mut port = fixture.outcome.ports[0];
    port.link = LinkId(3);
    fixture.outcome.ports.push(port);
    let base = digest_of(&fixture);
    fixture.outcome.ports.reverse();
    assert_ne!(digest_of(&fixture), base);
    priolane_results::rows::canonical(&mut fixture.outcome);
    assert_eq!(digest_of(&fixture), base);
}

#[test]
fn tables_read_back_give_the_same_digest() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = MadeUp::with_flows(100_000);
    store(dir.path(), &fixture);
    let mut digest = digest::Digest::default();
    for table in Table::ALL {
        digest.begin(table);
        for batch in tables::read(&dir.path().join(ID), table).unwrap() {
            digest.add(&batch.unwrap());
        }
    }
    assert_eq!(digest.finish(), digest_of(&fixture));
}

#[test]
fn rows_read_back_by_name_are_those_written() {
    let mut fixture = MadeUp::with_flows(3);
    fixture.outcome.flows.edit(1, |flow| flow.fct = None);
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    let batch = rows.batch(Table::Flows, 0..3);
    // The order of columns does not matter, nor do others.
    let backwards: Vec<usize> = (0..batch.num_columns()).rev().collect();
    let stored = batch.project(&backwards).unwrap();
    let read = FlowRow::read(&stored).unwrap();
    assert_eq!(read.iter().map(|row| row.flow).collect::<Vec<_>>(), [0, 1, 2]);
    // 2000 + 37 * 2 ps of flow 2.
    assert_eq!([0, 1, 2].map(|row: usize| read[row].fct_ps), [Some(2_000), None, Some(2_074)]);
    assert_eq!((read[0].group, read[2].cos, read[2].class_last), (Some("all"), "BE", 2));
    let arrays = FlowRow::arrays(&read);
    assert_eq!(RecordBatch::try_new(Table::Flows.schema(), arrays).unwrap(), batch);
}

#[test]
fn rows_of_other_columns_are_not_read() {
    let fixture = MadeUp::with_flows(1);
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    let batch = rows.batch(Table::Ports, 0..1);
    let kind = |read: std::io::Result<usize>| read.unwrap_err().kind();
    let found = FlowRow::read(&batch).map(|rows| rows.len());
    assert_eq!(kind(found), std::io::ErrorKind::InvalidData);
    // Columns are missing.
    let shorter = batch.project(&[0, 1, 2]).unwrap();
    assert_eq!(kind(PortRow::read(&shorter).map(|rows| rows.len())), std::io::ErrorKind::InvalidData);
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for dir in &dirs {
        store(dir.path(), &MadeUp::with_flows(50));
    }
    for name in ["run.json", "flows.parquet", "ports.parquet", "series.parquet"] {
        let [a, b] = dirs.each_ref().map(|dir| fs::read(dir.path().join(ID).join(name)).unwrap());
        assert!(a == b, "{name}");
    }
}

#[test]
fn columns_state_unit_and_meaning() {
    for table in Table::ALL {
        for field in table.schema().fields() {
            assert!(!field.metadata()["meaning"].is_empty() && field.metadata().contains_key("unit"));
        }
    }
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), &MadeUp::with_flows(1));
    let mut batches = tables::read(&dir.path().join(ID), Table::Flows).unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert_eq!(batch.schema().field_with_name("fct_ps").unwrap().metadata()["unit"], "ps");
}

#[test]
fn ports_are_named_by_their_link_and_waits_are_means() {
    let fixture = MadeUp::with_flows(1);
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    let batch = rows.batch(Table::Ports, 0..1);
    let views = View::all(&batch).unwrap();
    assert_eq!(views[0].cell(0), Cell::Text("h1->s0"));
    // 10 ps over 3 packets.
    assert_eq!(views[10].cell(0), Cell::Real(10.0 / 3.0));
}

#[test]
fn parallel_links_have_names_of_their_own() {
    let mut fixture = MadeUp::with_flows(1);
    fixture.scenario.topology.links[3] = fixture.scenario.topology.links[2];
    let names = priolane_results::ports::port_names(&fixture.scenario.topology);
    assert_eq!(names[2..], ["h1->s0", "h1->s0#2"]);
}

#[test]
fn priorities_count_inversions_by_class_and_queue() {
    let mut outcome: Outcome = MadeUp::with_flows(2).outcome;
    outcome.ports[0].inversions = 1;
    let mut other = outcome.ports[0];
    (other.link, other.packets, other.inversions) = (LinkId(3), 1, 1);
    outcome.ports.push(other);
    let rows = record::priorities(&outcome);
    assert_eq!(rows.len(), 1);
    // 1 + 1 of 3 + 1 packets, and both flows asked for class 1.
    assert_eq!((rows[0].flows, rows[0].inversions, rows[0].packets, rows[0].share), (2, 2, 4, 0.5));
}

#[test]
fn damaged_runs_are_not_accepted_and_are_kept_aside() {
    let damages: [fn(&std::path::Path); 9] = [
        |run| fs::remove_file(run.join("run.json")).unwrap(),
        |run| truncate(&run.join("run.json")),
        |run| truncate(&run.join("flows.parquet")),
        |run| fs::remove_file(run.join("ports.parquet")).unwrap(),
        |run| fs::write(run.join("notes.txt"), "mine").unwrap(),
        |run| flip_a_byte(&run.join("series.parquet")),
        |run| replace(&run.join("run.json"), "00000000000000aa", "00000000000000bb"),
        |run| replace(&run.join("run.json"), "flows.parquet", "other.parquet"),
        |run| replace(&run.join("run.json"), "\"stopped_at_ps\": 0", "\"stopped_at_ps\": 1"),
    ];
    for (i, damage) in damages.into_iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        store(dir.path(), &MadeUp::with_flows(10));
        assert!(accepted(dir.path()));
        damage(&dir.path().join(ID));
        assert!(!accepted(dir.path()), "damage {i}");
        assert_eq!(store(dir.path(), &MadeUp::with_flows(10)), PublishOutcome::New, "damage {i}");
        assert!(accepted(dir.path()), "damage {i}");
        let names = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.filter(|n| n.starts_with(".aside-00000000000000aa-")).count(), 1, "damage {i}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_locks_place_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let root = dir.path().join("out");
    fs::create_dir(&root).unwrap();
    std::os::unix::fs::symlink(&victim, root.join(".lock")).unwrap();
    let message = Store::open(&root).unwrap_err().to_string();
    assert!(message.starts_with("cannot open ") && !message.contains('\n'), "{message}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn a_run_is_verified_only_as_it_was_stored_then() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), &MadeUp::with_flows(10));
    let (runs, id) = (Store::at(dir.path()), RunId::new(ID).unwrap());
    assert!(!runs.is_verified(&id));
    runs.mark_verified(&id).unwrap();
    assert!(runs.is_verified(&id));
    let path = dir.path().join(ID).join("run.json");
    let mut changed = runs.accept(&id).unwrap();
    changed.counters.marks += 1;
    fs::write(&path, changed.to_text().unwrap()).unwrap();
    assert!(runs.accept(&id).is_some() && !runs.is_verified(&id));
}

fn truncate(path: &std::path::Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

fn flip_a_byte(path: &std::path::Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

fn replace(path: &std::path::Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_file_in_a_runs_place_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(ID), "somebody's").unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut draft = Draft::begin(&store, &RunId::new(ID).unwrap()).unwrap();
    let fixture = MadeUp::with_flows(1);
    for table in Table::ALL {
        draft.write(table, &Rows::new(fixture.source(), &fixture.outcome)).unwrap();
    }
    let error = draft.publish(&mut record_of(&fixture)).unwrap_err();
    assert!(error.to_string().contains("not a directory"), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join(ID)).unwrap(), "somebody's");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2); // that file and the lock
}

#[test]
fn the_second_of_two_writers_finds_the_run_there() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = MadeUp::with_flows(3);
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    let store = Store::open(dir.path()).unwrap();
    let mut drafts = [0, 1].map(|_| Draft::begin(&store, &RunId::new(ID).unwrap()).unwrap());
    for draft in &mut drafts {
        Table::ALL.iter().for_each(|&table| draft.write(table, &rows).unwrap());
    }
    // A store opened meanwhile must not take living writers' temporaries away.
    Store::open(dir.path()).unwrap();
    let published = drafts.map(|draft| draft.publish(&mut record_of(&fixture)).unwrap());
    assert_eq!(published, [PublishOutcome::New, PublishOutcome::AlreadyThere]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2); // the run and the lock
}

#[test]
fn only_temporaries_of_our_naming_and_of_nobody_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    for name in [".tmp-00000000000000aa-1-0", ".tmp-mine", ".tmp-00000000000000aa-1-x", "work"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    Store::open(dir.path()).unwrap();
    let mut names: Vec<String> =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, [".lock", ".tmp-00000000000000aa-1-x", ".tmp-mine", "work"]);
}

#[test]
fn a_run_under_the_name_of_another_one_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), &MadeUp::with_flows(3));
    let other = "00000000000000bb";
    fs::create_dir(dir.path().join(other)).unwrap();
    for entry in fs::read_dir(dir.path().join(ID)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.path().join(other).join(path.file_name().unwrap())).unwrap();
    }
    assert!(accepted(dir.path()));
    assert!(Store::at(dir.path()).accept(&RunId::new(other).unwrap()).is_none());
}

#[test]
fn run_ids_have_one_form() {
    assert!(RunId::new("0123456789abcdef").is_some());
    for other in ["0123456789ABCDEF", "0123456789abcde", "0123456789abcdefg", "../0123456789abc", ""] {
        assert!(RunId::new(other).is_none(), "{other}");
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_one_message() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let message = Store::open(&file.join("runs")).unwrap_err().to_string();
    assert!(
        message.starts_with("cannot create ") && message.ends_with("; fix this and run the command again"),
        "{message}"
    );
    assert!(!message.contains('\n'));
}

#[test]
fn comparison_names_the_first_difference() {
    let base = MadeUp::with_flows(5);
    let outcome_of = |change: fn(&mut MadeUp)| {
        let [a, b] = [0, 1].map(|_| tempfile::tempdir().unwrap());
        let mut changed = base.clone();
        change(&mut changed);
        store(a.path(), &base);
        store(b.path(), &changed);
        let comparison = compare(a.path(), b.path()).unwrap();
        assert!(comparison.only_a.is_empty() && comparison.only_b.is_empty());
        comparison.common[0].outcome.clone()
    };
    assert_eq!(outcome_of(|_| ()), RunComparison::Equal);
    // No table has the run's end: only the record differs.
    let [a, b] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    store(a.path(), &base);
    store(b.path(), &base);
    let mut other = Store::at(b.path()).accept(&RunId::new(ID).unwrap()).unwrap();
    other.stopped_at_ps = 1;
    fs::write(b.path().join(ID).join("run.json"), other.to_text().unwrap()).unwrap();
    let found = compare(a.path(), b.path()).unwrap().common.remove(0).outcome;
    assert!(matches!(&found, RunComparison::Metric { name, .. } if name == "stopped_at_ps"), "{found:?}");
    let metric = outcome_of(|f| f.outcome.flows.edit(1, |flow| flow.fct = Some(Span(5_000))));
    assert!(
        matches!(&metric, RunComparison::Metric { name, .. } if name.starts_with("summary.all.")),
        "{metric:?}"
    );
    let counter = outcome_of(|f| f.outcome.flows.edit(1, |flow| flow.retransmits = 40));
    assert!(
        matches!(&counter, RunComparison::Metric { name, .. } if name == "counters.retransmits"),
        "{counter:?}"
    );
    let row = outcome_of(|f| f.outcome.flows.edit(4, |flow| flow.class.last = 7));
    assert!(matches!(&row, RunComparison::Row(d) if d.row == 4 && d.column == "class_last"), "{row:?}");
}

#[test]
fn comparison_lists_runs_of_one_side() {
    let [a, b] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    store(a.path(), &MadeUp::with_flows(1));
    let comparison = compare(a.path(), b.path()).unwrap();
    assert_eq!((comparison.common.len(), comparison.only_a.len(), comparison.only_b.len()), (0, 1, 0));
}

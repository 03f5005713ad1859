use priolane_core::units::Span;

use super::*;
use crate::plan::Load;
use priolane_testkit::made_up::MadeUp;

use crate::plan::tests::made_up;

#[derive(PartialEq)]
enum Engines {
    One,
    Both,
}

struct Bench {
    dir: tempfile::TempDir,
    run: Run,
    fixture: MadeUp,
}

impl Bench {
    fn new() -> Self {
        let run = Run { id: "0123456789abcdef".to_owned(), ..made_up().runs.remove(0) };
        Self { dir: tempfile::tempdir().unwrap(), run, fixture: MadeUp::with_flows(3) }
    }

    fn perform(&self, engines: Engines, simulate: &mut Simulate) -> Result<FinishedRun, Failure> {
        let MadeUp { scenario, groups, measured, bare_fct, .. } = self.fixture.clone();
        let built = ResolvedRun {
            scenario: scenario.build().unwrap(),
            groups,
            measured,
            bare_fct,
            with_handshake: None,
            under_way: Vec::new(),
            arrivals_continue: false,
            window: crate::plan::MeasuredFlows::All,
            load: Load::default(),
            warnings: Vec::new(),
            pricing: None,
            zero_loss: None,
            observed_port: None,
            deadlines: Vec::new(),
        };
        let store = Store::open(self.dir.path()).unwrap();
        let id = RunId::new(&self.run.id).unwrap();
        let stored = store.accept(&id);
        let job = Job { run: &self.run, built: &built, store: &store, id: &id };
        let settings = Settings { verify: engines == Engines::Both, ..Settings::default() };
        job.perform(&settings, stored, simulate, &mut |_| ControlFlow::Continue(()))
    }

    /// Returns the entries of the directory other than the lock.
    fn left(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.dir.path()).unwrap().map(|e| e.unwrap().file_name());
        let mut names: Vec<String> =
            names.map(|n| n.into_string().unwrap()).filter(|n| n != ".lock").collect();
        names.sort();
        names
    }
}

fn violation(result: Result<FinishedRun, Failure>) -> (String, String) {
    match result {
        Err(Failure::Violation { what, place, .. }) => (what, place),
        other => panic!("no violation: {other:?}"),
    }
}

#[test]
fn a_run_leaves_its_tables_and_nothing_else() {
    let bench = Bench::new();
    let outcome = bench.fixture.outcome.clone();
    let done = bench.perform(Engines::One, &mut |_, _, _| Ok(outcome.clone())).unwrap();
    assert!(matches!(&done, FinishedRun::Simulated(record) if record.summary["all"].flows == 3));
    assert_eq!(bench.left(), ["0123456789abcdef"]);
    assert_eq!(load(&bench).as_ref(), Some(done.record()));
}

fn load(bench: &Bench) -> Option<RunRecord> {
    crate::verdict::load_summary(bench.dir.path(), &bench.run)
}

#[test]
fn run_json_has_neither_events_nor_engine() {
    let bench = Bench::new();
    let mut texts = Vec::new();
    for (events, dir) in [(1, Bench::new()), (99, Bench::new())] {
        let mut outcome = bench.fixture.outcome.clone();
        outcome.work.events = events;
        dir.perform(Engines::One, &mut |_, _, _| Ok(outcome.clone())).unwrap();
        texts.push(std::fs::read(dir.dir.path().join("0123456789abcdef/run.json")).unwrap());
    }
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn packets_that_vanish_fail_the_run() {
    let bench = Bench::new();
    let mut outcome = bench.fixture.outcome.clone();
    outcome.ledger.delivered[1].bytes -= 1;
    let (what, place) = violation(bench.perform(Engines::One, &mut |_, _, _| Ok(outcome.clone())));
    assert!(what.contains("not conserved"), "{what}");
    assert_eq!(place, "class 1");
    assert!(bench.left().is_empty());
}

#[test]
fn a_flow_faster_than_alone_fails_the_run() {
    let mut bench = Bench::new();
    bench.fixture.bare_fct[1] = Span(1_000_000);
    let outcome = bench.fixture.outcome.clone();
    let (what, place) = violation(bench.perform(Engines::One, &mut |_, _, _| Ok(outcome.clone())));
    assert!(what.contains("faster than alone"), "{what}");
    assert_eq!(place, "flow 1 from host 0 to host 1");
}

#[test]
fn verify_names_the_first_cell_in_which_engines_differ() {
    let bench = Bench::new();
    let good = bench.fixture.outcome.clone();
    let mut bad = good.clone();
    bad.flows.edit(2, |flow| flow.fct = Some(Span(9_999)));
    bad.flows.edit(2, |flow| flow.fct_acked = None);
    let result = bench.perform(Engines::Both, &mut |_, engine, _| {
        Ok(if engine == Engine::Wheel { bad.clone() } else { good.clone() })
    });
    let Err(Failure::Engines(difference)) = result else { panic!("{result:?}") };
    assert_eq!((difference.table, difference.row, difference.column.as_str()), ("flows", 2, "fct_ps"));
    // 2000 + 2 * 37 ps.
    assert_eq!((difference.a.as_str(), difference.b.as_str()), ("2074", "9999"));
    assert!(bench.left().is_empty());
}

#[test]
fn verify_compares_what_is_in_no_table() {
    let bench = Bench::new();
    let good = bench.fixture.outcome.clone();
    let result = bench.perform(Engines::Both, &mut |_, engine, _| {
        let mut outcome = good.clone();
        outcome.work.packet_hops += u64::from(engine == Engine::Wheel);
        outcome.work.events += u64::from(engine == Engine::Wheel);
        Ok(outcome)
    });
    assert!(matches!(result, Err(Failure::Engines(d)) if d.column == "packet_hops"));
}

#[test]
fn verify_marks_a_run_and_detects_a_changed_one() {
    let bench = Bench::new();
    let good = bench.fixture.outcome.clone();
    bench.perform(Engines::One, &mut |_, _, _| Ok(good.clone())).unwrap();
    let mut changed = good.clone();
    changed.flows.edit(0, |flow| flow.retransmits = 7);
    let result = bench.perform(Engines::Both, &mut |_, _, _| Ok(changed.clone()));
    assert!(matches!(result, Err(Failure::Changed { .. })), "{result:?}");
    let mut engines = Vec::new();
    let again = bench.perform(Engines::Both, &mut |_, engine, _| {
        engines.push(engine);
        Ok(good.clone())
    });
    assert!(matches!(again, Ok(FinishedRun::AlreadyThere(_))));
    assert_eq!(engines, [Engine::Window, Engine::Wheel]);
    assert_eq!(bench.left(), ["0123456789abcdef", "0123456789abcdef.verified"]);
}

#[test]
fn verify_compares_the_whole_record() {
    let bench = Bench::new();
    let good = bench.fixture.outcome.clone();
    bench.perform(Engines::One, &mut |_, _, _| Ok(good.clone())).unwrap();
    let path = bench.dir.path().join("0123456789abcdef/run.json");
    let mut stored = load(&bench).unwrap();
    let mean = stored.summary.get_mut("all").unwrap();
    mean.mean_fct_s = mean.mean_fct_s.map(|s| 3.0 * s);
    std::fs::write(&path, stored.to_text().unwrap()).unwrap();
    let result = bench.perform(Engines::Both, &mut |_, _, _| Ok(good.clone()));
    let Err(Failure::Changed { key, .. }) = &result else { panic!("{result:?}") };
    assert_eq!(key, "summary.all.mean_fct_s");
    assert_eq!(bench.left(), ["0123456789abcdef"], "nothing is marked as verified");
}

#[test]
fn a_record_with_a_changed_digit_is_not_taken_for_the_run() {
    let bench = Bench::new();
    let good = bench.fixture.outcome.clone();
    let first = bench.perform(Engines::One, &mut |_, _, _| Ok(good.clone())).unwrap();
    let path = bench.dir.path().join("0123456789abcdef/run.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.find("\"mean_fct_s\": ").unwrap() + "\"mean_fct_s\": ".len();
    let digit = if &text[at..=at] == "9" { "8" } else { "9" };
    std::fs::write(&path, format!("{}{digit}{}", &text[..at], &text[at + 1..])).unwrap();
    assert_eq!(load(&bench), None);
    let again = bench.perform(Engines::One, &mut |_, _, _| Ok(good.clone())).unwrap();
    assert_eq!(again, FinishedRun::Simulated(first.record().clone()));
}

#[test]
fn interruption_leaves_nothing() {
    let bench = Bench::new();
    let result = bench.perform(Engines::One, &mut |_, _, _| Err(RunError::Interrupted));
    assert!(matches!(result, Err(Failure::Interrupted)));
    assert!(bench.left().is_empty());
}

#[test]
fn an_id_of_another_form_is_refused() {
    let mut bench = Bench::new();
    bench.run.id = "../../etc/passwd".into();
    let result =
        execute(&bench.run, bench.dir.path(), &Settings::default(), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(result, Err(Failure::RunId(_))));
}

#[test]
fn a_real_run_is_verified_stored_and_not_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let plan = made_up();
    let mut progress = |_| ControlFlow::Continue(());
    let settings = Settings { verify: true, ..Settings::default() };
    for run in &plan.runs[..4] {
        let first = execute(run, dir.path(), &settings, &mut progress).unwrap();
        assert!(
            matches!(&first, FinishedRun::Simulated(record) if record.counters.completed > 0),
            "{first:?}"
        );
        let again = execute(run, dir.path(), &settings, &mut progress).unwrap();
        assert_eq!(again, FinishedRun::AlreadyThere(first.record().clone()));
    }
    let [a, b, other_seed] =
        [0, 1, 2].map(|i| crate::verdict::load_summary(dir.path(), &plan.runs[i]).unwrap());
    assert_eq!((a.counters.flows, a.load), (b.counters.flows, b.load), "schemes see the same flows");
    assert!(a.digest != b.digest && a.digest != other_seed.digest);
}

#[test]
fn a_real_run_that_is_interrupted_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = &made_up().runs[0];
    let result = execute(run, dir.path(), &Settings::default(), &mut |_| ControlFlow::Break(()));
    assert!(matches!(result, Err(Failure::Interrupted)), "{result:?}");
    assert_eq!(Store::at(dir.path()).names().unwrap(), []);
}

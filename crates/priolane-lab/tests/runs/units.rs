//! Units of work: every run is complete in its unit, and the answer to it is what a run of this process leaves.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use priolane_lab::execute::{self, FinishedRun, Settings};
use priolane_lab::plan::{self, Options, Plan, Size};
use priolane_lab::unit::{self, RunUnit};
use priolane_results::answer::{AnswerError, RemoteRun};
use priolane_results::store::Store;

use crate::merged::experiments;

/// The texts of all files that runs read, as a worker has them.
fn texts(plan: &Plan) -> BTreeMap<String, Arc<str>> {
    let files = plan.runs.iter().flat_map(unit::files);
    files.map(|(_, digest, text)| (digest, text.clone())).collect()
}

#[test]
fn every_run_of_every_shipped_experiment_is_planned_again_from_its_unit() {
    let mut with_files = 0;
    for path in experiments() {
        let options = Options { size: Size::Quick, ..Options::default() };
        let plan = plan::plan(&path, &options).unwrap();
        let texts = texts(&plan);
        // One run of each scheme and point, or of every third.
        let one_seed = plan.runs.iter().filter(|run| run.seed == plan.runs[0].seed);
        for run in one_seed.step_by(priolane_rounds::stride(3)) {
            let sent = serde_json::to_string(&RunUnit::of(run)).unwrap();
            let unit: RunUnit = serde_json::from_str(&sent).unwrap();
            let again = unit.plan(&texts).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!((&again.id, &again.merged, again.seed), (&run.id, &run.merged, run.seed));
            if let Some(digest) = unit.files.values().next() {
                with_files += 1;
                let mut fewer = texts.clone();
                fewer.remove(digest);
                assert!(unit.plan(&fewer).unwrap_err().what.contains("was not supplied with the run"));
                fewer.insert(digest.clone(), format!("{}\n", texts[digest]).into());
                assert!(unit.plan(&fewer).is_err());
            }
        }
    }
    assert!(with_files > 0, "no experiment names a file");
}

/// Files of a directory of runs, by their path in it.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for run in fs::read_dir(root).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(run.path()).unwrap().flatten() {
            let name = format!("{:?}/{:?}", run.file_name(), file.file_name());
            found.insert(name, fs::read(file.path()).unwrap());
        }
    }
    found
}

#[test]
fn the_directory_made_of_answers_is_that_of_runs_here() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/recipes/first.toml");
    let sets = vec![("time.measure".to_owned(), "\"2ms\"".to_owned())];
    let plan = plan::plan(&path, &Options { sets, ..Options::default() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
    let store = Store::open(&there).unwrap();
    let settings = Settings { verify: true, ..Settings::default() };
    let go_on = &mut |_| ControlFlow::Continue(());
    for run in plan.runs.iter().take(2) {
        execute::execute(run, &here, &settings, go_on).unwrap();
        let answer = RunUnit::of(run).answer(&texts(&plan), &settings, go_on).unwrap();
        let answer = RemoteRun::decode(&answer.encode().unwrap()).unwrap();
        assert!(matches!(unit::accept(run, &store, answer.clone()).unwrap(), FinishedRun::Simulated(_)));
        assert!(matches!(unit::accept(run, &store, answer.clone()).unwrap(), FinishedRun::AlreadyThere(_)));
        // Another result of the same run is a defect somewhere: it does not take the place of the first.
        let mut other = answer;
        other.record.counters.packet_hops += 1;
        let refused = unit::accept(run, &store, other).unwrap_err().to_string();
        assert!(refused.contains("the stored `counters.packet_hops`"), "{refused}");
    }
    assert_eq!(files(&here), files(&there));
    assert_eq!(files(&here).len(), 8);
    let marks = |root: &Path| fs::read_dir(root).unwrap().flatten().filter(|e| e.path().is_file()).count();
    // The lock, and a note that both engines agreed on each run.
    assert_eq!((marks(&here), marks(&there)), (3, 3));
}

#[test]
fn an_answer_of_another_format_says_so() {
    let mut bytes = b"priolane answer\n".to_vec();
    bytes.extend([9; 60]);
    assert!(matches!(RemoteRun::decode(&bytes), Err(AnswerError::Format(9))));
    assert!(matches!(RemoteRun::decode(b"<html>"), Err(AnswerError::Foreign(6))));
}

//! Kept fingerprints of results: `RESULTS`, the version of results, is raised exactly when one of them changes.
//!
//! `tests/fingerprints/plans.csv` has a line per shipped experiment and size: the number of its runs, and hashes over their
//! merged texts and over their ids. `tests/fingerprints/runs.csv` has the digests of some 630 runs, each cut to a few simulated
//! milliseconds: at most twelve of an experiment, those of the first and the last sweep point before others.
//! `make test` simulates up to two of an experiment and each scheme, and plans the quick size; `make soak` does all.
//!
//! A change that is meant to change results raises `priolane_results::RESULTS`, adds a line to
//! docs/results-versions.md, and rewrites the files: `PRIOLANE_FINGERPRINTS=write cargo test -p priolane-lab --test runs fingerprints -- --include-ignored`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use priolane_lab::execute::{Settings, execute};
use priolane_lab::experiment::{Seeds, Timing};
use priolane_lab::plan::{self, Options, Plan, Run, Size};
use priolane_results::RESULTS;
use sha2::{Digest as _, Sha256};

/// The most runs of an experiment that are simulated: a new experiment takes the place of no other's.
const RUNS_EACH: usize = 12;

/// The most of them that `make test` simulates.
const SHORT_EACH: usize = 2;

/// Experiments whose runs take half a second to fifteen seconds each, most of the time of all. Each of their schemes is run
/// elsewhere too, or is run here.
const LONG: [&str; 6] = [
    "papers/prioplus/fig10",
    "papers/prioplus/fig10b",
    "papers/prioplus/fig11",
    "papers/prioplus/fig11_bands",
    "papers/prioplus/fig12",
    "papers/prioplus/fig14",
];

/// The files of the study that describe papers and figures and are no experiments.
const DESCRIPTIONS: [&str; 2] = ["paper.toml", "about.toml"];

/// The variable that makes the test rewrite the files.
const WRITE: &str = "PRIOLANE_FINGERPRINTS";

const WHAT_TO_DO: &str = "If results are meant to change, raise RESULTS in crates/priolane-results/src/lib.rs, say why in \
    docs/results-versions.md, and write the files with PRIOLANE_FINGERPRINTS=write (see the top of this file)";

const SIZES: [(Size, &str); 3] = [(Size::Quick, "quick"), (Size::Default, "default"), (Size::Full, "full")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fingerprints").join(name)
}

/// The shipped experiments by their path below `experiments` without the ending, and the figures by their folder in `study`.
fn experiments() -> BTreeMap<String, PathBuf> {
    fn list(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                list(&path, found);
            } else if path.extension().is_some_and(|end| end == "toml")
                && !DESCRIPTIONS.iter().any(|name| path.ends_with(name))
            {
                found.push(path);
            }
        }
    }
    let mut named = BTreeMap::new();
    for folder in [root().join("experiments"), root().join("study")] {
        let mut found = Vec::new();
        list(&folder, &mut found);
        named.extend(found.into_iter().map(|path| (name(path.strip_prefix(&folder).unwrap()), path)));
    }
    named
}

/// The name of an experiment: `papers/nos2/fig6` for `papers/nos2/fig6/figure.toml`.
fn name(path: &Path) -> String {
    let named = if path.ends_with("figure.toml") { path.parent().unwrap() } else { path };
    named.with_extension("").display().to_string()
}

fn hash(parts: impl Iterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The lines of `plans.csv` of these sizes.
fn plans(sizes: &[(Size, &str)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, path) in experiments() {
        for &(size, word) in sizes {
            let plan = plan::plan(&path, &Options { size, ..Options::default() }).unwrap();
            let merged = hash(plan.runs.iter().map(|run| run.merged.to_string()));
            let ids = hash(plan.runs.iter().map(|run| run.id.clone()));
            lines.push(format!("{name},{word},{},{merged},{ids}", plan.runs.len()));
        }
    }
    lines
}

/// The plan of an experiment with one seed, cut to a few milliseconds or a few flows.
fn cut(path: &Path) -> Plan {
    let set = |pairs: &[(&str, &str)]| Options {
        sets: pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        seeds: Some(Seeds::Count(1)),
        size: Size::Quick,
        ..Options::default()
    };
    let time = |text: &str| plan::plan(path, &set(&[("time", text)]));
    let whole = plan::plan(path, &set(&[])).unwrap();
    if matches!(whole.experiment.time, Timing::Count { .. }) {
        return time("{ flows = 100, limit = \"4ms\" }").unwrap_or(whole);
    }
    // Events and controls must lie within the run, and a warm start wants a warm-up.
    ["3ms", "10ms", "40ms", "120ms", "400ms"]
        .into_iter()
        .find_map(|long| time(&format!("{{ warmup = \"1us\", measure = \"{long}\", drain = false }}")).ok())
        .unwrap_or(whole)
}

/// The runs that are simulated, by their names: the most important of each experiment.
fn chosen() -> Vec<(String, Run)> {
    let of_experiment = |(name, path): (String, PathBuf)| {
        let runs = by_importance(cut(&path).runs).into_iter().rev().take(RUNS_EACH);
        runs.map(move |run| (name.clone(), run))
    };
    experiments().into_iter().flat_map(of_experiment).collect()
}

/// Runs with the first and then the last point of the sweep at the end, to be taken first.
fn by_importance(runs: Vec<Run>) -> Vec<Run> {
    let mut points: Vec<_> = Vec::new();
    for run in &runs {
        if !points.contains(&run.point) {
            points.push(run.point.clone());
        }
    }
    let last = points.len() - 1;
    let rank = |run: &Run| match points.iter().position(|point| *point == run.point) {
        Some(0) => 2,
        Some(place) if place == last => 1,
        _ => 0,
    };
    let mut runs = runs;
    runs.reverse();
    runs.sort_by_key(rank);
    runs
}

/// The first of the chosen runs of each experiment, but of long ones, and of each scheme that none of these has.
fn short() -> Vec<(String, Run)> {
    let mut short: Vec<(String, Run)> = Vec::new();
    let mut others = Vec::new();
    for (name, run) in chosen() {
        let of_experiment = short.iter().filter(|kept| kept.0 == name).count();
        let place = if of_experiment < SHORT_EACH && !LONG.contains(&name.as_str()) {
            &mut short
        } else {
            &mut others
        };
        place.push((name, run));
    }
    for (name, run) in others {
        if !short.iter().any(|kept| kept.1.scheme == run.scheme) {
            short.push((name, run));
        }
    }
    short
}

/// The lines of `runs.csv` for these runs.
fn digests(chosen: &[(String, Run)]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let lines = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, run)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let dir = tempfile::tempdir().unwrap();
                    let mut on = |_| ControlFlow::Continue(());
                    let done = execute(run, dir.path(), &Settings::default(), &mut on);
                    let digest = match &done {
                        Ok(done) => &done.record().digest[..16],
                        Err(error) => panic!("{name}, {}, {:?}: {error}", run.scheme, run.point),
                    };
                    let point = hash(run.point.iter().map(|(key, value)| format!("{key}={value}")));
                    let line = format!("{name},{},{},{digest}", run.scheme, &point[..8]);
                    lines.lock().unwrap().push(line);
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap();
    lines.sort();
    lines
}

/// Compares `found` with a kept file, or writes the file if that is asked for and allowed.
fn compare(name: &str, header: &str, found: &[String]) {
    let path = file(name);
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let mut text = format!("# results {RESULTS}\n{header}\n");
    for line in found {
        let _ = writeln!(text, "{line}");
    }
    if text == kept {
        return;
    }
    let same_version = kept.starts_with(&format!("# results {RESULTS}\n"));
    let kept: Vec<&str> = kept.lines().collect();
    let gone = kept.iter().skip(2).filter(|line| !found.iter().any(|f| f == *line));
    let gone: Vec<&&str> = gone.collect();
    if std::env::var_os(WRITE).is_some() && (gone.is_empty() || !same_version) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        return;
    }
    let new: Vec<&String> = found.iter().filter(|line| !kept.contains(&line.as_str())).collect();
    panic!(
        "{name}: {} lines are not as kept, such as {:?}; now {} others, such as {:?}. {WHAT_TO_DO}",
        gone.len(),
        gone.first(),
        new.len(),
        new.first()
    );
}

/// Asserts that all lines that `found` returns are in a kept file, unless the test of all lines writes it meanwhile.
fn assert_kept(name: &str, found: impl FnOnce() -> Vec<String>) {
    if std::env::var_os(WRITE).is_some() {
        return;
    }
    let text = fs::read_to_string(file(name)).unwrap();
    assert!(text.starts_with(&format!("# results {RESULTS}\n")), "{name} is of other results. {WHAT_TO_DO}");
    let kept: BTreeSet<&str> = text.lines().collect();
    let found = found();
    let other: Vec<&String> = found.iter().filter(|line| !kept.contains(line.as_str())).collect();
    assert!(
        other.is_empty(),
        "{name}: {} of {} lines are others: {other:?}. {WHAT_TO_DO}",
        other.len(),
        found.len()
    );
}

#[test]
fn quick_plans_of_shipped_experiments_are_as_kept() {
    assert_kept("plans.csv", || plans(&SIZES[..1]));
}

#[test]
fn short_runs_of_shipped_experiments_have_the_kept_digests() {
    assert_kept("runs.csv", || digests(&short()));
}

#[test]
#[ignore = "takes minutes: make soak"]
fn plans_of_shipped_experiments_are_as_kept() {
    compare("plans.csv", "experiment,size,runs,merged,ids", &plans(&SIZES));
}

#[test]
#[ignore = "takes minutes: make soak"]
fn runs_of_shipped_experiments_have_the_kept_digests() {
    compare("runs.csv", "experiment,scheme,point,digest", &digests(&chosen()));
}

#[test]
fn a_page_says_why_results_have_their_version() {
    let text = fs::read_to_string(root().join("docs/results-versions.md")).unwrap();
    assert!(
        text.contains(&format!("\n## Results {RESULTS}\n")),
        "no section \"## Results {RESULTS}\" in docs/results-versions.md"
    );
}

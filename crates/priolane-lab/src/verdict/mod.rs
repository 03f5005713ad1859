//! From the runs of a plan to a report: claims with verdicts, figures' data, checks and warnings.

mod band;
mod checks;
mod claims;
mod decision;
mod deduplicate;
mod distance;
mod family;
mod grid;
mod load;
mod panels;
mod report;
pub mod rules;
mod thresholds;

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub use self::checks::{Check, State};
pub use self::decision::Verdict;
use self::grid::Grid;
pub(crate) use self::report::ClaimReport;
pub use self::report::Measured;
use crate::assumptions::{self, Assumption};
use crate::experiment::Experiment;
pub use crate::metrics::metric::Unit;
pub(crate) use crate::panels::PanelReport;
pub use crate::panels::{Mark, Series};
use crate::plan::{Plan, Run};
use priolane_results::digest::hex;
use priolane_results::record::{LoadRecord, RunRecord};
use priolane_results::store::{RunId, Store};

/// What the runs of a plan say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Title of the experiment.
    pub title: String,
    /// The paper it reproduces.
    pub paper: Option<String>,
    /// The figure or table of the paper.
    pub figure: Option<String>,
    /// How many times these claims are judged while seeds are added: 1 if none are.
    pub looks: u32,
    /// The claims, judged together.
    pub claims: Vec<ClaimReport>,
    /// The figures' data.
    pub panels: Vec<PanelReport>,
    /// What to know before trusting it.
    pub checks: Vec<Check>,
    /// What it and its schemes take where papers are silent, in the order of docs/assumptions.md.
    pub assumptions: Vec<Assumption>,
    /// What else to check before trusting it: of the plan, of runs (with how many runs say so), of claims.
    pub warnings: Vec<String>,
    /// Seeds of the plan.
    pub seeds: Vec<u64>,
    /// The runs that are there.
    pub runs: Vec<RunLine>,
    /// SHA-256 over the runs that are there: scheme, point, seed and digest of each, in the plan's order.
    pub digest: String,
    /// The runs that are not.
    pub missing: Vec<MissingRun>,
}

/// A run that is there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLine {
    /// Its id.
    pub id: String,
    /// Its scheme.
    pub scheme: String,
    /// Its sweep point.
    pub point: serde_json::Map<String, Value>,
    /// Its seed.
    pub seed: u64,
    /// Its digest.
    pub digest: String,
    /// Asked and offered load.
    pub load: LoadRecord,
}

/// A run that is not there, or not whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissingRun {
    /// Its id.
    pub id: String,
    /// Its scheme.
    pub scheme: String,
    /// Its sweep point.
    pub point: serde_json::Map<String, Value>,
    /// Its seed.
    pub seed: u64,
}

/// The record of `run` if it is whole in `dir`.
pub fn load_summary(dir: &Path, run: &Run) -> Option<RunRecord> {
    Store::at(dir).accept(&RunId::new(&run.id)?)
}

/// What the runs of `plan` that are whole in `dir` say. Reads only.
pub fn verdicts(plan: &Plan, dir: &Path) -> Report {
    verdicts_at_look(plan, dir, 1)
}

/// The same at one of `looks` planned ones, at least 1, after each of which seeds are added unless all claims are decided.
pub fn verdicts_at_look(plan: &Plan, dir: &Path, looks: u32) -> Report {
    let grid = Grid::load(plan, dir);
    let (mut claims, claim_warnings) = claims::judge_all(&grid);
    family::judge(&mut claims, looks);
    let (panels, panel_warnings) = panels::draw_all(&grid);
    let mut warnings = deduplicate::fewer(&plan.warnings);
    warnings.extend(run_warnings(&grid));
    warnings.extend(claim_warnings);
    warnings.extend(panel_warnings);
    Report {
        looks,
        claims,
        panels,
        checks: checks::all(&grid),
        assumptions: assumed(&plan.experiment),
        warnings,
        seeds: grid.seeds.clone(),
        runs: present(&grid).map(|(run, record)| run_line(run, record)).collect(),
        digest: digest(&grid),
        missing: missing(&grid),
        title: plan.experiment.title.clone(),
        paper: plan.experiment.paper.clone(),
        figure: plan.experiment.figure.clone(),
    }
}

fn assumed(experiment: &Experiment) -> Vec<Assumption> {
    let of_schemes = experiment.scheme.values().flat_map(|scheme| &scheme.assumptions);
    let anchors: Vec<&'static str> = experiment.assumptions.iter().chain(of_schemes).copied().collect();
    assumptions::named(&anchors)
}

fn present<'a>(grid: &'a Grid) -> impl Iterator<Item = (&'a Run, &'a RunRecord)> {
    grid.plan.runs.iter().zip(&grid.records).filter_map(|(run, record)| Some((run, record.as_ref()?)))
}

fn run_line(run: &Run, record: &RunRecord) -> RunLine {
    RunLine {
        id: run.id.clone(),
        scheme: run.scheme.clone(),
        point: claims::as_map(&run.point),
        seed: run.seed,
        digest: record.digest.clone(),
        load: record.load.clone(),
    }
}

fn missing(grid: &Grid) -> Vec<MissingRun> {
    let absent = grid.plan.runs.iter().zip(&grid.records).filter(|(_, record)| record.is_none());
    let line = |run: &Run| MissingRun {
        id: run.id.clone(),
        scheme: run.scheme.clone(),
        point: claims::as_map(&run.point),
        seed: run.seed,
    };
    absent.map(|(run, _)| line(run)).collect()
}

/// Each warning of a run once, with the number of runs that say it.
fn run_warnings(grid: &Grid) -> Vec<String> {
    let said = present(grid)
        .enumerate()
        .flat_map(|(run, (_, record))| record.warnings.iter().map(move |warning| (run, warning.as_str())));
    deduplicate::merged(said, present(grid).count())
}

fn digest(grid: &Grid) -> String {
    let mut hash = Sha256::new();
    for (run, record) in present(grid) {
        let line = format!("{}\n{}\n{}\n{}\n", run.scheme, grid::show(&run.point), run.seed, record.digest);
        hash.update(line.as_bytes());
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests;

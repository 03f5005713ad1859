//! Evaluates the runs of a plan: claims with verdicts, data of figures, checks and warnings.

mod band;
mod checks;
mod claims;
mod decision;
mod deduplicate;
mod distance;
mod family;
mod flags;
mod grid;
mod load;
mod looks;
mod panels;
mod quorum;
mod report;
pub mod rules;
mod saturation;
mod scheme_class;
mod steady;
mod tails;
mod thresholds;
mod unfit;

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub use self::checks::{Check, State};
pub use self::decision::Verdict;
pub use self::flags::{Flag, FlagKind};
use self::grid::Grid;
pub use self::looks::{Look, Looks};
pub(crate) use self::report::ClaimReport;
pub use self::report::MeasuredMetric;
use crate::assumptions::{self, Assumption};
use crate::experiment::Experiment;
pub use crate::metrics::metric::Unit;
pub(crate) use crate::panels::PanelReport;
pub use crate::panels::{Mark, Series};
use crate::plan::{Plan, Run};
use priolane_results::digest::hex;
use priolane_results::record::{LoadRecord, RunRecord};
use priolane_results::store::{RunId, Store};

/// The evaluation of a plan's runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Title of the experiment.
    pub title: String,
    /// The paper that it reproduces.
    pub paper: Option<String>,
    /// The figure or table of the paper.
    pub figure: Option<String>,
    /// Number of planned looks at these claims while seeds are added; 1 if none are added.
    pub planned_looks: u32,
    /// The looks at the claims of this directory, in the order in which they were made.
    pub looks: Vec<Look>,
    /// The place of this look among them.
    pub look: usize,
    /// The claims, evaluated together.
    pub claims: Vec<ClaimReport>,
    /// The data of the figures.
    pub panels: Vec<PanelReport>,
    /// Self-checks.
    pub checks: Vec<Check>,
    /// Assumptions of the experiment and its schemes where papers are silent, in the order of docs/assumptions.md.
    pub assumptions: Vec<Assumption>,
    /// Warnings of the plan, of runs (with the number of affected runs) and of claims.
    pub warnings: Vec<String>,
    /// Seeds of the plan.
    pub seeds: Vec<u64>,
    /// The complete runs.
    pub runs: Vec<RunLine>,
    /// SHA-256 over the complete runs: scheme, point, seed and digest of each, in plan order.
    pub digest: String,
    /// The missing runs.
    pub missing: Vec<MissingRun>,
}

/// A complete run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLine {
    /// Run id.
    pub id: String,
    /// Scheme.
    pub scheme: String,
    /// Sweep point.
    pub point: serde_json::Map<String, Value>,
    /// Seed.
    pub seed: u64,
    /// Digest of its tables.
    pub digest: String,
    /// Requested and offered load.
    pub load: LoadRecord,
}

/// A run that is missing or incomplete.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissingRun {
    /// Run id.
    pub id: String,
    /// Scheme.
    pub scheme: String,
    /// Sweep point.
    pub point: serde_json::Map<String, Value>,
    /// Seed.
    pub seed: u64,
}

/// Returns the record of `run` if it is complete in `dir`.
pub fn load_summary(dir: &Path, run: &Run) -> Option<RunRecord> {
    Store::at(dir).accept(&RunId::new(&run.id)?)
}

/// Evaluates the runs of `plan` that are complete in `dir`, as the first look. Writes nothing.
pub fn verdicts(plan: &Plan, dir: &Path) -> Report {
    verdicts_at(plan, dir, &Looks::one())
}

/// The same after the earlier looks at the claims of `dir`.
pub fn verdicts_at(plan: &Plan, dir: &Path, looks: &Looks) -> Report {
    let grid = Grid::load(plan, dir);
    let (mut claims, claim_warnings) = claims::judge_all(&grid);
    let planned_looks = looks.planned;
    let runs = looks::digest_of(plan.runs.iter().map(|run| run.id.as_str()));
    let (looks, look) = looks.with(&grid.seeds, &runs);
    family::judge(&mut claims, looks[look].share);
    let (panels, panel_warnings) = panels::draw_all(&grid);
    let mut warnings = deduplicate::merge_similar(&plan.warnings);
    warnings.extend(run_warnings(&grid));
    warnings.extend(tails::warnings(&present(&grid).map(|(_, record)| record).collect::<Vec<_>>()));
    warnings.extend(claim_warnings);
    warnings.extend(panel_warnings);
    Report {
        planned_looks,
        looks,
        look,
        claims,
        panels,
        checks: checks::all(&grid),
        assumptions: assumptions_of(&plan.experiment),
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

fn assumptions_of(experiment: &Experiment) -> Vec<Assumption> {
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

/// Returns each warning of runs once, with the number of affected runs.
fn run_warnings(grid: &Grid) -> Vec<String> {
    let texts = present(grid)
        .enumerate()
        .flat_map(|(run, (_, record))| record.warnings.iter().map(move |warning| (run, warning.as_str())));
    let schemes: Vec<&str> = present(grid).map(|(run, _)| run.scheme.as_str()).collect();
    deduplicate::merged(texts, &schemes)
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

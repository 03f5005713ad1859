//! Models the flows of an experiment and simulates them under a scheme, for the first sweep point and seed of the file.

use std::path::{Path, PathBuf};

use priolane_core::analyze::{Model, ModelInput};
use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_lab::execute::{Failure, OnProgress};
use priolane_lab::plan::{self, Options, Plan, ResolvedRun, Run};
use priolane_results::flows::met_deadline;
use priolane_sim::records::FlowRecords;
use priolane_sim::{Drive, Simulation};
use priolane_source::InputError;

use super::figures::{Figures, SimulatedFigures};
use super::model_file::{ExperimentOf, LawOf, seconds};

/// The flows of an experiment and their model.
pub(super) struct ModelledFlows {
    /// The model.
    pub(super) model: Model,
    /// Number of flows that the model excludes.
    pub(super) left_out: usize,
    plan: Plan,
    path: PathBuf,
    /// Per flow of the list, its size class in the model; `None` for excluded flows.
    class: Vec<Option<usize>>,
}

/// A flow of the model: its size in bytes and its latency requirement in seconds.
#[derive(Clone, Copy, Debug)]
struct Asking {
    bytes: f64,
    allowed_s: f64,
}

/// Plans the experiment and models the measured flows that have both a size and a deadline.
pub(super) fn observe(
    asked: &ExperimentOf,
    base: &Path,
    options: &Options,
) -> Result<ModelledFlows, Failure> {
    let path = base.join(&asked.path);
    let plan = plan::plan(&path, options)?;
    let none = |what: &str, fix: &str| Failure::Input(asked.origin.error("experiment", what, fix));
    let run = plan
        .runs
        .first()
        .ok_or_else(|| none("the experiment has no run", "an experiment with schemes and seeds"))?;
    let built = plan::build(run)?;
    let flows = &built.scenario.flows;
    let cells: Vec<Option<(usize, usize)>> = flows
        .iter()
        .zip(&built.measured)
        .map(|(flow, &measured)| cell(&flow, asked).filter(|_| measured))
        .collect();
    let (parts, kept) = parts(flows, &cells);
    let model = Model::new(parts).map_err(|_| {
        none(
            "the experiment has no finite flow with a deadline in the measured window",
            "a group with `deadline`",
        )
    })?;
    // Empty classes are dropped, so the remaining ones are renumbered.
    let class = cells.iter().map(|cell| cell.and_then(|(n, _)| kept.iter().position(|&k| k == n))).collect();
    let left_out = cells.iter().filter(|cell| cell.is_none()).count();
    Ok(ModelledFlows { model, left_out, plan, path, class })
}

/// Returns the size class and the latency class of a flow; `None` if it is not in the model.
fn cell(flow: &FlowSpec, asked: &ExperimentOf) -> Option<(usize, usize)> {
    let (size, deadline) = (flow.size?, flow.deadline?);
    let allowed = deadline.since(flow.start);
    if allowed.0 == 0 {
        return None;
    }
    let n = asked.size_edges.iter().filter(|&&edge| edge < size).count();
    let m = asked.deadline_edges.iter().filter(|&&edge| edge < allowed).count();
    Some((n, m))
}

/// Returns the parts of the model, and the size classes that contain flows.
fn parts(flows: &FlowList, cells: &[Option<(usize, usize)>]) -> (ModelInput, Vec<usize>) {
    let asking: Vec<(Asking, usize, usize)> = flows
        .iter()
        .zip(cells)
        .filter_map(|(flow, cell)| {
            let ((n, m), bytes, deadline) = ((*cell)?, flow.size? as f64, flow.deadline?);
            Some((Asking { bytes, allowed_s: seconds(deadline.since(flow.start)) }, n, m))
        })
        .collect();
    let used = |of: fn(&(Asking, usize, usize)) -> usize| {
        let mut used: Vec<usize> = asking.iter().map(of).collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    let (rows, columns) = (used(|a| a.1), used(|a| a.2));
    let count =
        |keep: &dyn Fn(usize, usize) -> bool| asking.iter().filter(|(_, n, m)| keep(*n, *m)).count() as f64;
    let mean = |keep: &dyn Fn(usize, usize) -> bool, of: fn(&Asking) -> f64| {
        asking.iter().filter(|(_, n, m)| keep(*n, *m)).map(|(a, ..)| of(a)).sum::<f64>() / count(keep)
    };
    let all = asking.len() as f64;
    let row = |&n: &usize| {
        let in_row = count(&|own, _| own == n);
        columns.iter().map(|&m| count(&|a, b| (a, b) == (n, m)) / in_row).collect::<Vec<f64>>()
    };
    let parts = ModelInput {
        flows: all,
        sizes: rows.iter().map(|&n| mean(&|own, _| own == n, |a| a.bytes)).collect(),
        shares: rows.iter().map(|&n| count(&|own, _| own == n) / all).collect(),
        requirements: columns.iter().map(|&m| mean(&|_, own| own == m, |a| a.allowed_s)).collect(),
        mix: rows.iter().map(row).collect(),
    };
    (parts, rows)
}

impl ModelledFlows {
    /// Simulates the flows under `scheme`.
    pub(super) fn simulate(
        &self,
        law: &LawOf,
        scheme: &str,
        progress: &mut OnProgress,
    ) -> Result<SimulatedFigures, Failure> {
        let run = self.run_of(scheme).ok_or_else(|| self.no_scheme(law, scheme))?;
        let built = plan::build(run)?;
        let outcome = Simulation::of(&built.scenario).reporting_to(progress).run(Drive::default())?;
        let stopped_at = outcome.stopped_at;
        let late = |i: usize| {
            met_deadline(&built.scenario.flows.at(i), &outcome.flows.at(i), stopped_at) == Some(false)
        };
        Ok(self.figures(&built, &outcome.flows, late, scheme))
    }

    fn run_of(&self, scheme: &str) -> Option<&Run> {
        self.plan.runs.iter().find(|run| run.scheme == scheme)
    }

    fn no_scheme(&self, law: &LawOf, scheme: &str) -> InputError {
        let names = self.plan.experiment.schemes.join(", ");
        let what = format!("{} has no scheme {scheme:?}", self.path.display());
        law.origin.error(&format!("{}.scheme", law.key), what, format!("one of {names}"))
    }

    fn figures(
        &self,
        built: &ResolvedRun,
        records: &FlowRecords,
        late: impl Fn(usize) -> bool,
        scheme: &str,
    ) -> SimulatedFigures {
        let classes = self.model.sizes().len();
        let mut sums = vec![(0usize, 0usize, 0usize, 0.0f64); classes];
        for (i, class) in self.class.iter().enumerate().take(built.scenario.flows.len()) {
            let Some(class) = class else { continue };
            let of = &mut sums[*class];
            of.0 += 1;
            of.1 += usize::from(late(i));
            if let Some(fct) = records.at(i).fct {
                of.2 += 1;
                of.3 += seconds(fct);
            }
        }
        let mean = |count: usize, sum: f64| (count > 0).then(|| sum / count as f64);
        let total = sums.iter().fold((0, 0, 0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3));
        let figures = Figures {
            fct_s: sums.iter().map(|of| mean(of.2, of.3)).collect(),
            missed: sums.iter().map(|of| of.1 as f64 / of.0 as f64).collect(),
            mean_s: mean(total.2, total.3),
            miss_rate: total.1 as f64 / total.0 as f64,
        };
        SimulatedFigures { scheme: scheme.to_owned(), unfinished: total.0 - total.2, figures }
    }
}

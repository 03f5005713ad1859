//! The points of a sweep, with the state shared by all runs of a point.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use priolane_source::{InputError, Mistakes, Node, Origin, Sources, Table, Value, parse};
use serde_json::Value as Json;

use super::check::CheckedPoint;
use super::offers::GroupOffer;
use super::options::Options;
use super::overrides::{self, Sweep, axis_json, only, shown};
use super::run::Run;
use super::steady::SteadyNeeds;
use super::{check, fit, identity, jobs};
use crate::experiment::overlay::{self, Axis};
use crate::experiment::{self, Experiment, MAX_SEEDS, Reading};
use crate::interrupt::Interrupt;
use crate::scheme::Scheme;

/// Maximum number of runs of a plan.
const MAX_RUNS: u64 = 1_000_000;

/// Maximum number of sweep points: each holds a merged experiment in memory.
const MAX_POINTS: u64 = 10_000;

/// Maximum number of merged values: each point reads the whole file, and each of its schemes is merged with all but the
/// other schemes. Twenty million take some seconds.
const MAX_WORK: u64 = 20_000_000;

/// The points of an experiment's sweep, without the list of their runs.
#[derive(Clone, Debug)]
pub struct Points {
    /// The merged experiment, including its sweep.
    pub experiment: Experiment,
    /// The points, with the last axis varying fastest; at least one.
    pub points: Vec<Point>,
    /// The readings of the file, in its order.
    pub readings: Vec<Reading>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Path of the file.
    pub source: PathBuf,
}

/// One point of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Dotted keys and values, in the order of the sweep.
    pub values: Vec<(String, Json)>,
    /// The merged experiment at this point.
    pub experiment: Arc<Experiment>,
    /// By scheme, settings that may not be meant on the network of this point.
    pub findings: BTreeMap<String, Vec<String>>,
    /// Approximate number of flows per run.
    pub flows: u64,
    /// The needs of the steady state of each open-loop group.
    pub steady: Vec<SteadyNeeds>,
    /// The load that each group with a stated load offers, shared by the runs of the point.
    pub offers: Arc<[GroupOffer]>,
}

/// Returns the points of the experiment `text`, called `name` in messages, whose files are relative to `base`.
///
/// # Errors
/// As for [`super::plan`].
pub fn points_of(name: &str, text: &str, base: &Path, options: &Options) -> Result<Points, InputError> {
    of_tree(name, parse(name, text)?, Sources::new(name, base), options)
}

/// Returns the points of the experiment `root`, called `name` in messages, whose files are `sources`.
///
/// # Errors
/// As for [`super::plan`].
pub(super) fn of_tree(
    name: &str,
    mut root: Table,
    mut sources: Sources,
    options: &Options,
) -> Result<Points, InputError> {
    let mut found = Mistakes::new(name);
    let Sweep { axes, swept, chosen, readings, warning } =
        overrides::apply(name, &mut root, options, &mut found)?;
    let grid = match grid(name, &root, (&axes, chosen.as_deref())) {
        Ok(grid) => grid,
        Err(error) => {
            found.add(error);
            return found.done(None);
        }
    };
    let mut experiment: Option<Experiment> = None;
    let (mut points, mut warnings) = (Vec::new(), Warnings::default());
    warnings.extend(warning);
    for point in grid {
        options.interrupt.check(name)?;
        let mut at_point = root.clone();
        let laid = axes
            .iter()
            .zip(&point)
            .try_for_each(|(axis, value)| overlay::set_point(&mut at_point, &axis.key, value));
        let read = laid
            .and_then(|()| overlay::follow(&mut at_point))
            .and_then(|()| experiment::read(name, &at_point, sources.fresh()));
        let Some(read) = found.keep(read).filter(|_| found.is_empty()) else { return found.done(None) };
        sources.learn(&read.experiment.sources);
        let checked = check::check(only(read, chosen.as_deref()), &at_point, &options.interrupt)?;
        warnings.extend(checked.warnings);
        if experiment.is_none() {
            fit::figures(&checked.experiment, &swept, &at_point)?;
        }
        let values: Vec<(String, Json)> =
            axes.iter().zip(&point).map(|(axis, node)| (axis.key.clone(), shown(node))).collect();
        jobs::check(&checked.experiment, &values, &at_point)?;
        experiment.get_or_insert_with(|| Experiment {
            sweep: axes.iter().map(axis_json).collect(),
            ..checked.experiment.clone()
        });
        let CheckedPoint { experiment, findings, flows, steady, offers, .. } = checked;
        let (experiment, offers) = (Arc::new(experiment), offers.into());
        points.push(Point { values, experiment, findings, flows, steady, offers });
    }
    let experiment = experiment.ok_or_else(|| {
        InputError::new(name, None, "sweep", "the sweep has no point", "at least one value per key")
    })?;
    Ok(Points { experiment, points, readings, warnings: warnings.in_order, source: PathBuf::from(name) })
}

/// Distinct warnings, in order of their first occurrence.
#[derive(Debug, Default)]
pub struct Warnings {
    /// The warnings.
    pub in_order: Vec<String>,
    known: HashSet<String>,
}

impl Extend<String> for Warnings {
    fn extend<I: IntoIterator<Item = String>>(&mut self, more: I) {
        for warning in more {
            if self.known.insert(warning.clone()) {
                self.in_order.push(warning);
            }
        }
    }
}

impl Points {
    /// Returns the number of runs of the grid.
    pub fn runs(&self) -> u64 {
        let per_point = self.experiment.schemes.len() as u64 * self.experiment.seeds.len() as u64;
        self.points.len() as u64 * per_point
    }
}

pub(super) fn add_runs(point: &Point, runs: &mut Vec<Run>, interrupt: &Interrupt) -> Result<(), InputError> {
    let experiment = &point.experiment;
    let merged = experiment.all_merged();
    let codes = |scheme: &String| experiment.scheme.get(scheme).map(Scheme::codes).unwrap_or_default();
    let ids: Vec<identity::Base> = std::iter::zip(&experiment.schemes, &merged)
        .map(|(scheme, merged)| identity::Base::new(merged, codes(scheme), &experiment.sources))
        .collect();
    for (nth, seed) in experiment.seeds.list().into_iter().enumerate() {
        if nth % 1024 == 0 {
            interrupt.check(experiment.sources.experiment())?;
        }
        for ((scheme, merged), id) in experiment.schemes.iter().zip(&merged).zip(&ids) {
            runs.push(Run {
                id: id.run_id(seed),
                scheme: scheme.clone(),
                point: point.values.clone(),
                seed,
                experiment: experiment.clone(),
                merged: merged.clone(),
                findings: point.findings.get(scheme).cloned().unwrap_or_default(),
                flows: point.flows,
                offers: Arc::clone(&point.offers),
            });
        }
    }
    Ok(())
}

/// Returns all points of the sweep, with the last axis varying fastest.
fn grid<'a>(
    name: &str,
    root: &Table,
    (axes, chosen): (&'a [Axis], Option<&[String]>),
) -> Result<Vec<Vec<&'a Node>>, InputError> {
    let count = |key: &str| match root.get(key).map(|node| &node.value) {
        Some(Value::List(items)) => items.len() as u64,
        // A larger number is rejected with its own message when the file is read.
        Some(&Value::Integer(n)) => (n.max(1) as u64).min(MAX_SEEDS),
        _ => 1,
    };
    let schemes = chosen.map_or_else(|| count("schemes"), |names| names.len() as u64);
    let per_point = schemes.saturating_mul(count("seeds"));
    let count = axes.iter().fold(1u64, |n, axis| n.saturating_mul(axis.values.len() as u64));
    let runs = count.saturating_mul(per_point);
    if count == 1 && runs > MAX_RUNS {
        let origin = overlay::locate(root, "seeds").unwrap_or(Origin { file: name.into(), line: None });
        return Err(origin.error(
            "seeds",
            format!("the experiment has {runs} runs"),
            format!("fewer seeds, for at most {MAX_RUNS} runs"),
        ));
    }
    if count > MAX_POINTS || runs > MAX_RUNS {
        let what = format!("the sweep has {count} points and {runs} runs");
        let fix =
            format!("fewer values, schemes or seeds, for at most {MAX_POINTS} points and {MAX_RUNS} runs");
        return Err(InputError::new(name, None, "sweep", what, fix));
    }
    let values = root.values();
    // Each scheme has its own part of the file, plus the common part.
    let of_schemes = ["scheme", "schemes"].map(|key| root.get(key).map_or(0, Node::values));
    let common = values - of_schemes.iter().sum::<u64>();
    let work = count.saturating_mul(values.saturating_add(schemes.saturating_mul(common)));
    if work > MAX_WORK {
        let what = format!("{count} points and {schemes} schemes share {common} values of the file");
        return Err(InputError::new(name, None, "sweep", what, "fewer points or schemes, or a shorter file"));
    }
    let mut points = vec![Vec::new()];
    for axis in axes {
        let longer = |point: &Vec<&'a Node>| {
            let with = |value| point.iter().copied().chain([value]).collect();
            axis.values.iter().map(with).collect::<Vec<Vec<&Node>>>()
        };
        points = points.iter().flat_map(longer).collect();
    }
    Ok(points)
}

#[cfg(test)]
mod tests;

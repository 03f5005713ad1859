//! Plans the runs of an experiment file: overlays, `--set`, sweep points, seeds, schemes and ids.

mod actual_run;
mod adaptation;
mod admission;
mod all_runs;
mod alone;
mod build;
mod check;
mod classes;
mod coexistence;
mod connections;
mod deadlines;
mod definition;
mod demand;
mod drawn_deadlines;
mod empty_paths;
mod failures;
mod first_classes;
mod fit;
mod global;
mod identity;
mod jobs;
mod links;
mod merged;
mod observed_port;
mod offers;
mod options;
mod overrides;
mod paths;
mod pay;
mod points;
mod ports;
mod recorded;
mod requirement;
mod resolve;
mod run;
mod size;
mod steady;
mod traffic;
mod under_way;

use std::path::Path;

use priolane_source::InputError;

pub use actual_run::ActualRun;
pub(crate) use admission::round_trip;
pub use build::{Devices, Load, MeasuredFlows, ResolvedRun, build, build_at, devices};
pub use definition::Definition;
pub use merged::from_merged;
pub use offers::GroupOffer;
pub use options::{Options, Size};
pub use points::{Point, Points, Warnings, points_of};
pub use requirement::Requirement;
pub use run::{AloneRuns, Plan, Run};
pub use steady::SteadyNeeds;
pub use tier::Tier;
pub(crate) use traffic::may_start_warm;

/// Plans the runs of the experiment file at `path`.
///
/// # Errors
/// Returns an [`InputError`] with all mistakes of the file, or the first one of a file it names; also if `options`
/// interrupts.
pub fn plan(path: &Path, options: &Options) -> Result<Plan, InputError> {
    points(path, options)?.plan(&options.interrupt)
}

/// Returns the sweep points of the experiment file at `path`.
///
/// # Errors
/// As for [`plan`].
pub fn points(path: &Path, options: &Options) -> Result<Points, InputError> {
    Definition::from_path(path)?.points(options)
}

/// Returns the requirement (R_base) of the flows of `run`; `None` if no deadline depends on it.
///
/// # Errors
/// As for [`build`].
pub fn requirement_of(run: &Run) -> Result<Option<Requirement>, InputError> {
    let built = build(run)?;
    let scenario = &built.scenario;
    Ok(drawn_deadlines::r_base(&run.experiment, &scenario.topology, (&scenario.flows, run.seed)))
}

/// Plans the runs of the experiment `text`, called `name` in messages, whose files are relative to `base`.
///
/// # Errors
/// As for [`plan`].
pub fn from_text(name: &str, text: &str, base: &Path, options: &Options) -> Result<Plan, InputError> {
    points_of(name, text, base, options)?.plan(&options.interrupt)
}

#[cfg(test)]
pub(crate) mod tests;
mod tier;

//! Runs all of an experiment, for tests of what is recorded.

use std::ops::ControlFlow;
use std::path::Path;

use priolane_lab::execute::{Settings, execute};
use priolane_lab::plan::{self, Options, Plan, Run};
use priolane_results::record::RunRecord;

/// Returns the records of all runs of the experiment `text`, in the order of the plan; `folder` has the files that it
/// names, and gets the results.
pub(crate) fn records(folder: &Path, text: &str, settings: &Settings) -> Vec<RunRecord> {
    let plan = plan::from_text("x.toml", text, folder, &Options::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    records_of(&plan, folder, settings)
}

/// Returns the records of all runs of `plan`, in its order; `folder` gets the results.
pub(crate) fn records_of(plan: &Plan, folder: &Path, settings: &Settings) -> Vec<RunRecord> {
    let run = |run: &Run| {
        let done = execute(run, folder, settings, &mut |_| ControlFlow::Continue(()));
        done.unwrap_or_else(|e| panic!("{}, seed {}: {e}\n{}", run.scheme, run.seed, run.merged))
            .record()
            .clone()
    };
    plan.runs.iter().map(run).collect()
}

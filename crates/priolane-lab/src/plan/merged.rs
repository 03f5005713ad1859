//! Restores a run from its merged experiment, without the original file.

use std::sync::Arc;

use priolane_source::{InputError, Sources, from_json};
use serde_json::Value as Json;

use super::check::{self, CheckedPoint};
use super::points::{Point, add_runs};
use super::run::Run;
use crate::experiment;
use crate::interrupt::Interrupt;

/// Returns the run of `seed` of the merged experiment of one scheme and point, as stored in `run.json`; `sources`
/// contains the files it names. Its sweep point is empty.
///
/// # Errors
/// Returns an [`InputError`] if it is not a merged experiment of this version.
pub fn from_merged(sources: Sources, merged: &Json, seed: u64) -> Result<Run, InputError> {
    let file = sources.experiment().to_owned();
    let runs = runs(sources, merged, &[seed], &Interrupt::default())?;
    let count = runs.len();
    match <[Run; 1]>::try_from(runs) {
        Ok([run]) => Ok(run),
        Err(_) => {
            let what = format!("the merged experiment has {count} runs");
            Err(InputError::new(&file, None, "schemes", what, "one scheme"))
        }
    }
}

/// Returns the runs of all of `seeds`, as [`from_merged`] returns that of one.
///
/// # Errors
/// As for [`from_merged`]; also if `interrupt` stops it.
pub(super) fn runs(
    sources: Sources,
    merged: &Json,
    seeds: &[u64],
    interrupt: &Interrupt,
) -> Result<Vec<Run>, InputError> {
    let file = sources.experiment().to_owned();
    let mut merged = merged.clone();
    if let Json::Object(keys) = &mut merged {
        keys.insert("seeds".to_owned(), Json::from(seeds));
    }
    let root = from_json(&file, &merged)?;
    let checked = check::check(experiment::read(&file, &root, sources)?, &root, interrupt)?;
    let CheckedPoint { experiment, findings, flows, steady, offers, .. } = checked;
    let (experiment, offers) = (Arc::new(experiment), offers.into());
    let point = Point { values: Vec::new(), experiment, findings, flows, steady, offers };
    let mut runs = Vec::new();
    add_runs(&point, &mut runs, interrupt)?;
    Ok(runs)
}

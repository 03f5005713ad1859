//! Implements `priolane plan requirement`: computes R_base of an experiment's flows, by sweep point and seed (Firapam
//! §V-D).

use std::path::PathBuf;

use priolane_lab::interrupt::Interrupt;
use priolane_lab::plan::{self, Options, Requirement};
use priolane_source::InputError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analyze::Extent;

/// The request, one JSON object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Path of the experiment file.
    pub experiment: PathBuf,
    /// Size at which the experiment is planned.
    #[serde(default)]
    pub size: Extent,
    /// Interrupts planning.
    #[serde(skip)]
    pub interrupt: Interrupt,
}

/// R_base of the flows of a sweep point and seed, the same for all schemes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The sweep point: dotted keys and values.
    pub point: Vec<(String, Value)>,
    /// The seed.
    pub seed: u64,
    /// The requirement of its flows.
    #[serde(flatten)]
    pub requirement: Requirement,
}

/// Computes R_base at each sweep point and seed of the experiment in `request`.
///
/// # Errors
/// Returns an input error with the first mistake in the file, or if no deadline depends on R_base.
pub fn answer(request: &Request) -> Result<Vec<Row>, InputError> {
    let interrupt = request.interrupt.clone();
    let options = Options { size: request.size.into(), interrupt, ..Options::default() };
    let plan = plan::plan(&request.experiment, &options)?;
    let mut rows: Vec<Row> = Vec::new();
    for run in &plan.runs {
        if rows.last().is_some_and(|last| (&last.point, last.seed) == (&run.point, run.seed)) {
            continue;
        }
        request.interrupt.check(&request.experiment.display().to_string())?;
        let Some(requirement) = plan::requirement_of(run)? else {
            let file = request.experiment.display().to_string();
            let what = "no group has deadlines in multiples of R_base";
            let fix = "deadline = [{ share = 0.5, r_base = 1 }, { share = 0.5, r_base = 2 }] in a group";
            return Err(InputError::new(&file, None, "group", what, fix));
        };
        rows.push(Row { point: run.point.clone(), seed: run.seed, requirement });
    }
    Ok(rows)
}

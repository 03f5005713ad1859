//! `priolane plan requirement`: R_base of an experiment's flows, by point and seed (Firapam §V-D).

use std::path::PathBuf;

use priolane_source::InputError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analyze::Extent;
use crate::interrupt::Interrupt;
use crate::plan::{self, Options, Requirement};

/// What is asked, one JSON object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The path of the experiment file.
    pub experiment: PathBuf,
    /// At which size.
    #[serde(default)]
    pub size: Extent,
    /// Who may stop the planning.
    #[serde(skip)]
    pub interrupt: Interrupt,
}

/// R_base of the flows of a point and seed, the same for all schemes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The sweep point: dotted keys and values.
    pub point: Vec<(String, Value)>,
    /// The seed.
    pub seed: u64,
    /// What its flows require.
    #[serde(flatten)]
    pub requirement: Requirement,
}

/// R_base at each point and seed of the experiment that `request` names.
///
/// # Errors
/// An input error with the first thing that is wrong with the file, also where no deadline hangs on R_base.
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
        let Some(requirement) = plan::required(run)? else {
            let file = request.experiment.display().to_string();
            let what = "no deadline is a multiple of R_base";
            let fix = "deadline = [{ share = 0.5, r_base = 1 }, { share = 0.5, r_base = 2 }] in a group";
            return Err(InputError::new(&file, None, "group", what, fix));
        };
        rows.push(Row { point: run.point.clone(), seed: run.seed, requirement });
    }
    Ok(rows)
}

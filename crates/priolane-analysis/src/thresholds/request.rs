//! The request of `priolane thresholds`: sizes by name, from a table or from a flow list, a load, and solvers.

use std::io::BufReader;

use priolane_core::assign::SolverInput;
use priolane_core::sizes::{Interpolation, SizeDistribution};
use priolane_source::{InputError, open};
use priolane_workload::{flow_list, size_csv};
use serde::Deserialize;

use super::answer::{Answer, SolverChoice, Traffic, answer_of};

/// Maximum number of hosts in a flow list, of which only sizes are read.
const HOSTS: u32 = 1 << 16;

/// The request, one JSON object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Path of a flow list; exclusive with `sizes`.
    #[serde(default)]
    pub flows: Option<String>,
    /// Name of a shipped size table, or the path of one.
    #[serde(default)]
    pub sizes: Option<String>,
    /// The way in which probability mass is distributed between the rows of a table; default linear. Recorded flows are
    /// always a step function.
    #[serde(default)]
    pub interpolation: Option<Interpolation>,
    /// Number of levels, 2 to 16.
    pub levels: u8,
    /// Load, above 0 and below 1.
    pub load: f64,
    /// The solvers to run.
    #[serde(default)]
    pub solver: SolverChoice,
}

/// Computes thresholds, costs and fits for the request.
///
/// # Errors
/// Returns an error if levels, load or the choice of sizes is invalid, if the sizes cannot be read, or if the single
/// requested solver does not apply.
pub fn answer(request: &Request) -> Result<Answer, InputError> {
    let wrong = |key: &str, what: String, fix: &str| InputError::new("thresholds", None, key, what, fix);
    if !(2..=16).contains(&request.levels) {
        return Err(wrong("levels", format!("{} is out of range", request.levels), "a number from 2 to 16"));
    }
    if !(request.load > 0.0 && request.load < 1.0) {
        let fix = "a share of the link above 0 and below 1, such as 0.8";
        return Err(wrong("load", format!("the load {} is out of range", request.load), fix));
    }
    let (name, sizes, flows) = match (&request.flows, &request.sizes) {
        (Some(path), None) if request.interpolation == Some(Interpolation::Linear) => {
            let what = format!("the recorded sizes of {path} cannot be interpolated");
            return Err(wrong("interpolation", what, "interpolation = step, or remove it"));
        }
        (Some(path), None) => {
            let sizes = recorded(path)?;
            let flows = sizes.len();
            (path, law(path, sizes)?, Some(flows))
        }
        (None, Some(name)) => {
            let interpolation = request.interpolation.unwrap_or(Interpolation::Linear);
            (name, size_csv::read(name, interpolation)?, None)
        }
        _ => {
            return Err(wrong(
                "",
                "both flows and sizes are set, or neither".into(),
                "either flows or sizes",
            ));
        }
    };
    let linear = sizes.interpolation() == Interpolation::Linear;
    let published = Some(name.as_str()).filter(|name| linear && size_csv::shipped(name).is_some());
    let (load, levels) = (request.load, request.levels);
    let question = SolverInput { sizes: &sizes, name, published, load, levels };
    let answer = answer_of(&question, request.solver, Traffic::new(name, &sizes, flows));
    match answer.solvers.iter().find_map(|outcome| outcome.reason.clone()) {
        Some(reason) if request.solver != SolverChoice::All => {
            Err(wrong("solver", reason, "another solver, or `all` to see which apply"))
        }
        _ => Ok(answer),
    }
}

/// Reads the sizes of a flow list.
fn recorded(path: &str) -> Result<Vec<u64>, InputError> {
    let fix = "the path of a CSV with the columns start_ns, src, dst, bytes";
    let file = open(path.as_ref(), path).map_err(|error| InputError { fix: fix.to_owned(), ..error })?;
    let mut reader = flow_list::Reader::new(BufReader::new(file), path, HOSTS)?;
    let mut sizes = Vec::new();
    while let Some(flow) = reader.next() {
        match flow?.size {
            Some(bytes) => sizes.push(bytes),
            None => return Err(reader.size_error("an endless flow has no size", "Remove the flow")),
        }
    }
    Ok(sizes)
}

fn law(path: &str, sizes: Vec<u64>) -> Result<SizeDistribution, InputError> {
    SizeDistribution::from_samples(sizes)
        .map_err(|error| InputError::new(path, None, "bytes", error.to_string(), "sizes of 1 B to 140 TB"))
}

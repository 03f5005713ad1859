//! What an experiment's plan promises before anything runs: the rates of its flows without end, point by point.

use std::path::Path;

use priolane_core::price::Cos;
use priolane_source::InputError;
use serde::Serialize;
use serde_json::{Map, Value};

use priolane_lab::optimum;
use priolane_lab::plan::{self, Options, Run};

/// The promises at one point of a sweep, of the first seed: under any scheme, which do not change the traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Promised {
    /// The sweep point.
    pub point: Map<String, Value>,
    /// The flows without end; none where there is no optimum.
    pub flows: Vec<PromisedFlow>,
    /// Ports whose flows' minimum rates are more than they carry: promised rates are scaled there.
    pub overbooked: Vec<String>,
    /// Why there is no optimum, where there is none.
    pub reason: Option<String>,
}

/// What a flow is promised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromisedFlow {
    /// The flow.
    pub flow: u32,
    /// Its group.
    pub group: String,
    /// The host that sends it.
    pub host: u16,
    /// The class of service that its pair buys.
    pub cos: &'static str,
    /// Its minimum rate, in bits per second; of a machine's pair its share.
    pub theta_bps: u64,
    /// Its weight.
    pub w: f64,
    /// Its weighted max-min rate with minima, in bits per second of payload.
    pub promised_bps: f64,
    /// Its rate where the sum of weighted utilities is largest.
    pub best_bps: f64,
}

/// The promises of the experiment at `path`.
///
/// # Errors
/// An [`InputError`] with the first thing that is wrong, or where nothing is priced.
pub fn promised(path: &Path, options: &Options) -> Result<Vec<Promised>, InputError> {
    let plan = plan::plan(path, options)?;
    if plan.experiment.price.is_none() {
        let what = "nothing is priced: the file has no [price]";
        let fix = "price = { p0 = 1.0 }, and groups that pay (cos, theta, w, plan)";
        return Err(InputError::new(path.display().to_string(), None, "price", what, fix));
    }
    let per_point = plan.experiment.schemes.len() * plan.experiment.seeds.len();
    plan.runs.iter().step_by(per_point.max(1)).map(of_run).collect()
}

fn of_run(run: &Run) -> Result<Promised, InputError> {
    let built = plan::build(run)?;
    let point: Map<String, Value> = run.point.iter().cloned().collect();
    let optimum = match optimum::of(&built.scenario) {
        Ok(optimum) => optimum,
        Err(none) => {
            let reason = Some(none.to_string());
            return Ok(Promised { point, flows: Vec::new(), overbooked: Vec::new(), reason });
        }
    };
    let flow = |(i, &place): (usize, &usize)| {
        let spec = built.scenario.flows.at(place);
        let pair = optimum.pairs[i];
        PromisedFlow {
            flow: spec.id.0,
            group: built.groups.get(usize::from(spec.group)).cloned().unwrap_or_default(),
            host: spec.src.0,
            cos: Cos::of(spec.weights).word(),
            theta_bps: pair.theta_bps(),
            w: pair.w(),
            promised_bps: optimum.max_min[i],
            best_bps: optimum.best.rate[i],
        }
    };
    let flows = optimum.flows.iter().enumerate().map(flow).collect();
    Ok(Promised { point, flows, overbooked: optimum.overbooked, reason: None })
}

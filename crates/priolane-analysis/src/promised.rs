//! Computes the rates that a plan promises to long-lived flows at each sweep point, without running it.

use priolane_core::price::Cos;
use priolane_source::InputError;
use serde::Serialize;
use serde_json::{Map, Value};

use priolane_lab::optimum;
use priolane_lab::plan::{self, Definition, Options, Run};

/// The promised rates at one sweep point, for the first seed; they do not depend on the scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromisedRates {
    /// The sweep point.
    pub point: Map<String, Value>,
    /// The long-lived flows; empty if there is no optimum.
    pub flows: Vec<PromisedFlow>,
    /// Ports whose flows' minimum rates exceed their capacity; promised rates are scaled down there.
    pub overbooked: Vec<String>,
    /// The reason why there is no optimum, if there is none.
    pub reason: Option<String>,
}

/// The promised rate of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromisedFlow {
    /// Flow id.
    pub flow: u32,
    /// Group of the flow.
    pub group: String,
    /// Sending host.
    pub host: u16,
    /// Class of service that its pair buys.
    pub cos: &'static str,
    /// Minimum rate, in bits per second; for a virtual machine's pair, its share.
    pub theta_bps: u64,
    /// Weight.
    pub w: f64,
    /// Weighted max-min fair rate with minima, in bits per second of payload.
    pub promised_bps: f64,
    /// Rate that maximizes the sum of weighted utilities, in bits per second of payload.
    pub best_bps: f64,
}

/// Computes the promised rates of `experiment`.
///
/// # Errors
/// Returns an [`InputError`] with the first mistake, or if the file has no pricing.
pub fn promised(experiment: &Definition, options: &Options) -> Result<Vec<PromisedRates>, InputError> {
    let plan = experiment.plan(options)?;
    if plan.experiment.price.is_none() {
        let what = "the file has no [price]";
        let fix = "price = { p0 = 1.0 }, and groups that pay (cos, theta, w, plan)";
        return Err(InputError::new(experiment.name(), None, "price", what, fix));
    }
    let per_point = plan.experiment.schemes.len() * plan.experiment.seeds.len();
    plan.runs.iter().step_by(per_point.max(1)).map(of_run).collect()
}

fn of_run(run: &Run) -> Result<PromisedRates, InputError> {
    let built = plan::build(run)?;
    let point: Map<String, Value> = run.point.iter().cloned().collect();
    let optimum = match optimum::of(&built.scenario) {
        Ok(optimum) => optimum,
        Err(none) => {
            let reason = Some(none.to_string());
            return Ok(PromisedRates { point, flows: Vec::new(), overbooked: Vec::new(), reason });
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
    Ok(PromisedRates { point, flows, overbooked: optimum.overbooked, reason: None })
}

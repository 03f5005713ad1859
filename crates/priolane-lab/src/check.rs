//! Whether an experiment is right, and what it would run and cost, without running it.

mod predict;

use std::path::Path;

use serde::Serialize;
use serde_json::Value as Json;

use crate::bench;
use crate::plan::{self, Options, Plan};
use crate::source::InputError;

/// What a packet put on a link is taken to cost where it could not be measured: a round figure for one core.
const NS_PER_HOP: f64 = 100.0;

/// What `priolane check` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The merged experiment, its sweep included.
    pub merged: Json,
    /// Points of the sweep.
    pub points: usize,
    /// Schemes compared.
    pub schemes: usize,
    /// Seeds of each point.
    pub seeds: u32,
    /// Runs altogether.
    pub runs: usize,
    /// Flows of all runs, from the flow lists of the first seed.
    pub flows: u64,
    /// Packets put on links by all runs, ACKs included, retransmissions not.
    pub packet_hops: u64,
    /// Nanoseconds of a packet-hop on this machine now, from a short run.
    pub ns_per_hop: f64,
    /// Seconds on one core: the product of the two.
    pub seconds: f64,
    /// Bytes of memory of the largest run.
    pub bytes: u64,
    /// What to check before trusting it.
    pub warnings: Vec<String>,
}

/// Checks the experiment file at `path`.
///
/// # Errors
/// An [`InputError`] with the first thing that is wrong.
pub fn check(path: &Path, options: &Options) -> Result<Check, InputError> {
    let mut check = of_plan(&plan::plan(path, options)?)?;
    match bench::calibrate() {
        Ok(ns_per_hop) => check.ns_per_hop = ns_per_hop,
        Err(error) => check.warnings.push(format!("seconds are for {NS_PER_HOP} ns per packet-hop: {error}")),
    }
    check.seconds = check.packet_hops as f64 * check.ns_per_hop * 1e-9;
    Ok(check)
}

/// What the runs of `plan` would cost: flow lists are made for the first seed and scheme of each point. Seconds are for
/// 100 ns per packet-hop: no clock is read.
///
/// # Errors
/// An [`InputError`] where traffic does not fit the network.
pub fn of_plan(plan: &Plan) -> Result<Check, InputError> {
    let per_point = plan.experiment.schemes.len() * plan.experiment.seeds as usize;
    let mut check = Check {
        merged: plan.experiment.to_json(),
        points: plan.runs.len() / per_point.max(1),
        schemes: plan.experiment.schemes.len(),
        seeds: plan.experiment.seeds,
        runs: plan.runs.len(),
        flows: 0,
        packet_hops: 0,
        ns_per_hop: NS_PER_HOP,
        seconds: 0.0,
        bytes: 0,
        warnings: plan.warnings.clone(),
    };
    for run in plan.runs.iter().step_by(per_point.max(1)) {
        let built = plan::build(run)?;
        check.flows += built.scenario.flows.len() as u64 * per_point as u64;
        let predicted = predict::predict(&built.scenario);
        check.packet_hops += predicted.packet_hops * per_point as u64;
        check.bytes = check.bytes.max(predicted.bytes);
        for warning in built.warnings {
            if !check.warnings.contains(&warning) {
                check.warnings.push(warning);
            }
        }
    }
    check.seconds = check.packet_hops as f64 * NS_PER_HOP * 1e-9;
    Ok(check)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::PathBuf;

    use priolane_sim::{Drive, run};

    use super::*;

    /// Predicted packet-hops of the first run of an experiment, over those it has.
    fn predicted_over_real(file: &str, sets: &[(&str, &str)]) -> f64 {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(file);
        let sets = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let plan = plan::plan(&path, &Options { sets, seeds: Some(1), ..Options::default() }).unwrap();
        let scenario = plan::build(&plan.runs[0]).unwrap().scenario;
        let real =
            run(&scenario, Drive::default(), &mut |_| ControlFlow::Continue(())).unwrap().work.packet_hops;
        predict::predict(&scenario).packet_hops as f64 / real as f64
    }

    #[test]
    fn hops_of_open_load_that_drains_are_predicted() {
        let ratio = predicted_over_real("recipes/first.toml", &[("time.measure", "\"4ms\"")]);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn hops_of_lone_flows_are_predicted() {
        let ratio = predicted_over_real("validation/ns3_unit.toml", &[]);
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn hops_of_a_run_that_is_cut_short_are_predicted() {
        let short = [("time.warmup", "\"0ms\""), ("time.measure", "\"20ms\""), ("time.drain", "false")];
        let ratio = predicted_over_real("papers/nos2/queues.toml", &short);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }
}

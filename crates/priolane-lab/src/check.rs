//! Whether an experiment is right, and what it would run and cost, without running it.

use std::path::Path;

use serde::Serialize;
use serde_json::Value as Json;

use crate::plan::{self, Built, Options, Plan};
use crate::source::InputError;

/// What a packet put on a link is taken to cost: a round figure for one core of a current machine.
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
    /// Packets put on links, ACKs included, retransmissions not.
    pub packet_hops: u64,
    /// Seconds on one core, at 10 million packet-hops a second.
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
    of_plan(&plan::plan(path, options)?)
}

/// What the runs of `plan` would cost: flow lists are made for the first seed and scheme of each point.
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
        seconds: 0.0,
        bytes: 0,
        warnings: plan.warnings.clone(),
    };
    for run in plan.runs.iter().step_by(per_point.max(1)) {
        let built = plan::build(run)?;
        check.flows += built.scenario.flows.len() as u64 * per_point as u64;
        check.packet_hops += hops(&built) * per_point as u64;
        check.bytes = check.bytes.max(bytes(&built));
        for warning in built.warnings {
            if !check.warnings.contains(&warning) {
                check.warnings.push(warning);
            }
        }
    }
    check.seconds = check.packet_hops as f64 * NS_PER_HOP * 1e-9;
    Ok(check)
}

/// Each payload packet and its ACK over each link of its path; an endless flow is taken to fill its line.
fn hops(built: &Built) -> u64 {
    let scenario = &built.scenario;
    let mss = u64::from(scenario.frame.mss());
    let of_flow = |flow: &priolane_core::endpoint::FlowSpec| {
        let links = scenario.topology.path(flow.src, flow.dst, flow.entropy).len() as u64;
        let endless = || match scenario.stop {
            priolane_sim::scenario::Stop::At(end)
            | priolane_sim::scenario::Stop::WhenDone { limit: end, .. } => {
                scenario.topology.host_capacity(flow.src).bytes_in(end.since(flow.start))
            }
        };
        2 * links * flow.size.unwrap_or_else(endless).div_ceil(mss)
    };
    scenario.flows.iter().map(of_flow).sum()
}

/// Flow list, records and summary of a flow, and what a node and a port hold.
fn bytes(built: &Built) -> u64 {
    let scenario = &built.scenario;
    let flows = scenario.flows.len() as u64 * 400;
    let links = scenario.topology.links.len() as u64 * 4_000;
    20_000_000 + flows + links
}

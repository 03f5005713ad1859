//! Traces one flow, or all flows in a part of a run: selects the run, repeats it with a tracer, and writes the files.
//!
//! ```text
//! DIR/trace-<flow>.parquet         one row per packet of the flow and hop
//! DIR/trace-<flow>-state.parquet   its sender's state: one row per instant and metric
//! DIR/trace-<flow>.pcap            its packets at the capture point
//! DIR/trace-network.parquet        one row per packet of all flows and hop
//! DIR/trace-network-state.parquet  the state of chosen senders
//! ```
//!
//! The run is repeated on the wheel engine and has the same digest as without a trace; the report contains the digest.

mod capture;
mod choice;
mod files;
mod frame;
mod network;
mod table;
mod traced_flow;

use std::path::{Path, PathBuf};

use priolane_core::ids::{FlowId, LinkId};
use priolane_sim::outcome::Outcome;
use priolane_sim::trace::{Fate, Following, Marking, Trace, Transmission};
use priolane_source::InputError;
use serde::Serialize;
use serde_json::{Map, Value as Json};

pub use choice::Request;
pub use network::{NetworkReport, NetworkRequest, trace_network};
pub use traced_flow::Flow;
use traced_flow::TracedFlow;

use crate::execute::{self, Failure, OnProgress};
use crate::plan::{self, Options, ResolvedRun, Run};
use priolane_results::digest;
use priolane_results::ports::port_names;
use priolane_results::rows::{Rows, canonical};

/// The result of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Id of the run.
    pub run: String,
    /// Its scheme.
    pub scheme: String,
    /// Its sweep point.
    pub point: Map<String, Json>,
    /// Its seed.
    pub seed: u64,
    /// Digest of its tables, equal to that of the same run without a trace.
    pub digest: String,
    /// Time at which it stopped.
    pub stopped_at_ps: u64,
    /// The flow.
    pub flow: Flow,
    /// Counts of traced packets and hops.
    pub seen: Counts,
    /// The port at which packets were captured.
    pub at: String,
    /// The files written: hops, state, capture.
    pub files: [PathBuf; 3],
}

/// Counts of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets created by either end.
    pub packets: usize,
    /// Retransmissions among them.
    pub again: usize,
    /// Their hops.
    pub hops: usize,
    /// Hops on which the packet was dropped at a full queue.
    pub dropped: usize,
    /// Hops on which the packet, a token, expired.
    pub expired: usize,
    /// Hops on which the link lost the packet.
    pub lost: usize,
    /// Hops on which the port set the congestion mark.
    pub marked: usize,
    /// Samples of the sender's state.
    pub readings: usize,
    /// Packets captured.
    pub captured: usize,
}

/// Traces a flow of the experiment file at `path` and writes the trace files below `dir`.
///
/// # Errors
/// Returns [`Failure::Input`], before anything is run, if the experiment is invalid, several runs match, or the flow or
/// the port does not exist; [`Failure::Violation`] and [`Failure::Interrupted`] before anything is written;
/// [`Failure::Store`] if a file cannot be written, in which case none is.
pub fn trace(
    path: &Path,
    options: &Options,
    request: &Request,
    dir: &Path,
    progress: &mut OnProgress,
) -> Result<Report, Failure> {
    let plan = plan::plan(path, options)?;
    let run = choice::choose(&plan, request)?;
    let built = plan::build(run)?;
    let ports = port_names(&built.scenario.topology);
    let at = capture_point(run, &built, &ports, request)?;
    let following = Following::Flow(FlowId(request.flow));
    let (outcome, trace) =
        priolane_sim::Simulation::of(&built.scenario).reporting_to(progress).trace(&following)?;
    let life = TracedFlow { run, built: &built, ports: &ports, flow: FlowId(request.flow), trace: &trace };
    life.keep(outcome, at, dir)
}

/// Returns the link at whose near end packets are captured, if the given flow and port exist.
fn capture_point(
    run: &Run,
    built: &ResolvedRun,
    ports: &[String],
    request: &Request,
) -> Result<LinkId, InputError> {
    let flows = &built.scenario.flows;
    let file = run.experiment.sources.experiment();
    let Some(flow) = flows.get(request.flow as usize) else {
        return Err(no_flow(run, built, request.flow));
    };
    let topology = &built.scenario.topology;
    let Some(name) = &request.at else { return Ok(topology.uplink(flow.src)) };
    let named = ports.iter().position(|port| port == name).map(|link| LinkId(link as u32));
    named.ok_or_else(|| {
        let path = topology.path(flow.src, flow.dst, flow.entropy);
        let on_path: Vec<&str> = path.iter().map(|link| ports[link.index()].as_str()).collect();
        let fix = format!("a port of its path ({}), or another port of the network", on_path.join(", "));
        InputError::new(file, None, "--at", format!("the network has no port {name:?}"), fix)
    })
}

impl TracedFlow<'_> {
    /// Checks the run like any other run, and writes the files.
    fn keep(&self, mut outcome: Outcome, at: LinkId, dir: &Path) -> Result<Report, Failure> {
        canonical(&mut outcome);
        let flow = self.flow_report(&outcome);
        let digest = checked_digest(self.built, &mut outcome)?;
        let captured = capture::find_captured(&self.built.scenario, self.trace, at);
        let files = files::write(self, &captured, &digest, dir)?;
        Ok(Report {
            run: self.run.id.clone(),
            scheme: self.run.scheme.clone(),
            point: self.run.point.iter().cloned().collect(),
            seed: self.run.seed,
            digest,
            stopped_at_ps: outcome.stopped_at.0,
            flow,
            seen: Counts { captured: captured.len(), ..counts(self.trace) },
            at: self.ports[at.index()].clone(),
            files,
        })
    }
}

/// Checks a run like any other run; returns its digest.
fn checked_digest(built: &ResolvedRun, outcome: &mut Outcome) -> Result<String, Failure> {
    let with_actual_starts = built.with_actual_starts(outcome);
    let source = execute::source(&with_actual_starts);
    execute::check(&source, outcome)?;
    Ok(digest::of_rows(&Rows::new(source, outcome)))
}

fn counts(trace: &Trace) -> Counts {
    let Trace { packets, hops, state, .. } = trace;
    Counts {
        packets: packets.len(),
        again: packets.iter().filter(|packet| packet.turn == Transmission::Again).count(),
        hops: hops.len(),
        dropped: hops.iter().filter(|hop| hop.fate == Fate::Dropped).count(),
        expired: hops.iter().filter(|hop| hop.fate == Fate::Expired).count(),
        lost: hops.iter().filter(|hop| matches!(hop.fate, Fate::Lost { .. })).count(),
        marked: hops.iter().filter(|hop| hop.marking == Marking::Marked).count(),
        readings: state.len(),
        captured: 0,
    }
}

/// The error that the run has no flow of this number.
fn no_flow(run: &Run, built: &ResolvedRun, flow: u32) -> InputError {
    let fix = match built.scenario.flows.len() {
        0 => "a longer run or a higher load: the run has no flows".to_owned(),
        n => format!("a flow from 0 to {}", n - 1),
    };
    let what = format!("the run has no flow {flow}");
    InputError::new(run.experiment.sources.experiment(), None, "--flow", what, fix)
}

#[cfg(test)]
mod tests;

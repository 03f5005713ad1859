//! One flow's life: which run is meant, what happened to the flow there, and the files that tell it.
//!
//! ```text
//! DIR/trace-<flow>.parquet         one row per packet of the flow and hop
//! DIR/trace-<flow>-state.parquet   what its sender knew: one row per instant and metric
//! DIR/trace-<flow>.pcap            its packets as they pass one point of the network
//! ```
//!
//! The run is the untraced one again, on the wheel engine: it has the same digest, which the answer states.

mod capture;
mod choice;
mod files;
mod frame;
mod life;
mod table;

use std::path::{Path, PathBuf};

use priolane_core::ids::{FlowId, LinkId};
use priolane_sim::outcome::Outcome;
use priolane_sim::trace::{Fate, Marking, Trace, Transmission};
use priolane_source::InputError;
use serde::Serialize;
use serde_json::{Map, Value as Json};

pub use choice::Request;
pub use life::Flow;
use life::Life;

use crate::execute::{self, Failure, OnProgress};
use crate::plan::{self, Options, ResolvedRun, Run};
use priolane_results::digest;
use priolane_results::ports::port_names;
use priolane_results::rows::{Rows, canonical};

/// What a trace found, and where it put it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The id of the run.
    pub run: String,
    /// Its scheme.
    pub scheme: String,
    /// Its sweep point.
    pub point: Map<String, Json>,
    /// Its seed.
    pub seed: u64,
    /// The digest of its tables: that of the same run without a trace.
    pub digest: String,
    /// When it stopped.
    pub stopped_at_ps: u64,
    /// The flow.
    pub flow: Flow,
    /// What was seen of it.
    pub seen: Counts,
    /// The port at which packets were captured.
    pub at: String,
    /// The files written: rows of hops, rows of state, capture.
    pub files: [PathBuf; 3],
}

/// How much was seen of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets made by either end.
    pub packets: usize,
    /// Those that repeat what was sent before.
    pub again: usize,
    /// Their hops.
    pub hops: usize,
    /// Hops that ended for want of room.
    pub dropped: usize,
    /// Hops that ended as the packet, a token, waited too long.
    pub expired: usize,
    /// Hops on which the link lost the packet.
    pub lost: usize,
    /// Hops on which the port set the congestion mark.
    pub marked: usize,
    /// Readings of the sender's state.
    pub readings: usize,
    /// Packets captured.
    pub captured: usize,
}

/// Traces a flow of the experiment file at `path` and writes what it finds below `dir`.
///
/// # Errors
/// [`Failure::Input`] before anything is run if the experiment is wrong, several runs are meant, or the flow or
/// the port does not exist; [`Failure::Violation`] and [`Failure::Interrupted`] before anything is written;
/// [`Failure::Store`] if a file cannot be written, and then none is.
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
    let (outcome, trace) = priolane_sim::run_traced(&built.scenario, FlowId(request.flow), progress)?;
    let life = Life { run, built: &built, ports: &ports, flow: FlowId(request.flow), trace: &trace };
    life.keep(outcome, at, dir)
}

/// The link at whose near end packets are captured, if the flow and the port named exist.
fn capture_point(
    run: &Run,
    built: &ResolvedRun,
    ports: &[String],
    request: &Request,
) -> Result<LinkId, InputError> {
    let flows = &built.scenario.flows;
    let file = run.experiment.sources.experiment();
    let Some(flow) = flows.get(request.flow as usize) else {
        let what = format!("the run has no flow {}", request.flow);
        let fix = match flows.len() {
            0 => "it has none at all: a longer run, or more load".to_owned(),
            n => format!("a flow from 0 to {}", n - 1),
        };
        return Err(InputError::new(file, None, "--flow", what, fix));
    };
    let topology = &built.scenario.topology;
    let Some(name) = &request.at else { return Ok(topology.uplink(flow.src)) };
    let named = ports.iter().position(|port| port == name).map(|link| LinkId(link as u32));
    named.ok_or_else(|| {
        let path = topology.path(flow.src, flow.dst, flow.entropy);
        let on_path: Vec<&str> = path.iter().map(|link| ports[link.index()].as_str()).collect();
        let fix = format!("a port of its path, {}, or any other of the network", on_path.join(", "));
        InputError::new(file, None, "--at", format!("the network has no port {name:?}"), fix)
    })
}

impl Life<'_> {
    /// Checks the run as any run is checked, and writes the files.
    fn keep(&self, mut outcome: Outcome, at: LinkId, dir: &Path) -> Result<Report, Failure> {
        canonical(&mut outcome);
        let flow = self.flow_report(&outcome);
        let realized = self.built.realized(&mut outcome);
        let source = execute::source(&realized);
        execute::check(&source, &outcome)?;
        let digest = digest::of_rows(&Rows::new(source, &outcome));
        let captured = capture::captured(&self.built.scenario, self.trace, at);
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

fn counts(trace: &Trace) -> Counts {
    let Trace { packets, hops, state } = trace;
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

#[cfg(test)]
mod tests;

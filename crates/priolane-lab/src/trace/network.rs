//! Traces all flows in a part of a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use priolane_core::ids::{FlowId, NodeId};
use priolane_core::units::Time;
use priolane_sim::outcome::{Outcome, StartTime};
use priolane_sim::topology::Topology;
use priolane_sim::trace::{Extent, Following, Trace};
use priolane_source::InputError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::choice::{self, Request};
use super::{checked_digest, files, no_flow};
use crate::execute::{Failure, OnProgress};
use crate::plan::{self, Options, ResolvedRun, Run};
use priolane_results::ports::port_names;
use priolane_results::rows::canonical;

/// The run, the part of it, and the flows whose senders' state is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkRequest {
    /// Seed; required if the experiment has several.
    pub seed: Option<u64>,
    /// Swept keys and the TOML text of their values, enough to select one sweep point.
    pub point: Vec<(String, String)>,
    /// Flows whose senders' state is read: indices in the run's flow list.
    pub senders: Vec<u32>,
    /// Packets that are sent before it are left out.
    pub from_ps: u64,
    /// Packets that are sent from then on are left out.
    pub until_ps: u64,
    /// The number of hops at which the trace is full.
    pub most_hops: usize,
}

/// The result of a trace of all flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkReport {
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
    /// The time at which the first packet was sent that is missing because the trace was full, if one was.
    pub full_ps: Option<u64>,
    /// Nodes, hosts first.
    pub nodes: Vec<NodeSummary>,
    /// Directed links, in the order of their numbers.
    pub links: Vec<LinkSummary>,
    /// The flows that have packets in the trace, and those whose senders' state was asked for.
    pub flows: Vec<FlowSummary>,
    /// The files written: hops, state.
    pub files: [PathBuf; 2],
}

/// A node of the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeSummary {
    /// Its name in tables.
    pub name: String,
    /// Links to the nearest host: 0 for a host, 1 for a switch that has hosts.
    pub tier: u8,
}

/// A directed link with its port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkSummary {
    /// The port's name in tables.
    pub port: String,
    /// Number of the node that sends on it.
    pub from: u32,
    /// Number of the node that it leads to.
    pub to: u32,
    /// Its rate.
    pub rate_bps: u64,
    /// Its propagation delay.
    pub delay_ps: u64,
}

/// A flow and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowSummary {
    /// Flow id.
    pub id: u32,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload bytes; `None` for a long-lived flow.
    pub bytes: Option<u64>,
    /// The time at which the flow started.
    pub start_ps: u64,
    /// Time from its start to the arrival of its last byte, if it arrived.
    pub fct_ps: Option<u64>,
    /// Retransmitted packets.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

/// Traces all flows in a part of a run of the experiment file at `path`, and writes the tables below `dir`.
///
/// # Errors
/// As [`super::trace`].
pub fn trace_network(
    path: &Path,
    options: &Options,
    request: &NetworkRequest,
    dir: &Path,
    progress: &mut OnProgress,
) -> Result<NetworkReport, Failure> {
    let plan = plan::plan(path, options)?;
    let which = Request { seed: request.seed, point: request.point.clone(), ..Request::default() };
    let run = choice::choose(&plan, &which)?;
    let built = plan::build(run)?;
    refuse_unknown(run, &built, &request.senders)?;
    let ports = port_names(&built.scenario.topology);
    let following = Following::Network(Extent {
        from: Time(request.from_ps),
        until: Time(request.until_ps),
        most_hops: request.most_hops,
        senders: request.senders.iter().copied().map(FlowId).collect(),
    });
    let (mut outcome, trace) =
        priolane_sim::Simulation::of(&built.scenario).reporting_to(progress).trace(&following)?;
    canonical(&mut outcome);
    let flows = flow_summaries(&built, &outcome, &trace, &request.senders);
    let digest = checked_digest(&built, &mut outcome)?;
    let files = files::write_network(run, &ports, &trace, &digest, dir)?;
    Ok(NetworkReport {
        run: run.id.clone(),
        scheme: run.scheme.clone(),
        point: run.point.iter().cloned().collect(),
        seed: run.seed,
        digest,
        stopped_at_ps: outcome.stopped_at.0,
        full_ps: trace.full.map(|at| at.0),
        nodes: nodes(&built.scenario.topology),
        links: links(&built.scenario.topology, &ports),
        flows,
        files,
    })
}

/// Refuses flows that the run does not have.
fn refuse_unknown(run: &Run, built: &ResolvedRun, senders: &[u32]) -> Result<(), InputError> {
    let count = built.scenario.flows.len();
    let unknown = senders.iter().find(|&&flow| flow as usize >= count);
    unknown.map_or(Ok(()), |&flow| Err(no_flow(run, built, flow)))
}

fn nodes(topology: &Topology) -> Vec<NodeSummary> {
    let tier = |node: u32| match node.checked_sub(topology.hosts) {
        None => 0,
        Some(switch) => 1 + topology.tier.get(switch as usize).copied().unwrap_or(0),
    };
    let name = |node: u32| topology.names.get(node as usize).cloned().unwrap_or_else(|| format!("n{node}"));
    (0..topology.nodes() as u32).map(|node| NodeSummary { name: name(node), tier: tier(node) }).collect()
}

fn links(topology: &Topology, ports: &[String]) -> Vec<LinkSummary> {
    let summary = |(link, port): (&priolane_sim::topology::Link, &String)| {
        let (NodeId(from), NodeId(to)) = (link.from, link.to);
        LinkSummary { port: port.clone(), from, to, rate_bps: link.rate.bps(), delay_ps: link.delay.0 }
    };
    topology.links.iter().zip(ports).map(summary).collect()
}

fn flow_summaries(
    built: &ResolvedRun,
    outcome: &Outcome,
    trace: &Trace,
    senders: &[u32],
) -> Vec<FlowSummary> {
    let seen = trace.packets.iter().map(|packet| packet.header.flow.0);
    let ids: BTreeSet<u32> = seen.chain(senders.iter().copied()).collect();
    let summary = |id: u32| {
        let place = FlowId(id).index();
        let (spec, record) = (built.scenario.flows.at(place), outcome.flows.at(place));
        FlowSummary {
            id,
            src: u32::from(spec.src.0),
            dst: u32::from(spec.dst.0),
            bytes: spec.size,
            start_ps: if let StartTime::At(start) = record.began { start.0 } else { spec.start.0 },
            fct_ps: record.fct.map(|span| span.0),
            retransmits: record.retransmits,
            timeouts: record.timeouts,
        }
    };
    ids.into_iter().map(summary).collect()
}

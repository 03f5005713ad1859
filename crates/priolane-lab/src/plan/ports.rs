//! Converts a scheme's ports and transport on a network to the simulator's types.

use std::collections::BTreeSet;

use priolane_core::assign::{Assign, Count, Demotion, DemotionThresholds};
use priolane_core::endpoint::Weights;
use priolane_core::ids::HostId;
use priolane_core::nic::{OtherRows, TransmitQueue};
use priolane_core::packet::Frame;
use priolane_core::part::Capability;
use priolane_core::port::pfc::PauseLink;
use priolane_core::port::{BufferSpec, DisciplineSpec, PortSetup, TokenGroupSpec, UnscheduledData};
use priolane_core::transport::tokens::{self, UNSCHEDULED_CLASS};
use priolane_core::transport::{Setup, Spec};
use priolane_core::units::{Limit, Rate, Span};
use priolane_sim::scenario::{self, PortSpec, SwitchSpec};
use priolane_sim::topology::{PathChoice, Spray, TokenTraffic, Topology};
use priolane_source::{InputError, Origin, Table};

use super::empty_paths::empty_paths;
use super::{admission, paths};
use crate::experiment::{Change, Experiment, overlay};
use crate::scheme::{Fabric, Routing, Scheme};

/// The quantile of delay errors that channels are designed for (PrioPlus §4.3.2).
const NOISE_PART: f64 = 0.9985;

/// Builds the network of `experiment`; `root` is the tree from which it was read, for messages.
pub(super) fn network(experiment: &Experiment, root: &Table) -> Result<Topology, InputError> {
    experiment.topology.build().map_err(|error| {
        let origin = overlay::locate(root, "topology").unwrap_or(Origin { file: "".into(), line: None });
        origin.error("topology", error.to_string(), "See docs/experiments.md for the kinds of topology")
    })
}

/// Returns the network properties against which schemes are checked.
pub(super) fn fabric(experiment: &Experiment, topology: &Topology) -> Fabric {
    let rates = |of_hosts: bool| -> Vec<Rate> {
        let own = topology.links.iter().filter(|l| (l.from.0 < topology.hosts) == of_hosts);
        own.map(|l| l.rate).collect::<BTreeSet<Rate>>().into_iter().collect()
    };
    Fabric {
        frame: experiment.frame,
        switch_rates: rates(false),
        host_rates: rates(true),
        top_class: experiment.top_class(),
        other_class: experiment.other_class(),
        asks: asks(experiment),
        pairs_change: pairs_change(experiment),
        lookahead: topology.lookahead(&experiment.frame),
        noise: experiment.delay_noise.as_ref().map(|noise| noise.law.quantile(NOISE_PART)),
        deadlines: experiment.deadlines(),
        rates_every: experiment.rates_every,
        round_trip: admission::round_trip(topology, &experiment.frame),
        routing: match topology.path_choice {
            PathChoice::Sprayed(_) if !topology.choices.is_empty() => Routing::PerPacket,
            _ if paths::are_stated(experiment) => Routing::Stated,
            _ => Routing::PerFlow,
        },
        symmetric: !uses_symmetric_paths(experiment) || is_symmetric(topology),
        pause_links: pause_links(experiment, topology),
        pause_frames: scenario::pause_frames(&experiment.frame),
        switch_capacity: switch_capacity(topology),
        paths: empty_paths(experiment, topology),
    }
}

/// Whether a scheme's tokens and data use symmetric paths. Only these schemes need the check of path symmetry, which
/// copies the network and its paths.
fn uses_symmetric_paths(experiment: &Experiment) -> bool {
    let mut paths = experiment.scheme.values().filter_map(token_paths);
    paths.any(|paths| paths == tokens::Paths::Symmetric)
}

/// Maximum number of racks between which paths are checked.
const LOOKED_AT: u32 = 48;

/// Whether paths by entropy and tier are the same in both directions, between the first hosts of up to [`LOOKED_AT`]
/// racks.
fn is_symmetric(topology: &Topology) -> bool {
    if topology.choices.is_empty() {
        return true;
    }
    let first = |rack: u32| topology.rack.iter().position(|&r| r == rack).map(|h| HostId(h as u16));
    let some: Vec<HostId> = (0..topology.racks.min(LOOKED_AT)).filter_map(first).collect();
    let topology = Topology { path_choice: PathChoice::Symmetric, ..topology.clone() };
    let meet = |a: HostId, b: HostId| [0, 1, 4_711, 40_503].iter().all(|&e| topology.is_symmetric((a, b), e));
    some.iter().enumerate().all(|(i, &a)| some[..i].iter().all(|&b| meet(a, b)))
}

/// Returns the path choice of tokens and their data; `None` without tokens.
fn token_paths(scheme: &Scheme) -> Option<tokens::Paths> {
    match &scheme.transport {
        Spec::Top(keys) => Some(keys.paths),
        Spec::ExpressPass(_) => Some(tokens::Paths::Symmetric),
        _ => None,
    }
}

/// Returns the path choice of packets under `scheme`; `own` is that of the network.
pub(super) fn path_choice(scheme: &Scheme, own: PathChoice) -> PathChoice {
    match token_paths(scheme) {
        None => own,
        Some(tokens::Paths::Symmetric) => PathChoice::Symmetric,
        Some(tokens::Paths::Spray) => PathChoice::Sprayed(Spray::Random),
        Some(tokens::Paths::RoundRobin) => PathChoice::Sprayed(Spray::RoundRobin),
        Some(tokens::Paths::Drill) => PathChoice::Sprayed(Spray::Drill),
    }
}

/// Returns by switch what the headroom of each ingress link depends on.
fn pause_links(experiment: &Experiment, topology: &Topology) -> Vec<Vec<PauseLink>> {
    let mut of_switches = vec![Vec::new(); topology.nodes() - topology.hosts as usize];
    let all = scenario::pause_links(
        topology,
        (&experiment.frame, experiment.host.send_jitter),
        experiment.host_delay,
    );
    for (link, found) in topology.links.iter().zip(all) {
        if let (Some(switch), Some(found)) = (link.to.index().checked_sub(topology.hosts as usize), found) {
            of_switches[switch].push(found);
        }
    }
    of_switches
}

/// Returns the largest capacity of a switch; `None` without switches.
fn switch_capacity(topology: &Topology) -> Option<Rate> {
    let mut of_switches = vec![0_u64; topology.nodes() - topology.hosts as usize];
    for link in &topology.links {
        if let Some(switch) = link.from.index().checked_sub(topology.hosts as usize) {
            of_switches[switch] = of_switches[switch].saturating_add(link.rate.bps());
        }
    }
    of_switches.into_iter().max().and_then(Rate::from_bps)
}

/// Returns what the experiment's groups pay for.
fn asks(experiment: &Experiment) -> Vec<Capability> {
    let changed = experiment.controls.iter().filter_map(|control| match control.change {
        Change::Pay(pair) => Some(pair.0),
        Change::Abort(_) | Change::Class(_) => None,
    });
    let changed: Vec<Weights> = changed.collect();
    let of_groups = || experiment.groups.iter().flat_map(|group| group.flows.service.pairs());
    let pairs = || of_groups().chain(changed.iter().copied());
    let weights = pairs().any(|pair| pair.w_milli != Weights::BEST_EFFORT.w_milli);
    let shared = experiment.groups.iter().any(|group| group.flows.service.machine().is_some());
    let mut asks = Vec::new();
    if weights || shared {
        asks.push(Capability::Weights);
    }
    if pairs().any(|pair| pair.theta.is_some()) {
        asks.push(Capability::MinimumRates);
    }
    asks
}

/// Whether payments of a flow can change: a virtual machine splits its pair among active flows, or a control changes
/// it.
fn pairs_change(experiment: &Experiment) -> bool {
    let shared = experiment.groups.iter().any(|group| group.flows.service.machine().is_some());
    shared || experiment.controls.iter().any(|control| matches!(control.change, Change::Pay(_)))
}

/// Returns the egress port of each link.
pub(super) fn ports(scheme: &Scheme, topology: &Topology, frame: &Frame) -> Vec<PortSpec> {
    let discipline = discipline(scheme, frame);
    let spec = |rate| PortSpec { discipline: discipline.clone(), buffer: scheme.port.buffer_at(rate) };
    let mut ports: Vec<PortSpec> = topology.links.iter().map(|link| spec(link.rate)).collect();
    let derived = zero_loss(scheme, topology, frame).unwrap_or_default();
    for (port, bytes) in ports.iter_mut().zip(derived) {
        port.buffer.limit = Limit::Bytes(bytes);
    }
    ports
}

/// Returns the discipline of the egress ports.
pub(super) fn discipline(scheme: &Scheme, frame: &Frame) -> DisciplineSpec {
    scheme.port.averaging(with_buffer(scheme, &scheme.port.buffer, frame))
}

/// Returns the port discipline of switches, with this buffer.
fn with_buffer(scheme: &Scheme, buffer: &BufferSpec, frame: &Frame) -> DisciplineSpec {
    let setup = PortSetup { buffer, map: scheme.map.queues(), frame };
    match scheme.port.kind.discipline(&setup) {
        DisciplineSpec::Tokens(spec) => {
            // The transport sends unscheduled packets in a class of their own.
            let blind = matches!(&scheme.transport, Spec::Top(keys) if keys.unscheduled_packets > 0);
            let unscheduled = UnscheduledData { class: UNSCHEDULED_CLASS, room: Some(1) };
            TokenGroupSpec { unscheduled: blind.then_some(unscheduled), ..spec }.into()
        }
        other => other,
    }
}

/// Returns by link the buffer for zero data loss, if the scheme requests it.
pub(super) fn zero_loss(scheme: &Scheme, topology: &Topology, frame: &Frame) -> Option<Vec<u64>> {
    let BufferSpec::ZeroLoss { signals } = scheme.port.buffer else { return None };
    let DisciplineSpec::Tokens(ports) = with_buffer(scheme, &scheme.port.buffer, frame) else { return None };
    let traffic = TokenTraffic { ports, frame: *frame, host_jitter: Span::ZERO, signals };
    Some(topology.token_buffers(&traffic))
}

/// Returns the resources that the ports of a switch share.
pub(super) fn switch(scheme: &Scheme) -> SwitchSpec {
    let memory = scheme.port.buffer.memory();
    match (&scheme.port.pfc, memory) {
        (Some(pfc), Some(memory)) => SwitchSpec { memory: None, lossless: Some(pfc.spec(memory)) },
        _ => SwitchSpec { memory, lossless: None },
    }
}

/// Returns the NIC between transport and link; all host links have the rate `rate`.
pub(super) fn nic(scheme: &Scheme, frame: &Frame, rate: Rate) -> scenario::Nic {
    let Scheme { host, port, map, .. } = scheme;
    let ports = |buffer: &BufferSpec| with_buffer(scheme, buffer, frame);
    let rows = OtherRows { host, ports: &ports, buffer: &port.buffer, map, frame, rate };
    match scheme.nic.part().transmit_queue(&rows) {
        Some(TransmitQueue { discipline, buffer, sort_by }) => {
            scenario::Nic::Queue { port: PortSpec { discipline, buffer }, sort_by }
        }
        None => scenario::Nic::Pull,
    }
}

/// Returns the parameters of a scheme's transport besides its own keys.
pub(super) fn setup(scheme: &Scheme, frame: Frame, monitor: Option<Span>) -> Setup {
    let mss = u64::from(frame.mss());
    let queue_limit = match scheme.nic.part().per_flow_limit() {
        Limit::Packets(n) => Some(u64::from(n) * mss),
        Limit::Bytes(n) => Some(n),
        Limit::Unlimited => None,
    };
    let demoted = |demotion: &Demotion| demotion.ladder(Count::StreamOffset);
    let class = match &scheme.assign {
        Assign::BytesSent(bytes_sent) => bytes_sent.ladder(),
        Assign::None(_) | Assign::ByFlow(_) => DemotionThresholds::FLAT,
    };
    Setup {
        frame,
        scheduler: scheme.host.scheduler(),
        class,
        host_level: scheme.host.part().demotion().map_or(DemotionThresholds::FLAT, demoted),
        queue_limit,
        monitor,
    }
}

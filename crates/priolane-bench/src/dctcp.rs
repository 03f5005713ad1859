//! DCTCP on a leaf-spine and other networks, the base of most benchmark scenarios.

use priolane_core::flows::FlowList;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{CLASSES, HostId};
use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, DisciplineSpec, FifoSpec, SortBy};
use priolane_core::sizes::SizeDistribution;
use priolane_core::transport::dctcp::Reduction;
use priolane_core::transport::window::{self, ControlEcn};
use priolane_core::transport::{Controller, Transport, dctcp, new_reno};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::scenario::{Awaited, Nic, PortSpec, ScenarioError, ScenarioSpec, Stop};
use priolane_sim::topology::{LeafSpine, LinkSpec, PathChoice, Topology, TopologyError};
use priolane_source::InputError;
use priolane_workload::{
    App, AppError, Counts, DestinationScope, InitialState, Load, LoadOf, MinimumLatency, OpenLoop, Poisson,
    SizeDraw, Sizes, Until, WorkloadContext, flow_list,
};

/// A built-in scenario that cannot be built: a bug.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioBuildError {
    /// Invalid topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Invalid traffic.
    #[error(transparent)]
    Flows(#[from] AppError),
    /// Invalid flow list.
    #[error(transparent)]
    List(#[from] InputError),
    /// Invalid size distribution.
    #[error(transparent)]
    Sizes(#[from] priolane_core::sizes::SizeError),
    /// Violated invariant of the scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

pub(super) const CLASS_IS_QUEUE: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The flow list of the leaf-spine.
pub(super) const LIST: &str = include_str!("../data/bench_leafspine144.csv");
pub(super) const LINK_DELAY: Span = Span::from_us(1);
pub(super) const HOST_RATE: Rate = Rate::from_gbps(10);

fn leaf_spine() -> Result<Topology, TopologyError> {
    LeafSpine {
        leaves: 9,
        spines: 4,
        hosts_per_leaf: 16,
        host_link: LinkSpec::lossless(HOST_RATE, LINK_DELAY),
        fabric_link: LinkSpec::lossless(Rate::from_gbps(40), LINK_DELAY),
        links_per_pair: 1,
    }
    .build()
}

/// Returns the leaf-spine and flow list of the cross-check with ns-3 (docs/performance.md).
pub(super) fn leafspine144() -> Result<ScenarioSpec, ScenarioBuildError> {
    let mut topology = leaf_spine()?;
    topology.path_choice = PathChoice::Pinned;
    let list = flow_list::read(LIST.as_bytes(), "bench_leafspine144.csv", topology.hosts)?;
    let mut flows = priolane_workload::merge(vec![list.into()]);
    flows.edit_all(|flow| {
        flow.entropy = (split_mix_64(u64::from(flow.id.0)) % 4) as u16;
    });
    let frame = Frame { mtu: 1500, header: 52, link: 2, minimum: 0, gap: 0, ack: 52, syn: 56 };
    let window = window::Config {
        min_rto: Span::from_ms(5),
        initial_rto: Span::from_ms(5),
        max_window: Some(2_000_000),
        control_ecn: ControlEcn::Yes,
        ..window::Config::new(frame)
    };
    let nic = Nic::Queue { port: port(HOST_RATE), sort_by: SortBy::HostLevel };
    let scenario = dctcp_scenario(topology, Dctcp { window, alpha_0: 1.0, reduction: Reduction::Ns3 }, flows);
    Ok(ScenarioSpec { nic, ..scenario })
}

/// Returns a scenario with `count` flows of 3 kB on the leaf-spine.
pub(super) fn short_flows(count: u32) -> Result<ScenarioSpec, ScenarioBuildError> {
    let topology = leaf_spine()?;
    let frame = Frame::ETHERNET;
    let load = Load { of: LoadOf::Host, counts: Counts::Payload, value: 0.5 };
    let sizes = SizeDistribution::fixed(3_000.0)?;
    let open_loop = OpenLoop { sizes: Sizes::of("fixed", sizes), load, reach: DestinationScope::AnyHost };
    let app = App::Poisson(Poisson { open_loop, draw: SizeDraw::Independent });
    let flows = generate(&app, &topology, frame, (0, Until::Flows(u64::from(count))))?;
    Ok(dctcp_scenario(
        topology,
        Dctcp { window: window::Config::new(frame), alpha_0: 0.0, reduction: Reduction::AtOnce },
        flows,
    ))
}

/// Generates the flows of one app among all hosts, as the given group of an experiment, until the given limit.
pub(super) fn generate(
    app: &App,
    topology: &Topology,
    frame: Frame,
    (group, until): (u16, Until),
) -> Result<FlowList, AppError> {
    let hosts: Vec<HostId> = (0..topology.hosts).map(|host| HostId(host as u16)).collect();
    let site = WorkloadContext {
        hosts: &hosts,
        to: &hosts,
        rack: &topology.rack,
        host_rate: HOST_RATE,
        core_rate_bps: topology.core_capacity(),
        frame,
        seed: 1,
        group,
        until,
        floor: MinimumLatency { trip: topology.lookahead(&frame).times(2), rate: HOST_RATE },
        changes: &[],
        measured: [Time::ZERO, Time::NEVER],
        initial: InitialState::Empty,
        under_way: &[],
    };
    Ok(priolane_workload::merge(vec![priolane_workload::generate(app, &site)?]))
}

/// The transport parameters in which scenarios differ.
pub(super) struct Dctcp {
    pub(super) window: window::Config,
    pub(super) alpha_0: f64,
    pub(super) reduction: Reduction,
}

/// Returns a scenario with DCTCP over FIFO ports, in which links pull packets from hosts, until all flows complete.
pub(super) fn dctcp_scenario(topology: Topology, dctcp: Dctcp, flows: FlowList) -> ScenarioSpec {
    let reno = new_reno::Config { init_window: None };
    let controller = Controller::Dctcp(dctcp::Config {
        reno,
        g: 1.0 / 16.0,
        alpha_0: dctcp.alpha_0,
        min_window: 2,
        reduction: dctcp.reduction,
    });
    let window = dctcp.window;
    let ports = topology.links.iter().map(|link| port(link.rate)).collect();
    let transport = Transport::Window { window, controller, scheduler: SchedulerKind::RoundRobin };
    let limit = Time(100_000_000_000_000);
    let stop =
        Stop::WhenDone { awaits: Awaited::Finite, grace: Span::from_ms(1), not_before: Time::ZERO, limit };
    ScenarioSpec::new(topology, ports, transport, flows, stop)
}

/// Returns a queue that marks above 66 packets at 10G and 261 at 40G. ns-3 uses 65 and 260, since its device removes
/// one packet more from the queue than ours.
fn port(rate: Rate) -> PortSpec {
    let mark_above = Limit::Packets(if rate > HOST_RATE { 261 } else { 66 });
    let buffer = Buffer { limit: Limit::Packets(20_000), mark_above, ..Buffer::UNLIMITED };
    PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer }
}

/// SplitMix64 (Steele et al., OOPSLA 2014), as a function of its state.
fn split_mix_64(state: u64) -> u64 {
    let x = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_64_gives_its_published_first_value() {
        assert_eq!(split_mix_64(0), 0xE220_A839_7B1D_CDAF);
    }

    #[test]
    fn leaf_spine_list_offers_the_stated_load() {
        let scenario = leafspine144().unwrap();
        let bytes: u64 = scenario.flows.iter().filter_map(|flow| flow.size).sum();
        let last = scenario.flows.last().unwrap().start.as_secs_f64();
        let load = bytes as f64 * 8.0 / last / (144.0 * 10e9);
        // The mean of 2,000 sizes whose standard deviation is twice their mean has an error of about 5 %.
        assert_eq!(scenario.flows.len(), 2_000);
        assert!((0.5..0.7).contains(&load), "{load}");
    }
}

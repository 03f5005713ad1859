//! The scenarios that are measured.

use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, Limit, SortBy};
use priolane_core::transport::window::{self, ControlEcn};
use priolane_core::transport::{Controller, Transport, dctcp, new_reno};
use priolane_core::units::{Rate, Span, Time};
use priolane_sim::scenario::{Nic, PortSpec, Queues, Scenario, Stop};
use priolane_sim::topology::{FatTree, LeafSpine, LinkSpec, PathChoice, Topology};

use super::limit::SizeOf;
use crate::workload::{self, App, Permutation, Site, Until, flow_list};

/// A scenario, to be made when it is wanted.
pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) make: fn() -> Scenario,
    pub(super) size: SizeOf,
    pub(super) usual: Usual,
}

/// Whether a scenario is measured without being asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Usual {
    Yes,
    No,
}

/// 144 hosts hold about 1,000 packets in flight and 1 MB of ports and flows; 128 hosts in a fat-tree alike.
pub(super) const ALL: [Named; 3] = [
    Named {
        name: "dctcp_leafspine144",
        make: leafspine144,
        size: SizeOf { pending: 1_000, state: 3 << 19 },
        usual: Usual::Yes,
    },
    Named {
        name: "dctcp_permutation128",
        make: permutation128,
        size: SizeOf { pending: 1_000, state: 3 << 19 },
        usual: Usual::Yes,
    },
    Named {
        name: "million_flows",
        make: million_flows,
        size: SizeOf { pending: 1_000, state: 8 << 20 },
        usual: Usual::No,
    },
];

const LIST: &str = include_str!("../../../../workloads/bench_leafspine144.csv");
const US: Span = Span::from_us(1);

fn leaf_spine() -> Topology {
    let link = |gbps| LinkSpec::lossless(Rate::from_gbps(gbps), US);
    let shape = LeafSpine {
        leaves: 9,
        spines: 4,
        hosts_per_leaf: 16,
        host_link: link(10),
        fabric_link: link(40),
        links_per_pair: 1,
    };
    shape.build().expect("invariant: the specification is valid")
}

fn leafspine144() -> Scenario {
    let frame = Frame { mtu: 1500, header: 52, link: 2, minimum: 0, gap: 0, ack: 52, syn: 56 };
    let mut flows = flow_list::read(LIST.as_bytes(), "bench_leafspine144.csv", 144)
        .expect("invariant: the list that is compiled in is a valid one");
    flows = workload::merge(vec![flows]);
    for flow in &mut flows {
        flow.entropy = flow.id.0 as u16;
    }
    let config = window::Config {
        max_window: 2_000_000,
        min_rto: Span::from_ms(5),
        initial_rto: Span::from_ms(5),
        control_ecn: ControlEcn::Yes,
        ..window::Config::new(frame)
    };
    let mut topology = leaf_spine();
    topology.path_choice = PathChoice::Pinned;
    scenario(topology, (frame, config, 1.0), flows)
}

fn permutation128() -> Scenario {
    let link = LinkSpec::lossless(Rate::from_gbps(10), US);
    let shape = FatTree { k: 8, host_link: link, fabric_link: link };
    let topology = shape.build().expect("invariant: the specification is valid");
    let frame = Frame { mtu: 9000, ..Frame::ETHERNET };
    let app = App::Permutation(Permutation { size: Some(40_000_000), start: Time::ZERO, jitter: US });
    let flows = generated(&app, &topology, frame, Until::Flows(128));
    scenario(topology, (frame, window::Config::new(frame), 0.0), flows)
}

/// A million flows of one packet or few: what a run keeps of a flow is what counts.
fn million_flows() -> Scenario {
    let topology = leaf_spine();
    let frame = Frame::ETHERNET;
    let sizes = priolane_core::sizes::SizeDistribution::fixed(3_000.0).expect("invariant: a valid size");
    let load = workload::Load { of: workload::LoadOf::Host, counts: workload::Counts::Payload, value: 0.5 };
    let app = App::Poisson(workload::Poisson { sizes, load, reach: workload::Reach::AnyHost });
    let flows = generated(&app, &topology, frame, Until::Flows(1_000_000));
    scenario(topology, (frame, window::Config::new(frame), 0.0), flows)
}

fn generated(app: &App, topology: &Topology, frame: Frame, until: Until) -> Vec<FlowSpec> {
    let hosts: Vec<HostId> = (0..topology.hosts).map(|h| HostId(h as u16)).collect();
    let site = Site {
        hosts: &hosts,
        to: &hosts,
        rack: &topology.rack,
        host_rate: topology.host_capacity(HostId(0)),
        core_rate_bps: topology.core_capacity(),
        frame,
        seed: 1,
        group: 0,
        until,
    };
    workload::merge(vec![workload::generate(app, &site).expect("invariant: app and site fit")])
}

/// DCTCP over FIFO ports: 66 packets at 10G and 261 at 40G before a mark, 20,000 before a drop.
fn scenario(
    topology: Topology,
    (frame, window, alpha_0): (Frame, window::Config, f64),
    flows: Vec<FlowSpec>,
) -> Scenario {
    let port = |rate: Rate| {
        let mark_above = Limit::Packets(if rate == Rate::from_gbps(40) { 261 } else { 66 });
        let buffer = Buffer { limit: Limit::Packets(20_000), mark_above, ..Buffer::UNLIMITED };
        PortSpec { queues: Queues::Fifo, buffer }
    };
    let reno = new_reno::Config { init_window: None };
    let controller = Controller::Dctcp(dctcp::Config { reno, g: 1.0 / 16.0, alpha_0, min_window: 2 });
    Scenario {
        ports: topology.links.iter().map(|link| port(link.rate)).collect(),
        frame,
        transport: Transport::Window { window, controller, scheduler: SchedulerKind::RoundRobin },
        nic: Nic::Queue { port: port(Rate::from_gbps(10)), sort_by: SortBy::HostLevel },
        host_delay: Span::ZERO,
        controls: Vec::new(),
        seed: 1,
        stop: Stop::WhenDone { grace: Span::from_ms(1), limit: Time(100_000_000_000_000) },
        sample_every: None,
        tie_shuffle: None,
        flows,
        topology,
    }
}

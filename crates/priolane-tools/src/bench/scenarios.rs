//! The scenarios that are measured, and how large each is for the yardstick.

use priolane_core::flows::FlowList;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{CLASSES, HostId};
use priolane_core::packet::Frame;
use priolane_core::port::{
    Alpha, Buffer, DataRate, DisciplineSpec, FifoSpec, Limit, Overflow, QueueWeights, Scope, SharedBuffer,
    SortBy, StrictSpec, TokenGroupSpec, TrimmingSpec, WfqSpec,
};
use priolane_core::sizes::SizeDistribution;
use priolane_core::transport::dctcp::Reduction;
use priolane_core::transport::window::{self, ControlEcn};
use priolane_core::transport::{Controller, Transport, dctcp, new_reno};
use priolane_core::units::{Rate, Span, Time};
use priolane_sim::outage::Outages;
use priolane_sim::scenario::{Measuring, Nic, PortSpec, Scenario, Stop, SwitchSpec};
use priolane_sim::topology::{FatTree, LeafSpine, LinkSpec, PathChoice, Topology, TopologyError};
use priolane_source::InputError;
use priolane_workload::{
    App, AppError, Counts, Floor, Load, LoadOf, OpenLoop, Permutation, Poisson, Reach, Site, SizeDraw, Sizes,
    Starts, Until, flow_list,
};

use super::cells::{self, Cell};
use super::growth::{self, Case};
use super::limit::Extent;
use super::rivals::{self, Rival};

/// A scenario that can be measured.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// Its size for the yardstick; docs/bench.md counts it out. `None`: as its runs turn out ([`super::Raw::extent`]).
    pub extent: Option<Extent>,
    /// Whether it is measured without being asked for.
    pub usual: Usual,
    make: Make,
}

/// How a scenario is made.
#[derive(Clone, Copy, Debug)]
enum Make {
    /// By itself.
    By(fn() -> Result<Scenario, Broken>),
    /// As a case of the growth table.
    Case(Case),
    /// As a cell of the grid of TOP.
    Cell(Cell),
    /// As so many short flows.
    Short(u32),
}

/// Whether a scenario is measured without being asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Measured if nothing is asked for.
    Yes,
    /// Measured by name only.
    No,
}

/// A scenario of ours that cannot be built: a defect.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// Its topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Its flows.
    #[error(transparent)]
    Flows(#[from] AppError),
    /// Its flow list.
    #[error(transparent)]
    List(#[from] InputError),
    /// Its law of sizes.
    #[error(transparent)]
    Sizes(#[from] priolane_core::sizes::SizeError),
}

const FABRIC: Extent = Extent { pending: 1_000, footprint: 3 << 19 };

/// All scenarios, the usual ones first.
pub const ALL: [Named; 18] = [
    Named {
        name: "dctcp_leafspine144",
        about: "9 x 16 hosts, 10G/40G, DCTCP, 2,000 web search flows at load 0.6, SACK, NIC queues",
        extent: Some(FABRIC),
        usual: Usual::Yes,
        make: Make::By(leafspine144),
    },
    Named {
        name: "dctcp_permutation128",
        about: "fat-tree k=8, 10G, MTU 9000, DCTCP, 50 MB from each host to another",
        extent: Some(FABRIC),
        usual: Usual::Yes,
        make: Make::By(permutation128),
    },
    Named {
        name: "dctcp_fattree1024",
        about: "fat-tree k=16, 100G, MTU 9000, DCTCP, 36 MB from each host to another",
        extent: Some(Extent { pending: 10_000, footprint: 7 << 19 }),
        usual: Usual::Yes,
        make: Make::By(fattree1024),
    },
    Named {
        name: "million_flows",
        about: "a million flows of 3 kB on the leaf-spine: what a run keeps of a flow",
        extent: Some(Extent { pending: 1_000, footprint: 64 << 20 }),
        usual: Usual::No,
        make: Make::Short(1_000_000),
    },
    variant("dctcp_leafspine144_fifo3", "the leaf-spine with flows of three classes", || {
        mixed(DisciplineSpec::Fifo(FifoSpec))
    }),
    variant("dctcp_leafspine144_strict", "those with 3 strict queues that mark by themselves", || {
        mixed(DisciplineSpec::Strict(StrictSpec { queues: 3, map: CLASS_IS_QUEUE }))
    }),
    variant("dctcp_leafspine144_wfq", "those with 3 weighted queues (8:4:1) that mark by themselves", || {
        let weights = QueueWeights::new(&[8, 4, 1]).expect("invariant: weights within bounds");
        mixed(DisciplineSpec::Wfq(WfqSpec { weights, map: CLASS_IS_QUEUE }))
    }),
    variant("dctcp_leafspine144_dynamic", "those with one queue and 4 MB shared by a switch", || {
        let memory = Alpha::new((1, 1)).map(|alpha| SharedBuffer { size: 4_000_000, alpha });
        Ok(Scenario {
            switch: SwitchSpec { memory, lossless: None },
            ..mixed(DisciplineSpec::Fifo(FifoSpec))?
        })
    }),
    variant(
        "dctcp_leafspine144_pfc",
        "those with one queue and all classes lossless, in 4 MB a switch",
        || Ok(Scenario { switch: rivals::lossless(), ..mixed(DisciplineSpec::Fifo(FifoSpec))? }),
    ),
    variant("dctcp_leafspine144_tokens", "those with ports for tokens, of which none comes", || {
        mixed(DisciplineSpec::Tokens(TokenGroupSpec { data: DataRate::Unlimited, ..TokenGroupSpec::TOP }))
    }),
    variant("dctcp_leafspine144_trimming", "those with ports that trim what they would drop", || {
        mixed(DisciplineSpec::Trimming(TrimmingSpec { headers: Limit::Unlimited, overflow: Overflow::Drop }))
    }),
    variant("pfabric_leafspine144", "the leaf-spine, sprayed, under pFabric", || {
        rivals::scenario(Rival::PFabric)
    }),
    variant("phost_leafspine144", "the leaf-spine, sprayed, under pHost", || rivals::scenario(Rival::PHost)),
    variant("ndp_leafspine144", "the leaf-spine, sprayed, under NDP", || rivals::scenario(Rival::Ndp)),
    variant("homa_leafspine144", "the leaf-spine, sprayed, under Homa", || rivals::scenario(Rival::Homa)),
    variant("hpcc_leafspine144", "the leaf-spine, lossless, under HPCC", || rivals::scenario(Rival::Hpcc)),
    variant("expresspass_leafspine144", "the leaf-spine, symmetric, under ExpressPass", || {
        rivals::scenario(Rival::ExpressPass)
    }),
    variant("top_leafspine144", "the leaf-spine, symmetric, under TOP", || rivals::scenario(Rival::Top)),
];

/// The leaf-spine with another port: what a hop through that costs.
const fn variant(name: &'static str, about: &'static str, make: fn() -> Result<Scenario, Broken>) -> Named {
    Named { name, about, extent: Some(FABRIC), usual: Usual::No, make: Make::By(make) }
}

pub(super) const CLASS_IS_QUEUE: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The leaf-spine with flows of classes 0, 1, 2 in turns and these queues at switches, each marking by itself.
fn mixed(queues: DisciplineSpec) -> Result<Scenario, Broken> {
    let mut scenario = leafspine144()?;
    scenario.flows.edit_all(|flow| {
        flow.class = (flow.id.0 % 3) as u8;
    });
    for port in &mut scenario.ports {
        port.discipline = queues;
        port.buffer.mark_scope = Scope::Queue;
    }
    Ok(scenario)
}

impl Named {
    /// The scenario of that name, those of the growth table included.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter()
            .chain(growth::TABLE)
            .chain(growth::MEMORY)
            .chain(growth::SMALL)
            .chain(growth::FINISHED)
            .chain(cells::CELLS)
            .find(|named| named.name == name)
    }

    /// A case of the growth table.
    pub(super) const fn case(name: &'static str, about: &'static str, case: Case) -> Self {
        Self { name, about, extent: None, usual: Usual::No, make: Make::Case(case) }
    }

    /// A cell of the grid of TOP.
    pub(super) const fn cell(name: &'static str, cell: Cell) -> Self {
        let about = "32 hosts under TOP: flows a host x packets, delay of a link";
        Self { name, about, extent: None, usual: Usual::No, make: Make::Cell(cell) }
    }

    /// So many short flows.
    pub(super) const fn short(name: &'static str, flows: u32) -> Self {
        Self {
            name,
            about: "flows of 3 kB on the leaf-spine",
            extent: None,
            usual: Usual::No,
            make: Make::Short(flows),
        }
    }

    /// The case of the growth table that it is.
    pub fn growth(&self) -> Option<Case> {
        match self.make {
            Make::By(_) | Make::Cell(_) | Make::Short(_) => None,
            Make::Case(case) => Some(case),
        }
    }

    /// Builds it, with the first `flows` of its flows, or all.
    pub(super) fn build(&self, flows: Option<u32>) -> Result<Scenario, Broken> {
        let mut scenario = match &self.make {
            Make::By(make) => make()?,
            Make::Case(case) => case.build()?,
            Make::Cell(cell) => cell.build()?,
            Make::Short(flows) => short_flows(*flows)?,
        };
        if let Some(flows) = flows {
            scenario.flows.truncate(flows as usize);
        }
        Ok(scenario)
    }
}

/// The flow list of the leaf-spine.
pub(super) const LIST: &str = include_str!("../../../../workloads/bench_leafspine144.csv");
pub(super) const LINK_DELAY: Span = Span::from_us(1);
const HOST_RATE: Rate = Rate::from_gbps(10);

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

/// The leaf-spine and flow list of the cross-check with ns-3 (docs/bench.md).
pub(super) fn leafspine144() -> Result<Scenario, Broken> {
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
    Ok(Scenario { nic, ..scenario })
}

fn permutation128() -> Result<Scenario, Broken> {
    let link = LinkSpec::lossless(HOST_RATE, LINK_DELAY);
    let topology = FatTree { k: 8, host_link: link, fabric_link: link }.build()?;
    let frame = Frame { mtu: 9000, ..Frame::ETHERNET };
    let app = App::Permutation(Permutation { size: Some(50_000_000), starts: within(LINK_DELAY) });
    let flows = generated(&app, &topology, frame, (0, Until::Flows(u64::from(topology.hosts))))?;
    Ok(dctcp_scenario(
        topology,
        Dctcp { window: window::Config::new(frame), alpha_0: 0.0, reduction: Reduction::AtOnce },
        flows,
    ))
}

/// At 100G, marked above 66 packets: four bandwidth-delay products.
fn fattree1024() -> Result<Scenario, Broken> {
    Case { k: 16, packets: 4_000, ..growth::FABRIC }.build()
}

fn short_flows(count: u32) -> Result<Scenario, Broken> {
    let topology = leaf_spine()?;
    let frame = Frame::ETHERNET;
    let load = Load { of: LoadOf::Host, counts: Counts::Payload, value: 0.5 };
    let sizes = SizeDistribution::fixed(3_000.0)?;
    let open_loop = OpenLoop { sizes: Sizes::of("web_search", sizes), load, reach: Reach::AnyHost };
    let app = App::Poisson(Poisson { open_loop, draw: SizeDraw::Independent });
    let flows = generated(&app, &topology, frame, (0, Until::Flows(u64::from(count))))?;
    Ok(dctcp_scenario(
        topology,
        Dctcp { window: window::Config::new(frame), alpha_0: 0.0, reduction: Reduction::AtOnce },
        flows,
    ))
}

/// The flows of one app among all hosts, as this group of an experiment and until then.
pub(super) fn generated(
    app: &App,
    topology: &Topology,
    frame: Frame,
    (group, until): (u16, Until),
) -> Result<FlowList, AppError> {
    let hosts: Vec<HostId> = (0..topology.hosts).map(|host| HostId(host as u16)).collect();
    let site = Site {
        hosts: &hosts,
        to: &hosts,
        rack: &topology.rack,
        host_rate: HOST_RATE,
        core_rate_bps: topology.core_capacity(),
        frame,
        seed: 1,
        group,
        until,
        floor: Floor { trip: topology.lookahead(&frame).times(2), rate: HOST_RATE },
        changes: &[],
        measured_from: Time::ZERO,
    };
    Ok(priolane_workload::merge(vec![priolane_workload::generate(app, &site)?]))
}

/// From the beginning on, up to so much later.
pub(super) fn within(jitter: Span) -> Starts {
    Starts { start: Span::ZERO, jitter }
}

/// The transport of a scenario, as far as scenarios differ.
pub(super) struct Dctcp {
    pub(super) window: window::Config,
    pub(super) alpha_0: f64,
    pub(super) reduction: Reduction,
}

/// DCTCP over first-in first-out ports, pulled from hosts, until all flows are done.
pub(super) fn dctcp_scenario(topology: Topology, dctcp: Dctcp, flows: FlowList) -> Scenario {
    let reno = new_reno::Config { init_window: None };
    let controller = Controller::Dctcp(dctcp::Config {
        reno,
        g: 1.0 / 16.0,
        alpha_0: dctcp.alpha_0,
        min_window: 2,
        reduction: dctcp.reduction,
    });
    let window = dctcp.window;
    Scenario {
        ports: topology.links.iter().map(|link| port(link.rate)).collect(),
        frame: window.frame,
        transport: Transport::Window { window, controller, scheduler: SchedulerKind::RoundRobin },
        nic: Nic::Pull,
        switch: SwitchSpec::default(),
        host_delay: Span::ZERO,
        measuring: Measuring::default(),
        flows,
        waits: Vec::new(),
        outages: Outages::default(),
        controls: Vec::new(),
        adaptation: None,
        admission: priolane_core::admit::Policy::None,
        machines: Vec::new(),
        on_downgrade: Vec::new(),
        rates_every: None,
        admission_every: None,
        seed: 1,
        stop: Stop::WhenDone {
            grace: Span::from_ms(1),
            not_before: Time::ZERO,
            limit: Time(100_000_000_000_000),
        },
        sample_every: None,
        tie_shuffle: None,
        topology,
    }
}

/// A queue that marks above 66 packets at 10G and 261 at 40G: one more than ns-3's 65 and 260, since its device
/// takes one packet more out of the queue than ours.
fn port(rate: Rate) -> PortSpec {
    let mark_above = Limit::Packets(if rate > HOST_RATE { 261 } else { 66 });
    let buffer = Buffer { limit: Limit::Packets(20_000), mark_above, ..Buffer::UNLIMITED };
    PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer }
}

/// SplitMix64 (Steele et al., OOPSLA 2014) of a state.
fn split_mix_64(state: u64) -> u64 {
    let x = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use priolane_core::endpoint::FlowSpec;
    use priolane_sim::scenario::Engine;
    use priolane_sim::{Drive, run};

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
        // 2,000 sizes with a standard deviation of twice their mean leave about 5 %.
        assert_eq!(scenario.flows.len(), 2_000);
        assert!((0.5..0.7).contains(&load), "{load}");
    }

    #[test]
    fn permutation_uses_each_host_once_as_source_and_once_as_destination() {
        let flows = permutation128().unwrap().flows;
        for of in [|flow: FlowSpec| flow.src, |flow: FlowSpec| flow.dst] {
            let mut hosts: Vec<u16> = flows.iter().map(|flow| of(flow).0).collect();
            hosts.sort_unstable();
            assert_eq!(hosts, (0..128).collect::<Vec<u16>>());
        }
    }

    #[test]
    fn both_engines_do_the_same_work_in_each_scenario() {
        for named in &ALL {
            let mut scenario = named.build(Some(60)).unwrap();
            scenario.flows.edit_all(|flow| flow.size = flow.size.map(|size| size.min(300_000)));
            let [mut window, wheel] = [Engine::Window, Engine::Wheel]
                .map(|engine| run(&scenario, Drive::on(engine), &mut |_| ControlFlow::Continue(())).unwrap());
            assert!(window.flows.iter().all(|flow| flow.fct.is_some()), "{}", named.name);
            window.work.events = wheel.work.events;
            assert_eq!(window, wheel, "{}", named.name);
        }
    }
}

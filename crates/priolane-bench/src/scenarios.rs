//! The benchmark scenarios.

use priolane_core::packet::Frame;
use priolane_core::port::{
    Alpha, DisciplineSpec, FifoSpec, Overflow, QueueWeights, Scope, SharedBuffer, StrictSpec, TokenGroupSpec,
    TokenMode, TrimmingSpec, WfqSpec,
};
use priolane_core::transport::dctcp::Reduction;
use priolane_core::transport::window;
use priolane_core::units::{Limit, Span};
use priolane_sim::scenario::{ScenarioSpec, SwitchSpec};
use priolane_sim::topology::{FatTree, LinkSpec};
use priolane_workload::{App, Permutation, Starts, Until};

use super::case::{self, Case};
use super::cell::Cell;
use super::dctcp::{
    CLASS_IS_QUEUE, Dctcp, HOST_RATE, LINK_DELAY, ScenarioBuildError, dctcp_scenario, generate, leafspine144,
};
use super::limit::Extent;
use super::named::{Make, NamedScenario, Usual};
use super::rivals::{self, TransportVariant};

const FABRIC: Extent = Extent { pending: 1_000, footprint: 3 << 19 };

/// All scenarios of `priolane bench`, the default ones first.
pub const ALL: [NamedScenario; 18] = [
    NamedScenario {
        name: "dctcp_leafspine144",
        about: "9 x 16 hosts, 10G/40G, DCTCP, 2,000 web search flows at load 0.6, SACK, NIC queues",
        extent: Some(FABRIC),
        usual: Usual::Yes,
        make: Make::By(leafspine144),
    },
    NamedScenario {
        name: "dctcp_permutation128",
        about: "fat-tree k=8, 10G, MTU 9000, DCTCP, 50 MB from each host to another host",
        extent: Some(FABRIC),
        usual: Usual::Yes,
        make: Make::By(permutation128),
    },
    NamedScenario {
        name: "dctcp_fattree1024",
        about: "fat-tree k=16, 100G, MTU 9000, DCTCP, 36 MB from each host to another host",
        extent: Some(Extent { pending: 10_000, footprint: 7 << 19 }),
        usual: Usual::Yes,
        make: Make::By(fattree1024),
    },
    NamedScenario {
        name: "million_flows",
        about: "a million flows of 3 kB on the leaf-spine: memory of a run per flow",
        extent: Some(Extent { pending: 1_000, footprint: 64 << 20 }),
        usual: Usual::No,
        make: Make::Short(1_000_000),
    },
    variant("dctcp_leafspine144_fifo3", "the leaf-spine with flows of three classes", || {
        mixed(DisciplineSpec::Fifo(FifoSpec))
    }),
    variant(
        "dctcp_leafspine144_strict",
        "the same with 3 strict-priority queues, each with its own marking",
        || mixed(DisciplineSpec::Strict(StrictSpec { queues: 3, map: CLASS_IS_QUEUE })),
    ),
    variant(
        "dctcp_leafspine144_wfq",
        "the same with 3 weighted queues (8:4:1), each with its own marking",
        || {
            let weights = QueueWeights::new(&[8, 4, 1]).expect("invariant: weights within bounds");
            mixed(DisciplineSpec::Wfq(WfqSpec { weights, map: CLASS_IS_QUEUE }))
        },
    ),
    variant(
        "dctcp_leafspine144_dynamic",
        "the same with one queue and 4 MB of shared buffer per switch",
        || {
            let memory = Alpha::new((1, 1)).map(|alpha| SharedBuffer { size: 4_000_000, alpha });
            Ok(ScenarioSpec {
                switch: SwitchSpec { memory, lossless: None },
                ..mixed(DisciplineSpec::Fifo(FifoSpec))?
            })
        },
    ),
    variant(
        "dctcp_leafspine144_pfc",
        "the same with one queue and all classes lossless, in 4 MB per switch",
        || Ok(ScenarioSpec { switch: rivals::lossless(), ..mixed(DisciplineSpec::Fifo(FifoSpec))? }),
    ),
    variant("dctcp_leafspine144_tokens", "the same with token ports that receive no tokens", || {
        mixed(DisciplineSpec::Tokens(TokenGroupSpec {
            mode: TokenMode::UnlimitedDataLow,
            ..TokenGroupSpec::TOP
        }))
    }),
    variant(
        "dctcp_leafspine144_trimming",
        "the same with ports that trim packets instead of dropping them",
        || {
            mixed(DisciplineSpec::Trimming(TrimmingSpec {
                headers: Limit::Unlimited,
                overflow: Overflow::Drop,
            }))
        },
    ),
    variant("pfabric_leafspine144", "the leaf-spine with packet spraying and pFabric", || {
        rivals::scenario(TransportVariant::PFabric)
    }),
    variant("phost_leafspine144", "the leaf-spine with packet spraying and pHost", || {
        rivals::scenario(TransportVariant::PHost)
    }),
    variant("ndp_leafspine144", "the leaf-spine with packet spraying and NDP", || {
        rivals::scenario(TransportVariant::Ndp)
    }),
    variant("homa_leafspine144", "the leaf-spine with packet spraying and Homa", || {
        rivals::scenario(TransportVariant::Homa)
    }),
    variant("hpcc_leafspine144", "the lossless leaf-spine with HPCC", || {
        rivals::scenario(TransportVariant::Hpcc)
    }),
    variant("expresspass_leafspine144", "the leaf-spine with symmetric routing and ExpressPass", || {
        rivals::scenario(TransportVariant::ExpressPass)
    }),
    variant("top_leafspine144", "the leaf-spine with symmetric routing and TOP", || {
        rivals::scenario(TransportVariant::Top)
    }),
];

/// Returns a variant of the leaf-spine with another port discipline, to measure its cost per hop.
const fn variant(
    name: &'static str,
    about: &'static str,
    make: fn() -> Result<ScenarioSpec, ScenarioBuildError>,
) -> NamedScenario {
    NamedScenario { name, about, extent: Some(FABRIC), usual: Usual::No, make: Make::By(make) }
}

/// Returns the leaf-spine with flows of classes 0, 1, 2 in rotation and the given switch queues, each marking on its
/// own length.
fn mixed(queues: DisciplineSpec) -> Result<ScenarioSpec, ScenarioBuildError> {
    let mut scenario = leafspine144()?;
    scenario.flows.edit_all(|flow| {
        flow.class = (flow.id.0 % 3) as u8;
    });
    for port in &mut scenario.ports {
        port.discipline = queues.clone();
        port.buffer.mark_scope = Scope::Queue;
    }
    Ok(scenario)
}

fn permutation128() -> Result<ScenarioSpec, ScenarioBuildError> {
    let link = LinkSpec::lossless(HOST_RATE, LINK_DELAY);
    let topology = FatTree { k: 8, host_link: link, fabric_link: link }.build()?;
    let frame = Frame { mtu: 9000, ..Frame::ETHERNET };
    let app = App::Permutation(Permutation { size: Some(50_000_000), starts: Starts::within(LINK_DELAY) });
    let flows = generate(&app, &topology, frame, (0, Until::Flows(u64::from(topology.hosts))))?;
    Ok(dctcp_scenario(
        topology,
        Dctcp { window: window::Config::new(frame), alpha_0: 0.0, reduction: Reduction::AtOnce },
        flows,
    ))
}

/// At 100G with a marking threshold of 66 packets: four bandwidth-delay products.
fn fattree1024() -> Result<ScenarioSpec, ScenarioBuildError> {
    Case { k: 16, packets: 4_000, ..case::FABRIC }.build()
}

/// Long links, so that different windows lead to different numbers of packets in flight.
const LONG: Case = Case { delay: Span::from_us(100), packets: 6_000, ..case::FABRIC };

/// The rows of the growth table, each with 20 to 100 million packet-hops.
pub const TABLE: &[NamedScenario] = &[
    NamedScenario::case("grow_128x1", "128 hosts, 1 flow each", Case { packets: 24_000, ..case::FABRIC }),
    NamedScenario::case("grow_128x16", "", Case { flows_per_host: 16, packets: 1_500, ..case::FABRIC }),
    NamedScenario::case("grow_128x64", "", Case { flows_per_host: 64, packets: 400, ..case::FABRIC }),
    NamedScenario::case("grow_1024x1", "", Case { k: 16, packets: 3_000, ..case::FABRIC }),
    NamedScenario::case("grow_1024x16", "", Case { k: 16, flows_per_host: 16, packets: 200, ..case::FABRIC }),
    NamedScenario::case("grow_1024x64", "", Case { k: 16, flows_per_host: 64, packets: 60, ..case::FABRIC }),
    NamedScenario::case("grow_8192x1", "", Case { k: 32, packets: 400, ..case::FABRIC }),
    NamedScenario::case("grow_8192x16", "", Case { k: 32, flows_per_host: 16, packets: 40, ..case::FABRIC }),
    NamedScenario::case("grow_8192x64", "", Case { k: 32, flows_per_host: 64, packets: 15, ..case::FABRIC }),
    NamedScenario::case(
        "few_in_1024",
        "8 flows in 1,024 hosts",
        Case { k: 16, packets: 200_000, only: Some(8), ..case::FABRIC },
    ),
];

/// Pairs in which the second case has more of one item: packets in flight, active flows.
pub const MEMORY: &[NamedScenario] = &[
    NamedScenario::case("memory_windows_16", "", Case { window: Some(16), ..LONG }),
    NamedScenario::case("memory_windows_1000", "", Case { window: Some(1_000), ..LONG }),
    NamedScenario::case(
        "memory_flows_64",
        "",
        Case { flows_per_host: 64, packets: 10, window: Some(1), ..LONG },
    ),
    NamedScenario::case(
        "memory_flows_1024",
        "",
        Case { flows_per_host: 1_024, packets: 10, window: Some(1), ..LONG },
    ),
];

/// Short cases, for counting instructions.
const SMALL: &[NamedScenario] = &[
    NamedScenario::case(
        "small_128x1",
        "128 hosts, 1 flow of 150 packets each",
        Case { packets: 150, ..case::FABRIC },
    ),
    NamedScenario::case(
        "small_128x16",
        "128 hosts, 16 flows of 10 packets each",
        Case { flows_per_host: 16, packets: 10, ..case::FABRIC },
    ),
];

/// Runs from which the memory per completed flow is computed.
pub const FINISHED: &[NamedScenario] =
    &[NamedScenario::short("short_flows_200k", 200_000), NamedScenario::short("short_flows_1m", 1_000_000)];

macro_rules! cells {
    ($($flows:literal x $packets:literal),* $(,)?) => {
        /// All cells: the product of flow counts, packets per flow and link delays in microseconds.
        pub(super) const CELLS: &[NamedScenario] = &[$(
            cells!(@one $flows, $packets, 1),
            cells!(@one $flows, $packets, 4),
            cells!(@one $flows, $packets, 16),
        )*];
    };
    (@one $flows:literal, $packets:literal, $delay:literal) => {
        NamedScenario::cell(
            concat!("top_", $flows, "x", $packets, "_", $delay, "us"),
            Cell { flows_per_host: $flows, packets: $packets, delay: Span::from_us($delay) },
        )
    };
}

cells!(1 x 10, 1 x 50, 1 x 250, 8 x 10, 8 x 50, 8 x 250, 32 x 10, 32 x 50, 32 x 250);

/// Finds a scenario by name in all lists.
pub(super) fn find(name: &str) -> Option<&'static NamedScenario> {
    ALL.iter()
        .chain(TABLE)
        .chain(MEMORY)
        .chain(SMALL)
        .chain(FINISHED)
        .chain(CELLS)
        .find(|named| named.name == name)
}

#[cfg(test)]
mod tests {

    use priolane_core::endpoint::FlowSpec;
    use priolane_sim::scenario::{Engine, SendJitter};
    use priolane_sim::{Drive, Simulation};

    use super::*;

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
            let mut spec = named.spec(Some(60)).unwrap();
            spec.send_jitter = SendJitter::PACKET;
            spec.flows.edit_all(|flow| flow.size = flow.size.map(|size| size.min(300_000)));
            let scenario = spec.build().unwrap();
            let [mut window, wheel] = [Engine::Window, Engine::Wheel]
                .map(|engine| Simulation::of(&scenario).run(Drive::on(engine)).unwrap());
            assert!(window.flows.iter().all(|flow| flow.fct.is_some()), "{}", named.name);
            window.work.events = wheel.work.events;
            assert_eq!(window, wheel, "{}", named.name);
        }
    }

    #[test]
    fn each_cell_is_what_its_name_says() {
        assert_eq!(CELLS.len(), 27);
        for named in CELLS {
            let scenario = named.spec(None).unwrap();
            let Some(flow) = scenario.flows.get(0) else { panic!("{} has no flow", named.name) };
            let packets = flow.size.unwrap() / u64::from(Frame::ETHERNET.mss());
            let delay = scenario.topology.links[0].delay.0 / 1_000_000;
            let name = format!("top_{}x{packets}_{delay}us", scenario.flows.len() / 32);
            assert_eq!(named.name, name);
            assert!(find(&name).is_some());
        }
    }
}

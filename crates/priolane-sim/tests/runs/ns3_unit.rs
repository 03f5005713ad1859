//! The small cases that ns-3.37 was run on, with its parameters (docs/validation.md).

use crate::support::{drive, flow, link, run, scenario};
use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, DisciplineSpec, FifoSpec, SortBy};
use priolane_core::transport::window::{self, ControlEcn};
use priolane_core::transport::{Controller, Transport, dctcp, new_reno};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Engine, Nic, PortSpec, ScenarioSpec};
use priolane_sim::topology::{LeafSpine, PathChoice};

const FRAME: Frame = Frame { mtu: 1500, header: 52, link: 2, minimum: 0, gap: 0, ack: 52, syn: 56 };

/// The spine of a flow, as the ns-3 program picks it: SplitMix64 of its number, of four.
fn spine(id: u32) -> u16 {
    let x = u64::from(id).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) % 4) as u16
}

fn port(rate: Rate, limit: u32) -> PortSpec {
    let mark_above = Limit::Packets(if rate == Rate::from_gbps(40) { 261 } else { 66 });
    let buffer = Buffer { limit: Limit::Packets(limit), mark_above, ..Buffer::UNLIMITED };
    PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer }
}

/// Flows of `(src, dst, bytes)` that all start at once, over ports that hold `limit` packets.
fn leaf_spine(pairs: &[(u16, u16, u64)], limit: u32) -> ScenarioSpec {
    let shape = LeafSpine {
        leaves: 9,
        spines: 4,
        hosts_per_leaf: 16,
        host_link: link(10, Span::from_us(1)),
        fabric_link: link(40, Span::from_us(1)),
        links_per_pair: 1,
    };
    let mut topology = shape.build().unwrap();
    topology.path_choice = PathChoice::Pinned;
    let flows = pairs.iter().zip(0u32..).map(|(&(src, dst, bytes), id)| {
        let start = Time(1_000_000_000);
        FlowSpec { entropy: spine(id), ..flow(id, (src, dst), bytes, start) }
    });
    let reno = new_reno::Config { init_window: None };
    let window = window::Config {
        min_rto: Span::from_ms(5),
        initial_rto: Span::from_ms(5),
        max_window: Some(2_000_000),
        control_ecn: ControlEcn::Yes,
        ..window::Config::new(FRAME)
    };
    let flows = flows.collect();
    let base = scenario(topology, port(Rate::from_gbps(10), limit), flows);
    ScenarioSpec {
        ports: base.topology.links.iter().map(|link| port(link.rate, limit)).collect(),
        frame: FRAME,
        transport: Transport::Window {
            window,
            controller: Controller::Dctcp(dctcp::Config {
                reno,
                g: 1.0 / 16.0,
                alpha_0: 1.0,
                min_window: 2,
                reduction: dctcp::Reduction::Ns3,
            }),
            scheduler: SchedulerKind::RoundRobin,
        },
        nic: Nic::Queue { port: port(Rate::from_gbps(10), limit), sort_by: SortBy::HostLevel },
        ..base
    }
}

fn outcome(scenario: &ScenarioSpec) -> Outcome {
    run(scenario, drive(Engine::Window))
}

/// Completion times in microseconds, in order of size.
fn times(outcome: &Outcome) -> Vec<f64> {
    let mut all: Vec<f64> = outcome.flows.iter().map(|f| f.fct.unwrap().0 as f64 / 1e6).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn last(pairs: &[(u16, u16, u64)]) -> f64 {
    *times(&outcome(&leaf_spine(pairs, 20_000))).last().unwrap()
}

#[track_caller]
fn assert_close(what: &str, ours: f64, theirs: f64, percent: f64) {
    let off = 100.0 * (ours / theirs - 1.0);
    assert!(off.abs() <= percent, "{what}: {ours:.2} us against ns-3's {theirs:.2} us, {off:+.3} %");
}

#[test]
fn one_flow_takes_the_time_ns_3_says() {
    let cases = [
        ((0, 1, 1_448), 8.632),
        ((0, 140, 1_448), 15.2792),
        ((0, 140, 14_480), 26.0936),
        ((0, 1, 1_000_000), 837.2816),
        ((0, 140, 1_000_000), 843.9288),
    ];
    for (pair, theirs) in cases {
        assert_close(&format!("{pair:?}"), last(&[pair]), theirs, 0.001);
    }
}

#[test]
fn two_flows_to_one_host_end_as_in_ns_3() {
    let ours = times(&outcome(&leaf_spine(&[(0, 140, 1_000_000), (16, 140, 1_000_000)], 20_000)));
    assert_close("two flows to one host, the earlier", ours[0], 1_663.42, 1.0);
    assert_close("two flows to one host, the later", ours[1], 1_673.78, 0.001);
}

#[test]
fn several_flows_out_of_one_host() {
    for (n, theirs) in [(1u16, 8312.5), (2, 16610.9), (4, 33207.9), (8, 66401.7)] {
        let pairs: Vec<_> = (1..=n).map(|i| (0, 16 * i, 10_000_000)).collect();
        assert_close(&format!("{n} flows of 10 MB out of host 0"), last(&pairs), theirs, 1.0);
    }
}

#[test]
fn eight_to_one_without_a_drop_at_a_thousand_packets() {
    let pairs: Vec<_> = (1..=8).map(|i| (16 * i, 0, 3_000_000)).collect();
    let outcome = outcome(&leaf_spine(&pairs, 1_000));
    assert_eq!(outcome.ports.iter().map(|p| p.dropped).sum::<u64>(), 0);
    assert_close("8 flows of 3 MB into host 0", *times(&outcome).last().unwrap(), 19_930.5, 1.0);
}

#[test]
fn four_flows_out_and_four_in() {
    let out = (1..=4).map(|i| (0, 16 * i, 10_000_000));
    let pairs: Vec<_> = out.chain((5..=8).map(|i| (16 * i, 0, 10_000_000))).collect();
    assert_close("4 out and 4 in at host 0", last(&pairs), 38_383.3, 1.0);
}

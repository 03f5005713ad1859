//! Disciplines of switch ports as transmit queues of hosts, by hand; random runs are in `engines.rs`.

use crate::support::{agreed, flow, link, scenario};
use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::port::{
    Buffer, DisciplineSpec, FifoSpec, LimitedSpec, Overflow, PFabricSpec, SortBy, TrimmingSpec,
};
use priolane_core::transport::delay::Size;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::transport::{Controller, Transport, pfabric};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::{Outcome, PortClassRecord};
use priolane_sim::scenario::{Nic, PortSpec, ScenarioSpec};
use priolane_sim::topology::SingleSwitch;

const MSS: u64 = 1_460;
/// A full packet at 10 Gbps.
const SLOT: u64 = 1_230_400;

/// pFabric with windows of 12 packets and a timeout of 200 us, over transmit queues of this kind.
fn over(queues: DisciplineSpec, limit: Limit, flows: Vec<FlowSpec>) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 3, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let port = PortSpec { discipline: DisciplineSpec::PFabric(PFabricSpec), buffer: Buffer::UNLIMITED };
    let mut scenario = scenario(topology, port, flows);
    let rto = Span::from_us(200);
    let window = window::Config {
        handshake: Handshake::None,
        dup_threshold: 1_000_000,
        min_rto: rto,
        initial_rto: rto,
        max_rto: rto,
        ..window::Config::new(Frame::ETHERNET)
    };
    let twelve = Size::Packets(12.0);
    let config = pfabric::Config { init_window: twelve, max_window: twelve, probe_after: 1_000 };
    let controller = Controller::PFabric(config);
    scenario.transport = Transport::Window { window, controller, scheduler: SchedulerKind::RoundRobin };
    let port = PortSpec { discipline: queues, buffer: Buffer { limit, ..Buffer::UNLIMITED } };
    scenario.nic = Nic::Queue { port, sort_by: SortBy::Class };
    scenario
}

fn at_host(scenario: &ScenarioSpec, outcome: &Outcome, count: fn(&PortClassRecord) -> u64) -> u64 {
    let uplink = scenario.topology.uplink(HostId(0));
    outcome.ports.iter().filter(|p| p.link == uplink).map(count).sum()
}

fn fct(outcome: &Outcome, flow: usize) -> u64 {
    outcome.flows.at(flow).fct.expect("every flow ends").0
}

#[test]
fn pfabric_at_the_host_lets_the_shorter_flow_overtake_what_waits() {
    // Twelve packets wait at the host from 0 on; two of a shorter flow join them at 1 us.
    let flows = vec![flow(0, (0, 1), 12 * MSS, Time::ZERO), flow(1, (0, 2), 2 * MSS, Time(1_000_000))];
    let run = |queues| agreed(&over(queues, Limit::Unlimited, flows.clone()));
    let alone = 3 * SLOT + 2_000_000;
    let (ranked, plain) = (run(DisciplineSpec::PFabric(PFabricSpec)), run(DisciplineSpec::Fifo(FifoSpec)));
    // The first packet of the long flow is on the line until 1,230,400; then the two go.
    assert_eq!(fct(&ranked, 1), SLOT - 1_000_000 + alone);
    // Behind all twelve in a plain queue.
    assert_eq!(fct(&plain, 1), 12 * SLOT - 1_000_000 + alone);
    assert_eq!(fct(&ranked, 0), 15 * SLOT + 2_000_000);
}

#[test]
fn pfabric_at_the_host_drops_the_worst_rank_and_the_transport_sends_it_again() {
    // Room for four packets besides the one on the line: of twelve at once seven find none. The shorter flow's two push
    // out two more of the longer one's.
    let flows = vec![flow(0, (0, 1), 12 * MSS, Time::ZERO), flow(1, (0, 2), 2 * MSS, Time(1_000_000))];
    let scenario = over(DisciplineSpec::PFabric(PFabricSpec), Limit::Packets(4), flows);
    let outcome = agreed(&scenario);
    assert_eq!(at_host(&scenario, &outcome, |p| p.dropped), 9);
    assert_eq!(fct(&outcome, 1), SLOT - 1_000_000 + 3 * SLOT + 2_000_000);
    assert_eq!((outcome.flows.at(0).retransmits, outcome.flows.at(1).retransmits), (9, 0));
    assert!(fct(&outcome, 0) > 200_000_000);
}

#[test]
fn a_trimming_queue_at_the_host_sends_headers_on_and_drops_those_without_room() {
    // The payload of seven is cut off, and three of the headers find room.
    let queues =
        DisciplineSpec::Trimming(TrimmingSpec { headers: Limit::Packets(3), overflow: Overflow::Return });
    let scenario = over(queues, Limit::Packets(4), vec![flow(0, (0, 1), 12 * MSS, Time::ZERO)]);
    let outcome = agreed(&scenario);
    let [trimmed, dropped] =
        [at_host(&scenario, &outcome, |p| p.trimmed), at_host(&scenario, &outcome, |p| p.dropped)];
    assert_eq!((trimmed, dropped), (3, 4));
    assert!(outcome.flows.at(0).fct.is_some());
}

#[test]
fn a_limited_queue_at_the_host_keeps_its_rate() {
    let rate = priolane_core::units::Rate::from_gbps(1);
    let flows = vec![flow(0, (0, 1), 12 * MSS, Time::ZERO)];
    let scenario = over(DisciplineSpec::Limited(LimitedSpec { rate, burst: 1_538 }), Limit::Unlimited, flows);
    // A packet goes ahead of the rate: the second may start at once and every further one ten slots after the one before.
    let first = 2 * SLOT + 2_000_000;
    assert_eq!(fct(&agreed(&scenario), 0), first + 10 * 10 * SLOT);
}

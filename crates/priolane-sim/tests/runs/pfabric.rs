//! pFabric end to end: the shortest flow first at a bottleneck, to the picosecond, with buffers deep and shallow.

use crate::support::{agreed, flow, link, scenario};
use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, DisciplineSpec, PFabricSpec};
use priolane_core::transport::delay::Size;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::transport::{Controller, pfabric};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{PortSpec, ScenarioSpec};
use priolane_sim::topology::{Dumbbell, LinkSpec, SingleSwitch};

const MSS: u64 = 1_460;

/// pFabric with a window of `packets` and a fixed timeout, on ports with room for `room`.
fn pfabric(mut scenario: ScenarioSpec, packets: f64, rto: Span, room: Limit) -> ScenarioSpec {
    let window = window::Config {
        handshake: Handshake::None,
        dup_threshold: 1_000_000_000,
        min_rto: rto,
        initial_rto: rto,
        max_rto: rto,
        ..window::Config::new(Frame::ETHERNET)
    };
    let size = Size::Packets(packets);
    let config = pfabric::Config { init_window: size, max_window: size, probe_after: 5 };
    scenario.transport = crate::support::window(Controller::PFabric(config), window);
    let port = PortSpec {
        discipline: DisciplineSpec::PFabric(PFabricSpec),
        buffer: Buffer { limit: room, ..Buffer::UNLIMITED },
    };
    scenario.ports.fill(port);
    scenario
}

/// Flows of 30, 10 and 20 packets start at once over a bottleneck of half their links' rate.
fn three(room: Limit, rto: Span) -> Outcome {
    let us = Span::from_us(1);
    let shape = Dumbbell { left: 3, right: 1, host_link: link(10, us), bottleneck: link(5, us) };
    let flows = [30, 10, 20].into_iter().enumerate();
    let flows = flows.map(|(i, n)| flow(i as u32, (i as u16, 3), n * MSS, Time::ZERO)).collect();
    let scenario = scenario(shape.build().unwrap(), crate::support::fifo(Buffer::UNLIMITED), flows);
    agreed(&pfabric(scenario, 64.0, rto, room))
}

fn fcts(outcome: &Outcome) -> Vec<u64> {
    outcome.flows.iter().map(|f| f.fct.expect("every flow ends").0).collect()
}

#[test]
fn one_bottleneck_serves_the_shortest_flow_first_to_the_picosecond() {
    // A packet takes 1,230,400 ps at 10 Gbps and twice that at 5. All first packets reach the bottleneck at
    // 1,230,400 + 1 us; the long flow's, the first of them, is on the line when the others come. Then the flow of 10
    // packets has the line until all of it has gone, then that of 20: 1 + 10, 11 + 20, 60 packets in all. Last: 1 us, a
    // packet at 10 Gbps, 1 us.
    let outcome = three(Limit::Unlimited, Span::from_ms(1));
    let end = |packets: u64| 2_230_400 + packets * 2_460_800 + 1_000_000 + 1_230_400 + 1_000_000;
    assert_eq!(fcts(&outcome), [end(60), end(11), end(31)]);
    assert_eq!(outcome.flows.iter().map(|f| f.retransmits).sum::<u32>(), 0);
}

#[test]
fn a_shallow_buffer_costs_the_best_flow_nothing_and_keeps_the_order() {
    let outcome = three(Limit::Packets(8), Span::from_us(60));
    let fcts = fcts(&outcome);
    assert_eq!(fcts[1], 2_230_400 + 11 * 2_460_800 + 3_230_400);
    assert!(fcts[1] < fcts[2] && fcts[2] < fcts[0], "{fcts:?}");
    assert!(outcome.ports.iter().map(|p| p.dropped).sum::<u64>() > 20);
    assert_eq!(outcome.flows.at(1).retransmits, 0);
    // The line never idles long: 60 packets, and at most two timeouts until what was dropped comes again.
    assert!(fcts[0] < 2_230_400 + 60 * 2_460_800 + 120_000_000 + 3_230_400, "{fcts:?}");
}

#[test]
fn a_lone_flow_is_as_fast_as_the_bare_network() {
    let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let flows = vec![flow(0, (0, 1), 40 * MSS + 7, Time::ZERO)];
    let scenario = scenario(topology, crate::support::fifo(Buffer::UNLIMITED), flows);
    let bare = scenario.topology.bare_fct(
        &scenario.frame,
        scenario.flows.at(0).src,
        scenario.flows.at(0).dst,
        0,
        40 * MSS + 7,
    );
    // A round trip: 2 x (1,230,400 + 67,200) ps and 4 us are 5.4 packets.
    let outcome = agreed(&pfabric(scenario, 6.0, Span::from_us(45), Limit::Packets(24)));
    assert_eq!(fcts(&outcome), [bare.0]);
}

#[test]
fn every_flow_ends_where_one_packet_in_a_hundred_is_lost() {
    let lossy = LinkSpec { loss: 0.01, ..link(10, Span::from_us(1)) };
    let topology = SingleSwitch { hosts: 6, host_link: lossy }.build().unwrap();
    let flows = (0..60).map(|i| {
        let (src, dst) = ((i % 6) as u16, ((i + 1 + i / 6 % 5) % 6) as u16);
        flow(i, (src, dst), u64::from(i) * 3_000 + 1, Time(u64::from(i / 6) * 30_000_000))
    });
    let scenario = scenario(topology, crate::support::fifo(Buffer::UNLIMITED), flows.collect());
    let outcome = agreed(&pfabric(scenario, 12.0, Span::from_us(45), Limit::Packets(24)));
    assert_eq!(fcts(&outcome).len(), 60);
    assert!(outcome.flows.iter().map(|f| f.retransmits).sum::<u32>() > 20);
}

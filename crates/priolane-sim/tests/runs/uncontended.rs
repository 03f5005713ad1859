//! A flow alone: its completion time equals the closed formula to the picosecond, on both engines.

use crate::support::{drive, fifo, flow, link, new_reno, run, scenario, window};
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Span, Time};
use priolane_sim::scenario::{Engine, ScenarioSpec, Stop};
use priolane_sim::topology::LeafSpine;

const WIDE: u64 = 1 << 40;

fn alone(dst: u16, packets: u64, handshake: Handshake) -> ScenarioSpec {
    let topology = LeafSpine {
        leaves: 2,
        spines: 2,
        hosts_per_leaf: 2,
        host_link: link(10, Span::from_us(1)),
        fabric_link: link(40, Span::from_ns(1_500)),
        links_per_pair: 1,
    };
    let frame = Frame::ETHERNET;
    let flows = vec![flow(0, (0, dst), packets * 1460, Time(123_457))];
    let mut scenario = scenario(topology.build().unwrap(), fifo(Buffer::UNLIMITED), flows);
    let config = window::Config { handshake, ..window::Config::new(frame) };
    scenario.transport = window(new_reno_wide(), config);
    scenario
}

/// A window that never holds the sender back: the formula is the line's alone.
fn new_reno_wide() -> priolane_core::transport::Controller {
    match new_reno() {
        priolane_core::transport::Controller::NewReno(_) => {
            priolane_core::transport::Controller::NewReno(priolane_core::transport::new_reno::Config {
                init_window: Some(WIDE),
            })
        }
        other => other,
    }
}

fn fct(scenario: &ScenarioSpec, engine: Engine) -> Span {
    run(scenario, drive(engine)).flows.at(0).fct.unwrap()
}

/// n packets of 1538 B over two 10G links and, to another rack, two 40G links between them.
fn by_hand(links: u64, n: u64) -> Span {
    let (slow, fast) = (1_230_400, 307_600);
    let two = n * slow + slow + 2 * 1_000_000;
    if links == 2 { Span(two) } else { Span(two + 2 * fast + 2 * 1_500_000) }
}

#[test]
fn one_ten_and_a_hundred_packets_over_two_and_four_links() {
    for (dst, links) in [(1, 2), (2, 4)] {
        for packets in [1, 10, 100] {
            let scenario = alone(dst, packets, Handshake::None);
            let bare = {
                let f = &scenario.flows.at(0);
                scenario.topology.bare_fct(&scenario.frame, f.src, f.dst, f.entropy, packets * 1460)
            };
            assert_eq!(by_hand(links, packets), bare, "{links} links, {packets} packets");
            assert_eq!(fct(&scenario, Engine::Window), bare, "window, {links} links, {packets} packets");
            assert_eq!(fct(&scenario, Engine::Wheel), bare, "wheel, {links} links, {packets} packets");
        }
    }
}

#[test]
fn a_handshake_adds_one_round_trip_and_the_ack_before_the_data() {
    // SYN and SYN/ACK: 84 B, 67.2 ns on 10G, 16.8 ns on 40G, over the same links; then 67.2 ns for the ACK.
    let control =
        |links| if links == 2 { 2 * 67_200 + 2_000_000 } else { 2 * 67_200 + 2 * 16_800 + 5_000_000 };
    for (dst, links) in [(1, 2), (2, 4)] {
        let expected = Span(2 * control(links) + 67_200) + by_hand(links, 10);
        for engine in [Engine::Window, Engine::Wheel] {
            assert_eq!(
                fct(&alone(dst, 10, Handshake::OneRtt), engine),
                expected,
                "{links} links, {engine:?}"
            );
        }
    }
}

#[test]
fn processing_at_hosts_delays_replies_not_arrivals() {
    let mut scenario = alone(1, 10, Handshake::None);
    let without = fct(&scenario, Engine::Window);
    scenario.host_delay = Span::from_us(3);
    let outcome = run(&scenario, drive(Engine::Window));
    assert_eq!(outcome.flows.at(0).fct, Some(without));
    // The ACK of the last packet leaves 3 us later, travels 2 x 67.2 ns + 2 us, and is seen 3 us after that.
    let acked = without + Span(3_000_000 + 2 * 67_200 + 2_000_000 + 3_000_000);
    assert_eq!(outcome.flows.at(0).fct_acked, Some(acked));
    assert_eq!(outcome, {
        let mut wheel = run(&scenario, drive(Engine::Wheel));
        wheel.work.events = outcome.work.events;
        wheel
    });
}

#[test]
fn what_arrives_at_the_instant_the_run_stops_has_not_arrived() {
    let mut scenario = alone(2, 10, Handshake::None);
    let (start, last) = (scenario.flows.at(0).start, by_hand(4, 10));
    for engine in [Engine::Window, Engine::Wheel] {
        let mut done_by = |stop| {
            scenario.stop = Stop::At(stop);
            run(&scenario, drive(engine)).flows.at(0).fct
        };
        assert_eq!(done_by(start + last), None, "{engine:?}");
        assert_eq!(done_by(start + last + Span(1)), Some(last), "{engine:?}");
    }
}

#[test]
fn what_arrives_at_a_switch_at_the_instant_the_run_stops_has_not_left_it() {
    let mut scenario = alone(2, 1, Handshake::None);
    // 1538 B at 10 Gbps and 1 us of link.
    let at_switch = scenario.flows.at(0).start + Span(1_230_400 + 1_000_000);
    for engine in [Engine::Window, Engine::Wheel] {
        let mut hops_by = |stop| {
            scenario.stop = Stop::At(stop);
            run(&scenario, drive(engine)).work.packet_hops
        };
        assert_eq!((hops_by(at_switch), hops_by(at_switch + Span(1))), (1, 2), "{engine:?}");
    }
}

//! Control packets in a class of their own, and in that of their flow, which waits: on both engines, by hand.

use crate::support::{agreed, flow, link, scenario, strict, window};
use priolane_core::endpoint::FlowSpec;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::window::{self, ControlClass, Handshake};
use priolane_core::transport::{Controller, new_reno};
use priolane_core::units::{Span, Time};
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::SingleSwitch;

/// Instants and times at 10 Gbps, 1 us a link.
const START: Time = Time(100_000_000);
const DATA: u64 = 1_230_400;
const CONTROL: u64 = 67_200;
const LINK: u64 = 1_000_000;

/// Hosts 2 and 3 send 400 packets of class 1 each to host 0 at line rate, which keep the switch's port to host 0 busy for 980 us.
/// At 100 us, host 0 sends a packet of class 2 to host 1 after a handshake, whose SYN/ACK takes that port.
fn crossing(control_class: ControlClass) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 4, host_link: link(10, Span(LINK)) };
    let busy = |id, host| FlowSpec { class: 1, ..flow(id, (host, 0), 400 * 1460, Time::ZERO) };
    let asked = FlowSpec { class: 2, ..flow(2, (0, 1), 1460, START) };
    let flows = vec![busy(0, 2), busy(1, 3), asked];
    let mut scenario = scenario(topology.build().unwrap(), strict(3, Buffer::UNLIMITED), flows);
    let all_at_once = Controller::NewReno(new_reno::Config { init_window: Some(1 << 40) });
    let ms = Span::from_ms(100);
    let config = window::Config {
        handshake: Handshake::OneRtt,
        control_class,
        min_rto: ms,
        initial_rto: ms,
        ..window::Config::new(Frame::ETHERNET)
    };
    scenario.transport = window(all_at_once, config);
    scenario
}

/// The completion time of the flow of class 2, and the arrival of the last packet of class 1.
fn times(control_class: ControlClass) -> (u64, u64) {
    let outcome = agreed(&crossing(control_class));
    let ends: Vec<u64> = outcome.flows.iter().map(|flow| flow.fct.unwrap().0).collect();
    (ends[2], ends[0].max(ends[1]))
}

/// Twice SYN or SYN/ACK over two links, the ACK on the sender's, and the packet over two.
const ALONE: u64 = 2 * 2 * (CONTROL + LINK) + CONTROL + 2 * (DATA + LINK);

#[test]
fn control_packets_of_a_better_class_wait_for_one_packet_at_most() {
    let (fct, _) = times(ControlClass::Fixed(0));
    assert!((ALONE..=ALONE + DATA).contains(&fct), "{fct}");
}

#[test]
fn a_syn_ack_in_its_flows_class_waits_until_the_better_class_is_through() {
    let (fct, last) = times(ControlClass::OfFlow);
    // 800 packets one after another, after a handshake of less than 5 us.
    assert!((800 * DATA..800 * DATA + 10_000_000).contains(&last), "{last}");
    // The SYN/ACK is the next packet on the line; then ACK and packet leave host 0.
    assert_eq!(START.0 + fct, last + CONTROL + CONTROL + 2 * (DATA + LINK));
}

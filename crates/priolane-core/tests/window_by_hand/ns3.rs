//! Exact small cases against ns-3.37's DCTCP: one flow in an empty leaf-spine fabric.

use priolane_core::host::SchedulerKind;
use priolane_core::packet::Frame;
use priolane_core::transport::dctcp::{self, Dctcp};
use priolane_core::transport::new_reno;
use priolane_core::transport::window::{Config, ControlEcn, Handshake};
use priolane_core::units::{Rate, Span, Time};

use crate::link::{Hop, Net, flow};

/// 1448 B of payload are 1502 B on the line, an ACK 54 B, SYN and SYN/ACK 58 B.
const FRAME: Frame = Frame { mtu: 1500, header: 52, link: 2, minimum: 0, gap: 0, ack: 52, syn: 56 };

const fn hop(gbps: u64) -> Hop {
    Hop { rate: Rate::from_gbps(gbps), delay: Span::from_us(1) }
}

const SAME_RACK: [Hop; 2] = [hop(10), hop(10)];
const OTHER_RACK: [Hop; 4] = [hop(10), hop(40), hop(40), hop(10)];

/// Completion time of one flow, in nanoseconds.
fn fct_ns(size: u64, hops: &[Hop], handshake: Handshake) -> f64 {
    let config = Config {
        handshake,
        min_rto: Span::from_ms(5),
        initial_rto: Span::from_ms(5),
        max_window: Some(2_000_000),
        control_ecn: ControlEcn::Yes,
        ..Config::new(FRAME)
    };
    let reno = new_reno::Config { init_window: None };
    let dctcp = dctcp::Config {
        reno,
        g: 1.0 / 16.0,
        alpha_0: 1.0,
        min_window: 2,
        reduction: dctcp::Reduction::AtOnce,
    };
    let mut net: Net<Dctcp> = Net::new(config, dctcp, SchedulerKind::RoundRobin, hops);
    net.open(flow(0, size));
    assert!(net.run(Time(1_000_000_000_000)));
    assert_eq!(net.delivered().len(), 1);
    assert_eq!(net.completed()[0].retransmits, 0);
    net.delivered()[0].1.0 as f64 / 1000.0
}

#[test]
fn single_flows_take_as_long_as_in_ns3() {
    // ns-3 prints microseconds with two to three digits; its clock has a granularity of 1 ns.
    let cases: [(u64, &[Hop], f64); 5] = [
        (1_448, &SAME_RACK, 8.632),
        (1_448, &OTHER_RACK, 15.279),
        (14_480, &OTHER_RACK, 26.094),
        (1_000_000, &SAME_RACK, 837.28),
        (1_000_000, &OTHER_RACK, 843.93),
    ];
    for (size, hops, expected_us) in cases {
        let fct = fct_ns(size, hops, Handshake::OneRtt) / 1000.0;
        assert!((fct - expected_us).abs() < 0.006, "{size} B over {} hops: {fct} us", hops.len());
    }
}

#[test]
fn a_handshake_costs_a_round_trip_of_syns_and_an_ack() {
    // Same rack: 4 hops of 58 B at 10 Gbps (46.4 ns) and 1 us, then 54 B (43.2 ns) before the payload.
    let cost = fct_ns(1_448, &SAME_RACK, Handshake::OneRtt) - fct_ns(1_448, &SAME_RACK, Handshake::None);
    assert_eq!(cost.round(), (4.0_f64 * 1046.4 + 43.2).round());
}

//! Flows that share a connection, on both engines: closed forms on an idle path, and random experiments.

use std::collections::BTreeMap;

use crate::engines::random;
use crate::support::{agreed, fifo, flow, link, new_reno, scenario};
use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{ConnectionId, FlowId};
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::Transport;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Span, Time};
use priolane_rounds::rounds;
use priolane_sim::dependencies::{FlowDependency, Predecessor};
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::SingleSwitch;

/// A full packet on a line of 10 Gbps, and the same behind two lines of 1 us each.
const PACKET: u64 = 1_230_400;
const ONE_PACKET: u64 = 2 * PACKET + 2_000_000;

/// Two flows of `packets` from host 0 to host 1, the second of which begins 2 us after the first has arrived.
fn pair(packets: [u64; 2], connection: Option<ConnectionId>) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let flows = (0..)
        .zip(packets)
        .map(|(id, packets)| FlowSpec { connection, ..flow(id, (0, 1), packets * 1460, Time::ZERO) });
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows.collect());
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), window);
    let after = Predecessor::flows([FlowId(0)], Span::from_us(2));
    scenario.waits = vec![FlowDependency { flow: FlowId(1), after, until: None }];
    scenario
}

#[test]
fn the_second_message_of_a_connection_is_sent_with_the_window_that_the_first_has_grown() {
    // 10 packets, the first window, double it. So 20 packets follow each other without a gap: one crosses both lines, and
    // 19 more the last line. A window of 10 waits for its first ACK: 84 B, 67 200 ps, on each of two lines of 1 us.
    let shared = agreed(&pair([10, 20], ConnectionId::new(0)));
    assert_eq!(shared.flows.at(1).fct, Some(Span(ONE_PACKET + 19 * PACKET)));
    let apart = agreed(&pair([10, 20], None));
    // Here a round trip takes less than 10 packets, so that both windows fill it.
    assert_eq!(apart.flows.at(1).fct, shared.flows.at(1).fct);
    // On a link where a round trip takes 20 packets' time, the wait shows: 8 us more each way.
    let far = |connection| {
        let mut scenario = pair([10, 20], connection);
        let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_us(6)) }.build().unwrap();
        scenario.topology = topology;
        agreed(&scenario).flows.at(1).fct.unwrap().0
    };
    let whole = 2 * PACKET + 12_000_000 + 19 * PACKET;
    assert_eq!(far(ConnectionId::new(0)), whole);
    // Packet 11 leaves when the first ACK is back.
    let first_ack = 2 * PACKET + 12_000_000 + 2 * 67_200 + 12_000_000;
    assert_eq!(far(None), first_ack + 2 * PACKET + 12_000_000 + 9 * PACKET);
}

/// A random experiment whose flows with an end share one connection for each pair of hosts.
fn shared(seed: u64) -> Option<ScenarioSpec> {
    let mut scenario = random(seed);
    if !matches!(scenario.transport, Transport::Window { .. }) || scenario.rates_every.is_some() {
        return None;
    }
    scenario.admission = priolane_core::admit::Policy::default();
    let mut entropy = BTreeMap::new();
    scenario.flows.edit_all(|flow| {
        if flow.size.is_some() {
            flow.connection = ConnectionId::new(0);
            flow.entropy = *entropy.entry((flow.src, flow.dst, flow.group)).or_insert(flow.entropy);
        }
    });
    Some(scenario)
}

#[test]
fn both_engines_agree_on_connections_in_any_order_of_nodes() {
    let mut seen = 0;
    for seed in 0..rounds(60, 3_000) {
        let Some(scenario) = shared(seed) else { continue };
        agreed(&scenario);
        seen += 1;
    }
    assert!(seen >= 30, "{seen} scenarios");
}

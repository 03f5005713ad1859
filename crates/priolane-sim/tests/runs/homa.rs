//! Homa end to end: a lone message, shortest first at a receiver, overcommitment, and losses.

use crate::support::{agreed, flow, link, scenario, strict};
use priolane_core::endpoint::FlowSpec;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::{Transport, homa};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::{LinkSpec, SingleSwitch, Topology};

const MSS: u64 = 1_460;
const SLOT: u64 = 1_230_400;

fn star(hosts: u32, loss: f64) -> Topology {
    let host_link = LinkSpec { loss, ..link(10, Span::from_us(1)) };
    SingleSwitch { hosts, host_link }.build().unwrap()
}

fn homa(topology: Topology, flows: Vec<FlowSpec>, config: homa::Config) -> ScenarioSpec {
    let mut scenario = scenario(topology, strict(8, Buffer::UNLIMITED), flows);
    scenario.transport = Transport::Homa(config);
    scenario
}

fn plain() -> homa::Config {
    homa::Config::new(Frame::ETHERNET)
}

fn fcts(outcome: &Outcome) -> Vec<u64> {
    outcome.flows.iter().map(|f| f.fct.expect("every flow ends").0).collect()
}

#[test]
fn a_lone_message_is_as_fast_as_the_bare_network() {
    let size = 100 * MSS + 7;
    let scenario = homa(star(2, 0.0), vec![flow(0, (0, 1), size, Time::ZERO)], plain());
    let f = &scenario.flows.at(0);
    let bare = scenario.topology.bare_fct(&scenario.frame, f.src, f.dst, f.entropy, size);
    assert_eq!(fcts(&agreed(&scenario)), [bare.0]);
}

#[test]
fn a_receiver_takes_the_shortest_message_first() {
    // 300, 200 and 100 packets from three hosts to one. All that are blind, six of each, come first; then the shortest has
    // the line, but for what was granted before it was known that it is.
    let flows = [300, 200, 100].into_iter().enumerate();
    let flows = flows.map(|(i, n)| flow(i as u32, (i as u16, 3), n * MSS, Time::ZERO)).collect();
    let outcome = agreed(&homa(star(4, 0.0), flows, plain()));
    let [long, middle, short] = fcts(&outcome)[..] else { panic!("three flows") };
    let line = |packets: u64| (packets * SLOT + SLOT + 2_000_000) as f64;
    let near = |fct: u64, packets: u64| (0.999..1.07).contains(&(fct as f64 / line(packets)));
    assert!(near(short, 100 + 12) && near(middle, 300 + 6) && near(long, 600), "{long} {middle} {short}");
    assert_eq!(outcome.flows.iter().map(|f| f.retransmits).sum::<u32>(), 0);
    // Blind packets are in class 0, granted ones in the last classes, the best message's in the best of those in use.
    assert!(outcome.flows.iter().all(|f| f.class.first == 0));
    assert_eq!(outcome.flows.at(0).class.last, 7);
}

#[test]
fn more_messages_granted_at_once_keep_the_line_busier() {
    // Three receivers, to each of which the same three senders send: a sender serves one at a time, and the receivers
    // that wait for it have others to grant to, if they may.
    let flows =
        (0..9).map(|i| flow(i, ((i / 3) as u16, 3 + (i % 3) as u16), (40 + u64::from(i)) * MSS, Time::ZERO));
    let flows: Vec<FlowSpec> = flows.collect();
    let last = |overcommit| {
        let config = homa::Config { overcommit, ..plain() };
        fcts(&agreed(&homa(star(6, 0.0), flows.clone(), config))).into_iter().max().unwrap()
    };
    let (one, seven) = (last(1), last(7));
    assert!(one as f64 > 1.1 * seven as f64, "{one} {seven}");
}

#[test]
fn every_message_ends_where_one_packet_in_a_hundred_is_lost() {
    let flows = (0..60).map(|i| {
        let (src, dst) = ((i % 6) as u16, ((i + 1 + i / 6 % 5) % 6) as u16);
        flow(i, (src, dst), u64::from(i) * 3_000 + 1, Time(u64::from(i / 6) * 30_000_000))
    });
    let config = homa::Config { resend: Span::from_us(100), retry: Span::from_us(200), ..plain() };
    let outcome = agreed(&homa(star(6, 0.01), flows.collect(), config));
    assert_eq!(fcts(&outcome).len(), 60);
    assert!(outcome.flows.iter().all(|f| f.fct <= f.fct_acked));
    assert!(outcome.flows.iter().map(|f| f.retransmits).sum::<u32>() > 10);
}

#[test]
fn an_incast_that_overflows_a_small_buffer_ends_all_the_same() {
    let flows = (0..40).map(|i| flow(i, (i as u16, 40), 50 * MSS, Time::ZERO)).collect();
    let config = homa::Config { resend: Span::from_us(500), retry: Span::from_ms(1), ..plain() };
    let mut scenario = homa(star(41, 0.0), flows, config);
    let small = Buffer { limit: Limit::Packets(60), ..Buffer::UNLIMITED };
    scenario.ports.iter_mut().for_each(|p| p.buffer = small);
    let outcome = agreed(&scenario);
    let last = fcts(&outcome).into_iter().max().unwrap();
    assert!(outcome.ports.iter().map(|p| p.dropped).sum::<u64>() > 100);
    // Blind packets are lost, and are asked for a gap at a time.
    assert!(last > 2_000 * SLOT && last < 8_000 * SLOT, "{last}");
}

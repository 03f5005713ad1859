//! Traces: by hand to the picosecond, through losses, and without any effect on the run.

use crate::support::{
    Draw, dctcp, drive, fifo, flow, link, new_reno, physics, run, run_following, run_traced, scenario,
    strict, window,
};
use priolane_core::ids::{FlowId, LinkId};
use priolane_core::packet::{Frame, Kind, Marks};
use priolane_core::port::{Buffer, SortBy};
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outage::{FailedElement, Failure, Outages};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Awaited, Engine, Nic, ScenarioSpec, Stop};
use priolane_sim::topology::{LinkSpec, SingleSwitch};
use priolane_sim::trace::{
    Backlog, Extent, Fate, Following, Hop, Loss, Marking, Service, Trace, TracedPacket, Transmission,
};

fn traced(scenario: &ScenarioSpec, flow: u32) -> (Outcome, Trace) {
    run_traced(scenario, flow)
}

fn star(hosts: u32, host_link: LinkSpec) -> priolane_sim::topology::Topology {
    SingleSwitch { hosts, host_link }.build().unwrap()
}

/// Two full packets and one of 100 B from host 0 to host 1, from 5 us on; no handshake; each ACKed.
fn three_packets() -> ScenarioSpec {
    let flows = vec![flow(0, (0, 1), 2 * 1460 + 100, Time(5_000_000))];
    let topology = star(2, link(10, Span::from_us(1)));
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let config = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = window(new_reno(), config);
    scenario
}

fn hops_of(trace: &Trace, packet: u32) -> Vec<&Hop> {
    trace.hops.iter().filter(|hop| hop.packet == packet).collect()
}

fn times(hop: &Hop) -> [u64; 4] {
    let service = hop.fate.service().unwrap();
    [hop.queued.0, service.start.0, service.end.0, hop.fate.arrived().unwrap().0]
}

#[test]
fn three_packets_over_two_links_by_hand() {
    // 10 Gbps is 800 ps/B. A full packet (1538 B) takes 1,230,400 ps; 100 B (100 + 40 + 18 + 20 = 178 B) takes
    // 142,400 ps; an ACK (84 B) 67,200 ps. Each link adds 1,000,000 ps.
    let (_, trace) = traced(&three_packets(), 0);
    let data: Vec<(usize, &TracedPacket)> =
        trace.packets.iter().enumerate().filter(|(_, p)| p.header.kind == Kind::Data).collect();
    let acks: Vec<(usize, &TracedPacket)> =
        trace.packets.iter().enumerate().filter(|(_, p)| p.header.kind == Kind::Ack).collect();
    assert_eq!((data.len(), acks.len(), trace.packets.len()), (3, 3, 6));
    let (up, down) = (LinkId(0), LinkId(3));
    let expected = [
        // Made and sent when the line is free; at the switch every packet finds the port idle: those behind the
        // first are as long or shorter, but come later by the longer one's time.
        [[5_000_000, 5_000_000, 6_230_400, 7_230_400], [7_230_400, 7_230_400, 8_460_800, 9_460_800]],
        [[6_230_400, 6_230_400, 7_460_800, 8_460_800], [8_460_800, 8_460_800, 9_691_200, 10_691_200]],
        // The last is short: at the switch it waits from 8,603,200 for the one before it.
        [[7_460_800, 7_460_800, 7_603_200, 8_603_200], [8_603_200, 9_691_200, 9_833_600, 10_833_600]],
    ];
    for ((i, packet), expected) in data.iter().zip(expected) {
        let hops = hops_of(&trace, *i as u32);
        assert_eq!([hops[0].link, hops[1].link], [up, down]);
        assert_eq!([times(hops[0]), times(hops[1])], expected);
        assert_eq!(packet.made, hops[0].queued);
        assert_eq!(packet.delivered, hops[1].fate.arrived());
        assert_eq!(packet.turn, Transmission::First);
    }
    // Nothing ever waits but what is on the line, which does not count.
    assert!(trace.hops.iter().all(|hop| hop.ahead == Backlog::default()));
    // An ACK leaves when its packet arrives: 67,200 + 1,000,000 to the switch, as much again to the sender.
    for ((_, ack), made) in acks.iter().zip([9_460_800, 10_691_200, 10_833_600]) {
        assert_eq!((ack.made, ack.delivered), (Time(made), Some(Time(made + 2 * 1_067_200))));
    }
    let offsets: Vec<u64> = acks.iter().map(|(_, ack)| ack.header.offset.get()).collect();
    assert_eq!(offsets, [1460, 2920, 3020]);
}

#[test]
fn the_sender_is_read_at_every_ack_until_it_forgets_the_flow() {
    let (_, trace) = traced(&three_packets(), 0);
    let of = |metric: &str| -> Vec<(u64, f64)> {
        trace.state.iter().filter(|r| r.metric == metric).map(|r| (r.at.0, r.value)).collect()
    };
    // Opened at 5 us with 10 segments; the first two ACKs at 11,595,200 and 12,825,600; the third ends the flow.
    // The window stands still: it was never what held the sender back.
    assert_eq!(of("cwnd_bytes"), [(5_000_000, 14_600.0), (11_595_200, 14_600.0), (12_825_600, 14_600.0)]);
    assert_eq!(of("in_flight_bytes"), [(5_000_000, 0.0), (11_595_200, 1_560.0), (12_825_600, 100.0)]);
    assert_eq!(of("acked_bytes"), [(5_000_000, 0.0), (11_595_200, 1460.0), (12_825_600, 2920.0)]);
    // From 5,000,000 to 11,595,200 by clocks of 1024 ps: 11,323 - 4,882 = 6,441 ticks.
    assert_eq!(of("srtt_ps")[0], (11_595_200, 6_441.0 * 1024.0));
    assert_eq!(of("alpha"), []);
}

#[test]
fn host_processing_comes_between_arrival_and_delivery() {
    let mut scenario = three_packets();
    scenario.host_delay = Span::from_ns(700);
    let (_, trace) = traced(&scenario, 0);
    assert_eq!(hops_of(&trace, 0)[1].fate.arrived(), Some(Time(9_460_800)));
    assert_eq!(trace.packets[0].delivered, Some(Time(9_460_800 + 700_000)));
}

#[test]
fn a_transmit_queue_shows_what_waits_in_it() {
    let mut scenario = three_packets();
    scenario.nic = Nic::Queue { port: fifo(Buffer::UNLIMITED), sort_by: SortBy::HostLevel };
    let (_, trace) = traced(&scenario, 0);
    // All three come at once: the first passes to the free line, the others wait in turn.
    let first = |packet| hops_of(&trace, packet)[0];
    assert_eq!([0, 1, 2].map(|p| first(p).queued), [Time(5_000_000); 3]);
    assert_eq!([0, 1, 2].map(|p| first(p).ahead.packets), [0, 0, 1]);
    assert_eq!([0, 1, 2].map(|p| first(p).ahead.bytes), [0, 0, 1538]);
    assert_eq!([0, 1, 2].map(|p| times(first(p))[1]), [5_000_000, 6_230_400, 7_460_800]);
}

#[test]
fn a_lost_packet_is_sent_again() {
    let mut scenario = three_packets();
    scenario.flows = vec![flow(0, (0, 1), 200 * 1460, Time(0))].into();
    scenario.topology.links[3].loss = 0.05;
    let (outcome, trace) = traced(&scenario, 0);
    let lost: Vec<&Hop> =
        trace.hops.iter().filter(|hop| matches!(hop.fate, Fate::Lost { by: Loss::Chance, .. })).collect();
    let counted: u64 = outcome.ports.iter().map(|port| port.lost).sum();
    assert!(counted > 3 && lost.len() as u64 == counted, "{counted} lost, {} traced", lost.len());
    for hop in lost {
        let packet = &trace.packets[hop.packet as usize];
        assert_eq!((hop.link, packet.delivered), (LinkId(3), None));
        let again = trace.packets.iter().find(|p| {
            p.turn == Transmission::Again && p.header.offset == packet.header.offset && p.made > packet.made
        });
        assert!(again.is_some(), "{packet:?} was lost and not sent again");
    }
    let again = trace.packets.iter().filter(|p| p.turn == Transmission::Again).count();
    assert_eq!(again as u32, outcome.flows.at(0).retransmits);
    // Blocks above the hole come back in ACKs.
    assert!(trace.packets.iter().any(|p| p.header.kind == Kind::Ack && p.blocks[0].1 > 0));
    // A loss cuts the window: then there is a threshold.
    assert!(trace.state.iter().any(|r| r.metric == "ssthresh_bytes"));
}

#[test]
fn a_link_that_is_down_is_told_from_one_that_loses_by_chance() {
    let mut scenario = three_packets();
    // The second packet is on the first link, from 6 230 400 to 8 460 800 ps.
    let cut = FailedElement::Link(LinkId(0));
    let failure = Failure {
        cut,
        from: Time(8_000_000),
        until: Some(Time(8_300_000)),
        reconvergence: Span::from_us(10),
    };
    scenario.outages = Outages::new(&scenario.topology, &[failure]).unwrap();
    let (outcome, trace) = traced(&scenario, 0);
    let lost =
        |by| trace.hops.iter().filter(|h| matches!(h.fate, Fate::Lost { by: b, .. } if b == by)).count();
    let counted: u64 = outcome.ports.iter().map(|port| port.lost).sum();
    assert!(counted > 0);
    assert_eq!((lost(Loss::Down) as u64, lost(Loss::Chance)), (counted, 0));
}

/// Seven flows into host 0, through a port that marks above 5 packets and holds 20.
fn crowded() -> ScenarioSpec {
    let flows = (0..7).map(|i| flow(i, (1 + i as u16, 0), 400_000, Time(u64::from(i) * 1_000))).collect();
    let buffer = Buffer { limit: Limit::Packets(20), mark_above: Limit::Packets(5), ..Buffer::UNLIMITED };
    let mut scenario = scenario(star(8, link(10, Span::from_us(1))), strict(4, buffer), flows);
    scenario.transport = window(dctcp(), window::Config::new(Frame::ETHERNET));
    scenario
}

#[test]
fn drops_and_marks_of_all_flows_are_those_that_ports_count() {
    let scenario = crowded();
    let (mut dropped, mut marked, mut sent) = (0, 0, 0);
    let (mut counted, mut alphas) = ((0, 0, 0), 0);
    for flow in 0..7 {
        let (outcome, trace) = traced(&scenario, flow);
        dropped += trace.hops.iter().filter(|hop| hop.fate == Fate::Dropped).count() as u64;
        marked += trace.hops.iter().filter(|hop| hop.marking == Marking::Marked).count() as u64;
        sent += trace.hops.iter().filter(|hop| hop.fate.service().is_some()).count() as u64;
        let ports = &outcome.ports;
        counted = (
            ports.iter().map(|p| p.dropped).sum(),
            ports.iter().map(|p| p.marked).sum(),
            ports.iter().map(|p| p.packets).sum(),
        );
        let alpha = trace.state.iter().filter(|r| r.metric == "alpha");
        alphas += alpha.filter(|r| r.value > 0.0 && r.value <= 1.0).count();
        for hop in trace.hops.iter().filter(|hop| hop.marking == Marking::Marked) {
            assert!(hop.marks.has(Marks::CONGESTED) && hop.ahead.packets >= 5, "{hop:?}");
        }
        for hop in trace.hops.iter().filter(|hop| hop.fate == Fate::Dropped) {
            assert_eq!(hop.ahead.packets, 20);
        }
    }
    assert!(alphas > 100, "{alphas}");
    assert!(dropped > 10 && marked > 100, "{dropped} drops, {marked} marks");
    assert_eq!((dropped, marked, sent), counted);
}

#[test]
fn a_hop_waits_exactly_as_long_as_the_port_counts() {
    let scenario = crowded();
    let bottleneck = LinkId(1);
    let mut waited = 0;
    let mut counted = 0;
    for flow in 0..7 {
        let (outcome, trace) = traced(&scenario, flow);
        let at_port = trace.hops.iter().filter(|hop| hop.link == bottleneck);
        waited += at_port.filter_map(|hop| Some(hop.fate.service()?.start.since(hop.queued).0)).sum::<u64>();
        counted = outcome.ports.iter().filter(|p| p.link == bottleneck).map(|p| p.waited).sum();
    }
    assert!(waited > 0);
    assert_eq!(waited, counted);
}

/// As in `engines.rs`: any topology, port, loss and transmit queue.
fn random(seed: u64) -> ScenarioSpec {
    let mut draw = Draw::new(seed);
    let topology = draw.topology(&[0.0, 0.01, 0.1]);
    let flows = draw.flows(topology.hosts, 1 + (seed % 12) as u32);
    let port = draw.port();
    let mut scenario = scenario(topology, port, flows);
    let controller = if seed.is_multiple_of(2) { dctcp() } else { new_reno() };
    scenario.transport = window(controller, draw.window_config());
    scenario.nic = draw.nic();
    scenario.host_delay = draw.pick(&[Span::ZERO, Span::from_ns(700)]);
    scenario.stop = draw.pick(&[
        Stop::WhenDone {
            awaits: Awaited::Finite,
            grace: Span::from_ms(1),
            not_before: Time::ZERO,
            limit: Time(400_000_000_000),
        },
        Stop::At(Time(333_333_333)),
    ]);
    scenario
}

#[test]
fn tracing_changes_nothing_on_either_engine_and_its_rows_hang_together() {
    let mut hops = 0;
    for seed in 0..60 {
        let scenario = random(seed);
        let flow = (seed % scenario.flows.len() as u64) as u32;
        let (outcome, trace) = traced(&scenario, flow);
        let wheel = run(&scenario, drive(Engine::Wheel));
        assert_eq!(outcome, wheel, "seed {seed}");
        assert_eq!(physics(outcome), physics(run(&scenario, drive(Engine::Window))));
        hops += trace.hops.len();
        check(&scenario, &trace);
    }
    assert!(hops > 5_000, "{hops} hops");
}

/// Each packet's hops form its path: a hop begins where and when the one before ends, and only the last can fail.
fn check(scenario: &ScenarioSpec, trace: &Trace) {
    let links = &scenario.topology.links;
    let mut by_packet: Vec<Vec<&Hop>> = vec![Vec::new(); trace.packets.len()];
    trace.hops.iter().for_each(|hop| by_packet[hop.packet as usize].push(hop));
    for (packet, hops) in trace.packets.iter().zip(by_packet) {
        assert_eq!(hops[0].queued, packet.made);
        assert_eq!(links[hops[0].link.index()].from.0, u32::from(packet.header.src.0));
        for pair in hops.windows(2) {
            assert_eq!(links[pair[0].link.index()].to, links[pair[1].link.index()].from);
            assert_eq!(pair[0].fate.arrived(), Some(pair[1].queued));
        }
        for hop in &hops {
            let link = &links[hop.link.index()];
            if let Some(Service { start, end }) = hop.fate.service() {
                assert!(start >= hop.queued);
                let whole = packet.header.wire;
                let trimmed = whole.min(scenario.frame.trimmed_wire());
                let wire = if hop.marks.has(Marks::TRIMMED) { trimmed } else { whole };
                assert_eq!(end.since(start), link.rate.serialize(u64::from(wire)));
                assert!(hop.fate.arrived().is_none_or(|at| at.since(end) == link.delay));
            }
        }
        let last = hops[hops.len() - 1];
        let home = links[last.link.index()].to.0 == u32::from(packet.header.dst.0);
        let arrived = last.fate.arrived().filter(|_| home);
        assert_eq!(packet.delivered, arrived.map(|at| at + scenario.host_delay));
    }
}

#[test]
fn nothing_is_seen_of_a_flow_that_is_not_there() {
    assert_eq!(traced(&three_packets(), 1).1, Trace::default());
}

/// All packets that are sent from `from` to before `until`.
fn network(from: u64, until: u64, most_hops: usize) -> Following {
    let senders = vec![FlowId(2), FlowId(5)];
    Following::Network(Extent { from: Time(from), until: Time(until), most_hops, senders })
}

/// The packets of a flow with their hops, whatever their numbers.
fn packets_of(trace: &Trace, flow: u32) -> Vec<(TracedPacket, Vec<Hop>)> {
    let mut found: Vec<(TracedPacket, Vec<Hop>)> = trace.packets.iter().map(|&p| (p, Vec::new())).collect();
    for hop in &trace.hops {
        found[hop.packet as usize].1.push(Hop { packet: 0, ..*hop });
    }
    found.retain(|(packet, _)| packet.header.flow == FlowId(flow));
    found
}

#[test]
fn a_trace_of_all_flows_has_of_each_what_its_own_trace_has() {
    let scenario = crowded();
    let (outcome, all) = run_following(&scenario, &network(0, u64::MAX, usize::MAX));
    assert_eq!(outcome, run(&scenario, drive(Engine::Wheel)));
    assert_eq!(all.full, None);
    check(&scenario, &all);
    for flow in 0..7 {
        let (_, one) = traced(&scenario, flow);
        assert_eq!(packets_of(&all, flow), packets_of(&one, flow));
        let read: Vec<_> = all.state.iter().filter(|r| r.flow == FlowId(flow)).copied().collect();
        let expected = if [2, 5].contains(&flow) { one.state } else { Vec::new() };
        assert_eq!(read, expected, "flow {flow}");
    }
}

#[test]
fn what_waits_in_a_trace_of_all_flows_is_what_arriving_packets_find() {
    let (_, all) = run_following(&crowded(), &network(0, u64::MAX, usize::MAX));
    let bottleneck: Vec<&Hop> = all.hops.iter().filter(|hop| hop.link == LinkId(1)).collect();
    // A packet waits from its arrival until it is sent or removed. Hops stand in the order of arrival.
    let end = |hop: &Hop| hop.fate.service().map_or(hop.removed, |s| Some(s.start));
    for (i, hop) in bottleneck.iter().enumerate() {
        let waiting = |other: &&&Hop| end(other).is_none_or(|end| end > hop.queued);
        let before = bottleneck[..i].iter().filter(waiting).count() as u32;
        assert_eq!(before, hop.ahead.packets, "{hop:?}");
    }
    assert!(bottleneck.iter().any(|hop| hop.removed.is_some() && hop.ahead.packets == 20));
}

#[test]
fn a_trace_of_all_flows_has_the_packets_sent_in_its_extent_and_says_when_it_is_full() {
    let scenario = crowded();
    let (_, whole) = run_following(&scenario, &network(0, u64::MAX, usize::MAX));
    let (from, until) = (200_000_000, 900_000_000);
    let (outcome, part) = run_following(&scenario, &network(from, until, usize::MAX));
    assert_eq!(outcome, run(&scenario, drive(Engine::Wheel)));
    let made = |trace: &Trace| trace.packets.iter().map(|p| p.made.0).collect::<Vec<_>>();
    let expected: Vec<u64> = made(&whole).into_iter().filter(|at| (from..until).contains(at)).collect();
    assert!(expected.len() > 100 && expected.len() < whole.packets.len());
    assert_eq!(made(&part), expected);
    assert!(part.state.iter().all(|r| (from..until).contains(&r.at.0)) && !part.state.is_empty());
    let (_, full) = run_following(&scenario, &network(0, u64::MAX, 1_000));
    let kept = full.packets.len();
    assert_eq!(full.packets.as_slice(), &whole.packets[..kept]);
    assert_eq!(full.full, Some(whole.packets[kept].made));
    // Packets that were sent before it was full are followed to their end: at most two hops each.
    assert!((1_000..1_000 + 2 * 400).contains(&full.hops.len()), "{}", full.hops.len());
}

//! In-band telemetry: a body that takes readings gets those of every switch port, at the start of service, on both
//! engines.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::support::{Draw, SHUFFLED, drive, fifo, flow, link, physics, run_with, scenario};
use priolane_core::endpoint::{Command, Cx, Endpoint, Event, FlowRequest, LocalHost, PathInfo, RxMeta, Tx};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Body, Frame, Header, Kind, Packet};
use priolane_core::port::Buffer;
use priolane_core::telemetry::{HopReading, Path};
use priolane_core::units::{Rate, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Engine, ScenarioSpec, Stop};
use priolane_sim::topology::{Dumbbell, SingleSwitch};

const FRAME: Frame = Frame::ETHERNET;

/// Readings on the way there, which the answer brings back as it got them.
#[derive(Clone, Copy, Debug, Default)]
struct Ticker {
    path: Path,
}

impl Body for Ticker {
    const STAMPED: bool = true;

    fn stamp(&mut self, header: &Header, reading: HopReading) {
        if header.kind == Kind::Data {
            self.path.push(reading);
        }
    }
}

/// The packets that came back to their senders: flow, number and path.
type Log = Arc<Mutex<Vec<(FlowId, u64, Path)>>>;

/// Sends a flow in full packets as fast as the line takes them; every packet is answered with its readings.
struct Courier {
    host: HostId,
    ready: VecDeque<Packet<Ticker>>,
    events: VecDeque<Event>,
    log: Log,
}

impl Endpoint for Courier {
    type Body = Ticker;

    fn open(&mut self, _cx: &mut Cx, flow: FlowRequest, _path: &dyn Fn() -> PathInfo) {
        let packets = flow.size.unwrap_or(0) / u64::from(FRAME.mss());
        for i in 0..packets {
            let header = Header {
                rank: i,
                flow: flow.id,
                src: self.host,
                dst: flow.dst,
                entropy: flow.entropy,
                wire: FRAME.data_wire(FRAME.mss()),
                payload: FRAME.mss(),
                ..Header::default()
            };
            self.ready.push_back(Packet { header, body: Ticker::default() });
        }
    }

    fn control(&mut self, _cx: &mut Cx, _command: Command) {}

    fn on_packet(&mut self, _cx: &mut Cx, _meta: RxMeta, packet: &Packet<Ticker>) {
        let header = packet.header;
        if header.kind == Kind::Ack {
            self.log.lock().unwrap().push((header.flow, header.rank, packet.body.path));
            return;
        }
        let header =
            Header { src: header.dst, dst: header.src, kind: Kind::Ack, wire: 84, payload: 0, ..header };
        self.ready.push_back(Packet { header, body: packet.body });
    }

    fn on_timer(&mut self, _cx: &mut Cx) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn poll_transmit(&mut self, _cx: &mut Cx) -> Tx<Ticker> {
        self.ready.pop_front().map_or(Tx::Idle, |packet| Tx::Send { packet, id: None })
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}

/// The outcome and what came back to the senders, by flow and packet, on which all engines agree.
fn readings(scenario: &ScenarioSpec) -> (Outcome, Vec<(FlowId, u64, Path)>) {
    let mut all = [drive(Engine::Window), drive(Engine::Wheel), SHUFFLED].map(|drive| {
        let log = Log::default();
        let make = |host: LocalHost| Courier {
            host: host.id,
            ready: VecDeque::new(),
            events: VecDeque::new(),
            log: Arc::clone(&log),
        };
        let outcome = physics(run_with(scenario, drive, &make));
        let mut seen = log.lock().unwrap().clone();
        seen.sort_by_key(|&(flow, packet, _)| (flow, packet));
        (outcome, seen)
    });
    assert!(all[0] == all[1] && all[0] == all[2]);
    std::mem::take(&mut all[0])
}

fn reading(at: u64, queued: u64, sent: u64, gbps: u64) -> HopReading {
    HopReading { at: Time(at), queued_bytes: queued, sent_bytes: sent, rate: Rate::from_gbps(gbps) }
}

#[test]
fn two_senders_read_each_others_packets_at_the_port_they_share() {
    // 1538 B at 10 Gbps take 1,230,400 ps. Packet n of both arrives at the switch at n x 1,230,400 + 1 us, the one of
    // host 0 by 1 ps first; packet m of the port starts at 2,230,400 + (m - 1) x 1,230,400, before what arrives then.
    let topology = SingleSwitch { hosts: 3, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let flows = vec![flow(0, (0, 2), 3 * 1_460, Time::ZERO), flow(1, (1, 2), 3 * 1_460, Time(1))];
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    scenario.stop = Stop::At(Time(40_000_000));
    let (_, seen) = readings(&scenario);
    let expected = [
        // Flow 0 is first, third and fifth; it leaves nothing, the other's second, and the other's third behind.
        reading(2_230_400, 0, 0, 10),
        reading(4_691_200, 1_538, 2 * 1_538, 10),
        reading(7_152_000, 1_538, 4 * 1_538, 10),
        // Flow 1 is second, fourth (the third packets of both have come) and last.
        reading(3_460_800, 0, 1_538, 10),
        reading(5_921_600, 2 * 1_538, 3 * 1_538, 10),
        reading(8_382_400, 0, 5 * 1_538, 10),
    ];
    let of_packets: Vec<HopReading> = seen.iter().flat_map(|(.., path)| path.hops().copied()).collect();
    assert_eq!(of_packets, expected);
    // The way back is one more switch port, and the body took no reading there.
    assert!(seen.iter().all(|(.., path)| path.hop_count() == 1));
}

#[test]
fn each_hop_is_read_in_order_with_its_own_rate() {
    // One flow of two packets: 40 Gbps to the switch, then 10, then 40.
    // Hop 1: 1538 B x 8 / 40 Gbps = 307,600 ps and 1 us: 1,307,600; the second waits from 1,615,200 for the line, which
    // is free at 1,307,600 + 1,230,400 = 2,538,000. Hop 2: 2 us and one serialization later, at once for both.
    let shape = Dumbbell {
        left: 1,
        right: 1,
        host_link: link(40, Span::from_us(1)),
        bottleneck: link(10, Span::from_us(2)),
    };
    let mut scenario = scenario(
        shape.build().unwrap(),
        fifo(Buffer::UNLIMITED),
        vec![flow(0, (0, 1), 2 * 1_460, Time::ZERO)],
    );
    scenario.stop = Stop::At(Time(40_000_000));
    let (_, seen) = readings(&scenario);
    let hops = |i: usize| seen[i].2.hops().copied().collect::<Vec<_>>();
    assert_eq!(hops(0), [reading(1_307_600, 0, 0, 10), reading(4_538_000, 0, 0, 40)]);
    assert_eq!(hops(1), [reading(2_538_000, 0, 1_538, 10), reading(5_768_400, 0, 1_538, 40)]);
}

#[test]
fn readings_are_the_same_on_both_engines_at_every_port() {
    let mut stamped = 0;
    for seed in 0..60 {
        let mut draw = Draw::new(1_000 + seed);
        let topology = draw.topology(&[0.0, 0.01]);
        let flows = draw.flows(topology.hosts, 12);
        let port = draw.port();
        let mut scenario = scenario(topology, port, flows);
        scenario.switch.memory = draw.memory();
        scenario.stop = Stop::At(Time(3_000_000_000));
        let (outcome, seen) = readings(&scenario);
        for (_, _, path) in &seen {
            let hops: Vec<&HopReading> = path.hops().collect();
            assert!(hops.is_sorted_by_key(|hop| hop.at) && usize::from(path.hop_count()) == hops.len());
        }
        stamped += seen.iter().map(|(.., path)| u64::from(path.hop_count())).sum::<u64>();
        // What a port says it sent is never more than what it sent in the end.
        let most = outcome.ports.iter().map(|p| p.bytes).max().unwrap_or(0);
        assert!(seen.iter().flat_map(|(.., path)| path.hops()).all(|hop| hop.sent_bytes < most));
    }
    assert!(stamped > 20_000, "{stamped}");
}

//! Compares the shared buffer with a model that serves every port at every instant.

use std::collections::VecDeque;

use priolane_core::flows::FlowList;
use priolane_core::ids::{CLASSES, FlowId, HostId};
use priolane_core::packet::Frame;
use priolane_core::port::{Alpha, Buffer, DisciplineSpec, FifoSpec, StrictSpec};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::{Controller, Transport, new_reno, window};
use priolane_core::units::{Limit, Rate, Span};

use super::*;
use crate::device::event_sink::{ControlSink, Ingress, Service};
use crate::device::messages::{DependencySignal, ScheduledReport};
use crate::model::partition::Partition;
use crate::model::scenario::{PortSpec, Scenario, ScenarioSpec, Stop, SwitchSpec};
use crate::model::topology::{LinkSpec, SingleSwitch};
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::RunError;

const HOSTS: u32 = 5;
const IDENTITY: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

fn scenario(memory: SharedBuffer, port: PortSpec) -> Scenario {
    let host_link = LinkSpec::lossless(Rate::from_gbps(8), Span::from_us(1));
    let topology = SingleSwitch { hosts: HOSTS, host_link }.build().unwrap();
    let transport = Transport::Window {
        window: window::Config::new(Frame::ETHERNET),
        controller: Controller::NewReno(new_reno::Config { init_window: None }),
        scheduler: priolane_core::host::SchedulerKind::RoundRobin,
    };
    let ports = vec![port; topology.links.len()];
    let spec = ScenarioSpec::new(topology, ports, transport, FlowList::default(), Stop::At(Time::ZERO));
    let switch = SwitchSpec { memory: Some(memory), lossless: None };
    ScenarioSpec { switch, ..spec }.build().unwrap()
}

/// Records when which packet (by its rank) is sent.
#[derive(Default)]
struct SendLog(Vec<(Time, u64)>);

impl EventSink<()> for SendLog {
    const SERVICE: Service = Service::Lazy;

    fn emit(&mut self, _to: Ingress, at: Time, packet: &Packet<()>, _stamp: impl FnOnce(&mut Packet<()>)) {
        self.0.push((at, packet.header.rank));
    }
}

impl ControlSink for SendLog {
    fn flow_log(&mut self) -> &mut FlowLog {
        unreachable!("a switch records no flows")
    }
    fn send_report(&mut self, _report: ScheduledReport) {}
    fn flow_done(&mut self, _flow: FlowId, _at: Time) {}
    fn send_signal(&mut self, _signal: DependencySignal) {}
    fn dependent_scheduled(&mut self, _flow: FlowId, _start: Time) {}
    fn violated(&mut self, error: RunError) {
        panic!("{error}");
    }
}

/// A port of the model: 8 Gbps, so a byte takes 1 ns, and 1 us of propagation.
#[derive(Default)]
struct Port {
    /// By queue: bytes and rank of each packet.
    queues: [VecDeque<(u64, u64)>; 2],
    free_at: u64,
}

/// Serves all ports at all instants and applies the threshold as in the paper.
struct Model {
    ports: Vec<Port>,
    buffer: SharedBuffer,
    sent: Vec<(Time, u64)>,
    refused: Vec<u64>,
    /// Peak bytes queued after any arrival.
    highest: u64,
}

impl Model {
    fn used(&self) -> u64 {
        self.ports.iter().flat_map(|port| port.queues.iter().flatten()).map(|p| p.0).sum()
    }

    fn serve(&mut self, now: u64) {
        for port in &mut self.ports {
            while port.free_at <= now
                && let Some((bytes, rank)) = port.queues.iter_mut().find_map(VecDeque::pop_front)
            {
                port.free_at += bytes * 1000;
                self.sent.push((Time(port.free_at + 1_000_000), rank));
            }
        }
    }

    fn arrive(&mut self, now: u64, p: usize, q: usize, packet: (u64, u64)) {
        self.serve(now);
        let free = self.buffer.size - self.used();
        let queued: u64 = self.ports[p].queues[q].iter().map(|p| p.0).sum();
        let (numerator, denominator) = self.buffer.alpha.parts();
        let threshold = free as f64 * f64::from(numerator) / f64::from(denominator);
        if queued as f64 >= threshold || packet.0 > free {
            self.refused.push(packet.1);
            return;
        }
        let port = &mut self.ports[p];
        if port.queues.iter().all(VecDeque::is_empty) && port.free_at <= now {
            port.free_at = now;
        }
        port.queues[q].push_back(packet);
        self.serve(now);
        self.highest = self.highest.max(self.used());
    }
}

/// Random arrivals in windows of 2 us, served lazily by the switch and at once by the model; returns drops and peak of
/// the model.
fn compare<S: DisciplineKind + Into<DisciplineSpec>>(
    memory: SharedBuffer,
    queues: u64,
    spec: S,
) -> (usize, u64) {
    let scenario = scenario(memory, PortSpec { discipline: spec.into(), buffer: Buffer::UNLIMITED });
    let fabric = Fabric::new(&scenario, Partition::WHOLE);
    let mut switch = Switch::new::<(), S>(&fabric, NodeId(HOSTS)).unwrap();
    let ports = (0..HOSTS).map(|_| Port::default()).collect();
    let mut model = Model { ports, buffer: memory, sent: vec![], refused: vec![], highest: 0 };
    let mut draw = Stream::new(memory.size, Purpose::Ties, queues);
    let (mut sent, mut rank) = (SendLog::default(), 0);
    for window in 0..4_000u64 {
        let crowd = draw.below(if window / 50 % 2 == 0 { 20 } else { 6 });
        let mut times: Vec<u64> = (0..crowd).map(|_| window * 2_000_000 + draw.below(2_000_000)).collect();
        times.sort_unstable();
        let arrivals: Vec<(Time, Packet<()>)> = times
            .into_iter()
            .map(|at| {
                rank += 1;
                // Host 0 is preferred, so that one port has a long queue while others come and go.
                let dst = HostId(if draw.chance(0.5) { 0 } else { draw.below(u64::from(HOSTS)) as u16 });
                let (class, wire) = (draw.below(queues) as u8, 84 + draw.below(1455) as u16);
                (
                    Time(at),
                    Packet { header: Header { rank, dst, class, wire, ..Header::default() }, body: () },
                )
            })
            .collect();
        for (at, packet) in &arrivals {
            let (forwarding, _) = fabric.forwarding(*at);
            let visit = (Visit { at: *at, from: 0 }, &packet.header);
            let route = fabric.next_port(forwarding, switch.node, visit, &mut switch.chooser);
            switch.arrive_lazily(route as usize, &fabric, *at, packet, &mut sent);
            let Header { dst, class, wire, rank, .. } = packet.header;
            model.arrive(at.0, dst.index(), usize::from(class), (u64::from(wire), rank));
        }
        switch.serve_busy(Time((window + 1) * 2_000_000 - 1), &mut sent);
        model.serve((window + 1) * 2_000_000 - 1);
        assert_eq!(switch.memory.unwrap().used, model.used(), "window {window}");
    }
    sent.0.sort_unstable();
    model.sent.sort_unstable();
    assert_eq!(sent.0, model.sent);
    let dropped: u64 = switch.ports.iter().flat_map(|p| p.counts.losses()).map(|[d, ..]| d.packets).sum();
    assert_eq!(dropped, model.refused.len() as u64);
    (model.refused.len(), model.highest)
}

#[test]
fn a_lazy_switch_admits_what_one_would_that_serves_at_every_instant() {
    for (size, alpha) in [(60_000, (1, 1)), (60_000, (1, 4)), (20_000, (8, 1)), (9_000, (3, 7))] {
        let memory = SharedBuffer { size, alpha: Alpha::new(alpha).unwrap() };
        let (refused, highest) = compare(memory, 1, FifoSpec);
        assert!(refused > 500 && highest <= size, "{size} {alpha:?}: {refused} refused, {highest}");
        let (refused, highest) = compare(memory, 2, StrictSpec { queues: 2, map: IDENTITY });
        assert!(refused > 500 && highest <= size, "{size} {alpha:?}: {refused} refused, {highest}");
        // With alpha = 8 the preferred port takes nearly the whole buffer, so its size is the limit.
        assert!(alpha.0 < 8 || highest > size - 1538, "{highest}");
    }
}

#[test]
fn limits_of_a_port_hold_besides_the_shared_buffer() {
    let memory = SharedBuffer { size: 1 << 40, alpha: Alpha::new((1, 1)).unwrap() };
    let three = Buffer { limit: Limit::Packets(3), ..Buffer::UNLIMITED };
    let port = PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer: three };
    let scenario = scenario(memory, port);
    let fabric = Fabric::new(&scenario, Partition::WHOLE);
    let mut switch = Switch::new::<(), FifoSpec>(&fabric, NodeId(HOSTS)).unwrap();
    let packet = Packet { header: Header { wire: 1000, ..Header::default() }, body: () };
    let mut sent = SendLog::default();
    for _ in 0..6 {
        switch.arrive_eagerly(&fabric, Arrival { at: Time::ZERO, from: 0, packet: &packet }, &mut sent);
    }
    // One is in transmission, three wait, two are dropped and take no room.
    assert_eq!((switch.ports[0].queued().0, switch.memory.unwrap().used), (3, 3000));
}

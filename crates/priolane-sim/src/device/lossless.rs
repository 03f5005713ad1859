//! A switch with lossless classes (PFC): it is served eagerly on both engines, as departures resume what is paused.
//!
//! ```text
//! a packet arrives      its ingress is charged (`PfcBuffer`); the account may pause its class upstream
//! a packet departs      its ingress is relieved, which may resume the class
//! a class is (un)paused the port towards the upstream node owes a pause frame: first in line, not preempting, with all
//!                       classes that are paused there now; several changes before it leaves are one frame
//! a pause frame arrives the port back over the same link holds the classes that it names, from now on
//! ```
//!
//! A pause lasts until it is taken back: the quanta of IEEE 802.1Qbb, which a switch renews for as long as it means it,
//! are not simulated. Pause frames are not lost, not even on links that lose or are down (docs/assumptions.md#pfc).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::ids::{CLASSES, Class, ClassSet, FlowId, LinkId, NodeId};
use priolane_core::packet::{Body, Header, Kind, Packet};
use priolane_core::port::pfc::{Load, PfcBuffer, PfcSpec, Taken, Tell};
use priolane_core::port::{Discipline, PortFactory};
use priolane_core::units::Time;

use super::fabric::{Fabric, NO_ROUTE};
use super::path_selector::PathSelector;
use super::pausable_queue::{BufferedPacket, PausableQueue, held_queue};
use super::port::Port;
use super::unroutable::UnroutablePackets;
use crate::device::event_sink::{Arrival, EventSink};
use crate::model::scenario::{headroom, pause_wire};
use crate::observe::collector::Collector;
use crate::observe::outcome::Readings;

/// Whether a port will be looked at when its line is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Armed {
    Yes,
    No,
}

/// A port that can be paused, and its part in the pauses of its link.
#[derive(Debug)]
struct PausablePort<B: Body> {
    egress: Port<PausableQueue<B>>,
    /// Classes that the next node has paused here, and since when.
    held: ClassSet,
    held_since: [Time; CLASSES],
    /// Classes that this switch wants paused at the other end, and what it has said of it.
    wanted: ClassSet,
    told: ClassSet,
    armed: Armed,
    /// The ingress port of the same link's other direction.
    ingress: usize,
}

impl<B: Body> PausablePort<B> {
    fn has_work(&self) -> bool {
        self.wanted != self.told || self.egress.queue.packets() > 0
    }

    /// Whether a packet of `class` that arrives now starts at once.
    fn is_open(&self, now: Time, class: Class) -> bool {
        self.egress.line.free_at <= now && !self.has_work() && !self.held.has(class)
    }

    /// The next node says which classes it has paused.
    fn hold(&mut self, now: Time, classes: ClassSet) {
        for class in (0..CLASSES as Class).filter(|&c| self.held.has(c) != classes.has(c)) {
            let since = std::mem::replace(&mut self.held_since[usize::from(class)], now);
            if self.held.has(class) {
                self.egress.counts.paused(class, now.since(since));
            }
        }
        self.held = classes;
    }
}

/// A switch that drops no packet of its lossless classes.
#[derive(Debug)]
pub(crate) struct LosslessSwitch<B: Body> {
    node: NodeId,
    ports: Vec<PausablePort<B>>,
    buffer: PfcBuffer,
    /// By ingress port: the port of the same link's other direction.
    port_of: Vec<usize>,
    chooser: PathSelector,
    pause_wire: u16,
    /// When lines of ports with work become free.
    agenda: BinaryHeap<Reverse<(Time, u32)>>,
    unroutable: UnroutablePackets,
}

impl<B: Body> LosslessSwitch<B> {
    /// An empty switch at `node`.
    pub(crate) fn new(fabric: &Fabric, node: NodeId, spec: PfcSpec) -> Self {
        let scenario = fabric.scenario;
        let egress = &fabric.egress_links[node.index()];
        let ingress = |link: LinkId| fabric.ingress(scenario.topology.reverse(link)).rank() as usize;
        let port = |&link: &LinkId| PausablePort {
            egress: Port::new(fabric.line(link), held_queue(scenario, link)),
            held: ClassSet::NONE,
            held_since: [Time::ZERO; CLASSES],
            wanted: ClassSet::NONE,
            told: ClassSet::NONE,
            armed: Armed::No,
            ingress: ingress(link),
        };
        let ports: Vec<PausablePort<B>> = egress.iter().map(port).collect();
        let mut port_of = vec![0; ports.len()];
        ports.iter().enumerate().for_each(|(p, port)| port_of[port.ingress] = p);
        let by_link = headroom(&scenario.topology, &scenario.frame, scenario.host_delay);
        let of_port = |&p: &usize| by_link[scenario.topology.reverse(egress[p]).index()];
        let headroom = port_of.iter().map(of_port).collect();
        Self {
            node,
            ports,
            buffer: PfcBuffer::new(spec, headroom),
            port_of,
            chooser: fabric.chooser(node),
            pause_wire: pause_wire(&scenario.frame),
            agenda: BinaryHeap::new(),
            unroutable: UnroutablePackets::new(node),
        }
    }

    /// The next instant at which a line is free that has work.
    pub(crate) fn next(&self) -> Time {
        self.agenda.peek().map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    /// Takes the next such instant and port.
    pub(crate) fn pop_next(&mut self) -> Option<(Time, u32)> {
        self.agenda.pop().map(|Reverse(next)| next)
    }

    /// The line of port `p` is free.
    pub(crate) fn depart<W: EventSink<B>>(&mut self, p: usize, now: Time, wire: &mut W) {
        self.ports[p].armed = Armed::No;
        self.serve(p, now, wire);
    }

    /// A packet or a pause frame arrives.
    pub(crate) fn arrive<W: EventSink<B>>(&mut self, fabric: &Fabric, arrival: Arrival<B>, wire: &mut W) {
        let Arrival { at: now, from, packet } = arrival;
        let (header, from) = (&packet.header, from as usize);
        if header.kind == Kind::Pause {
            let p = self.port_of[from];
            self.ports[p].hold(now, ClassSet(header.rank as u16));
            return self.serve(p, now, wire);
        }
        let way = match &mut self.chooser {
            PathSelector::Drill(drill) => {
                let ports = &self.ports;
                let load = |p: u32| {
                    let egress = &ports[p as usize].egress;
                    (egress.queue.bytes(), egress.line.free_at.max(now))
                };
                drill.choose(fabric.equal_cost_ports(now, self.node, header), load)
            }
            chooser => fabric.next_port(fabric.forwarding(now).0, self.node, header, chooser),
        };
        match way {
            NO_ROUTE => self.unroutable.add(fabric, now, header, wire),
            p => self.offer(p as usize, arrival, wire),
        }
    }

    /// Port `p` takes a packet if there is room for it, as there always is in lossless classes.
    fn offer<W: EventSink<B>>(&mut self, p: usize, arrival: Arrival<B>, wire: &mut W) {
        let Arrival { at: now, from, packet } = arrival;
        let header = &packet.header;
        let port = &mut self.ports[p];
        port.egress.offered(now, header, wire);
        let load = Load { from: from as usize, class: header.class, wire: header.wire };
        if port.is_open(now, header.class)
            && self.buffer.is_unmoved_by(load)
            && let Some(admission) = port.egress.try_bypass(now, header, wire)
        {
            port.egress.forward(now, packet, admission, wire);
            return;
        }
        let (taken, tell) = self.buffer.arrive(load, port.egress.queue.bytes_before(header));
        let back = self.note(load, tell);
        let port = &mut self.ports[p];
        if taken == Taken::Refused {
            port.egress.refuse(header, wire);
        } else {
            port.egress.enqueue(now, &BufferedPacket { packet: *packet, from }, wire, &mut ());
            // It may go at once, which may take back what it paused: nothing is said of it then.
            self.serve(p, now, wire);
            if header.kind == Kind::Data {
                let port = &mut self.ports[p];
                port.egress.counts.holds(port.egress.queue.bytes());
            }
        }
        if let Some(back) = back {
            self.serve(back, now, wire);
        }
    }

    /// Starts what port `p` can start now.
    fn serve<W: EventSink<B>>(&mut self, p: usize, now: Time, wire: &mut W) {
        let port = &mut self.ports[p];
        if port.egress.line.free_at <= now {
            if port.wanted != port.told {
                port.told = port.wanted;
                let frame = pause_frame(port.told, self.pause_wire);
                port.egress.line.signal(now, &frame, wire);
            } else if let Some(load) = port.egress.start(now, port.held, wire, &mut ()) {
                self.departed(p, now, load, wire);
            }
        }
        self.arm(p, now);
    }

    /// Looks at port `p` again when its line is free, if that is to come.
    fn arm(&mut self, p: usize, now: Time) {
        let port = &mut self.ports[p];
        if port.armed == Armed::No && port.egress.line.free_at > now && port.has_work() {
            port.armed = Armed::Yes;
            self.agenda.push(Reverse((port.egress.line.free_at, p as u32)));
        }
    }

    /// A packet has left its queue at port `p`.
    fn departed<W: EventSink<B>>(&mut self, p: usize, now: Time, load: Load, wire: &mut W) {
        let tell = self.buffer.leave(load);
        if let Some(back) = self.note(load, tell).filter(|&back| back != p) {
            self.serve(back, now, wire);
        }
    }

    /// Notes what has to be told about a packet's class; the port that has to say it, if there is anything to say.
    fn note(&mut self, load: Load, tell: Tell) -> Option<usize> {
        if tell == Tell::Nothing {
            return None;
        }
        let back = self.port_of[load.from];
        let wanted = &mut self.ports[back].wanted;
        *wanted = if tell == Tell::Pause { wanted.with(load.class) } else { wanted.without(load.class) };
        Some(back)
    }

    /// Whether the next sample will find something here.
    pub(crate) fn has_reading(&self) -> bool {
        self.ports
            .iter()
            .any(|port| port.egress.queue.packets() > 0 || port.egress.counts.unsampled_bytes() > 0)
    }

    /// Reads all ports that hold something or sent something since the last sample.
    pub(crate) fn sample(&mut self, at: Time, samples: &mut Readings) {
        for port in &mut self.ports {
            let egress = &mut port.egress;
            let queued = egress.queued();
            egress.counts.sample((at, egress.line.link), queued, samples);
        }
    }

    /// Hands over what the run leaves.
    pub(crate) fn finish(&mut self, fabric: &Fabric, at: Time, out: &mut Collector) {
        self.unroutable.finish(out);
        let reverse = |link| fabric.scenario.topology.reverse(link);
        let upstream: Vec<LinkId> =
            self.port_of.iter().map(|&p| reverse(self.ports[p].egress.line.link)).collect();
        for (from, &link) in upstream.iter().enumerate() {
            self.buffer.paused(from).iter().for_each(|class| out.deadlock_detector().paused((link, class)));
        }
        for port in &mut self.ports {
            let link = port.egress.line.link;
            port.hold(at, ClassSet::NONE);
            let discipline = fabric.scenario.ports[link.index()].discipline;
            out.port(&port.egress.counts, link, at, &|class| discipline.queue_of(class));
            port.egress.drain(at, |held: &BufferedPacket<B>| {
                let class = held.packet.header.class;
                out.deadlock_detector().waits((upstream[held.from as usize], class), (link, class));
                out.resident(&held.packet.header);
            });
            out.queue(port.egress.counts.queue(link));
        }
    }
}

/// What a switch tells the other end of a link.
fn pause_frame<B: Body>(classes: ClassSet, wire: u16) -> Packet<B> {
    // Of no flow: traces follow flows.
    let flow = FlowId(u32::MAX);
    let header = Header { rank: u64::from(classes.0), flow, wire, kind: Kind::Pause, ..Header::default() };
    Packet { header, body: B::default() }
}

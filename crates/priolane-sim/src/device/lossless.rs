//! A switch with lossless classes (PFC). Both engines serve it eagerly, because departures resume paused classes.
//!
//! ```text
//! a packet arrives      its ingress is charged (`PfcBuffer`), which may pause its class upstream
//! a packet departs      its ingress is credited, which may resume the class
//! a class is (un)paused the port towards the upstream node sends a pause frame ahead of its queue, without preemption,
//!                       with all classes now paused there; several changes before its transmission are one frame
//! a pause frame arrives the port of the link's reverse direction pauses the classes named in it from now on
//! ```
//!
//! A pause lasts until it is revoked: the quanta of IEEE 802.1Qbb, which a switch refreshes during a pause, are not
//! simulated. Pause frames are never lost, not even on links with random loss or that are down
//! (docs/assumptions.md#pfc).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::ids::{CLASSES, Class, ClassSet, FlowId, LinkId, NodeId};
use priolane_core::packet::{Body, Header, Kind, Packet};
use priolane_core::port::pfc::{Acceptance, Load, PauseSignal, PfcBuffer, PfcSpec};
use priolane_core::port::{Discipline, PortFactory};
use priolane_core::units::Time;

use super::fabric::{Fabric, NO_ROUTE};
use super::path_selector::{PathSelector, Visit};
use super::pausable_queue::{BufferedPacket, PausableQueue, held_queue};
use super::pfc_watch::PortWatch;
use super::port::Port;
use super::unroutable::UnroutablePackets;
use crate::device::event_sink::{Arrival, EventSink};
use crate::model::scenario::{pause_frames, pause_links, pause_wire};
use crate::observe::collector::Collector;
use crate::observe::outcome::Readings;

/// Whether a service event of a port is scheduled for when its link is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Armed {
    Yes,
    No,
}

/// A port that can be paused, and that pauses the other end of its link.
#[derive(Debug)]
struct PausablePort<B: Body> {
    egress: Port<PausableQueue<B>>,
    /// Classes that the next node has paused here; `changed_at` is when that began or ended.
    paused: ClassSet,
    changed_at: [Time; CLASSES],
    /// Classes that are not sent: those that are paused, but for what a watchdog decides.
    held: ClassSet,
    /// The watchdog, if there is one.
    watch: Option<Box<PortWatch>>,
    /// Classes that this switch wants paused at the other end; `signaled` is what the last pause frame said.
    wanted: ClassSet,
    signaled: ClassSet,
    armed: Armed,
    /// The ingress port of the link's reverse direction.
    ingress: usize,
}

impl<B: Body> PausablePort<B> {
    fn has_work(&self) -> bool {
        self.wanted != self.signaled || self.egress.queue.packets() > 0
    }

    /// Returns whether a packet of `class` that arrives now starts transmission at once.
    fn is_open(&self, now: Time, class: Class) -> bool {
        self.egress.line.free_at <= now && !self.has_work() && !self.held.has(class)
    }

    /// Applies a pause frame of the next node.
    fn hold(&mut self, now: Time, classes: ClassSet) {
        for class in (0..CLASSES as Class).filter(|&c| self.paused.has(c) != classes.has(c)) {
            let since = std::mem::replace(&mut self.changed_at[usize::from(class)], now);
            if self.paused.has(class) {
                self.egress.counts.paused(class, now.since(since));
            }
        }
        self.paused = classes;
        self.held = self.watch.as_ref().map_or(classes, |watch| watch.held(classes));
    }

    /// Returns the classes whose packets a watchdog drops.
    fn dropping(&self) -> ClassSet {
        self.watch.as_ref().map_or(ClassSet::NONE, |watch| watch.dropping())
    }
}

/// A switch that never drops packets of its lossless classes, unless a watchdog does.
#[derive(Debug)]
pub(crate) struct LosslessSwitch<B: Body> {
    node: NodeId,
    ports: Vec<PausablePort<B>>,
    buffer: PfcBuffer,
    /// By ingress port: the egress port of the link's reverse direction.
    port_of: Vec<usize>,
    chooser: PathSelector,
    pause_wire: u16,
    /// The times at which the links of ports with work become free, and those at which watchdogs look, whose numbers
    /// follow those of the ports.
    agenda: BinaryHeap<Reverse<(Time, u32)>>,
    unroutable: UnroutablePackets,
}

impl<B: Body> LosslessSwitch<B> {
    /// Creates an empty switch at `node`.
    pub(crate) fn new(fabric: &Fabric, node: NodeId, spec: PfcSpec) -> Self {
        let scenario = fabric.scenario;
        let egress = &fabric.egress_links[node.index()];
        let ingress = |link: LinkId| fabric.ingress(scenario.topology.reverse(link)).rank() as usize;
        let port = |&link: &LinkId| PausablePort {
            egress: Port::new(fabric.transmitter(link), held_queue(scenario, link)),
            paused: ClassSet::NONE,
            changed_at: [Time::ZERO; CLASSES],
            held: ClassSet::NONE,
            watch: spec.watchdog.map(|rule| Box::new(PortWatch::new(rule))),
            wanted: ClassSet::NONE,
            signaled: ClassSet::NONE,
            armed: Armed::No,
            ingress: ingress(link),
        };
        let ports: Vec<PausablePort<B>> = egress.iter().map(port).collect();
        let mut port_of = vec![0; ports.len()];
        ports.iter().enumerate().for_each(|(p, port)| port_of[port.ingress] = p);
        let by_link =
            pause_links(&scenario.topology, (&scenario.frame, scenario.send_jitter), scenario.host_delay);
        let frames = pause_frames(&scenario.frame);
        let of_port = |&p: &usize| {
            let link = by_link[scenario.topology.reverse(egress[p]).index()];
            link.map_or(0, |link| spec.headroom_at(&link, frames))
        };
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

    /// Returns the next instant at which a link with work is free.
    pub(crate) fn next(&self) -> Time {
        self.agenda.peek().map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    /// Removes and returns the next such instant and port.
    pub(crate) fn pop_next(&mut self) -> Option<(Time, u32)> {
        self.agenda.pop().map(|Reverse(next)| next)
    }

    /// Handles that the link of port `p` is free, or that a watchdog looks.
    pub(crate) fn depart<W: EventSink<B>>(&mut self, p: usize, now: Time, sink: &mut W) {
        match self.ports.get_mut(p) {
            Some(port) => port.armed = Armed::No,
            None => return self.inspect(p - self.ports.len(), now, sink),
        }
        self.serve(p, now, sink);
    }

    /// Schedules the times at which the watchdog of port `p` looks after a pause frame.
    #[cold]
    fn watch(&mut self, p: usize, now: Time, classes: ClassSet) {
        let port = &self.ports[p];
        let Some(watch) = &port.watch else { return };
        let number = (self.ports.len() + p) as u32;
        let looks = watch.deadlines(now, port.paused, classes);
        self.agenda.extend(looks.into_iter().flatten().map(|at| Reverse((at, number))));
    }

    /// Begins and ends storms of port `p` that are due.
    #[cold]
    fn inspect<W: EventSink<B>>(&mut self, p: usize, now: Time, sink: &mut W) {
        let port = &mut self.ports[p];
        let Some(watch) = &mut port.watch else { return };
        watch.inspect(now, port.paused, &port.changed_at);
        port.held = watch.held(port.paused);
        self.purge(p, now, sink);
        self.serve(p, now, sink);
    }

    /// Drops the packets of classes in a storm that are first in their queues at port `p`; returns whether there were
    /// any.
    #[cold]
    fn purge<W: EventSink<B>>(&mut self, p: usize, now: Time, sink: &mut W) -> bool {
        let mut found = false;
        loop {
            let port = &mut self.ports[p];
            let kept = ClassSet(!port.dropping().0);
            if kept == ClassSet(u16::MAX) {
                return found;
            }
            let Some((header, load)) = port.egress.discard(now, kept, sink) else { return found };
            found = true;
            if let Some(watch) = &mut port.watch {
                watch.dropped(header.class, header.wire);
            }
            self.departed(p, now, load, sink);
        }
    }

    /// Handles the arrival of a packet or a pause frame.
    pub(crate) fn arrive<W: EventSink<B>>(&mut self, fabric: &Fabric, arrival: Arrival<B>, sink: &mut W) {
        let Arrival { at: now, from, packet } = arrival;
        let (header, from) = (&packet.header, from as usize);
        if header.kind == Kind::Pause {
            let (p, classes) = (self.port_of[from], ClassSet(header.rank as u16));
            self.watch(p, now, classes);
            self.ports[p].hold(now, classes);
            return self.serve(p, now, sink);
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
            chooser => {
                let visit = Visit { at: now, from: arrival.from };
                fabric.next_port(fabric.forwarding(now).0, self.node, (visit, header), chooser)
            }
        };
        match way {
            NO_ROUTE => self.unroutable.add(fabric, now, header, sink),
            p => self.offer(p as usize, arrival, sink),
        }
    }

    /// Enqueues a packet at port `p` if there is room, as there always is in lossless classes.
    fn offer<W: EventSink<B>>(&mut self, p: usize, arrival: Arrival<B>, sink: &mut W) {
        let Arrival { at: now, from, packet } = arrival;
        let header = &packet.header;
        let port = &mut self.ports[p];
        port.egress.offered(now, header, sink);
        let load = Load { from: from as usize, class: header.class, wire: header.wire };
        if port.is_open(now, header.class)
            && self.buffer.leaves_state_unchanged(load)
            && let Some(admission) = port.egress.try_bypass(now, header, sink)
        {
            port.egress.forward(now, packet, admission, sink);
            return;
        }
        if port.dropping().has(header.class) {
            if let Some(watch) = &mut port.watch {
                watch.dropped(header.class, header.wire);
            }
            return port.egress.refuse(header, sink);
        }
        let (taken, tell) = self.buffer.arrive(load, port.egress.queue.bytes_before(header));
        let back = self.note(load, tell);
        let port = &mut self.ports[p];
        if taken == Acceptance::Refused {
            port.egress.refuse(header, sink);
        } else {
            port.egress.enqueue(now, &BufferedPacket { packet: *packet, from }, sink, &mut ());
            // The packet may leave at once, which may revoke the pause that it caused; no frame is then sent.
            self.serve(p, now, sink);
            if header.kind == Kind::Data {
                let port = &mut self.ports[p];
                port.egress.counts.holds(port.egress.queue.bytes());
            }
        }
        if let Some(back) = back {
            self.serve(back, now, sink);
        }
    }

    /// Starts the transmission that is possible at port `p` now.
    fn serve<W: EventSink<B>>(&mut self, p: usize, now: Time, sink: &mut W) {
        let port = &mut self.ports[p];
        if port.egress.line.free_at <= now {
            if port.wanted != port.signaled {
                port.signaled = port.wanted;
                let frame = pause_frame(port.signaled, self.pause_wire);
                port.egress.line.signal(now, &frame, sink);
            } else if let Some(load) = port.egress.start(now, port.held, sink, &mut ()) {
                self.departed(p, now, load, sink);
            } else if port.dropping() != ClassSet::NONE && self.purge(p, now, sink) {
                // Packets of another class may be first now.
                return self.serve(p, now, sink);
            }
        }
        self.arm(p, now);
    }

    /// Schedules a service event of port `p` for when its link is free, if it has work.
    fn arm(&mut self, p: usize, now: Time) {
        let port = &mut self.ports[p];
        if port.armed == Armed::No && port.egress.line.free_at > now && port.has_work() {
            port.armed = Armed::Yes;
            self.agenda.push(Reverse((port.egress.line.free_at, p as u32)));
        }
    }

    /// Handles the departure of a packet from its queue at port `p`.
    fn departed<W: EventSink<B>>(&mut self, p: usize, now: Time, load: Load, sink: &mut W) {
        let tell = self.buffer.leave(load);
        if let Some(back) = self.note(load, tell).filter(|&back| back != p) {
            self.serve(back, now, sink);
        }
    }

    /// Records a pause or resume of a packet's class; returns the port that must send a pause frame, if any.
    fn note(&mut self, load: Load, tell: PauseSignal) -> Option<usize> {
        if tell == PauseSignal::Nothing {
            return None;
        }
        let back = self.port_of[load.from];
        let wanted = &mut self.ports[back].wanted;
        *wanted =
            if tell == PauseSignal::Pause { wanted.with(load.class) } else { wanted.without(load.class) };
        Some(back)
    }

    /// Returns whether the next sample will have something to record here.
    pub(crate) fn has_reading(&self) -> bool {
        self.ports
            .iter()
            .any(|port| port.egress.queue.packets() > 0 || port.egress.counts.unsampled_bytes() > 0)
    }

    /// Samples all ports with queued packets or transmissions since the last sample.
    pub(crate) fn sample(&mut self, at: Time, samples: &mut Readings) {
        for port in &mut self.ports {
            let egress = &mut port.egress;
            let queued = egress.queued();
            egress.counts.sample((at, egress.line.link), queued, samples);
        }
    }

    /// Reports the results of the switch.
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
            let discipline = &fabric.scenario.ports[link.index()].discipline;
            out.port(&port.egress.counts, link, at, &|class| discipline.queue_of(class));
            let storming = port.watch.as_ref().map_or(ClassSet::NONE, |watch| watch.storming());
            port.egress.drain(at, |held: &BufferedPacket<B>| {
                let class = held.packet.header.class;
                // Nothing waits for a pause that a watchdog ignores.
                if !storming.has(class) {
                    out.deadlock_detector().waits((upstream[held.from as usize], class), (link, class));
                }
                out.resident(&held.packet.header);
            });
            port.watch.iter().for_each(|watch| out.outcome().storms.extend(watch.records(link)));
            out.queue(port.egress.counts.queue(link));
        }
    }
}

/// Creates the pause frame for the other end of a link.
fn pause_frame<B: Body>(classes: ClassSet, wire: u16) -> Packet<B> {
    // Belongs to no flow, because traces follow flows.
    let flow = FlowId(u32::MAX);
    let header = Header { rank: u64::from(classes.0), flow, wire, kind: Kind::Pause, ..Header::default() };
    Packet { header, body: B::default() }
}

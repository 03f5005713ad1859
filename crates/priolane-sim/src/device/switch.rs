//! A switch: forwarding, and an egress port per link.
//!
//! The window engine serves ports *lazily*: on touch, everything that could start before now is served first. The
//! wheel engine serves them *eagerly*, with one event per departure. Both start packets in the same way, so a port
//! cannot tell which engine drives it.

mod prefetching;
mod service;

use priolane_core::ids::{LinkId, NodeId};
use priolane_core::packet::{Body, Header, Packet};
use priolane_core::port::{Discipline, DisciplineKind, Fill, PortFactory, SharedBuffer};
use priolane_core::rng::CounterRng;
use priolane_core::units::Time;

use super::fabric::{Fabric, NO_ROUTE, RouteLookup};
use super::path_selector::{PathSelector, Visit};
use super::port::{Port, Started};
use super::unroutable::UnroutablePackets;
use crate::device::event_sink::{Arrival, EventSink, Ingress};
use crate::model::topology::Pick;
use crate::observe::collector::Collector;
use crate::observe::outcome::Readings;
use service::ArrivalResult;

/// A switch whose ports have the discipline `D`. Fields are ordered so that those that most packets need share a cache
/// line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Switch<D> {
    pub(crate) ports: Box<[Port<D>]>,
    /// Ports with a backlog, unordered. All other ports have none.
    busy: Vec<BackloggedPort>,
    chooser: PathSelector,
    node: NodeId,
    needs: Needs,
    memory: Option<Memory>,
    unroutable: UnroutablePackets,
}

/// The state that determines the ports of the packets that arrive in a window.
pub(crate) enum Routes<'f> {
    /// The header alone.
    ByHeader(RouteLookup<'f>, Pick),
    /// The header and the arrival.
    ByVisit(RouteLookup<'f>, CounterRng),
    /// Also earlier arrivals, or a change of the forwarding tables.
    InOrder,
}

/// Whether an arrival involves more than its own port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// No, and its port is known before it arrives: ports are independent, and need no common order of arrivals.
    OwnPort,
    /// At most the port by which it returns to its sender.
    WayBack,
    /// Yes: other ports share the buffer, or are candidates for the packet.
    OtherPorts,
}

/// Ports of a switch that can be independent: their indices, and the mark for no port, have the bits of a rank.
const MAX_INDEPENDENT: usize = (1 << Ingress::RANK_BITS) - 1;

/// The buffer shared by all ports.
#[derive(Clone, Copy, Debug)]
struct Memory {
    buffer: SharedBuffer,
    /// Bytes queued at all ports, as far as they are served.
    used: u64,
}

impl Memory {
    /// Returns whether there is room for a packet in its queue at `port`.
    #[inline]
    fn admits<B: Body, D: Discipline<Packet<B>>>(&self, port: &Port<D>, header: &Header) -> bool {
        let fill = Fill { used: self.used, queue: port.queue.bytes_before(header) };
        self.buffer.admits(fill, header.wire)
    }
}

/// A port with a backlog, to be skipped until service may be due.
#[derive(Clone, Copy, Debug)]
struct BackloggedPort {
    /// The time at which the port's link becomes free after the last service: no service starts before.
    due: Time,
    port: u32,
}

impl<D> Switch<D> {
    /// Creates an empty switch at `node` with ports of the kind `S`; `None` if a port is of another kind.
    pub(crate) fn new<B: Body, S>(fabric: &Fabric, node: NodeId) -> Option<Self>
    where
        S: DisciplineKind + PortFactory<Port<Packet<B>> = D>,
    {
        let scenario = fabric.scenario;
        let mut sends_back = false;
        let port = |&link: &LinkId| {
            let spec = S::of(&scenario.ports[link.index()].discipline)?;
            sends_back |= spec.sends_back();
            Some(Port::new(fabric.transmitter(link), spec.build::<Packet<B>>(&scenario.switch_port(link))))
        };
        let ports = fabric.egress_links[node.index()].iter().map(port).collect::<Option<Box<[_]>>>()?;
        let chooser = fabric.chooser(node);
        let memory = fabric.scenario.switch.memory.map(|buffer| Memory { buffer, used: 0 });
        let needs = if memory.is_some() || matches!(chooser, PathSelector::Drill(_)) {
            Needs::OtherPorts
        } else if sends_back || ports.len() > MAX_INDEPENDENT {
            Needs::WayBack
        } else {
            Needs::OwnPort
        };
        Some(Self {
            node,
            ports,
            busy: Vec::new(),
            chooser,
            unroutable: UnroutablePackets::new(node),
            memory,
            needs,
        })
    }

    /// Returns whether ports are independent, so that arrivals of different ports need no common order.
    #[inline]
    pub(crate) fn has_independent_ports(&self) -> bool {
        self.needs == Needs::OwnPort
    }

    /// Returns how packets find their ports if that is by their headers alone throughout the run, and if ports are
    /// independent.
    #[inline(always)]
    pub(crate) fn simple_routes<'f>(&self, fabric: &'f Fabric) -> Option<(RouteLookup<'f>, Pick)> {
        match (&self.chooser, fabric.only_forwarding(), self.needs) {
            (&PathSelector::ByEntropy(pick), Some(only), Needs::OwnPort) => {
                Some((fabric.route_lookup(only, self.node), pick))
            }
            _ => None,
        }
    }

    /// Returns how packets that arrive from `start` to `end` find their ports.
    #[inline]
    pub(crate) fn routes<'f>(&self, fabric: &'f Fabric, start: Time, end: Time) -> Routes<'f> {
        let (forwarding, changes) = fabric.forwarding(start);
        if changes < end {
            return Routes::InOrder;
        }
        let lookup = || fabric.route_lookup(forwarding, self.node);
        match self.chooser {
            PathSelector::ByEntropy(pick) => Routes::ByHeader(lookup(), pick),
            PathSelector::Random(rng) => Routes::ByVisit(lookup(), rng),
            PathSelector::RoundRobin(_) | PathSelector::Drill(_) => Routes::InOrder,
        }
    }

    /// Returns the port of a packet, in order of arrival; meaningless with DRILL, which selects the port on arrival.
    #[inline]
    pub(crate) fn next_port(&mut self, fabric: &Fabric, visit: Visit, header: &Header) -> u32 {
        let (forwarding, _) = fabric.forwarding(visit.at);
        fabric.next_port(forwarding, self.node, (visit, header), &mut self.chooser)
    }

    /// Handles a packet that arrives and leaves on port `p`; ports are served lazily up to `now`.
    #[inline(always)]
    pub(crate) fn arrive_lazily<B: Body, W: EventSink<B>>(
        &mut self,
        p: usize,
        fabric: &Fabric,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) where
        D: Discipline<Packet<B>>,
    {
        match self.needs {
            Needs::OwnPort | Needs::WayBack => self.arrive_alone(p, fabric, now, packet, sink),
            Needs::OtherPorts => self.arrive_asking(p, fabric, now, packet, sink),
        }
    }

    /// As `arrive_lazily`, if at most the port of the way back is involved.
    #[inline(always)]
    pub(crate) fn arrive_alone<B: Body, W: EventSink<B>>(
        &mut self,
        p: usize,
        fabric: &Fabric,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) where
        D: Discipline<Packet<B>>,
    {
        let Some(port) = self.ports.get_mut(p) else {
            return self.unroutable.add(fabric, now, &packet.header, sink);
        };
        let passed = if port.listed {
            port.serve_until(now, sink);
            port.pass(now, packet, sink)
        } else {
            port.pass_empty(now, packet, sink)
        };
        if passed.is_some() {
            return;
        }
        let result = port.store(now, packet, sink);
        self.list::<B>(p);
        if let ArrivalResult::Returned(packet) = result
            && let Some((p, _)) = self.send_back(fabric, now, &packet, sink)
        {
            self.list::<B>(p);
        }
    }

    /// Returns a packet to its sender, on the path of its entropy. Returns the port, and whether it started a packet.
    #[cold]
    fn send_back<B: Body, W: EventSink<B>>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) -> Option<(usize, Started)>
    where
        D: Discipline<Packet<B>>,
    {
        let (forwarding, _) = fabric.forwarding(now);
        let by_entropy = &mut PathSelector::ByEntropy(fabric.scenario.topology.pick(self.node));
        let visit = Visit { at: now, from: 0 };
        let p = fabric.next_port(forwarding, self.node, (visit, &packet.header), by_entropy) as usize;
        if p >= self.ports.len() {
            self.unroutable.add(fabric, now, &packet.header, sink);
            return None;
        }
        self.at_port(p, |port| port.serve_until(now, sink));
        // A packet that was returned before is dropped.
        let started = match self.offer(p, now, packet, sink) {
            ArrivalResult::Started => Started::Yes,
            ArrivalResult::NotStarted | ArrivalResult::Returned(_) => Started::No,
        };
        Some((p, started))
    }

    /// As `arrive_lazily`, if other ports are involved. Separate, so that both inline the code of the port.
    #[inline(never)]
    fn arrive_asking<B: Body, W: EventSink<B>>(
        &mut self,
        route: usize,
        fabric: &Fabric,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) where
        D: Discipline<Packet<B>>,
    {
        let p = match self.chooser {
            PathSelector::Drill(_) => self.least_loaded(fabric, now, &packet.header, sink),
            _ => route,
        };
        if p >= self.ports.len() {
            return self.unroutable.add(fabric, now, &packet.header, sink);
        }
        self.at_port(p, |port| port.serve_until(now, sink));
        let result = self.offer(p, now, packet, sink);
        self.list::<B>(p);
        if let ArrivalResult::Returned(packet) = result
            && let Some((p, _)) = self.send_back(fabric, now, &packet, sink)
        {
            self.list::<B>(p);
        }
    }

    /// Returns the port with the least load. Candidate ports may lag behind and are first served up to `now`; with
    /// eager departures nothing is left to serve.
    fn least_loaded<B: Body, W: EventSink<B>>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        header: &Header,
        sink: &mut W,
    ) -> usize
    where
        D: Discipline<Packet<B>>,
    {
        let Self { node, ports, chooser, memory, .. } = self;
        let PathSelector::Drill(drill) = chooser else { return NO_ROUTE as usize };
        let load = |p: u32| {
            let port = &mut ports[p as usize];
            accounted(port, memory.as_mut(), |port| port.serve_until(now, sink));
            (port.queued().1, port.line.free_at.max(now))
        };
        drill.choose(fabric.equal_cost_ports(now, *node, header), load) as usize
    }

    /// Adds port `p`, at which a packet arrived, to the list of ports with a backlog if it has one.
    #[inline]
    fn list<B: Body>(&mut self, p: usize)
    where
        D: Discipline<Packet<B>>,
    {
        let port = &mut self.ports[p];
        if !port.listed && port.next_service().is_some() {
            port.listed = true;
            self.busy.push(BackloggedPort { due: port.line.free_at, port: p as u32 });
        }
    }

    /// Runs `act` on port `p` and updates the usage of the shared buffer.
    #[inline]
    fn at_port<B: Body, R>(&mut self, p: usize, act: impl FnOnce(&mut Port<D>) -> R) -> R
    where
        D: Discipline<Packet<B>>,
    {
        accounted(&mut self.ports[p], self.memory.as_mut(), act)
    }

    /// Offers a packet to port `p`, which is served up to `now`, if the switch has room for it.
    #[inline]
    fn offer<B: Body, W: EventSink<B>>(
        &mut self,
        p: usize,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) -> ArrivalResult<B>
    where
        D: Discipline<Packet<B>>,
    {
        if self.memory.is_some() && !self.has_room(p, now, &packet.header, sink) {
            let port = &mut self.ports[p];
            port.offered(now, &packet.header, sink);
            port.refuse(&packet.header, sink);
            return ArrivalResult::NotStarted;
        }
        self.at_port(p, |port| port.arrive(now, packet, sink))
    }

    /// Returns whether the shared buffer has room for a packet at port `p`, which is served up to `now`.
    ///
    /// The other ports may lag behind. Their pending departures only free room: a packet that fits without them is
    /// admitted. Otherwise the other ports are served before the decision.
    fn has_room<B: Body, W: EventSink<B>>(
        &mut self,
        p: usize,
        now: Time,
        header: &Header,
        sink: &mut W,
    ) -> bool
    where
        D: Discipline<Packet<B>>,
    {
        let admits =
            |switch: &Self| switch.memory.is_none_or(|memory| memory.admits(&switch.ports[p], header));
        if admits(self) {
            return true;
        }
        for place in 0..self.busy.len() {
            let port = self.busy[place].port as usize;
            self.at_port(port, |port| port.serve_until(now, sink));
        }
        admits(self)
    }

    /// Serves all ports up to and including `limit`; returns when the next service is due.
    #[inline]
    pub(crate) fn serve_busy<B: Body, W: EventSink<B>>(&mut self, limit: Time, sink: &mut W) -> Time
    where
        D: Discipline<Packet<B>>,
    {
        if self.busy.is_empty() { Time::NEVER } else { self.serve_listed(limit, sink) }
    }

    #[inline(never)]
    fn serve_listed<B: Body, W: EventSink<B>>(&mut self, limit: Time, sink: &mut W) -> Time
    where
        D: Discipline<Packet<B>>,
    {
        let mut next = Time::NEVER;
        let mut i = 0;
        while i < self.busy.len() {
            let BackloggedPort { due, port } = self.busy[i];
            if due <= limit {
                self.at_port(port as usize, |port| port.serve_until(limit, sink));
                let port = &mut self.ports[port as usize];
                let Some(service) = port.next_service() else {
                    port.listed = false;
                    self.busy.swap_remove(i);
                    continue;
                };
                // Not `service`, which a later arrival without rate limit may make earlier.
                self.busy[i].due = port.line.free_at;
                next = next.min(service);
            } else {
                next = next.min(due);
            }
            i += 1;
        }
        next
    }

    /// Handles a packet that arrives; departures due by now were events of their own. Returns the touched ports, that
    /// of the packet and that by which it returns to its sender if it does, and whether they started a packet.
    pub(crate) fn arrive_eagerly<B: Body, W: EventSink<B>>(
        &mut self,
        fabric: &Fabric,
        arrival: Arrival<B>,
        sink: &mut W,
    ) -> [Option<(usize, Started)>; 2]
    where
        D: Discipline<Packet<B>>,
    {
        let Arrival { at: now, from, packet } = arrival;
        let p = match self.chooser {
            PathSelector::Drill(_) => self.least_loaded(fabric, now, &packet.header, sink),
            _ => self.next_port(fabric, Visit { at: now, from }, &packet.header) as usize,
        };
        if p >= self.ports.len() {
            self.unroutable.add(fabric, now, &packet.header, sink);
            return [None; 2];
        }
        match self.offer(p, now, packet, sink) {
            ArrivalResult::Started => [Some((p, Started::Yes)), None],
            ArrivalResult::NotStarted => [Some((p, Started::No)), None],
            ArrivalResult::Returned(packet) => {
                [Some((p, Started::No)), self.send_back(fabric, now, &packet, sink)]
            }
        }
    }

    /// Starts the next service of port `p` if it is due by `now`.
    pub(crate) fn depart<B: Body, W: EventSink<B>>(&mut self, p: usize, now: Time, sink: &mut W) -> Started
    where
        D: Discipline<Packet<B>>,
    {
        self.at_port(p, |port| port.serve_one(now, sink))
    }

    /// Returns whether the next sample will have something to record here.
    pub(crate) fn has_reading(&self) -> bool {
        !self.busy.is_empty() || self.ports.iter().any(|port| port.counts.unsampled_bytes() > 0)
    }

    /// Samples all ports with queued packets or transmissions since the last sample.
    pub(crate) fn sample<B: Body>(&mut self, at: Time, samples: &mut Readings)
    where
        D: Discipline<Packet<B>>,
    {
        for port in &mut self.ports {
            let (queued_packets, queued_bytes) = port.queued();
            port.counts.sample((at, port.line.link), (queued_packets, queued_bytes), samples);
        }
    }

    /// Reports the results of the switch.
    pub(crate) fn finish<B: Body>(&mut self, fabric: &Fabric, at: Time, out: &mut Collector)
    where
        D: Discipline<Packet<B>>,
    {
        self.unroutable.finish(out);
        for port in &mut self.ports {
            let link = port.line.link;
            let discipline = &fabric.scenario.ports[link.index()].discipline;
            out.port(&port.counts, link, at, &|class| discipline.queue_of(class));
            port.drain(at, |packet: &Packet<B>| out.resident(&packet.header));
            out.queue(port.counts.queue(link));
        }
    }
}

/// Runs `act` on a port and updates the usage of the shared buffer, if there is one.
#[inline]
fn accounted<B: Body, D: Discipline<Packet<B>>, R>(
    port: &mut Port<D>,
    memory: Option<&mut Memory>,
    act: impl FnOnce(&mut Port<D>) -> R,
) -> R {
    let Some(memory) = memory else { return act(port) };
    memory.used -= port.queued().1;
    let done = act(port);
    memory.used += port.queued().1;
    done
}

#[cfg(test)]
mod tests;

//! Builds a trace from the events of nodes.

use std::collections::{BTreeMap, VecDeque};

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::{FlowId, HostId, LinkId, NodeId};
use priolane_core::packet::{Body, Header, Kind, Marks, Packet};
use priolane_core::port::{Admission, PortFactory, SortBy};
use priolane_core::units::{Span, Time};

use super::event::{Passage, TraceEvent};
use super::flow_trace::{
    Backlog, Fate, Hop, Loss, Marking, Reading, Service, Trace, TracedPacket, Transmission,
};
use super::following::Following;
use crate::model::scenario::{Nic, Scenario};

/// Records the events of the flows that it follows.
#[derive(Debug)]
pub(crate) struct Tracer {
    following: Following,
    /// The senders whose state is read.
    senders: Vec<Sender>,
    hosts: u32,
    /// The time of the event that is being handled.
    now: Time,
    host_delay: Span,
    trace: Trace,
    /// Hops of queued packets, by port, in order of arrival.
    waiting: BTreeMap<LinkId, VecDeque<usize>>,
    /// Hops of packets on links.
    flying: BTreeMap<Passage, usize>,
    /// The traced packet that is being handled.
    subject: Option<u32>,
    /// The hop that is not yet admitted.
    offered: Option<usize>,
    /// The hop whose transmission just started.
    started: Option<usize>,
    sent: BTreeMap<FlowId, SentBefore>,
}

/// A sender whose state is read.
#[derive(Debug)]
struct Sender {
    flow: FlowId,
    host: HostId,
    /// The last readings.
    last: Vec<(&'static str, f64)>,
}

/// The packets that a flow sent before: its payload up to an end, its SYN, its SYN/ACK.
#[derive(Clone, Copy, Debug, Default)]
struct SentBefore {
    payload_end: u64,
    syn: bool,
    syn_ack: bool,
}

impl SentBefore {
    /// Returns whether a packet repeats any of it, and records the packet.
    fn add(&mut self, header: &Header) -> Transmission {
        let again = match header.kind {
            Kind::Data => {
                let begins = header.offset.get();
                let again = begins < self.payload_end;
                self.payload_end = self.payload_end.max(begins + u64::from(header.payload));
                again
            }
            Kind::Syn => std::mem::replace(&mut self.syn, true),
            Kind::SynAck => std::mem::replace(&mut self.syn_ack, true),
            Kind::Ack | Kind::Credit | Kind::Probe | Kind::Signal | Kind::Pause => false,
        };
        if again { Transmission::Again } else { Transmission::First }
    }
}

impl Tracer {
    /// Creates a tracer without events.
    pub(crate) fn new(scenario: &Scenario, following: &Following) -> Self {
        let sender = |&flow: &FlowId| {
            let spec = scenario.flows.get(flow.index())?;
            Some(Sender { flow, host: spec.src, last: Vec::new() })
        };
        Self {
            senders: following.senders().iter().filter_map(sender).collect(),
            following: following.clone(),
            now: Time::ZERO,
            hosts: scenario.topology.hosts,
            host_delay: scenario.host_delay,
            trace: Trace::default(),
            waiting: BTreeMap::new(),
            flying: BTreeMap::new(),
            subject: None,
            offered: None,
            started: None,
            sent: BTreeMap::new(),
        }
    }

    /// Starts handling an event of `node`: the arrival of a packet, or another.
    pub(crate) fn begin(&mut self, node: NodeId, at: Time, arrived: Option<Passage>) {
        (self.now, self.subject) = (at, None);
        let Some(i) = arrived.and_then(|passage| self.flying.remove(&passage)) else { return };
        let hop = &mut self.trace.hops[i];
        let is_host = node.0 < self.hosts;
        if let Fate::Sent(service) = hop.fate {
            let processing = if is_host { self.host_delay } else { Span::ZERO };
            hop.fate = Fate::Arrived { service, at: at - processing };
        }
        if is_host {
            self.trace.packets[hop.packet as usize].delivered = Some(at);
        }
        self.subject = Some(hop.packet);
    }

    /// Records that the packet whose transmission just started is on the link, with the arrival `passage`.
    pub(crate) fn emitted(&mut self, passage: Passage) {
        if let Some(i) = self.started.take() {
            self.flying.insert(passage, i);
        }
    }

    /// Records an event of a node.
    pub(crate) fn see<B: Body>(&mut self, seen: TraceEvent<B>) {
        match seen {
            TraceEvent::Called { host, at, endpoint } => self.read(host, at, endpoint),
            TraceEvent::Made { at, packet } => self.made(at, &packet),
            TraceEvent::Offered { link, at, header, ahead } => self.offer(link, at, &header, ahead),
            TraceEvent::Admitted(admission) => self.admit(admission),
            TraceEvent::Evicted { link, header } => self.take_out(link, &header, Fate::Dropped),
            TraceEvent::Expired { link, header } => self.take_out(link, &header, Fate::Expired),
            TraceEvent::Lost(by) => self.lose(by),
            TraceEvent::Trimmed { link, before } => self.trim(link, &before),
            TraceEvent::Started { link, start, left, header } => {
                self.start(link, Service { start, end: left }, &header);
            }
        }
    }

    fn made<B: Body>(&mut self, at: Time, packet: &Packet<B>) {
        let header = packet.header;
        if !self.following.has(&header) {
            return;
        }
        let turn = self.sent.entry(header.flow).or_default().add(&header);
        if !self.has_room(at) {
            self.subject = None;
            return;
        }
        self.subject = Some(self.trace.packets.len() as u32);
        let blocks = packet.body.blocks();
        self.trace.packets.push(TracedPacket { header, blocks, made: at, turn, delivered: None });
    }

    /// Returns whether a packet that is sent at `at` is traced.
    fn has_room(&mut self, at: Time) -> bool {
        if !self.following.covers(at) {
            return false;
        }
        if self.trace.full.is_none() && self.following.is_full(self.trace.hops.len()) {
            self.trace.full = Some(at);
        }
        self.trace.full.is_none()
    }

    fn offer(&mut self, link: LinkId, queued: Time, header: &Header, ahead: Backlog) {
        self.offered = None;
        if !self.following.has(header) {
            return;
        }
        let Some(packet) = self.subject else { return };
        self.offered = Some(self.trace.hops.len());
        self.trace.hops.push(Hop {
            packet,
            link,
            queue: 0,
            queued,
            ahead,
            marks: header.marks,
            marking: Marking::Unmarked,
            fate: Fate::Waiting,
            removed: None,
        });
    }

    fn admit(&mut self, admission: Admission) {
        let Some(i) = self.offered.take() else { return };
        let hop = &mut self.trace.hops[i];
        match admission {
            Admission::Dropped | Admission::Returned => {
                (hop.fate, hop.removed) = (Fate::Dropped, Some(hop.queued));
                return;
            }
            Admission::Marked => {
                hop.marks = hop.marks.with(Marks::CONGESTED);
                hop.marking = Marking::Marked;
            }
            Admission::Queued => {}
        }
        self.waiting.entry(hop.link).or_default().push_back(i);
    }

    fn take_out(&mut self, link: LinkId, header: &Header, fate: Fate) {
        if let Some(i) = self.take_waiting(link, header) {
            let hop = &mut self.trace.hops[i];
            (hop.fate, hop.removed) = (fate, Some(self.now));
        }
    }

    fn lose(&mut self, by: Loss) {
        let Some(i) = self.started.take() else { return };
        let fate = &mut self.trace.hops[i].fate;
        if let Fate::Sent(service) = *fate {
            *fate = Fate::Lost { service, by };
        }
    }

    /// Marks the offered packet, or the last packet with this header, as trimmed; trimming takes from the end.
    fn trim(&mut self, link: LinkId, before: &Header) {
        let Trace { packets, hops, .. } = &mut self.trace;
        let offered = self.offered.iter().filter(|&&i| hops[i].link == link);
        let waiting = self.waiting.get(&link).into_iter().flatten().rev();
        let last = offered.chain(waiting).find(|&&i| is_header_of(packets, &hops[i], before));
        if let Some(&i) = last {
            hops[i].marks = hops[i].marks.with(Marks::TRIMMED);
        }
    }

    fn start(&mut self, link: LinkId, service: Service, header: &Header) {
        self.started = self.take_waiting(link, header);
        if let Some(i) = self.started {
            self.trace.hops[i].fate = Fate::Sent(service);
        }
    }

    /// Removes the hop of a packet that no longer waits at a port; `None` for packets that are not traced.
    fn take_waiting(&mut self, link: LinkId, header: &Header) -> Option<usize> {
        if !self.following.has(header) {
            return None;
        }
        let Trace { packets, hops, .. } = &self.trace;
        let waiting = self.waiting.get_mut(&link)?;
        let is_it = |&i: &usize| is_header_of(packets, &hops[i], header);
        let found = waiting.iter().position(is_it).and_then(|place| waiting.remove(place));
        debug_assert!(
            found.is_some() || matches!(self.following, Following::Network(_)),
            "a packet that leaves a port has come to it before, unless it was sent outside the extent"
        );
        found
    }

    fn read<B: Body>(&mut self, host: HostId, at: Time, endpoint: &dyn Endpoint<Body = B>) {
        let Self { following, senders, trace, subject, .. } = self;
        let subject = subject.map(|packet| trace.packets[packet as usize].header.flow);
        for Sender { flow, last, .. } in senders.iter_mut().filter(|sender| sender.host == host) {
            let (flow, answered) = (*flow, subject == Some(*flow));
            endpoint.inspect(flow, &mut |metric, value| {
                let known = last.iter_mut().find(|(name, _)| *name == metric);
                let is_new = known.as_ref().is_none_or(|(_, old)| old.to_bits() != value.to_bits());
                match known {
                    Some((_, old)) => *old = value,
                    None => last.push((metric, value)),
                }
                if (answered || is_new) && following.covers(at) {
                    trace.state.push(Reading { flow, at, metric, value });
                }
            });
        }
    }

    /// Returns the complete trace.
    pub(crate) fn into_trace(self, scenario: &Scenario) -> Trace {
        let mut trace = self.trace;
        for hop in &mut trace.hops {
            let header = &trace.packets[hop.packet as usize].header;
            let from = scenario.topology.links[hop.link.index()].from;
            hop.queue = match &scenario.nic {
                _ if from.0 >= self.hosts => {
                    scenario.ports[hop.link.index()].discipline.queue_of(header.class)
                }
                Nic::Pull => 0,
                Nic::Queue { port, sort_by: SortBy::Class } => port.discipline.queue_of(header.class),
                Nic::Queue { port, sort_by: SortBy::HostLevel } => {
                    port.discipline.queue_of(header.host_level)
                }
            };
        }
        trace
    }
}

/// Returns whether the packet on `hop` has this header: its original header, except for marks and trimmed payload.
fn is_header_of(packets: &[TracedPacket], hop: &Hop, header: &Header) -> bool {
    let mut expected = Header { marks: hop.marks, ..packets[hop.packet as usize].header };
    if hop.marks.has(Marks::TRIMMED) {
        (expected.wire, expected.payload) = (header.wire, header.payload);
    }
    expected == *header
}

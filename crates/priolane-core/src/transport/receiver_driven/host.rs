//! A host of a receiver-driven transport: its flows, and the operations that these transports share.

use std::collections::VecDeque;

use super::control_message::{ControlMessage, MessageType, answer};
use super::inbound::Inbound;
use super::outgoing::Outgoing;
use crate::endpoint::{Command, Event, FlowRequest, LocalHost, PathInfo, PayloadStats, Rejection, RxMeta};
use crate::ids::{FlowId, HostId};
use crate::packet::{Frame, Header, Kind, Marks, Packet};
use crate::transport::common::{
    Ask, AskLimit, FlowKey, FlowTable, HasTimer, Incoming, Outbox, Peers, SentFlow,
};
use crate::units::{Span, Time};

/// A transport's state of a flow that this host sends.
pub(in crate::transport) trait HasOutgoing: HasTimer {
    /// Returns the part that all transports share.
    fn out(&self) -> &Outgoing;

    /// Returns that part mutably.
    fn out_mut(&mut self) -> &mut Outgoing;
}

/// Implements [`HasOutgoing`] for flows with the fields `alarm` and `out`.
macro_rules! has_outgoing {
    ($flow:ty) => {
        $crate::transport::common::timed_by_alarm!($flow);

        impl $crate::transport::receiver_driven::HasOutgoing for $flow {
            #[inline]
            fn out(&self) -> &$crate::transport::receiver_driven::Outgoing {
                &self.out
            }

            #[inline]
            fn out_mut(&mut self) -> &mut $crate::transport::receiver_driven::Outgoing {
                &mut self.out
            }
        }
    };
}
pub(in crate::transport) use has_outgoing;

impl<S: HasOutgoing> SentFlow for S {
    #[inline]
    fn dst(&self) -> HostId {
        self.out().spec.dst
    }
}

/// A transport's state of a flow that this host receives.
pub(in crate::transport) trait HasInbound: HasTimer {
    /// Returns the part that all transports share.
    fn inbound(&self) -> &Inbound;
}

/// Implements [`HasInbound`] for flows with the fields `alarm` and `inbound`.
macro_rules! has_inbound {
    ($flow:ty) => {
        $crate::transport::common::timed_by_alarm!($flow);

        impl $crate::transport::receiver_driven::HasInbound for $flow {
            #[inline]
            fn inbound(&self) -> &$crate::transport::receiver_driven::Inbound {
                &self.inbound
            }
        }
    };
}
pub(in crate::transport) use has_inbound;

/// The way in which a flow ended at its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum End {
    /// All of it arrived.
    Received,
    /// It is not received: this host refused it or gave it up, or its sender did.
    Rejected(Rejection),
}

/// The state of a flow at its receiver, with which an arriving packet is processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Receiving {
    /// It is being received: its slot.
    Active(u32),
    /// All of it arrived earlier.
    Received,
    /// A new flow, which may get a receiver.
    New,
    /// It is not received.
    No,
}

/// The flows of a host, with its queued packets and events.
#[derive(Debug)]
pub(in crate::transport) struct Host<S, R> {
    pub(in crate::transport) flows: FlowTable<S, R, End>,
    pub(in crate::transport) outbox: Outbox<ControlMessage>,
    pub(in crate::transport) events: VecDeque<Event>,
    pub(in crate::transport) payload: PayloadStats,
    peers: Peers,
    /// Limit on what senders that do not answer are asked for, on a real host.
    pub(in crate::transport) ask_limit: Option<Box<AskLimit>>,
    /// Bytes of the longest flow that is received.
    longest: u64,
}

impl<S: HasOutgoing, R: HasInbound> Host<S, R> {
    /// Creates `host` without flows; its control packets have class 0.
    pub(in crate::transport) fn new(host: &LocalHost, frame: &Frame) -> Self {
        Self {
            flows: FlowTable::new(host),
            outbox: Outbox::new(host, 0, frame.ack_wire()),
            events: VecDeque::new(),
            payload: PayloadStats::default(),
            peers: Peers::new(host),
            ask_limit: AskLimit::new(host, frame.max_wire()),
            longest: host.real.map_or(u64::MAX, |real| real.longest),
        }
    }

    /// Returns the bandwidth-delay product of a flow's path in full packets, rounded up.
    pub(in crate::transport) fn bdp(&self, flow: &FlowRequest, path: &PathInfo, frame: &Frame) -> u64 {
        self.peers.path(flow.dst, path).bdp().div_ceil(u64::from(frame.max_wire()))
    }

    /// Returns the longest round-trip time of control packets of a flow on an empty path.
    pub(in crate::transport) fn control_rtt(&self, flow: &FlowRequest, path: &PathInfo) -> Span {
        let path = self.peers.path(flow.dst, path);
        path.control.round_trip + path.send_jitter
    }

    /// Adds a flow that starts at `now` with a packet that its receiver answers; returns its slot.
    pub(in crate::transport) fn add_sender(&mut self, mut sender: S, now: Time) -> u32 {
        let out = sender.out_mut();
        if self.peers.is_measuring() {
            out.asked = now;
        }
        let flow = out.spec.id;
        self.flows.add_sender(flow, sender)
    }

    /// Returns the slot of the flow of this host that a packet from its receiver refers to. The first reply yields
    /// an RTT sample.
    #[inline]
    pub(in crate::transport) fn answered(&mut self, header: &Header, now: Time) -> Option<u32> {
        let slot = self.flows.answered(header)?;
        if self.peers.is_measuring()
            && let Some(flow) = self.flows.senders.get_mut(slot)
            && let Some(rtt) = flow.out_mut().first_answer(now)
        {
            self.peers.answered(header.src, rtt, now);
        }
        Some(slot)
    }

    /// On a real host, reports to the application that the receiver has `bytes` bytes from the start of a flow, if
    /// that is more than `before`.
    #[inline]
    pub(in crate::transport) fn acked(&mut self, flow: FlowId, before: u64, bytes: u64) {
        if self.peers.is_measuring() && bytes > before {
            self.events.push_back(Event::Acked { flow, bytes });
        }
    }

    /// Reports the completion of the flow at `slot`.
    pub(in crate::transport) fn complete(&mut self, slot: u32, now: Time) {
        if let Some(flow) = self.flows.senders.get(slot) {
            let out = flow.out();
            self.events.push_back(Event::Completed(out.report(now, out.packets.size())));
        }
    }

    /// Removes a flow that this host sends.
    pub(in crate::transport) fn remove_sender(&mut self, flow: FlowId) {
        self.flows.remove_sender(flow);
        self.flows.drop_dead_timers();
    }

    /// In a simulator, reports a packet of payload that this host already had.
    #[inline]
    pub(in crate::transport) fn duplicate(&mut self, header: &Header) {
        let is_payload = header.kind == Kind::Data && header.payload > 0 && !header.marks.has(Marks::TRIMMED);
        if is_payload && !self.peers.is_measuring() {
            self.events.push_back(Event::Duplicate { flow: header.flow });
        }
    }

    /// Returns the state of the flow of a packet from its sender. A real host rejects flows that are too long, and reports
    /// packets of flows that it does not receive.
    #[inline]
    pub(in crate::transport) fn receiving(
        &mut self,
        packet: &Packet<ControlMessage>,
        now: Time,
    ) -> Receiving {
        let key = FlowKey::of(&packet.header);
        match self.flows.incoming(key) {
            Some(Incoming::Active(slot)) => Receiving::Active(slot),
            Some(Incoming::Ended(End::Received)) => {
                self.duplicate(&packet.header);
                Receiving::Received
            }
            Some(Incoming::Ended(End::Rejected(why))) => self.reject(key, why),
            None if packet.body.size > self.longest => {
                self.flows.refuse(key, End::Rejected(Rejection::TooLong), now);
                self.reject(key, Rejection::TooLong)
            }
            None if self.flows.admits(key) => Receiving::New,
            None => Receiving::No,
        }
    }

    fn reject(&mut self, key: FlowKey, why: Rejection) -> Receiving {
        if self.peers.is_measuring() {
            self.events.push_back(Event::Rejected { src: key.src(), flow: key.flow(), why });
        }
        Receiving::No
    }

    /// Records that `src` requested a flow, or repeated a packet.
    #[inline]
    pub(in crate::transport) fn requested(&mut self, src: HostId) {
        if let Some(limit) = &mut self.ask_limit {
            limit.requested(src, self.peers.base_rtt(src));
        }
    }

    /// Records that `src` is asked for `packets` packets.
    #[inline]
    pub(in crate::transport) fn ask(&mut self, src: HostId, packets: u64) {
        if let Some(limit) = &mut self.ask_limit
            && limit.ask(src, packets) == Ask::Last
        {
            self.events.push_back(Event::Unanswered { src });
        }
    }

    /// Lets a flow wait until its sender may be asked again.
    pub(in crate::transport) fn wait(&mut self, key: FlowKey) {
        if let Some(limit) = &mut self.ask_limit {
            limit.wait(key);
        }
    }

    /// Records that a packet of `src` arrived, with new data if `payload` counts more packets than `seen`.
    #[inline]
    pub(in crate::transport) fn heard(&mut self, src: HostId, seen: u64) {
        match &mut self.ask_limit {
            Some(limit) if self.payload.packets > seen => limit.answered(src),
            Some(limit) => limit.requested(src, self.peers.base_rtt(src)),
            None => {}
        }
    }

    /// Returns the slot of the next flow of `src` that waited and may ask now. It is called after [`Self::heard`], until it
    /// returns `None` or at most [`AskLimit::WAKE_UPS`] times.
    pub(in crate::transport) fn next_waiting(&mut self, src: HostId) -> Option<u32> {
        let limit = self.ask_limit.as_mut()?;
        while let Some(key) = limit.next_waiting(src) {
            if let Some(slot) = self.flows.receiver_of(key) {
                return Some(slot);
            }
        }
        None
    }

    /// Applies a command for a flow that this host receives. The transport has removed its own state of the flow, except for
    /// `NoRoom`.
    pub(in crate::transport) fn control_received(&mut self, command: Command, now: Time) {
        match command {
            Command::ForgetReceived { src, flow } => {
                let key = FlowKey::new(src, flow);
                self.flows.forget_ended(key);
            }
            Command::EndReceived { src, flow } => {
                let end = End::Rejected(Rejection::GivenUp);
                self.flows.refuse(FlowKey::new(src, flow), end, now);
            }
            Command::NoRoom { src, flow } => {
                if let Some(slot) = self.flows.receiver_of(FlowKey::new(src, flow)) {
                    self.flows.heard(slot, now);
                }
            }
            Command::Flow(..) | Command::Thresholds(_) | Command::ForgetHost(_) => {}
        }
    }

    /// Ends a flow of which no data arrived for too long, or that its sender does not know, once the transport has removed its
    /// own state of it.
    pub(in crate::transport) fn end_idle(&mut self, key: FlowKey, now: Time) {
        self.flows.refuse(key, End::Rejected(Rejection::GivenUp), now);
        self.report_forgotten(key);
    }

    /// Reports on a real host that the state of an incomplete flow was dropped.
    pub(in crate::transport) fn report_forgotten(&mut self, key: FlowKey) {
        if self.peers.is_measuring() {
            self.events.push_back(Event::Forgotten { src: key.src(), flow: key.flow() });
        }
    }

    /// Returns true if a data packet for the flow at `slot` is accepted at `now`. A real host accepts only packets
    /// that match the length of the flow, and tells its application what can be read.
    #[inline]
    pub(in crate::transport) fn takes(
        &mut self,
        slot: u32,
        packet: &Packet<ControlMessage>,
        now: Time,
    ) -> bool {
        if !self.peers.is_measuring() || packet.header.marks.has(Marks::TRIMMED) {
            return true;
        }
        let Some(flow) = self.flows.receivers.get(slot) else { return false };
        let inbound = flow.inbound();
        let fits = inbound.packets.are_of(&packet.header);
        if fits {
            inbound.readable(packet, &mut self.events);
            self.flows.heard(slot, now);
        }
        fits
    }

    /// Ends the flow of a packet, which has arrived completely.
    pub(in crate::transport) fn deliver(&mut self, now: Time, meta: RxMeta, header: &Header) {
        self.flows.end_receiver(FlowKey::of(header), End::Received, now);
        self.flows.drop_dead_timers();
        let Header { src, flow, .. } = *header;
        self.events.push_back(Event::Delivered { src, flow, at: meta.stamp, missing: 0 });
    }

    /// Removes a flow that this host receives.
    pub(in crate::transport) fn remove_receiver(&mut self, key: FlowKey) {
        self.flows.remove_receiver(key);
        self.flows.drop_dead_timers();
    }

    /// Returns true if a flow is being received here.
    pub(in crate::transport) fn is_receiving(&self, src: HostId, flow: FlowId) -> bool {
        self.flows.receiver_of(FlowKey::new(src, flow)).is_some()
    }

    /// Discards the remaining state of a host, once all its flows are removed.
    pub(in crate::transport) fn forget_host(&mut self, host: HostId) {
        self.flows.forget_ended_of(host);
        self.peers.forget(host);
        self.outbox.forget(host);
        if let Some(limit) = &mut self.ask_limit {
            limit.forget(host);
        }
    }

    /// Replies to a packet with an ACK.
    pub(in crate::transport) fn acknowledge(&mut self, header: &Header) {
        self.outbox.push(
            answer(header, Kind::Ack),
            ControlMessage { message_type: MessageType::Ack, ..ControlMessage::default() },
        );
    }

    /// Replies to a packet with a control message without numbers.
    pub(in crate::transport) fn signal(&mut self, header: &Header, message_type: MessageType) {
        self.outbox
            .push(answer(header, Kind::Signal), ControlMessage { message_type, ..ControlMessage::default() });
    }
}

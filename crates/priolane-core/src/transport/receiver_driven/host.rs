//! One host of a receiver-driven transport: its flows, and what all of these transports do with them.

use std::collections::VecDeque;

use super::control_message::{ControlMessage, MessageType, answer};
use super::inbound::Inbound;
use super::outgoing::Outgoing;
use crate::endpoint::{Event, FlowRequest, LocalHost, PathInfo, PayloadStats, RxMeta};
use crate::ids::{FlowId, HostId};
use crate::packet::{Frame, Header, Kind, Marks, Packet};
use crate::transport::common::{Admit, FlowKey, FlowTable, Outbox, Peers, SentFlow, Timed};
use crate::units::{Span, Time};

/// A flow that this host sends, as its transport has it.
pub(in crate::transport) trait HasOutgoing: Timed {
    /// The part that all transports have.
    fn out(&self) -> &Outgoing;

    /// That part, to be changed.
    fn out_mut(&mut self) -> &mut Outgoing;
}

/// Makes flows with the fields `alarm` and `out` [`HasOutgoing`].
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

/// A flow that this host receives, as its transport has it.
pub(in crate::transport) trait HasInbound: Timed {
    /// The part that all transports have.
    fn inbound(&self) -> &Inbound;
}

/// Makes flows with the fields `alarm` and `inbound` [`HasInbound`].
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

/// The flows of one host, with the packets and events that wait to be fetched.
#[derive(Debug)]
pub(in crate::transport) struct Host<S, R> {
    pub(in crate::transport) flows: FlowTable<S, R, ()>,
    pub(in crate::transport) outbox: Outbox<ControlMessage>,
    pub(in crate::transport) events: VecDeque<Event>,
    pub(in crate::transport) payload: PayloadStats,
    peers: Peers,
}

impl<S: HasOutgoing, R: HasInbound> Host<S, R> {
    /// `host` without flows; its control packets have class 0.
    pub(in crate::transport) fn new(host: &LocalHost, frame: &Frame) -> Self {
        Self {
            flows: FlowTable::new(host),
            outbox: Outbox::new(host, 0, frame.ack_wire()),
            events: VecDeque::new(),
            payload: PayloadStats::default(),
            peers: Peers::new(host),
        }
    }

    /// The full packets that fill the path of a flow, rounded up.
    pub(in crate::transport) fn bdp(&self, flow: &FlowRequest, path: &PathInfo, frame: &Frame) -> u64 {
        self.peers.path(flow.dst, path).bdp().div_ceil(u64::from(frame.max_wire()))
    }

    /// The time that a control packet of a flow and its answer take, on an empty path.
    pub(in crate::transport) fn control_rtt(&self, flow: &FlowRequest, path: &PathInfo) -> Span {
        self.peers.path(flow.dst, path).control.round_trip
    }

    /// A flow starts here at `now`, with a packet that its receiver answers; its place.
    pub(in crate::transport) fn add_sender(&mut self, mut sender: S, now: Time) -> u32 {
        let out = sender.out_mut();
        if self.peers.is_measuring() {
            out.asked = now;
        }
        let flow = out.spec.id;
        self.flows.add_sender(flow, sender)
    }

    /// The place of the flow of this host that a packet from its receiver is about. The first answer says how far the
    /// receiver is.
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

    /// Tells the application, on a real host, that the receiver has more of a flow than the `before` bytes from its start
    /// that it had.
    #[inline]
    pub(in crate::transport) fn acked(&mut self, flow: FlowId, before: u64, bytes: u64) {
        if self.peers.is_measuring() && bytes > before {
            self.events.push_back(Event::Acked { flow, bytes });
        }
    }

    /// The receiver has all of the flow at `slot`: reports it.
    pub(in crate::transport) fn complete(&mut self, slot: u32, now: Time) {
        if let Some(flow) = self.flows.senders.get(slot) {
            let out = flow.out();
            self.events.push_back(Event::Completed(out.report(now, out.packets.size())));
        }
    }

    /// Forgets a flow that this host sends.
    pub(in crate::transport) fn remove_sender(&mut self, flow: FlowId) {
        self.flows.remove_sender(flow);
        self.flows.drop_dead_timers();
    }

    /// Whether a flow that is not known here may have a receiver.
    #[inline]
    pub(in crate::transport) fn admit(&mut self, header: &Header, now: Time) -> Admit {
        self.flows.admit(FlowKey::of(header), now, &mut self.events)
    }

    /// Whether a packet with payload is taken at `now` for the flow at `slot`. A real host takes only what fits the length of the flow,
    /// and tells its application what can be read.
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
            if let Some(limit) = &mut self.flows.limit {
                limit.heard(slot, now);
            }
        }
        fits
    }

    /// All of the flow of a packet is here.
    pub(in crate::transport) fn deliver(&mut self, now: Time, meta: RxMeta, header: &Header) {
        self.flows.end_receiver(FlowKey::of(header), (), now);
        self.flows.drop_dead_timers();
        let Header { src, flow, .. } = *header;
        self.events.push_back(Event::Delivered { src, flow, at: meta.stamp, missing: 0 });
    }

    /// Forgets a flow that this host receives.
    pub(in crate::transport) fn remove_receiver(&mut self, key: FlowKey) {
        self.flows.remove_receiver(key);
        self.flows.drop_dead_timers();
    }

    /// Answers a packet: ACK.
    pub(in crate::transport) fn acknowledge(&mut self, header: &Header) {
        self.outbox.push(
            answer(header, Kind::Ack),
            ControlMessage { message_type: MessageType::Ack, ..ControlMessage::default() },
        );
    }

    /// Answers a packet with a signal that has no numbers.
    pub(in crate::transport) fn signal(&mut self, header: &Header, message_type: MessageType) {
        self.outbox
            .push(answer(header, Kind::Signal), ControlMessage { message_type, ..ControlMessage::default() });
    }
}

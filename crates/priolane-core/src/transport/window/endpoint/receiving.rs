//! The receiving ends of a host: data, SYNs, and the timers of delayed ACKs.

use super::{NOT_RECEIVED, Window};
use crate::endpoint::{Cx, Event, Rejection, RxMeta};
use crate::host::HostScheduler;
use crate::ids::FlowId;
use crate::packet::{Header, Kind, Marks, Offset, Packet};
use crate::transport::common::{FlowKey, Incoming, Interval, Stamp};
use crate::transport::window::body::Segment;
use crate::transport::window::config::LossRecovery;
use crate::transport::window::controller::CongestionControl;
use crate::transport::window::notifications::Notification;
use crate::transport::window::receiver::{Ack, Arrival, Ce, Content, Echo, Receiver, report_trimmed};
use crate::units::Time;

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Window<C, S, FAST> {
    #[inline(never)]
    pub(super) fn on_data(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let header = &packet.header;
        if header.marks.has(Marks::TRIMMED) {
            return self.on_trimmed(cx, meta, packet);
        }
        let start = header.offset.get();
        let len = match header.kind {
            Kind::Signal => u64::from(packet.body.sack[0].1),
            _ => u64::from(header.payload),
        };
        if len == 0 || start + len > Offset::MAX {
            return;
        }
        let arrival = Arrival {
            bytes: Interval { start, end: start + len },
            content: if header.kind == Kind::Signal { Content::GivenUp } else { Content::Payload },
            marks: header.marks,
            stamp: packet.body.stamp,
            read: Stamp::read(cx.clock, meta.stamp),
            entropy: header.entropy,
            class: header.class,
            now: cx.now,
            telemetry: packet.body.telemetry,
        };
        match self.receiving(header, cx.now) {
            Some(Incoming::Active(slot)) => {
                if C::NOTIFIED {
                    self.notify(packet, cx.now);
                }
                self.receive(slot, &arrival, meta.stamp);
            }
            Some(Incoming::Ended(NOT_RECEIVED)) => self.reject(FlowKey::of(header)),
            Some(Incoming::Ended(end)) => self.acknowledge_again(end.get(), header, &arrival),
            None => {}
        }
    }

    /// Sends a CNP, ahead of the ACK, if the packet is marked and one is due for its connection, which the first flow
    /// names.
    fn notify(&mut self, packet: &Packet<Segment<C::Telemetry>>, now: Time) {
        let Some(Notification { class, interval }) = C::notification(&self.controller) else { return };
        let Header { flow, src, entropy, marks, .. } = packet.header;
        let connection = FlowKey::new(src, FlowId(flow.0.wrapping_sub(packet.body.one_way)));
        if !marks.has(Marks::CONGESTED) || !self.notified.is_due(connection, now, interval) {
            return;
        }
        let header =
            Header { flow, dst: src, entropy, marks: Marks::ECHO, kind: Kind::Signal, ..Header::default() };
        let body = Segment { stamp: packet.body.stamp, ..Segment::default() };
        self.outbox.push_as_data(Packet { header, body }, class);
    }

    /// Answers a header whose payload a switch cut off. No receiver begins with one: it carries no data.
    #[cold]
    fn on_trimmed(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let header = &packet.header;
        if self.config.recovery != LossRecovery::Trims || header.kind != Kind::Data {
            return;
        }
        let offset = header.offset.get();
        let echo = Echo {
            stamp: packet.body.stamp,
            one_way: Stamp::read(cx.clock, meta.stamp).ticks_since(packet.body.stamp),
            entropy: header.entropy,
            class: header.class,
            ce: Ce::Unmarked,
            telemetry: packet.body.telemetry,
        };
        let key = FlowKey::of(header);
        let answer = match self.flows.incoming(key) {
            Some(Incoming::Active(slot)) => {
                let Some(receiver) = self.flows.receivers.get(slot) else { return };
                receiver.answer_trimmed(offset, echo)
            }
            Some(Incoming::Ended(NOT_RECEIVED)) => return self.reject(key),
            Some(Incoming::Ended(end)) => {
                let (to, flow) = (header.src, header.flow);
                Ack { to, flow, cumulative: end.get(), sack: [(0, 0); 2], echo }.packet()
            }
            None => report_trimmed((header.src, header.flow), offset, &echo),
        };
        self.outbox.push(answer);
    }

    /// Tells the driver of a real host that a packet arrived of a flow that is not received.
    fn reject(&mut self, key: FlowKey) {
        if self.peers.is_measuring() {
            let (src, flow) = (key.src(), key.flow());
            self.events.push_back(Event::Rejected { src, flow, why: Rejection::GivenUp });
        }
    }

    /// Returns the state of the flow of a packet from its sender, and creates a receiver if there is none. `None`
    /// if the packet is trimmed, or if its sender has too many flows.
    pub(super) fn receiving(&mut self, header: &Header, now: Time) -> Option<Incoming<Offset>> {
        if header.marks.has(Marks::TRIMMED) {
            return None;
        }
        let key = FlowKey::of(header);
        let known = self.flows.incoming(key);
        if known.is_some() {
            return known;
        }
        if !self.flows.admits(key) {
            return None;
        }
        let receiver = Receiver::new(header.flow, header.src);
        Some(Incoming::Active(self.flows.add_receiver(key, receiver, now)))
    }

    fn receive(&mut self, slot: u32, arrival: &Arrival<C::Telemetry>, stamp: Time) {
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return };
        let before = receiver.in_order();
        receiver.receive(arrival, &self.config, &mut self.payload, |ack| self.outbox.push(ack.packet()));
        if let Some(limit) = &mut self.flows.limit {
            limit.heard(slot, arrival.now);
            if receiver.in_order() > before {
                let (src, flow, bytes) = (receiver.src(), receiver.flow(), receiver.in_order());
                self.events.push_back(Event::Readable { src, flow, bytes });
            }
        }
        match receiver.complete() {
            Some(end) => {
                let (key, missing) = (receiver.key(), receiver.missing());
                let (src, flow) = (receiver.src(), receiver.flow());
                self.events.push_back(Event::Delivered { src, flow, at: stamp, missing });
                self.flows.end_receiver(key, Offset::new(end), arrival.now);
                self.flows.drop_dead_timers();
            }
            None => self.flows.arm_receiver(slot),
        }
    }

    /// Acknowledges a retransmission for a flow that has arrived completely.
    fn acknowledge_again(&mut self, end: u64, header: &Header, arrival: &Arrival<C::Telemetry>) {
        let echo = Echo {
            stamp: arrival.stamp,
            one_way: arrival.read.ticks_since(arrival.stamp),
            entropy: arrival.entropy,
            class: arrival.class,
            ce: Ce::of(arrival.marks),
            telemetry: arrival.telemetry,
        };
        let ack = Ack { to: header.src, flow: header.flow, cumulative: end, sack: [(0, 0); 2], echo };
        self.outbox.push(ack.packet());
    }

    pub(super) fn on_syn(&mut self, now: Time, packet: &Packet<Segment<C::Telemetry>>) {
        match self.receiving(&packet.header, now) {
            None => return,
            Some(Incoming::Ended(NOT_RECEIVED)) => return self.reject(FlowKey::of(&packet.header)),
            Some(_) => {}
        }
        let Header { flow, src, entropy, class, .. } = packet.header;
        let header = Header { flow, dst: src, entropy, class, kind: Kind::SynAck, ..Header::default() };
        self.outbox.push(Packet { header, body: Segment { stamp: packet.body.stamp, ..Segment::default() } });
    }

    pub(super) fn on_receiver_timer(&mut self, slot: u32, now: Time) {
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return };
        if let Some(ack) = receiver.on_timer(now) {
            self.outbox.push(ack.packet());
        }
        self.flows.arm_receiver(slot);
    }
}

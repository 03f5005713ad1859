//! Packets that answer those of a host's senders: SYN/ACKs, ACKs, and replies to probes; and probes of other hosts.

use super::{Delays, Window};
use crate::endpoint::{Cx, Event, RxMeta};
use crate::host::HostScheduler;
use crate::packet::{Header, Kind, Marks, Packet};
use crate::telemetry::Telemetry;
use crate::transport::common::{Sample, Stamp};
use crate::transport::window::acks::{DecodedAck, Echoed};
use crate::transport::window::body::Segment;
use crate::transport::window::controller::{CongestionControl, ProbeReply};
use crate::transport::window::recovery::State;
use crate::transport::window::sender::Sender;
use crate::transport::window::stream::Acked;
use crate::transport::window::trims::TrimReport;
use crate::units::{Span, Time};

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Window<C, S, FAST> {
    /// Handles a SYN/ACK or an ACK of data for a flow that this host sends.
    #[inline(never)]
    pub(super) fn on_answer(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let header = &packet.header;
        // The last packet of a handshake also arrives as an ACK, but at the receiver; it carries no information.
        let Some(slot) = self.flows.answered(header) else { return };
        let mut delays = Delays::of(packet, cx, meta);
        if header.kind == Kind::SynAck {
            self.establish(slot, cx.now, delays.rtt);
        } else {
            if self.peers.is_measuring() {
                delays.one_way_ps = self.peers.one_way(slot, packet.body.one_way, (cx.now, delays.rtt));
            }
            self.take_ack(slot, cx.now, delays, packet);
        }
    }

    /// Handles a probe for a flow that this host receives, or the reply to one of its own.
    pub(super) fn on_probe(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let header = &packet.header;
        if header.marks.has(Marks::ECHO) {
            self.on_probe_answer(cx, meta, packet);
        } else if self.receiving(header, cx.now).is_some() {
            let Header { flow, src, entropy, class, .. } = *header;
            let one_way = Stamp::read(cx.clock, meta.stamp).ticks_since(packet.body.stamp);
            let header = Header {
                flow,
                dst: src,
                entropy,
                class,
                marks: Marks::ECHO,
                kind: Kind::Probe,
                ..Header::default()
            };
            let body = Segment { stamp: packet.body.stamp, one_way, ..Segment::default() };
            self.outbox.push(Packet { header, body });
        }
    }

    fn on_probe_answer(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let Some(slot) = self.flows.answered(&packet.header) else { return };
        let Delays { rtt, mut one_way_ps, .. } = Delays::of(packet, cx, meta);
        if self.peers.is_measuring() {
            one_way_ps = self.peers.one_way(slot, packet.body.one_way, (cx.now, rtt));
            self.measure(slot, Sample { now: cx.now, rtt, acked: 0 });
        }
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.controller.on_probe_answer(&ProbeReply { now: cx.now, next: sender.next, rtt, one_way_ps });
        sender.refresh_pacing(cx.now);
        self.refresh(slot);
        self.flows.arm_sender(slot);
    }

    /// Handles a CNP for a flow that this host sends.
    #[cold]
    pub(super) fn on_notification(&mut self, now: Time, header: &Header) {
        let Some(slot) = self.flows.answered(header) else { return };
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.controller.on_notification(now);
        sender.refresh_pacing(now);
        self.refresh(slot);
        self.flows.arm_sender(slot);
    }

    fn establish(&mut self, slot: u32, now: Time, rtt: Span) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if !matches!(sender.state, State::Handshake) {
            return;
        }
        sender.on_established(now, rtt, &self.config);
        if self.peers.is_measuring()
            && let Some(path) = self.peers.acknowledged(slot, Sample { now, rtt, acked: 0 })
        {
            sender.controller.on_path(&path);
        }
        sender.refresh_pacing(now);
        let class = sender.class_now();
        let Sender { id, dst, entropy, .. } = *sender;
        self.known.insert(dst);
        let header = Header { flow: id, dst, entropy, class, kind: Kind::Ack, ..Header::default() };
        self.outbox.push(Packet { header, body: Segment::default() });
        self.refresh(slot);
        if C::PACED {
            self.flows.arm_sender(slot);
        }
    }

    fn take_ack(&mut self, slot: u32, now: Time, delays: Delays, packet: &Packet<Segment<C::Telemetry>>) {
        if packet.header.marks.has(Marks::TRIMMED) {
            return self.take_report(slot, now, delays.rtt, &packet.header);
        }
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        let echo = if packet.header.marks.has(Marks::ECHO) { Echoed::Congestion } else { Echoed::Nothing };
        let mut acked = Acked { cumulative: packet.header.offset.get(), sack: packet.body.sack };
        if let Some(stream) = &mut sender.stream {
            let Some(of_stream) = stream.acknowledged(packet.header.flow, acked) else { return };
            acked = of_stream;
        }
        let Acked { cumulative, sack } = acked;
        let Delays { rtt, one_way_ps, host_delay } = delays;
        if <C::Telemetry as Telemetry>::STAMPED {
            sender.controller.on_telemetry(&packet.body.telemetry);
        }
        let before = sender.una;
        sender.on_ack(&DecodedAck { now, cumulative, sack, rtt, one_way_ps, host_delay, echo }, &self.config);
        if self.peers.is_measuring() {
            let (flow, bytes, acked) = (sender.id, sender.una, sender.una - before);
            if acked > 0 && !sender.is_complete() {
                self.events.push_back(Event::Acked { flow, bytes });
            }
            self.measure(slot, Sample { now, rtt, acked });
        }
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if sender.stream.is_some() {
            sender.complete_streamed(now, |report| self.events.push_back(Event::Completed(report)));
        } else if sender.is_complete() {
            self.events.push_back(Event::Completed(sender.report(now)));
            self.forget_sender(packet.header.flow);
            return;
        }
        sender.refresh_pacing(now);
        self.promote(slot);
        self.refresh(slot);
        self.flows.arm_sender(slot);
    }

    /// Handles the report of a trimmed segment.
    fn take_report(&mut self, slot: u32, now: Time, rtt: Span, header: &Header) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        let begin = match &sender.stream {
            None => 0,
            Some(stream) => match stream.find(header.flow) {
                Some(flow) => flow.bytes.start,
                None => return,
            },
        };
        let offset = begin.saturating_add(header.offset.get());
        sender.on_trimmed(&TrimReport { now, offset, rtt }, &self.config);
        sender.refresh_pacing(now);
        self.refresh(slot);
        self.flows.arm_sender(slot);
    }

    /// Updates the path measurements from a reply.
    #[cold]
    fn measure(&mut self, slot: u32, sample: Sample) {
        if let Some(path) = self.peers.acknowledged(slot, sample)
            && let Some(sender) = self.flows.senders.get_mut(slot)
        {
            sender.controller.on_path(&path);
        }
    }
}

//! The fast path of most packets: header prediction (Van Jacobson, 4BSD TCP header prediction, CCR 1990).
//!
//! All functions evaluate one predicate, with one lookup of the flow, to see if a packet is the one expected next.
//! If so, they make exactly the changes that the state machine would make. Otherwise they change nothing, and the
//! state machine processes the packet. Where the driver would poll next and nothing else waits to be sent, the ACK of
//! data, or the segment that an ACK releases, is returned and not queued. Without `FAST` the state machine processes
//! all packets, with the same outcome (`tests`).

use super::acks::{DecodedAck, Echoed};
use super::body::Segment;
use super::config::Config;
use super::controller::CongestionControl;
use super::endpoint::{Delays, Window, transmit};
use super::sender::Sender;
use crate::endpoint::{Cx, RxMeta, Tx};
use crate::host::HostScheduler;
use crate::packet::{Marks, Packet};
use crate::telemetry::Telemetry;
use crate::transport::common::{FlowKey, Stamp};

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Window<C, S, FAST> {
    /// Processes data that its receiver expects ([`super::receiver::Receiver::expects`]) and returns its ACK; `None`
    /// if it is not expected. Changes the receiver's `next` and the payload statistics.
    #[inline(always)]
    pub(super) fn take_expected_data(
        &mut self,
        cx: &Cx,
        meta: RxMeta,
        packet: &Packet<Segment<C::Telemetry>>,
    ) -> Option<Packet<Segment<C::Telemetry>>> {
        let header = &packet.header;
        if !FAST || self.flows.limit.is_some() {
            return None;
        }
        if C::NOTIFIED && header.marks.has(Marks::CONGESTED) {
            return None;
        }
        let slot = self.flows.receiving(FlowKey::of(header))?;
        let receiver = self.flows.receivers.get_mut(slot)?;
        if !receiver.expects(header, &self.config) {
            return None;
        }
        let cumulative = receiver.receive_expected(header, &mut self.payload);
        let one_way = Stamp::read(cx.clock, meta.stamp).ticks_since(packet.body.stamp);
        Some(self.outbox.ack(cumulative, packet, one_way))
    }

    /// Processes an ACK that its sender expects ([`super::sender::Sender::expects`]); returns false if it does not.
    /// Changes what [`super::sender::Sender::on_expected_ack`] changes and the plan for the flow's next segment. It
    /// also changes the scheduler if the flow may send again, and the timers if one is due earlier.
    #[inline(always)]
    pub(super) fn take_expected_ack(
        &mut self,
        cx: &Cx,
        meta: RxMeta,
        packet: &Packet<Segment<C::Telemetry>>,
    ) -> bool {
        if !FAST || self.peers.is_measuring() {
            return false;
        }
        let Self { flows, scheduler, config, .. } = self;
        let Some(sending) = flows.answering(&packet.header) else { return false };
        if !acknowledge_expected(sending.flow, cx, meta, packet, config) {
            return false;
        }
        sending.flow.refresh(sending.slot, config, scheduler);
        sending.arm();
        true
    }

    /// As [`Self::take_expected_ack`] and the poll that follows, if nothing else waits to be sent: returns what the
    /// flow sends now, if anything. `None` if the ACK is not expected.
    #[inline(always)]
    pub(super) fn answer_expected_ack(
        &mut self,
        cx: &Cx,
        meta: RxMeta,
        packet: &Packet<Segment<C::Telemetry>>,
    ) -> Option<Tx<Segment<C::Telemetry>>> {
        if !FAST || self.peers.is_measuring() {
            return None;
        }
        let Self { flows, scheduler, config, host, .. } = self;
        let mut sending = flows.answering(&packet.header)?;
        if !acknowledge_expected(sending.flow, cx, meta, packet, config) {
            return None;
        }
        let sender = &mut *sending.flow;
        debug_assert!(sender.offered.is_none(), "the empty scheduler holds no flow");
        let Some(plan) = sender.plan(config) else {
            sender.planned = None;
            sending.arm();
            return Some(Tx::Idle);
        };
        if C::PACED {
            // Its timer may be due for its deadline now, and for its pace once the segment is sent.
            sending.arm_before_sending();
        }
        let sender = &mut *sending.flow;
        let level = sender.host_level(plan, config);
        scheduler.pass(sender.candidate(sending.slot, level));
        Some(transmit(sending, plan, *host, cx, config, scheduler))
    }
}

/// Processes an ACK if its sender expects it; returns false if it does not. The plan is not updated.
#[inline(always)]
fn acknowledge_expected<C: CongestionControl>(
    sender: &mut Sender<C>,
    cx: &Cx,
    meta: RxMeta,
    packet: &Packet<Segment<C::Telemetry>>,
    config: &Config,
) -> bool {
    let (cumulative, sack) = (packet.header.offset.get(), packet.body.sack);
    if !sender.expects(cumulative, sack) {
        return false;
    }
    if <C::Telemetry as Telemetry>::STAMPED {
        sender.controller.on_telemetry(&packet.body.telemetry);
    }
    let Delays { rtt, one_way_ps, host_delay } = Delays::of(packet, cx, meta);
    let echo = if packet.header.marks.has(Marks::ECHO) { Echoed::Congestion } else { Echoed::Nothing };
    let ack = DecodedAck { now: cx.now, cumulative, sack, rtt, one_way_ps, host_delay, echo };
    sender.on_expected_ack(&ack, config);
    sender.refresh_pacing(cx.now);
    true
}

#[cfg(test)]
mod tests;

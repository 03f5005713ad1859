//! The fast path of most packets: header prediction (Van Jacobson, 4BSD TCP header prediction, CCR 1990).
//!
//! Both functions evaluate one predicate, with one lookup of the flow, to see if a packet is the one expected next.
//! If so, they make exactly the changes that the state machine would make. Otherwise they change nothing, and the
//! state machine processes the packet. Without `FAST` the state machine processes all packets, with the same
//! outcome (`tests`).

use super::acks::{Arrived, Echoed};
use super::body::Segment;
use super::controller::CongestionControl;
use super::endpoint::{Delays, Window};
use crate::endpoint::{Cx, RxMeta};
use crate::host::HostScheduler;
use crate::packet::{Marks, Packet};
use crate::telemetry::Telemetry;
use crate::transport::common::{FlowKey, Stamp};

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Window<C, S, FAST> {
    /// Processes data that its receiver expects ([`super::receiver::Receiver::expects`]); returns false if it does
    /// not. Changes the receiver's `next`, the payload statistics and the outbox.
    #[inline(always)]
    pub(super) fn take_expected_data(
        &mut self,
        cx: &Cx,
        meta: RxMeta,
        packet: &Packet<Segment<C::Telemetry>>,
    ) -> bool {
        let header = &packet.header;
        if !FAST || self.flows.limit.is_some() {
            return false;
        }
        let Some(slot) = self.flows.receiver_of(FlowKey::of(header)) else { return false };
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return false };
        if !receiver.expects(header, &self.config) {
            return false;
        }
        let cumulative = receiver.receive_expected(header, &mut self.payload);
        let one_way = Stamp::read(cx.clock, meta.stamp).ticks_since(packet.body.stamp);
        self.outbox.acknowledge(cumulative, packet, one_way);
        true
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
        let (slot, sender) = (sending.slot, &mut *sending.flow);
        let (cumulative, sack) = (packet.header.offset.get(), packet.body.sack);
        if !sender.expects(cumulative, sack) {
            return false;
        }
        if <C::Telemetry as Telemetry>::STAMPED {
            sender.controller.on_telemetry(&packet.body.telemetry);
        }
        let Delays { rtt, one_way_ps, host_delay } = Delays::of(packet, cx, meta);
        let echo = if packet.header.marks.has(Marks::ECHO) { Echoed::Congestion } else { Echoed::Nothing };
        let ack = Arrived { now: cx.now, cumulative, sack, rtt, one_way_ps, host_delay, echo };
        sender.on_expected_ack(&ack, config);
        sender.refresh_pacing(cx.now);
        sender.refresh(slot, config, scheduler);
        sending.arm();
        true
    }
}

#[cfg(test)]
mod tests;

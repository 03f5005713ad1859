//! Timers of a host's senders: timeouts, reports, pacing, and probes.

use super::Window;
use crate::endpoint::{Cx, Event};
use crate::host::HostScheduler;
use crate::packet::Packet;
use crate::transport::common::Stamp;
use crate::transport::window::body::Segment;
use crate::transport::window::controller::{CongestionControl, SendPermission};
use crate::transport::window::recovery::State;
use crate::units::Time;

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Window<C, S, FAST> {
    pub(super) fn on_sender_timer(&mut self, slot: u32, cx: &Cx) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if sender.interval_ended(cx.now, &self.config) {
            self.events.push_back(Event::Report(sender.report(cx.now)));
        }
        if sender.deadline <= cx.now {
            if matches!(sender.state, State::Handshake) {
                sender.on_handshake_timeout();
                self.send_syn(slot, cx);
            } else {
                sender.on_timeout(cx.now);
                sender.refresh_pacing(cx.now);
                self.refresh(slot);
            }
        }
        if C::TIMED {
            self.on_own_timer(slot, cx.now);
        }
        if C::PACED {
            self.on_pacing_timer(slot, cx);
        }
        self.flows.arm_sender(slot);
    }

    /// Calls the controller if the instant that it asked for has come.
    fn on_own_timer(&mut self, slot: u32, now: Time) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if sender.controller.wake() > now {
            return;
        }
        sender.controller.on_wake(now);
        debug_assert!(sender.controller.wake() > now, "it would be called forever");
        sender.refresh_pacing(now);
        self.refresh(slot);
    }

    /// Handles an opened gate: data or a probe may be sent.
    fn on_pacing_timer(&mut self, slot: u32, cx: &Cx) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if sender.gate_at() > cx.now {
            return;
        }
        if let SendPermission::Probe(_) = sender.gate {
            self.send_probe(slot, cx);
        }
        if let Some(sender) = self.flows.senders.get_mut(slot) {
            sender.refresh_pacing(cx.now);
        }
        self.refresh(slot);
    }

    fn send_probe(&mut self, slot: u32, cx: &Cx) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.controller.on_probe_sent(cx.now, sender.rto.timeout(&self.config));
        let header = sender.probe();
        let body = Segment { stamp: Stamp::read(cx.clock, cx.now), ..Segment::default() };
        self.outbox.push_as_data(Packet { header, body }, header.class);
    }
}

//! Changes that the driver of a host asks for: of flows and connections, of thresholds, and of other hosts.

use std::sync::Arc;

use super::Window;
use crate::endpoint::{Control, Event, FlowRequest, ThresholdSet, Thresholds};
use crate::host::HostScheduler;
use crate::ids::{FlowId, HostId};
use crate::transport::common::FlowKey;
use crate::transport::window::controller::CongestionControl;
use crate::units::Time;

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Window<C, S, FAST> {
    /// Adds a flow to the connection at `slot`.
    pub(super) fn append(&mut self, slot: u32, flow: FlowRequest, now: Time) {
        self.flows.add_to_sender(flow.id, slot);
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.append(flow, now, &self.config);
        sender.refresh_pacing(now);
        self.refresh(slot);
        self.flows.arm_sender(slot);
    }

    pub(super) fn change(&mut self, id: FlowId, control: Control, now: Time) {
        let Some(slot) = self.flows.sender_of(id) else { return };
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if sender.id != id && control != Control::Abort {
            // Another flow of the connection is being sent.
            if let Control::Class(class) | Control::Promote(class) = control
                && sender.set_waiting_class(id, class)
            {
                self.events.push_back(Event::ClassChanged { flow: id, class });
            }
            return;
        }
        match control {
            Control::Class(class) => {
                sender.change_class(class);
                self.events.push_back(Event::ClassChanged { flow: id, class });
                self.refresh(slot);
            }
            Control::Promote(class) => {
                sender.await_class(class);
                self.promote(slot);
                self.refresh(slot);
            }
            Control::Weights { theta, w_milli } => {
                sender.controller.set_weights(theta, w_milli);
                self.refresh(slot);
            }
            Control::Abort => self.abort(id, slot, now),
        }
    }

    /// Aborts a flow that this host sends.
    fn abort(&mut self, flow: FlowId, slot: u32, now: Time) {
        match self.flows.senders.get_mut(slot) {
            Some(sender) if sender.stream.is_some() => {
                sender.abort_streamed(flow, now, &self.config);
                sender.complete_streamed(now, |report| self.events.push_back(Event::Completed(report)));
                sender.refresh_pacing(now);
                self.refresh(slot);
                self.flows.arm_sender(slot);
            }
            _ => self.forget_sender(flow),
        }
    }

    /// Forgets what is known of a flow that is or was received here.
    pub(super) fn forget_received(&mut self, key: FlowKey) {
        self.flows.remove_receiver(key);
        self.flows.forget_ended(key);
        self.flows.drop_dead_timers();
    }

    pub(super) fn forget_host(&mut self, host: HostId) {
        self.flows.sent_to(host).into_iter().for_each(|flow| self.forget_sender(flow));
        for key in self.flows.received_from(host) {
            self.flows.remove_receiver(key);
        }
        self.flows.forget_ended_of(host);
        self.flows.drop_dead_timers();
        self.peers.forget(host);
        self.known.remove(&host);
        self.connections.retain(|&(dst, ..), _| dst != host);
        self.outbox.forget(host);
    }

    pub(super) fn set_thresholds(&mut self, thresholds: &Thresholds) {
        let config = Arc::make_mut(&mut self.config);
        let ladder = match thresholds.of {
            ThresholdSet::Class => &mut config.class,
            ThresholdSet::HostLevel => &mut config.host_level,
        };
        *ladder = ladder.with_thresholds(&thresholds.bytes);
        for slot in 0..self.flows.senders.places() {
            if let Some(sender) = self.flows.senders.get_mut(slot) {
                sender.find_levels(&self.config);
                self.refresh(slot);
            }
        }
    }
}

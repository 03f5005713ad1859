//! NDP: senders send the first window without permission, switches trim excess packets, receivers pull the rest
//! (SIGCOMM 2017 §3).
//!
//! ```text
//! sender     the first window immediately; then one packet per pull, trimmed packets first
//! receiver   data: ACK;  only the header: NACK;  each adds one pull to the host's pull queue
//!            one pull per packet time, flows in round robin (of the best class with `pull` = `by_class`)
//!            an idle pacer sends the pull together with the ACK or NACK
//! returned   a header that a full switch returned: retransmit it, immediately if nothing else is in flight, else with
//!            a pull
//! timeout    a packet without a reply for `rto` is retransmitted without a pull
//!            a sender with nothing in flight and no reply for `rto`, then twice that, ... sends a packet
//! ```
//!
//! Pulls carry a running count, so the next pull, ACK or NACK, which all carry it, repairs the loss of one. A
//! receiver pulls only what is still to be sent: packets beyond the first window, and trimmed packets. Each pull follows a
//! packet that arrived, so a sender that is silent is asked for nothing. Decisions of this implementation: docs/assumptions.md#ndp-pulls, #ndp-timeouts.

mod config;
mod receiver;
mod sender;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::common::{Expired, FlowKey};
use super::receiver_driven::{ControlMessage, Host, MessageType, Pacer, Receiving, answer};
use crate::endpoint::{
    Command, Control, Cx, Endpoint, Event, FlowRequest, LocalHost, PathInfo, RxMeta, Stats, Tx,
};
use crate::ids::{Class, FlowId, HostId};
use crate::packet::{Frame, Kind, Marks, Packet};
use crate::transport::{Cost, Machine, Setup, TransportKeys};
use crate::units::Time;
pub use config::{Config, PullOrder};
use receiver::ReceiverFlow;
use sender::SenderFlow;

/// The NDP endpoint of a host.
#[derive(Debug)]
pub struct Ndp {
    config: Arc<Config>,
    host: Host<SenderFlow, ReceiverFlow>,
    pacer: Pacer,
    /// Flows to this host with pending pulls: class, round-robin turn, slot.
    pulling: BTreeSet<(Class, u64, u32)>,
    /// Flows from this host with a packet that may be sent: round-robin turn, slot.
    sending: BTreeSet<(u64, u32)>,
    /// Number of turns assigned so far.
    turns: u64,
}

impl TransportKeys for Config {
    type Machine = Ndp;
    const SCHEDULES_ITSELF: bool = true;

    fn config(&self, setup: &Setup) -> Self {
        Self { frame: setup.frame, ..*self }
    }
}

impl Machine for Ndp {
    type Config = Config;

    fn new(host: LocalHost, config: Arc<Config>) -> Self {
        let slot = config.pull_interval(host.line);
        Self {
            host: Host::new(&host, &config.frame),
            config,
            pacer: Pacer::new(slot, host.catch_up()),
            pulling: BTreeSet::new(),
            sending: BTreeSet::new(),
            turns: 0,
        }
    }

    fn frame(config: &Config) -> Frame {
        config.frame
    }

    fn cost(_: &Config) -> Cost {
        // An ACK and a pull per packet.
        Cost { instructions: 1.0, control: 2.0, per_flow: 0.0 }
    }
}

impl Ndp {
    fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Updates the turn and the timer after a change of a sender's state.
    fn offer(&mut self, slot: u32, now: Time) {
        let turn = self.next_turn();
        let Some(flow) = self.host.flows.senders.get_mut(slot) else { return };
        match (flow.may_send(), flow.transmission) {
            (true, None) => {
                flow.transmission = Some(turn);
                self.sending.insert((turn, slot));
            }
            (false, Some(old)) => {
                flow.transmission = None;
                self.sending.remove(&(old, slot));
            }
            _ => {}
        }
        flow.set_alarm(now, self.config.rto);
        self.host.flows.arm_sender(slot);
    }

    /// Returns the state of a flow to this host; creates it if it is new.
    fn receiving(&mut self, packet: &Packet<ControlMessage>, now: Time) -> Receiving {
        let state = self.host.receiving(packet, now);
        if state != Receiving::New {
            return state;
        }
        let header = &packet.header;
        let class = if self.config.pull == PullOrder::ByClass { header.class } else { 0 };
        let receiver_flow = ReceiverFlow::new(packet, &self.config.frame, class);
        Receiving::Active(self.host.flows.add_receiver(FlowKey::of(header), receiver_flow, now))
    }

    fn on_data(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<ControlMessage>) {
        let header = &packet.header;
        let trimmed = header.marks.has(Marks::TRIMMED);
        let slot = match self.receiving(packet, cx.now) {
            Receiving::Active(slot) => slot,
            Receiving::Received => return self.host.acknowledge(header),
            Receiving::New | Receiving::No => return,
        };
        if !self.host.takes(slot, packet, cx.now) {
            return;
        }
        let turn = self.next_turn();
        let idle = self.pulling.is_empty() && self.pacer.next() <= cx.now;
        let Some(flow) = self.host.flows.receivers.get_mut(slot) else { return };
        let seen = self.host.payload.packets;
        let message_type = flow.arrived(packet, &mut self.host.payload);
        if flow.wants_pull() {
            flow.owed += 1;
            if idle {
                flow.pull();
                self.pacer.spend(cx.now);
            } else if flow.owed == 1 {
                flow.turn = turn;
                self.pulling.insert((flow.class, turn, slot));
            }
        }
        let body = ControlMessage { count: flow.pulls, message_type, ..ControlMessage::default() };
        let kind = if message_type == MessageType::Ack { Kind::Ack } else { Kind::Signal };
        if flow.left == 0 {
            self.pulling.remove(&(flow.class, flow.turn, slot));
            self.host.deliver(cx.now, meta, header);
        }
        debug_assert!(trimmed || message_type == MessageType::Ack, "payload that came is acknowledged");
        if self.host.payload.packets == seen {
            self.host.duplicate(header);
        }
        self.host.outbox.push(answer(header, kind), body);
    }

    /// Handles an ACK, NACK or pull for a flow of this host.
    fn on_answer(&mut self, cx: &Cx, packet: &Packet<ControlMessage>) {
        let header = &packet.header;
        let Some(slot) = self.host.answered(header, cx.now) else {
            if packet.body.message_type == MessageType::Pull {
                self.host.signal(header, MessageType::Unknown);
            }
            return;
        };
        let Some(flow) = self.host.flows.senders.get_mut(slot) else { return };
        let before = flow.acked();
        flow.on_feedback(cx.now, packet);
        let acked = flow.acked();
        if flow.is_complete() {
            self.host.complete(slot, cx.now);
            return self.forget(header.flow);
        }
        self.host.acked(header.flow, before, acked);
        self.offer(slot, cx.now);
    }

    /// Handles a packet of a flow of this host that a switch returned.
    fn on_returned(&mut self, cx: &Cx, packet: &Packet<ControlMessage>) {
        let Some(slot) = self.host.flows.sender_of(packet.header.flow) else { return };
        if let Some(flow) = self.host.flows.senders.get_mut(slot) {
            flow.came_back(cx.now, packet);
        }
        self.offer(slot, cx.now);
    }

    /// Removes a flow that this host sends.
    fn forget(&mut self, flow: FlowId) {
        let Some(slot) = self.host.flows.sender_of(flow) else { return };
        if let Some(turn) = self.host.flows.senders.get(slot).and_then(|flow| flow.transmission) {
            self.sending.remove(&(turn, slot));
        }
        self.host.remove_sender(flow);
    }

    /// Removes a flow to this host.
    fn forget_receiver(&mut self, key: FlowKey) {
        let Some(slot) = self.host.flows.receiver_of(key) else { return };
        if let Some(flow) = self.host.flows.receivers.get(slot) {
            self.pulling.remove(&(flow.class, flow.turn, slot));
        }
        self.host.remove_receiver(key);
    }

    /// Removes a flow to this host that its sender does not know.
    fn forget_unknown(&mut self, key: FlowKey) {
        if self.host.flows.receiver_of(key).is_some() {
            self.forget_receiver(key);
            self.host.report_forgotten(key);
        }
    }

    /// Removes all flows to and from a host.
    fn forget_host(&mut self, host: HostId) {
        self.host.flows.sent_to(host).into_iter().for_each(|flow| self.forget(flow));
        self.host.flows.received_from(host).into_iter().for_each(|key| self.forget_receiver(key));
        self.host.forget_host(host);
    }

    /// Returns the pull to send now, if one may be sent.
    fn next_pull(&mut self, now: Time) -> Option<Packet<ControlMessage>> {
        if self.pulling.is_empty() || self.pacer.next() > now {
            return None;
        }
        let turn = self.next_turn();
        let (_, _, slot) = self.pulling.pop_first()?;
        let flow = self.host.flows.receivers.get_mut(slot)?;
        let (header, body) = flow.pull();
        if flow.owed > 0 {
            flow.turn = turn;
            self.pulling.insert((flow.class, turn, slot));
        }
        self.pacer.spend(now);
        Some(Packet { header: self.host.outbox.control(header), body })
    }

    fn next_data(&mut self, now: Time) -> Option<Packet<ControlMessage>> {
        while let Some((_, slot)) = self.sending.pop_first() {
            let frame = self.config.frame;
            let Some(flow) = self.host.flows.senders.get_mut(slot) else { continue };
            flow.transmission = None;
            let packet = flow.next_data(now, &frame);
            self.offer(slot, now);
            if let Some(packet) = packet {
                return Some(self.host.outbox.data(packet));
            }
        }
        None
    }
}

impl Endpoint for Ndp {
    type Body = ControlMessage;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        let own = || u16::try_from(self.host.bdp(&flow, &path(), &self.config.frame)).unwrap_or(u16::MAX);
        let window = self.config.init_window.unwrap_or_else(own).max(1);
        let slot = self.host.add_sender(SenderFlow::new(flow, window, cx.now, &self.config.frame), cx.now);
        self.offer(slot, cx.now);
    }

    fn control(&mut self, cx: &mut Cx, command: Command) {
        match command {
            Command::Flow(id, Control::Abort) => self.forget(id),
            Command::Flow(..) | Command::Thresholds(_) => {}
            Command::ForgetHost(host) => self.forget_host(host),
            Command::ForgetReceived { src, flow } | Command::EndReceived { src, flow } => {
                self.forget_receiver(FlowKey::new(src, flow));
                self.host.control_received(command, cx.now);
            }
            Command::NoRoom { .. } => self.host.control_received(command, cx.now),
        }
    }

    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<ControlMessage>) {
        match packet.body.message_type {
            MessageType::Data if packet.header.marks.has(Marks::RETURNED) => self.on_returned(cx, packet),
            MessageType::Data => self.on_data(cx, meta, packet),
            MessageType::Ack | MessageType::Nack | MessageType::Pull => self.on_answer(cx, packet),
            MessageType::Unknown => self.forget_unknown(FlowKey::of(&packet.header)),
            MessageType::Request
            | MessageType::Token
            | MessageType::Grant
            | MessageType::Resend
            | MessageType::Busy => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        while let Some(owner) = self.host.flows.expired(cx.now) {
            let slot = match owner {
                Expired::Sender(slot) => slot,
                Expired::Receiver(_) => continue,
                Expired::Idle(key) => {
                    self.forget_receiver(key);
                    self.host.end_idle(key, cx.now);
                    continue;
                }
            };
            if let Some(flow) = self.host.flows.senders.get_mut(slot) {
                flow.time_out(cx.now, self.config.rto);
            }
            self.offer(slot, cx.now);
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.host.flows.next_timeout()
    }

    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<ControlMessage> {
        let control = self.host.outbox.pop().or_else(|| self.next_pull(cx.now));
        if let Some(packet) = control.or_else(|| self.next_data(cx.now)) {
            return Tx::Send { packet, id: None };
        }
        if self.pulling.is_empty() { Tx::Idle } else { Tx::NotBefore(self.pacer.next()) }
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.host.events.pop_front()
    }

    fn is_receiving(&self, src: HostId, flow: FlowId) -> bool {
        self.host.is_receiving(src, flow)
    }

    fn stats(&self) -> Stats {
        Stats { payload: self.host.payload, receiving: self.host.flows.receiving_now(), ..Stats::default() }
    }

    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(flow) = self.host.flows.sender_of(flow).and_then(|slot| self.host.flows.senders.get(slot))
        {
            flow.inspect(see);
        }
    }
}

#[cfg(test)]
mod tests;

//! pHost: receivers send tokens, one per packet, to the flow with the fewest packets left (CoNEXT 2015 §3).
//!
//! ```text
//! sender     sends an RTS immediately, and has a budget of free tokens
//!            idle link: of the flows with an unexpired token the one with the fewest packets left sends, using the
//!            token that expires first
//! receiver   sends one token per packet time, to the flow with the fewest packets missing, for the first missing
//!            packet without a token in this round
//!            `window` tokens in a row unused: no tokens for `relax`, then a new round
//!            all missing packets have a token: a pause of BDP + 1 packet times, then a new round for the rest
//!            all has arrived: one ACK
//! ```
//!
//! A token is valid for 1.5 packet times; free tokens are valid for one more packet time each. There are three
//! levels: control, short flows, long flows. On a real host, `relax` and pauses double while nothing of the flow
//! arrives, both are at least as long as a host may be late, and a sender's BDP is at most 10 ms of the line.
//! Decisions of this implementation: docs/assumptions.md#phost-scale, #phost-loss.

mod config;
mod receiver;
mod sender;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::common::{AskLimit, Expired, FlowKey};
use super::receiver_driven::{
    ControlMessage, Host, Inbound, MessageType, OrderKey, Pacer, Receiving, replace,
};
use crate::endpoint::{
    Command, Control, Cx, Endpoint, Event, FlowRequest, LocalHost, PathInfo, RxMeta, Stats, Tx,
};
use crate::ids::{Class, FlowId, HostId};
use crate::packet::{Frame, Marks, Packet};
use crate::transport::{Cost, Machine, Setup, TransportKeys};
use crate::units::{Span, Time};
pub use config::{Config, Free};
use receiver::{ReceiverFlow, TokenEligibility, Unanswered, part};
use sender::SenderFlow;

/// Classes of pHost's packets: control, data of short flows, data of long flows.
pub const LEVELS: Class = 3;

/// The pHost endpoint of a host.
#[derive(Debug)]
pub struct PHost {
    config: Arc<Config>,
    host: Host<SenderFlow, ReceiverFlow>,
    pacer: Pacer,
    unanswered: Unanswered,
    /// Flows to this host that may get a token.
    eligible_flows: BTreeSet<OrderKey>,
    /// Flows from this host that hold a token, possibly an expired one.
    token_holders: BTreeSet<OrderKey>,
    /// Number of flows seen so far.
    arrivals: u64,
}

impl TransportKeys for Config {
    type Machine = PHost;
    const SCHEDULES_ITSELF: bool = true;

    fn config(&self, setup: &Setup) -> Self {
        Self { frame: setup.frame, ..*self }
    }

    fn classes(&self) -> u8 {
        LEVELS
    }
}

impl Machine for PHost {
    type Config = Config;

    fn new(host: LocalHost, config: Arc<Config>) -> Self {
        let slot = host.line.serialize(u64::from(config.frame.max_wire()));
        Self {
            host: Host::new(&host, &config.frame),
            unanswered: Unanswered::new(&host, slot, u64::from(config.relax_milli)),
            config,
            pacer: Pacer::new(slot, host.catch_up()),
            eligible_flows: BTreeSet::new(),
            token_holders: BTreeSet::new(),
            arrivals: 0,
        }
    }

    fn frame(config: &Config) -> Frame {
        config.frame
    }

    fn cost(_: &Config) -> Cost {
        // A token per packet; a request and an ACK per flow.
        Cost { instructions: 1.2, control: 1.0, per_flow: 2.0 }
    }
}

impl PHost {
    fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Updates `token_holders` after a change of a sender.
    fn hold(&mut self, slot: u32) {
        let Some(flow) = self.host.flows.senders.get_mut(slot) else { return };
        let place = flow.has_token().then(|| (flow.left(), flow.order, slot));
        replace(&mut self.token_holders, &mut flow.hold_position, place);
    }

    /// Updates `eligible_flows` and the timer after a change of a receiver.
    fn ask(&mut self, slot: u32) {
        let Some(flow) = self.host.flows.receivers.get_mut(slot) else { return };
        let place = (flow.eligibility == TokenEligibility::Ready).then_some((flow.left, flow.order, slot));
        replace(&mut self.eligible_flows, &mut flow.token_position, place);
        flow.alarm.due = match flow.eligibility {
            TokenEligibility::Ready | TokenEligibility::Unanswered => Time::NEVER,
            TokenEligibility::Downgraded(until) | TokenEligibility::Pause(until) => until,
        };
        self.host.flows.arm_receiver(slot);
    }

    /// Returns the state of a flow to this host; creates it if it is new.
    fn receiving(&mut self, cx: &Cx, packet: &Packet<ControlMessage>) -> Receiving {
        let state = self.host.receiving(packet, cx.now);
        if state != Receiving::New {
            return state;
        }
        let order = self.next_arrival();
        let inbound = Inbound::new(packet, &self.config.frame);
        let free = self.config.free(inbound.packets.count(), packet.body.window);
        let mut receiver_flow = ReceiverFlow::new(packet, inbound, (free, order), &self.unanswered);
        if packet.body.message_type == MessageType::Request {
            receiver_flow.wait_for_free(
                cx.now,
                Span::from_ns(u64::from(packet.body.count)),
                &self.unanswered,
            );
        }
        let slot = self.host.flows.add_receiver(FlowKey::of(&packet.header), receiver_flow, cx.now);
        self.host.requested(packet.header.src);
        self.ask(slot);
        Receiving::Active(slot)
    }

    fn on_request(&mut self, cx: &Cx, packet: &Packet<ControlMessage>) {
        match self.receiving(cx, packet) {
            Receiving::Received => self.host.acknowledge(&packet.header),
            Receiving::Active(slot) => {
                self.host.requested(packet.header.src);
                self.go_on(slot);
            }
            Receiving::New | Receiving::No => {}
        }
    }

    /// Gives a flow tokens again that waited until its sender may be asked.
    fn go_on(&mut self, slot: u32) {
        if let Some(flow) = self.host.flows.receivers.get_mut(slot)
            && flow.eligibility == TokenEligibility::Unanswered
        {
            flow.eligibility = TokenEligibility::Ready;
            self.ask(slot);
        }
    }

    fn on_data(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<ControlMessage>) {
        if packet.header.payload == 0 || packet.header.marks.has(Marks::TRIMMED) {
            return;
        }
        let Receiving::Active(slot) = self.receiving(cx, packet) else { return };
        if !self.host.takes(slot, packet, cx.now) {
            return;
        }
        let seen = self.host.payload.packets;
        let Some(flow) = self.host.flows.receivers.get_mut(slot) else { return };
        flow.arrived(packet, &mut self.host.payload);
        let left = flow.left;
        self.host.heard(packet.header.src, seen);
        if self.host.payload.packets == seen {
            self.host.duplicate(&packet.header);
        }
        if left > 0 {
            self.ask(slot);
        } else {
            if let Some(place) = self.host.flows.receivers.get_mut(slot).and_then(|f| f.token_position.take())
            {
                self.eligible_flows.remove(&place);
            }
            self.host.deliver(cx.now, meta, &packet.header);
            self.host.acknowledge(&packet.header);
        }
        for _ in 0..AskLimit::WAKE_UPS {
            let Some(slot) = self.host.next_waiting(packet.header.src) else { break };
            self.go_on(slot);
        }
    }

    fn on_token(&mut self, cx: &Cx, packet: &Packet<ControlMessage>) {
        let Some(slot) = self.host.answered(&packet.header, cx.now) else {
            return self.host.signal(&packet.header, MessageType::Unknown);
        };
        let lasts = part(self.pacer.slot(), u64::from(self.config.expiry_milli));
        let retry = self.config.retry;
        if let Some(flow) = self.host.flows.senders.get_mut(slot) {
            flow.take_token(packet, cx.now + lasts);
            flow.alarm.due = cx.now + retry;
        }
        self.hold(slot);
        self.host.flows.arm_sender(slot);
    }

    fn on_ack(&mut self, cx: &Cx, packet: &Packet<ControlMessage>) {
        let Some(slot) = self.host.answered(&packet.header, cx.now) else { return };
        self.host.complete(slot, cx.now);
        self.forget(packet.header.flow);
    }

    /// Removes a flow that this host sends.
    fn forget(&mut self, flow: FlowId) {
        let Some(slot) = self.host.flows.sender_of(flow) else { return };
        if let Some(place) = self.host.flows.senders.get_mut(slot).and_then(|flow| flow.hold_position.take())
        {
            self.token_holders.remove(&place);
        }
        self.host.remove_sender(flow);
    }

    /// Removes a flow to this host.
    fn forget_receiver(&mut self, key: FlowKey) {
        let Some(slot) = self.host.flows.receiver_of(key) else { return };
        if let Some(place) =
            self.host.flows.receivers.get_mut(slot).and_then(|flow| flow.token_position.take())
        {
            self.eligible_flows.remove(&place);
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

    /// Returns the token to send now, if one may be sent.
    fn next_token(&mut self, now: Time) -> Option<Packet<ControlMessage>> {
        while self.pacer.next() <= now {
            let &(_, _, slot) = self.eligible_flows.first()?;
            let unanswered = &self.unanswered;
            let flow = self.host.flows.receivers.get_mut(slot)?;
            let key = flow.key();
            if !AskLimit::permits(self.host.ask_limit.as_deref(), key.src()) {
                flow.eligibility = TokenEligibility::Unanswered;
                self.host.wait(key);
                self.ask(slot);
                continue;
            }
            let token = flow.next_token(now, unanswered);
            self.ask(slot);
            if let Some((header, body)) = token {
                self.host.ask(key.src(), 1);
                self.pacer.spend(now);
                return Some(Packet { header: self.host.outbox.control(header), body });
            }
        }
        None
    }

    /// Returns the data packet to send now, if any flow holds an unexpired token.
    fn next_data(&mut self, now: Time) -> Option<Packet<ControlMessage>> {
        while let Some(&(_, _, slot)) = self.token_holders.first() {
            let frame = self.config.frame;
            let packet = self.host.flows.senders.get_mut(slot).and_then(|flow| flow.next_data(now, &frame));
            self.hold(slot);
            if let Some(packet) = packet {
                return Some(self.host.outbox.data(packet));
            }
        }
        None
    }

    fn on_sender_timer(&mut self, slot: u32, now: Time) {
        let retry = self.config.retry;
        if let Some(flow) = self.host.flows.senders.get_mut(slot) {
            flow.out.timeouts += 1;
            flow.alarm.due = now + retry;
            let (header, body) = flow.request();
            self.host.outbox.push(header, body);
        }
        self.host.flows.arm_sender(slot);
    }
}

impl Endpoint for PHost {
    type Body = ControlMessage;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        let order = self.next_arrival();
        let own = || u16::try_from(self.host.bdp(&flow, &path(), &self.config.frame)).unwrap_or(u16::MAX);
        let bdp = self.config.bdp.unwrap_or_else(own).max(1);
        let mut sender_flow = SenderFlow::new(flow, bdp, order, &self.config.frame);
        let free = self.config.free(sender_flow.out.packets.count(), bdp);
        let busy = self.pacer.slot().times(free).0.saturating_sub(self.host.control_rtt(&flow, &path()).0);
        sender_flow.ahead_ns = u32::try_from(busy.div_ceil(1_000)).unwrap_or(u32::MAX);
        let lasts = part(self.pacer.slot(), 1_000 * free + u64::from(self.config.expiry_milli));
        sender_flow.give_free(free, cx.now + lasts);
        sender_flow.alarm.due = cx.now + self.config.retry;
        let (header, body) = sender_flow.request();
        let slot = self.host.add_sender(sender_flow, cx.now);
        self.host.outbox.push(header, body);
        self.hold(slot);
        self.host.flows.arm_sender(slot);
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
            MessageType::Data => self.on_data(cx, meta, packet),
            MessageType::Request => self.on_request(cx, packet),
            MessageType::Token => self.on_token(cx, packet),
            MessageType::Ack => self.on_ack(cx, packet),
            MessageType::Unknown => self.forget_unknown(FlowKey::of(&packet.header)),
            MessageType::Pull
            | MessageType::Grant
            | MessageType::Nack
            | MessageType::Resend
            | MessageType::Busy => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        while let Some(owner) = self.host.flows.expired(cx.now) {
            match owner {
                Expired::Sender(slot) => self.on_sender_timer(slot, cx.now),
                Expired::Receiver(slot) => {
                    if let Some(flow) = self.host.flows.receivers.get_mut(slot) {
                        flow.new_round();
                    }
                    self.ask(slot);
                }
                Expired::Idle(key) => {
                    self.forget_receiver(key);
                    self.host.end_idle(key, cx.now);
                }
            }
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.host.flows.next_timeout()
    }

    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<ControlMessage> {
        let control = self.host.outbox.pop().or_else(|| self.next_token(cx.now));
        if let Some(packet) = control.or_else(|| self.next_data(cx.now)) {
            return Tx::Send { packet, id: None };
        }
        if self.eligible_flows.is_empty() { Tx::Idle } else { Tx::NotBefore(self.pacer.next()) }
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
            see("left_packets", flow.left() as f64);
            see("tokens", flow.tokens() as f64);
        }
    }
}

#[cfg(test)]
mod tests;

//! Homa: receivers grant the messages with the fewest packets left, and choose the classes of their packets
//! (SIGCOMM 2018 §3).
//!
//! ```text
//! sender     sends the first RTTbytes of a message unscheduled, in a class by its length; the rest as granted
//!            of the messages that may send, sends the one with the fewest packets left to send
//! receiver   of the messages not fully granted, grants the `overcommit` with the fewest packets left, one per sender,
//!            up to RTTbytes beyond what has arrived, each in a class of its own ([`Levels`])
//!            no new data of a message for `resend` though some was granted: RESEND of the first gap
//!            all has arrived: ACK
//! RESEND     retransmit the range, or reply BUSY if it was not sent yet
//! sender     no reply for `retry` and nothing left that may be sent: retransmit the first packet
//! ```
//!
//! A flow is a one-way message. RTTbytes is counted in full packets. Decisions of this implementation:
//! docs/assumptions.md#homa-one-way, #homa-levels, #homa-timeouts.

mod config;
mod grants;
mod levels;
mod receiver;
mod sender;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::common::{AskLimit, Expired, FlowKey, Incoming};
use super::receiver_driven::{ControlMessage, Host, MessageType, OrderKey, Receiving, replace};
use crate::endpoint::{
    Command, Control, Cx, Endpoint, Event, FlowRequest, LocalHost, PathInfo, RxMeta, Stats, Tx,
};
use crate::ids::{FlowId, HostId};
use crate::keys::KeyConflict;
use crate::packet::{Frame, Marks, Packet};
use crate::quantity::show_bytes;
use crate::transport::{Cost, Machine, Setup, TransportKeys};
use crate::units::Time;
pub use config::Config;
use grants::Grants;
pub use levels::{Levels, LevelsError};
use receiver::ReceiverFlow;
use sender::SenderFlow;

/// The Homa endpoint of a host.
#[derive(Debug)]
pub struct Homa {
    config: Arc<Config>,
    host: Host<SenderFlow, ReceiverFlow>,
    grants: Grants,
    /// Messages of this host that may send.
    sending: BTreeSet<OrderKey>,
    /// Number of messages seen so far.
    arrivals: u64,
}

impl TransportKeys for Config {
    type Machine = Homa;
    const SCHEDULES_ITSELF: bool = true;

    fn config(&self, setup: &Setup) -> Self {
        Self { frame: setup.frame, ..self.clone() }
    }

    fn classes(&self) -> u8 {
        self.levels.count()
    }

    fn fits(&self, frame: &Frame) -> Result<(), KeyConflict> {
        let most = u64::from(u16::MAX) * u64::from(frame.mss());
        match self.rtt_bytes {
            Some(bytes) if bytes > most => {
                let what = format!("{} are more than 65535 packets", show_bytes(bytes));
                Err(KeyConflict {
                    key: Some("rtt_bytes"),
                    what,
                    fix: format!("at most {}", show_bytes(most)),
                })
            }
            _ => Ok(()),
        }
    }
}

impl Machine for Homa {
    type Config = Config;

    fn new(host: LocalHost, config: Arc<Config>) -> Self {
        Self {
            host: Host::new(&host, &config.frame),
            config,
            grants: Grants::default(),
            sending: BTreeSet::new(),
            arrivals: 0,
        }
    }

    fn frame(config: &Config) -> Frame {
        config.frame
    }

    fn cost(_: &Config) -> Cost {
        // A grant per packet; an ACK per message.
        Cost { instructions: 1.2, control: 1.0, per_flow: 1.0 }
    }
}

impl Homa {
    fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Updates `sending` after a change of a sender.
    fn offer(&mut self, slot: u32) {
        let Some(flow) = self.host.flows.senders.get_mut(slot) else { return };
        let place = flow.may_send().then(|| (flow.left(), flow.order, slot));
        replace(&mut self.sending, &mut flow.place, place);
    }

    fn on_data(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<ControlMessage>) {
        let header = &packet.header;
        if header.payload == 0 || header.marks.has(Marks::TRIMMED) {
            return;
        }
        let slot = match self.host.receiving(packet, cx.now) {
            Receiving::Active(slot) => slot,
            Receiving::Received => return self.host.acknowledge(header),
            Receiving::New => {
                let order = self.next_arrival();
                let receiver_flow = ReceiverFlow::new(packet, &self.config.frame, order);
                self.host.requested(header.src);
                self.host.flows.add_receiver(FlowKey::of(header), receiver_flow, cx.now)
            }
            Receiving::No => return,
        };
        if !self.host.takes(slot, packet, cx.now) {
            return;
        }
        let seen = self.host.payload.packets;
        let Some(flow) = self.host.flows.receivers.get_mut(slot) else { return };
        // A sender may retry as often as `resend`: its duplicates must not postpone the RESEND that it needs.
        if flow.arrived(packet, &mut self.host.payload) {
            flow.alarm.due = cx.now + self.config.resend;
        }
        let (left, wants) = (flow.left(), flow.wants_grants().then(|| flow.place(slot)));
        self.grants.update(slot, flow.inbound.src, &mut flow.grant_position, wants);
        self.host.heard(header.src, seen);
        if self.host.payload.packets == seen {
            self.host.duplicate(header);
        }
        if left == 0 {
            self.host.deliver(cx.now, meta, header);
            self.host.acknowledge(header);
        } else {
            self.host.flows.arm_receiver(slot);
        }
        for _ in 0..AskLimit::WAKE_UPS {
            let Some(slot) = self.host.next_waiting(header.src) else { break };
            self.resend_later(slot, cx.now);
        }
        self.grant();
    }

    /// Starts the timer after which missing data of a message is requested again.
    fn resend_later(&mut self, slot: u32, now: Time) {
        if let Some(flow) = self.host.flows.receivers.get_mut(slot) {
            flow.alarm.due = now + self.config.resend;
        }
        self.host.flows.arm_receiver(slot);
    }

    /// Requests missing data of a message again, as far as its sender may be asked.
    fn resend(&mut self, slot: u32, now: Time) {
        let Some(flow) = self.host.flows.receivers.get_mut(slot) else { return };
        let key = flow.inbound.key();
        if !AskLimit::permits(self.host.ask_limit.as_deref(), key.src()) {
            flow.alarm.due = Time::NEVER;
            return self.host.wait(key);
        }
        if let Some((header, body)) = flow.resend() {
            let packets = flow.inbound.packets.at(body.size - header.offset.get()).max(1);
            self.host.outbox.push(header, body);
            self.host.ask(key.src(), packets);
        }
        self.resend_later(slot, now);
    }

    /// Sends the grants that are due: to the best messages, one per sender.
    fn grant(&mut self) {
        let best = self.grants.best(self.config.overcommit);
        let granted = best.len();
        for (rank, &slot) in best.iter().enumerate() {
            let class = self.config.levels.scheduled_class(rank, granted);
            let Some(flow) = self.host.flows.receivers.get_mut(slot) else { continue };
            let src = flow.inbound.src;
            if !AskLimit::permits(self.host.ask_limit.as_deref(), src) {
                continue;
            }
            let before = flow.granted();
            let Some((header, body)) = flow.grant(class) else { continue };
            let more = flow.granted() - before;
            let wants = flow.wants_grants().then(|| flow.place(slot));
            self.grants.update(slot, src, &mut flow.grant_position, wants);
            self.host.outbox.push(header, body);
            self.host.ask(src, more);
        }
        self.grants.reuse(best);
    }

    /// Handles any packet but data for a message of this host.
    fn on_answer(&mut self, cx: &Cx, packet: &Packet<ControlMessage>) {
        let Some(slot) = self.host.answered(&packet.header, cx.now) else {
            if packet.body.message_type != MessageType::Ack {
                self.host.signal(&packet.header, MessageType::Unknown);
            }
            return;
        };
        let Some(flow) = self.host.flows.senders.get_mut(slot) else { return };
        flow.alarm.due = cx.now + self.config.retry;
        match packet.body.message_type {
            MessageType::Ack => {
                self.host.complete(slot, cx.now);
                return self.forget(packet.header.flow);
            }
            MessageType::Grant => flow.take_grant(packet),
            MessageType::Resend => {
                let again = flow.take_resend(packet);
                if !again {
                    self.host.signal(&packet.header, MessageType::Busy);
                }
            }
            _ => {}
        }
        self.offer(slot);
        self.host.flows.arm_sender(slot);
    }

    /// Removes a message that this host sends.
    fn forget(&mut self, flow: FlowId) {
        let Some(slot) = self.host.flows.sender_of(flow) else { return };
        if let Some(place) = self.host.flows.senders.get(slot).and_then(|flow| flow.place) {
            self.sending.remove(&place);
        }
        self.host.remove_sender(flow);
    }

    /// Handles a BUSY or UNKNOWN for a message to this host.
    fn on_news(&mut self, cx: &Cx, packet: &Packet<ControlMessage>) {
        let Some(Incoming::Active(slot)) = self.host.flows.incoming(FlowKey::of(&packet.header)) else {
            return;
        };
        let Some(flow) = self.host.flows.receivers.get_mut(slot) else { return };
        if packet.body.message_type == MessageType::Busy {
            flow.alarm.due = cx.now + self.config.resend;
            return self.host.flows.arm_receiver(slot);
        }
        let key = FlowKey::of(&packet.header);
        self.forget_receiver(key);
        self.host.report_forgotten(key);
        self.grant();
    }

    /// Removes a message to this host.
    fn forget_receiver(&mut self, key: FlowKey) {
        let Some(slot) = self.host.flows.receiver_of(key) else { return };
        if let Some(flow) = self.host.flows.receivers.get_mut(slot) {
            self.grants.update(slot, flow.inbound.src, &mut flow.grant_position, None);
        }
        self.host.remove_receiver(key);
    }

    /// Removes all flows to and from a host.
    fn forget_host(&mut self, host: HostId) {
        self.host.flows.sent_to(host).into_iter().for_each(|flow| self.forget(flow));
        self.host.flows.received_from(host).into_iter().for_each(|key| self.forget_receiver(key));
        self.host.forget_host(host);
    }

    fn next_data(&mut self) -> Option<Packet<ControlMessage>> {
        let &(_, _, slot) = self.sending.first()?;
        let frame = self.config.frame;
        let packet = self.host.flows.senders.get_mut(slot).and_then(|flow| flow.next_data(&frame));
        self.offer(slot);
        packet.map(|packet| self.host.outbox.data(packet))
    }
}

impl Endpoint for Homa {
    type Body = ControlMessage;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        let packets = match self.config.rtt_bytes {
            Some(bytes) => bytes.div_ceil(u64::from(self.config.frame.mss())),
            None => self.host.bdp(&flow, &path(), &self.config.frame),
        };
        let window = u16::try_from(packets).unwrap_or(u16::MAX).max(1);
        let order = self.next_arrival();
        let mut sender_flow = SenderFlow::new(flow, window, order, &self.config.frame, &self.config.levels);
        sender_flow.alarm.due = cx.now + self.config.retry;
        let slot = self.host.add_sender(sender_flow, cx.now);
        self.offer(slot);
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
            MessageType::Grant | MessageType::Resend | MessageType::Ack => self.on_answer(cx, packet),
            MessageType::Busy | MessageType::Unknown => self.on_news(cx, packet),
            MessageType::Request | MessageType::Token | MessageType::Pull | MessageType::Nack => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        while let Some(owner) = self.host.flows.expired(cx.now) {
            match owner {
                Expired::Sender(slot) => {
                    if let Some(flow) = self.host.flows.senders.get_mut(slot) {
                        flow.time_out();
                        flow.alarm.due = cx.now + self.config.retry;
                    }
                    self.offer(slot);
                    self.host.flows.arm_sender(slot);
                }
                Expired::Receiver(slot) => self.resend(slot, cx.now),
                Expired::Idle(key) => {
                    self.forget_receiver(key);
                    self.host.end_idle(key, cx.now);
                    self.grant();
                }
            }
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.host.flows.next_timeout()
    }

    fn poll_transmit(&mut self, _cx: &mut Cx) -> Tx<ControlMessage> {
        match self.host.outbox.pop().or_else(|| self.next_data()) {
            Some(packet) => Tx::Send { packet, id: None },
            None => Tx::Idle,
        }
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

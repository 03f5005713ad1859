//! Homa: receivers grant to the messages with least left, and choose the classes of their packets (SIGCOMM 2018 §3).
//!
//! ```text
//! sender     the first RTTbytes of a message unasked, in a class by its length; the rest as it is granted
//!            of messages that may send the one with least left to send
//! receiver   of messages not granted as a whole the `overcommit` with least left to receive, one per sender, are granted
//!            up to RTTbytes beyond what has arrived, each in a class of its own ([`Levels`])
//!            nothing of a message for `resend` though some was granted: RESEND of the first gap
//!            all here: ACK
//! RESEND     the range again, or BUSY where it was not sent yet
//! sender     nothing heard for `retry` though all that may go went: the first packet again
//! ```
//!
//! A flow is a message one way. RTTbytes is counted in full packets. What is ours: docs/assumptions.md#homa-one-way,
//! #homa-levels, #homa-timeouts.

mod grants;
mod levels;
mod receiver;
mod sender;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::receiver_driven::{Ends, Note, Owner, Packets, Role, Verb, answer};
use crate::endpoint::{Command, Control, Cx, Endpoint, Event, FlowSpec, LocalHost, Path, RxMeta, Tx};
use crate::ids::FlowId;
use crate::packet::{Frame, Kind, Marks, Packet};
use crate::units::{Span, Time};
use grants::Grants;
pub use levels::{Levels, LevelsError};
use receiver::Inflow;
use sender::Outflow;

/// Parameters of Homa.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Packet sizes of the experiment.
    pub frame: Frame,
    /// Which class packets have.
    pub levels: Levels,
    /// Payload bytes that a message may have sent or been granted beyond what has arrived, rounded up to full packets;
    /// `None` for those that fill its path. At most 65,535 packets.
    pub rtt_bytes: Option<u64>,
    /// Messages granted at once, at least 1. Default 7.
    pub overcommit: u8,
    /// Time after which a receiver asks again, above zero. Default 5 ms (Linux).
    pub resend: Span,
    /// Time after which a sender that hears nothing sends its first packet again, above zero. Default 10 ms.
    pub retry: Span,
}

impl Config {
    /// The defaults above, for packets of `frame`: one class for what is unscheduled, seven for what is granted.
    pub fn new(frame: Frame) -> Self {
        Self {
            frame,
            levels: Levels::DEFAULT,
            rtt_bytes: None,
            overcommit: 7,
            resend: Span::from_ms(5),
            retry: Span::from_ms(10),
        }
    }
}

/// Who goes first: packets left to send, then who came first; and its place.
type Place = (u64, u64, u32);

/// Homa at one host.
#[derive(Debug)]
pub struct Homa {
    config: Arc<Config>,
    ends: Ends<Outflow, Inflow>,
    grants: Grants,
    /// Messages from this host that may send.
    sending: BTreeSet<Place>,
    /// Messages seen so far.
    arrivals: u64,
}

impl Homa {
    /// The endpoint of `host`, without flows.
    pub fn new(host: LocalHost, config: Arc<Config>) -> Self {
        Self {
            ends: Ends::new(host.id, config.frame, 0),
            config,
            grants: Grants::default(),
            sending: BTreeSet::new(),
            arrivals: 0,
        }
    }

    fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Keeps `sending` in step with a sender.
    fn offer(&mut self, slot: u32) {
        let Some(flow) = self.ends.senders.get_mut(slot) else { return };
        let place = flow.may_send().then(|| (flow.left(), flow.order, slot));
        if flow.place == place {
            return;
        }
        if let Some(old) = std::mem::replace(&mut flow.place, place) {
            self.sending.remove(&old);
        }
        self.sending.extend(place);
    }

    fn on_data(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Note>) {
        let header = &packet.header;
        if header.payload == 0 || header.marks.has(Marks::TRIMMED) {
            return;
        }
        let slot = match self.ends.role(header.flow) {
            Some(Role::Receiver(slot)) => slot,
            Some(Role::Received) => return self.acknowledge(packet),
            Some(Role::Sender(_)) => return,
            None => {
                let order = self.next_arrival();
                let packets = Packets::new(Some(packet.body.size), &self.config.frame);
                self.ends.add_receiver(header.flow, Inflow::new(packet, packets, order))
            }
        };
        let Some(flow) = self.ends.receivers.get_mut(slot) else { return };
        flow.arrived(packet);
        flow.alarm.due = cx.now + self.config.resend;
        let (left, wants) = (flow.left(), flow.wants_grants().then(|| flow.place(slot)));
        self.grants.update(slot, flow.from, &mut flow.asks, wants);
        if left == 0 {
            self.ends.received(header.flow, slot, meta.stamp);
            self.acknowledge(packet);
        } else {
            self.ends.arm_receiver(slot);
        }
        self.grant();
    }

    fn acknowledge(&mut self, packet: &Packet<Note>) {
        self.ends.post(answer(&packet.header, Kind::Ack), Note { verb: Verb::Ack, ..Note::default() });
    }

    /// Sends the grants that are due: to the best messages, one per sender.
    fn grant(&mut self) {
        let best = self.grants.best(self.config.overcommit);
        let granted = best.len();
        for (rank, &slot) in best.iter().enumerate() {
            let class = self.config.levels.scheduled_class(rank, granted);
            let Some(flow) = self.ends.receivers.get_mut(slot) else { continue };
            let Some((header, body)) = flow.grant(class) else { continue };
            let wants = flow.wants_grants().then(|| flow.place(slot));
            self.grants.update(slot, flow.from, &mut flow.asks, wants);
            self.ends.post(header, body);
        }
        self.grants.reuse(best);
    }

    /// Anything but payload, for a message of this host.
    fn on_answer(&mut self, cx: &Cx, packet: &Packet<Note>) {
        let Some(slot) = self.ends.sender_of(packet.header.flow) else {
            if packet.body.verb != Verb::Ack {
                let unknown = Note { verb: Verb::Unknown, ..Note::default() };
                self.ends.post(answer(&packet.header, Kind::Signal), unknown);
            }
            return;
        };
        let Some(flow) = self.ends.senders.get_mut(slot) else { return };
        flow.alarm.due = cx.now + self.config.retry;
        match packet.body.verb {
            Verb::Ack => {
                let report = flow.out.report(cx.now, flow.out.packets.size());
                self.ends.events.push_back(Event::Completed(report));
                return self.forget(packet.header.flow);
            }
            Verb::Grant => flow.take_grant(packet),
            Verb::Resend => {
                let again = flow.take_resend(packet);
                if !again {
                    let busy = Note { verb: Verb::Busy, ..Note::default() };
                    self.ends.post(answer(&packet.header, Kind::Signal), busy);
                }
            }
            _ => {}
        }
        self.offer(slot);
        self.ends.arm_sender(slot);
    }

    /// Forgets a message that this host sends.
    fn forget(&mut self, flow: FlowId) {
        let Some(slot) = self.ends.sender_of(flow) else { return };
        if let Some(place) = self.ends.senders.get(slot).and_then(|flow| flow.place) {
            self.sending.remove(&place);
        }
        self.ends.drop_sender(flow, slot);
    }

    /// BUSY, or UNKNOWN: for a message to this host.
    fn on_news(&mut self, cx: &Cx, packet: &Packet<Note>) {
        let Some(Role::Receiver(slot)) = self.ends.role(packet.header.flow) else { return };
        let Some(flow) = self.ends.receivers.get_mut(slot) else { return };
        if packet.body.verb == Verb::Busy {
            flow.alarm.due = cx.now + self.config.resend;
            return self.ends.arm_receiver(slot);
        }
        self.grants.update(slot, flow.from, &mut flow.asks, None);
        self.ends.drop_receiver(packet.header.flow, slot);
        self.grant();
    }

    fn next_data(&mut self) -> Option<Packet<Note>> {
        let &(_, _, slot) = self.sending.first()?;
        let frame = self.config.frame;
        let packet = self.ends.senders.get_mut(slot).and_then(|flow| flow.next_data(&frame));
        self.offer(slot);
        packet
    }
}

impl Endpoint for Homa {
    type Body = Note;

    fn open(&mut self, cx: &mut Cx, flow: FlowSpec, path: &dyn Fn() -> Path) {
        let packets = match self.config.rtt_bytes {
            Some(bytes) => bytes.div_ceil(u64::from(self.config.frame.mss())),
            None => path().bdp().div_ceil(u64::from(self.config.frame.max_wire())),
        };
        let window = u16::try_from(packets).unwrap_or(u16::MAX).max(1);
        let order = self.next_arrival();
        let mut outflow = Outflow::new(flow, window, order, &self.config);
        outflow.alarm.due = cx.now + self.config.retry;
        let slot = self.ends.add_sender(flow.id, outflow);
        self.offer(slot);
        self.ends.arm_sender(slot);
    }

    fn control(&mut self, _cx: &mut Cx, command: Command) {
        if let Command::Flow(id, Control::Abort) = command {
            self.forget(id);
        }
    }

    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Note>) {
        match packet.body.verb {
            Verb::Data => self.on_data(cx, meta, packet),
            Verb::Grant | Verb::Resend | Verb::Ack => self.on_answer(cx, packet),
            Verb::Busy | Verb::Unknown => self.on_news(cx, packet),
            Verb::Request | Verb::Token | Verb::Pull | Verb::Nack => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        while let Some(owner) = self.ends.ring(cx.now) {
            match owner {
                Owner::Sender(slot) => {
                    if let Some(flow) = self.ends.senders.get_mut(slot) {
                        flow.time_out();
                        flow.alarm.due = cx.now + self.config.retry;
                    }
                    self.offer(slot);
                    self.ends.arm_sender(slot);
                }
                Owner::Receiver(slot) => {
                    let resend = self.ends.receivers.get_mut(slot).and_then(|flow| {
                        flow.alarm.due = cx.now + self.config.resend;
                        flow.resend()
                    });
                    if let Some((header, body)) = resend {
                        self.ends.post(header, body);
                    }
                    self.ends.arm_receiver(slot);
                }
            }
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.ends.next_timeout()
    }

    fn poll_transmit(&mut self, _cx: &mut Cx) -> Tx<Note> {
        match self.ends.next_control().or_else(|| self.next_data()) {
            Some(packet) => Tx::Send { packet, id: None },
            None => Tx::Idle,
        }
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.ends.events.pop_front()
    }

    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(flow) = self.ends.sender_of(flow).and_then(|slot| self.ends.senders.get(slot)) {
            flow.inspect(see);
        }
    }
}

#[cfg(test)]
mod tests;

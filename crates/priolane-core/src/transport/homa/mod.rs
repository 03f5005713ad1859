//! Homa: receivers grant to the messages with least left, and choose the classes of their packets (SIGCOMM 2018 §3).
//!
//! ```text
//! sender     the first RTTbytes of a message unasked, in a class by its length; the rest as it is granted
//!            of messages that may send the one with least left to send
//! receiver   of messages not granted as a whole the `overcommit` with least left to receive, one per sender, are granted
//!            up to RTTbytes beyond what has arrived, each in a class of its own ([`Levels`])
//!            nothing new of a message for `resend` though some was granted: RESEND of the first gap
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

use super::common::{Admit, Expired, FlowKey, Incoming};
use super::receiver_driven::{Host, Note, Place, Verb, replace};
use crate::assign::SizesOf;
use crate::endpoint::{
    Command, Control, Cx, Endpoint, Event, FlowRequest, LocalHost, PathInfo, RxMeta, Stats, Tx,
};
use crate::ids::{CLASSES, FlowId};
use crate::keys::{ByteList, Bytes, Keys, Misfit};
use crate::packet::{Frame, Marks, Packet};
use crate::part::Part;
use crate::units::{Span, Time};
use grants::Grants;
pub use levels::{Levels, LevelsError};
use receiver::Inflow;
use sender::Outflow;

/// Parameters of Homa.
#[derive(Clone, PartialEq, Debug, Keys, Part)]
#[keys(group = "homa", check = Self::check)]
#[part(
    name = "homa",
    summary = "Homa: receivers grant to the messages with least left and choose the classes of their packets",
    source = "Homa (SIGCOMM 2018) §3",
    provides = [Ranks]
)]
pub struct Config {
    /// Classes of what is sent unasked, from 0 on.
    #[key(default = 1, range = "[1, 15]", source = "docs/assumptions.md#homa-levels")]
    pub unscheduled: u8,
    /// Classes of what is granted, after those.
    #[key(default = 7, range = "[1, 15]", source = "docs/assumptions.md#homa-levels")]
    pub scheduled: u8,
    /// Lengths up to which messages are in each unscheduled class but the last, ascending; found so that as many
    /// unscheduled bytes are in each class where they are not stated.
    #[key(optional, form = ByteList, source = "Homa (SIGCOMM 2018) §3.4")]
    pub cutoffs: Option<Vec<u64>>,
    /// Whose sizes cut-offs are found from: global, local or a group.
    #[key(default = SizesOf::Global, source = "docs/thresholds.md")]
    pub from: SizesOf,
    /// Payload bytes that a message may have sent or been granted beyond what has arrived, rounded up to full packets;
    /// auto for those that fill its path. At most 65,535 packets.
    #[key(auto = "0B", form = Bytes, source = "Homa (SIGCOMM 2018) §3.3")]
    pub rtt_bytes: Option<u64>,
    /// Messages granted at once.
    #[key(default = scheduled, shown = "scheduled", range = "[1, 255]", source = "Homa (SIGCOMM 2018) §3.5")]
    pub overcommit: u8,
    /// Time after which a receiver asks again (Linux: 5 ms).
    #[key(default = Span::from_ms(5), range = "(0, )", source = "docs/assumptions.md#homa-timeouts")]
    pub resend: Span,
    /// Time after which a sender that hears nothing sends its first packet again.
    #[key(default = Span::from_ms(10), range = "(0, )", source = "docs/assumptions.md#homa-timeouts")]
    pub retry: Span,
    /// Which class packets have: as the keys say, once cut-offs are known.
    #[keys(skip = Levels::DEFAULT)]
    pub levels: Levels,
    /// Packet sizes of the experiment.
    #[keys(skip = Frame::ETHERNET)]
    pub frame: Frame,
}

impl Config {
    /// The defaults, for packets of `frame`: one class for what is unscheduled, seven for what is granted.
    pub fn new(frame: Frame) -> Self {
        Self { frame, ..Self::default() }
    }

    /// Goes by cut-offs that were found, as many as there are.
    pub fn set_cutoffs(&mut self, found: Vec<u64>) {
        self.unscheduled = found.len() as u8 + 1;
        self.levels = Levels::new(&found, self.scheduled).unwrap_or(Levels::DEFAULT);
        self.cutoffs = Some(found);
    }

    fn check(&mut self) -> Result<(), Misfit> {
        let Self { unscheduled, scheduled, .. } = *self;
        let at = if self.cutoffs.is_some() { Some("cutoffs") } else { None };
        let misfit = |what: String, fix: String| Misfit { key: at, what, fix };
        if usize::from(unscheduled + scheduled) > CLASSES {
            let what = format!("{unscheduled} unscheduled and {scheduled} scheduled classes");
            return Err(misfit(what, format!("{CLASSES} in all at most")));
        }
        if self.cutoffs.is_none() && unscheduled == 1 {
            self.cutoffs = Some(Vec::new());
        }
        let Some(cutoffs) = &self.cutoffs else {
            return match self.rtt_bytes {
                Some(_) => Ok(()),
                None => Err(Misfit::new(
                    "cut-offs depend on what is sent unasked, and rtt_bytes is not stated",
                    "such as rtt_bytes = \"10kB\", or cutoffs = [\"2kB\", ...]",
                )),
            };
        };
        match Levels::new(cutoffs, scheduled) {
            Ok(levels) if levels.count() == unscheduled + scheduled => {
                self.levels = levels;
                Ok(())
            }
            Err(LevelsError::Order) => {
                Err(misfit("cut-offs do not ascend".to_owned(), "such as [\"2kB\", \"15kB\"]".to_owned()))
            }
            Ok(_) | Err(LevelsError::Count) => {
                let what = format!("{} cut-offs between {unscheduled} unscheduled classes", cutoffs.len());
                Err(misfit(what, format!("{} of them", unscheduled - 1)))
            }
        }
    }
}

/// Homa at one host.
#[derive(Debug)]
pub struct Homa {
    config: Arc<Config>,
    host: Host<Outflow, Inflow>,
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
            host: Host::new(&host, &config.frame),
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
        let Some(flow) = self.host.flows.senders.get_mut(slot) else { return };
        let place = flow.may_send().then(|| (flow.left(), flow.order, slot));
        replace(&mut self.sending, &mut flow.place, place);
    }

    fn on_data(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Note>) {
        let header = &packet.header;
        if header.payload == 0 || header.marks.has(Marks::TRIMMED) {
            return;
        }
        let slot = match self.host.flows.incoming(FlowKey::of(header)) {
            Some(Incoming::Active(slot)) => slot,
            Some(Incoming::Ended(())) => return self.host.acknowledge(header),
            None => {
                match self.host.admit(header, cx.now) {
                    Admit::Yes => {}
                    Admit::InPlaceOf(idle) => self.forget_receiver(idle),
                    Admit::No => return,
                }
                let order = self.next_arrival();
                let inflow = Inflow::new(packet, &self.config.frame, order);
                self.host.flows.add_receiver(FlowKey::of(header), inflow, cx.now)
            }
        };
        if !self.host.takes(slot, packet, cx.now) {
            return;
        }
        let Some(flow) = self.host.flows.receivers.get_mut(slot) else { return };
        // A sender that tries again may be as frequent as `resend`: its duplicates must not put off the RESEND that it waits for.
        if flow.arrived(packet, &mut self.host.payload) {
            flow.alarm.due = cx.now + self.config.resend;
        }
        let (left, wants) = (flow.left(), flow.wants_grants().then(|| flow.place(slot)));
        self.grants.update(slot, flow.inbound.src, &mut flow.asks, wants);
        if left == 0 {
            self.host.deliver(cx.now, meta, header);
            self.host.acknowledge(header);
        } else {
            self.host.flows.arm_receiver(slot);
        }
        self.grant();
    }

    /// Sends the grants that are due: to the best messages, one per sender.
    fn grant(&mut self) {
        let best = self.grants.best(self.config.overcommit);
        let granted = best.len();
        for (rank, &slot) in best.iter().enumerate() {
            let class = self.config.levels.scheduled_class(rank, granted);
            let Some(flow) = self.host.flows.receivers.get_mut(slot) else { continue };
            let Some((header, body)) = flow.grant(class) else { continue };
            let wants = flow.wants_grants().then(|| flow.place(slot));
            self.grants.update(slot, flow.inbound.src, &mut flow.asks, wants);
            self.host.outbox.push(header, body);
        }
        self.grants.reuse(best);
    }

    /// Anything but payload, for a message of this host.
    fn on_answer(&mut self, cx: &Cx, packet: &Packet<Note>) {
        let Some(slot) = self.host.answered(&packet.header, cx.now) else {
            if packet.body.verb != Verb::Ack {
                self.host.signal(&packet.header, Verb::Unknown);
            }
            return;
        };
        let Some(flow) = self.host.flows.senders.get_mut(slot) else { return };
        flow.alarm.due = cx.now + self.config.retry;
        match packet.body.verb {
            Verb::Ack => {
                self.host.complete(slot, cx.now);
                return self.forget(packet.header.flow);
            }
            Verb::Grant => flow.take_grant(packet),
            Verb::Resend => {
                let again = flow.take_resend(packet);
                if !again {
                    self.host.signal(&packet.header, Verb::Busy);
                }
            }
            _ => {}
        }
        self.offer(slot);
        self.host.flows.arm_sender(slot);
    }

    /// Forgets a message that this host sends.
    fn forget(&mut self, flow: FlowId) {
        let Some(slot) = self.host.flows.sender_of(flow) else { return };
        if let Some(place) = self.host.flows.senders.get(slot).and_then(|flow| flow.place) {
            self.sending.remove(&place);
        }
        self.host.remove_sender(flow);
    }

    /// BUSY, or UNKNOWN: for a message to this host.
    fn on_news(&mut self, cx: &Cx, packet: &Packet<Note>) {
        let Some(Incoming::Active(slot)) = self.host.flows.incoming(FlowKey::of(&packet.header)) else {
            return;
        };
        let Some(flow) = self.host.flows.receivers.get_mut(slot) else { return };
        if packet.body.verb == Verb::Busy {
            flow.alarm.due = cx.now + self.config.resend;
            return self.host.flows.arm_receiver(slot);
        }
        self.forget_receiver(FlowKey::of(&packet.header));
        self.grant();
    }

    /// Forgets a message to this host.
    fn forget_receiver(&mut self, key: FlowKey) {
        let Some(slot) = self.host.flows.receiver_of(key) else { return };
        if let Some(flow) = self.host.flows.receivers.get_mut(slot) {
            self.grants.update(slot, flow.inbound.src, &mut flow.asks, None);
        }
        self.host.remove_receiver(key);
    }

    fn next_data(&mut self) -> Option<Packet<Note>> {
        let &(_, _, slot) = self.sending.first()?;
        let frame = self.config.frame;
        let packet = self.host.flows.senders.get_mut(slot).and_then(|flow| flow.next_data(&frame));
        self.offer(slot);
        packet.map(|packet| self.host.outbox.data(packet))
    }
}

impl Endpoint for Homa {
    type Body = Note;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        let packets = match self.config.rtt_bytes {
            Some(bytes) => bytes.div_ceil(u64::from(self.config.frame.mss())),
            None => self.host.bdp(&flow, &path(), &self.config.frame),
        };
        let window = u16::try_from(packets).unwrap_or(u16::MAX).max(1);
        let order = self.next_arrival();
        let mut outflow = Outflow::new(flow, window, order, &self.config.frame, &self.config.levels);
        outflow.alarm.due = cx.now + self.config.retry;
        let slot = self.host.add_sender(outflow, cx.now);
        self.offer(slot);
        self.host.flows.arm_sender(slot);
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
                Expired::Receiver(slot) => {
                    let resend = self.host.flows.receivers.get_mut(slot).and_then(|flow| {
                        flow.alarm.due = cx.now + self.config.resend;
                        flow.resend()
                    });
                    if let Some((header, body)) = resend {
                        self.host.outbox.push(header, body);
                    }
                    self.host.flows.arm_receiver(slot);
                }
            }
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.host.flows.next_timeout()
    }

    fn poll_transmit(&mut self, _cx: &mut Cx) -> Tx<Note> {
        match self.host.outbox.pop().or_else(|| self.next_data()) {
            Some(packet) => Tx::Send { packet, id: None },
            None => Tx::Idle,
        }
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.host.events.pop_front()
    }

    fn stats(&self) -> Stats {
        Stats { payload: self.host.payload, ..Stats::default() }
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

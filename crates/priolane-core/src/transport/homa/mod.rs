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

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::common::{Expired, FlowKey, FlowTable, Incoming, Outbox, Peers};
use super::receiver_driven::{Note, Packets, Place, Verb, answer, replace};
use crate::assign::SizesOf;
use crate::endpoint::{
    Command, Control, Cx, Endpoint, Event, FlowRequest, LocalHost, PathInfo, PayloadStats, RxMeta, Stats, Tx,
};
use crate::ids::{CLASSES, FlowId};
use crate::keys::{ByteList, Bytes, Keys, Misfit};
use crate::packet::{Frame, Header, Kind, Marks, Packet};
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
    flows: FlowTable<Outflow, Inflow, ()>,
    outbox: Outbox<Note>,
    events: VecDeque<Event>,
    peers: Peers,
    payload: PayloadStats,
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
            flows: FlowTable::new(host.time_wait()),
            outbox: Outbox::new(&host, 0, config.frame.ack_wire()),
            events: VecDeque::new(),
            peers: Peers::new(&host),
            payload: PayloadStats::default(),
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
        let Some(flow) = self.flows.senders.get_mut(slot) else { return };
        let place = flow.may_send().then(|| (flow.left(), flow.order, slot));
        replace(&mut self.sending, &mut flow.place, place);
    }

    fn on_data(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Note>) {
        let header = &packet.header;
        if header.payload == 0 || header.marks.has(Marks::TRIMMED) {
            return;
        }
        let slot = match self.flows.incoming(FlowKey::of(header)) {
            Some(Incoming::Active(slot)) => slot,
            Some(Incoming::Ended(())) => return self.acknowledge(packet),
            None => {
                let order = self.next_arrival();
                let packets = Packets::new(Some(packet.body.size), &self.config.frame);
                self.flows.add_receiver(FlowKey::of(header), Inflow::new(packet, packets, order))
            }
        };
        let Some(flow) = self.flows.receivers.get_mut(slot) else { return };
        if self.peers.is_measuring() {
            if !flow.has(header) {
                return;
            }
            flow.readable(packet, &mut self.events);
        }
        flow.arrived(packet, &mut self.payload);
        flow.alarm.due = cx.now + self.config.resend;
        let (left, wants) = (flow.left(), flow.wants_grants().then(|| flow.place(slot)));
        self.grants.update(slot, flow.from, &mut flow.asks, wants);
        if left == 0 {
            self.deliver(cx, meta, header);
            self.acknowledge(packet);
        } else {
            self.flows.arm_receiver(slot);
        }
        self.grant();
    }

    fn acknowledge(&mut self, packet: &Packet<Note>) {
        self.outbox.push(answer(&packet.header, Kind::Ack), Note { verb: Verb::Ack, ..Note::default() });
    }

    /// Sends the grants that are due: to the best messages, one per sender.
    fn grant(&mut self) {
        let best = self.grants.best(self.config.overcommit);
        let granted = best.len();
        for (rank, &slot) in best.iter().enumerate() {
            let class = self.config.levels.scheduled_class(rank, granted);
            let Some(flow) = self.flows.receivers.get_mut(slot) else { continue };
            let Some((header, body)) = flow.grant(class) else { continue };
            let wants = flow.wants_grants().then(|| flow.place(slot));
            self.grants.update(slot, flow.from, &mut flow.asks, wants);
            self.outbox.push(header, body);
        }
        self.grants.reuse(best);
    }

    /// Anything but payload, for a message of this host.
    fn on_answer(&mut self, cx: &Cx, packet: &Packet<Note>) {
        let Some(slot) = self.answered(&packet.header) else {
            if packet.body.verb != Verb::Ack {
                let unknown = Note { verb: Verb::Unknown, ..Note::default() };
                self.outbox.push(answer(&packet.header, Kind::Signal), unknown);
            }
            return;
        };
        self.measure(slot, cx.now);
        let Some(flow) = self.flows.senders.get_mut(slot) else { return };
        flow.alarm.due = cx.now + self.config.retry;
        match packet.body.verb {
            Verb::Ack => {
                let report = flow.out.report(cx.now, flow.out.packets.size());
                self.events.push_back(Event::Completed(report));
                return self.forget(packet.header.flow);
            }
            Verb::Grant => flow.take_grant(packet),
            Verb::Resend => {
                let again = flow.take_resend(packet);
                if !again {
                    let busy = Note { verb: Verb::Busy, ..Note::default() };
                    self.outbox.push(answer(&packet.header, Kind::Signal), busy);
                }
            }
            _ => {}
        }
        self.offer(slot);
        self.flows.arm_sender(slot);
    }

    /// All of the flow of a packet is here.
    fn deliver(&mut self, cx: &Cx, meta: RxMeta, header: &Header) {
        self.flows.end_receiver(FlowKey::of(header), (), cx.now);
        self.flows.drop_dead_timers();
        let Header { src, flow, .. } = *header;
        self.events.push_back(Event::Delivered { src, flow, at: meta.stamp, missing: 0 });
    }

    /// The flow of this host that a packet from its receiver is about; those of others are about none.
    #[inline]
    fn answered(&self, header: &Header) -> Option<u32> {
        let slot = self.flows.sender_of(header.flow)?;
        self.flows.senders.get(slot).filter(|flow| flow.out.spec.dst == header.src).map(|_| slot)
    }

    /// The first answer for a flow of this host says how far its receiver is.
    #[inline]
    fn measure(&mut self, slot: u32, now: Time) {
        if self.peers.is_measuring()
            && let Some(flow) = self.flows.senders.get_mut(slot)
            && let Some(rtt) = flow.out.first_answer(now)
        {
            self.peers.answered(flow.out.spec.dst, rtt, now);
        }
    }

    /// Forgets a message that this host sends.
    fn forget(&mut self, flow: FlowId) {
        let Some(slot) = self.flows.sender_of(flow) else { return };
        if let Some(place) = self.flows.senders.get(slot).and_then(|flow| flow.place) {
            self.sending.remove(&place);
        }
        self.flows.remove_sender(flow);
        self.flows.drop_dead_timers();
    }

    /// BUSY, or UNKNOWN: for a message to this host.
    fn on_news(&mut self, cx: &Cx, packet: &Packet<Note>) {
        let Some(Incoming::Active(slot)) = self.flows.incoming(FlowKey::of(&packet.header)) else { return };
        let Some(flow) = self.flows.receivers.get_mut(slot) else { return };
        if packet.body.verb == Verb::Busy {
            flow.alarm.due = cx.now + self.config.resend;
            return self.flows.arm_receiver(slot);
        }
        self.grants.update(slot, flow.from, &mut flow.asks, None);
        self.flows.remove_receiver(FlowKey::of(&packet.header));
        self.flows.drop_dead_timers();
        self.grant();
    }

    fn next_data(&mut self) -> Option<Packet<Note>> {
        let &(_, _, slot) = self.sending.first()?;
        let frame = self.config.frame;
        let packet = self.flows.senders.get_mut(slot).and_then(|flow| flow.next_data(&frame));
        self.offer(slot);
        packet.map(|packet| self.outbox.data(packet))
    }
}

impl Endpoint for Homa {
    type Body = Note;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        let way = || self.peers.path(flow.dst, &path());
        let packets = match self.config.rtt_bytes {
            Some(bytes) => bytes.div_ceil(u64::from(self.config.frame.mss())),
            None => way().bdp().div_ceil(u64::from(self.config.frame.max_wire())),
        };
        let window = u16::try_from(packets).unwrap_or(u16::MAX).max(1);
        let order = self.next_arrival();
        let mut outflow = Outflow::new(flow, window, order, &self.config.frame, &self.config.levels);
        outflow.alarm.due = cx.now + self.config.retry;
        if self.peers.is_measuring() {
            outflow.out.asked = cx.now;
        }
        let slot = self.flows.add_sender(flow.id, outflow);
        self.offer(slot);
        self.flows.arm_sender(slot);
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
        while let Some(owner) = self.flows.expired(cx.now) {
            match owner {
                Expired::Sender(slot) => {
                    if let Some(flow) = self.flows.senders.get_mut(slot) {
                        flow.time_out();
                        flow.alarm.due = cx.now + self.config.retry;
                    }
                    self.offer(slot);
                    self.flows.arm_sender(slot);
                }
                Expired::Receiver(slot) => {
                    let resend = self.flows.receivers.get_mut(slot).and_then(|flow| {
                        flow.alarm.due = cx.now + self.config.resend;
                        flow.resend()
                    });
                    if let Some((header, body)) = resend {
                        self.outbox.push(header, body);
                    }
                    self.flows.arm_receiver(slot);
                }
            }
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.flows.next_timeout()
    }

    fn poll_transmit(&mut self, _cx: &mut Cx) -> Tx<Note> {
        match self.outbox.pop().or_else(|| self.next_data()) {
            Some(packet) => Tx::Send { packet, id: None },
            None => Tx::Idle,
        }
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn stats(&self) -> Stats {
        Stats { payload: self.payload, ..Stats::default() }
    }

    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(flow) = self.flows.sender_of(flow).and_then(|slot| self.flows.senders.get(slot)) {
            flow.inspect(see);
        }
    }
}

#[cfg(test)]
mod tests;

//! The token transport of one host: all flows that start or end there.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::body::{DATA_CLASS, SIGNAL_CLASS, Ticket, UNSCHEDULED_CLASS};
use super::config::{Config, Ranked, Stop};
use super::receiver::{Arrived, Receiver, Sync};
use super::sender::{Choice, Sender, Word};
use crate::endpoint::{
    Command, Control, CreditStats, Cx, Endpoint, Event, FlowSpec, LocalHost, Path, RxMeta, Stats, Tx,
};
use crate::ids::{FlowId, HostId};
use crate::packet::{Header, Kind, Offset, Packet};
use crate::transport::window::Stamp;
use crate::transport::window::ranges::Interval;
use crate::transport::window::slab::Slab;
use crate::transport::window::timers::{Entry, Owner, Timers};
use crate::units::{Rate, Time};

/// What a host knows of a flow.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// It sends it: place in `senders`.
    Sender(u32),
    /// It receives it: place in `receivers`.
    Receiver(u32),
    /// It received all of it.
    Received,
    /// It sent all of it.
    Sent,
    /// It gave it up.
    Aborted,
}

/// The token transport of one host.
#[derive(Debug)]
pub struct Tokens {
    host: HostId,
    config: Arc<Config>,
    line: Rate,
    roles: FxHashMap<FlowId, Role>,
    senders: Slab<Sender>,
    receivers: Slab<Receiver>,
    outbox: VecDeque<Packet<Ticket>>,
    events: VecDeque<Event>,
    timers: Timers,
    credits: CreditStats,
}

/// The other end of a flow.
#[derive(Clone, Copy, Debug)]
struct Way {
    flow: FlowId,
    dst: HostId,
    entropy: u16,
}

impl Way {
    fn to(sender: &FlowSpec) -> Self {
        Self { flow: sender.id, dst: sender.dst, entropy: sender.entropy }
    }

    fn back(receiver: &Receiver) -> Self {
        Self { flow: receiver.flow, dst: receiver.peer, entropy: receiver.entropy }
    }

    /// To where a packet came from.
    fn answer(header: &Header) -> Self {
        Self { flow: header.flow, dst: header.src, entropy: header.entropy }
    }
}

impl Tokens {
    /// The endpoint of `host`, without flows.
    pub fn new(host: LocalHost, config: Arc<Config>) -> Self {
        Self {
            host: host.id,
            config,
            line: host.line,
            roles: FxHashMap::default(),
            senders: Slab::default(),
            receivers: Slab::default(),
            outbox: VecDeque::new(),
            events: VecDeque::new(),
            timers: Timers::default(),
            credits: CreditStats::default(),
        }
    }

    fn header(&self, way: Way, kind: Kind) -> Header {
        let Way { flow, dst, entropy } = way;
        Header { flow, src: self.host, dst, entropy, kind, ..Header::default() }
    }

    fn signal(&mut self, way: Way, body: Ticket) {
        let kind = if matches!(body, Ticket::Sync { .. }) { Kind::Syn } else { Kind::Signal };
        let wire = self.config.frame.ack_wire();
        let header = Header { wire, class: SIGNAL_CLASS, ..self.header(way, kind) };
        self.outbox.push_back(Packet { header, body });
    }

    fn say(&mut self, slot: u32, word: Option<Word>) {
        let (Some(word), Some(sender)) = (word, self.senders.get(slot)) else { return };
        let FlowSpec { size, deadline, class, .. } = sender.spec;
        let body = match word {
            Word::Sync => Ticket::Sync {
                size: if self.config.priority.tells_size() { size.unwrap_or(u64::MAX) } else { u64::MAX },
                deadline: deadline.unwrap_or(Time::NEVER),
                unscheduled: sender.unscheduled(&self.config),
                asked: class,
            },
            Word::Stop => Ticket::Stop,
            Word::Fin => Ticket::Fin { size: size.unwrap_or(u64::MAX) },
        };
        let (way, told) = (Way::to(&sender.spec), self.config.priority.told(&sender.spec));
        self.signal(way, body);
        if let (Word::Sync, Some(packet)) = (word, self.outbox.back_mut()) {
            packet.header.rank = told;
        }
    }

    fn send(&mut self, slot: u32, packet: u64, body: Ticket) {
        let Some(sender) = self.senders.get(slot) else { return };
        let payload = sender.payload(packet, &self.config);
        let class = if body == Ticket::Unscheduled { UNSCHEDULED_CLASS } else { DATA_CLASS };
        let header = Header {
            offset: Offset::new(packet * u64::from(self.config.frame.mss())),
            payload,
            wire: self.config.frame.data_wire(payload),
            class,
            ..self.header(Way::to(&sender.spec), Kind::Data)
        };
        self.outbox.push_back(Packet { header, body });
    }

    fn arm_sender(&mut self, slot: u32) {
        let Some((generation, sender)) = self.senders.entry(slot) else { return };
        let at = sender.due(&self.config);
        if at < sender.armed {
            self.timers.arm(Entry { at, owner: Owner::Sender(slot), generation }, &mut sender.armed);
        }
    }

    fn arm_receiver(&mut self, slot: u32) {
        let Some((generation, receiver)) = self.receivers.entry(slot) else { return };
        let at = receiver.due(&self.config);
        if at < receiver.armed {
            self.timers.arm(Entry { at, owner: Owner::Receiver(slot), generation }, &mut receiver.armed);
        }
    }

    /// A SYNC arrived: a new flow, or one that asks again.
    fn on_sync(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Ticket>) {
        let header = &packet.header;
        let Some(sync) = Sync::of(packet, u64::from(self.config.frame.mss())) else { return };
        match self.roles.get(&header.flow) {
            Some(&Role::Receiver(slot)) => {
                if let Some(receiver) = self.receivers.get_mut(slot) {
                    receiver.resume(cx.now, sync.asked);
                }
                self.grant(slot, cx);
            }
            Some(Role::Received) => self.signal(Way::answer(header), Ticket::Done),
            Some(_) => {}
            None => {
                let receiver = Receiver::new(header, sync, self.line, cx, &self.config);
                let slot = self.receivers.insert(receiver);
                self.roles.insert(header.flow, Role::Receiver(slot));
                self.end_if_complete(slot, meta.stamp);
                self.grant(slot, cx);
            }
        }
    }

    /// Gives away the token that is due for a flow, if one is.
    fn grant(&mut self, slot: u32, cx: &mut Cx) {
        let Some(receiver) = self.receivers.get_mut(slot) else { return };
        if let Some((seq, (class, rank))) = receiver.token(cx, &self.config) {
            let way = Way::back(receiver);
            let mss = u64::from(self.config.frame.mss());
            let offset = Offset::new(receiver.edge().saturating_mul(mss).min(Offset::MAX));
            let size = self.config.token;
            let wire = size.least + cx.rng.below(u64::from(size.most - size.least) + 1) as u16;
            let header = Header { wire, class, rank, offset, ..self.header(way, Kind::Credit) };
            let body = Ticket::Token { seq, stamp: Stamp::read(cx.clock, cx.now) };
            self.outbox.push_back(Packet { header, body });
            self.credits.issued += 1;
        }
        self.arm_receiver(slot);
    }

    fn on_token(&mut self, cx: &Cx, packet: &Packet<Ticket>) {
        let Ticket::Token { seq, stamp } = packet.body else { return };
        let header = &packet.header;
        let slot = match self.roles.get(&header.flow) {
            Some(&Role::Sender(slot)) => slot,
            Some(Role::Aborted) => {
                self.credits.wasted += 1;
                return self.signal(Way::answer(header), Ticket::Reset);
            }
            _ => {
                self.credits.wasted += 1;
                return;
            }
        };
        let Some(sender) = self.senders.get_mut(slot) else { return };
        if let Some(expiry) = self.config.expiry {
            let age = Stamp::read(cx.clock, cx.now).ticks_since(stamp);
            // The receiver's clock may be ahead: then the difference is below zero.
            if age.cast_signed() > 0 && Stamp(age).since(Stamp(0)) > expiry {
                sender.spent.expired += 1;
                self.credits.expired += 1;
                return;
            }
        }
        let rank = if self.config.ranked == Ranked::Data { header.rank } else { 0 };
        let Choice { packet, word } = sender.token(cx.now, header.offset.get(), &self.config);
        match packet {
            Some(packet) => {
                self.credits.used += 1;
                self.send(slot, packet, Ticket::Data { seq, stamp });
                if let Some(data) = self.outbox.back_mut() {
                    data.header.rank = rank;
                }
            }
            None => self.credits.wasted += 1,
        }
        self.say(slot, word);
        self.arm_sender(slot);
    }

    fn on_data(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Ticket>) {
        let header = &packet.header;
        let slot = match self.roles.get(&header.flow) {
            Some(&Role::Receiver(slot)) => slot,
            _ => return,
        };
        let token = match packet.body {
            Ticket::Data { seq, stamp } => Some((seq, stamp)),
            _ => None,
        };
        let place = header.offset.get() / u64::from(self.config.frame.mss());
        let Some(receiver) = self.receivers.get_mut(slot) else { return };
        let mut missed: Vec<Interval> = Vec::new();
        receiver.arrive(Arrived { packet: place, token }, cx, &self.config, |hole| missed.push(hole));
        let way = Way::back(receiver);
        missed.into_iter().for_each(|hole| self.miss(way, hole));
        if !self.end_if_complete(slot, meta.stamp) {
            self.grant(slot, cx);
        }
    }

    fn miss(&mut self, way: Way, hole: Interval) {
        self.signal(way, Ticket::Miss { first: hole.start, end: hole.end });
    }

    /// Ends a flow of which all arrived, at `at`; whether it was so.
    fn end_if_complete(&mut self, slot: u32, at: Time) -> bool {
        let Some(receiver) = self.receivers.get(slot).filter(|r| r.is_complete()) else { return false };
        let way = Way::back(receiver);
        self.events.push_back(Event::Delivered { flow: way.flow, at, missing: 0 });
        self.roles.insert(way.flow, Role::Received);
        self.receivers.take(slot);
        self.receivers.release(slot);
        self.signal(way, Ticket::Done);
        true
    }

    /// A signal for the receiver of a flow.
    fn on_word(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Ticket>) {
        let header = &packet.header;
        let slot = match self.roles.get(&header.flow) {
            Some(&Role::Receiver(slot)) => slot,
            Some(Role::Received) => return self.signal(Way::answer(header), Ticket::Done),
            // Its SYNC was lost, and the sender will ask again.
            _ => return,
        };
        let mss = u64::from(self.config.frame.mss());
        let Some(receiver) = self.receivers.get_mut(slot) else { return };
        match packet.body {
            Ticket::Stop if self.config.stop == Stop::Sender => receiver.stop(),
            Ticket::Stop => {
                let (way, hole) = (Way::back(receiver), receiver.lowest_hole());
                self.miss(way, hole);
            }
            Ticket::Fin { size } if size != u64::MAX => {
                receiver.ends_at(size.div_ceil(mss));
                if self.end_if_complete(slot, meta.stamp) {
                    return;
                }
            }
            Ticket::Reset => {
                self.roles.insert(header.flow, Role::Aborted);
                self.receivers.take(slot);
                self.receivers.release(slot);
                return;
            }
            _ => {}
        }
        self.grant(slot, cx);
    }

    fn on_miss(&mut self, cx: &Cx, packet: &Packet<Ticket>) {
        let Ticket::Miss { first, end } = packet.body else { return };
        match self.roles.get(&packet.header.flow) {
            Some(&Role::Sender(slot)) => {
                let Some(sender) = self.senders.get_mut(slot) else { return };
                let word = sender.missed(Interval { start: first, end }, cx.now, &self.config);
                self.say(slot, word);
                self.arm_sender(slot);
            }
            Some(Role::Aborted) => self.signal(Way::answer(&packet.header), Ticket::Reset),
            _ => {}
        }
    }

    fn on_done(&mut self, cx: &Cx, flow: FlowId) {
        let Some(&Role::Sender(slot)) = self.roles.get(&flow) else { return };
        let Some(sender) = self.senders.get_mut(slot) else { return };
        sender.done(&self.config);
        self.events.push_back(Event::Completed(sender.report(cx.now)));
        self.forget_sender(slot, flow, Role::Sent);
    }

    fn forget_sender(&mut self, slot: u32, flow: FlowId, role: Role) {
        self.roles.insert(flow, role);
        self.senders.take(slot);
        self.senders.release(slot);
    }

    fn is_live(&self, entry: &Entry) -> bool {
        let armed = match entry.owner {
            Owner::Sender(slot) => self
                .senders
                .get(slot)
                .filter(|_| self.senders.generation(slot) == entry.generation)
                .map(|s| s.armed),
            Owner::Receiver(slot) => self
                .receivers
                .get(slot)
                .filter(|_| self.receivers.generation(slot) == entry.generation)
                .map(|r| r.armed),
        };
        armed == Some(entry.at)
    }

    fn on_sender_timer(&mut self, slot: u32, cx: &Cx) {
        let Some(sender) = self.senders.get_mut(slot) else { return };
        sender.armed = Time::NEVER;
        if sender.reports(cx.now, &self.config) {
            self.events.push_back(Event::Report(sender.report(cx.now)));
        }
        let word = sender.on_timer(cx.now, &self.config);
        self.say(slot, word);
        self.arm_sender(slot);
    }

    fn on_receiver_timer(&mut self, slot: u32, cx: &mut Cx) {
        let Some(receiver) = self.receivers.get_mut(slot) else { return };
        receiver.armed = Time::NEVER;
        if let Some(hole) = receiver.overdue(cx.now, &self.config) {
            let way = Way::back(receiver);
            self.miss(way, hole);
        }
        self.grant(slot, cx);
    }
}

impl Endpoint for Tokens {
    type Body = Ticket;

    fn open(&mut self, cx: &mut Cx, flow: FlowSpec, path: &dyn Fn() -> Path) {
        let sender = Sender::new(flow, path().data.round_trip, cx.now, &self.config);
        let unscheduled = sender.unscheduled(&self.config);
        let slot = self.senders.insert(sender);
        self.roles.insert(flow.id, Role::Sender(slot));
        self.say(slot, Some(Word::Sync));
        (0..unscheduled).for_each(|packet| self.send(slot, u64::from(packet), Ticket::Unscheduled));
        if let Some(sender) = self.senders.get_mut(slot) {
            sender.sent_first(unscheduled);
        }
        self.arm_sender(slot);
    }

    fn control(&mut self, _cx: &mut Cx, command: Command) {
        let Command::Flow(id, control) = command else { return };
        let Some(&Role::Sender(slot)) = self.roles.get(&id) else { return };
        let Some(sender) = self.senders.get_mut(slot) else { return };
        match control {
            Control::Class(class) | Control::Promote(class) => {
                sender.reclassify(class);
                self.events.push_back(Event::ClassChanged { flow: id, class });
                self.say(slot, Some(Word::Sync));
            }
            Control::Abort => {
                let way = Way::to(&sender.spec);
                self.forget_sender(slot, id, Role::Aborted);
                self.signal(way, Ticket::Reset);
            }
            Control::Weights { .. } => {}
        }
    }

    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Ticket>) {
        match packet.body {
            Ticket::Sync { .. } => self.on_sync(cx, meta, packet),
            Ticket::Token { .. } => self.on_token(cx, packet),
            Ticket::Data { .. } | Ticket::Unscheduled => self.on_data(cx, meta, packet),
            Ticket::Miss { .. } => self.on_miss(cx, packet),
            Ticket::Done => self.on_done(cx, packet.header.flow),
            Ticket::Stop | Ticket::Fin { .. } | Ticket::Reset => self.on_word(cx, meta, packet),
            Ticket::Empty => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        while let Some(entry) = self.timers.first().filter(|entry| entry.at <= cx.now) {
            self.timers.pop();
            if !self.is_live(&entry) {
                continue;
            }
            match entry.owner {
                Owner::Sender(slot) => self.on_sender_timer(slot, cx),
                Owner::Receiver(slot) => self.on_receiver_timer(slot, cx),
            }
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.timers.first_at()
    }

    fn poll_transmit(&mut self, _cx: &mut Cx) -> Tx<Ticket> {
        self.outbox.pop_front().map_or(Tx::Idle, |packet| Tx::Send { packet, id: None })
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn stats(&self) -> Stats {
        Stats { credits: Some(self.credits) }
    }

    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(&Role::Sender(slot)) = self.roles.get(&flow)
            && let Some(sender) = self.senders.get(slot)
        {
            see("tokens_used", sender.spent.used as f64);
            see("tokens_wasted", sender.spent.wasted as f64);
            see("tokens_expired", sender.spent.expired as f64);
        }
    }
}

//! The token transport of one host: all flows that start or end there.

use std::collections::VecDeque;
use std::sync::Arc;

use super::body::{DATA_CLASS, SIGNAL_CLASS, TokenMessage, UNSCHEDULED_CLASS};
use super::config::{Config, RankedPackets, Stop};
use super::outbox::{Outbox, Queued};
use super::receiver::{DataArrival, Receiver, Sync};
use super::sender::{Sender, SenderSignal, TokenResponse};
use crate::endpoint::{
    Command, Control, CreditStats, Cx, Endpoint, Event, FlowRequest, LocalHost, PathInfo, PayloadStats,
    Rejection, RxMeta, Stats, Tx,
};
use crate::ids::{FlowId, HostId};
use crate::packet::{Frame, Header, Kind, Offset, Packet};
use crate::transport::common::{
    Ask, AskLimit, Expired, FlowKey, FlowTable, Incoming, Interval, Peers, Stamp,
};
use crate::transport::{Cost, Machine, Reports};
use crate::units::{Rate, Span, Time};

/// The way in which a flow ended at its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// All data arrived.
    Received,
    /// It is not received: its sender aborted it, or this host refused it or gave it up.
    Rejected(Rejection),
}

/// The token transport of a host.
#[derive(Debug)]
pub struct Tokens {
    host: HostId,
    config: Arc<Config>,
    line: Rate,
    flows: FlowTable<Sender, Receiver, End>,
    outbox: Outbox,
    events: VecDeque<Event>,
    peers: Peers,
    /// Limit on what senders that do not answer are asked for, on a real host.
    ask_limit: Option<Box<AskLimit>>,
    /// Bytes of the longest flow that is received.
    longest: u64,
    /// The lateness of tokens that is made up for.
    catch_up: Span,
    credits: CreditStats,
    payload: PayloadStats,
}

/// The remote end of a flow, as an address for packets.
#[derive(Clone, Copy, Debug)]
struct RemoteEnd {
    flow: FlowId,
    dst: HostId,
    entropy: u16,
}

impl RemoteEnd {
    fn to(sender: &FlowRequest) -> Self {
        Self { flow: sender.id, dst: sender.dst, entropy: sender.entropy }
    }

    fn back(receiver: &Receiver) -> Self {
        Self { flow: receiver.flow, dst: receiver.peer, entropy: receiver.entropy }
    }

    /// Returns the sender of a packet as the remote end.
    fn answer(header: &Header) -> Self {
        Self { flow: header.flow, dst: header.src, entropy: header.entropy }
    }
}

impl Machine for Tokens {
    type Config = Config;

    fn new(host: LocalHost, config: Arc<Config>) -> Self {
        Self {
            host: host.id,
            line: host.line,
            flows: FlowTable::new(&host),
            outbox: Outbox::new(&host, config.frame.max_wire()),
            ask_limit: AskLimit::new(&host, config.frame.max_wire()),
            longest: host.real.map_or(u64::MAX, |real| real.longest),
            config,
            events: VecDeque::new(),
            peers: Peers::new(&host),
            catch_up: host.catch_up(),
            credits: CreditStats::default(),
            payload: PayloadStats::default(),
        }
    }

    fn frame(config: &Config) -> Frame {
        config.frame
    }

    fn reports(config: &Config) -> Reports {
        Reports::each(config.monitor)
    }

    fn cost(_: &Config) -> Cost {
        // A token per packet; SYNC, STOP, DONE per flow.
        Cost { instructions: 1.9, control: 1.0, per_flow: 3.0 }
    }
}

impl Tokens {
    fn header(&self, way: RemoteEnd, kind: Kind) -> Header {
        let RemoteEnd { flow, dst, entropy } = way;
        Header { flow, src: self.host, dst, entropy, kind, ..Header::default() }
    }

    fn signal(&mut self, way: RemoteEnd, body: TokenMessage) {
        self.ranked_signal(way, body, 0);
    }

    fn ranked_signal(&mut self, way: RemoteEnd, body: TokenMessage, rank: u64) {
        let kind = if matches!(body, TokenMessage::Sync { .. }) { Kind::Syn } else { Kind::Signal };
        let wire = self.config.frame.ack_wire();
        let header = Header { wire, class: SIGNAL_CLASS, rank, ..self.header(way, kind) };
        self.outbox.push(Packet { header, body });
    }

    fn send_signal(&mut self, slot: u32, signal: Option<SenderSignal>) {
        let (Some(signal), Some(sender)) = (signal, self.flows.senders.get(slot)) else { return };
        let FlowRequest { size, deadline, class, .. } = sender.spec;
        let body = match signal {
            SenderSignal::Sync => TokenMessage::Sync {
                size: if self.config.priority.tells_size() { size.unwrap_or(u64::MAX) } else { u64::MAX },
                deadline: deadline.unwrap_or(Time::NEVER),
                unscheduled: sender.unscheduled(&self.config),
                asked: class,
            },
            SenderSignal::Stop => TokenMessage::Stop,
            SenderSignal::Fin => TokenMessage::Fin { size: size.unwrap_or(u64::MAX) },
        };
        let rank = match signal {
            SenderSignal::Sync => self.config.priority.announced_key(&sender.spec, self.config.frame.mss()),
            SenderSignal::Stop | SenderSignal::Fin => 0,
        };
        self.ranked_signal(RemoteEnd::to(&sender.spec), body, rank);
    }

    fn send(&mut self, slot: u32, packet: u64, body: TokenMessage, rank: u64) {
        let Some(sender) = self.flows.senders.get(slot) else { return };
        let payload = sender.payload(packet, &self.config);
        let class = if body == TokenMessage::Unscheduled { UNSCHEDULED_CLASS } else { DATA_CLASS };
        let header = Header {
            offset: Offset::new(packet * u64::from(self.config.frame.mss())),
            payload,
            wire: self.config.frame.data_wire(payload),
            class,
            rank,
            ..self.header(RemoteEnd::to(&sender.spec), Kind::Data)
        };
        self.outbox.push(Packet { header, body });
    }

    fn arm_sender(&mut self, slot: u32) {
        if let Some(sender) = self.flows.senders.get_mut(slot) {
            sender.alarm.due = sender.next_action(&self.config);
            self.flows.arm_sender(slot);
        }
    }

    fn arm_receiver(&mut self, slot: u32) {
        if let Some(receiver) = self.flows.receivers.get_mut(slot) {
            receiver.alarm.due = receiver.next_action(&self.config);
            self.flows.arm_receiver(slot);
        }
    }

    /// Handles a SYNC: a new flow, or a repeated request.
    fn on_sync(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<TokenMessage>) {
        let header = &packet.header;
        let Some(sync) = Sync::of(packet, u64::from(self.config.frame.mss())) else { return };
        let key = FlowKey::of(header);
        match self.flows.incoming(key) {
            Some(Incoming::Active(slot)) => {
                self.requested(key);
                if let Some(receiver) = self.flows.receivers.get_mut(slot) {
                    receiver.resume(cx.now, sync.asked);
                }
                self.grant(slot, cx);
            }
            Some(Incoming::Ended(End::Received)) => {
                self.signal(RemoteEnd::answer(header), TokenMessage::Done)
            }
            Some(Incoming::Ended(End::Rejected(why))) => self.reject(key, why),
            None if self.is_too_long(packet) => {
                self.flows.refuse(key, End::Rejected(Rejection::TooLong), cx.now);
                self.reject(key, Rejection::TooLong);
            }
            None => {
                if !self.flows.admits(key) {
                    return;
                }
                self.requested(key);
                let receiver = Receiver::new(header, sync, self.line, cx, &self.config);
                let slot = self.flows.add_receiver(key, receiver, cx.now);
                self.end_if_complete(slot, cx.now, meta);
                self.grant(slot, cx);
            }
        }
    }

    fn is_too_long(&self, packet: &Packet<TokenMessage>) -> bool {
        matches!(packet.body, TokenMessage::Sync { size, .. } if size != u64::MAX && size > self.longest)
    }

    /// Tells the driver of a real host that a packet arrived of a flow that is not received.
    fn reject(&mut self, key: FlowKey, why: Rejection) {
        if self.peers.is_measuring() {
            self.events.push_back(Event::Rejected { src: key.src(), flow: key.flow(), why });
        }
    }

    /// Records a request of a sender for tokens.
    fn requested(&mut self, key: FlowKey) {
        if let Some(limit) = &mut self.ask_limit {
            limit.requested(key.src(), self.peers.base_rtt(key.src()));
        }
    }

    /// Returns true if a token of the flow at `slot` is due and its sender may be asked for a packet. If the sender may not
    /// be asked, the flow waits. Always true in a simulator.
    #[inline]
    fn may_ask(&mut self, slot: u32, now: Time) -> bool {
        let Some(limit) = &mut self.ask_limit else { return true };
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return false };
        if !receiver.is_due(now) {
            return false;
        }
        let key = FlowKey::new(receiver.peer, receiver.flow);
        if limit.is_spent(key.src()) {
            if receiver.wait() {
                limit.wait(key);
            }
            return false;
        }
        self.ask(key.src());
        true
    }

    /// Counts a token, or a request for a retransmission, for `src`.
    fn ask(&mut self, src: HostId) {
        if self.ask_limit.as_mut().is_some_and(|limit| limit.ask(src, 1) == Ask::Last) {
            self.events.push_back(Event::Unanswered { src });
        }
    }

    /// Records that a packet with new data of the flow at `slot` arrived: flows that waited for their sender go on.
    fn answered(&mut self, slot: u32, cx: &mut Cx) {
        let (Some(limit), Some(receiver)) = (&mut self.ask_limit, self.flows.receivers.get_mut(slot)) else {
            return;
        };
        let src = receiver.peer;
        limit.answered(src);
        receiver.go_on(cx.now);
        for _ in 0..AskLimit::WAKE_UPS {
            let next = self.ask_limit.as_mut().and_then(|limit| limit.next_waiting(src));
            let Some(waiting) = next.map(|key| self.flows.receiver_of(key)) else { return };
            if let Some(slot) = waiting
                && let Some(receiver) = self.flows.receivers.get_mut(slot)
            {
                receiver.go_on(cx.now);
                self.grant(slot, cx);
            }
        }
    }

    /// Sends the token of a flow that is due, if any.
    fn grant(&mut self, slot: u32, cx: &mut Cx) {
        if self.may_ask(slot, cx.now) {
            self.send_token(slot, cx);
        }
        self.arm_receiver(slot);
    }

    fn send_token(&mut self, slot: u32, cx: &mut Cx) {
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return };
        // Tokens that are late would be dropped one by one, which takes longer than their lateness.
        let catch_up = if self.outbox.is_full() { Span::ZERO } else { self.catch_up };
        if let Some((seq, (class, rank))) = receiver.token(cx, catch_up, &self.config) {
            let way = RemoteEnd::back(receiver);
            let mss = u64::from(self.config.frame.mss());
            let offset = Offset::new(receiver.edge().saturating_mul(mss).min(Offset::MAX));
            let size = self.config.token;
            let wire = size.least + cx.rng.below(u64::from(size.most - size.least) + 1) as u16;
            let header = Header { wire, class, rank, offset, ..self.header(way, Kind::Credit) };
            let body = TokenMessage::Token { seq, stamp: Stamp::read(cx.clock, cx.now) };
            if self.outbox.push_token(Packet { header, body }) == Queued::Yes {
                self.credits.issued += 1;
            }
        }
    }

    fn on_token(&mut self, cx: &Cx, packet: &Packet<TokenMessage>) {
        let TokenMessage::Token { seq, stamp } = packet.body else { return };
        let header = &packet.header;
        let Some(slot) = self.flows.answered(header) else {
            self.credits.wasted += 1;
            return self.answer_if_aborted(header);
        };
        self.measure(slot, cx.now);
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if let Some(expiry) = self.config.expiry {
            let ticks = Stamp::read(cx.clock, cx.now).ticks_since(stamp);
            let age = self.peers.age(header.src, ticks, cx.now);
            // If the receiver's clock is ahead, the difference is negative.
            if age.cast_signed() > 0 && Stamp(age).since(Stamp(0)) > expiry {
                sender.usage.expired += 1;
                self.credits.expired += 1;
                return;
            }
        }
        let rank = if self.config.ranked == RankedPackets::Data { header.rank } else { 0 };
        let before = sender.acked();
        let TokenResponse { packet, signal } = sender.token(cx.now, header.offset.get(), &self.config);
        if self.peers.is_measuring() && sender.acked() > before {
            self.events.push_back(Event::Acked { flow: header.flow, bytes: sender.acked() });
        }
        match packet {
            Some(packet) => {
                self.credits.used += 1;
                self.send(slot, packet, TokenMessage::Data { seq, stamp }, rank);
            }
            None => self.credits.wasted += 1,
        }
        self.send_signal(slot, signal);
        self.arm_sender(slot);
    }

    fn on_data(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<TokenMessage>) {
        let header = &packet.header;
        let Some(slot) = self.flows.receiver_of(FlowKey::of(header)) else { return };
        let token = match packet.body {
            TokenMessage::Data { seq, stamp } => Some((seq, stamp)),
            _ => None,
        };
        let place = header.offset.get() / u64::from(self.config.frame.mss());
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return };
        let before = receiver.edge();
        if self.peers.is_measuring() && !receiver.is_whole(header, self.config.frame.mss()) {
            return;
        }
        let mut missed: Vec<Interval> = Vec::new();
        let (arrived, seen) = (DataArrival { packet: place, token }, self.payload.packets);
        receiver.arrive(arrived, cx, &self.config, &mut self.payload, |hole| missed.push(hole));
        let way = RemoteEnd::back(receiver);
        if self.payload.packets == seen && !self.peers.is_measuring() {
            self.events.push_back(Event::Duplicate { flow: header.flow });
        }
        missed.into_iter().for_each(|hole| self.miss(way, hole));
        if self.peers.is_measuring() {
            self.flows.heard(slot, cx.now);
            self.readable(slot, before);
            if self.payload.packets > seen {
                self.answered(slot, cx);
            } else {
                self.requested(FlowKey::of(header));
            }
        }
        if !self.end_if_complete(slot, cx.now, meta) {
            self.grant(slot, cx);
        }
    }

    /// Measures the round-trip time with the first token of a flow.
    #[inline]
    fn measure(&mut self, slot: u32, now: Time) {
        if self.peers.is_measuring()
            && let Some(sender) = self.flows.senders.get_mut(slot)
            && let Some(rtt) = sender.first_token(now)
        {
            self.peers.answered(sender.spec.dst, rtt, now);
        }
    }

    /// Reports to the application what it can read; `before` packets were in order previously.
    fn readable(&mut self, slot: u32, before: u64) {
        let Some(receiver) = self.flows.receivers.get(slot).filter(|receiver| receiver.edge() > before)
        else {
            return;
        };
        let bytes = receiver.in_order(self.config.frame.mss());
        self.events.push_back(Event::Readable { src: receiver.peer, flow: receiver.flow, bytes });
    }

    fn miss(&mut self, way: RemoteEnd, hole: Interval) {
        self.signal(way, TokenMessage::Miss { first: hole.start, end: hole.end });
    }

    /// Ends a flow if all of it has arrived with the packet of `meta`; returns true if so.
    fn end_if_complete(&mut self, slot: u32, now: Time, meta: RxMeta) -> bool {
        let Some(receiver) = self.flows.receivers.get(slot).filter(|r| r.is_complete()) else { return false };
        let way = RemoteEnd::back(receiver);
        self.events.push_back(Event::Delivered { src: way.dst, flow: way.flow, at: meta.stamp, missing: 0 });
        self.flows.end_receiver(FlowKey::new(way.dst, way.flow), End::Received, now);
        self.signal(way, TokenMessage::Done);
        true
    }

    /// Handles a signal for the receiver of a flow.
    fn on_word(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<TokenMessage>) {
        let header = &packet.header;
        let key = FlowKey::of(header);
        let slot = match self.flows.incoming(key) {
            Some(Incoming::Active(slot)) => {
                self.requested(key);
                slot
            }
            Some(Incoming::Ended(End::Received)) => {
                return self.signal(RemoteEnd::answer(header), TokenMessage::Done);
            }
            Some(Incoming::Ended(End::Rejected(why))) => {
                if packet.body != TokenMessage::Reset {
                    self.reject(key, why);
                }
                return;
            }
            // Its SYNC was lost, and the sender will retry.
            None => return,
        };
        let mss = u64::from(self.config.frame.mss());
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return };
        match packet.body {
            TokenMessage::Stop if self.config.stop == Stop::Sender => {
                let (was_waiting, way, hole) =
                    (receiver.is_waiting(), RemoteEnd::back(receiver), receiver.lowest_hole());
                receiver.stop();
                if was_waiting {
                    // The sender has sent all, and asks for the first time since it was asked in vain.
                    self.miss(way, hole);
                }
            }
            TokenMessage::Stop => {
                let (way, hole) = (RemoteEnd::back(receiver), receiver.lowest_hole());
                self.miss(way, hole);
            }
            TokenMessage::Fin { size } if size != u64::MAX => {
                receiver.ends_at(size.div_ceil(mss));
                if self.end_if_complete(slot, cx.now, meta) {
                    return;
                }
            }
            TokenMessage::Reset => {
                self.flows.end_receiver(key, End::Rejected(Rejection::GivenUp), cx.now);
                return self.forgotten(key);
            }
            _ => {}
        }
        self.grant(slot, cx);
    }

    /// Tells the driver of a real host that a flow ended that is not complete.
    fn forgotten(&mut self, key: FlowKey) {
        if self.peers.is_measuring() {
            self.events.push_back(Event::Forgotten { src: key.src(), flow: key.flow() });
        }
    }

    fn on_miss(&mut self, cx: &Cx, packet: &Packet<TokenMessage>) {
        let TokenMessage::Miss { first, end } = packet.body else { return };
        let Some(slot) = self.flows.answered(&packet.header) else {
            return self.answer_if_aborted(&packet.header);
        };
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        let signal = sender.missed(Interval { start: first, end }, cx.now, &self.config);
        self.send_signal(slot, signal);
        self.arm_sender(slot);
    }

    /// Tells the receiver of a flow that was aborted by this host that no more data will be sent.
    fn answer_if_aborted(&mut self, header: &Header) {
        if self.flows.is_aborted(header.flow) {
            self.signal(RemoteEnd::answer(header), TokenMessage::Reset);
        }
    }

    fn on_done(&mut self, cx: &Cx, header: &Header) {
        let Some(slot) = self.flows.answered(header) else { return };
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.done(&self.config);
        self.events.push_back(Event::Completed(sender.report(cx.now)));
        self.flows.remove_sender(header.flow);
    }

    /// Forgets what is known of a flow that is or was received here.
    fn forget_received(&mut self, key: FlowKey) {
        self.flows.remove_receiver(key);
        self.flows.forget_ended(key);
    }

    fn forget_host(&mut self, host: HostId) {
        for flow in self.flows.sent_to(host) {
            self.flows.remove_sender(flow);
        }
        for key in self.flows.received_from(host) {
            self.flows.remove_receiver(key);
        }
        self.flows.forget_ended_of(host);
        self.peers.forget(host);
        self.outbox.forget(host);
        if let Some(limit) = &mut self.ask_limit {
            limit.forget(host);
        }
    }

    fn on_sender_timer(&mut self, slot: u32, cx: &Cx) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if sender.reports(cx.now, &self.config) {
            self.events.push_back(Event::Report(sender.report(cx.now)));
        }
        let signal = sender.on_timer(cx.now, &self.config);
        self.send_signal(slot, signal);
        self.arm_sender(slot);
    }

    fn on_receiver_timer(&mut self, slot: u32, cx: &mut Cx) {
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return };
        let key = FlowKey::new(receiver.peer, receiver.flow);
        if let Some(limit) = &mut self.ask_limit
            && limit.is_spent(key.src())
        {
            if receiver.wait() {
                limit.wait(key);
            }
        } else if let Some(hole) = receiver.overdue(cx.now, &self.config) {
            let way = RemoteEnd::back(receiver);
            self.miss(way, hole);
            self.ask(key.src());
        }
        self.grant(slot, cx);
    }
}

impl Endpoint for Tokens {
    type Body = TokenMessage;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        let known = path();
        let rtt = self.peers.path(flow.dst, &known).longest_round_trip();
        let mut sender = Sender::new(flow, rtt, cx.now, &self.config);
        sender.measures_rtt = known.data.is_none();
        let unscheduled = sender.unscheduled(&self.config);
        let slot = self.flows.add_sender(flow.id, sender);
        self.send_signal(slot, Some(SenderSignal::Sync));
        (0..unscheduled).for_each(|packet| self.send(slot, u64::from(packet), TokenMessage::Unscheduled, 0));
        if let Some(sender) = self.flows.senders.get_mut(slot) {
            sender.sent_first(unscheduled);
        }
        self.arm_sender(slot);
    }

    fn control(&mut self, cx: &mut Cx, command: Command) {
        let (id, control) = match command {
            Command::Flow(id, control) => (id, control),
            Command::Thresholds(_) => return,
            Command::ForgetHost(host) => return self.forget_host(host),
            Command::ForgetReceived { src, flow } => return self.forget_received(FlowKey::new(src, flow)),
            Command::EndReceived { src, flow } => {
                let end = End::Rejected(Rejection::GivenUp);
                return self.flows.refuse(FlowKey::new(src, flow), end, cx.now);
            }
            Command::NoRoom { src, flow } => {
                if let Some(slot) = self.flows.receiver_of(FlowKey::new(src, flow)) {
                    self.flows.heard(slot, cx.now);
                }
                return;
            }
        };
        let Some(slot) = self.flows.sender_of(id) else { return };
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        match control {
            Control::Class(class) | Control::Promote(class) => {
                sender.reclassify(class);
                self.events.push_back(Event::ClassChanged { flow: id, class });
                self.send_signal(slot, Some(SenderSignal::Sync));
            }
            Control::Abort => {
                let way = RemoteEnd::to(&sender.spec);
                self.flows.abort_sender(id, cx.now);
                self.signal(way, TokenMessage::Reset);
            }
            Control::Weights { .. } => {}
        }
    }

    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<TokenMessage>) {
        match packet.body {
            TokenMessage::Sync { .. } => self.on_sync(cx, meta, packet),
            TokenMessage::Token { .. } => self.on_token(cx, packet),
            TokenMessage::Data { .. } | TokenMessage::Unscheduled => self.on_data(cx, meta, packet),
            TokenMessage::Miss { .. } => self.on_miss(cx, packet),
            TokenMessage::Done => self.on_done(cx, &packet.header),
            TokenMessage::Stop | TokenMessage::Fin { .. } | TokenMessage::Reset => {
                self.on_word(cx, meta, packet)
            }
            TokenMessage::Empty => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        while let Some(owner) = self.flows.expired(cx.now) {
            match owner {
                Expired::Sender(slot) => self.on_sender_timer(slot, cx),
                Expired::Receiver(slot) => self.on_receiver_timer(slot, cx),
                Expired::Idle(key) => {
                    self.flows.refuse(key, End::Rejected(Rejection::GivenUp), cx.now);
                    self.forgotten(key);
                }
            }
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.flows.next_timeout()
    }

    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<TokenMessage> {
        let Some(mut packet) = self.outbox.pop() else { return Tx::Idle };
        if self.peers.is_measuring()
            && let TokenMessage::Token { stamp, .. } = &mut packet.body
        {
            // The token may have been queued here.
            *stamp = Stamp::read(cx.clock, cx.now);
        }
        Tx::Send { packet, id: None }
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn is_receiving(&self, src: HostId, flow: FlowId) -> bool {
        self.flows.receiver_of(FlowKey::new(src, flow)).is_some()
    }

    fn stats(&self) -> Stats {
        Stats { credits: Some(self.credits), payload: self.payload, receiving: self.flows.receiving_now() }
    }

    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(slot) = self.flows.sender_of(flow)
            && let Some(sender) = self.flows.senders.get(slot)
        {
            see("tokens_used", sender.usage.used as f64);
            see("tokens_wasted", sender.usage.wasted as f64);
            see("tokens_expired", sender.usage.expired as f64);
        }
    }
}

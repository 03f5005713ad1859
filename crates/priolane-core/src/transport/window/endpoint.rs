//! The window transport of one host: all flows that start or end there.
//!
//! A packet takes one lookup in the flow map; flows live in two tables (senders, receivers) with reusable slots.
//! Control packets (ACK, SYN, SYN/ACK) leave first, in FIFO order. Then the host scheduler picks among the flows
//! that may send. A flow is offered to the scheduler when an ACK, a timer or its own last packet makes it able to
//! send. It is checked again when the scheduler picks it: if it has nothing to send by then, the scheduling slot is
//! skipped; if it has only a packet of a worse level, it is offered again at that level.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::acks::{DecodedAck, Echoed};
use super::body::Segment;
use super::config::{Config, ControlEcn, Handshake};
use super::controller::{CongestionControl, FlowStart, ProbeReply, SendPermission};
use super::outbox::Outbox;
use super::receiver::{Ack, Arrival, Ce, Content, Echo, Receiver};
use super::recovery::State;
use super::sender::{Plan, Sender};
use super::stream::Acked;
use crate::endpoint::{
    Command, Control, Cx, Departure, Endpoint, Event, FlowRequest, LocalHost, PathInfo, PayloadStats,
    Rejection, RxMeta, SendId, Stats, ThresholdSet, Thresholds, Tx, Waiting,
};
use crate::host::{AnyScheduler, HostScheduler, SchedulerKind};
use crate::ids::{ConnectionId, FlowId, HostId};
use crate::packet::{Header, Kind, Marks, Offset, Packet};
use crate::telemetry::Telemetry;
use crate::transport::common::{
    Expired, FlowKey, FlowTable, Incoming, Interval, Peers, Sample, Sending, Stamp,
};
use crate::units::{Span, Time};

/// The host stores every flow it ever received; for ended flows it stores the length, to acknowledge late
/// retransmissions. The length 0 stands for a flow that is not received.
const _: () = assert!(size_of::<(FlowKey, Incoming<Offset>)>() == 16);

/// The length of a flow that this host refused or gave up, or its sender did.
const NOT_RECEIVED: Offset = Offset::new(0);

/// Identifies a segment in the host's transmit queue.
#[derive(Clone, Copy, Debug)]
struct QueuedSegment {
    slot: u32,
    generation: u16,
    /// Above zero, so that the id is nonzero.
    len: u16,
}

impl QueuedSegment {
    fn name(self) -> Option<SendId> {
        let bits = u64::from(self.slot) << 32 | u64::from(self.generation) << 16 | u64::from(self.len);
        NonZeroU64::new(bits).map(SendId)
    }

    fn named(id: SendId) -> Self {
        let bits = id.0.get();
        Self { slot: (bits >> 32) as u32, generation: (bits >> 16) as u16, len: bits as u16 }
    }
}

/// The delays measured from the reply to a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    pub(super) rtt: Span,
    pub(super) one_way_ps: i64,
    pub(super) host_delay: Span,
}

impl Delays {
    #[inline]
    pub(super) fn of<T>(answer: &Packet<Segment<T>>, cx: &Cx, meta: RxMeta) -> Self {
        Self {
            rtt: Stamp::read(cx.clock, cx.now).since(answer.body.stamp) + meta.noise,
            one_way_ps: Stamp::difference_ps(answer.body.one_way).saturating_add_unsigned(meta.noise.0),
            host_delay: cx.now.since(meta.stamp),
        }
    }
}

/// A connection of a host: the other end, the group of its flows, and its number.
type ConnectionKey = (HostId, u16, ConnectionId);

/// The window transport of a host, with controller `C` and host scheduler `S`. `FAST` is false only in tests and
/// disables the fast path.
#[derive(Debug)]
pub struct Window<C: CongestionControl, S: HostScheduler, const FAST: bool = true> {
    pub(super) host: HostId,
    /// Shared by all hosts, so that it stays in the cache.
    pub(super) config: Arc<Config>,
    controller: C::Config,
    pub(super) scheduler: S,
    pub(super) flows: FlowTable<Sender<C>, Receiver<C::Telemetry>, Offset>,
    /// Hosts with which this host has completed a handshake.
    known: FxHashSet<HostId>,
    /// The slots of connections that stay open. They and their flows are remembered until the run ends.
    connections: FxHashMap<ConnectionKey, u32>,
    pub(super) outbox: Outbox<C::Telemetry>,
    events: VecDeque<Event>,
    pub(super) peers: Peers,
    /// The lateness of paced packets that is made up for.
    catch_up: Span,
    pub(super) payload: PayloadStats,
}

/// The window transport with a host scheduler chosen at run time.
pub type WindowEndpoint<C> = Window<C, AnyScheduler>;

impl<C: CongestionControl> WindowEndpoint<C> {
    /// Creates the endpoint of `host` with a scheduler of `kind`.
    pub fn with_kind(
        host: LocalHost,
        config: Arc<Config>,
        controller: C::Config,
        kind: SchedulerKind,
    ) -> Self {
        Self::new(host, config, controller, AnyScheduler::from(kind))
    }
}

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Window<C, S, FAST> {
    /// Creates the endpoint of `host`, without flows.
    pub fn new(host: LocalHost, config: Arc<Config>, controller: C::Config, scheduler: S) -> Self {
        let ecn = if C::ECN { config.control_ecn } else { ControlEcn::No };
        Self {
            outbox: Outbox::new(&host, &config, ecn),
            host: host.id,
            config,
            controller,
            scheduler,
            flows: FlowTable::new(&host),
            known: FxHashSet::default(),
            connections: FxHashMap::default(),
            events: VecDeque::new(),
            peers: Peers::new(&host),
            catch_up: host.catch_up(),
            payload: PayloadStats::default(),
        }
    }

    /// Returns the controller of a flow that this host still sends; for tests and traces.
    pub fn controller(&self, flow: FlowId) -> Option<&C> {
        let slot = self.flows.sender_of(flow)?;
        self.flows.senders.get(slot).map(|sender| &sender.controller)
    }

    /// Sends a SYN and starts the timer for it.
    fn send_syn(&mut self, slot: u32, cx: &Cx) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.deadline = cx.now + sender.rto.timeout(&self.config);
        let header = Header {
            flow: sender.id,
            dst: sender.dst,
            entropy: sender.entropy,
            kind: Kind::Syn,
            ..Header::default()
        };
        let body = Segment { stamp: Stamp::read(cx.clock, cx.now), ..Segment::default() };
        self.outbox.push(Packet { header, body });
        self.flows.arm_sender(slot);
    }

    /// Adds a flow to the connection at `slot`.
    fn append(&mut self, slot: u32, flow: FlowRequest, now: Time) {
        self.flows.add_to_sender(flow.id, slot);
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.append(flow, now, &self.config);
        sender.refresh_pacing(now);
        self.refresh(slot);
        self.flows.arm_sender(slot);
    }

    /// Updates the plan and the scheduler after a change of a flow's state.
    #[inline]
    fn refresh(&mut self, slot: u32) {
        if let Some(sender) = self.flows.senders.get_mut(slot) {
            sender.refresh(slot, &self.config, &mut self.scheduler);
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

    /// Removes a flow that this host sends.
    fn forget_sender(&mut self, flow: FlowId) {
        if let Some((slot, sender)) = self.flows.take_sender(flow)
            // If the scheduler still holds the slot, it is freed when the scheduler picks it.
            && sender.offered.is_none()
        {
            self.flows.senders.release(slot);
        }
        self.flows.drop_dead_timers();
    }

    #[inline(never)]
    fn on_data(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let header = &packet.header;
        let start = header.offset.get();
        let len = match header.kind {
            Kind::Signal => u64::from(packet.body.sack[0].1),
            _ => u64::from(header.payload),
        };
        if len == 0 || start + len > Offset::MAX {
            return;
        }
        let arrival = Arrival {
            bytes: Interval { start, end: start + len },
            content: if header.kind == Kind::Signal { Content::GivenUp } else { Content::Payload },
            marks: header.marks,
            stamp: packet.body.stamp,
            read: Stamp::read(cx.clock, meta.stamp),
            entropy: header.entropy,
            now: cx.now,
            telemetry: packet.body.telemetry,
        };
        match self.receiving(header, cx.now) {
            Some(Incoming::Active(slot)) => self.receive(slot, &arrival, meta.stamp),
            Some(Incoming::Ended(NOT_RECEIVED)) => self.reject(FlowKey::of(header)),
            Some(Incoming::Ended(end)) => self.acknowledge_again(end.get(), header, &arrival),
            None => {}
        }
    }

    /// Tells the driver of a real host that a packet arrived of a flow that is not received.
    fn reject(&mut self, key: FlowKey) {
        if self.peers.is_measuring() {
            let (src, flow) = (key.src(), key.flow());
            self.events.push_back(Event::Rejected { src, flow, why: Rejection::GivenUp });
        }
    }

    /// Returns the state of the flow of a packet from its sender, and creates a receiver if there is none. `None`
    /// if the packet is trimmed, or if its sender has too many flows.
    fn receiving(&mut self, header: &Header, now: Time) -> Option<Incoming<Offset>> {
        if header.marks.has(Marks::TRIMMED) {
            return None;
        }
        let key = FlowKey::of(header);
        let known = self.flows.incoming(key);
        if known.is_some() {
            return known;
        }
        if !self.flows.admits(key) {
            return None;
        }
        let receiver = Receiver::new(header.flow, header.src);
        Some(Incoming::Active(self.flows.add_receiver(key, receiver, now)))
    }

    fn receive(&mut self, slot: u32, arrival: &Arrival<C::Telemetry>, stamp: Time) {
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return };
        let before = receiver.in_order();
        receiver.receive(arrival, &self.config, &mut self.payload, |ack| self.outbox.push(ack.packet()));
        if let Some(limit) = &mut self.flows.limit {
            limit.heard(slot, arrival.now);
            if receiver.in_order() > before {
                let (src, flow, bytes) = (receiver.src(), receiver.flow(), receiver.in_order());
                self.events.push_back(Event::Readable { src, flow, bytes });
            }
        }
        match receiver.complete() {
            Some(end) => {
                let (key, missing) = (receiver.key(), receiver.missing());
                let (src, flow) = (receiver.src(), receiver.flow());
                self.events.push_back(Event::Delivered { src, flow, at: stamp, missing });
                self.flows.end_receiver(key, Offset::new(end), arrival.now);
                self.flows.drop_dead_timers();
            }
            None => self.flows.arm_receiver(slot),
        }
    }

    /// Acknowledges a retransmission for a flow that has arrived completely.
    fn acknowledge_again(&mut self, end: u64, header: &Header, arrival: &Arrival<C::Telemetry>) {
        let echo = Echo {
            stamp: arrival.stamp,
            one_way: arrival.read.ticks_since(arrival.stamp),
            entropy: arrival.entropy,
            ce: Ce::of(arrival.marks),
            telemetry: arrival.telemetry,
        };
        let ack = Ack { to: header.src, flow: header.flow, cumulative: end, sack: [(0, 0); 2], echo };
        self.outbox.push(ack.packet());
    }

    fn on_syn(&mut self, now: Time, packet: &Packet<Segment<C::Telemetry>>) {
        match self.receiving(&packet.header, now) {
            None => return,
            Some(Incoming::Ended(NOT_RECEIVED)) => return self.reject(FlowKey::of(&packet.header)),
            Some(_) => {}
        }
        let Header { flow, src, entropy, .. } = packet.header;
        let header = Header { flow, dst: src, entropy, kind: Kind::SynAck, ..Header::default() };
        self.outbox.push(Packet { header, body: Segment { stamp: packet.body.stamp, ..Segment::default() } });
    }

    /// Handles a SYN/ACK or an ACK of data for a flow that this host sends.
    #[inline(never)]
    fn on_answer(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let header = &packet.header;
        // The last packet of a handshake also arrives as an ACK, but at the receiver; it carries no information.
        let Some(slot) = self.flows.answered(header) else { return };
        let mut delays = Delays::of(packet, cx, meta);
        if header.kind == Kind::SynAck {
            self.establish(slot, cx.now, delays.rtt);
        } else {
            if self.peers.is_measuring() {
                delays.one_way_ps = self.peers.one_way(slot, packet.body.one_way, (cx.now, delays.rtt));
            }
            self.take_ack(slot, cx.now, delays, packet);
        }
    }

    /// Processes a packet that the fast path did not.
    #[inline(never)]
    fn on_unexpected(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        match packet.header.kind {
            Kind::Data | Kind::Signal => self.on_data(cx, meta, packet),
            Kind::Ack | Kind::SynAck => self.on_answer(cx, meta, packet),
            Kind::Syn => self.on_syn(cx.now, packet),
            Kind::Probe => self.on_probe(cx, meta, packet),
            Kind::Credit | Kind::Pause => {}
        }
    }

    /// Handles a probe for a flow that this host receives, or the reply to one of its own.
    fn on_probe(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let header = &packet.header;
        if header.marks.has(Marks::ECHO) {
            self.on_probe_answer(cx, meta, packet);
        } else if self.receiving(header, cx.now).is_some() {
            let Header { flow, src, entropy, .. } = *header;
            let one_way = Stamp::read(cx.clock, meta.stamp).ticks_since(packet.body.stamp);
            let header = Header {
                flow,
                dst: src,
                entropy,
                marks: Marks::ECHO,
                kind: Kind::Probe,
                ..Header::default()
            };
            let body = Segment { stamp: packet.body.stamp, one_way, ..Segment::default() };
            self.outbox.push(Packet { header, body });
        }
    }

    fn on_probe_answer(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        let Some(slot) = self.flows.answered(&packet.header) else { return };
        let Delays { rtt, mut one_way_ps, .. } = Delays::of(packet, cx, meta);
        if self.peers.is_measuring() {
            one_way_ps = self.peers.one_way(slot, packet.body.one_way, (cx.now, rtt));
            self.measure(slot, Sample { now: cx.now, rtt, acked: 0 });
        }
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.controller.on_probe_answer(&ProbeReply { now: cx.now, next: sender.next, rtt, one_way_ps });
        sender.refresh_pacing(cx.now);
        self.refresh(slot);
        self.flows.arm_sender(slot);
    }

    fn send_probe(&mut self, slot: u32, cx: &Cx) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        sender.controller.on_probe_sent(cx.now, sender.rto.timeout(&self.config));
        let header = sender.probe();
        let body = Segment { stamp: Stamp::read(cx.clock, cx.now), ..Segment::default() };
        self.outbox.push_as_data(Packet { header, body }, header.class);
    }

    fn establish(&mut self, slot: u32, now: Time, rtt: Span) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if !matches!(sender.state, State::Handshake) {
            return;
        }
        sender.on_established(now, rtt, &self.config);
        if self.peers.is_measuring()
            && let Some(path) = self.peers.acknowledged(slot, Sample { now, rtt, acked: 0 })
        {
            sender.controller.on_path(&path);
        }
        sender.refresh_pacing(now);
        let Sender { id, dst, entropy, .. } = *sender;
        self.known.insert(dst);
        let header = Header { flow: id, dst, entropy, kind: Kind::Ack, ..Header::default() };
        self.outbox.push(Packet { header, body: Segment::default() });
        self.refresh(slot);
        if C::PACED {
            self.flows.arm_sender(slot);
        }
    }

    fn take_ack(&mut self, slot: u32, now: Time, delays: Delays, packet: &Packet<Segment<C::Telemetry>>) {
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        let echo = if packet.header.marks.has(Marks::ECHO) { Echoed::Congestion } else { Echoed::Nothing };
        let mut acked = Acked { cumulative: packet.header.offset.get(), sack: packet.body.sack };
        if let Some(stream) = &mut sender.stream {
            let Some(of_stream) = stream.acknowledged(packet.header.flow, acked) else { return };
            acked = of_stream;
        }
        let Acked { cumulative, sack } = acked;
        let Delays { rtt, one_way_ps, host_delay } = delays;
        if <C::Telemetry as Telemetry>::STAMPED {
            sender.controller.on_telemetry(&packet.body.telemetry);
        }
        let before = sender.una;
        sender.on_ack(&DecodedAck { now, cumulative, sack, rtt, one_way_ps, host_delay, echo }, &self.config);
        if self.peers.is_measuring() {
            let (flow, bytes, acked) = (sender.id, sender.una, sender.una - before);
            if acked > 0 && !sender.is_complete() {
                self.events.push_back(Event::Acked { flow, bytes });
            }
            self.measure(slot, Sample { now, rtt, acked });
        }
        let Some(sender) = self.flows.senders.get_mut(slot) else { return };
        if sender.stream.is_some() {
            sender.complete_streamed(now, |report| self.events.push_back(Event::Completed(report)));
        } else if sender.is_complete() {
            self.events.push_back(Event::Completed(sender.report(now)));
            self.forget_sender(packet.header.flow);
            return;
        }
        sender.refresh_pacing(now);
        self.promote(slot);
        self.refresh(slot);
        self.flows.arm_sender(slot);
    }

    /// Updates the path measurements from a reply.
    #[cold]
    fn measure(&mut self, slot: u32, sample: Sample) {
        if let Some(path) = self.peers.acknowledged(slot, sample)
            && let Some(sender) = self.flows.senders.get_mut(slot)
        {
            sender.controller.on_path(&path);
        }
    }

    /// Applies a pending change of class once it is due.
    #[inline]
    fn promote(&mut self, slot: u32) {
        if let Some(sender) = self.flows.senders.get_mut(slot)
            && let Some(class) = sender.promoted()
        {
            self.events.push_back(Event::ClassChanged { flow: sender.id, class });
        }
    }

    fn on_sender_timer(&mut self, slot: u32, cx: &Cx) {
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

    fn on_receiver_timer(&mut self, slot: u32, now: Time) {
        let Some(receiver) = self.flows.receivers.get_mut(slot) else { return };
        if let Some(ack) = receiver.on_timer(now) {
            self.outbox.push(ack.packet());
        }
        self.flows.arm_receiver(slot);
    }

    /// Sends one packet of the flow at `slot`, which the scheduler picked; `Idle` if it has nothing to send.
    #[inline(never)]
    fn transmit_next(&mut self, slot: u32, cx: &Cx) -> Tx<Segment<C::Telemetry>> {
        let Self { flows, scheduler, config, .. } = self;
        let Some(sending) = flows.sending(slot) else {
            self.flows.senders.release(slot);
            return Tx::Idle;
        };
        let sender = &mut *sending.flow;
        let offered = sender.offered.take();
        debug_assert_eq!(sender.planned, sender.plan(config), "a change without a new plan");
        let Some(plan) = sender.planned else { return Tx::Idle };
        let level = sender.host_level(plan, config);
        if offered.is_some_and(|held| level > held) {
            sender.offered = Some(level);
            scheduler.offer(sender.candidate(slot, level));
            return Tx::Idle;
        }
        transmit(sending, plan, (self.host, cx), config, scheduler)
    }

    fn change(&mut self, id: FlowId, control: Control, now: Time) {
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

    /// Forgets what is known of a flow that is or was received here.
    fn forget_received(&mut self, key: FlowKey) {
        self.flows.remove_receiver(key);
        self.flows.forget_ended(|ended| ended == key);
        self.flows.drop_dead_timers();
    }

    fn forget_host(&mut self, host: HostId) {
        self.flows.sent_to(host).into_iter().for_each(|flow| self.forget_sender(flow));
        for key in self.flows.received_from(host) {
            self.flows.remove_receiver(key);
        }
        self.flows.forget_ended(|ended| ended.src() == host);
        self.flows.drop_dead_timers();
        self.peers.forget(host);
        self.known.remove(&host);
        self.connections.retain(|&(dst, ..), _| dst != host);
        self.outbox.forget(host);
    }

    fn set_thresholds(&mut self, thresholds: &Thresholds) {
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

    /// Handles the departure of a packet from the host's transmit queue.
    fn left_queue(&mut self, id: SendId) {
        let QueuedSegment { slot, generation, len } = QueuedSegment::named(id);
        if self.flows.senders.generation(slot) as u16 != generation {
            return;
        }
        if let Some(sender) = self.flows.senders.get_mut(slot) {
            sender.queued -= u64::from(len);
            self.refresh(slot);
        }
    }
}

/// Sends `plan` of the flow `sending`, plans its next segment and sets its timer.
#[inline(always)]
pub(super) fn transmit<C: CongestionControl>(
    sending: Sending<'_, Sender<C>>,
    plan: Plan,
    (host, cx): (HostId, &Cx),
    config: &Config,
    scheduler: &mut impl HostScheduler,
) -> Tx<Segment<C::Telemetry>> {
    let (slot, generation, sender) = (sending.slot, sending.generation as u16, &mut *sending.flow);
    let packet = sender.emit(plan, host, cx, config);
    if C::PACED {
        sender.controller.on_sent(cx.now);
        sender.refresh_pacing(cx.now);
    }
    let id = config.queue_limit.and_then(|_| {
        sender.queued += plan.bytes();
        QueuedSegment { slot, generation, len: plan.len.get() }.name()
    });
    sender.streamed(cx.now, config);
    sender.refresh(slot, config, scheduler);
    sending.arm();
    Tx::Send { packet, id }
}

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Endpoint for Window<C, S, FAST> {
    type Body = Segment<C::Telemetry>;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        let connection = flow.connection.map(|number| (flow.dst, flow.group, number));
        if let Some(&slot) = connection.and_then(|key| self.connections.get(&key)) {
            return self.append(slot, flow, cx.now);
        }
        let greets = match self.config.handshake {
            Handshake::None => false,
            Handshake::OneRtt => true,
            Handshake::Reuse => !self.known.contains(&flow.dst),
        };
        let state = if greets { State::Handshake } else { State::Open };
        let mut controller = C::new(&self.controller, u64::from(self.config.frame.mss()));
        controller.set_weights(flow.weights.theta, flow.weights.w_milli);
        let (now, catch_up) = (cx.now, self.catch_up);
        let way = || self.peers.path(flow.dst, &path());
        controller.open(&mut FlowStart { flow: &flow, now, path: &way, catch_up, rng: cx.rng });
        let mut sender = Sender::new(&flow, state, controller, &self.config, cx.now);
        sender.notify_class();
        sender.refresh_pacing(cx.now);
        let slot = self.flows.add_sender(flow.id, sender);
        self.connections.extend(connection.map(|key| (key, slot)));
        if self.peers.is_measuring() {
            self.peers.opened(slot, flow.dst, path());
        }
        if greets {
            self.send_syn(slot, cx);
        } else {
            self.refresh(slot);
            self.flows.arm_sender(slot);
        }
    }

    fn control(&mut self, cx: &mut Cx, command: Command) {
        match command {
            Command::Flow(id, change) => self.change(id, change, cx.now),
            Command::Thresholds(thresholds) => self.set_thresholds(thresholds),
            Command::ForgetHost(host) => self.forget_host(host),
            Command::ForgetReceived { src, flow } => self.forget_received(FlowKey::new(src, flow)),
            Command::EndReceived { src, flow } => {
                self.flows.refuse(FlowKey::new(src, flow), NOT_RECEIVED, cx.now);
                self.flows.drop_dead_timers();
            }
            Command::NoRoom { src, flow } => {
                if let Some(slot) = self.flows.receiver_of(FlowKey::new(src, flow)) {
                    self.flows.heard(slot, cx.now);
                }
            }
        }
    }

    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        match packet.header.kind {
            Kind::Data => match self.take_expected_data(cx, meta, packet) {
                Some(ack) => self.outbox.push_ready(&ack),
                None => self.on_data(cx, meta, packet),
            },
            Kind::Ack if self.take_expected_ack(cx, meta, packet) => {}
            _ => self.on_unexpected(cx, meta, packet),
        }
    }

    // Inlined as measured: each packet of a host passes here, and a call costs as much as a look-up of the flow.
    #[inline(always)]
    fn respond(
        &mut self,
        cx: &mut Cx,
        meta: RxMeta,
        packet: &Packet<Segment<C::Telemetry>>,
    ) -> Option<Tx<Segment<C::Telemetry>>> {
        if !self.outbox.is_empty() || (packet.header.kind == Kind::Ack && !self.scheduler.is_empty()) {
            self.on_packet(cx, meta, packet);
            return None;
        }
        let answer = match packet.header.kind {
            Kind::Data => {
                let ack = self.take_expected_data(cx, meta, packet);
                ack.map(|packet| Tx::Send { packet, id: None })
            }
            Kind::Ack => self.answer_expected_ack(cx, meta, packet),
            _ => None,
        };
        if answer.is_none() {
            self.on_unexpected(cx, meta, packet);
        }
        answer
    }

    #[inline]
    fn may_transmit(&self) -> bool {
        !(self.outbox.is_empty() && self.scheduler.is_empty())
    }

    fn waiting(&self) -> Waiting {
        Waiting { control: !self.outbox.is_empty(), flows: self.scheduler.held() }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        while let Some(owner) = self.flows.expired(cx.now) {
            match owner {
                Expired::Sender(slot) => self.on_sender_timer(slot, cx),
                Expired::Receiver(slot) => self.on_receiver_timer(slot, cx.now),
                Expired::Idle(key) => {
                    self.flows.refuse(key, NOT_RECEIVED, cx.now);
                    let (src, flow) = (key.src(), key.flow());
                    self.events.push_back(Event::Forgotten { src, flow });
                }
            }
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        self.flows.next_timeout()
    }

    // Inlined except for data packets, by measurement: every second call finds nothing to send.
    #[inline(always)]
    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<Segment<C::Telemetry>> {
        if let Some(&packet) = self.outbox.pop() {
            return Tx::Send { packet, id: None };
        }
        while let Some(slot) = self.scheduler.next() {
            let turn = self.transmit_next(slot, cx);
            if matches!(turn, Tx::Send { .. }) {
                return turn;
            }
        }
        Tx::Idle
    }

    fn on_departure(&mut self, _cx: &mut Cx, id: SendId, _departure: Departure) {
        self.left_queue(id);
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn is_receiving(&self, src: HostId, flow: FlowId) -> bool {
        self.flows.receiver_of(FlowKey::new(src, flow)).is_some()
    }

    fn stats(&self) -> Stats {
        Stats { payload: self.payload, receiving: self.flows.receiving_now(), ..Stats::default() }
    }

    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(slot) = self.flows.sender_of(flow)
            && let Some(sender) = self.flows.senders.get(slot)
        {
            sender.inspect(flow, &self.config, see);
        }
    }
}

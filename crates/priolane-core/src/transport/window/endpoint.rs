//! The window transport of one host: all flows that start or end there.
//!
//! A packet takes one lookup in the flow map; flows live in two tables (senders, receivers) with reusable slots.
//! Control packets (ACK, SYN, SYN/ACK) leave first, in FIFO order. Then the host scheduler picks among the flows
//! that may send. A flow is offered to the scheduler when an ACK, a timer or its own last packet makes it able to
//! send. It is checked again when the scheduler picks it: if it has nothing to send by then, the scheduling slot is
//! skipped; if it has only a packet of a worse level, it is offered again at that level.

mod answers;
mod commands;
mod receiving;
mod timers;
mod transmission;

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::body::Segment;
use super::config::{Config, ControlEcn, Handshake};
use super::controller::{CongestionControl, FlowStart};
use super::notifications::Notified;
use super::outbox::Outbox;
use super::receiver::Receiver;
use super::recovery::State;
use super::sender::Sender;
use crate::endpoint::{
    Command, Cx, Departure, Endpoint, Event, FlowRequest, LocalHost, PathInfo, PayloadStats, RxMeta, SendId,
    Stats, Tx, Waiting,
};
use crate::host::{AnyScheduler, HostScheduler, SchedulerKind};
use crate::ids::{ConnectionId, FlowId, HostId};
use crate::packet::{Header, Kind, Marks, Offset, Packet};
use crate::transport::common::{Expired, FlowKey, FlowTable, Incoming, Peers, Stamp};
use crate::units::{Span, Time};
pub(super) use transmission::transmit;

/// The host stores every flow it ever received; for ended flows it stores the length, to acknowledge late
/// retransmissions. The length 0 stands for a flow that is not received.
const _: () = assert!(size_of::<(FlowKey, Incoming<Offset>)>() == 16);

/// The length of a flow that this host refused or gave up, or its sender did.
const NOT_RECEIVED: Offset = Offset::new(0);

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
    /// The CNPs that this host sent.
    notified: Notified,
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
            notified: Notified::default(),
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
            class: sender.class_now(),
            kind: Kind::Syn,
            ..Header::default()
        };
        let body = Segment { stamp: Stamp::read(cx.clock, cx.now), ..Segment::default() };
        self.outbox.push(Packet { header, body });
        self.flows.arm_sender(slot);
    }

    /// Updates the plan and the scheduler after a change of a flow's state.
    #[inline]
    fn refresh(&mut self, slot: u32) {
        if let Some(sender) = self.flows.senders.get_mut(slot) {
            sender.refresh(slot, &self.config, &mut self.scheduler);
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

    /// Processes a packet that the fast path did not.
    #[inline(never)]
    fn on_unexpected(&mut self, cx: &Cx, meta: RxMeta, packet: &Packet<Segment<C::Telemetry>>) {
        match packet.header.kind {
            Kind::Signal if C::NOTIFIED && packet.header.marks.has(Marks::ECHO) => {
                self.on_notification(cx.now, &packet.header);
            }
            Kind::Data | Kind::Signal => self.on_data(cx, meta, packet),
            Kind::Ack | Kind::SynAck => self.on_answer(cx, meta, packet),
            Kind::Syn => self.on_syn(cx.now, packet),
            Kind::Probe => self.on_probe(cx, meta, packet),
            Kind::Credit | Kind::Pause => {}
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
    fn prefetch(&self, header: &Header) {
        self.flows.prefetch(header);
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

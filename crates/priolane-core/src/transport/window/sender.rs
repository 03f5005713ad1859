//! The sending end of a flow: what may be sent next, and with which priority.
//!
//! ```text
//!             open                SYN/ACK               una = size
//!   (none) ──────────▶ Handshake ──────────▶ Open ─────────────────▶ completed, forgotten
//!              │         │  ▲ RTO: SYN again  │ ▲                         ▲
//!              │         └──┘                 │ │ una ≥ recover           │ una = size
//!              └── handshake none ───────────▶│ │                         │
//!                                     loss    ▼ │                         │
//!                                    or RTO  Recovery { Fast | Timeout } ─┘
//!                                               └──┘ RTO: Timeout, once more
//! ```
//!
//! A segment may be sent if `pipe + len <= min(cwnd, max_window)` or the pipe is empty (RFC 6675 §5; without
//! selective ACKs, RFC 5681 §3.2). Segments end at multiples of the MSS in the stream. So a retransmission has the
//! boundaries of its original and, if levels count stream offsets, its level. Module `acks` defines how ACKs change
//! the state.

use std::num::NonZeroU16;

use super::body::Segment;
use super::classes::Classes;
use super::config::{Config, Reliability};
use super::controller::{CongestionControl, Rank, SendPermission};
use super::recovery::{Recovery, State};
use super::rto::Rto;
use super::stream::Stream;
use crate::assign::{Count, DemotionThresholds};
use crate::endpoint::{Cx, FlowReport, FlowRequest};
use crate::host::{Candidate, HostScheduler};
use crate::ids::{CLASSES, Class, FlowId, HostId};
use crate::packet::{Header, Kind, Marks, Offset, Packet};
use crate::transport::common::{HasTimer, Interval, Ranges, SentFlow, Stamp};
use crate::units::{Span, Time, bits_per_second};

/// The levels of a flow's new data.
#[derive(Clone, Copy, Debug)]
struct Levels {
    /// They apply until this number of bytes is sent, retransmissions included: one comparison per packet.
    until: Offset,
    class: u8,
    host: u8,
}

impl Levels {
    /// Returns the levels of a flow that had sent `attained` bytes before; `next` is the first byte not sent.
    fn at(config: &Config, (attained, next): (Offset, u64), sent: &SendCounters) -> Self {
        let (before, again) = (attained.get(), sent.retransmitted);
        let find = |ladder: &DemotionThresholds| match ladder.count() {
            // Advancing the stream sends at least as many bytes.
            Count::StreamOffset => {
                let level = ladder.level(before + next);
                (level, ladder.end_of(level).saturating_sub(before).saturating_add(again))
            }
            Count::BytesSent => {
                let level = ladder.level(before + next + again);
                (level, ladder.end_of(level).saturating_sub(before))
            }
        };
        let ((class, class_until), (host, host_until)) = (find(&config.class), find(&config.host_level));
        Self { until: Offset::new(class_until.min(host_until).min(Offset::MAX)), class, host }
    }
}

/// Counters of sent data, for reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendCounters {
    /// Retransmitted payload bytes.
    pub(super) retransmitted: u64,
    pub(super) retransmits: u32,
    pub(super) timeouts: u32,
}

/// A pending change of class.
#[derive(Clone, Copy, Debug)]
struct Promotion {
    /// The class changes once everything before this byte is acknowledged; until then no data from this byte on is
    /// sent.
    fence: Offset,
    class: Class,
}

impl Promotion {
    /// No pending change. The offset is above the size of any flow.
    const NONE: Self = Self { fence: Offset::new(Offset::MAX), class: 0 };
}

/// A segment that may be sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PlannedSegment {
    pub(super) offset: Offset,
    pub(super) len: NonZeroU16,
    pub(super) transmission: Transmission,
}

impl PlannedSegment {
    /// Creates the segment of `len` bytes at `offset`; `None` if `len` is 0.
    #[inline]
    fn new(offset: u64, len: u16, transmission: Transmission) -> Option<Self> {
        NonZeroU16::new(len).map(|len| Self { offset: Offset::new(offset), len, transmission })
    }

    /// Returns its payload in bytes.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.len.get())
    }

    /// Returns its bytes in the stream.
    #[inline]
    pub(super) fn interval(&self) -> Interval {
        let start = self.offset.get();
        Interval { start, end: start + self.bytes() }
    }
}

/// The size of a flow without an end.
const ENDLESS: u64 = u64::MAX;

/// Whether a segment is sent for the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transmission {
    First,
    Again,
}

/// A flow at its sender.
#[derive(Debug)]
pub(super) struct Sender<C> {
    pub(super) id: FlowId,
    pub(super) dst: HostId,
    pub(super) entropy: u16,
    /// The class requested at the start or set later, before levels.
    asked: Class,
    start: Time,
    /// Payload bytes, or [`ENDLESS`]. In a stream, the end of the flow that is being sent.
    pub(super) size: u64,
    pub(super) state: State,
    pub(super) controller: C,
    pub(super) rto: Rto,
    /// First byte not acknowledged.
    pub(super) una: u64,
    /// First byte not sent.
    pub(super) next: u64,
    /// Bytes above `una` that SACKs reported.
    pub(super) sacked: Ranges,
    pub(super) dup_acks: u32,
    /// A new recovery may start once `una` reaches this (RFC 6582 §3.2 step 2).
    pub(super) may_recover_at: u64,
    /// Data below this was sent or outstanding when the window was full.
    pub(super) full_until: u64,
    /// The time at which the retransmission timer expires; `Time::NEVER` while it is off.
    pub(super) deadline: Time,
    /// The time at which the monitor interval ends.
    pub(super) report_at: Time,
    /// Time of the live entry in the host's timers.
    armed: Time,
    /// The level at which the host scheduler holds the flow.
    pub(super) offered: Option<u8>,
    /// Payload bytes in the host's transmit queue, if they are limited.
    pub(super) queued: u64,
    /// Limits besides the window; always `SendPermission::Open` for controllers without a gate.
    pub(super) gate: SendPermission,
    /// The segment that may be sent now, as of the last state change.
    pub(super) planned: Option<PlannedSegment>,
    pub(super) sent: SendCounters,
    pub(super) classes: Classes,
    promotion: Promotion,
    levels: Levels,
    /// Payload bytes that the flow had sent before it started here ([`FlowRequest::attained`]).
    attained: Offset,
    /// The flows of a connection, of which `id` is the one that is being sent; `None` for a flow by itself.
    pub(super) stream: Option<Box<Stream>>,
}

impl<C: CongestionControl> SentFlow for Sender<C> {
    #[inline]
    fn dst(&self) -> HostId {
        self.dst
    }
}

impl<C: CongestionControl> HasTimer for Sender<C> {
    #[inline]
    fn due(&self) -> Time {
        let due = self.deadline.min(self.report_at);
        let due = if C::PACED { due.min(self.gate_at()) } else { due };
        if C::TIMED { due.min(self.controller.wake()) } else { due }
    }

    #[inline]
    fn armed(&mut self) -> &mut Time {
        &mut self.armed
    }
}

impl<C: CongestionControl> Sender<C> {
    /// Creates a flow that starts at `now` in `state`.
    pub(super) fn new(spec: &FlowRequest, state: State, controller: C, config: &Config, now: Time) -> Self {
        let attained = Offset::new(spec.attained.min(Offset::MAX));
        let sent = SendCounters { retransmitted: 0, retransmits: 0, timeouts: 0 };
        Self {
            id: spec.id,
            dst: spec.dst,
            entropy: spec.entropy,
            asked: spec.class,
            start: spec.start,
            size: spec.size.unwrap_or(ENDLESS),
            state,
            controller,
            rto: Rto::NEW,
            una: 0,
            next: 0,
            sacked: Ranges::default(),
            dup_acks: 0,
            may_recover_at: 0,
            full_until: 0,
            deadline: Time::NEVER,
            report_at: config.monitor_interval().map_or(Time::NEVER, |interval| now + interval),
            armed: Time::NEVER,
            offered: None,
            queued: 0,
            gate: SendPermission::Open,
            planned: None,
            levels: Levels::at(config, (attained, 0), &sent),
            attained,
            sent,
            classes: Classes::asked(spec.class),
            promotion: Promotion::NONE,
            stream: spec.connection.map(|_| Box::new(Stream::of(spec, now))),
        }
    }

    /// Goes on with `flow`, the next one of the connection, all bytes before which are sent.
    pub(super) fn follow(&mut self, flow: &FlowRequest) {
        self.id = flow.id;
        self.start = flow.start;
        self.size = self.next.saturating_add(flow.size.unwrap_or(ENDLESS));
        self.classes = Classes::asked(flow.class);
        self.controller.set_weights(flow.weights.theta, flow.weights.w_milli);
        self.promotion = Promotion::NONE;
        if self.asked != flow.class {
            self.change_class(flow.class);
        }
    }

    /// Sets the class of data sent from now on.
    pub(super) fn change_class(&mut self, class: Class) {
        self.asked = class;
        self.promotion = Promotion::NONE;
        self.notify_class();
    }

    /// Schedules a change to `class` once all data sent so far is acknowledged.
    pub(super) fn await_class(&mut self, class: Class) {
        self.promotion = Promotion { fence: Offset::new(self.next), class };
    }

    /// Applies a pending change of class if it is due, and returns the class.
    #[inline]
    pub(super) fn promoted(&mut self) -> Option<Class> {
        if self.una < self.promotion.fence.get() {
            return None;
        }
        let class = self.promotion.class;
        self.change_class(class);
        Some(class)
    }

    /// Returns the time at which an application started the flow.
    pub(super) fn start(&self) -> Time {
        self.start
    }

    /// Returns true if every byte is acknowledged. A stream without another flow is then idle.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.una == self.size
    }

    /// Returns the offset below which an ACK completes neither the flow nor a pending change of class.
    #[inline]
    pub(super) fn next_transition_offset(&self) -> u64 {
        self.size.min(self.promotion.fence.get())
    }

    /// Returns the bytes from `offset` to the flow's end; `u64::MAX` if it has none.
    #[inline]
    fn left(&self, offset: u64) -> u64 {
        if self.size == ENDLESS { u64::MAX } else { self.size - offset }
    }

    /// Returns when the gate opens or a probe is due; `Time::NEVER` while the gate is open.
    #[inline]
    pub(super) fn gate_at(&self) -> Time {
        match self.gate {
            SendPermission::Open => Time::NEVER,
            SendPermission::NotBefore(at) | SendPermission::Probe(at) => at,
        }
    }

    /// Updates the gate from the controller, after any change that may affect it.
    #[inline]
    pub(super) fn refresh_pacing(&mut self, now: Time) {
        if !C::PACED || matches!(self.state, State::Handshake) {
            return;
        }
        if self.is_complete() {
            self.gate = SendPermission::Open;
            return;
        }
        self.gate = match self.controller.gate() {
            SendPermission::NotBefore(at) if at <= now => SendPermission::Open,
            SendPermission::Probe(at) => SendPermission::Probe(at.max(now)),
            gate => gate,
        };
    }

    /// Returns the header of a probe: it takes the path and class of the flow's data.
    pub(super) fn probe(&self) -> Header {
        Header {
            rank: self.rank(self.una),
            flow: self.id,
            dst: self.dst,
            entropy: self.entropy,
            class: self.class_now(),
            marks: self.ecn(),
            kind: Kind::Probe,
            ..Header::default()
        }
    }

    /// Starts the next monitor interval if one ended by `now`; several ended intervals count as one.
    pub(super) fn interval_ended(&mut self, now: Time, config: &Config) -> bool {
        let Some(interval) = config.monitor_interval().filter(|_| self.report_at <= now) else {
            return false;
        };
        let ended = now.since(self.report_at).0 / interval.0 + 1;
        self.report_at += interval.times(ended);
        true
    }

    /// Returns the bytes estimated to be in the network: sent, neither acknowledged nor SACKed nor lost, plus
    /// retransmitted bytes (RFC 6675 §4, `SetPipe`).
    #[inline(always)]
    pub(super) fn pipe(&self) -> u64 {
        let gone = match &self.state {
            State::Recovery(recovery) => recovery.lost() + recovery.inflation,
            State::Open | State::Handshake => 0,
        };
        (self.next - self.una).saturating_sub(self.sacked.bytes() + gone)
    }

    /// Returns the limit on the pipe in bytes.
    #[inline]
    pub(super) fn window(&self, config: &Config) -> u64 {
        self.controller.window().min(config.max_window.unwrap_or(u64::MAX))
    }

    /// Returns the segment that may be sent now, if any: retransmissions first (RFC 6675 §4, `NextSeg`).
    // Inlined as measured: the open state needs few registers, and a call would save all of them.
    #[inline(always)]
    pub(super) fn plan(&self, config: &Config) -> Option<PlannedSegment> {
        if config.queue_limit.is_some_and(|limit| self.queued >= limit) {
            return None;
        }
        if C::PACED && self.gate != SendPermission::Open {
            return None;
        }
        match &self.state {
            State::Handshake => None,
            State::Open => {
                let plan = self.new_data(config)?;
                self.fits(plan, config).then_some(plan)
            }
            State::Recovery(recovery) => self.plan_in_recovery(recovery, config),
        }
    }

    #[inline(never)]
    fn plan_in_recovery(&self, recovery: &Recovery, config: &Config) -> Option<PlannedSegment> {
        if recovery.lost() == 0 {
            return self.new_data(config).filter(|&plan| self.fits(plan, config));
        }
        let plan = self.hole(recovery, config)?;
        (recovery.is_due() || self.fits(plan, config)).then_some(plan)
    }

    /// Returns whether the window has room for a segment.
    #[inline(always)]
    fn fits(&self, plan: PlannedSegment, config: &Config) -> bool {
        let pipe = self.pipe();
        pipe == 0 || pipe + plan.bytes() <= self.window(config)
    }

    /// Returns the next segment of new data, if any is left; `next` is a segment boundary or the end.
    #[inline(always)]
    fn new_data(&self, config: &Config) -> Option<PlannedSegment> {
        let left = self.next_transition_offset().saturating_sub(self.next);
        let len = u64::from(config.frame.mss()).min(left) as u16;
        PlannedSegment::new(self.next, len, Transmission::First)
    }

    fn hole(&self, recovery: &Recovery, config: &Config) -> Option<PlannedSegment> {
        self.sent_segment(recovery.next_hole(&self.sacked), config)
    }

    /// Returns the segment at `offset`, all of which was sent before.
    pub(super) fn sent_segment(&self, offset: u64, config: &Config) -> Option<PlannedSegment> {
        let (_, bytes) = self.flow_at(offset);
        let left = self.next.min(bytes.end).saturating_sub(offset);
        let len = segment_len(offset - bytes.start, config.frame.mss(), left);
        PlannedSegment::new(offset, len, Transmission::Again)
    }

    /// Plans the next packet of the flow at `slot` after a state change. If the flow may send, it is offered to the
    /// scheduler, or promoted if it is queued there at a worse level.
    #[inline]
    pub(super) fn refresh(&mut self, slot: u32, config: &Config, scheduler: &mut impl HostScheduler) {
        let planned = self.plan(config);
        self.planned = planned;
        let Some(plan) = planned else { return };
        let level = self.host_level(plan, config);
        match self.offered {
            None => {
                self.offered = Some(level);
                scheduler.offer(self.candidate(slot, level));
            }
            Some(held) if level < held => {
                self.offered = Some(level);
                scheduler.promote(self.candidate(slot, level));
            }
            Some(_) => {}
        }
    }

    /// Returns the flow's entry for the host scheduler; `level` is that of its next packet.
    #[inline]
    pub(super) fn candidate(&self, slot: u32, level: u8) -> Candidate {
        let sent = self.attained.get() + self.next;
        Candidate { slot, flow: self.id, level, sent, remaining: self.left(self.next) }
    }

    /// Returns the level of `plan` inside the host.
    #[inline(always)]
    pub(super) fn host_level(&self, plan: PlannedSegment, config: &Config) -> u8 {
        self.level_of(plan, &config.host_level, self.levels.host)
    }

    /// Sends `plan` and returns the packet.
    // Inlined as measured, so that the packet is written where it is used.
    #[inline(always)]
    pub(super) fn emit(
        &mut self,
        plan: PlannedSegment,
        host: HostId,
        cx: &Cx,
        config: &Config,
    ) -> Packet<Segment<C::Telemetry>> {
        let skips = plan.transmission == Transmission::Again && config.reliability == Reliability::Unreliable;
        let class = self.class(self.level_of(plan, &config.class, self.levels.class));
        let host_level = self.host_level(plan, config);
        let (flow, bytes) = self.flow_at(plan.offset.get());
        self.classes.first.get_or_insert(class);
        self.classes.last = class;
        self.account(plan, cx.now, config);
        if self.deadline == Time::NEVER {
            self.deadline = cx.now + self.rto.timeout(config);
        }
        if self.pipe() + u64::from(config.frame.mss()) > self.window(config) {
            self.full_until = self.next;
        }
        // The header is built here to keep fewer values live across the code above.
        let header = Header {
            rank: self.rank(plan.offset.get()),
            flow,
            src: host,
            dst: self.dst,
            offset: Offset::new(plan.offset.get() - bytes.start),
            entropy: self.entropy,
            wire: config.frame.data_wire(plan.len.get()),
            payload: plan.len.get(),
            class,
            host_level,
            marks: self.marks(plan, bytes.end),
            kind: Kind::Data,
        };
        let mut packet =
            Packet { header, body: Segment { stamp: Stamp::read(cx.clock, cx.now), ..Segment::default() } };
        if C::NOTIFIED
            && let Some(stream) = &self.stream
        {
            packet.body.one_way = stream.above_first(flow);
        }
        if skips {
            packet.header.kind = Kind::Signal;
            packet.header.payload = 0;
            packet.header.wire = config.frame.ack_wire();
            packet.body.sack[0] = (0, u32::from(plan.len.get()));
        }
        packet
    }

    /// Returns the rank of the packet that begins at `offset`.
    #[inline]
    fn rank(&self, offset: u64) -> u64 {
        let from = match C::RANK {
            Rank::BytesLeft => offset,
            Rank::BytesUnacked => self.una,
            Rank::Own => return self.controller.rank(offset, self.una, self.left(offset)),
        };
        self.left(from)
    }

    /// Returns the flow that has the byte at `offset`, and its bytes in the stream.
    #[inline]
    pub(super) fn flow_at(&self, offset: u64) -> (FlowId, Interval) {
        let whole = (self.id, Interval { start: 0, end: self.size });
        let Some(stream) = &self.stream else { return whole };
        stream.holding(offset).map_or(whole, |flow| (flow.id, flow.bytes))
    }

    /// Returns the marks of a segment of the flow that ends at `end`.
    fn marks(&self, plan: PlannedSegment, end: u64) -> Marks {
        let ecn = self.ecn();
        if end == plan.interval().end { ecn.with(Marks::LAST) } else { ecn }
    }

    #[inline]
    fn ecn(&self) -> Marks {
        if C::ECN && self.controller.is_ecn_capable() { Marks::ECN_CAPABLE } else { Marks::none() }
    }

    #[inline(always)]
    fn account(&mut self, plan: PlannedSegment, now: Time, config: &Config) {
        let len = plan.bytes();
        match plan.transmission {
            Transmission::First => self.next += len,
            Transmission::Again => {
                if config.reliability == Reliability::Reliable {
                    self.sent.retransmitted += len;
                    self.sent.retransmits += 1;
                }
                if let State::Recovery(recovery) = &mut self.state {
                    recovery.sent_again(plan.interval(), now, &self.sacked);
                }
                self.watch_first(plan.interval(), now, config);
            }
        }
        if self.next + self.sent.retransmitted >= self.levels.until.get() {
            self.find_levels(config);
        }
    }

    /// Updates the levels after data was sent or the thresholds changed.
    #[inline(never)]
    pub(super) fn find_levels(&mut self, config: &Config) {
        let before = self.levels.class;
        self.levels = Levels::at(config, (self.attained, self.next), &self.sent);
        if self.levels.class != before {
            self.notify_class();
        }
    }

    /// Passes the class of new packets to the controller.
    pub(super) fn notify_class(&mut self) {
        self.controller.set_class(self.class_now());
    }

    /// Returns the level of `plan` in `ladder`: `reached`, that of new data, except for a retransmission if levels count
    /// stream offsets.
    #[inline(always)]
    fn level_of(&self, plan: PlannedSegment, ladder: &DemotionThresholds, reached: u8) -> u8 {
        match (plan.transmission, ladder.count()) {
            (Transmission::Again, Count::StreamOffset) => {
                ladder.level(self.attained.get() + plan.offset.get())
            }
            (Transmission::First, _) | (Transmission::Again, Count::BytesSent) => reached,
        }
    }

    /// Returns the class of data that is sent next for the first time.
    pub(super) fn class_now(&self) -> Class {
        self.class(self.levels.class)
    }

    #[inline]
    fn class(&self, level: u8) -> Class {
        self.asked.saturating_add(level).min(CLASSES as u8 - 1)
    }

    /// Passes the state of `flow` and of its sender to `see`, for traces; nothing if the flow is not under way.
    pub(super) fn inspect(&self, flow: FlowId, config: &Config, see: &mut dyn FnMut(&'static str, f64)) {
        let begin = match &self.stream {
            None => 0,
            Some(stream) => match stream.find(flow) {
                Some(flow) => flow.bytes.start,
                None => return,
            },
        };
        see("acked_bytes", self.una.saturating_sub(begin) as f64);
        see("cwnd_bytes", self.controller.window() as f64);
        see("in_flight_bytes", self.pipe() as f64);
        // Zero means no sample yet.
        if self.rto.srtt() > Span::ZERO {
            see("srtt_ps", self.rto.srtt().0 as f64);
        }
        see("rto_ps", self.rto.timeout(config).0 as f64);
        see("timeouts", f64::from(self.sent.timeouts));
        self.controller.inspect(see);
    }

    /// Returns a report of the flow's state at `now`.
    pub(super) fn report(&self, now: Time) -> FlowReport {
        let elapsed = now.since(self.start);
        let bytes = self.una + self.sacked.bytes();
        FlowReport {
            flow: self.id,
            bytes,
            remaining: self.left(bytes),
            rate_bps: bits_per_second(bytes, elapsed),
            retransmitted: self.sent.retransmitted,
            retransmits: self.sent.retransmits,
            timeouts: self.sent.timeouts,
            initial_timeouts: self.rto.initial_expiries(),
            spurious: self.rto.spurious(),
            rtt: self.rto.srtt(),
            elapsed,
            class_first: self.classes.first.unwrap_or_else(|| self.class_now()),
            class_last: self.classes.last,
        }
    }
}

/// Returns the payload of the segment at `offset`: up to the next multiple of `mss`, at most `left`.
#[inline]
fn segment_len(offset: u64, mss: u16, left: u64) -> u16 {
    let to_boundary = u64::from(mss) - offset % u64::from(mss);
    to_boundary.min(left) as u16
}

/// Keeps the fixed state of a sender small: a host may have thousands.
const _: () = assert!(size_of::<Sender<crate::transport::dctcp::Dctcp>>() <= 320);

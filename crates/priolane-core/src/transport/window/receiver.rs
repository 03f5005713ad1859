//! The receiving end of a flow: what has arrived, and which ACKs to send.
//!
//! ```text
//! in order, n-th since the last ACK, or LAST ......... ACK now          (RFC 5681 §4.2)
//! in order, sooner ................................... delay the ACK, at most `ack_delay`
//! out of order, duplicate, or filling a hole ......... ACK now, with SACK blocks (RFC 5681 §4.2, RFC 2018 §4)
//! CE mark differs from the packet before ............. first send the delayed ACK, with the old mark;
//!                                                      then ACK this packet, with the new one (RFC 8257 §3.2)
//! ```
//!
//! An ACK echoes the stamp of the last packet it answers (docs/assumptions.md#delack-stamp), and carries ECHO if
//! and only if those packets were marked. The receiver learns of the flow only from packets. When all bytes have
//! arrived, only the length is kept.

use super::body::Segment;
use super::config::{Config, LossRecovery};
use super::gaps::Gaps;
use crate::endpoint::PayloadStats;
use crate::ids::{Class, FlowId, HostId};
use crate::packet::{Header, Kind, Marks, Offset, Packet};
use crate::telemetry::Telemetry;
use crate::transport::common::{FlowKey, HasTimer, Interval, Stamp};
use crate::units::Time;

/// Data that arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<T> {
    pub(super) bytes: Interval,
    pub(super) content: Content,
    pub(super) marks: Marks,
    /// The stamp in the packet.
    pub(super) stamp: Stamp,
    /// The receiver's clock when the packet arrived.
    pub(super) read: Stamp,
    pub(super) entropy: u16,
    pub(super) class: Class,
    pub(super) now: Time,
    pub(super) telemetry: T,
}

/// Whether a packet carries its bytes or gives them up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// The packet carries the bytes.
    Payload,
    /// The bytes will not be sent.
    GivenUp,
}

/// The information of a packet that its ACK echoes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo<T> {
    pub(super) stamp: Stamp,
    pub(super) one_way: u32,
    pub(super) entropy: u16,
    pub(super) class: Class,
    pub(super) ce: Ce,
    pub(super) telemetry: T,
}

/// Whether the network marked a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ce {
    Unmarked,
    Marked,
}

impl Ce {
    #[inline]
    pub(super) fn of(marks: Marks) -> Self {
        if marks.has(Marks::CONGESTED) { Self::Marked } else { Self::Unmarked }
    }
}

/// An ACK to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<T> {
    pub(super) to: HostId,
    pub(super) flow: FlowId,
    pub(super) cumulative: u64,
    pub(super) sack: [(u32, u32); 2],
    pub(super) echo: Echo<T>,
}

impl<T: Telemetry> Ack<T> {
    /// Returns the packet without the host's fields: source, size and ECN capability. Its class is that of the packet
    /// it answers.
    pub(super) fn packet(&self) -> Packet<Segment<T>> {
        let marks = if self.echo.ce == Ce::Marked { Marks::ECHO } else { Marks::none() };
        let header = Header {
            flow: self.flow,
            dst: self.to,
            offset: Offset::new(self.cumulative),
            entropy: self.echo.entropy,
            class: self.echo.class,
            marks,
            kind: Kind::Ack,
            ..Header::default()
        };
        let Echo { stamp, one_way, telemetry, .. } = self.echo;
        let body = Segment { stamp, one_way, sack: self.sack, telemetry };
        Packet { header, body }
    }
}

/// The block of a report of a trimmed segment: its first byte.
const FIRST_BYTE: (u32, u32) = (0, 1);

/// Returns the report that the payload at `offset` of a flow from a host was trimmed, without the fields of the
/// receiving host.
pub(super) fn report_trimmed<T: Telemetry>(
    (to, flow): (HostId, FlowId),
    offset: u64,
    echo: &Echo<T>,
) -> Packet<Segment<T>> {
    let header = Header {
        flow,
        dst: to,
        offset: Offset::new(offset),
        entropy: echo.entropy,
        class: echo.class,
        marks: Marks::TRIMMED,
        kind: Kind::Ack,
        ..Header::default()
    };
    let body = Segment {
        stamp: echo.stamp,
        one_way: echo.one_way,
        sack: [FIRST_BYTE, (0, 0)],
        ..Segment::default()
    };
    Packet { header, body }
}

/// The delayed ACKs.
#[derive(Clone, Copy, Debug)]
enum Pending<T> {
    None,
    CountedRanges { packets: u8, last: Echo<T>, until: Time },
}

/// The length of a flow of unknown length.
const NOT_KNOWN: u64 = u64::MAX;

/// A flow at its receiver.
#[derive(Debug)]
pub(super) struct Receiver<T> {
    flow: FlowId,
    src: HostId,
    /// First byte that has not arrived.
    next: u64,
    /// Length of the flow; [`NOT_KNOWN`] before its last packet has arrived.
    end: u64,
    /// `None` until data arrives out of order, which most flows never see.
    gaps: Option<Box<Gaps>>,
    ce: Ce,
    pending: Pending<T>,
    /// Time of the live entry in the host's timers.
    armed: Time,
}

impl<T> HasTimer for Receiver<T> {
    /// Returns when a delayed ACK is due.
    #[inline]
    fn due(&self) -> Time {
        match self.pending {
            Pending::None => Time::NEVER,
            Pending::CountedRanges { until, .. } => until,
        }
    }

    #[inline]
    fn armed(&mut self) -> &mut Time {
        &mut self.armed
    }
}

impl<T: Telemetry> Receiver<T> {
    pub(super) fn new(flow: FlowId, src: HostId) -> Self {
        Self {
            flow,
            src,
            next: 0,
            end: NOT_KNOWN,
            gaps: None,
            ce: Ce::Unmarked,
            pending: Pending::None,
            armed: Time::NEVER,
        }
    }

    /// Returns the flow's length if all of it has arrived.
    pub(super) fn complete(&self) -> Option<u64> {
        (self.end == self.next).then_some(self.end)
    }

    /// Returns the bytes that the sender gave up before they arrived.
    pub(super) fn missing(&self) -> u64 {
        self.gaps.as_ref().map_or(0, |gaps| gaps.missing())
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    pub(super) fn src(&self) -> HostId {
        self.src
    }

    /// Returns the bytes from the start of the flow that have arrived or were given up.
    pub(super) fn in_order(&self) -> u64 {
        self.next
    }

    pub(super) fn key(&self) -> FlowKey {
        FlowKey::new(self.src, self.flow)
    }

    /// Returns true if header prediction expects this packet (Van Jacobson, 1990). It is the next in-order data
    /// with nothing above it, has the same mark as the packet before, and is not the flow's last. Its ACK is due
    /// and covers it alone.
    // Inlined as measured: a call saves six registers.
    #[inline(always)]
    pub(super) fn expects(&self, header: &Header, config: &Config) -> bool {
        let payload = u64::from(header.payload);
        header.kind == Kind::Data
            && header.offset.get() == self.next
            && payload > 0
            && self.next + payload <= Offset::MAX
            && !header.marks.has(Marks::LAST)
            && !header.marks.has(Marks::TRIMMED)
            && Ce::of(header.marks) == self.ce
            && self.end == NOT_KNOWN
            && config.ack_every <= 1
            && matches!(self.pending, Pending::None)
            && self.gaps.as_ref().is_none_or(|gaps| gaps.is_empty())
    }

    /// Processes a packet that [`Self::expects`], with the same result as [`Self::receive`]; returns the cumulative
    /// ACK to send. Changes only the field `next`.
    #[inline]
    pub(super) fn receive_expected(&mut self, header: &Header, stats: &mut PayloadStats) -> u64 {
        stats.count(self.next, self.next);
        self.next += u64::from(header.payload);
        self.next
    }

    /// Processes arrived data and counts it in `stats`. Passes the ACKs to send to `send`: first any delayed ACK,
    /// then its own.
    #[inline]
    pub(super) fn receive(
        &mut self,
        arrival: &Arrival<T>,
        config: &Config,
        stats: &mut PayloadStats,
        mut send: impl FnMut(&Ack<T>),
    ) {
        let ce = Ce::of(arrival.marks);
        let changed = ce != self.ce;
        if changed && let Some(held) = self.take_held() {
            send(&held);
        }
        self.ce = ce;
        if arrival.marks.has(Marks::LAST) && self.end == NOT_KNOWN {
            self.end = arrival.bytes.end;
        }
        if arrival.content == Content::GivenUp {
            let Interval { start, end } = arrival.bytes;
            self.gaps.get_or_insert_default().give_up(Interval { start: start.max(self.next), end });
        }
        let highest = self.gaps.as_ref().map_or(self.next, |gaps| gaps.end_above(self.next));
        let stored = self.store(arrival.bytes, config.recovery);
        if arrival.content == Content::Payload && stored != StoreOutcome::Nothing {
            stats.count(arrival.bytes.start, highest);
        }
        let echo = Echo {
            stamp: arrival.stamp,
            one_way: arrival.read.ticks_since(arrival.stamp),
            entropy: arrival.entropy,
            class: arrival.class,
            ce,
            telemetry: arrival.telemetry,
        };
        let at_once = changed
            || stored != StoreOutcome::InOrder
            || arrival.marks.has(Marks::LAST)
            || self.complete().is_some();
        if self.is_due(&echo, at_once.into(), arrival.now, config) {
            send(&self.ack(echo));
        }
    }

    /// Returns the reply to a header whose payload was trimmed, which began at `offset`: a report of the loss, or an ACK
    /// if the payload arrived before.
    pub(super) fn answer_trimmed(&self, offset: u64, echo: Echo<T>) -> Packet<Segment<T>> {
        let is_there = offset < self.next || self.gaps.as_ref().is_some_and(|gaps| gaps.has(offset));
        if is_there { self.ack(echo).packet() } else { report_trimmed((self.src, self.flow), offset, &echo) }
    }

    /// Returns the delayed ACK if it is due.
    pub(super) fn on_timer(&mut self, now: Time) -> Option<Ack<T>> {
        if self.due() <= now { self.take_held() } else { None }
    }

    /// Returns true if the ACK of a packet is due; otherwise the ACK is delayed.
    fn is_due(&mut self, echo: &Echo<T>, urgency: Urgency, now: Time, config: &Config) -> bool {
        let (packets, until) = match self.pending {
            Pending::None => (1, now + config.ack_delay),
            Pending::CountedRanges { packets, until, .. } => (packets.saturating_add(1), until),
        };
        if urgency == Urgency::CanWait && packets < config.ack_every {
            self.pending = Pending::CountedRanges { packets, last: *echo, until };
            return false;
        }
        self.pending = Pending::None;
        true
    }

    fn take_held(&mut self) -> Option<Ack<T>> {
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::None => None,
            Pending::CountedRanges { last, .. } => Some(self.ack(last)),
        }
    }

    fn ack(&self, echo: Echo<T>) -> Ack<T> {
        let gaps = self.gaps.as_ref().filter(|gaps| !gaps.is_empty());
        let sack = gaps.map_or([(0, 0); 2], |gaps| gaps.blocks(self.next));
        Ack { to: self.src, flow: self.flow, cumulative: self.next, sack, echo }
    }

    /// Stores the new part of `bytes`.
    fn store(&mut self, bytes: Interval, recovery: LossRecovery) -> StoreOutcome {
        if bytes.start > self.next {
            let is_new = recovery != LossRecovery::GoBackN && self.gaps.get_or_insert_default().keep(bytes);
            return if is_new { StoreOutcome::BesideGap } else { StoreOutcome::Nothing };
        }
        if bytes.end <= self.next {
            return StoreOutcome::Nothing;
        }
        match self.gaps.as_deref_mut().filter(|gaps| !gaps.is_empty()) {
            Some(gaps) => {
                self.next = gaps.absorb(bytes.end);
                StoreOutcome::BesideGap
            }
            None => {
                self.next = bytes.end;
                StoreOutcome::InOrder
            }
        }
    }
}

/// The part of a packet that a receiver stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StoreOutcome {
    /// The next in-order bytes, with nothing above them.
    InOrder,
    /// Bytes above or below a gap.
    BesideGap,
    /// Nothing: the bytes are duplicates, or there is no room for them.
    Nothing,
}

/// Whether an ACK may be delayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Urgency {
    CanWait,
    Now,
}

impl From<bool> for Urgency {
    fn from(at_once: bool) -> Self {
        if at_once { Self::Now } else { Self::CanWait }
    }
}

/// Keeps the fixed state of a receiver small, as that of a sender.
const _: () = assert!(size_of::<Receiver<()>>() <= 64);

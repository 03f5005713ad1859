//! The receiving end of a flow: when tokens are sent, how fast, and which packets are missing.
//!
//! ```text
//! SYNC         -> send tokens at the initial rate
//! DATA(seq)    -> seq above the next expected: the tokens between were dropped
//! token due    -> first update the rate, if a round trip has passed since the last update (or the SYNC) and a token
//!                 was answered
//! STOP         -> no more tokens (if senders end them)
//! all arrived  -> DONE, and again for each later SYNC, STOP, FIN or RESET
//!
//! a packet counts as missing once `reordering` packets beyond it have arrived; after max(3 RTT, min_rto) without a
//! packet, the lowest hole counts as missing (again), even if it extends beyond the data sent: MISS names a run of
//! packets
//! ```

use super::body::TokenMessage;
use super::config::{Config, RankedPackets, Stop};
use super::feedback::{Feedback, Period};
use super::priority::RankInputs;
use crate::endpoint::{Cx, PayloadStats};
use crate::ids::{Class, FlowId, HostId};
use crate::packet::{Header, Packet};
use crate::transport::common::{FlowTimer, Interval, Ranges, Stamp, pacing_base, timed_by_alarm};
use crate::units::{Rate, Span, Time};

/// Whether tokens are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Granting {
    /// The next token is sent at this time.
    At(Time),
    /// Enough tokens are in flight; those unanswered at this time count as lost.
    Enough(Time),
    /// The sender wants no tokens.
    Stopped,
    /// The sender does not answer, and gets no tokens until it does.
    Unanswered,
}

/// The fields of a data packet that the receiver uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataArrival {
    /// Its number within the flow.
    pub(super) packet: u64,
    /// The number and stamp of its token; `None` for an unscheduled packet.
    pub(super) token: Option<(u32, Stamp)>,
}

/// Outcomes of tokens.
#[derive(Clone, Copy, Debug)]
struct TokenCounts {
    /// The next expected token number.
    expected: u32,
    period: Period,
    /// The start of the period: the last update of the rate, or the SYNC before the first update.
    since: Time,
}

/// The receiver state of a flow.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) flow: FlowId,
    pub(super) peer: HostId,
    pub(super) entropy: u16,
    /// Bytes by which the last packet is shorter than a full one; 0 before it has arrived.
    short: u16,
    asked: Class,
    deadline: Time,
    announced_key: u64,
    opened: Time,
    /// Number of packets of the flow; `u64::MAX` if unknown.
    packets: u64,
    /// All packets before this have arrived.
    edge: u64,
    above: Ranges,
    /// One more than the highest packet that has arrived.
    top: u64,
    /// Holes below this were reported as missing once.
    reported_until: u64,
    feedback: Feedback,
    token_counts: TokenCounts,
    rtt: Option<Span>,
    next_seq: u32,
    granting: Granting,
    /// Time of the last arrival or report of missing packets.
    heard: Time,
    pub(super) alarm: FlowTimer,
}

/// Maximum number of out-of-order runs of packets; a packet that would begin one more is treated as lost.
const MAX_RUNS: usize = 1 << 16;

/// Weight of the old estimate in the smoothed RTT (ExpressPass's published code).
const RTT_KEPT: u64 = 8;
const RTT_PARTS: u64 = 10;

timed_by_alarm!(Receiver);

impl Receiver {
    /// Creates a flow whose SYNC, with this header, arrived at `now`.
    pub(super) fn new(header: &Header, sync: Sync, line: Rate, cx: &Cx, config: &Config) -> Self {
        let Sync { packets, deadline, asked, unscheduled, announced_key } = sync;
        let feedback = Feedback::new(&config.feedback, config.max_rate(line), packets);
        Self {
            flow: header.flow,
            peer: header.src,
            entropy: header.entropy,
            short: 0,
            asked,
            deadline,
            announced_key,
            opened: cx.now,
            packets,
            edge: 0,
            above: Ranges::default(),
            top: u64::from(unscheduled),
            reported_until: 0,
            feedback,
            token_counts: TokenCounts { expected: 0, period: Period::default(), since: cx.now },
            rtt: None,
            next_seq: 0,
            granting: Granting::At(cx.now),
            heard: cx.now,
            alarm: FlowTimer::OFF,
        }
    }

    /// Returns true if all data has arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.edge >= self.packets
    }

    /// Returns the number of packets received in order.
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// Returns true if a data packet has the boundaries of a packet of `mss` bytes, or ends the flow.
    pub(super) fn is_whole(&mut self, header: &Header, mss: u16) -> bool {
        let (offset, full) = (header.offset.get(), u64::from(mss));
        let packet = offset / full;
        if packet * full != offset || header.payload == 0 || header.payload > mss {
            return false;
        }
        let last = packet + 1 >= self.packets || self.packets == u64::MAX && packet + 1 >= self.top;
        if header.payload < mss && last {
            self.short = mss - header.payload;
        }
        header.payload == mss || last
    }

    /// Returns the payload bytes received in order, in packets of `mss` bytes.
    pub(super) fn in_order(&self, mss: u16) -> u64 {
        let short = if self.edge == self.top { self.short } else { 0 };
        self.edge.saturating_mul(u64::from(mss)).saturating_sub(u64::from(short))
    }

    /// Sets the flow's length once it is known.
    pub(super) fn ends_at(&mut self, packets: u64) {
        self.packets = packets;
    }

    /// Returns the time of the next action if no packet arrives before.
    pub(super) fn next_action(&self, config: &Config) -> Time {
        let token = match self.granting {
            Granting::At(at) | Granting::Enough(at) => at,
            Granting::Stopped => Time::NEVER,
            Granting::Unanswered => return Time::NEVER,
        };
        token.min(self.heard + self.rto(config))
    }

    fn rto(&self, config: &Config) -> Span {
        self.rtt.map_or(config.min_rto, |rtt| config.min_rto.max(rtt.times(3)))
    }

    /// Handles a (repeated) request of the sender for tokens.
    pub(super) fn resume(&mut self, now: Time, asked: Class) {
        self.asked = asked;
        if self.granting == Granting::Stopped {
            self.granting = Granting::At(now);
            self.heard = now;
            self.token_counts.since = now;
        }
        self.go_on(now);
    }

    /// Returns true if a token is due at `now`, or counts as lost.
    pub(super) fn is_due(&self, now: Time) -> bool {
        matches!(self.granting, Granting::At(at) | Granting::Enough(at) if at <= now)
    }

    /// Returns true while it waits until the sender may be asked again.
    pub(super) fn is_waiting(&self) -> bool {
        self.granting == Granting::Unanswered
    }

    /// Waits until the sender may be asked again; returns false if it waits already.
    pub(super) fn wait(&mut self) -> bool {
        std::mem::replace(&mut self.granting, Granting::Unanswered) != Granting::Unanswered
    }

    /// Ends a wait: the sender may be asked again.
    pub(super) fn go_on(&mut self, now: Time) {
        if self.granting == Granting::Unanswered {
            self.granting = Granting::At(now);
            self.heard = now;
            self.token_counts.since = now;
        }
    }

    /// Stops the tokens at the sender's request.
    pub(super) fn stop(&mut self) {
        self.granting = Granting::Stopped;
    }

    /// Returns number, class and key of the token that is due, if any; up to `catch_up` of lateness is made up.
    pub(super) fn token(
        &mut self,
        cx: &mut Cx,
        catch_up: Span,
        config: &Config,
    ) -> Option<(u32, (Class, u64))> {
        let due = match self.granting {
            Granting::At(at) if at <= cx.now => at,
            Granting::Enough(at) if at <= cx.now => {
                self.token_counts.expected = self.next_seq;
                cx.now
            }
            _ => return None,
        };
        if self.has_enough(config) {
            self.granting = Granting::Enough(cx.now + self.rtt.unwrap_or(config.min_rto));
            return None;
        }
        self.follow(cx.now, config);
        let seq = self.next_seq;
        self.next_seq = seq.wrapping_add(1);
        let vary = 1.0 + config.jitter * (2.0 * cx.rng.uniform() - 1.0);
        let gap = Span((self.feedback.gap_ps() * vary) as u64);
        self.granting = Granting::At(pacing_base(due, cx.now, catch_up) + Span(gap.0.max(1)));
        let known = RankInputs {
            packets: self.packets,
            arrived: self.edge + self.above.bytes(),
            opened: self.opened,
            deadline: self.deadline,
            asked: self.asked,
            announced_key: self.announced_key,
        };
        let (class, key) = config.priority.of(&known);
        Some((seq, if config.ranked == RankedPackets::Data { (0, u64::from(class)) } else { (class, key) }))
    }

    /// Returns true if enough tokens are in flight for the missing packets.
    fn has_enough(&self, config: &Config) -> bool {
        if config.stop != Stop::NeedCap || self.packets == u64::MAX {
            return false;
        }
        // A faulty sender may have sent packets beyond the flow's end.
        let missing = self.packets.saturating_sub(self.edge + self.above.bytes());
        let under_way = f64::from(self.next_seq.wrapping_sub(self.token_counts.expected));
        under_way >= missing as f64 / (1.0 - config.feedback.target)
    }

    /// Records a data packet, and counts it in `stats` if it is new. Calls `miss` with each run of packets that now
    /// counts as missing.
    pub(super) fn arrive(
        &mut self,
        arrived: DataArrival,
        cx: &Cx,
        config: &Config,
        stats: &mut PayloadStats,
        mut miss: impl FnMut(Interval),
    ) {
        self.heard = cx.now;
        if let Some((seq, stamp)) = arrived.token {
            self.record_token(seq, Stamp::read(cx.clock, cx.now).since(stamp));
        }
        let packet = arrived.packet;
        // The sender's numbers are not trusted.
        if packet >= self.packets {
            return;
        }
        let highest = self.above.end_above(self.edge);
        let mut is_new = packet == self.edge;
        self.top = self.top.max(packet + 1);
        if packet == self.edge {
            self.edge = self.above.absorb(packet + 1);
        } else if packet > self.edge {
            let new = Interval { start: packet, end: packet + 1 };
            if self.above.count() < MAX_RUNS || self.above.touches(new) {
                self.above.insert(new, |_| is_new = true);
            }
        }
        if is_new {
            stats.count(packet, highest);
        }
        if let Granting::Enough(_) = self.granting
            && !self.has_enough(config)
        {
            self.granting = Granting::At(cx.now);
        }
        let sure = self.top.saturating_sub(u64::from(config.reordering));
        self.reported_until = self.reported_until.max(self.edge);
        if sure > self.reported_until && !self.above.is_empty() {
            self.holes(Interval { start: self.reported_until, end: sure }, &mut miss);
            self.reported_until = sure;
        }
    }

    /// Calls `miss` with each run of `within` that has not arrived.
    fn holes(&self, within: Interval, miss: &mut impl FnMut(Interval)) {
        let mut at = within.start;
        while at < within.end {
            let start = self.above.next_gap(at);
            if start >= within.end {
                return;
            }
            let end = self.above.next_start(start).min(within.end);
            miss(Interval { start, end });
            at = end;
        }
    }

    /// Records that the token `seq` was answered after `rtt`.
    fn record_token(&mut self, seq: u32, rtt: Span) {
        let smooth = |old: Span| Span((old.0 * RTT_KEPT + rtt.0 * (RTT_PARTS - RTT_KEPT)) / RTT_PARTS);
        self.rtt = Some(self.rtt.map_or(rtt, smooth));
        let ahead = seq.wrapping_sub(self.token_counts.expected).cast_signed();
        let period = &mut self.token_counts.period;
        period.delivered += 1;
        if ahead >= 0 {
            period.dropped = period.dropped.saturating_add(ahead.cast_unsigned());
            self.token_counts.expected = seq.wrapping_add(1);
        } else {
            // The token was reordered, not dropped.
            period.dropped = period.dropped.saturating_sub(1);
        }
    }

    /// Called before a token is sent: updates the rate from the outcomes of earlier tokens, if a round trip has
    /// passed since the last update and at least one outcome is known (`credit_feedback_control` of ExpressPass's
    /// published code).
    fn follow(&mut self, now: Time, config: &Config) {
        let (elapsed, period) = (now.since(self.token_counts.since), self.token_counts.period);
        let Some(rtt) = self.rtt.filter(|&rtt| elapsed >= rtt && period.delivered > 0) else { return };
        self.feedback.update(&config.feedback, Period { elapsed, ..period }, rtt);
        self.token_counts.period = Period::default();
        self.token_counts.since = now;
    }

    /// Returns the lowest hole if nothing has arrived for too long.
    pub(super) fn overdue(&mut self, now: Time, config: &Config) -> Option<Interval> {
        if self.heard + self.rto(config) > now {
            return None;
        }
        self.heard = now;
        Some(self.lowest_hole())
    }

    /// Returns the lowest run of missing packets, up to the next packet that has arrived, or the end.
    pub(super) fn lowest_hole(&self) -> Interval {
        Interval { start: self.edge, end: self.above.next_start(self.edge).min(self.packets) }
    }
}

/// The contents of a SYNC, in packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sync {
    pub(super) packets: u64,
    pub(super) deadline: Time,
    pub(super) asked: Class,
    pub(super) unscheduled: u16,
    /// Its key, if it carries one.
    pub(super) announced_key: u64,
}

impl Sync {
    /// Decodes a SYNC from a sender with data packets of `mss` bytes; `None` if `packet` is not a SYNC.
    pub(super) fn of(packet: &Packet<TokenMessage>, mss: u64) -> Option<Self> {
        match packet.body {
            TokenMessage::Sync { size, deadline, unscheduled, asked } => {
                let packets = if size == u64::MAX { u64::MAX } else { size.div_ceil(mss) };
                Some(Self { packets, deadline, asked, unscheduled, announced_key: packet.header.rank })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;

//! The receiving end of a flow: who may send, how fast, and what is missing.
//!
//! ```text
//! SYNC         -> tokens at the first rate
//! DATA(seq)    -> seq above the next expected: those between were dropped
//! token due    -> the rate follows first, if a round trip has passed since it did or since the SYNC, and a fate is known
//! STOP         -> no more tokens (where senders end them)
//! all arrived  -> DONE, and again for each SYNC, STOP, FIN or RESET that still comes
//!
//! a packet is missed once `reordering` packets beyond it arrived; after max(3 RTT, min_rto) without a packet the lowest
//! hole is missed (again), of which the far end may lie beyond what was sent: MISS names a run of packets
//! ```

use super::body::TokenMessage;
use super::config::{Config, Ranked, Stop};
use super::feedback::{Feedback, Period};
use super::priority::RankInputs;
use crate::endpoint::{Cx, PayloadStats};
use crate::ids::{Class, FlowId, HostId};
use crate::packet::{Header, Packet};
use crate::transport::common::{FlowTimer, Interval, Ranges, Stamp, paced_from, timed_by_alarm};
use crate::units::{Rate, Span, Time};

/// Whether tokens flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Granting {
    /// The next goes at this instant.
    At(Time),
    /// As many are under way as are needed: those that are not back by then are lost.
    Enough(Time),
    /// The sender wants none.
    Stopped,
}

/// A packet of payload, as far as the receiver looks at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// Its place in the flow.
    pub(super) packet: u64,
    /// What its token said; `None` for an unscheduled packet.
    pub(super) token: Option<(u32, Stamp)>,
}

/// Fate of tokens.
#[derive(Clone, Copy, Debug)]
struct TokenCounts {
    /// The next number that should come back.
    expected: u32,
    period: Period,
    /// When the period began: at the last update of the rate, before the first at the SYNC.
    since: Time,
}

/// A flow that arrives here.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) flow: FlowId,
    pub(super) peer: HostId,
    pub(super) entropy: u16,
    /// What the last packet lacks to a full one, where it does and has arrived.
    short: u16,
    asked: Class,
    deadline: Time,
    told: u64,
    opened: Time,
    /// Packets of the flow, `u64::MAX` where that is not known.
    packets: u64,
    /// All packets before it arrived.
    edge: u64,
    above: Ranges,
    /// One more than the highest packet that arrived.
    top: u64,
    /// Holes below it were missed once.
    looked: u64,
    feedback: Feedback,
    fate: TokenCounts,
    rtt: Option<Span>,
    next_seq: u32,
    granting: Granting,
    /// When something last arrived, or was last missed.
    heard: Time,
    pub(super) alarm: FlowTimer,
}

/// Runs of packets that are kept out of order; a packet that would begin one more is taken for lost.
const MAX_RUNS: usize = 1 << 16;

/// Weight of the old round trip in the mean (ExpressPass's published code).
const RTT_KEPT: u64 = 8;
const RTT_PARTS: u64 = 10;

timed_by_alarm!(Receiver);

impl Receiver {
    /// A flow whose SYNC, with this header, arrived at `now`.
    pub(super) fn new(header: &Header, sync: Sync, line: Rate, cx: &Cx, config: &Config) -> Self {
        let Sync { packets, deadline, asked, unscheduled, told } = sync;
        let feedback = Feedback::new(&config.feedback, config.max_rate(line), packets);
        Self {
            flow: header.flow,
            peer: header.src,
            entropy: header.entropy,
            short: 0,
            asked,
            deadline,
            told,
            opened: cx.now,
            packets,
            edge: 0,
            above: Ranges::default(),
            top: u64::from(unscheduled),
            looked: 0,
            feedback,
            fate: TokenCounts { expected: 0, period: Period::default(), since: cx.now },
            rtt: None,
            next_seq: 0,
            granting: Granting::At(cx.now),
            heard: cx.now,
            alarm: FlowTimer::OFF,
        }
    }

    /// All of it arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.edge >= self.packets
    }

    /// Packets that arrived in order.
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// Whether a packet of payload begins and ends where packets of `mss` bytes do, or ends the flow.
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

    /// Payload bytes that arrived in order, in packets of `mss` bytes.
    pub(super) fn in_order(&self, mss: u16) -> u64 {
        let short = if self.edge == self.top { self.short } else { 0 };
        self.edge.saturating_mul(u64::from(mss)).saturating_sub(u64::from(short))
    }

    /// The flow's length, now known.
    pub(super) fn ends_at(&mut self, packets: u64) {
        self.packets = packets;
    }

    /// When something happens here next unless a packet arrives before.
    pub(super) fn next_action(&self, config: &Config) -> Time {
        let token = match self.granting {
            Granting::At(at) | Granting::Enough(at) => at,
            Granting::Stopped => Time::NEVER,
        };
        token.min(self.heard + self.rto(config))
    }

    fn rto(&self, config: &Config) -> Span {
        self.rtt.map_or(config.min_rto, |rtt| config.min_rto.max(rtt.times(3)))
    }

    /// The sender asks (again) for tokens.
    pub(super) fn resume(&mut self, now: Time, asked: Class) {
        self.asked = asked;
        if self.granting == Granting::Stopped {
            self.granting = Granting::At(now);
            self.heard = now;
            self.fate.since = now;
        }
    }

    /// The sender wants no more tokens.
    pub(super) fn stop(&mut self) {
        self.granting = Granting::Stopped;
    }

    /// Number and class with key of the token that is due, if one is; up to `catch_up` of lateness is made up.
    pub(super) fn token(
        &mut self,
        cx: &mut Cx,
        catch_up: Span,
        config: &Config,
    ) -> Option<(u32, (Class, u64))> {
        let due = match self.granting {
            Granting::At(at) if at <= cx.now => at,
            Granting::Enough(at) if at <= cx.now => {
                self.fate.expected = self.next_seq;
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
        self.granting = Granting::At(paced_from(due, cx.now, catch_up) + Span(gap.0.max(1)));
        let known = RankInputs {
            packets: self.packets,
            arrived: self.edge + self.above.bytes(),
            opened: self.opened,
            deadline: self.deadline,
            asked: self.asked,
            told: self.told,
        };
        let (class, key) = config.priority.of(&known);
        Some((seq, if config.ranked == Ranked::Data { (0, u64::from(class)) } else { (class, key) }))
    }

    /// Whether the tokens under way are as many as the packets that are missing call for.
    fn has_enough(&self, config: &Config) -> bool {
        if config.stop != Stop::NeedCap || self.packets == u64::MAX {
            return false;
        }
        // Packets beyond the flow's end may have come, from a sender that is at fault.
        let missing = self.packets.saturating_sub(self.edge + self.above.bytes());
        let under_way = f64::from(self.next_seq.wrapping_sub(self.fate.expected));
        under_way >= missing as f64 / (1.0 - config.feedback.target)
    }

    /// A packet of payload arrived, which `stats` counts if it is new. Tells `miss` each run of packets that is now known to
    /// be missing.
    pub(super) fn arrive(
        &mut self,
        arrived: Arrived,
        cx: &Cx,
        config: &Config,
        stats: &mut PayloadStats,
        mut miss: impl FnMut(Interval),
    ) {
        self.heard = cx.now;
        if let Some((seq, stamp)) = arrived.token {
            self.learn(seq, Stamp::read(cx.clock, cx.now).since(stamp));
        }
        let packet = arrived.packet;
        // Whatever its sender says.
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
        self.looked = self.looked.max(self.edge);
        if sure > self.looked && !self.above.is_empty() {
            self.holes(Interval { start: self.looked, end: sure }, &mut miss);
            self.looked = sure;
        }
    }

    /// Tells each run of `within` that did not arrive.
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

    /// The token `seq` came back after `rtt`.
    fn learn(&mut self, seq: u32, rtt: Span) {
        let smooth = |old: Span| Span((old.0 * RTT_KEPT + rtt.0 * (RTT_PARTS - RTT_KEPT)) / RTT_PARTS);
        self.rtt = Some(self.rtt.map_or(rtt, smooth));
        let ahead = seq.wrapping_sub(self.fate.expected).cast_signed();
        let period = &mut self.fate.period;
        period.delivered += 1;
        if ahead >= 0 {
            period.dropped = period.dropped.saturating_add(ahead.cast_unsigned());
            self.fate.expected = seq.wrapping_add(1);
        } else {
            // It was overtaken, not dropped.
            period.dropped = period.dropped.saturating_sub(1);
        }
    }

    /// A token is about to go: the rate follows what became of those before it, if a round trip has passed since it last
    /// did and the fate of one is known (`credit_feedback_control` of ExpressPass's published code).
    fn follow(&mut self, now: Time, config: &Config) {
        let (elapsed, period) = (now.since(self.fate.since), self.fate.period);
        let Some(rtt) = self.rtt.filter(|&rtt| elapsed >= rtt && period.delivered > 0) else { return };
        self.feedback.update(&config.feedback, Period { elapsed, ..period }, rtt);
        self.fate.period = Period::default();
        self.fate.since = now;
    }

    /// Nothing arrived for too long: the lowest hole.
    pub(super) fn overdue(&mut self, now: Time, config: &Config) -> Option<Interval> {
        if self.heard + self.rto(config) > now {
            return None;
        }
        self.heard = now;
        Some(self.lowest_hole())
    }

    /// The lowest packets that did not arrive, as far as the next that did, or the end.
    pub(super) fn lowest_hole(&self) -> Interval {
        Interval { start: self.edge, end: self.above.next_start(self.edge).min(self.packets) }
    }
}

/// What a SYNC says, in packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sync {
    pub(super) packets: u64,
    pub(super) deadline: Time,
    pub(super) asked: Class,
    pub(super) unscheduled: u16,
    /// Its key, where it tells one.
    pub(super) told: u64,
}

impl Sync {
    /// What `packet` says, where payload comes in packets of `mss`; `None` if it is no SYNC.
    pub(super) fn of(packet: &Packet<TokenMessage>, mss: u64) -> Option<Self> {
        match packet.body {
            TokenMessage::Sync { size, deadline, unscheduled, asked } => {
                let packets = if size == u64::MAX { u64::MAX } else { size.div_ceil(mss) };
                Some(Self { packets, deadline, asked, unscheduled, told: packet.header.rank })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;

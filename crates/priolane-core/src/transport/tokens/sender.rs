//! The sending end of a flow: sends a packet for each token.
//!
//! ```text
//! REQUESTING  SYNC sent; repeated after each timeout
//!   first token -> SENDING
//! SENDING     each token sends a missing packet, else the next packet, else it is wasted
//!   all sent, or the tokens of a round trip cover the packets left (if senders end tokens) -> STOP, STOPPED
//! STOPPED     tokens in flight still send; two round trips later: packets left -> SYNC, SENDING
//! any state   timeout without packets from the receiver: SYNC if packets are left, else STOP (FIN if size unannounced)
//!   DONE -> the flow is complete
//! ```

use super::config::{Config, Recovery, Stop};
use crate::endpoint::{FlowReport, FlowRequest};
use crate::ids::{Class, HostId};
use crate::transport::common::{FlowTimer, Interval, Ranges, SentFlow, timed_by_alarm};
use crate::units::{Span, Time, bits_per_second};

/// The state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Requesting,
    Sending,
    /// It has asked the receiver to stop; at this time it checks whether that was too early.
    Stopped(Time),
}

/// A round trip in which tokens are counted.
#[derive(Clone, Copy, Debug)]
struct Round {
    ends: Time,
    tokens: u64,
}

/// A signal that a sender has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SenderSignal {
    /// It needs tokens.
    Sync,
    /// It needs no more tokens, or asks whether all data arrived.
    Stop,
    /// All data was sent.
    Fin,
}

/// The response to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenResponse {
    /// The number of the packet to send; `None` if the token is wasted.
    pub(super) packet: Option<u64>,
    /// The signal to send after the packet.
    pub(super) signal: Option<SenderSignal>,
}

/// Counters of tokens at the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenUsage {
    /// Tokens for which a packet was sent.
    pub(super) used: u64,
    /// Tokens that found nothing to send.
    pub(super) wasted: u64,
    /// Tokens that were too old.
    pub(super) expired: u64,
}

/// The sender state of a flow.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) spec: FlowRequest,
    /// Number of packets of the flow; `u64::MAX` without an end.
    packets: u64,
    /// The next packet in order.
    next: u64,
    /// Packets below this were sent at least once.
    sent: u64,
    again: Ranges,
    /// Number of packets sent without tokens.
    first: u16,
    /// The time from which on a missing packet among those may be retransmitted.
    resend_from: Time,
    state: State,
    round: Round,
    rtt: Span,
    /// Whether the first token measures the round-trip time.
    pub(super) measures_rtt: bool,
    heard: Time,
    /// Doublings of the timeout.
    backoff: u32,
    pub(super) usage: TokenUsage,
    retransmits: u32,
    /// Retransmitted payload bytes.
    retransmitted: u64,
    timeouts: u32,
    /// The class of the first packet sent.
    class_first: Class,
    /// Payload bytes that the receiver is known to have received in order.
    acked: u64,
    next_report: Time,
    pub(super) alarm: FlowTimer,
}

/// Maximum number of doublings of the timeout.
const MOST_BACKOFF: u32 = 6;

timed_by_alarm!(Sender);

impl SentFlow for Sender {
    #[inline]
    fn dst(&self) -> HostId {
        self.spec.dst
    }
}

impl Sender {
    /// Creates a flow that starts at `now` on a path with this round-trip time.
    pub(super) fn new(spec: FlowRequest, rtt: Span, now: Time, config: &Config) -> Self {
        let mss = u64::from(config.frame.mss());
        Self {
            packets: spec.size.map_or(u64::MAX, |size| size.div_ceil(mss)),
            class_first: spec.class,
            spec,
            next: 0,
            sent: 0,
            again: Ranges::default(),
            first: 0,
            resend_from: now + rtt.times(2),
            state: State::Requesting,
            round: Round { ends: Time::NEVER, tokens: 0 },
            rtt,
            measures_rtt: false,
            heard: now,
            backoff: 0,
            usage: TokenUsage::default(),
            retransmits: 0,
            retransmitted: 0,
            timeouts: 0,
            acked: 0,
            next_report: config.monitor.map_or(Time::NEVER, |every| now + every),
            alarm: FlowTimer::OFF,
        }
    }

    /// Returns the payload bytes that the receiver is known to have received in order.
    pub(super) fn acked(&self) -> u64 {
        self.spec.size.map_or(self.acked, |size| self.acked.min(size))
    }

    /// Handles a token at `now`: returns the time since the SYNC if it is the first token and no SYNC was repeated.
    /// If the path is unknown, this becomes the round-trip time.
    pub(super) fn first_token(&mut self, now: Time) -> Option<Span> {
        if self.state != State::Requesting || self.timeouts > 0 {
            return None;
        }
        // Nothing was received yet, so `heard` is the opening time.
        let rtt = now.since(self.heard).max(Span(1));
        if self.measures_rtt {
            self.rtt = rtt;
        }
        Some(rtt)
    }

    /// Returns the number of packets to send without tokens.
    pub(super) fn unscheduled(&self, config: &Config) -> u16 {
        let small = config.priority.tells_size() && self.packets <= u64::from(config.unscheduled);
        if small { self.packets as u16 } else { 0 }
    }

    /// Records that the first `packets` packets were sent.
    pub(super) fn sent_first(&mut self, packets: u16) {
        self.next = u64::from(packets);
        self.sent = self.next;
        self.first = packets;
    }

    /// Sets the class from now on.
    pub(super) fn reclassify(&mut self, class: Class) {
        self.spec.class = class;
        if self.sent == 0 {
            self.class_first = class;
        }
    }

    /// Counts a packet as sent or retransmitted.
    fn count(&mut self, packet: u64, config: &Config) {
        if packet < self.sent {
            self.retransmits += 1;
            self.retransmitted += u64::from(self.payload(packet, config));
        } else {
            self.sent = packet + 1;
        }
    }

    /// Returns the payload bytes of a packet.
    pub(super) fn payload(&self, packet: u64, config: &Config) -> u16 {
        let mss = u64::from(config.frame.mss());
        self.spec.size.map_or(mss, |size| size.saturating_sub(packet * mss).min(mss)) as u16
    }

    fn has_unsent(&self) -> bool {
        self.next < self.packets || !self.again.is_empty()
    }

    fn unsent(&self) -> u64 {
        (self.packets - self.next).saturating_add(self.again.bytes())
    }

    /// Handles a token that is not too old; the receiver has `acked` bytes in order.
    pub(super) fn token(&mut self, now: Time, acked: u64, config: &Config) -> TokenResponse {
        self.on_packet(now, acked);
        if self.state == State::Requesting {
            self.state = State::Sending;
            self.round = Round { ends: now + self.rtt, tokens: 0 };
        }
        self.round.tokens += 1;
        let packet =
            self.next_packet().or_else(|| self.unanswered(now, acked / u64::from(config.frame.mss())));
        if let Some(packet) = packet {
            self.usage.used += 1;
            self.count(packet, config);
            return TokenResponse { packet: Some(packet), signal: self.signal_after(now, config) };
        }
        self.usage.wasted += 1;
        let signal = match self.state {
            // The receiver did not get the first STOP.
            State::Stopped(at) if at <= now => {
                self.state = State::Stopped(now + self.rtt.times(2));
                Some(SenderSignal::Stop)
            }
            _ => None,
        };
        TokenResponse { packet, signal }
    }

    /// Returns `edge`, the first packet missing at the receiver, if it was sent without a token long enough ago to
    /// count as lost.
    fn unanswered(&mut self, now: Time, edge: u64) -> Option<u64> {
        let is_lost = edge < u64::from(self.first) && self.resend_from <= now;
        is_lost.then(|| {
            self.resend_from = now + self.rtt;
            edge
        })
    }

    /// Records a packet from the receiver.
    pub(super) fn on_packet(&mut self, now: Time, acked: u64) {
        self.heard = now;
        self.backoff = 0;
        self.acked = self.acked.max(acked);
    }

    fn next_packet(&mut self) -> Option<u64> {
        if let Some(first) = self.again.lowest() {
            self.again.advance(first.start, first.start + 1, |_| ());
            return Some(first.start);
        }
        let packet = self.next;
        (packet < self.packets).then(|| {
            self.next += 1;
            packet
        })
    }

    /// Returns the signal to send after a packet.
    fn signal_after(&mut self, now: Time, config: &Config) -> Option<SenderSignal> {
        let all = !self.has_unsent();
        if config.stop != Stop::Sender {
            return (all && !config.priority.tells_size()).then_some(SenderSignal::Fin);
        }
        let left = self.unsent();
        let early = self.round.ends <= now && {
            let tokens = std::mem::take(&mut self.round.tokens);
            self.round.ends = now + self.rtt;
            tokens >= left
        };
        if matches!(self.state, State::Stopped(_)) || !(all || early) {
            return None;
        }
        self.state = State::Stopped(now + self.rtt.times(2));
        Some(SenderSignal::Stop)
    }

    /// Handles the report that packets `missed` did not arrive; returns the signal to reply with.
    pub(super) fn missed(&mut self, missed: Interval, now: Time, config: &Config) -> Option<SenderSignal> {
        self.on_packet(now, missed.start.saturating_mul(u64::from(config.frame.mss())));
        let sent = Interval { start: missed.start, end: missed.end.min(self.next) };
        match config.recovery {
            Recovery::Selective if sent.start < sent.end => self.again.insert(sent, |_| ()),
            Recovery::GoBackN if sent.start < sent.end => self.next = sent.start,
            _ => {}
        }
        if !self.has_unsent() {
            return (!config.priority.tells_size()).then_some(SenderSignal::Fin);
        }
        matches!(self.state, State::Stopped(_)).then(|| {
            self.state = State::Sending;
            self.round = Round { ends: now + self.rtt, tokens: 0 };
            SenderSignal::Sync
        })
    }

    fn timeout(&self, config: &Config) -> Span {
        config.min_rto.max(self.rtt.times(3)).times(1 << self.backoff).min(Span::LONGEST)
    }

    /// Returns the time of the next action if no packet arrives before.
    pub(super) fn next_action(&self, config: &Config) -> Time {
        let stopped = match self.state {
            State::Stopped(at) if self.has_unsent() => at,
            _ => Time::NEVER,
        };
        (self.heard + self.timeout(config)).min(stopped).min(self.next_report)
    }

    /// Returns the signal that is due at `now`, if any.
    pub(super) fn on_timer(&mut self, now: Time, config: &Config) -> Option<SenderSignal> {
        if let State::Stopped(at) = self.state
            && at <= now
            && self.has_unsent()
        {
            self.state = State::Sending;
            self.round = Round { ends: now + self.rtt, tokens: 0 };
            return Some(SenderSignal::Sync);
        }
        if self.heard + self.timeout(config) > now {
            return None;
        }
        self.heard = now;
        self.backoff = (self.backoff + 1).min(MOST_BACKOFF);
        self.timeouts += 1;
        Some(if self.has_unsent() || self.state == State::Requesting {
            SenderSignal::Sync
        } else if config.priority.tells_size() {
            SenderSignal::Stop
        } else {
            SenderSignal::Fin
        })
    }

    /// Returns true if a report is due at `now`, and schedules the next.
    pub(super) fn reports(&mut self, now: Time, config: &Config) -> bool {
        let due = self.next_report <= now;
        if due && let Some(every) = config.monitor {
            self.next_report += every;
        }
        due
    }

    /// Records that all data has arrived.
    pub(super) fn done(&mut self, config: &Config) {
        let mss = u64::from(config.frame.mss());
        self.acked = self.spec.size.unwrap_or(self.next.saturating_mul(mss));
    }

    /// Returns a report of the flow's state at `now`.
    pub(super) fn report(&self, now: Time) -> FlowReport {
        let elapsed = now.since(self.spec.start);
        let bytes = self.spec.size.map_or(self.acked, |size| self.acked.min(size));
        FlowReport {
            flow: self.spec.id,
            bytes,
            remaining: self.spec.size.map_or(u64::MAX, |size| size - bytes),
            rate_bps: bits_per_second(bytes, elapsed),
            retransmitted: self.retransmitted,
            retransmits: self.retransmits,
            timeouts: self.timeouts,
            initial_timeouts: 0,
            spurious: 0,
            rtt: self.rtt,
            elapsed,
            class_first: self.class_first,
            class_last: self.spec.class,
        }
    }
}

#[cfg(test)]
mod tests;

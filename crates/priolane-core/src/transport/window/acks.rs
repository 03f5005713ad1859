//! The effects of ACKs and of the retransmission timer on the state of a flow's sender.
//!
//! ```text
//! Open      SACK:          more than (dup_threshold - 1) MSS SACKed above una, or dup_threshold duplicates
//!           that SACK new data ............................... Fast (RFC 6675 §5 steps 1-4)
//!           NewReno, GBN:  dup_threshold duplicates, una beyond the last recovery ... Fast (RFC 6582 §3.2)
//! Fast      one window reduction; the first lost segment is sent immediately, the rest as the pipe allows
//!           SACK:          lost = missing below the loss edge (RFC 6675 §4 IsLost), at most `recover`
//!           NewReno:       lost = the segment at una; each duplicate inflates by one MSS, a partial ACK
//!                          deflates by the bytes it acknowledges minus one MSS and sends the next hole
//!           GoBackN:       lost = everything up to `recover`
//!           Trims:         module `trims`: lost = segments whose trimmed headers arrived
//! any       RTO:           window 1 MSS, timeout doubled; lost = everything outstanding that is not
//!                          SACKed ...................................... Timeout (RFC 5681 §3.1, RFC 6298 §5)
//! Recovery  una ≥ recover .................................................................... Open
//! ```
//!
//! A lost retransmission is repaired by the timer (docs/assumptions.md#lost-retransmission), which an ACK of new
//! data restarts (RFC 6298 §5.3). After an expiry the timer starts only when the retransmission leaves the host
//! (§5.6). So a host that serves other flows first causes no second expiry (docs/assumptions.md#rto-after-expiry).
//! Parts of RFC 6675 not implemented: docs/assumptions.md#sack-recovery.

use super::config::{Config, LossRecovery};
use super::controller::{AckEvent, CongestionControl, Growth, LossEvent, Repeat};
use super::recovery::{Kind, Recovery, State};
use super::sender::Sender;
use crate::transport::common::{Interval, Stamp};
use crate::units::{Span, Time};

/// The contents of an ACK, decoded for its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecodedAck {
    pub(super) now: Time,
    pub(super) cumulative: u64,
    /// SACK blocks as offsets from `cumulative`.
    pub(super) sack: [(u32, u32); 2],
    pub(super) rtt: Span,
    pub(super) one_way_ps: i64,
    pub(super) host_delay: Span,
    pub(super) echo: Echoed,
}

/// The effect of an ACK on the sender's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    /// This number of bytes was acknowledged for the first time.
    Advanced(u64),
    /// It repeats the cumulative ACK while data is outstanding; with selective ACKs, it also SACKs new data.
    Duplicate,
    /// No effect.
    None,
}

/// The bytes that an ACK reports.
struct Delivery {
    /// Acknowledged cumulatively for the first time.
    acked: u64,
    /// Reported as arrived for the first time.
    delivered: u64,
    /// In the network after the ACK.
    in_flight: u64,
}

/// Whether an ACK echoes an ECN mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Echoed {
    Nothing,
    Congestion,
}

impl<C: CongestionControl> Sender<C> {
    /// Completes the handshake. Its timeouts were spurious if the reply is to a SYN that left before any of them.
    pub(super) fn on_established(&mut self, now: Time, rtt: Span, config: &Config) {
        let first_timeout = self.start() + config.initial_rto.max(config.min_rto);
        // Stamps are rounded to ticks.
        if now.0.saturating_sub(rtt.0) + 2 * Stamp::TICK.0 < first_timeout.0 {
            self.rto.add_spurious(self.sent.timeouts);
        }
        self.rto.sample(rtt);
        self.state = State::Open;
        self.deadline = Time::NEVER;
    }

    /// Handles the loss of the SYN or the SYN/ACK.
    pub(super) fn on_handshake_timeout(&mut self) {
        self.sent.timeouts += 1;
        self.rto.back_off();
    }

    /// Returns true if header prediction expects this ACK (Van Jacobson, 1990). The state is open and nothing is
    /// SACKed, and the ACK only acknowledges new data. It completes neither the flow nor a pending change of class. ACKs of
    /// flows of a connection are never expected.
    #[inline(always)]
    pub(super) fn expects(&self, cumulative: u64, sack: [(u32, u32); 2]) -> bool {
        matches!(self.state, State::Open)
            && self.una < cumulative
            && cumulative <= self.next
            && cumulative < self.next_transition_offset()
            && sack[0].1 | sack[1].1 == 0
            && self.sacked.is_empty()
            && self.stream.is_none()
    }

    /// Processes an ACK that [`Self::expects`], with the same result as [`Self::on_ack`]. Changes only the fields
    /// `una`, `dup_acks`, `rto`, `deadline` and `controller`.
    #[inline(always)]
    pub(super) fn on_expected_ack(&mut self, ack: &DecodedAck, config: &Config) {
        debug_assert!(self.expects(ack.cumulative, ack.sack), "{self:?}");
        let growth = self.growth();
        let acked = ack.cumulative - self.una;
        self.acknowledge(ack, config);
        let delivery = Delivery { acked, delivered: acked, in_flight: self.next - self.una };
        self.notify_controller(ack, &delivery, growth);
    }

    /// Processes an ACK. Ignores an ACK for data that was never sent.
    pub(super) fn on_ack(&mut self, ack: &DecodedAck, config: &Config) {
        if matches!(self.state, State::Handshake) || ack.cumulative > self.next {
            return;
        }
        let growth = self.growth();
        let before = self.una + self.sacked.bytes();
        let effect = self.learn(ack, config);
        let acked = if let Effect::Advanced(acked) = effect { acked } else { 0 };
        let delivered = self.una + self.sacked.bytes() - before;
        self.notify_controller(ack, &Delivery { acked, delivered, in_flight: self.pipe() }, growth);
        self.repair(effect, ack.now, config);
        if let State::Recovery(recovery) = &self.state {
            debug_assert!(recovery.counts_right(&self.sacked), "{recovery:?}");
        }
    }

    /// Passes an ACK to the congestion controller.
    #[inline(always)]
    fn notify_controller(&mut self, ack: &DecodedAck, delivery: &Delivery, growth: Growth) {
        let Delivery { acked, delivered, in_flight } = *delivery;
        self.controller.on_ack(&AckEvent {
            now: ack.now,
            acked,
            delivered,
            in_flight,
            una: self.una,
            next: self.next,
            marked: ack.echo == Echoed::Congestion,
            growth,
            rtt: Some(ack.rtt),
            srtt: self.rto.srtt(),
            one_way_ps: ack.one_way_ps,
            host_delay: ack.host_delay,
        });
    }

    /// Returns whether an ACK may grow the window; called before the ACK is processed.
    #[inline]
    fn growth(&self) -> Growth {
        match &self.state {
            State::Recovery(recovery) if recovery.kind == Kind::Fast => Growth::Recovering,
            _ if self.una < self.full_until => Growth::Allowed,
            _ => Growth::NotLimited,
        }
    }

    /// Updates the state of acknowledged data from an ACK.
    fn learn(&mut self, ack: &DecodedAck, config: &Config) -> Effect {
        let acked = self.advance(ack, config);
        let selective = matches!(config.recovery, LossRecovery::Sack | LossRecovery::Trims);
        let fresh = if selective { self.take_sacks(ack) } else { 0 };
        if acked > 0 {
            return Effect::Advanced(acked);
        }
        let repeats = ack.cumulative == self.una && self.next > self.una;
        if repeats && (fresh > 0 || !selective) {
            self.dup_acks = self.dup_acks.saturating_add(1);
            return Effect::Duplicate;
        }
        Effect::None
    }

    /// Advances `una` and returns the bytes acknowledged for the first time.
    fn advance(&mut self, ack: &DecodedAck, config: &Config) -> u64 {
        let acked = ack.cumulative.saturating_sub(self.una);
        if acked == 0 {
            return 0;
        }
        let state = &mut self.state;
        self.sacked.advance(self.una, ack.cumulative, |bytes| {
            if let State::Recovery(recovery) = state {
                recovery.arrived(bytes);
            }
        });
        self.acknowledge(ack, config);
        if let State::Recovery(recovery) = &mut self.state {
            recovery.acknowledged(self.una);
            self.rto.add_spurious(recovery.spurious_timeouts(Time(ack.now.0.saturating_sub(ack.rtt.0))));
        }
        acked
    }

    /// Advances `una` to the cumulative ACK, and restarts the timer.
    #[inline(always)]
    fn acknowledge(&mut self, ack: &DecodedAck, config: &Config) {
        self.una = ack.cumulative;
        self.dup_acks = 0;
        self.rto.sample(ack.rtt);
        let outstanding = self.una < self.next;
        self.deadline = if outstanding { ack.now + self.rto.timeout(config) } else { Time::NEVER };
    }

    /// Records SACK blocks and returns the bytes they report for the first time.
    fn take_sacks(&mut self, ack: &DecodedAck) -> u64 {
        let mut fresh = 0;
        for (start, end) in ack.sack {
            let block = Interval {
                start: (ack.cumulative + u64::from(start)).max(self.una),
                end: (ack.cumulative + u64::from(end)).min(self.next),
            };
            if end == 0 || block.end <= block.start {
                continue;
            }
            let state = &mut self.state;
            self.sacked.insert(block, |bytes| {
                fresh += bytes.len();
                if let State::Recovery(recovery) = state {
                    recovery.arrived(bytes);
                }
            });
        }
        fresh
    }

    /// Begins, continues or ends a recovery.
    fn repair(&mut self, effect: Effect, now: Time, config: &Config) {
        if let State::Recovery(recovery) = &self.state {
            let kind = recovery.kind;
            if self.una >= recovery.recover {
                self.end_recovery(kind, now, config);
            } else if kind == Kind::Fast {
                self.continue_fast(effect, config);
            }
        }
        if matches!(self.state, State::Open) && self.una < self.next {
            self.detect_loss(now, config);
        }
    }

    fn end_recovery(&mut self, kind: Kind, now: Time, config: &Config) {
        let ended = std::mem::replace(&mut self.state, State::Open);
        self.dup_acks = 0;
        if let State::Recovery(mut ended) = ended {
            self.repair_rest(ended.take_trimmed(), now);
        }
        if kind == Kind::Fast && config.recovery == LossRecovery::NewReno {
            self.controller.on_recovered(self.next - self.una);
        }
    }

    fn continue_fast(&mut self, effect: Effect, config: &Config) {
        let mss = u64::from(config.frame.mss());
        let flight = self.next - self.una;
        let edge = self.loss_edge(config);
        let State::Recovery(recovery) = &mut self.state else { return };
        match (config.recovery, effect) {
            (LossRecovery::Sack, _) => recovery.lose_to(edge.unwrap_or(0), &self.sacked),
            (LossRecovery::NewReno, Effect::Advanced(acked)) => {
                let kept = if acked >= mss { mss } else { 0 };
                recovery.inflation = (recovery.inflation.saturating_sub(acked) + kept).min(flight);
                recovery.send_at_once();
                recovery.lose_to(self.una + mss.min(flight), &self.sacked);
            }
            (LossRecovery::NewReno, Effect::Duplicate) => {
                recovery.inflation = (recovery.inflation + mss).min(flight);
            }
            (LossRecovery::NewReno, Effect::None) | (LossRecovery::GoBackN | LossRecovery::Trims, _) => {}
        }
    }

    /// Returns the offset below which everything missing is lost according to SACKs.
    fn loss_edge(&self, config: &Config) -> Option<u64> {
        let tolerated = u64::from(config.dup_threshold.max(1) - 1) * u64::from(config.frame.mss());
        self.sacked.lost_edge(tolerated)
    }

    fn detect_loss(&mut self, now: Time, config: &Config) {
        let duplicates = self.dup_acks >= config.dup_threshold.max(1);
        match config.recovery {
            LossRecovery::Sack => {
                let edge = self.loss_edge(config);
                if edge.is_some() || duplicates {
                    let head = self.una + u64::from(config.frame.mss());
                    self.begin_fast(edge.unwrap_or(head), now);
                }
            }
            LossRecovery::NewReno if duplicates && self.una >= self.may_recover_at => {
                let mss = u64::from(config.frame.mss());
                let reported = (u64::from(self.dup_acks) * mss).min(self.next - self.una);
                self.begin_fast(self.una + mss, now);
                if let State::Recovery(recovery) = &mut self.state {
                    recovery.inflation = reported;
                }
            }
            LossRecovery::GoBackN if duplicates && self.una >= self.may_recover_at => {
                self.begin_fast(self.next, now);
            }
            LossRecovery::NewReno | LossRecovery::GoBackN | LossRecovery::Trims => {}
        }
    }

    pub(super) fn begin_fast(&mut self, edge: u64, now: Time) {
        self.controller.on_loss(&self.loss(now));
        self.begin(Kind::Fast, edge);
    }

    /// Handles an expiry of the retransmission timer for outstanding data.
    pub(super) fn on_timeout(&mut self, now: Time) {
        let repeat = if self.rto.backed_off() { Repeat::Again } else { Repeat::First };
        self.sent.timeouts += 1;
        self.controller.on_timeout(&self.loss(now), repeat);
        self.rto.back_off();
        self.begin(Kind::Timeout, self.next);
        self.deadline = Time::NEVER;
    }

    fn begin(&mut self, kind: Kind, edge: u64) {
        let mut recovery = Recovery::new(kind, self.next, self.una);
        recovery.lose_to(edge, &self.sacked);
        if kind == Kind::Timeout {
            recovery.expired_after(&self.state);
        }
        self.state = State::Recovery(Box::new(recovery));
        self.may_recover_at = self.next + 1;
        self.dup_acks = 0;
    }

    fn loss(&self, now: Time) -> LossEvent {
        let in_flight = (self.next - self.una).min(self.controller.window());
        LossEvent { now, in_flight, next: self.next }
    }
}

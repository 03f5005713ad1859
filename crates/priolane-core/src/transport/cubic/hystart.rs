//! HyStart++ (RFC 9406): a slow start that ends where the round-trip time rises.
//!
//! ```text
//! ACK            cwnd += min(acked, L);  the least RTT of the round, and the samples of it, are counted     (§4.2)
//! standard       at least N_RTT_SAMPLE samples, and least RTT of the round >= that of the last round
//!                + clamp(last / MIN_RTT_DIVISOR, MIN_RTT_THRESH, MAX_RTT_THRESH) ......... conservative
//! conservative   cwnd += min(acked, L) / CSS_GROWTH_DIVISOR;
//!                with as many samples, a least RTT below that of its first round ......... standard
//!                CSS_ROUNDS rounds, a round in which it began included ................... congestion avoidance
//! round          from one ACK to the first that acknowledges all that was sent by then
//! ```
//!
//! It takes the place of the first slow start only (§4.3). Later ones, and all without it, are Reno's (RFC 5681):
//! `cwnd += min(acked, 1)`.

use crate::keys::{KeyConflict, Keys};
use crate::transport::window::AckEvent;
use crate::units::Span;

/// The parameters of HyStart++.
#[derive(Clone, Copy, PartialEq, Debug, Keys)]
#[keys(group = "cubic", check = Self::check)]
pub struct Config {
    /// Whether the first slow start is that of HyStart++.
    #[key(default = true, source = "RFC 9438 §4.10; docs/assumptions.md#cubic-slow-start")]
    pub hystart: bool,
    /// MIN_RTT_THRESH, the least rise of the round-trip time that ends the standard phase.
    #[key(default = Span::from_ms(4), range = "(0, )", source = "RFC 9406 §4.3")]
    pub hystart_min_rise: Span,
    /// MAX_RTT_THRESH, the largest rise that it takes.
    #[key(default = Span::from_ms(16), range = "(0, )", source = "RFC 9406 §4.3")]
    pub hystart_max_rise: Span,
    /// MIN_RTT_DIVISOR: between these bounds, the rise is this part of the last round's round-trip time.
    #[key(default = 8, range = "[1, 1000]", source = "RFC 9406 §4.3")]
    pub hystart_divisor: u32,
    /// N_RTT_SAMPLE, the samples of a round after which it is judged.
    #[key(default = 8, range = "[1, 1000000]", source = "RFC 9406 §4.3")]
    pub hystart_samples: u32,
    /// CSS_GROWTH_DIVISOR, the divisor of growth in the conservative phase.
    #[key(default = 4, range = "[1, 1000]", source = "RFC 9406 §4.3")]
    pub hystart_slowing: u32,
    /// CSS_ROUNDS, the rounds of the conservative phase.
    #[key(default = 5, range = "[1, 1000]", source = "RFC 9406 §4.3")]
    pub hystart_rounds: u32,
    /// L, the most segments that one ACK adds to the window.
    #[key(default = 8, range = "[1, 1000000]", unit = "pkt", source = "RFC 9406 §4.3")]
    pub hystart_limit: u32,
}

impl Config {
    fn check(&self) -> Result<(), KeyConflict> {
        if self.hystart_min_rise <= self.hystart_max_rise {
            return Ok(());
        }
        Err(KeyConflict::of(
            "hystart_min_rise",
            "hystart_min_rise is above hystart_max_rise",
            "a time of at most hystart_max_rise",
        ))
    }

    /// Returns the rise above a round-trip time of `last` that ends the standard phase.
    fn rise(&self, last: Span) -> Span {
        Span(last.0 / u64::from(self.hystart_divisor)).clamp(self.hystart_min_rise, self.hystart_max_rise)
    }
}

/// A slow start: HyStart++, or Reno's. Boxed because few flows are in their first slow start at the same time.
#[derive(Clone, Debug)]
pub(super) struct SlowStart(Option<Box<HyStart>>);

/// The phase of HyStart++.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Standard,
    Conservative {
        /// The least round-trip time of the round in which the phase began.
        baseline: Span,
        /// Rounds that ended in the phase.
        rounds: u32,
    },
}

/// The state of HyStart++.
#[derive(Clone, Copy, Debug)]
struct HyStart {
    config: Config,
    phase: Phase,
    /// The least round-trip time of the last round.
    last: Option<Span>,
    /// That of the present round, and its samples.
    current: Option<Span>,
    samples: u32,
    /// The round ends when everything before this byte is acknowledged; `None` before the first ACK.
    end: Option<u64>,
}

impl SlowStart {
    /// Creates the first slow start of a flow.
    pub(super) fn first(config: &Config) -> Self {
        let state = HyStart {
            config: *config,
            phase: Phase::Standard,
            last: None,
            current: None,
            samples: 0,
            end: None,
        };
        Self(config.hystart.then(|| Box::new(state)))
    }

    /// Creates a later slow start.
    pub(super) fn later() -> Self {
        Self(None)
    }

    /// Returns the segments by which an ACK of `acked` segments grows the window.
    pub(super) fn growth(&self, acked: f64) -> f64 {
        let Some(state) = &self.0 else { return acked.min(1.0) };
        let most = acked.min(f64::from(state.config.hystart_limit));
        match state.phase {
            Phase::Standard => most,
            Phase::Conservative { .. } => most / f64::from(state.config.hystart_slowing),
        }
    }

    /// Takes the sample of an ACK, and returns true if slow start ends.
    pub(super) fn is_over(&mut self, ack: &AckEvent) -> bool {
        self.0.as_mut().is_some_and(|state| state.is_over(ack))
    }
}

impl HyStart {
    fn is_over(&mut self, ack: &AckEvent) -> bool {
        if let Some(rtt) = ack.rtt {
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
            self.judge();
        }
        ack.una >= *self.end.get_or_insert(ack.next) && self.end_round(ack.next)
    }

    /// Changes the phase if the round-trip times of the round tell to.
    fn judge(&mut self) {
        let Some(current) = self.current.filter(|_| self.samples >= self.config.hystart_samples) else {
            return;
        };
        match (self.phase, self.last) {
            (Phase::Standard, Some(last)) if current.0 >= last.0.saturating_add(self.config.rise(last).0) => {
                self.phase = Phase::Conservative { baseline: current, rounds: 0 };
            }
            (Phase::Conservative { baseline, .. }, _) if current < baseline => self.phase = Phase::Standard,
            _ => {}
        }
    }

    /// Ends a round, and returns true if it was the last of the conservative phase.
    fn end_round(&mut self, next: u64) -> bool {
        (self.last, self.current, self.samples, self.end) = (self.current, None, 0, Some(next));
        let Phase::Conservative { rounds, .. } = &mut self.phase else { return false };
        *rounds += 1;
        *rounds >= self.config.hystart_rounds
    }
}

#[cfg(test)]
mod tests;

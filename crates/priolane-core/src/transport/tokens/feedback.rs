//! The rate at which a receiver sends a flow's tokens: ExpressPass's feedback (SIGCOMM 2017 §3.2).
//!
//! Runs once per round trip in which at least one token was delivered or dropped:
//!
//! ```text
//! loss = dropped / (dropped + delivered)
//!
//! paper  loss <= target   w := (w + w_max) / 2 if the last period raised the rate too
//!                         rate := (1 - w) rate + w max (1 + target)
//!        loss >  target   rate := rate (1 - loss) (1 + target);  w := max(w / 2, w_min)
//!
//! ns-2   target := target (1 - rate / max)
//!        loss <= target   w := min(w + 0.05, w_max) if the last period raised the rate too
//!                         rate := (1 - w) rate + w max
//!        loss >  target   rate := min(rate, delivered tokens / elapsed x (1 + target));  w := max(w / 2, w_min)
//! ```
//!
//! The rate is at least one token per round trip, and at most `max (1 + target)` (ns-2: `max`). A period without
//! any known outcome changes nothing: a flow whose tokens are all lost keeps its rate
//! (docs/assumptions.md#token-silence).

use crate::keys::{Keys, Words};
use crate::units::{PS_PER_S, Span};

/// The form of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Form {
    /// The rule of the paper; TOP's target is fixed.
    Paper,
    /// The rule of the published ns-2 code.
    Ns2,
}

/// Parameters of the feedback.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(group = "tokens")]
pub struct Config {
    /// The rule by which a flow's rate follows the loss of its tokens.
    #[key(
        name = "feedback",
        default = Form::Paper,
        source = "ExpressPass §3.2; docs/assumptions.md#token-feedback"
    )]
    pub form: Form,
    /// Initial rate as a fraction of the maximum.
    #[key(default = Self::DEFAULT.alpha, range = "[0.001, 1]", source = "docs/assumptions.md#token-feedback")]
    pub alpha: f64,
    /// Initial value of w.
    #[key(
        default = Self::DEFAULT.w_init,
        shown = "1/16",
        range = "[0.01, 0.5]",
        source = "docs/assumptions.md#token-feedback"
    )]
    pub w_init: f64,
    /// Target fraction of lost tokens (ns-2: at rate 0).
    #[key(default = Self::DEFAULT.target, range = "[0, 0.9]", source = "ExpressPass §3.2, TOP §3.1")]
    pub target: f64,
    /// Maximum of w.
    #[keys(skip = Self::DEFAULT.w_max)]
    pub w_max: f64,
    /// Minimum of w, above 0.
    #[keys(skip = Self::DEFAULT.w_min)]
    pub w_min: f64,
}

impl Config {
    /// docs/assumptions.md#token-feedback: alpha 1/2, w from 1/16, 10 % loss.
    pub const DEFAULT: Self =
        Self { form: Form::Paper, alpha: 0.5, w_init: 1.0 / 16.0, w_max: 0.5, w_min: 0.01, target: 0.1 };
}

/// Number of packets below which the ns-2 form reduces the initial rate in proportion.
const NS2_SHORT: f64 = 40.0;

/// The outcomes of tokens in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Tokens answered with data.
    pub delivered: u32,
    /// Tokens that were lost.
    pub dropped: u32,
    /// Length of the period.
    pub elapsed: Span,
}

impl Period {
    fn loss(self) -> f64 {
        let (dropped, delivered) = (f64::from(self.dropped), f64::from(self.delivered));
        dropped / (dropped + delivered).max(1.0)
    }
}

/// The rate of a flow's tokens, in tokens per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    rate: f64,
    max: f64,
    w: f64,
    raised: bool,
}

impl Feedback {
    /// Creates the state of a new flow of `packets` packets; `max` tokens per second fill the receiver's link.
    pub fn new(config: &Config, max: f64, packets: u64) -> Self {
        let short = match config.form {
            Form::Paper => 1.0,
            Form::Ns2 => (packets as f64 / NS2_SHORT).min(1.0),
        };
        Self { rate: config.alpha * max * short, max, w: config.w_init, raised: false }
    }

    /// Returns the rate in tokens per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns the weight of the maximum rate in the next increase.
    pub fn w(&self) -> f64 {
        self.w
    }

    /// Returns the mean gap between tokens in picoseconds.
    pub(crate) fn gap_ps(&self) -> f64 {
        PS_PER_S as f64 / self.rate
    }

    /// Updates the rate at the end of a period; `rtt` is the round-trip time, which sets the minimum rate.
    pub fn update(&mut self, config: &Config, period: Period, rtt: Span) {
        let (loss, max) = (period.loss(), self.max);
        let target = match config.form {
            Form::Paper => config.target,
            Form::Ns2 => config.target * (1.0 - self.rate / max).max(0.0),
        };
        if loss <= target {
            if self.raised {
                self.w = match config.form {
                    Form::Paper => (self.w + config.w_max) / 2.0,
                    Form::Ns2 => (self.w + 0.05).min(config.w_max),
                };
            }
            self.raised = true;
            let fixed_target = match config.form {
                Form::Paper => max * (1.0 + target),
                Form::Ns2 => max,
            };
            self.rate = (1.0 - self.w) * self.rate + self.w * fixed_target;
        } else {
            self.raised = false;
            self.rate = match config.form {
                Form::Paper => self.rate * (1.0 - loss) * (1.0 + target),
                Form::Ns2 => {
                    let seconds = period.elapsed.0.max(1) as f64 / PS_PER_S as f64;
                    self.rate.min(f64::from(period.delivered) / seconds * (1.0 + target))
                }
            };
            self.w = (self.w / 2.0).max(config.w_min);
        }
        let most = match config.form {
            Form::Paper => max * (1.0 + config.target),
            Form::Ns2 => max,
        };
        let least = (PS_PER_S as f64 / rtt.0.max(1) as f64).min(most);
        self.rate = self.rate.max(least).min(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_us(100);

    fn period(delivered: u32, dropped: u32) -> Period {
        Period { delivered, dropped, elapsed: RTT }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn the_papers_rule_by_hand() {
        // max = 1e6 tokens/s, so the first rate is 500,000 with w = 1/16; 1.1 max = 1.1e6.
        let mut flow = Feedback::new(&Config::DEFAULT, 1e6, 1000);
        let mut step = |delivered, dropped| {
            flow.update(&Config::DEFAULT, period(delivered, dropped), RTT);
            (flow.rate(), flow.w())
        };
        // No loss, first increase: w stays; 15/16 x 500,000 + 1/16 x 1,100,000 = 537,500.
        assert_eq!(step(50, 0), (537_500.0, 0.0625));
        // Second increase: w = (1/16 + 1/2) / 2 = 9/32; 23/32 x 537,500 + 9/32 x 1,100,000 = 695,703.125.
        assert_eq!(step(45, 5), (695_703.125, 0.28125));
        // A quarter lost: 695,703.125 x 0.75 x 1.1 = 573,955.078125; w = 9/64.
        let (rate, w) = step(30, 10);
        assert!(near(rate, 573_955.078_125) && w == 0.140_625);
        // No loss after a loss: w stays; 55/64 x 573,955.08 + 9/64 x 1,100,000 = 647,930.145.
        let (rate, w) = step(60, 0);
        assert!(near(rate, 573_955.078_125 * 0.859_375 + 154_687.5) && w == 0.140_625);
    }

    #[test]
    fn the_ns2_rule_by_hand() {
        let config = Config { form: Form::Ns2, target: 0.125, ..Config::DEFAULT };
        // 20 packets: half the initial rate of longer flows.
        assert_eq!(Feedback::new(&config, 1e6, 20).rate(), 250_000.0);
        let mut flow = Feedback::new(&config, 1e6, 1000);
        let mut step = |delivered, dropped| {
            flow.update(&config, period(delivered, dropped), RTT);
            (flow.rate(), flow.w())
        };
        // 15/16 x 500,000 + 1/16 x 1e6 = 531,250.
        assert_eq!(step(50, 0), (531_250.0, 0.0625));
        // w = 0.1125; 0.8875 x 531,250 + 112,500 = 583,984.375.
        let (rate, w) = step(50, 0);
        assert!(near(rate, 583_984.375) && near(w, 0.1125));
        // The target is 0.125 x (1 - 0.583984) = 0.052; a fifth lost: 40 in 100 us are 400,000/s, x 1.052 = 420,800.78.
        let (rate, w) = step(40, 10);
        assert!(near(rate, 400_000.0 * (1.0 + 0.125 * (1.0 - 0.583_984_375))) && near(w, 0.056_25));
    }

    /// Mean utilization of a link by synchronized flows under the paper's rule, where the loss of a period is known
    /// `late` periods later; a round trip has 23 slots.
    fn used_by(flows: u32, late: usize) -> f64 {
        let mut flow = Feedback::new(&Config::DEFAULT, 1e6, 1_000);
        let mut offered = vec![0.0; late];
        let mut used = 0.0;
        for round in 0..4_100 {
            let all = f64::from(flows) * flow.rate() / 1e6;
            offered.push(all);
            let kept = 100_000.0 / f64::max(offered[round], 1.0);
            flow.update(&Config::DEFAULT, period(kept as u32, 100_000 - kept as u32), Span::from_us(23));
            used += if round < 100 { 0.0 } else { all.min(1.0) };
        }
        used / 4_000.0
    }

    #[test]
    fn losses_that_are_seen_a_round_trip_late_are_answered_twice() {
        // If known immediately, a loss of 1 - 1 / x at x times the link rate leads to x (1 / x) 1.1: the link stays
        // full.
        for flows in [1, 2, 4, 8, 16] {
            assert!(used_by(flows, 0) > 0.999, "{flows}");
        }
        // If known a period later, the tokens sent at the old rate cause a second reduction, to 1.21 / x: below the
        // link rate.
        assert!((0.75..0.85).contains(&used_by(4, 1)), "{}", used_by(4, 1));
        assert!((0.70..0.80).contains(&used_by(8, 1)), "{}", used_by(8, 1));
        // A single flow offers 1.1, of which 1 / 11 is lost, less than the target. If one token per round trip of
        // each flow fills the link, the rates cannot fall below it.
        assert!(used_by(1, 1) > 0.999 && used_by(23, 1) > 0.999);
    }

    #[test]
    fn a_rate_stays_between_a_token_per_round_trip_and_a_tenth_above_the_line() {
        let mut flow = Feedback::new(&Config::DEFAULT, 1e6, 1000);
        (0..50).for_each(|_| flow.update(&Config::DEFAULT, period(10, 0), RTT));
        assert!(flow.rate() <= 1.1e6 && flow.rate() > 1.099e6, "{}", flow.rate());
        (0..50).for_each(|_| flow.update(&Config::DEFAULT, period(1, 20), RTT));
        assert_eq!((flow.rate(), flow.w()), (10_000.0, 0.01));
        // Ten round trips later it is back at more than nine tenths.
        (0..10).for_each(|_| flow.update(&Config::DEFAULT, period(10, 0), RTT));
        assert!(flow.rate() > 0.9e6, "{}", flow.rate());
    }
}

//! 95 % confidence intervals of a mean over seeds, by Student's t.
//!
//! `mean ± t(0.975, n - 1) s / sqrt(n)`, with the sample standard deviation s. The distribution function
//! for whole degrees of freedom is a finite sum (Abramowitz & Stegun 26.7.3-4), with `theta = atan(t / sqrt(nu))`:
//! ```text
//! A(t | nu odd)  = 2/pi (theta + sin theta (cos theta + 2/3 cos^3 theta + ... up to cos^(nu-2)))
//! A(t | nu even) = sin theta (1 + 1/2 cos^2 theta + (1*3)/(2*4) cos^4 theta + ... up to cos^(nu-2))
//! ```
//! `A` is the probability that |T| <= t; the quantile is found by bisection.

use std::f64::consts::FRAC_2_PI;

use serde::{Deserialize, Serialize};

/// The probability that a 95 % interval covers.
pub const LEVEL: f64 = 0.95;

/// The 97.5th percentile of the normal law.
pub const Z: f64 = 1.959_963_984_540_054;

/// Half of Wilson's 95 % interval of the part `missed` of all, as if flows were independent; `None` without flows.
pub fn half_width(missed: u64, met: u64) -> Option<f64> {
    let (missed, n) = (missed as f64, (missed + met) as f64);
    let (p, z2) = (missed / n, Z * Z);
    let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    (n > 0.0).then_some(half)
}

/// A mean over seeds and where it lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean; null if there is no value.
    pub mean: Option<f64>,
    /// Lower end; null for fewer than two values.
    pub low: Option<f64>,
    /// Upper end; null for fewer than two values.
    pub high: Option<f64>,
    /// Number of values (seeds).
    pub n: u32,
}

impl Interval {
    /// The mean of `values` and its 95 % interval, summed in the order given.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        let count = u32::try_from(n).unwrap_or(u32::MAX);
        if n == 0 {
            return Self { mean: None, low: None, high: None, n: 0 };
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Self { mean: Some(mean), low: None, high: None, n: 1 };
        }
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let sample_std = (squares / (n - 1) as f64).sqrt();
        let half = t_quantile(count - 1) * sample_std / (n as f64).sqrt();
        Self { mean: Some(mean), low: Some(mean - half), high: Some(mean + half), n: count }
    }

    /// This interval with its mean and ends mapped by an increasing function.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { mean: self.mean.map(&f), low: self.low.map(&f), high: self.high.map(&f), n: self.n }
    }

    /// Lower and upper end, if there is an interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

/// The t for which |T| <= t with probability 0.95 at `nu` degrees of freedom, `nu` at least 1.
pub fn t_quantile(nu: u32) -> f64 {
    let (mut low, mut high) = (0.0, 16.0);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if central_probability(middle, nu) < LEVEL { low = middle } else { high = middle }
    }
    high
}

/// The probability that |T| <= `t` at `nu` degrees of freedom.
fn central_probability(t: f64, nu: u32) -> f64 {
    let theta = libm::atan(t / f64::from(nu).sqrt());
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    if nu == 1 {
        return FRAC_2_PI * theta;
    }
    let odd = nu % 2 == 1;
    let mut power = nu % 2;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = term;
    while power + 4 <= nu {
        term *= f64::from(power + 1) / f64::from(power + 2) * cos * cos;
        power += 2;
        sum += term;
    }
    if odd { FRAC_2_PI * (theta + sin * sum) } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_textbook_table() {
        // Two-sided 95 % column of the usual t table.
        let table = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (10, 2.228)];
        let more = [(19, 2.093), (29, 2.045), (30, 2.042), (60, 2.000), (100, 1.984), (10_000, 1.960)];
        for (nu, t) in table.into_iter().chain(more) {
            assert!((t_quantile(nu) - t).abs() < 5e-4, "nu {nu}: {}", t_quantile(nu));
        }
    }

    #[test]
    fn interval_of_five_values_by_hand() {
        // Mean 3, s = sqrt(10 / 4) = 1.5811, half = 2.776 * 1.5811 / sqrt(5) = 1.963.
        let interval = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((interval.mean, interval.n), (Some(3.0), 5));
        let (low, high) = interval.ends().unwrap();
        assert!((low - (3.0 - 1.9632)).abs() < 1e-3 && (high - (3.0 + 1.9632)).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn one_value_has_a_mean_but_no_interval() {
        let interval = Interval::of(&[7.0]);
        assert_eq!((interval.mean, interval.ends(), interval.n), (Some(7.0), None, 1));
        assert_eq!(Interval::of(&[]).mean, None);
    }
}

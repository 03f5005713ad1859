//! 95 % confidence intervals of a mean over seeds, by Student's t: `mean ± t(0.975, n - 1) s / sqrt(n)`, with the
//! sample standard deviation s.

use serde::{Deserialize, Serialize};

use super::student;

/// The 97.5th percentile of the standard normal distribution.
pub const Z: f64 = 1.959_963_984_540_054;

/// Returns the half-width of Wilson's 95 % interval of the miss rate, treating flows as independent; `None` without
/// flows.
pub(crate) fn half_width(missed: u64, met: u64) -> Option<f64> {
    let (missed, n) = (missed as f64, (missed + met) as f64);
    let (p, z2) = (missed / n, Z * Z);
    let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    (n > 0.0).then_some(half)
}

/// A mean over seeds and its 95 % confidence interval.
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
    /// Returns the mean of `values` and its 95 % interval; sums in the given order.
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
        let half = student::quantile(f64::from(count - 1)) * sample_std / (n as f64).sqrt();
        Self { mean: Some(mean), low: Some(mean - half), high: Some(mean + half), n: count }
    }

    /// Returns this interval with its mean and ends mapped by an increasing function.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { mean: self.mean.map(&f), low: self.low.map(&f), high: self.high.map(&f), n: self.n }
    }

    /// Returns lower and upper end, if there is an interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

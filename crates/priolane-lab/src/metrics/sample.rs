//! The values of some seeds as a sample: its mean, and which true means it excludes.
//!
//! The excluded means are those that both of two tests exclude. With the mean m, the sample standard deviation s, the
//! adjusted skewness g, and T = (m - x) / s for a true mean x, the statistics are
//! ```text
//! Student (1908)  sqrt(n) T
//! Hall (1992)     sqrt(n) (T + g T^2 / 3 + g^2 T^3 / 27 + g / (6 n))
//! g = n sum(v - m)^3 / ((n - 1) (n - 2) s^3), 0 for two values
//! ```
//! and both are compared with Student's t at n - 1 degrees of freedom. Student's test alone excludes true means beyond
//! the short tail of a skewed distribution too often: at a nominal 2.5 %, 10 % of samples of eight exponential values.
//! Hall's transformation is monotone, so that the excluded means are those beyond two ends.

use super::student;

/// Mean, spread and skewness of at least two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    mean: f64,
    /// Sample standard deviation.
    deviation: f64,
    /// Adjusted skewness; 0 for two values, and if all are equal.
    skewness: f64,
    /// Number of values.
    n: u32,
}

/// Differences of equal counts differ by the rounding of the parts, whose spread is none.
const ROUNDING: f64 = 1e-12;

impl Sample {
    /// Returns the sample of `values`, summed in the given order; `None` for fewer than two. Values that differ by at most
    /// [`ROUNDING`] of `unit` are equal.
    pub(crate) fn of(values: &[f64], unit: f64) -> Option<Self> {
        let n = values.len() as f64;
        if values.len() < 2 {
            return None;
        }
        let is_constant = values.iter().all(|value| (value - values[0]).abs() <= ROUNDING * unit);
        // The mean of equal values is exactly their value.
        let mean = if is_constant { values[0] } else { values.iter().sum::<f64>() / n };
        let sum = |power: fn(f64) -> f64| values.iter().map(|v| power(v - mean)).sum::<f64>();
        let deviation = if is_constant { 0.0 } else { (sum(|d| d * d) / (n - 1.0)).sqrt() };
        let cubes = sum(|d| d * d * d) / (deviation * deviation * deviation);
        let skewness = n * cubes / ((n - 1.0) * (n - 2.0));
        let skewness = if deviation > 0.0 && skewness.is_finite() { skewness } else { 0.0 };
        Some(Self { mean, deviation, skewness, n: u32::try_from(values.len()).unwrap_or(u32::MAX) })
    }

    /// Returns the mean of the values.
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the number of values.
    pub(crate) fn n(&self) -> u32 {
        self.n
    }

    /// Whether all values are equal.
    pub(crate) fn is_constant(&self) -> bool {
        self.deviation == 0.0
    }

    /// Returns the sample of `n` values with the same mean, standard deviation and skewness.
    #[must_use]
    pub(crate) fn with_size(self, n: u32) -> Self {
        Self { n, ..self }
    }

    /// Returns the sample with a mean that is higher by `errors` standard errors.
    #[must_use]
    pub(crate) fn shifted(self, errors: f64) -> Self {
        Self { mean: self.mean + errors * self.deviation / f64::from(self.n).sqrt(), ..self }
    }

    /// Returns the ends of the 95 % interval of the true mean: all true means that neither test excludes at 2.5 % to
    /// either side.
    pub(crate) fn ends(&self) -> (f64, f64) {
        let t = student::quantile(f64::from(self.n - 1));
        let reach = |statistic: f64| {
            let (student, hall) = (self.student_inverse(statistic), self.hall_inverse(statistic));
            if statistic > 0.0 { student.max(hall) } else { student.min(hall) }
        };
        (self.mean - self.deviation * reach(t), self.mean - self.deviation * reach(-t))
    }

    /// Returns the p value of the hypothesis that the true mean is at `x` or on the other side of it: the larger one
    /// of both tests; 0 if all values are equal.
    pub(crate) fn p_beyond(&self, x: f64) -> f64 {
        if self.is_constant() {
            return 0.0;
        }
        let distance = (self.mean - x) / self.deviation;
        let sign = if distance < 0.0 { -1.0 } else { 1.0 };
        let nearest = (sign * self.student(distance)).min(sign * self.hall(distance));
        let tail = student::outside(nearest, f64::from(self.n - 1)) / 2.0;
        match nearest {
            nearest if nearest.is_nan() || tail.is_nan() => 1.0,
            nearest if nearest < 0.0 => 1.0 - tail,
            _ => tail,
        }
    }

    fn root(&self) -> f64 {
        f64::from(self.n).sqrt()
    }

    fn student(&self, distance: f64) -> f64 {
        self.root() * distance
    }

    fn student_inverse(&self, statistic: f64) -> f64 {
        statistic / self.root()
    }

    fn hall(&self, distance: f64) -> f64 {
        let (g, d) = (self.skewness, distance);
        if d.is_infinite() {
            return d;
        }
        self.root() * (d + g * d * d / 3.0 + g * g * d * d * d / 27.0 + g / (6.0 * f64::from(self.n)))
    }

    fn hall_inverse(&self, statistic: f64) -> f64 {
        let g = self.skewness;
        let w = statistic / self.root() - g / (6.0 * f64::from(self.n));
        // For a small skewness, the closed form is a difference of numbers near 1.
        if g.abs() < 1e-6 { w } else { 3.0 / g * (libm::cbrt(1.0 + g * w) - 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The p value that a mean is above `x`, from the statistics as the module's head writes them.
    fn statistics(values: &[f64], x: f64) -> (f64, f64) {
        let n = values.len() as f64;
        let m = values.iter().sum::<f64>() / n;
        let power = |k: i32| values.iter().map(|v| libm::pow(v - m, f64::from(k))).sum::<f64>();
        let s = (power(2) / (n - 1.0)).sqrt();
        let g = n * power(3) / ((n - 1.0) * (n - 2.0) * (s * s * s));
        let t = (m - x) / s;
        let hall = t + g * t * t / 3.0 + g * g * t * t * t / 27.0 + g / (6.0 * n);
        (n.sqrt() * t, n.sqrt() * hall)
    }

    #[test]
    fn a_symmetric_sample_has_students_interval() {
        // Mean 3, s = 1.58114, t(4) = 2.776445: 2.776445 x 1.58114 / sqrt(5) = 1.963243.
        let (low, high) = Sample::of(&[1.0, 2.0, 3.0, 4.0, 5.0], 1.0).unwrap().ends();
        assert!((low - 1.036_757).abs() < 1e-5 && (high - 4.963_243).abs() < 1e-5, "{low} {high}");
    }

    #[test]
    fn at_each_end_the_nearer_of_both_statistics_is_students_quantile() {
        let skewed = [0.1, 0.2, 0.15, 0.4, 3.0, 0.3];
        let sample = Sample::of(&skewed, 1.0).unwrap();
        let (low, high) = sample.ends();
        let t = 2.570_582;
        let (student, hall) = statistics(&skewed, low);
        assert!((student.min(hall) - t).abs() < 1e-5, "{student} {hall}");
        let (student, hall) = statistics(&skewed, high);
        assert!((student.max(hall) + t).abs() < 1e-5, "{student} {hall}");
        // A long tail above moves the upper end away, and leaves the lower one to Student.
        assert!(high - sample.mean() > 1.5 * (sample.mean() - low), "{low} {high}");
        // An end of the interval has the p value 2.5 %.
        for end in [low, high] {
            assert!((sample.p_beyond(end) - 0.025).abs() < 1e-6, "{}", sample.p_beyond(end));
        }
        assert!((sample.p_beyond(sample.mean()) - 0.5).abs() < 0.2);
    }

    #[test]
    fn two_values_have_no_skewness_and_equal_ones_no_spread() {
        let two = Sample::of(&[1.0, 3.0], 1.0).unwrap();
        // t(1) = 12.7062, s / sqrt(2) = 1.
        assert!((two.ends().1 - (2.0 + 12.7062)).abs() < 1e-3, "{two:?}");
        let same = Sample::of(&[0.1, 0.1, 0.1], 1.0).unwrap();
        assert!(same.is_constant() && same.ends() == (0.1, 0.1) && same.p_beyond(0.2) == 0.0, "{same:?}");
        // 0.015 - 0.005 and 0.01 - 0.0 are not the same number.
        let rounded = [0.015 - 0.005, 0.01, 0.035 - 0.025];
        assert!(rounded[0] != rounded[1] && Sample::of(&rounded, 0.01).unwrap().is_constant(), "{rounded:?}");
        assert_eq!(Sample::of(&[1.0], 1.0), None);
    }
}

//! Measurement error that hosts add to delays: a scaled empirical distribution.
//!
//! ```text
//! sample = scale x Q(u),  u uniform in [0, 1),  Q linear between the points of the measured distribution
//! ```

use std::sync::Arc;

use crate::rng::Stream;
use crate::units::Span;

/// Distribution of the errors of measured delays; all errors are zero or positive.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayNoise {
    /// (picoseconds, fraction of samples at most that), both non-decreasing; the last fraction is 1.
    points: Arc<[(f64, f64)]>,
    scale: f64,
}

/// The reason why points do not form a delay distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseError {
    /// There are no points.
    Empty,
    /// A delay or fraction is not a number, is negative, or is below that of the previous point; the index of the
    /// point.
    Falls(usize),
    /// The last fraction is not 1.
    Open,
    /// The scale is not a number, or is negative.
    Scale,
}

impl std::fmt::Display for NoiseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "the distribution has no points"),
            Self::Falls(at) => write!(f, "point {at} is below the previous point, negative or not finite"),
            Self::Open => write!(f, "the last cumulative probability is not 1"),
            Self::Scale => write!(f, "the scale is negative or not finite"),
        }
    }
}

impl std::error::Error for NoiseError {}

impl DelayNoise {
    /// Creates the distribution through `points`, (delay in seconds, fraction of samples at most that), multiplied by
    /// `scale`.
    ///
    /// # Errors
    /// A [`NoiseError`] if they do not form a distribution.
    pub fn new(points: &[(f64, f64)], scale: f64) -> Result<Self, NoiseError> {
        let Some(&(_, last)) = points.last() else { return Err(NoiseError::Empty) };
        let mut before = (0.0, 0.0);
        for (at, &(delay, part)) in points.iter().enumerate() {
            if !(delay >= before.0 && part >= before.1 && delay.is_finite() && part <= 1.0) {
                return Err(NoiseError::Falls(at));
            }
            before = (delay, part);
        }
        if last != 1.0 {
            return Err(NoiseError::Open);
        }
        if !(scale >= 0.0 && scale.is_finite()) {
            return Err(NoiseError::Scale);
        }
        Ok(Self { points: points.iter().map(|&(delay, part)| (delay * 1e12, part)).collect(), scale })
    }

    /// Returns the error that a fraction `u` of the samples, in [0, 1], does not exceed.
    pub fn quantile(&self, u: f64) -> Span {
        let above = self.points.partition_point(|&(_, part)| part < u).min(self.points.len() - 1);
        let (delay, part) = self.points[above];
        let (low, from) = if above == 0 { (delay, 0.0) } else { self.points[above - 1] };
        let share = if part > from { ((u - from) / (part - from)).clamp(0.0, 1.0) } else { 1.0 };
        Span((self.scale * (low + share * (delay - low))) as u64)
    }

    /// Draws one error.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> Span {
        self.quantile(stream.uniform())
    }

    /// Returns the mean error.
    pub fn mean(&self) -> Span {
        let mut sum = 0.0;
        let mut before = (self.points[0].0, 0.0);
        for &(delay, part) in self.points.iter() {
            sum += (delay + before.0) / 2.0 * (part - before.1);
            before = (delay, part);
        }
        Span((self.scale * sum) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn quantiles_lie_on_the_line_between_points() {
        // Half of the samples at 100 ns, the rest uniform up to 500 ns; scaled by 2.
        let noise = DelayNoise::new(&[(100e-9, 0.5), (500e-9, 1.0)], 2.0).unwrap();
        assert_eq!(noise.quantile(0.0), Span::from_ns(200));
        assert_eq!(noise.quantile(0.5), Span::from_ns(200));
        // 100 + (0.75 - 0.5) / 0.5 x 400 = 300.
        assert_eq!(noise.quantile(0.75), Span::from_ns(600));
        assert_eq!(noise.quantile(1.0), Span::from_ns(1_000));
        // 2 (0.5 x 100 + 0.5 x 300).
        assert_eq!(noise.mean(), Span::from_ns(400));
    }

    #[test]
    fn samples_have_the_mean_of_the_distribution() {
        let noise = DelayNoise::new(&[(0.0, 0.0), (800e-9, 1.0)], 1.0).unwrap();
        let stream = &mut Stream::new(1, Purpose::DelayNoise, 0);
        let mean = (0..40_000).map(|_| noise.sample(stream).0 as f64).sum::<f64>() / 40_000.0;
        // Uniform over 800 ns: sigma of the mean = 800 / sqrt(12 x 40,000) = 1.15 ns; four of them.
        assert!((mean - 400_000.0).abs() < 4_600.0, "{mean}");
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        assert_eq!(DelayNoise::new(&[], 1.0), Err(NoiseError::Empty));
        assert_eq!(DelayNoise::new(&[(1.0, 0.5), (0.5, 1.0)], 1.0), Err(NoiseError::Falls(1)));
        assert_eq!(DelayNoise::new(&[(1.0, 0.9)], 1.0), Err(NoiseError::Open));
        assert_eq!(DelayNoise::new(&[(f64::NAN, 1.0)], 1.0), Err(NoiseError::Falls(0)));
        assert_eq!(DelayNoise::new(&[(1.0, 1.0)], -1.0), Err(NoiseError::Scale));
    }
}

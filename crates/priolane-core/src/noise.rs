//! What hosts add by mistake to the delays that they measure: a distribution, scaled.
//!
//! ```text
//! sample = scale x Q(u),  u uniform in [0, 1),  Q linear between the points of the measured distribution
//! ```

use std::sync::Arc;

use crate::rng::Stream;
use crate::units::Span;

/// A distribution of errors of measured delays, all of them late.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayNoise {
    /// (picoseconds, part that is at most that), both never falling, the last part 1.
    points: Arc<[(f64, f64)]>,
    scale: f64,
}

/// Why points are no distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseError {
    /// There is no point.
    Empty,
    /// A delay or a part is no number, below zero, or below that of the point before; the index of the point.
    Falls(usize),
    /// The last part is not 1.
    Open,
    /// The scale is no number, or below zero.
    Scale,
}

impl std::fmt::Display for NoiseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "there is no point"),
            Self::Falls(at) => write!(f, "point {at} is below the one before, below zero or no number"),
            Self::Open => write!(f, "the last part is not 1"),
            Self::Scale => write!(f, "the scale is below zero or no number"),
        }
    }
}

impl std::error::Error for NoiseError {}

impl DelayNoise {
    /// The distribution through `points`, (delay in seconds, part of the samples that is at most that), times `scale`.
    ///
    /// # Errors
    /// A [`NoiseError`] where that is no distribution.
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

    /// The error that a part `u` of the samples, in [0, 1], does not exceed.
    pub fn quantile(&self, u: f64) -> Span {
        let above = self.points.partition_point(|&(_, part)| part < u).min(self.points.len() - 1);
        let (delay, part) = self.points[above];
        let (low, from) = if above == 0 { (delay, 0.0) } else { self.points[above - 1] };
        let share = if part > from { ((u - from) / (part - from)).clamp(0.0, 1.0) } else { 1.0 };
        Span((self.scale * (low + share * (delay - low))) as u64)
    }

    /// One error.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> Span {
        self.quantile(stream.uniform())
    }

    /// The mean error.
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
        // Half of it at 100 ns, the rest evenly up to 500 ns; twice as much.
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

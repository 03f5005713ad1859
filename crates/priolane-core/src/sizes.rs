//! Exact flow size distributions, from a published table of (bytes, cumulative probability).
//!
//! The distribution of `X` of a table `(b_0, c_0) .. (b_n, c_n)` with `c_n = 1` puts the mass `c_0` on `b_0` and the
//! mass `c_i - c_{i-1}` on `[b_{i-1}, b_i]`: uniformly (`Linear`) or all of it on `b_i` (`Step`). Two rows of equal
//! bytes form an atom in either case. All functions except `sample` are closed forms per segment, without sampling.
//!
//! ```text
//! quantile(u)       = inf { x : F(x) >= u }
//! mean()            = E[X]
//! truncated_mean(x) = E[min(X, x)] = Int_0^x (1 - F)
//! ```
//!
//! These describe the continuous distribution. `sample` rounds to the nearest whole byte and returns at least 1, which
//! changes the mean by less than 1 byte.

use crate::keys::Words;
use crate::rng::Stream;

mod altered;
mod recorded;
#[cfg(test)]
mod tests;

pub use recorded::Row;

/// The largest size in a distribution: 2^47 bytes, half of what a packet's offset can express.
pub const MAX_BYTES: f64 = (1u64 << 47) as f64;

/// Tolerance of the last cumulative probability around 1, for tables that were summed up in floats.
const CDF_SLACK: f64 = 1e-9;

/// The way in which the mass between two rows of a table is distributed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, serde::Deserialize, Words)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Uniformly over the interval (HPCC, pFabric, PIAS, YAPS).
    Linear,
    /// All of it on the upper row (Homa, Aequitas).
    Step,
}

/// A row of a size table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Payload bytes, 0 to [`MAX_BYTES`].
    pub bytes: f64,
    /// Probability of a size of at most `bytes`, 0 to 1.
    pub cdf: f64,
}

/// A part of the distribution: `mass` uniform over `[low, high]`, an atom if both are equal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Segment {
    /// Probability of this part, above 0.
    pub mass: f64,
    /// Its smallest size, in bytes.
    pub low: f64,
    /// Its largest size, in bytes.
    pub high: f64,
}

/// The reason why a table, or a transformation of one, is not a size distribution. `row` is the index of a point, from
/// 0.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum SizeError {
    /// The table has no points. A single point is valid: a fixed size.
    #[error("the table has no rows")]
    Empty,
    /// Bytes or probability is infinite or not a number.
    #[error("row {row} contains a value that is not a finite number")]
    NotFinite {
        /// Index of the row.
        row: usize,
    },
    /// Bytes below zero.
    #[error("row {row} has a negative size")]
    Negative {
        /// Index of the row.
        row: usize,
    },
    /// Bytes above [`MAX_BYTES`].
    #[error("row {row} has a size above 2^47 bytes")]
    TooLarge {
        /// Index of the row.
        row: usize,
    },
    /// Fewer bytes than in the previous row.
    #[error("row {row} has fewer bytes than the row before it")]
    DecreasingBytes {
        /// Index of the row.
        row: usize,
    },
    /// A smaller cumulative probability than in the previous row.
    #[error("row {row} has a smaller cumulative probability than the row before it")]
    DecreasingCdf {
        /// Index of the row.
        row: usize,
    },
    /// A probability outside [0, 1].
    #[error("row {row} has a cumulative probability outside [0, 1]")]
    CdfOutside {
        /// Index of the row.
        row: usize,
    },
    /// The last probability is not 1.
    #[error("the cumulative probability ends at {last}, not at 1")]
    NotEndingAtOne {
        /// The last cumulative probability.
        last: f64,
    },
    /// The largest size is below 1 byte.
    #[error("the largest size is below 1 byte")]
    NoBytes,
    /// A factor that is not a finite number above zero.
    #[error("sizes cannot be scaled by {factor}")]
    Factor {
        /// The factor.
        factor: f64,
    },
    /// A maximum size that is not a number of at least 1.
    #[error("sizes cannot be capped at {max} bytes")]
    Cap {
        /// The cap.
        max: f64,
    },
    /// A mean that sizes below the maximum cannot reach.
    #[error("no factor gives a mean of {mean} bytes under this cap")]
    Mean {
        /// The requested mean, in bytes.
        mean: f64,
    },
}

/// A distribution of flow sizes (see the module documentation).
#[derive(Clone, PartialEq, Debug)]
pub struct SizeDistribution {
    points: Vec<Point>,
    interpolation: Interpolation,
    /// Contribution of sizes up to each row to the mean.
    partial_means: Vec<f64>,
}

impl SizeDistribution {
    /// Creates the distribution of a table whose rows are in order of size.
    ///
    /// # Errors
    /// Any [`SizeError`] about rows: no row, values that are not finite, negative, too large or decreasing,
    /// probabilities outside [0, 1] or not ending at 1 (to 10^-9), no size of at least 1 byte.
    pub fn new(mut points: Vec<Point>, interpolation: Interpolation) -> Result<Self, SizeError> {
        for row in 0..points.len() {
            check_row(&points, row)?;
        }
        let last = points.last_mut().ok_or(SizeError::Empty)?;
        if last.cdf < 1.0 - CDF_SLACK {
            return Err(SizeError::NotEndingAtOne { last: last.cdf });
        }
        if last.bytes < 1.0 {
            return Err(SizeError::NoBytes);
        }
        last.cdf = 1.0;
        for point in &mut points {
            point.cdf = point.cdf.min(1.0);
        }
        Ok(Self::of(points, interpolation))
    }

    /// Creates the distribution of valid rows.
    fn of(points: Vec<Point>, interpolation: Interpolation) -> Self {
        let mut sum = 0.0;
        let add = |segment: Segment| {
            sum += segment.mass * 0.5 * (segment.low + segment.high);
            sum
        };
        let partial_means =
            (0..points.len()).map(|row| segment(&points, interpolation, row)).map(add).collect();
        Self { points, interpolation, partial_means }
    }

    /// Creates the distribution of one fixed size.
    ///
    /// # Errors
    /// If `bytes` is not in 1 to [`MAX_BYTES`].
    pub fn fixed(bytes: f64) -> Result<Self, SizeError> {
        Self::new(vec![Point { bytes, cdf: 1.0 }], Interpolation::Step)
    }

    /// Returns the rows of the table.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns how the mass between rows is distributed.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Returns the smallest `x` with `F(x) >= u`, in bytes; `u` is clamped to [0, 1].
    pub fn quantile(&self, u: f64) -> f64 {
        let above = self.points.partition_point(|p| p.cdf < u).min(self.points.len() - 1);
        let high = self.points[above];
        if above == 0 || self.interpolation == Interpolation::Step {
            return high.bytes;
        }
        let low = self.points[above - 1];
        let part = ((u - low.cdf) / (high.cdf - low.cdf)).min(1.0);
        (low.bytes + part * (high.bytes - low.bytes)).min(high.bytes)
    }

    /// Returns the probability of a size of at most `x` bytes.
    pub fn cdf(&self, x: f64) -> f64 {
        let above = self.points.partition_point(|p| p.bytes <= x);
        if above == 0 {
            return 0.0;
        }
        let low = self.points[above - 1];
        match self.points.get(above) {
            Some(high) if self.interpolation == Interpolation::Linear => {
                low.cdf + (x - low.bytes) / (high.bytes - low.bytes) * (high.cdf - low.cdf)
            }
            _ => low.cdf,
        }
    }

    /// Iterates over the parts of the distribution in order of size, skipping those without mass.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        (0..self.points.len())
            .map(|row| segment(&self.points, self.interpolation, row))
            .filter(|segment| segment.mass > 0.0)
    }

    /// Returns `E[X]` in bytes, before rounding to whole bytes.
    pub fn mean(&self) -> f64 {
        self.partial_means[self.points.len() - 1]
    }

    /// Returns `E[X^2]` in bytes squared, before rounding to whole bytes.
    pub fn second_moment(&self) -> f64 {
        let square = |s: Segment| s.mass * (s.low * s.low + s.low * s.high + s.high * s.high) / 3.0;
        self.segments().map(square).sum()
    }

    /// Returns `E[min(X, x)]` in bytes: the mean number of bytes of a flow below offset `x`.
    pub fn truncated_mean(&self, x: f64) -> f64 {
        let above = self.points.partition_point(|p| p.bytes <= x);
        let (below, mean_below) = match above.checked_sub(1) {
            Some(row) => (self.points[row].cdf, self.partial_means[row]),
            None => (0.0, 0.0),
        };
        if above == self.points.len() {
            return mean_below;
        }
        let cut = segment(&self.points, self.interpolation, above);
        mean_below + cut.mass * cut.truncated_mean(x) + (1.0 - below - cut.mass) * x
    }

    /// Returns the largest size, in bytes.
    pub fn max(&self) -> f64 {
        self.points[self.points.len() - 1].bytes
    }

    /// Returns the size below which a share `u` of all bytes belongs to flows: the quantile of the distribution with
    /// density `x f(x) / E[X]`, which is that of the size of the flow to which a byte drawn at random belongs. `u` is
    /// clamped to [0, 1].
    pub fn quantile_by_bytes(&self, u: f64) -> f64 {
        let bytes = u.clamp(0.0, 1.0) * self.mean();
        let row = self.partial_means.partition_point(|&sum| sum < bytes).min(self.points.len() - 1);
        let Segment { mass, low, high } = segment(&self.points, self.interpolation, row);
        let before = row.checked_sub(1).map_or(0.0, |row| self.partial_means[row]);
        if low == high || mass == 0.0 {
            return high;
        }
        // The bytes of sizes from `low` to x are mass (x^2 - low^2) / (2 (high - low)).
        let square = low * low + 2.0 * (high - low) * (bytes - before) / mass;
        square.max(0.0).sqrt().clamp(low, high)
    }

    /// Samples a size in whole bytes, at least 1, by inversion: one number of `stream`, mapped to u in (0, 1].
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        whole_bytes(self.quantile(1.0 - stream.uniform()))
    }

    /// Returns the distribution of sizes multiplied by `factor`.
    ///
    /// # Errors
    /// If `factor` is not above zero, or a scaled size is not in 1 to [`MAX_BYTES`].
    pub fn scaled(&self, factor: f64) -> Result<Self, SizeError> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(SizeError::Factor { factor });
        }
        let points = self.points.iter().map(|p| Point { bytes: p.bytes * factor, cdf: p.cdf }).collect();
        Self::new(points, self.interpolation)
    }

    /// Returns the distribution of `min(X, max)`: the mass above `max` bytes becomes an atom at `max`.
    ///
    /// # Errors
    /// If `max` is not a number of at least 1.
    pub fn capped(&self, max: f64) -> Result<Self, SizeError> {
        if !(max >= 1.0 && max.is_finite()) {
            return Err(SizeError::Cap { max });
        }
        self.clipped(max)
    }

    /// Scales the distribution so that its mean is `mean` bytes, after capping sizes at `max` bytes if given.
    ///
    /// # Errors
    /// If `mean` is not above zero or not reachable below `max`, or as for `scaled` and `capped`.
    pub fn scaled_to_mean(&self, mean: f64, max: Option<f64>) -> Result<Self, SizeError> {
        let factor = mean / self.mean();
        let Some(max) = max else { return self.scaled(factor) };
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(SizeError::Factor { factor });
        }
        if !(max >= 1.0 && max.is_finite()) {
            return Err(SizeError::Cap { max });
        }
        let capped_mean = |factor: f64| factor * self.truncated_mean(max / factor);
        let (mut low, mut high) = (factor, factor);
        while capped_mean(high) < mean {
            (low, high) = (high, high * 2.0);
            if high > factor * MAX_BYTES {
                return Err(SizeError::Mean { mean });
            }
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if capped_mean(middle) < mean { low = middle } else { high = middle }
        }
        self.clipped(max / high)?.scaled(high)
    }

    fn clipped(&self, max: f64) -> Result<Self, SizeError> {
        if max >= self.max() {
            return Ok(self.clone());
        }
        let below = self.points.partition_point(|p| p.bytes < max);
        let mut points = self.points[..below].to_vec();
        if let (Interpolation::Linear, Some(&low)) = (self.interpolation, points.last()) {
            let high = self.points[below];
            let part = (max - low.bytes) / (high.bytes - low.bytes);
            points.push(Point { bytes: max, cdf: low.cdf + part * (high.cdf - low.cdf) });
        }
        points.push(Point { bytes: max, cdf: 1.0 });
        Ok(Self::of(points, self.interpolation))
    }
}

impl Segment {
    /// Returns `E[min(X, x)]` given that the size is in this part, for `x` below its largest size.
    fn truncated_mean(&self, x: f64) -> f64 {
        if x <= self.low {
            return x;
        }
        let below = (x - self.low) / (self.high - self.low);
        below * 0.5 * (self.low + x) + (1.0 - below) * x
    }
}

/// Returns the mass that `row` adds to the previous rows.
fn segment(points: &[Point], interpolation: Interpolation, row: usize) -> Segment {
    let high = points[row];
    let low = row.checked_sub(1).map_or(Point { cdf: 0.0, ..high }, |row| points[row]);
    let mass = high.cdf - low.cdf;
    match interpolation {
        Interpolation::Linear => Segment { mass, low: low.bytes, high: high.bytes },
        Interpolation::Step => Segment { mass, low: high.bytes, high: high.bytes },
    }
}

/// Rounds a size of the continuous distribution to whole bytes: the nearest integer, at least 1.
pub fn whole_bytes(size: f64) -> u64 {
    (size.round() as u64).max(1)
}

fn check_row(points: &[Point], row: usize) -> Result<(), SizeError> {
    let Point { bytes, cdf } = points[row];
    if !bytes.is_finite() || !cdf.is_finite() {
        return Err(SizeError::NotFinite { row });
    }
    if bytes < 0.0 {
        return Err(SizeError::Negative { row });
    }
    if bytes > MAX_BYTES {
        return Err(SizeError::TooLarge { row });
    }
    if !(0.0..=1.0 + CDF_SLACK).contains(&cdf) {
        return Err(SizeError::CdfOutside { row });
    }
    let Some(before) = row.checked_sub(1).map(|row| points[row]) else { return Ok(()) };
    if bytes < before.bytes {
        return Err(SizeError::DecreasingBytes { row });
    }
    if cdf < before.cdf {
        return Err(SizeError::DecreasingCdf { row });
    }
    Ok(())
}

//! The empirical distribution of recorded flows, and the rows of a distribution with their truncated means.
//!
//! The empirical distribution of n sizes puts 1/n on each: a `Step` table with one row per distinct size, without
//! merging or thinning. A million flows make at most a million rows (24 MB), sorted once.

use super::{Interpolation, Point, SizeDistribution, SizeError};

/// A row of a table, with the cumulative probability and the truncated mean at its size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// The size in bytes.
    pub bytes: f64,
    /// Probability of a size of at most `bytes`.
    pub cdf: f64,
    /// `E[min(X, bytes)]`, in bytes.
    pub truncated_mean: f64,
}

impl SizeDistribution {
    /// Returns the empirical distribution of `sizes`, in bytes and any order (docs/assumptions.md#recorded-flows).
    ///
    /// # Errors
    /// If `sizes` is empty, a size is above [`MAX_BYTES`](super::MAX_BYTES), or all are 0.
    pub fn from_samples(mut sizes: Vec<u64>) -> Result<Self, SizeError> {
        sizes.sort_unstable();
        let flows = sizes.len() as f64;
        let mut points: Vec<Point> = Vec::new();
        let mut seen = 0usize;
        for equal in sizes.chunk_by(|a, b| a == b) {
            seen += equal.len();
            points.push(Point { bytes: equal[0] as f64, cdf: seen as f64 / flows });
        }
        Self::new(points, Interpolation::Step)
    }

    /// Iterates over the distinct sizes of the table in increasing order, in one pass without a search.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let last = |row: &usize| {
            let next = self.points.get(row + 1);
            next.is_none_or(|next| next.bytes > self.points[*row].bytes)
        };
        (0..self.points.len()).filter(last).map(|row| {
            let Point { bytes, cdf } = self.points[row];
            Row { bytes, cdf, truncated_mean: self.partial_means[row] + (1.0 - cdf) * bytes }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_flows_are_a_step_law() {
        let sizes = SizeDistribution::from_samples(vec![5, 1, 5, 9]).unwrap();
        let rows: Vec<(f64, f64)> = sizes.points().iter().map(|p| (p.bytes, p.cdf)).collect();
        assert_eq!(rows, [(1.0, 0.25), (5.0, 0.75), (9.0, 1.0)]);
        assert_eq!(sizes.mean(), 5.0);
        // (1 + 25 + 25 + 81) / 4
        assert_eq!(sizes.second_moment(), 33.0);
        // 1, 5, 5, 7
        assert_eq!(sizes.truncated_mean(7.0), 4.5);
        assert_eq!([0.25, 0.26, 0.75, 1.0].map(|u| sizes.quantile(u)), [1.0, 5.0, 5.0, 9.0]);
    }

    #[test]
    fn no_flows_no_bytes_and_too_many_bytes_are_refused() {
        assert_eq!(SizeDistribution::from_samples(vec![]), Err(SizeError::Empty));
        assert_eq!(SizeDistribution::from_samples(vec![0, 0]), Err(SizeError::NoBytes));
        let vast = SizeDistribution::from_samples(vec![3, (1 << 47) + 1]);
        assert_eq!(vast, Err(SizeError::TooLarge { row: 1 }));
    }

    #[test]
    fn rows_agree_with_the_law_at_them() {
        let atom = [(6.0, 0.0), (6.0, 0.15), (13.0, 0.2), (19.0, 0.2), (33.0, 1.0)];
        let points = atom.map(|(bytes, cdf)| Point { bytes, cdf }).to_vec();
        for interpolation in [Interpolation::Linear, Interpolation::Step] {
            let sizes = SizeDistribution::new(points.clone(), interpolation).unwrap();
            let rows: Vec<Row> = sizes.rows().collect();
            assert_eq!(rows.iter().map(|r| r.bytes).collect::<Vec<_>>(), [6.0, 13.0, 19.0, 33.0]);
            for row in rows {
                assert_eq!(row.cdf, sizes.cdf(row.bytes));
                assert!((row.truncated_mean - sizes.truncated_mean(row.bytes)).abs() < 1e-12, "{row:?}");
            }
        }
    }

    #[test]
    fn second_moment_of_an_even_spread() {
        // Uniform on [0, 12]: 144 / 3.
        let rows = [(0.0, 0.0), (12.0, 1.0)].map(|(bytes, cdf)| Point { bytes, cdf });
        let sizes = SizeDistribution::new(rows.to_vec(), Interpolation::Linear).unwrap();
        assert_eq!(sizes.second_moment(), 48.0);
    }
}

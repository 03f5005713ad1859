//! Transformed distributions: mixtures, and stretched tails.
//!
//! ```text
//! mixture:    F(x) = sum_i w_i F_i(x) / sum_i w_i
//! stretched:  X if X <= q, otherwise q + factor (X - q),   q = F^-1(from)
//! ```

use super::{Interpolation, Point, SizeDistribution, SizeError};

impl SizeDistribution {
    /// Returns the mixture of `parts`, each with a weight proportional to its probability (such as flows per second).
    ///
    /// The result has linear interpolation; atoms stay atoms.
    ///
    /// # Errors
    /// If a weight is not above zero, or `parts` is empty.
    pub fn mixture(parts: &[(f64, &Self)]) -> Result<Self, SizeError> {
        if let Some(&(factor, _)) = parts.iter().find(|(weight, _)| !(*weight > 0.0 && weight.is_finite())) {
            return Err(SizeError::Factor { factor });
        }
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        let mut sizes: Vec<f64> =
            parts.iter().flat_map(|(_, law)| law.points.iter().map(|point| point.bytes)).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        sizes.dedup();
        let sum = |of: &dyn Fn(&Self) -> f64| parts.iter().map(|(w, law)| w * of(law)).sum::<f64>() / total;
        let mut points: Vec<Point> = Vec::with_capacity(2 * sizes.len());
        for &bytes in &sizes {
            let cdf = sum(&|law| law.cdf(bytes));
            let below = sum(&|law| law.cdf(bytes) - law.atom(bytes));
            let floor = points.last().map_or(0.0, |last| last.cdf);
            if below < cdf {
                points.push(Point { bytes, cdf: below.max(floor) });
            }
            points.push(Point { bytes, cdf: cdf.max(floor) });
        }
        Self::new(points, Interpolation::Linear)
    }

    /// Stretches the part of the distribution above its quantile `from` by `factor`.
    ///
    /// # Errors
    /// If `from` is not in 0 to 1, `factor` is not above zero, or a size leaves 1 to [`super::MAX_BYTES`].
    pub(crate) fn stretched(&self, from: f64, factor: f64) -> Result<Self, SizeError> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(SizeError::Factor { factor });
        }
        if !(0.0..=1.0).contains(&from) {
            return Err(SizeError::CdfOutside { row: 0 });
        }
        let edge = self.quantile(from);
        let below = self.points.partition_point(|p| p.bytes <= edge);
        let mut points = self.points[..below].to_vec();
        if self.interpolation == Interpolation::Linear {
            points.push(Point { bytes: edge, cdf: self.cdf(edge) });
        }
        let farther = |p: &Point| Point { bytes: edge + factor * (p.bytes - edge), cdf: p.cdf };
        points.extend(self.points[below..].iter().map(farther));
        Self::new(points, self.interpolation)
    }

    /// Returns the mass at exactly `bytes`.
    fn atom(&self, bytes: f64) -> f64 {
        self.segments().filter(|s| s.low == bytes && s.high == bytes).map(|s| s.mass).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(rows: &[(f64, f64)], interpolation: Interpolation) -> SizeDistribution {
        let points = rows.iter().map(|&(bytes, cdf)| Point { bytes, cdf }).collect();
        SizeDistribution::new(points, interpolation).unwrap()
    }

    #[test]
    fn a_mixture_has_the_weighted_cdf_and_mean() {
        let small = law(&[(10.0, 0.25), (50.0, 1.0)], Interpolation::Linear);
        let large = law(&[(40.0, 0.5), (100.0, 1.0)], Interpolation::Step);
        let mix = SizeDistribution::mixture(&[(3.0, &small), (1.0, &large)]).unwrap();
        for x in [0.0, 9.9, 10.0, 25.0, 39.9, 40.0, 45.0, 50.0, 99.9, 100.0] {
            let want = 0.75 * small.cdf(x) + 0.25 * large.cdf(x);
            assert!((mix.cdf(x) - want).abs() < 1e-12, "{x}: {} for {want}", mix.cdf(x));
        }
        assert!((mix.mean() - 0.75 * small.mean() - 0.25 * large.mean()).abs() < 1e-9);
        // 10 B: 3/4 of a quarter; 40 B: 1/4 of a half; 100 B: the same.
        let atoms = [10.0, 40.0, 100.0].map(|x| mix.atom(x));
        assert!(atoms.iter().zip([0.1875, 0.125, 0.125]).all(|(a, b)| (a - b).abs() < 1e-12), "{atoms:?}");
    }

    #[test]
    fn a_part_without_weight_is_refused() {
        let one = SizeDistribution::fixed(10.0).unwrap();
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(SizeDistribution::mixture(&[(weight, &one)]).is_err());
        }
        assert_eq!(SizeDistribution::mixture(&[]), Err(SizeError::Empty));
    }

    #[test]
    fn a_stretched_tail_begins_at_its_quantile() {
        let sizes = law(&[(0.0, 0.0), (100.0, 1.0)], Interpolation::Linear);
        let long = sizes.stretched(0.9, 3.0).unwrap();
        assert_eq!([0.5, 0.9, 1.0].map(|u| long.quantile(u).round()), [50.0, 90.0, 120.0]);
        // The mean excess of the tail, 5 bytes for a tenth of the flows, triples: 50 + 0.1 x 10.
        assert!((long.mean() - 51.0).abs() < 1e-9);
        let rows = law(&[(1.0, 0.5), (10.0, 0.9), (20.0, 1.0)], Interpolation::Step);
        let long = rows.stretched(0.9, 3.0).unwrap();
        assert_eq!([0.5, 0.9, 0.95].map(|u| long.quantile(u)), [1.0, 10.0, 40.0]);
        assert!(rows.stretched(1.1, 3.0).is_err() && rows.stretched(0.9, 0.0).is_err());
    }
}

//! The distance of a mean from the ends of a band, as p values.

use super::band::Band;
use crate::experiment::MAX_SEEDS;
use crate::metrics::estimate::Estimate;
use crate::metrics::sample::Sample;
use crate::metrics::student;

/// Position of a comparison's mean relative to a band, on the scale of its estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// Whether the mean is within the band.
    pub inside: bool,
    sample: Sample,
    /// Finite ends of the band, one or two.
    ends: Vec<f64>,
    /// Least p value of one side.
    least_p: f64,
    /// Number of comparisons of which this one is the furthest outside its band.
    among: u32,
}

/// A number of seeds that is uncertain: with a probability of about one half, it lies between both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedRange {
    /// Lower end.
    pub low: u32,
    /// Upper end; `None` if no number of seeds may be enough, or more than [`MAX_SEEDS`].
    pub high: Option<u32>,
}

impl SeedRange {
    /// Returns the range of the larger of two numbers.
    pub(super) fn most(self, other: Self) -> Self {
        let high = self.high.zip(other.high).map(|(a, b)| a.max(b));
        Self { low: self.low.max(other.low), high }
    }

    /// Returns the range of the smaller of two numbers.
    pub(super) fn fewest(self, other: Self) -> Self {
        let high = [self.high, other.high].into_iter().flatten().min();
        Self { low: self.low.min(other.low), high }
    }
}

/// The probability with which the number of seeds that would decide lies within a [`SeedRange`].
const EVEN_ODDS: f64 = 0.5;

impl Distance {
    /// Computes the distance of `value` from the ends of `band`; `None` without an interval.
    pub(super) fn of(value: &Estimate, band: Band) -> Option<Self> {
        let mean = value.mean?;
        let ends = band.ends().map(|end| value.on_scale(end)).filter(|end| end.is_finite()).collect();
        let inside = band.holds((mean, mean));
        Some(Self { inside, sample: value.sample()?, ends, least_p: value.least_p(), among: 1 })
    }

    /// Returns the distance of the comparison that lies furthest outside its band among `count` comparisons.
    #[must_use]
    pub(super) fn furthest_of(self, count: u32) -> Self {
        Self { among: count, ..self }
    }

    /// Returns the p value of the hypothesis that the true value lies outside the band: the larger of two one-sided
    /// tests (TOST, Schuirmann 1987).
    pub fn if_outside(&self) -> f64 {
        if !self.inside {
            return 1.0;
        }
        self.ends.iter().map(|&end| self.tail(end)).fold(0.0, f64::max)
    }

    /// Returns the p value of the hypothesis that the true value lies within the band: that of the nearest end, times
    /// the number of ends and of comparisons (Bonferroni).
    pub fn if_inside(&self) -> f64 {
        if self.inside {
            return 1.0;
        }
        let nearest = self.ends.iter().map(|&end| self.tail(end)).fold(0.0, f64::max);
        (self.ends.len() as f64 * f64::from(self.among) * nearest).min(1.0)
    }

    /// Returns the number of seeds, larger than the present one, at which the smaller p value would be at most `level`:
    /// with the same spread, and the mean at either quartile of what Student's t leaves open. `None` if even the lower
    /// end is above [`MAX_SEEDS`].
    pub fn seeds(&self, level: f64) -> Option<SeedRange> {
        let errors = student::quantile_of(EVEN_ODDS, f64::from(self.sample.n() - 1));
        let quartiles = [errors, -errors].map(|errors| self.shifted(errors)?.least(level));
        let low = quartiles.into_iter().flatten().min()?;
        let high = if quartiles.contains(&None) { None } else { quartiles.into_iter().flatten().max() };
        Some(SeedRange { low, high })
    }

    /// Returns the distance of a mean that is higher by `errors` standard errors; `None` if that is on another side of
    /// an end.
    fn shifted(&self, errors: f64) -> Option<Self> {
        let sample = self.sample.shifted(errors);
        let same_side = |&end: &f64| (sample.mean() < end) == (self.sample.mean() < end);
        self.ends.iter().all(same_side).then(|| Self { sample, ..self.clone() })
    }

    /// Returns the least number of seeds at which the smaller p value is at most `level`.
    fn least(&self, level: f64) -> Option<u32> {
        let narrow = |n: u32| {
            // As many equal counts as seeds, then.
            let least_p = if self.least_p > 0.0 { libm::exp2(-f64::from(n)) } else { 0.0 };
            let then = Self { sample: self.sample.with_size(n), least_p, ..self.clone() };
            then.if_outside().min(then.if_inside()) <= level
        };
        let (mut few, mut enough) = (self.sample.n(), MAX_SEEDS as u32);
        if few >= enough || !narrow(enough) {
            return None;
        }
        while enough - few > 1 {
            let middle = few + (enough - few) / 2;
            if narrow(middle) { enough = middle } else { few = middle }
        }
        Some(enough)
    }

    /// Returns the p value of the hypothesis that the true value lies at `end` or beyond it.
    fn tail(&self, end: f64) -> f64 {
        self.sample.p_beyond(end).max(self.least_p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::OpenRange;
    use crate::metrics::estimate::Nature;

    /// The mean is 3 and the standard error 0.70711 with four degrees of freedom, without skewness.
    fn of(band: Band) -> Distance {
        Distance::of(&Estimate::arithmetic(&[1.0, 2.0, 3.0, 4.0, 5.0], Nature::Quantity), band).unwrap()
    }

    #[test]
    fn p_values_are_one_sided_tails() {
        // t = 3 / 0.70711 = 4.2426: two-sided 0.013236, as in the test of paired differences.
        let above = of(OpenRange::above(0.0).into());
        assert!((above.if_outside() - 0.013236 / 2.0).abs() < 1e-5, "{above:?}");
        assert_eq!(above.if_inside(), 1.0);
        // With two ends, the nearest one counts, at distance 3.
        let within = of(Band::closed(0.0, 100.0));
        assert_eq!(within.if_outside(), above.if_outside());
        let (below, beside) = (of(OpenRange::below(0.0).into()), of(Band::closed(-1.0, 0.0)));
        assert_eq!((below.if_outside(), below.if_inside()), (1.0, above.if_outside()));
        assert_eq!(beside.if_inside(), 2.0 * below.if_inside());
    }

    #[test]
    fn values_without_variance_have_p_values_of_0_and_1() {
        let like = Estimate::of(&[2.0, 2.0, 2.0], Nature::Quantity);
        let p = |band| Distance::of(&like, band).map(|d| (d.if_outside(), d.if_inside()));
        assert_eq!(p(Band::closed(2.0, 3.0)), Some((0.0, 1.0)));
        assert_eq!(p(OpenRange::above(2.0).into()), Some((1.0, 0.0)));
        assert_eq!(Distance::of(&Estimate::of(&[2.0], Nature::Quantity), Band::closed(2.0, 3.0)), None);
    }

    #[test]
    fn equal_counts_of_events_have_the_p_value_of_as_many_throws_of_a_coin() {
        let none = Estimate::of(&[0.0; 8], Nature::Events);
        let below = Distance::of(&none, OpenRange::below(0.01).into()).unwrap();
        assert_eq!(below.if_outside(), 1.0 / 256.0);
        let beyond = Distance::of(&none, Band::closed(0.1, 0.2)).unwrap();
        assert_eq!(beyond.if_inside(), 2.0 / 256.0);
        assert_eq!(Distance::of(&Estimate::of(&[0.0; 3], Nature::Events), Band::closed(0.1, 0.2)), None);
        // 2^-11 is above the level, 2^-12 below it; beyond two ends, twice as much.
        assert_eq!(below.seeds(0.0003), Some(SeedRange { low: 12, high: Some(12) }));
        assert_eq!(beyond.seeds(0.0003), Some(SeedRange { low: 13, high: Some(13) }));
    }

    #[test]
    fn the_range_of_seeds_has_the_number_for_the_mean_at_both_quartiles() {
        // s = 1.58114, and the quartiles of T at four degrees of freedom are 0.7407: the mean is 3 ± 0.5238. At 0.0025
        // and the distance 1.5238, t(13) = 3.372 gives 14 seeds, 3.372 x 1.58114 / sqrt(14) = 1.425, and t(12) = 3.428
        // gives 1.503 for 13, t(11) = 3.497 gives 1.596 for 12. At 0.4762, 89 seeds: t(88) = 2.880 gives 0.4827.
        let near = of(OpenRange::above(2.0).into()).seeds(0.0025).unwrap();
        assert_eq!(near.low, 13);
        assert!(near.high.is_some_and(|high| (90..=93).contains(&high)), "{near:?}");
        // At the distance 0.4, one quartile is on the other side: no number may be enough.
        let nearer = of(OpenRange::above(2.6).into()).seeds(0.0025).unwrap();
        assert_eq!(nearer.high, None);
        assert!(nearer.low > near.low, "{nearer:?}");
    }
}

//! The distance of a mean from the ends of a band, in standard errors, with p values.

use super::band::Band;
use crate::experiment::MAX_SEEDS;
use crate::metrics::interval::Interval;
use crate::metrics::student;

/// Position of a comparison's mean relative to a band. For ratios, all values are logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Whether the mean is within the band.
    pub inside: bool,
    /// Distance from the mean to the nearest end of the band.
    way: f64,
    /// Standard error of the mean; 0 if all seeds agree.
    error: f64,
    /// Number of seeds, at least 2.
    n: u32,
    /// Number of finite ends of the band, 1 or 2.
    ends: u32,
    /// Number of comparisons of which this one is the furthest outside its band.
    among: u32,
}

impl Distance {
    /// Computes the distance of `value`, whose interval is symmetric after `scale`; `None` without an interval.
    pub(super) fn of(value: &Interval, band: Band, scale: impl Fn(f64) -> f64) -> Option<Self> {
        let (mean, (_, high)) = (value.mean?, value.ends()?);
        let way = |end: f64| (scale(end) - scale(mean)).abs();
        Some(Self {
            inside: band.holds((mean, mean)),
            way: band.ends().map(way).fold(f64::INFINITY, f64::min),
            error: (scale(high) - scale(mean)) / student::quantile(f64::from(value.n - 1)),
            n: value.n,
            ends: band.ends().count() as u32,
            among: 1,
        })
    }

    /// Returns the distance of the comparison that lies furthest outside its band among `count` comparisons.
    #[must_use]
    pub(super) fn furthest_of(self, count: u32) -> Self {
        Self { among: count, ..self }
    }

    /// Returns the p value of the hypothesis that the true value lies outside the band: the larger of two one-sided
    /// tests (TOST, Schuirmann 1987), which is that of the nearest end.
    pub fn if_outside(&self) -> f64 {
        if self.inside { self.tail() } else { 1.0 }
    }

    /// Returns the p value of the hypothesis that the true value lies within the band: that of the nearest end, times
    /// the number of ends and of comparisons (Bonferroni).
    pub fn if_inside(&self) -> f64 {
        if self.inside { 1.0 } else { (f64::from(self.ends * self.among) * self.tail()).min(1.0) }
    }

    /// Returns the number of seeds, larger than the present one, at which the smaller p value would be at most `level`,
    /// with the same mean and standard deviation; `None` above [`MAX_SEEDS`].
    pub fn seeds(&self, level: f64) -> Option<u32> {
        let narrow = |n: u32| {
            let error = self.error * (f64::from(self.n) / f64::from(n)).sqrt();
            let then = Self { error, n, ..*self };
            then.if_outside().min(then.if_inside()) <= level
        };
        let (mut few, mut enough) = (self.n, MAX_SEEDS as u32);
        if few >= enough || !narrow(enough) {
            return None;
        }
        while enough - few > 1 {
            let middle = few + (enough - few) / 2;
            if narrow(middle) { enough = middle } else { few = middle }
        }
        Some(enough)
    }

    /// Returns the probability that Student's T exceeds the distance in standard errors.
    fn tail(&self) -> f64 {
        if self.error == 0.0 {
            return 0.0;
        }
        let p = student::outside(self.way / self.error, f64::from(self.n - 1)) / 2.0;
        if p.is_nan() { 1.0 } else { p }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::OpenRange;

    /// The mean is 3 and the standard error 0.70711 with four degrees of freedom.
    fn of(band: Band) -> Distance {
        Distance::of(&Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]), band, |x| x).unwrap()
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
        let like = Interval::of(&[2.0, 2.0, 2.0]);
        let p = |band| Distance::of(&like, band, |x| x).map(|d| (d.if_outside(), d.if_inside()));
        assert_eq!(p(Band::closed(2.0, 3.0)), Some((0.0, 1.0)));
        assert_eq!(p(OpenRange::above(2.0).into()), Some((1.0, 0.0)));
        assert_eq!(Distance::of(&Interval::of(&[2.0]), Band::closed(2.0, 3.0), |x| x), None);
    }

    #[test]
    fn the_number_of_seeds_is_the_smallest_at_which_the_p_value_is_small() {
        // s = 1.58114, distance 1: at 0.0025, t(29) = 3.038 gives 0.877, t(25) = 3.078 0.954, t(23) = 3.104 1.002.
        let near = of(OpenRange::above(2.0).into());
        assert_eq!(near.seeds(0.0025), Some(25));
        // A band with two ends needs more: t at 0.00125.
        assert!(of(Band::closed(-9.0, 2.0)).seeds(0.0025) > near.seeds(0.0025));
        assert_eq!(of(OpenRange::above(3.0).into()).seeds(0.025), None);
    }
}

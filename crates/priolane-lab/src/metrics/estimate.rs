//! Estimates over seeds: a mean and its 95 % interval, with the scale on which both are computed and judged.
//!
//! A quantity that is above 0 in every seed, such as a time, a rate or a ratio, has a geometric mean, and the interval
//! is that of its logarithm: an interval of ratios is the same whichever of both metrics is divided by the other, and
//! no end is below 0. Shares and counts of events, of which 0 is an ordinary value, have an arithmetic mean and the
//! interval of the values; so have differences, and quantities that are not above 0 in some seed.
//!
//! Equal values of several seeds do not show how the value varies: counts, extremes of a queue and percentiles have few
//! values. Their interval has the width 0 if no seed changes anything in the runs, and otherwise only from the number of
//! seeds on at which an interval that excludes half of the seeds has a confidence of 95 %: 2^-n is at most
//! 2.5 % from n = 6 on.

use serde::Serialize;

use super::sample::Sample;

/// The scale of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// Geometric mean, and the interval of the logarithms.
    Geometric,
    /// Arithmetic mean, and the interval of the values.
    Arithmetic,
}

/// The kind of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// A quantity that is continuous, or the same in all seeds: equal values show that seeds do not change it.
    Quantity,
    /// A quantity of runs that seeds change: equal values in all seeds can be chance.
    Drawn,
    /// A share or count of events: equal values in all seeds can be chance.
    Events,
}

impl Nature {
    /// Returns the nature with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Quantity, Self::Drawn, Self::Events].into_iter().find(|nature| nature.name() == name)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quantity => "quantity",
            Self::Drawn => "drawn",
            Self::Events => "events",
        }
    }

    /// Returns the nature of a comparison of two metrics.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Events, _) | (_, Self::Events) => Self::Events,
            (Self::Drawn, _) | (_, Self::Drawn) => Self::Drawn,
            (Self::Quantity, Self::Quantity) => Self::Quantity,
        }
    }
}

/// A mean over seeds and its 95 % confidence interval. Verdicts and printed numbers are made of the same estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The scale of mean, interval and verdict.
    pub average: Average,
    /// The mean; null if there is no value.
    pub mean: Option<f64>,
    /// Lower end; null for fewer than two values, and for equal counts of too few seeds.
    pub low: Option<f64>,
    /// Upper end; null in the same cases.
    pub high: Option<f64>,
    /// Number of values (seeds).
    pub n: u32,
    /// The values on the scale of `average`.
    #[serde(skip)]
    sample: Option<Sample>,
    #[serde(skip)]
    least_p: f64,
}

/// Largest p value at which one end of a 95 % interval excludes a value.
const ONE_SIDED: f64 = (1.0 - super::student::LEVEL) / 2.0;

impl Estimate {
    /// Returns the estimate of `values` of a metric of this nature: geometric for a quantity that is above 0 in every
    /// seed.
    pub fn of(values: &[f64], nature: Nature) -> Self {
        if nature != Nature::Events && values.iter().all(|&value| value > 0.0) {
            return Self::geometric(values, nature);
        }
        Self::arithmetic(values, nature)
    }

    /// Returns the arithmetic estimate of `values`, of any sign.
    pub fn arithmetic(values: &[f64], nature: Nature) -> Self {
        let only = values.first().copied();
        Self::new(Average::Arithmetic, (values, only), nature)
    }

    /// Returns the geometric estimate of `values`, all above 0.
    pub fn geometric(values: &[f64], nature: Nature) -> Self {
        let logs: Vec<f64> = values.iter().map(|&value| libm::log(value)).collect();
        Self::new(Average::Geometric, (&logs, values.first().copied()), nature)
    }

    /// Returns the estimate of values on the scale of `average`; `only` is the first value itself, which is the mean if
    /// all are equal.
    fn new(average: Average, (values, only): (&[f64], Option<f64>), nature: Nature) -> Self {
        let n = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let unit = match average {
            Average::Geometric => 1.0,
            Average::Arithmetic => values.iter().fold(0.0, |most: f64, value| most.max(value.abs())),
        };
        let sample = Sample::of(values, unit);
        let constant = sample.is_none_or(|sample| sample.is_constant());
        let least_p = match (nature, sample) {
            (Nature::Events | Nature::Drawn, Some(_)) if constant => libm::exp2(-f64::from(n)),
            _ => 0.0,
        };
        let back = |x: f64| if average == Average::Geometric { libm::exp(x) } else { x };
        let (mean, ends) = match (sample, only) {
            (Some(sample), _) if !constant => {
                let (low, high) = sample.ends();
                (Some(back(sample.mean())), Some((back(low), back(high))))
            }
            (Some(_), Some(only)) if least_p <= ONE_SIDED => (Some(only), Some((only, only))),
            (_, only) => (only, None),
        };
        Self {
            average,
            mean,
            low: ends.map(|ends| ends.0),
            high: ends.map(|ends| ends.1),
            n,
            sample,
            least_p,
        }
    }

    /// Returns the estimate with its mean at `mean`, and its interval moved with it on its scale; it decides no claim.
    #[must_use]
    pub fn moved_to(self, mean: f64) -> Self {
        let moved = |x: f64| match (self.average, self.mean) {
            (Average::Geometric, Some(old)) => x / old * mean,
            (Average::Arithmetic, Some(old)) => x - old + mean,
            (_, None) => x,
        };
        let (low, high) = (self.low.map(moved), self.high.map(moved));
        Self { mean: Some(mean), low, high, sample: None, ..self }
    }

    /// Returns the estimate with its ends within `range`, outside of which no value of the metric lies.
    #[must_use]
    pub fn within(self, (least, most): (f64, f64)) -> Self {
        let inside = |x: f64| x.clamp(least, most);
        Self { mean: self.mean.map(inside), low: self.low.map(inside), high: self.high.map(inside), ..self }
    }

    /// Returns lower and upper end, if there is an interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// Returns the place of a value on the scale of this estimate; negative infinity for the logarithm of 0 and of
    /// values below it.
    pub fn on_scale(&self, x: f64) -> f64 {
        match self.average {
            Average::Geometric if x > 0.0 => libm::log(x),
            Average::Geometric => f64::NEG_INFINITY,
            Average::Arithmetic => x,
        }
    }

    /// Returns the two-sided p value of the hypothesis that the true mean is `x`; `None` without an interval.
    pub fn p_value(&self, x: f64) -> Option<f64> {
        let (sample, at) = (self.sample()?, self.on_scale(x));
        if sample.is_constant() && self.mean == Some(x) {
            return Some(1.0);
        }
        Some((2.0 * sample.p_beyond(at).max(self.least_p)).min(1.0))
    }

    /// Returns the values on the scale of this estimate, if they decide anything: there is an interval.
    pub(crate) fn sample(&self) -> Option<Sample> {
        self.sample.filter(|_| self.low.is_some())
    }

    /// Returns the least p value that seeds with equal counts of events can give; 0 in all other cases.
    pub(crate) fn least_p(&self) -> f64 {
        self.least_p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positive_quantities_are_geometric_and_a_zero_makes_them_arithmetic() {
        // Ratios 2 and 8: ln 4 ± 12.7062 x ln 2.
        let both = Estimate::of(&[2.0, 8.0], Nature::Quantity);
        assert_eq!(both.average, Average::Geometric);
        let reach = libm::exp2(12.7062);
        let near = |a: Option<f64>, b: f64| (a.unwrap() / b - 1.0).abs() < 1e-3;
        assert!(
            near(both.mean, 4.0) && near(both.low, 4.0 / reach) && near(both.high, 4.0 * reach),
            "{both:?}"
        );
        let with_zero = Estimate::of(&[2.0, 0.0], Nature::Quantity);
        assert_eq!((with_zero.average, with_zero.mean), (Average::Arithmetic, Some(1.0)));
        let shares = Estimate::of(&[0.25, 0.75], Nature::Events);
        assert_eq!((shares.average, shares.mean), (Average::Arithmetic, Some(0.5)));
    }

    #[test]
    fn the_estimate_of_inverse_values_is_inverse() {
        let values = [3.34, 9.26, 1.42, 8.27, 1.73, 1.02];
        let ratio = Estimate::of(&values, Nature::Quantity);
        let inverse = Estimate::of(&values.map(|value| 1.0 / value), Nature::Quantity);
        let is_one = |a: Option<f64>, b: Option<f64>| (a.unwrap() * b.unwrap() - 1.0).abs() < 1e-12;
        assert!(is_one(ratio.mean, inverse.mean) && is_one(ratio.low, inverse.high), "{ratio:?} {inverse:?}");
        // The arithmetic interval of these values is [0.335, 8.01]; all of them are above 1.
        assert!(ratio.low.unwrap() > 1.0, "{ratio:?}");
    }

    #[test]
    fn equal_counts_of_five_seeds_have_no_interval_and_of_six_one_without_width() {
        let of = |n: usize, nature| Estimate::of(&vec![0.0; n], nature);
        assert_eq!((of(5, Nature::Events).mean, of(5, Nature::Events).ends()), (Some(0.0), None));
        assert_eq!(
            (of(6, Nature::Events).ends(), of(6, Nature::Events).least_p()),
            (Some((0.0, 0.0)), 1.0 / 64.0)
        );
        assert_eq!(of(2, Nature::Quantity).ends(), Some((0.0, 0.0)));
        // Two seeds in which the longest queue of a port was 13 packets.
        let queue = |seeds: usize| Estimate::of(&vec![13.0; seeds], Nature::Drawn);
        assert_eq!((queue(2).mean, queue(2).ends(), queue(5).ends()), (Some(13.0), None, None));
        assert_eq!((queue(6).ends(), queue(6).average), (Some((13.0, 13.0)), Average::Geometric));
    }

    #[test]
    fn p_values_are_two_sided_and_5_percent_at_the_ends() {
        let some = Estimate::of(&[3.34, 9.26, 1.42, 8.27, 1.73, 1.02], Nature::Quantity);
        let p = |x: f64| some.p_value(x).unwrap();
        assert!((p(some.low.unwrap()) - 0.05).abs() < 1e-6 && (p(some.high.unwrap()) - 0.05).abs() < 1e-6);
        assert!(p(1.0) < 0.05 && p(some.mean.unwrap()) > 0.5);
        let same = Estimate::of(&[2.0; 3], Nature::Quantity);
        assert_eq!((same.p_value(2.0), same.p_value(1.0)), (Some(1.0), Some(0.0)));
        assert_eq!(Estimate::of(&[1.0; 6], Nature::Events).p_value(0.0), Some(1.0 / 32.0));
        assert_eq!(Estimate::of(&[1.0; 3], Nature::Events).p_value(0.0), None);
    }

    #[test]
    fn one_value_has_a_mean_but_no_interval() {
        let one = Estimate::of(&[7.0], Nature::Quantity);
        assert_eq!((one.mean, one.ends(), one.n), (Some(7.0), None, 1));
        assert_eq!(Estimate::of(&[], Nature::Quantity).mean, None);
    }
}

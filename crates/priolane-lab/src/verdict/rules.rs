//! The rules by which a claim is reproduced, contradicted or undecided.
//!
//! A claim allows a band of values. The measurement is a 95 % Student-t interval over seeds, with schemes paired by
//! seed. The claim is
//!
//! - *reproduced* if the whole interval lies within the band,
//! - *contradicted* if interval and band are disjoint,
//! - *undecided* otherwise; always with one seed, which has no interval,
//! - *incomplete* if a run or a value is missing.
//!
//! This is the verdict of a single claim. `family` determines which of these verdicts hold among all claims of a
//! figure.
//!
//! | claim | value | band | direction: which side of |
//! |---|---|---|---|
//! | order a > b > ... | a/b of each adjacent pair | above 1 | 1 |
//! | equal within w | a/b of each pair | 1/(1 + w) to 1 + w | none |
//! | bound | the metric, or the ratio of two | the given range, ends excluded | the bound, if there is only one |
//! | ratio p within w | the metric, or the ratio of two | p (1 - w) to p (1 + w) | 1, if p is a ratio other than 1 |
//! | agree within w | the metric divided by the reference value of the seed | 1/(1 + w) to 1 + w | none |
//! | trend | least-squares slope of each seed | above 0, or below 0 | 0 |
//!
//! Intervals of ratios are those of ln(a/b). If a value is not positive, order and equal compare a - b with 0; ratio
//! and agree are undecided.
//!
//! A trend also requires monotone means. If they are not, the step that goes furthest against the trend, in standard
//! errors, is compared with 0 seed by seed: the trend is contradicted if the whole interval of the step lies on the
//! other side, and undecided otherwise.
//!
//! Bands and trends are our choice: docs/assumptions.md#equal-band, docs/assumptions.md#trend.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::band::Band;
use super::decision::{Decision, Direction, UndecidedReason};
use crate::experiment::{OpenRange, TrendDirection};
use crate::metrics::interval::Interval;
use crate::metrics::metric::Scale;

/// Values of one metric by seed.
pub(crate) type BySeed = BTreeMap<u64, f64>;

/// The comparison of two metrics, seed by seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// Their ratio: geometric mean and interval.
    Ratio(Interval),
    /// Their difference, if one of them is not positive.
    Difference(Interval),
}

/// Compares `a` and `b` over their common seeds.
pub(crate) fn comparison(a: &BySeed, b: &BySeed) -> Comparison {
    let pairs: Vec<(f64, f64)> = a.iter().filter_map(|(seed, &x)| Some((x, *b.get(seed)?))).collect();
    if pairs.iter().all(|&(x, y)| x > 0.0 && y > 0.0) {
        let logs: Vec<f64> = pairs.iter().map(|&(x, y)| libm::log(x / y)).collect();
        Comparison::Ratio(Interval::of(&logs).map(libm::exp))
    } else {
        let differences: Vec<f64> = pairs.iter().map(|&(x, y)| x - y).collect();
        Comparison::Difference(Interval::of(&differences))
    }
}

/// Decides whether the first metric of a pair is above the second.
pub fn judge_order(comparison: Comparison) -> Decision {
    let above = |tie: f64| OpenRange::above(tie).into();
    match comparison {
        Comparison::Ratio(ratio) => {
            Decision::of_ratio(&ratio, above(1.0)).with_direction(Direction::above(&ratio, 1.0))
        }
        Comparison::Difference(difference) => {
            Decision::of(&difference, above(0.0)).with_direction(Direction::above(&difference, 0.0))
        }
    }
}

/// Decides whether a pair is equal within `within`: neither is more than `1 + within` times the other.
pub fn equal(comparison: Comparison, within: f64) -> Decision {
    match comparison {
        Comparison::Ratio(ratio) => {
            Decision::of_ratio(&ratio, Band::closed(1.0 / (1.0 + within), 1.0 + within))
        }
        Comparison::Difference(difference) => Decision::of(&difference, Band::closed(0.0, 0.0)),
    }
}

/// Decides whether a metric agrees within `within` with positive reference values by seed: neither is more than
/// `1 + within` times the other.
pub(crate) fn agrees(comparison: Comparison, within: f64) -> Decision {
    match comparison {
        Comparison::Ratio(_) => equal(comparison, within),
        Comparison::Difference(_) => Decision::undecided(UndecidedReason::NoRatio),
    }
}

/// Decides whether a value lies in a range.
pub fn judge_bound(value: &Interval, range: OpenRange) -> Decision {
    Decision::of(value, range.into()).with_direction(direction_of(value, range))
}

/// Decides whether the ratio of two metrics lies in a range.
pub(crate) fn bounded_ratio(comparison: Comparison, range: OpenRange) -> Decision {
    match comparison {
        Comparison::Ratio(ratio) => {
            Decision::of_ratio(&ratio, range.into()).with_direction(direction_of(&ratio, range))
        }
        Comparison::Difference(_) => Decision::undecided(UndecidedReason::NoRatio),
    }
}

/// Returns the side of the range's only end on which a value lies.
fn direction_of(value: &Interval, range: OpenRange) -> Direction {
    match (range.above, range.below) {
        (Some(above), None) => Direction::above(value, above),
        (None, Some(below)) => Direction::below(value, below),
        _ => Direction::None,
    }
}

/// A number published in the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedNumber {
    /// The number, above 0.
    pub value: f64,
    /// Relative half-width of the band around it.
    pub within: f64,
    /// Whether 1 means "no difference", so that the side of 1 is a direction.
    pub scale: Scale,
}

impl PublishedNumber {
    /// Returns the band of values that agree with it.
    pub fn accepted_band(&self) -> Band {
        Band::closed(self.value * (1.0 - self.within), self.value * (1.0 + self.within))
    }

    /// Decides whether a measured value agrees.
    pub fn judge(&self, value: &Interval) -> Decision {
        Decision::of(value, self.accepted_band()).with_direction(self.side(value))
    }

    /// Decides whether a measured ratio agrees.
    pub(crate) fn judge_ratio(&self, comparison: Comparison) -> Decision {
        match comparison {
            Comparison::Ratio(ratio) => {
                Decision::of_ratio(&ratio, self.accepted_band()).with_direction(self.side(&ratio))
            }
            Comparison::Difference(_) => Decision::undecided(UndecidedReason::NoRatio),
        }
    }

    fn side(&self, value: &Interval) -> Direction {
        match self.scale {
            Scale::Relative if self.value > 1.0 => Direction::above(value, 1.0),
            Scale::Relative if self.value < 1.0 => Direction::below(value, 1.0),
            _ => Direction::None,
        }
    }
}

/// The evidence for a trend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trend {
    /// The least-squares slope.
    pub slope: (Interval, Decision),
    /// The step that goes furthest against the trend, if a mean does.
    pub adverse_step: Option<AdverseStep>,
}

/// A step between neighbouring values of x whose mean goes against a trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AdverseStep {
    /// Index of the lower value of x.
    pub from: usize,
    /// The difference of the values, seed by seed.
    pub change: Interval,
    /// Contradicted if the interval lies against the trend, undecided otherwise.
    pub decision: Decision,
}

/// Decides whether a metric has the trend `way` along x; `along` has the values by seed at each x, in increasing order
/// of x.
pub(crate) fn trend(along: &[(f64, BySeed)], way: TrendDirection) -> Trend {
    let seeds = along.first().map(|(_, values)| values.keys()).into_iter().flatten();
    let slopes: Vec<f64> = seeds.filter_map(|seed| slope(along, *seed)).collect();
    let interval = Interval::of(&slopes);
    let decision = match way {
        TrendDirection::Up => judge_bound(&interval, OpenRange::above(0.0)),
        TrendDirection::Down => judge_bound(&interval, OpenRange::below(0.0)),
    };
    let adverse_step = largest_adverse_step(along, way).map(|step| {
        let undecided =
            step.decision.undecided.and(decision.undecided.or(Some(UndecidedReason::NotMonotone)));
        let direction = decision.direction;
        AdverseStep { decision: Decision { undecided, direction, ..step.decision }, ..step }
    });
    Trend { slope: (interval, decision), adverse_step }
}

/// Returns the step against the trend whose change is the most standard errors away from 0.
fn largest_adverse_step(along: &[(f64, BySeed)], way: TrendDirection) -> Option<AdverseStep> {
    let band = match way {
        TrendDirection::Up => Band { low: Bound::Included(0.0), high: Bound::Unbounded },
        TrendDirection::Down => Band { low: Bound::Unbounded, high: Bound::Included(0.0) },
    };
    let steps = along.windows(2).enumerate().map(|(from, pair)| {
        let (low, high) = (&pair[0].1, &pair[1].1);
        let changes: Vec<f64> =
            low.iter().filter_map(|(seed, value)| Some(high.get(seed)? - value)).collect();
        (from, Interval::of(&changes))
    });
    let adverse = steps.filter(|(_, change)| change.mean.is_some_and(|mean| !band.holds((mean, mean))));
    let found = adverse.map(|(from, change)| (from, change, Decision::of(&change, band)));
    let (from, change, decision) = found.min_by(|a, b| p_value(&a.2).total_cmp(&p_value(&b.2)))?;
    let distance = decision.distance.map(|distance| distance.furthest_of(along.len() as u32 - 1));
    Some(AdverseStep { from, change, decision: Decision { distance, ..decision } })
}

/// Returns the p value of "the step does not go against the trend"; 1 without an interval.
fn p_value(step: &Decision) -> f64 {
    step.distance.map_or(1.0, |distance| distance.if_inside())
}

/// Returns the values in order of seeds.
pub fn values(by_seed: &BySeed) -> Vec<f64> {
    by_seed.values().copied().collect()
}

/// Returns the least-squares slope of one seed's values over x; `None` if one is missing or x does not vary.
fn slope(along: &[(f64, BySeed)], seed: u64) -> Option<f64> {
    let points: Option<Vec<(f64, f64)>> = along.iter().map(|(x, v)| Some((*x, *v.get(&seed)?))).collect();
    let points = points.filter(|p| p.len() > 1)?;
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let covariance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests;

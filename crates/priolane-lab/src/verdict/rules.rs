//! The rules by which a claim is reproduced, contradicted or undecided.
//!
//! A claim allows a band of values. The measurement is a 95 % interval over seeds, with schemes paired by seed. The claim is
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
//! | trend | fitted change from the first to the last x, of each seed | above, or below, no change | no change |
//!
//! Mean, interval and verdict of a value are on one scale, which the [`Estimate`] has: logarithms for ratios and for
//! quantities that are above 0 in every seed. If a value is not above 0, order and equal compare a - b with 0; ratio
//! and agree are undecided, and so is a bound of a ratio.
//!
//! The fitted change of a trend is that of the least-squares line: the ratio of its ends if the line is one of
//! logarithms, else their difference. A trend also requires monotone means. If they are not, the step that goes
//! furthest against the trend, in p values, is compared with no change seed by seed: the trend is contradicted if the
//! whole interval of the step lies on the other side, and undecided otherwise.
//!
//! Bands and trends are our choice: docs/assumptions.md#equal-band, docs/assumptions.md#trend.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::band::Band;
use super::decision::{Decision, Direction, UndecidedReason};
use super::distance::Distance;
use crate::experiment::{OpenRange, TrendDirection};
use crate::metrics::estimate::{Average, Estimate, Nature};
use crate::metrics::metric::Scale;

/// Values of one metric by seed.
pub type BySeed = BTreeMap<u64, f64>;

/// The comparison of two metrics, seed by seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// Their ratio.
    Ratio(Estimate),
    /// Their difference, if one of them is not positive.
    Difference(Estimate),
}

/// Compares `a` and `b` of this nature over their common seeds.
pub fn comparison(a: &BySeed, b: &BySeed, nature: Nature) -> Comparison {
    let pairs: Vec<(f64, f64)> = a.iter().filter_map(|(seed, &x)| Some((x, *b.get(seed)?))).collect();
    if pairs.iter().all(|&(x, y)| x > 0.0 && y > 0.0) {
        let ratios: Vec<f64> = pairs.iter().map(|&(x, y)| x / y).collect();
        Comparison::Ratio(Estimate::geometric(&ratios, nature))
    } else {
        let differences: Vec<f64> = pairs.iter().map(|&(x, y)| x - y).collect();
        Comparison::Difference(Estimate::arithmetic(&differences, nature))
    }
}

/// Decides whether the first metric of a pair is above the second.
pub fn judge_order(comparison: Comparison) -> Decision {
    let above = |tie: f64| OpenRange::above(tie).into();
    match comparison {
        Comparison::Ratio(ratio) => {
            Decision::of(&ratio, above(1.0)).with_direction(Direction::above(&ratio, 1.0))
        }
        Comparison::Difference(difference) => {
            Decision::of(&difference, above(0.0)).with_direction(Direction::above(&difference, 0.0))
        }
    }
}

/// Decides whether a pair is equal within `within`: neither is more than `1 + within` times the other.
pub fn equal(comparison: Comparison, within: f64) -> Decision {
    match comparison {
        Comparison::Ratio(ratio) => Decision::of(&ratio, Band::closed(1.0 / (1.0 + within), 1.0 + within)),
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
pub fn judge_bound(value: &Estimate, range: OpenRange) -> Decision {
    Decision::of(value, range.into()).with_direction(direction_of(value, range))
}

/// Decides whether the ratio of two metrics lies in a range.
pub(crate) fn bounded_ratio(comparison: Comparison, range: OpenRange) -> Decision {
    match comparison {
        Comparison::Ratio(ratio) => {
            Decision::of(&ratio, range.into()).with_direction(direction_of(&ratio, range))
        }
        Comparison::Difference(_) => Decision::undecided(UndecidedReason::NoRatio),
    }
}

/// Returns the side of the range's only end on which a value lies.
fn direction_of(value: &Estimate, range: OpenRange) -> Direction {
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
    pub fn judge(&self, value: &Estimate) -> Decision {
        Decision::of(value, self.accepted_band()).with_direction(self.side(value))
    }

    /// Decides whether a measured ratio agrees.
    pub(crate) fn judge_ratio(&self, comparison: Comparison) -> Decision {
        match comparison {
            Comparison::Ratio(ratio) => {
                Decision::of(&ratio, self.accepted_band()).with_direction(self.side(&ratio))
            }
            Comparison::Difference(_) => Decision::undecided(UndecidedReason::NoRatio),
        }
    }

    fn side(&self, value: &Estimate) -> Direction {
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
    /// The change of the least-squares line from the first to the last x.
    pub change: Estimate,
    /// The decision by that change.
    pub decision: Decision,
    /// The step that goes furthest against the trend, if a mean does.
    pub adverse_step: Option<AdverseStep>,
}

/// A step between neighbouring values of x whose mean goes against a trend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdverseStep {
    /// Index of the lower value of x.
    pub from: usize,
    /// The change, seed by seed.
    pub change: Estimate,
    /// Contradicted if the interval lies against the trend, undecided otherwise.
    pub decision: Decision,
}

/// Decides whether a metric of this nature has the trend `way` along x; `along` has the values by seed at each x, in
/// increasing order of x.
pub(crate) fn trend(along: &[(f64, BySeed)], way: TrendDirection, nature: Nature) -> Trend {
    let is_positive = along.iter().flat_map(|(_, values)| values.values()).all(|&value| value > 0.0);
    let geometric = nature != Nature::Events && is_positive;
    let average = if geometric { Average::Geometric } else { Average::Arithmetic };
    let seeds = along.first().map(|(_, values)| values.keys()).into_iter().flatten();
    let fitted: Vec<f64> = seeds.filter_map(|&seed| fitted_change(along, seed, average)).collect();
    let change = change_of(&fitted, average, nature);
    let tie = no_change(average);
    let decision = match way {
        TrendDirection::Up => judge_bound(&change, OpenRange::above(tie)),
        TrendDirection::Down => judge_bound(&change, OpenRange::below(tie)),
    };
    let adverse_step = largest_adverse_step(along, way, (average, nature)).map(|step| {
        let undecided = step
            .decision
            .undecided
            .clone()
            .and(decision.undecided.clone().or(Some(UndecidedReason::NotMonotone)));
        let direction = decision.direction;
        AdverseStep { decision: Decision { undecided, direction, ..step.decision }, ..step }
    });
    Trend { change, decision, adverse_step }
}

/// Returns the estimate of changes by seed: ratios of a geometric average, else differences.
fn change_of(changes: &[f64], average: Average, nature: Nature) -> Estimate {
    match average {
        Average::Geometric => Estimate::geometric(changes, nature),
        Average::Arithmetic => Estimate::arithmetic(changes, nature),
    }
}

/// Returns the value of a change that means no change.
fn no_change(average: Average) -> f64 {
    match average {
        Average::Geometric => 1.0,
        Average::Arithmetic => 0.0,
    }
}

/// Returns the step against the trend whose change has the least p value.
fn largest_adverse_step(
    along: &[(f64, BySeed)],
    way: TrendDirection,
    (average, nature): (Average, Nature),
) -> Option<AdverseStep> {
    let tie = Bound::Included(no_change(average));
    let band = match way {
        TrendDirection::Up => Band { low: tie, high: Bound::Unbounded },
        TrendDirection::Down => Band { low: Bound::Unbounded, high: tie },
    };
    let of_seed = |low: f64, high: f64| match average {
        Average::Geometric => high / low,
        Average::Arithmetic => high - low,
    };
    let steps = along.windows(2).enumerate().map(|(from, pair)| {
        let (low, high) = (&pair[0].1, &pair[1].1);
        let changes: Vec<f64> =
            low.iter().filter_map(|(seed, &value)| Some(of_seed(value, *high.get(seed)?))).collect();
        (from, change_of(&changes, average, nature))
    });
    let adverse = steps.filter(|(_, change)| change.mean.is_some_and(|mean| !band.holds((mean, mean))));
    let found = adverse.map(|(from, change)| (from, change, Decision::of(&change, band)));
    let (from, change, decision) = found.min_by(|a, b| p_value(&a.2).total_cmp(&p_value(&b.2)))?;
    let distance = decision.distance.clone().map(|distance| distance.furthest_of(along.len() as u32 - 1));
    Some(AdverseStep { from, change, decision: Decision { distance, ..decision } })
}

/// Returns the p value of "the step does not go against the trend"; 1 without an interval.
fn p_value(step: &Decision) -> f64 {
    step.distance.as_ref().map_or(1.0, Distance::if_inside)
}

/// Returns the values in order of seeds.
pub fn values(by_seed: &BySeed) -> Vec<f64> {
    by_seed.values().copied().collect()
}

/// Returns the change of the least-squares line of one seed's values from the first to the last x; `None` if a value is
/// missing or x does not vary.
fn fitted_change(along: &[(f64, BySeed)], seed: u64, average: Average) -> Option<f64> {
    let on_scale = |value: f64| if average == Average::Geometric { libm::log(value) } else { value };
    let points: Option<Vec<(f64, f64)>> =
        along.iter().map(|(x, values)| Some((*x, on_scale(*values.get(&seed)?)))).collect();
    let points = points.filter(|p| p.len() > 1)?;
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let covariance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    let span = points.last()?.0 - points.first()?.0;
    let change = (variance > 0.0).then(|| covariance / variance * span)?;
    Some(if average == Average::Geometric { libm::exp(change) } else { change })
}

#[cfg(test)]
mod tests;

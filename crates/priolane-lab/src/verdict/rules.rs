//! When a claim counts as reproduced.
//!
//! Everything is judged on values per seed, schemes paired by seed, with 95 % Student-t intervals over
//! seeds. With one seed there is no interval, and nothing is better than *direction only*.
//!
//! | claim | reproduced | direction only |
//! |---|---|---|
//! | order a > b > ... | each neighbouring pair's interval of ln(a/b) lies above 0 | its mean does |
//! | equal within w | each pair's interval of ln(a/b) lies inside ±ln(1 + w) | its mean does |
//! | bound | the interval lies in the claimed range | the mean does |
//! | ratio p within w | the interval meets [p (1 - w), p (1 + w)] | mean and p on the same side of 1, or the mean in the band |
//! | trend | the interval of the slope has the claimed sign, and the means are monotone | the mean slope has it |
//!
//! Bands and trends are ours: docs/assumptions.md#equal-band, docs/assumptions.md#trend.
//!
//! Where a value is not positive, order falls back from ln(a/b) to a - b; equality then asks for a = b.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::spec::{Direction, OpenRange};
use crate::metrics::interval::Interval;

/// What became of a claim. Later is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// The interval says so.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// Only the mean says so.
    #[serde(rename = "direction only")]
    DirectionOnly,
    /// Not even the mean says so.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// Runs, or values in them, are missing.
    #[serde(rename = "incomplete")]
    Incomplete,
}

impl Verdict {
    /// Reproduced if `holds` for both ends of the interval, direction only if for the mean alone.
    fn on(value: &Interval, holds: impl Fn(f64) -> bool) -> Self {
        match value.ends() {
            Some((low, high)) if holds(low) && holds(high) => Self::Reproduced,
            _ if value.mean.is_some_and(holds) => Self::DirectionOnly,
            _ => Self::NotReproduced,
        }
    }
}

/// Values of one metric by seed.
pub type BySeed = BTreeMap<u64, f64>;

/// How two metrics compare, seed by seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Contrast {
    /// Their ratio: geometric mean and interval.
    Ratio(Interval),
    /// Their difference, where one of them is not positive.
    Difference(Interval),
}

/// The contrast of `a` and `b` over the seeds both have.
pub fn contrast(a: &BySeed, b: &BySeed) -> Contrast {
    let pairs: Vec<(f64, f64)> = a.iter().filter_map(|(seed, &x)| Some((x, *b.get(seed)?))).collect();
    if pairs.iter().all(|&(x, y)| x > 0.0 && y > 0.0) {
        let logs: Vec<f64> = pairs.iter().map(|&(x, y)| libm::log(x / y)).collect();
        Contrast::Ratio(Interval::of(&logs).map(libm::exp))
    } else {
        let differences: Vec<f64> = pairs.iter().map(|&(x, y)| x - y).collect();
        Contrast::Difference(Interval::of(&differences))
    }
}

/// Whether a pair of an order claim is in order: the first above the second.
pub fn ordered(contrast: Contrast) -> Verdict {
    match contrast {
        Contrast::Ratio(ratio) => bounded(&ratio, OpenRange::above(1.0)),
        Contrast::Difference(difference) => bounded(&difference, OpenRange::above(0.0)),
    }
}

/// Whether a pair is equal within `within`: neither is more than `1 + within` times the other.
pub fn equal(contrast: Contrast, within: f64) -> Verdict {
    let (interval, low, high) = match contrast {
        Contrast::Ratio(ratio) => (ratio, 1.0 / (1.0 + within), 1.0 + within),
        Contrast::Difference(difference) => (difference, 0.0, 0.0),
    };
    Verdict::on(&interval, |x| low <= x && x <= high)
}

/// Whether a value lies in a range.
pub fn bounded(value: &Interval, range: OpenRange) -> Verdict {
    Verdict::on(value, |x| range.contains(x))
}

/// A number of the paper's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The number, above 0.
    pub value: f64,
    /// Half width of the band around it, relative.
    pub within: f64,
    /// Whether 1 means "no difference", so that a side of 1 is a direction.
    pub scale: Scale,
}

/// What a published number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A ratio of two like quantities.
    Relative,
    /// A quantity with a unit of its own.
    Absolute,
}

impl Published {
    /// Lower and upper end of the band.
    pub fn band(&self) -> (f64, f64) {
        (self.value * (1.0 - self.within), self.value * (1.0 + self.within))
    }

    /// Whether a measured value agrees.
    pub fn judge(&self, value: &Interval) -> Verdict {
        let (low, high) = self.band();
        if value.ends().is_some_and(|(from, to)| from <= high && low <= to) {
            return Verdict::Reproduced;
        }
        let same_side = |mean: f64| {
            self.scale == Scale::Relative
                && ((mean > 1.0 && self.value > 1.0) || (mean < 1.0 && self.value < 1.0))
        };
        let direction = |mean: f64| (low..=high).contains(&mean) || same_side(mean);
        if value.mean.is_some_and(direction) { Verdict::DirectionOnly } else { Verdict::NotReproduced }
    }

    /// Whether an interval is so wide that meeting the band says little: more than twice the band.
    pub fn is_blurred_by(&self, value: &Interval) -> bool {
        let (low, high) = self.band();
        value.ends().is_some_and(|(from, to)| to - from > 2.0 * (high - low))
    }
}

/// Whether a metric goes `way` along x: values by seed at each x, in increasing order of x.
pub fn trend(along: &[(f64, BySeed)], way: Direction) -> (Interval, Verdict) {
    let seeds = along.first().map(|(_, values)| values.keys()).into_iter().flatten();
    let slopes: Vec<f64> = seeds.filter_map(|seed| slope(along, *seed)).collect();
    let interval = Interval::of(&slopes);
    let range = match way {
        Direction::Up => OpenRange::above(0.0),
        Direction::Down => OpenRange::below(0.0),
    };
    let verdict = bounded(&interval, range);
    let means: Vec<f64> = along.iter().filter_map(|(_, v)| Interval::of(&values(v)).mean).collect();
    let monotone = means.windows(2).all(|pair| match way {
        Direction::Up => pair[0] <= pair[1],
        Direction::Down => pair[0] >= pair[1],
    });
    let verdict = if verdict == Verdict::Reproduced && !monotone { Verdict::DirectionOnly } else { verdict };
    (interval, verdict)
}

/// The values by increasing seed.
pub fn values(by_seed: &BySeed) -> Vec<f64> {
    by_seed.values().copied().collect()
}

/// The least-squares slope of one seed's values over x; `None` if one is missing or x does not vary.
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

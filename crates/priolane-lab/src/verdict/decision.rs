//! Decides whether a confidence interval lies in a band and, if undecided, why and how many seeds would decide.
//!
//! The half-width of an interval over n seeds is h = t(n - 1) s / sqrt(n). The number of seeds that would decide is the
//! smallest n for which an interval of the same s around the same mean would lie entirely inside or outside the band,
//! that is, h is at most the distance from the mean to the nearest end of the band. For ratios, all of this applies to
//! logarithms.

use std::fmt;

use priolane_workload::LoadOf;
use serde::{Deserialize, Serialize, Serializer};

use super::band::Band;
use super::distance::Distance;
use crate::experiment::MAX_SEEDS;
use crate::metrics::interval::{Interval, Z};
use crate::metrics::student;
use priolane_results::record::Demand;

/// The outcome of a claim. Of several outcomes, the last one in this order applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval lies within the band.
    Reproduced,
    /// The interval lies partly within the band, there is no interval, or the offered load deviates.
    Undecided,
    /// Runs, or values in them, are missing.
    Incomplete,
    /// Interval and band are disjoint.
    Contradicted,
}

/// The side of "no difference" on which an interval lies, relative to the claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The whole interval lies on the claimed side.
    Agrees,
    /// The whole interval lies on the other side.
    Opposes,
    /// It includes both sides, there is no interval, or the claim has no direction.
    #[default]
    None,
}

impl Direction {
    /// Returns the direction of the claim that `value` is above `tie`.
    pub fn above(value: &Interval, tie: f64) -> Self {
        match value.ends() {
            Some((low, _)) if low > tie => Self::Agrees,
            Some((_, high)) if high < tie => Self::Opposes,
            _ => Self::None,
        }
    }

    /// Returns the direction of the claim that `value` is below `tie`.
    pub fn below(value: &Interval, tie: f64) -> Self {
        match Self::above(value, tie) {
            Self::Agrees => Self::Opposes,
            Self::Opposes => Self::Agrees,
            Self::None => Self::None,
        }
    }

    /// Combines the directions of several parts of a claim: agrees if all do, and opposes if one does.
    pub fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = None;
        for part in parts {
            all = match (all, part) {
                (_, Self::Opposes) | (Some(Self::Opposes), _) => Some(Self::Opposes),
                (Some(Self::None), _) | (_, Self::None) => Some(Self::None),
                _ => Some(Self::Agrees),
            };
        }
        all.unwrap_or_default()
    }
}

/// Why a verdict is `undecided`. Of several reasons, the last one in this order is reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UndecidedReason {
    /// The interval contains an end of the band; with the approximate number of seeds that would decide, `None` if
    /// above [`MAX_SEEDS`].
    Interval(Option<u32>),
    /// The claim is decided by its own intervals, but not when all claims of its figure are considered; with the
    /// approximate number of seeds that would decide, `None` if above [`MAX_SEEDS`].
    Among(Option<u32>),
    /// The mean lies on an end of the band: no number of seeds decides.
    OnEdge,
    /// The means along a trend are not monotone.
    NotMonotone,
    /// There is only one seed, hence no interval.
    OneSeed,
    /// A value is not above 0, so that there is no ratio.
    NoRatio,
    /// The offered load deviates from the requested one.
    Load(Demand),
}

impl UndecidedReason {
    fn rank(&self) -> u8 {
        match self {
            Self::Interval(_) => 0,
            Self::Among(_) => 1,
            Self::OnEdge => 2,
            Self::NotMonotone => 3,
            Self::OneSeed => 4,
            Self::NoRatio => 5,
            Self::Load(_) => 6,
        }
    }

    /// Returns the reason to report: of two intervals, the one that needs more seeds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let seeds = |seeds: Option<u32>| seeds.unwrap_or(u32::MAX);
        match (self, other) {
            (Self::Interval(a), Self::Interval(b)) => Self::Interval(if seeds(b) > seeds(a) { b } else { a }),
            _ if other.rank() > self.rank() => other,
            _ => self,
        }
    }

    fn because(&self) -> &'static str {
        match self {
            Self::Interval(_) => "interval",
            Self::Among(_) => "claims",
            Self::OnEdge => "edge",
            Self::NotMonotone => "monotone",
            Self::OneSeed => "one_seed",
            Self::NoRatio => "no_ratio",
            Self::Load(_) => "load",
        }
    }
}

impl fmt::Display for UndecidedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interval(Some(seeds)) => write!(f, "about {seeds} seeds would decide it"),
            Self::Interval(None) => write!(f, "more than {MAX_SEEDS} seeds would be needed"),
            Self::Among(Some(seeds)) => {
                write!(f, "not decided among all claims of the figure: about {seeds} seeds would decide it")
            }
            Self::Among(None) => {
                let what = "not decided among all claims of the figure";
                write!(f, "{what}: more than {MAX_SEEDS} seeds would be needed")
            }
            Self::OnEdge => f.write_str("the mean is on the edge of the band"),
            Self::NotMonotone => f.write_str("the means are not monotone"),
            Self::OneSeed => f.write_str("more than one seed is needed"),
            Self::NoRatio => f.write_str("a value is not above 0, so there is no ratio"),
            Self::Load(Demand { of, asked, offered, .. }) => {
                let of = match of {
                    LoadOf::Host => "of hosts",
                    LoadOf::Core => "of the core",
                };
                let percent = LOAD_TOLERANCE * 100.0;
                write!(
                    f,
                    "requested load {asked:.3} {of}, offered {offered:.3}, tolerance ±{percent:.0} %: "
                )?;
                f.write_str("measure longer, or use draw = \"strata\"")
            }
        }
    }
}

/// Serializes to `because`, an explanation, and the number of seeds if there is one.
impl Serialize for UndecidedReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Text {
            because: &'static str,
            seeds: Option<u32>,
            load: Option<Demand>,
            says: String,
        }
        let (seeds, load) = match *self {
            Self::Interval(seeds) | Self::Among(seeds) => (seeds, None),
            Self::Load(demand) => (None, Some(demand)),
            _ => (None, None),
        };
        Text { because: self.because(), seeds, load, says: self.to_string() }.serialize(serializer)
    }
}

/// Maximum relative deviation of the offered load from the requested one; our choice, docs/assumptions.md#load-check.
pub(super) const LOAD_TOLERANCE: f64 = 0.05;

/// The result of one comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The direction.
    pub direction: Direction,
    /// Why it is undecided, if it is.
    pub undecided: Option<UndecidedReason>,
    /// Distance of the mean from the band, if there is an interval and it decides.
    pub distance: Option<Distance>,
}

impl Decision {
    /// Decides for a value on a linear scale.
    pub fn of(value: &Interval, band: Band) -> Self {
        Self::on(value, band, |x| x)
    }

    /// Decides for a ratio, whose interval is that of its logarithm.
    pub(crate) fn of_ratio(value: &Interval, band: Band) -> Self {
        Self::on(value, band, |x| if x > 0.0 { libm::log(x) } else { f64::NEG_INFINITY })
    }

    /// Returns an undecided result for a reason other than the interval.
    pub(crate) fn undecided(why: UndecidedReason) -> Self {
        Self { verdict: Verdict::Undecided, direction: Direction::None, undecided: Some(why), distance: None }
    }

    /// Sets the direction.
    #[must_use]
    pub fn with_direction(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// Decides on a scale on which the interval is symmetric about its mean.
    fn on(value: &Interval, band: Band, scale: impl Fn(f64) -> f64) -> Self {
        let distance = Distance::of(value, band, &scale);
        let decided = |verdict| Self { verdict, direction: Direction::None, undecided: None, distance };
        match (value.mean, value.ends()) {
            (None, _) => decided(Verdict::Incomplete),
            (Some(_), None) => Self::undecided(UndecidedReason::OneSeed),
            (_, Some(ends)) if band.holds(ends) => decided(Verdict::Reproduced),
            (_, Some(ends)) if band.misses(ends) => decided(Verdict::Contradicted),
            (Some(mean), Some((_, high))) => {
                let (mean, high) = (scale(mean), scale(high));
                let way = band.ends().map(|end| (scale(end) - mean).abs()).fold(f64::INFINITY, f64::min);
                Self { distance, ..Self::undecided(seeds(high - mean, value.n, way)) }
            }
        }
    }
}

/// Returns the number of seeds at which the half-width is at most `way`, given the half-width `half` with `n` seeds.
fn seeds(half: f64, n: u32, way: f64) -> UndecidedReason {
    if way <= 0.0 {
        return UndecidedReason::OnEdge;
    }
    let per_root = half * f64::from(n).sqrt() / student::quantile(f64::from(n - 1));
    // t is above z, so that fewer seeds do not suffice.
    let root = Z * per_root / way;
    let least = (root * root).ceil();
    if least > MAX_SEEDS as f64 {
        return UndecidedReason::Interval(None);
    }
    let narrow = |m: &u32| student::quantile(f64::from(m - 1)) * per_root / f64::from(*m).sqrt() <= way;
    let first = (least as u32).max(n + 1);
    UndecidedReason::Interval((first..=MAX_SEEDS as u32).find(narrow))
}

#[cfg(test)]
mod tests;

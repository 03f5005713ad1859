//! Decides whether a confidence interval lies in a band and, if undecided, why.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::band::Band;
use super::distance::{Distance, SeedRange};
use super::unfit::{LoadDeviation, Unsteady};
use crate::experiment::MAX_SEEDS;
use crate::metrics::estimate::Estimate;
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
    pub fn above(value: &Estimate, tie: f64) -> Self {
        match value.ends() {
            Some((low, _)) if low > tie => Self::Agrees,
            Some((_, high)) if high < tie => Self::Opposes,
            _ => Self::None,
        }
    }

    /// Returns the direction of the claim that `value` is below `tie`.
    pub fn below(value: &Estimate, tie: f64) -> Self {
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

/// The reason why a verdict is `undecided`. Of several reasons, the last one in this order is reported.
#[derive(Clone, Debug, PartialEq)]
pub enum UndecidedReason {
    /// The interval contains an end of the band.
    Interval(Seeds),
    /// The claim is decided by its own intervals, but not when all claims of its figure are considered.
    Among(Seeds),
    /// The mean lies on an end of the band: no number of seeds decides.
    OnEdge,
    /// The means along a trend are not monotone.
    NotMonotone,
    /// All seeds have the same value although their runs differ, and are too few to show how it varies.
    SameCount,
    /// There is only one seed, hence no interval.
    OneSeed,
    /// A value is not above 0, so that there is no ratio.
    NoRatio,
    /// Arrivals continue, but the run is not in a steady state.
    Unsteady(Unsteady),
    /// The offered load deviates from the requested one.
    Load(LoadDeviation),
}

/// The number of seeds that would decide a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// It is not estimated: the comparison is one of several of its claim.
    NotEstimated,
    /// It lies in this range with a probability of about one half.
    Between(SeedRange),
    /// It is above [`MAX_SEEDS`].
    TooMany,
}

impl UndecidedReason {
    fn rank(&self) -> u8 {
        match self {
            Self::Interval(_) => 0,
            Self::Among(_) => 1,
            Self::OnEdge => 2,
            Self::NotMonotone => 3,
            Self::SameCount => 4,
            Self::OneSeed => 5,
            Self::NoRatio => 6,
            Self::Unsteady(_) => 7,
            Self::Load(_) => 8,
        }
    }

    /// Whether the runs of the point are unfit to decide any claim, whatever the values are.
    pub fn is_of_runs(&self) -> bool {
        match self {
            Self::Unsteady(_) | Self::Load(_) => true,
            Self::Interval(_)
            | Self::Among(_)
            | Self::OnEdge
            | Self::NotMonotone
            | Self::SameCount
            | Self::OneSeed
            | Self::NoRatio => false,
        }
    }

    /// Returns the reason to report.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    fn because(&self) -> &'static str {
        match self {
            Self::Interval(_) => "interval",
            Self::Among(_) => "claims",
            Self::OnEdge => "edge",
            Self::NotMonotone => "monotone",
            Self::SameCount => "same_count",
            Self::OneSeed => "one_seed",
            Self::NoRatio => "no_ratio",
            Self::Unsteady(_) => "steady_state",
            Self::Load(_) => "load",
        }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEstimated => Ok(()),
            Self::Between(SeedRange { low, high: Some(high) }) if low == high => {
                write!(f, ": about {low} seeds would decide it, with even odds")
            }
            Self::Between(SeedRange { low, high: Some(high) }) => {
                write!(f, ": {low} to {high} seeds would decide it, with even odds")
            }
            Self::Between(SeedRange { low, high: None }) => {
                write!(f, ": {low} seeds or many more would decide it")
            }
            Self::TooMany => write!(f, ": more than {MAX_SEEDS} seeds would be needed"),
        }
    }
}

impl fmt::Display for UndecidedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interval(seeds) => write!(f, "the interval reaches beyond what the claim allows{seeds}"),
            Self::Among(seeds) => write!(f, "not decided among all claims of the figure{seeds}"),
            Self::OnEdge => f.write_str("the mean is on the edge of the band"),
            Self::NotMonotone => f.write_str("the means are not monotone"),
            Self::SameCount => {
                f.write_str("all seeds have the same value, and 6 seeds at least show how it varies")
            }
            Self::OneSeed => f.write_str("more than one seed is needed"),
            Self::NoRatio => f.write_str("a value is not above 0, so there is no ratio"),
            Self::Unsteady(how) => how.fmt(f),
            Self::Load(deviation) => write!(f, "{deviation}"),
        }
    }
}

/// Serializes to `because`, an explanation, the range of seeds if there is one, and the load if it deviates.
impl Serialize for UndecidedReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Text {
            because: &'static str,
            seeds: Option<[Option<u32>; 2]>,
            load: Option<Demand>,
            says: String,
        }
        let (seeds, load) = match self {
            Self::Interval(Seeds::Between(range)) | Self::Among(Seeds::Between(range)) => {
                (Some([Some(range.low), range.high]), None)
            }
            Self::Load(deviation) => (None, Some(deviation.demand)),
            _ => (None, None),
        };
        Text { because: self.because(), seeds, load, says: self.to_string() }.serialize(serializer)
    }
}

/// The result of one comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The direction.
    pub direction: Direction,
    /// The reason why the verdict is undecided, if it is.
    pub undecided: Option<UndecidedReason>,
    /// Distance of the mean from the band, if there is an interval and it decides.
    pub distance: Option<Distance>,
}

impl Decision {
    /// Decides whether a value lies in `band`, on the scale of the value's own mean and interval.
    pub fn of(value: &Estimate, band: Band) -> Self {
        let distance = Distance::of(value, band);
        let decided =
            |verdict, distance| Self { verdict, direction: Direction::None, undecided: None, distance };
        match (value.mean, value.ends()) {
            (None, _) => decided(Verdict::Incomplete, distance),
            (Some(_), None) if value.n > 1 => Self::undecided(UndecidedReason::SameCount),
            (Some(_), None) => Self::undecided(UndecidedReason::OneSeed),
            (_, Some(ends)) if band.holds(ends) => decided(Verdict::Reproduced, distance),
            (_, Some(ends)) if band.misses(ends) => decided(Verdict::Contradicted, distance),
            (Some(mean), Some(_)) => {
                let on_edge = band.ends().any(|end| end == mean);
                let why = UndecidedReason::Interval(Seeds::NotEstimated);
                let why = if on_edge { UndecidedReason::OnEdge } else { why };
                Self { distance, ..Self::undecided(why) }
            }
        }
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
}

#[cfg(test)]
mod tests;

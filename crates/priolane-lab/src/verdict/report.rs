//! Claims as reports have them: what they ask, what was measured, and the verdict.

use serde::Serialize;
use serde_json::Value;

use super::decision::{Decision, Direction, Undecided};
use super::rules::{self, BySeed, Verdict};
use super::spec::{Claim, ClaimKind, OpenRange, Source, Way};
use crate::metrics::interval::Interval;
use crate::metrics::registry::{Metric, Unit};

/// A claim and what the runs say of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimReport {
    /// Where it stands.
    pub section: String,
    /// What it says, in words.
    pub says: String,
    /// Who says it.
    pub source: Source,
    /// What it asks.
    #[serde(flatten)]
    pub asks: Asks,
    /// What the runs say, point by point (for a trend: line by line).
    pub points: Vec<PointReport>,
    /// Contradicted if a point is, else incomplete if one is, else undecided if one is, else reproduced.
    pub verdict: Verdict,
    /// It agrees if all points do, and opposes if one does.
    pub direction: Direction,
    /// Why it is undecided, if it is: of the points' reasons the one that needs most.
    pub undecided: Option<Undecided>,
}

impl ClaimReport {
    pub(super) fn new(claim: &Claim, points: Vec<PointReport>) -> Self {
        let verdict = points.iter().map(|point| point.verdict).max().unwrap_or(Verdict::Incomplete);
        let reasons = points.iter().filter_map(|point| point.undecided);
        Self {
            section: claim.section.clone(),
            says: claim.says.clone(),
            source: claim.source,
            asks: Asks::from(&claim.kind),
            direction: Direction::of_all(points.iter().map(|point| point.direction)),
            undecided: reasons.reduce(Undecided::or).filter(|_| verdict == Verdict::Undecided),
            verdict,
            points,
        }
    }
}

/// What a claim asks of what is measured; its `kind` is that of experiment files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Asks {
    /// That the metrics decrease.
    Order,
    /// That they are equal.
    Equal {
        /// Widest ratio of two of them, less one.
        within: f64,
    },
    /// That the metric, or the ratio of two, lies beyond a number, in its unit, or between two.
    Bound {
        /// The lower one.
        above: Option<f64>,
        /// The upper one.
        below: Option<f64>,
    },
    /// That the metric, or the ratio of two, is the paper's number.
    Ratio {
        /// The number.
        paper: f64,
        /// Half width of the band around it, relative.
        within: f64,
    },
    /// That the metric agrees with numbers from elsewhere, seed by seed.
    Agree {
        /// Widest ratio of the two, less one.
        within: f64,
    },
    /// That the metric goes one way.
    Trend {
        /// Which.
        goes: Way,
    },
}

impl From<&ClaimKind> for Asks {
    fn from(kind: &ClaimKind) -> Self {
        match *kind {
            ClaimKind::Order(_) => Self::Order,
            ClaimKind::Equal { within, .. } => Self::Equal { within },
            ClaimKind::Bound { range: OpenRange { above, below }, .. } => Self::Bound { above, below },
            ClaimKind::Ratio { paper, within, .. } => Self::Ratio { paper, within },
            ClaimKind::Agree { within, .. } => Self::Agree { within },
            ClaimKind::Trend { goes, .. } => Self::Trend { goes },
        }
    }
}

/// A claim at one sweep point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointReport {
    /// The point; for a trend, the keys that stay fixed.
    pub point: serde_json::Map<String, Value>,
    /// The claim's metrics.
    pub measured: Vec<Measured>,
    /// What the verdict depends on: ratios, differences or slopes between metrics.
    pub contrasts: Vec<ContrastReport>,
    /// The verdict here: the last of the contrasts' in the order of [`Verdict`].
    pub verdict: Verdict,
    /// It agrees if all contrasts do, and opposes if one does; none where runs are missing or the load is off.
    pub direction: Direction,
    /// Why it is undecided here, if it is.
    pub undecided: Option<Undecided>,
}

impl PointReport {
    /// Of a point of which nothing is known yet.
    pub(super) fn at(point: serde_json::Map<String, Value>) -> Self {
        Self {
            point,
            measured: Vec::new(),
            contrasts: Vec::new(),
            verdict: Verdict::Incomplete,
            direction: Direction::None,
            undecided: None,
        }
    }

    /// Settles the verdict from the contrasts, which are whole; without any the point stays incomplete. `load` says that
    /// the offered load is off, which leaves nothing decided.
    pub(super) fn settle(&mut self, load: Option<Undecided>) {
        self.verdict =
            self.contrasts.iter().map(|contrast| contrast.verdict).max().unwrap_or(Verdict::Incomplete);
        if load.is_some() {
            (self.verdict, self.undecided) = (Verdict::Undecided, load);
            return;
        }
        self.direction = Direction::of_all(self.contrasts.iter().map(|contrast| contrast.direction));
        if self.verdict == Verdict::Undecided {
            self.undecided =
                self.contrasts.iter().filter_map(|contrast| contrast.undecided).reduce(Undecided::or);
        }
    }
}

/// A metric with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The metric path; followed by ` at ` and x for a trend, or the point where it is one of its own.
    pub metric: String,
    /// What it is in.
    pub unit: Unit,
    /// Mean and interval over seeds.
    #[serde(flatten)]
    pub value: Interval,
}

impl Measured {
    pub(super) fn new(name: String, metric: &Metric, values: &BySeed) -> Self {
        Self { metric: name, unit: metric.unit, value: interval(metric, values) }
    }
}

/// Mean and interval of a metric's values by seed: one over few seeds knows nothing of where values end.
pub(super) fn interval(metric: &Metric, values: &BySeed) -> Interval {
    let (least, most) = metric.range;
    Interval::of(&rules::values(values)).map(|x| x.clamp(least, most))
}

/// A comparison, paired by seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContrastReport {
    /// What is compared: `a / b`, `a - b`, or `slope of a`.
    pub of: String,
    /// What it is in; of a slope `1`, whatever it is along.
    pub unit: Unit,
    /// Mean (of ratios: geometric) and interval over seeds.
    #[serde(flatten)]
    pub value: Interval,
    /// What this comparison alone says.
    pub verdict: Verdict,
    /// On which side of no difference it lies.
    pub direction: Direction,
    /// Why it is undecided, if it is.
    pub undecided: Option<Undecided>,
}

impl ContrastReport {
    pub(super) fn new(of: String, (unit, value): (Unit, Interval), decision: Decision) -> Self {
        let Decision { verdict, direction, undecided } = decision;
        Self { of, unit, value, verdict, direction, undecided }
    }
}

//! Claims as reports have them: what they ask, what was measured, and the verdict.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::decision::{Decision, Direction, Undecided, Verdict};
use super::distance::Distance;
use super::rules::{self, BySeed};
use crate::experiment::{Claim, OpenRange, Source, Test};
use crate::metrics::interval::Interval;
use crate::metrics::metric::{Metric, Unit};

/// A claim and what the runs say of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimReport {
    /// Where it stands.
    pub section: String,
    /// What it says, in words.
    pub says: String,
    /// Who says it.
    pub source: Source,
    /// What it asks, in experiment files' words: `kind`, and the numbers of that kind.
    #[serde(flatten, serialize_with = "asked")]
    pub test: Test,
    /// What the runs say, point by point (for a trend: line by line).
    pub points: Vec<PointReport>,
    /// The verdict among all claims of the figure (see `family`): that of `alone`, or undecided.
    pub verdict: Verdict,
    /// The verdict by the claim's own 95 % intervals: contradicted if a point is, else incomplete if one is, else
    /// undecided if one is, else reproduced.
    pub alone: Verdict,
    /// It agrees if all points do, and opposes if one does.
    pub direction: Direction,
    /// Why it is undecided, if it is: of the points' reasons the one that needs most.
    pub undecided: Option<Undecided>,
}

impl ClaimReport {
    /// Judged by its own intervals.
    pub(super) fn new(claim: &Claim, points: Vec<PointReport>) -> Self {
        let verdict = points.iter().map(|point| point.verdict).max().unwrap_or(Verdict::Incomplete);
        let reasons = points.iter().filter_map(|point| point.undecided);
        Self {
            section: claim.section.clone(),
            says: claim.says.clone(),
            source: claim.source,
            test: claim.test.clone(),
            direction: Direction::of_all(points.iter().map(|point| point.direction)),
            undecided: reasons.reduce(Undecided::or).filter(|_| verdict == Verdict::Undecided),
            verdict,
            alone: verdict,
            points,
        }
    }
}

/// The kind of a test and its numbers, without metrics and what they are compared with.
fn asked<S: Serializer>(test: &Test, s: S) -> Result<S::Ok, S::Error> {
    let mut map = s.serialize_map(None)?;
    map.serialize_entry("kind", test.name())?;
    match test {
        Test::Order(_) => {}
        Test::Equal { within, .. } | Test::Agree { within, .. } => map.serialize_entry("within", within)?,
        Test::Bound { range: OpenRange { above, below }, .. } => {
            map.serialize_entry("above", above)?;
            map.serialize_entry("below", below)?;
        }
        Test::Ratio { paper, within, .. } => {
            map.serialize_entry("paper", paper)?;
            map.serialize_entry("within", within)?;
        }
        Test::Trend { goes, .. } => map.serialize_entry("goes", goes)?,
    }
    map.end()
}

/// A claim at one sweep point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointReport {
    /// The point; for a trend, the keys that stay fixed.
    pub point: serde_json::Map<String, Value>,
    /// The claim's metrics.
    pub measured: Vec<Measured>,
    /// What the verdict depends on: ratios, differences or slopes between metrics.
    pub contrasts: Vec<ComparisonReport>,
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
pub struct ComparisonReport {
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
    /// Where the mean lies, if the interval decides.
    #[serde(skip)]
    pub distance: Option<Distance>,
}

impl ComparisonReport {
    pub(super) fn new(of: String, (unit, value): (Unit, Interval), decision: Decision) -> Self {
        let Decision { verdict, direction, undecided, distance } = decision;
        Self { of, unit, value, verdict, direction, undecided, distance }
    }
}

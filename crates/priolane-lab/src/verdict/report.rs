//! Reports of claims: the test, the measurements and the verdict.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::decision::{Decision, Direction, UndecidedReason, Verdict};
use super::distance::Distance;
use super::flags::Flag;
use super::quorum::Quorum;
use super::rules::{self, BySeed};
use crate::experiment::{
    AgreeTest, BoundTest, Cause, Claim, EqualTest, OpenRange, RatioTest, Source, Test, TrendTest,
};
use crate::metrics::estimate::{Estimate, Nature};
use crate::metrics::metric::{Metric, Unit};
use crate::metrics::path::{Measure, MetricPath};

/// A claim and its evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimReport {
    /// Section of the paper.
    pub section: String,
    /// The statement.
    pub says: String,
    /// Source of the statement.
    pub source: Source,
    /// Whether the figure is about this claim (`[[claim]] lead`).
    pub lead: bool,
    /// The cause of its verdict, as the experiment states it.
    pub cause: Option<Cause>,
    /// The parameter that was fitted to its number, if any.
    pub fitted: Option<String>,
    /// The test as in experiment files: `kind`, and the numbers of that kind.
    #[serde(flatten, serialize_with = "asked")]
    pub test: Test,
    /// Whether it must hold at more than half of its points instead of all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub most: bool,
    /// Results by sweep point (for a trend: by line).
    pub points: Vec<PointReport>,
    /// Verdict among all claims of the figure (see `family`): that of `alone`, or undecided.
    pub verdict: Verdict,
    /// Verdict by the claim's own 95 % intervals: contradicted if any point is, else incomplete if any is, else
    /// undecided if any is, else reproduced. With `most`, more than half of the points decide (see `quorum`).
    pub alone: Verdict,
    /// Direction: agrees if all points do, and opposes if one does; with `most`, more than half decide.
    pub direction: Direction,
    /// The reason why the claim is undecided, if it is: the reason of the point that needs most.
    pub undecided: Option<UndecidedReason>,
    /// Reasons to distrust its metrics.
    pub flags: Vec<Flag>,
}

impl ClaimReport {
    /// Returns the report of a claim evaluated by its own intervals.
    pub(super) fn new(claim: &Claim, points: Vec<PointReport>, flags: Vec<Flag>) -> Self {
        let quorum = if claim.most { Quorum::most(points.len()) } else { Quorum::all(points.len()) };
        let verdict = quorum.verdict(points.iter().map(|point| point.verdict));
        let reasons = points.iter().filter_map(|point| point.undecided.clone());
        Self {
            section: claim.section.clone(),
            says: claim.says.clone(),
            source: claim.source,
            lead: claim.lead,
            cause: claim.cause.clone(),
            fitted: claim.fitted.clone(),
            test: claim.test.clone(),
            most: claim.most,
            direction: quorum.direction(points.iter().map(|point| point.direction)),
            undecided: reasons.reduce(UndecidedReason::or).filter(|_| verdict == Verdict::Undecided),
            verdict,
            alone: verdict,
            points,
            flags,
        }
    }
}

/// Serializes the kind of a test and its numbers, without metrics and reference values.
fn asked<S: Serializer>(test: &Test, s: S) -> Result<S::Ok, S::Error> {
    let mut map = s.serialize_map(None)?;
    map.serialize_entry("kind", test.name())?;
    match test {
        Test::Order(_) => {}
        Test::Equal(EqualTest { within, .. }) | Test::Agree(AgreeTest { within, .. }) => {
            map.serialize_entry("within", within)?
        }
        Test::Bound(BoundTest { range: OpenRange { above, below }, .. }) => {
            map.serialize_entry("above", above)?;
            map.serialize_entry("below", below)?;
        }
        Test::Ratio(RatioTest { paper, within, .. }) => {
            map.serialize_entry("paper", paper)?;
            map.serialize_entry("within", within)?;
        }
        Test::Trend(TrendTest { goes, .. }) => map.serialize_entry("goes", goes)?,
    }
    map.end()
}

/// A claim at one sweep point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointReport {
    /// The point; for a trend, the keys that are constant.
    pub point: serde_json::Map<String, Value>,
    /// The claim's metrics.
    pub measured: Vec<MeasuredMetric>,
    /// The comparisons that determine the verdict: ratios, differences or slopes.
    pub contrasts: Vec<ComparisonReport>,
    /// Verdict here: the last one of the comparisons' in the order of [`Verdict`].
    pub verdict: Verdict,
    /// Direction: agrees if all comparisons do, and opposes if one does; none if runs are missing or the load deviates.
    pub direction: Direction,
    /// The reason why the claim is undecided here, if it is.
    pub undecided: Option<UndecidedReason>,
}

impl PointReport {
    /// Returns the report of a point without results.
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

    /// Sets the verdict from the comparisons; without any, the point stays incomplete. `unfit`, the reason if the
    /// offered load deviates or there is no steady state, makes the point undecided.
    pub(super) fn settle(&mut self, unfit: Option<UndecidedReason>) {
        self.verdict =
            self.contrasts.iter().map(|comparison| comparison.verdict).max().unwrap_or(Verdict::Incomplete);
        if unfit.is_some() {
            (self.verdict, self.undecided) = (Verdict::Undecided, unfit);
            return;
        }
        self.direction = Direction::of_all(self.contrasts.iter().map(|comparison| comparison.direction));
        if self.verdict == Verdict::Undecided {
            self.undecided = self
                .contrasts
                .iter()
                .filter_map(|comparison| comparison.undecided.clone())
                .reduce(UndecidedReason::or);
        }
    }
}

/// A metric with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredMetric {
    /// Metric path; followed by ` at ` and x for a trend, or by the point if it differs from the claim's.
    pub metric: String,
    /// Unit.
    pub unit: Unit,
    /// Mean and confidence interval over seeds, as a claim on this metric alone is judged.
    #[serde(flatten)]
    pub value: Estimate,
}

impl MeasuredMetric {
    pub(super) fn new(name: String, (metric, nature): (&Metric, Nature), values: &BySeed) -> Self {
        Self { metric: name, unit: metric.unit, value: metric.estimate_of(&rules::values(values), nature) }
    }
}

/// A comparison, paired by seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonReport {
    /// The compared values: `a / b` or `a - b`; of a trend `fitted a at x / at x`.
    pub of: String,
    /// The metrics that are compared, in the order of `of`.
    pub sides: Vec<Side>,
    /// Unit; `1` for ratios.
    pub unit: Unit,
    /// Mean and confidence interval over seeds, which the verdict is about.
    #[serde(flatten)]
    pub value: Estimate,
    /// Verdict of this comparison alone.
    pub verdict: Verdict,
    /// Side of "no difference" on which it lies.
    pub direction: Direction,
    /// The reason why the claim is undecided, if it is.
    pub undecided: Option<UndecidedReason>,
    /// Distance of the mean from the band, if the interval decides.
    #[serde(skip)]
    pub distance: Option<Distance>,
}

impl ComparisonReport {
    pub(super) fn new(of: String, (unit, value): (Unit, Estimate), decision: Decision) -> Self {
        let Decision { verdict, direction, undecided, distance } = decision;
        Self { of, sides: Vec::new(), unit, value, verdict, direction, undecided, distance }
    }

    /// Names the metrics that are compared.
    #[must_use]
    pub(super) fn between(self, sides: impl IntoIterator<Item = Side>) -> Self {
        Self { sides: sides.into_iter().collect(), ..self }
    }
}

/// A metric that is compared, in its parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Name of the metric.
    pub quantity: &'static str,
    /// Second part of its path: a size class, `all`, a flow, a set of ports, the number of a threshold.
    pub class: String,
    /// Scheme.
    pub scheme: String,
    /// Swept keys whose values differ from those of the point; for a trend, the swept key.
    pub at: serde_json::Map<String, Value>,
}

impl Side {
    /// Returns the metric at `path` where the keys of `at` have these values.
    pub(super) fn new(path: &MetricPath, at: serde_json::Map<String, Value>) -> Self {
        let Measure { metric, class } = &path.measure;
        Self { quantity: metric.name, class: class.clone(), scheme: path.scheme.clone(), at }
    }
}

//! Evaluates claims at each sweep point.

use serde_json::{Map, Value};

use super::decision::{Decision, UndecidedReason};
use super::flags::{self, Flag};
use super::grid::{Grid, MissingValue, Point, same, show, value_of};
use super::load;
use super::report::{ClaimReport, ComparisonReport, MeasuredMetric, PointReport, Side};
use super::rules::{self, BySeed, Comparison, PublishedNumber};
use super::steady;
use crate::experiment::{
    AgreeTest, BoundTest, Claim, EqualTest, MetricAt, RatioTest, Test, TrendDirection, TrendTest,
};
use crate::metrics::estimate::{Average, Estimate, Nature};
use crate::metrics::metric::{Scale, Unit};
use crate::metrics::path::MetricPath;

/// Returns the reports of all claims, and warnings.
pub(super) fn judge_all(grid: &Grid) -> (Vec<ClaimReport>, Vec<String>) {
    let mut warnings = Vec::new();
    let claims = grid.plan.experiment.claims.iter().map(|claim| judge(grid, claim, &mut warnings)).collect();
    (claims, warnings)
}

fn judge(grid: &Grid, claim: &Claim, warnings: &mut Vec<String>) -> ClaimReport {
    match parse_all(grid, &claim.test) {
        Ok(paths) => {
            let mut evaluator = ClaimEvaluator { grid, claim, warnings, flags: Vec::new() };
            let points = evaluator.points(&paths);
            ClaimReport::new(claim, points, evaluator.flags)
        }
        Err(what) => {
            warnings.push(format!("claim \"{}\": {what}", claim.says));
            ClaimReport::new(claim, Vec::new(), Vec::new())
        }
    }
}

/// A metric that a claim refers to, at the claim's point or another one.
#[derive(Clone, Debug)]
pub(super) struct MetricRef {
    pub path: MetricPath,
    /// Keys whose values differ from those of the claim's point.
    pub at: Map<String, Value>,
    /// The nature of its values over seeds.
    pub nature: Nature,
}

impl MetricRef {
    fn unit(&self) -> Unit {
        self.path.measure.metric.unit
    }

    fn side(&self) -> Side {
        Side::new(&self.path, self.at.clone())
    }

    fn measured(&self, values: &BySeed) -> MeasuredMetric {
        MeasuredMetric::new(self.to_string(), (self.path.measure.metric, self.nature), values)
    }
}

impl std::fmt::Display for MetricRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path)?;
        if self.at.is_empty() {
            Ok(())
        } else {
            write!(f, " at {}", show(&self.at.clone().into_iter().collect()))
        }
    }
}

fn parse_all(grid: &Grid, test: &Test) -> Result<Vec<MetricRef>, String> {
    let reading = |MetricAt { metric, at }: &MetricAt| {
        let path = MetricPath::parse(metric)?;
        let nature = grid.nature(path.measure.metric);
        Ok(MetricRef { path, at: at.clone(), nature })
    };
    test.metrics().into_iter().map(reading).collect()
}

/// A metric at a point, with its values by seed.
pub(super) type MetricSamples<'a> = (&'a MetricRef, BySeed);

struct ClaimEvaluator<'a> {
    grid: &'a Grid<'a>,
    claim: &'a Claim,
    warnings: &'a mut Vec<String>,
    /// Of the metrics read so far, each once.
    flags: Vec<Flag>,
}

impl ClaimEvaluator<'_> {
    fn points(&mut self, readings: &[MetricRef]) -> Vec<PointReport> {
        let points = self.grid.points_at(&self.claim.at);
        if points.is_empty() {
            self.warn("no point of the sweep matches its `at`");
        }
        match &self.claim.test {
            Test::Trend(TrendTest { along, .. }) => lines(self.grid, &points, along)
                .iter()
                .map(|line| self.line(&readings[0], along, line))
                .collect(),
            _ => points.into_iter().map(|point| self.point(readings, point)).collect(),
        }
    }

    /// Returns why no claim about `path` can be decided at a point.
    fn unfit(&self, path: Option<&MetricPath>, point: usize) -> Option<UndecidedReason> {
        let load = || load::load_deviation(self.grid, point).map(UndecidedReason::Load);
        load().or_else(|| steady::unsteady(self.grid, path?, point))
    }

    fn point(&mut self, readings: &[MetricRef], point: usize) -> PointReport {
        let mut report = PointReport::at(as_map(&self.grid.points[point]));
        let mut complete = true;
        let mut evidence: Vec<MetricSamples> = Vec::new();
        let mut unfit = self.unfit(None, point);
        for reading in readings {
            let values = match self.grid.moved(point, &reading.at) {
                Some(point) => {
                    unfit = unfit.or_else(|| self.unfit(Some(&reading.path), point));
                    self.evidence(&reading.path, point, &mut complete)
                }
                None => {
                    self.warn(&format!("the sweep has no point for {reading}"));
                    complete = false;
                    BySeed::new()
                }
            };
            report.measured.push(reading.measured(&values));
            evidence.push((reading, values));
        }
        report.contrasts = contrasts(&self.claim.test, &evidence);
        if complete {
            report.settle(unfit);
        }
        report
    }

    /// Evaluates a trend along the points of one line.
    fn line(&mut self, reading: &MetricRef, along: &str, line: &Line) -> PointReport {
        let MetricRef { path, nature, .. } = reading;
        let mut report = PointReport::at(as_map(&line.fixed));
        let mut complete = true;
        let mut values = Vec::new();
        let points = &self.grid.points;
        let label = |point: usize| value_of(&points[point], along).map_or_else(String::new, Value::to_string);
        for &(x, point) in &line.points {
            let at = self.evidence(path, point, &mut complete);
            let metric = format!("{path} at {}", label(point));
            report.measured.push(MeasuredMetric::new(metric, (path.measure.metric, *nature), &at));
            values.push((x, at));
        }
        let Test::Trend(TrendTest { goes, .. }) = self.claim.test else { return report };
        if line.points.len() < 2 {
            self.warn(&format!("the sweep has fewer than two values of `{along}`"));
            complete = false;
        }
        let place = |&(_, point): &(f64, usize)| {
            value_of(&points[point], along)
                .map(|value| (along.to_owned(), value.clone()))
                .into_iter()
                .collect()
        };
        let places: Vec<Place> = line.points.iter().map(place).collect();
        report.contrasts = trend_contrasts(reading, goes, (&places, &values));
        if complete {
            let unfit = |&(_, point): &(f64, usize)| self.unfit(Some(path), point);
            report.settle(line.points.iter().find_map(unfit));
        }
        report
    }

    fn evidence(&mut self, path: &MetricPath, point: usize, complete: &mut bool) -> BySeed {
        for flag in flags::of_metric(self.grid, path, point) {
            // A tier of links is full under any scheme.
            if !self.flags.iter().any(|known| (known.kind, &known.says) == (flag.kind, &flag.says)) {
                self.flags.push(flag);
            }
        }
        let (values, gaps) = self.grid.by_seed(path, point);
        for gap in &gaps {
            *complete = false;
            if let MissingValue::Value(what) = gap {
                self.warn(what);
            }
        }
        values
    }

    fn warn(&mut self, what: &str) {
        let warning = format!("claim \"{}\": {what}", self.claim.says);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// Returns the comparisons that determine the claim's verdict at a point.
pub(super) fn contrasts(test: &Test, evidence: &[MetricSamples]) -> Vec<ComparisonReport> {
    match test {
        Test::Order(_) => {
            evidence.windows(2).map(|pair| compare(&pair[0], &pair[1], rules::judge_order)).collect()
        }
        Test::Equal(EqualTest { within, .. }) => {
            let pairs = (0..evidence.len()).flat_map(|i| (i + 1..evidence.len()).map(move |j| (i, j)));
            pairs.map(|(i, j)| compare(&evidence[i], &evidence[j], |c| rules::equal(c, *within))).collect()
        }
        Test::Bound(BoundTest { range, .. }) => vec![one_or_ratio(
            evidence,
            |value| rules::judge_bound(value, *range),
            |comparison| rules::bounded_ratio(comparison, *range),
        )],
        Test::Ratio(RatioTest { paper, within, over, .. }) => {
            let own = evidence[0].0.path.measure.metric.scale;
            let scale = if over.is_some() { Scale::Relative } else { own };
            let published = PublishedNumber { value: *paper, within: *within, scale };
            vec![one_or_ratio(
                evidence,
                |value| published.judge(value),
                |comparison| published.judge_ratio(comparison),
            )]
        }
        Test::Agree(AgreeTest { values, within, .. }) => vec![agreement(&evidence[0], values, *within)],
        Test::Trend(_) => Vec::new(),
    }
}

/// The swept key of a trend with its value at one x.
pub(super) type Place = Map<String, Value>;

/// Returns the comparisons that determine a trend along x, given the swept key with its value at each x, and x with the
/// values by seed.
pub(super) fn trend_contrasts(
    MetricRef { path, nature, .. }: &MetricRef,
    goes: TrendDirection,
    (places, along): (&[Place], &[(f64, BySeed)]),
) -> Vec<ComparisonReport> {
    let metric = path.measure.metric;
    let trend = rules::trend(along, goes, *nature);
    let (sign, unit) = match trend.change.average {
        Average::Geometric => ("/", Unit::One),
        Average::Arithmetic => ("-", metric.unit),
    };
    let of = |what: &str, (from, to): (usize, usize), change: Estimate, decision: Decision| {
        let at = |place: usize| places.get(place).cloned().unwrap_or_default();
        let label = |place: usize| at(place).values().next().map_or_else(String::new, Value::to_string);
        let of = format!("{what}{path} at {} {sign} at {}", label(to), label(from));
        ComparisonReport::new(of, (unit, change), decision)
            .between([to, from].map(|place| Side::new(path, at(place))))
    };
    let last = places.len().saturating_sub(1);
    let mut contrasts = vec![of("fitted ", (0, last), trend.change, trend.decision)];
    let step = trend.adverse_step;
    contrasts.extend(step.map(|step| of("", (step.from, step.from + 1), step.change, step.decision)));
    contrasts
}

/// Compares a metric with reference values of the same seeds.
fn agreement((reading, ours): &MetricSamples, theirs: &[f64], within: f64) -> ComparisonReport {
    let theirs: BySeed = (1..).zip(theirs.iter().copied()).collect();
    let comparison = rules::comparison(ours, &theirs, reading.nature);
    report((reading, &"given values by seed"), comparison, rules::agrees(comparison, within))
        .between([reading.side()])
}

/// Evaluates one metric, or the ratio of two.
fn one_or_ratio(
    evidence: &[MetricSamples],
    of_one: impl Fn(&Estimate) -> Decision,
    of_ratio: impl Fn(Comparison) -> Decision,
) -> ComparisonReport {
    if let [a, b, ..] = evidence {
        return compare(a, b, of_ratio);
    }
    let (reading, values) = &evidence[0];
    let value = reading.path.measure.metric.estimate_of(&rules::values(values), reading.nature);
    ComparisonReport::new(reading.to_string(), (reading.unit(), value), of_one(&value))
        .between([reading.side()])
}

fn compare(a: &MetricSamples, b: &MetricSamples, judge: impl Fn(Comparison) -> Decision) -> ComparisonReport {
    let comparison = rules::comparison(&a.1, &b.1, a.0.nature.and(b.0.nature));
    report((a.0, &b.0), comparison, judge(comparison)).between([a.0.side(), b.0.side()])
}

/// Reports the comparison of a metric with something else.
fn report(
    (reading, other): (&MetricRef, &dyn std::fmt::Display),
    comparison: Comparison,
    decision: Decision,
) -> ComparisonReport {
    let (sign, unit, value) = match comparison {
        Comparison::Ratio(ratio) => ("/", Unit::One, ratio),
        Comparison::Difference(difference) => ("-", reading.unit(), difference),
    };
    ComparisonReport::new(format!("{reading} {sign} {other}"), (unit, value), decision)
}

/// Points that differ in one swept key only, in increasing order of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// The other keys.
    pub fixed: Point,
    /// Position along the key (its value if numeric at all points, else its index in the sweep), and index of the
    /// point.
    pub points: Vec<(f64, usize)>,
}

/// Groups `points` into lines along a swept key.
pub(super) fn lines(grid: &Grid, points: &[usize], along: &str) -> Vec<Line> {
    let values: Vec<Option<&Value>> = points.iter().map(|&p| value_of(&grid.points[p], along)).collect();
    let numeric = values.iter().all(|v| v.is_some_and(Value::is_number));
    let mut distinct: Vec<&Value> = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    for (&point, value) in points.iter().zip(&values) {
        let Some(value) = value else { continue };
        let place = distinct.iter().position(|v| same(v, value)).unwrap_or_else(|| {
            distinct.push(value);
            distinct.len() - 1
        });
        let x = value.as_f64().filter(|_| numeric).unwrap_or(place as f64);
        let fixed: Point = grid.points[point].iter().filter(|(key, _)| key != along).cloned().collect();
        match lines.iter_mut().find(|line| show(&line.fixed) == show(&fixed)) {
            Some(line) => line.points.push((x, point)),
            None => lines.push(Line { fixed, points: vec![(x, point)] }),
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    lines
}

/// Converts a point to a JSON object.
pub(super) fn as_map(point: &Point) -> serde_json::Map<String, Value> {
    point.iter().cloned().collect()
}

//! Evaluates claims at each sweep point.

use serde_json::{Map, Value};

use super::decision::Decision;
use super::grid::{Grid, MissingValue, Point, same, show, value_of};
use super::load;
use super::report::{ClaimReport, ComparisonReport, MeasuredMetric, PointReport};
use super::rules::{self, BySeed, Comparison, PublishedNumber};
use crate::experiment::{Claim, MetricAt, Test};
use crate::metrics::interval::Interval;
use crate::metrics::metric::{Scale, Unit};
use crate::metrics::path::MetricPath;

/// Returns the reports of all claims, and warnings.
pub(super) fn judge_all(grid: &Grid) -> (Vec<ClaimReport>, Vec<String>) {
    let mut warnings = Vec::new();
    let claims = grid.plan.experiment.claims.iter().map(|claim| judge(grid, claim, &mut warnings)).collect();
    (claims, warnings)
}

fn judge(grid: &Grid, claim: &Claim, warnings: &mut Vec<String>) -> ClaimReport {
    let points = match parse_all(&claim.test) {
        Ok(paths) => {
            let mut evaluator = ClaimEvaluator { grid, claim, warnings };
            evaluator.points(&paths)
        }
        Err(what) => {
            warnings.push(format!("claim \"{}\": {what}", claim.says));
            Vec::new()
        }
    };
    ClaimReport::new(claim, points)
}

/// A metric that a claim refers to, at the claim's point or another one.
#[derive(Clone, Debug)]
struct MetricRef {
    path: MetricPath,
    /// Keys whose values differ from those of the claim's point.
    at: Map<String, Value>,
}

impl MetricRef {
    fn unit(&self) -> Unit {
        self.path.measure.metric.unit
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

fn parse_all(test: &Test) -> Result<Vec<MetricRef>, String> {
    let reading = |MetricAt { metric, at }: &MetricAt| {
        Ok(MetricRef { path: MetricPath::parse(metric)?, at: at.clone() })
    };
    test.metrics().into_iter().map(reading).collect()
}

/// A metric at a point, with its values by seed.
type MetricSamples<'a> = (&'a MetricRef, BySeed);

struct ClaimEvaluator<'a> {
    grid: &'a Grid<'a>,
    claim: &'a Claim,
    warnings: &'a mut Vec<String>,
}

impl ClaimEvaluator<'_> {
    fn points(&mut self, readings: &[MetricRef]) -> Vec<PointReport> {
        let points = self.grid.points_at(&self.claim.at);
        if points.is_empty() {
            self.warn("no point of the sweep matches its `at`");
        }
        match &self.claim.test {
            Test::Trend { along, .. } => lines(self.grid, &points, along)
                .iter()
                .map(|line| self.line(&readings[0].path, along, line))
                .collect(),
            _ => points.into_iter().map(|point| self.point(readings, point)).collect(),
        }
    }

    fn point(&mut self, readings: &[MetricRef], point: usize) -> PointReport {
        let mut report = PointReport::at(as_map(&self.grid.points[point]));
        let mut complete = true;
        let mut evidence: Vec<MetricSamples> = Vec::new();
        let mut off_load = load::load_deviation(self.grid, point);
        for reading in readings {
            let values = match self.grid.moved(point, &reading.at) {
                Some(point) => {
                    off_load = off_load.or_else(|| load::load_deviation(self.grid, point));
                    self.evidence(&reading.path, point, &mut complete)
                }
                None => {
                    self.warn(&format!("the sweep has no point for {reading}"));
                    complete = false;
                    BySeed::new()
                }
            };
            report.measured.push(MeasuredMetric::new(
                reading.to_string(),
                reading.path.measure.metric,
                &values,
            ));
            evidence.push((reading, values));
        }
        report.contrasts = self.contrasts(&evidence);
        if complete {
            report.settle(off_load);
        }
        report
    }

    /// Returns the comparisons that determine the claim's verdict at a point.
    fn contrasts(&self, evidence: &[MetricSamples]) -> Vec<ComparisonReport> {
        match &self.claim.test {
            Test::Order(_) => {
                evidence.windows(2).map(|pair| compare(&pair[0], &pair[1], rules::judge_order)).collect()
            }
            Test::Equal { within, .. } => {
                let pairs = (0..evidence.len()).flat_map(|i| (i + 1..evidence.len()).map(move |j| (i, j)));
                pairs
                    .map(|(i, j)| compare(&evidence[i], &evidence[j], |c| rules::equal(c, *within)))
                    .collect()
            }
            Test::Bound { range, .. } => vec![one_or_ratio(
                evidence,
                |value| rules::judge_bound(value, *range),
                |comparison| rules::bounded_ratio(comparison, *range),
            )],
            Test::Ratio { paper, within, over, .. } => {
                let own = evidence[0].0.path.measure.metric.scale;
                let scale = if over.is_some() { Scale::Relative } else { own };
                let published = PublishedNumber { value: *paper, within: *within, scale };
                vec![one_or_ratio(
                    evidence,
                    |value| published.judge(value),
                    |comparison| published.judge_ratio(comparison),
                )]
            }
            Test::Agree { values, within, .. } => vec![agreement(&evidence[0], values, *within)],
            Test::Trend { .. } => Vec::new(),
        }
    }

    /// Evaluates a trend along the points of one line.
    fn line(&mut self, path: &MetricPath, along: &str, line: &Line) -> PointReport {
        let mut report = PointReport::at(as_map(&line.fixed));
        let mut complete = true;
        let mut values = Vec::new();
        let points = &self.grid.points;
        let label = |point: usize| value_of(&points[point], along).map_or_else(String::new, Value::to_string);
        for &(x, point) in &line.points {
            let at = self.evidence(path, point, &mut complete);
            let metric = format!("{path} at {}", label(point));
            report.measured.push(MeasuredMetric::new(metric, path.measure.metric, &at));
            values.push((x, at));
        }
        let Test::Trend { goes, .. } = self.claim.test else { return report };
        if line.points.len() < 2 {
            self.warn(&format!("the sweep has fewer than two values of `{along}`"));
            complete = false;
        }
        let trend = rules::trend(&values, goes);
        let (slope, decision) = trend.slope;
        report.contrasts.push(ComparisonReport::new(
            format!("slope of {path}"),
            (Unit::One, slope),
            decision,
        ));
        report.contrasts.extend(trend.adverse_step.map(|step| {
            let at = |index: usize| label(line.points[index].1);
            let of = format!("step of {path} from {} to {}", at(step.from), at(step.from + 1));
            ComparisonReport::new(of, (Unit::One, step.change), step.decision)
        }));
        if complete {
            report.settle(line.points.iter().find_map(|&(_, point)| load::load_deviation(self.grid, point)));
        }
        report
    }

    fn evidence(&mut self, path: &MetricPath, point: usize, complete: &mut bool) -> BySeed {
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

/// Compares a metric with reference values of the same seeds.
fn agreement((reading, ours): &MetricSamples, theirs: &[f64], within: f64) -> ComparisonReport {
    let theirs: BySeed = (1..).zip(theirs.iter().copied()).collect();
    let comparison = rules::comparison(ours, &theirs);
    report((reading, &"given values by seed"), comparison, rules::agrees(comparison, within))
}

/// Evaluates one metric, or the ratio of two.
fn one_or_ratio(
    evidence: &[MetricSamples],
    of_one: impl Fn(&Interval) -> Decision,
    of_ratio: impl Fn(Comparison) -> Decision,
) -> ComparisonReport {
    if let [a, b, ..] = evidence {
        return compare(a, b, of_ratio);
    }
    let (reading, values) = &evidence[0];
    let value = Interval::of(&rules::values(values));
    ComparisonReport::new(reading.to_string(), (reading.unit(), value), of_one(&value))
}

fn compare(a: &MetricSamples, b: &MetricSamples, judge: impl Fn(Comparison) -> Decision) -> ComparisonReport {
    let comparison = rules::comparison(&a.1, &b.1);
    report((a.0, &b.0), comparison, judge(comparison))
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

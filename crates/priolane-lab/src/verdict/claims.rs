//! Claims judged point by point.

use serde::Serialize;
use serde_json::Value;

use super::grid::{Gap, Grid, Point, same, show, value_of};
use super::path::{MetricPath, Quantity};
use super::rules::{self, BySeed, Contrast, Published, Scale, Verdict};
use super::spec::{Claim, ClaimKind, Direction, MetricAt, OpenRange};
use super::unit::Unit;
use crate::metrics::interval::Interval;

/// A claim and what the runs say of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimReport {
    /// Where it stands.
    pub section: String,
    /// What it says, in words.
    pub says: String,
    /// What it asks.
    #[serde(flatten)]
    pub asks: Asks,
    /// What the runs say, point by point (for a trend: line by line).
    pub points: Vec<PointReport>,
    /// The worst of the points' verdicts.
    pub verdict: Verdict,
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
    /// That the metric lies beyond a number, in its unit, or between two.
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
        goes: Direction,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PointReport {
    /// The point; for a trend, the keys that stay fixed.
    pub point: serde_json::Map<String, Value>,
    /// The claim's metrics.
    pub measured: Vec<Measured>,
    /// What the verdict hangs on: ratios, differences or slopes between metrics.
    pub contrasts: Vec<ContrastReport>,
    /// The verdict here.
    pub verdict: Option<Verdict>,
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
    fn new(metric: String, quantity: Quantity, values: &BySeed) -> Self {
        Self { metric, unit: quantity.unit(), value: quantity.interval(values) }
    }
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
    /// Whether the interval meets the band and is so wide that this says little.
    pub blurred: bool,
}

impl ContrastReport {
    fn new(of: String, unit: Unit, value: Interval, verdict: Verdict) -> Self {
        Self { of, unit, value, verdict, blurred: false }
    }

    /// Of one reading alone.
    fn of_one((reading, values): &Evidence, judge: impl Fn(&Interval) -> Verdict) -> Self {
        let value = Interval::of(&rules::values(values));
        let verdict = judge(&value);
        Self::new(reading.to_string(), reading.unit(), value, verdict)
    }
}

/// The reports of all claims, and what to check before trusting them.
pub(super) fn judge_all(grid: &Grid) -> (Vec<ClaimReport>, Vec<String>) {
    let mut warnings = Vec::new();
    let claims = grid.spec.claims.iter().map(|claim| judge(grid, claim, &mut warnings)).collect();
    (claims, warnings)
}

fn judge(grid: &Grid, claim: &Claim, warnings: &mut Vec<String>) -> ClaimReport {
    let points = match parse_all(&claim.kind) {
        Ok(paths) => {
            let mut court = Court { grid, claim, warnings };
            court.points(&paths)
        }
        Err(what) => {
            warnings.push(format!("claim \"{}\": {what}", claim.says));
            Vec::new()
        }
    };
    let verdict = points.iter().filter_map(|p| p.verdict).max().unwrap_or(Verdict::Incomplete);
    ClaimReport {
        section: claim.section.clone(),
        says: claim.says.clone(),
        asks: Asks::from(&claim.kind),
        points,
        verdict,
    }
}

/// What a claim reads: a metric at its point, or at another.
#[derive(Clone, Debug)]
struct Reading {
    path: MetricPath,
    /// Keys that are at other values than at the claim's point.
    at: Point,
}

impl Reading {
    fn unit(&self) -> Unit {
        self.path.measure.quantity.unit()
    }
}

impl std::fmt::Display for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path)?;
        if self.at.is_empty() { Ok(()) } else { write!(f, " at {}", show(&self.at)) }
    }
}

fn parse_all(kind: &ClaimKind) -> Result<Vec<Reading>, String> {
    let reading = |MetricAt { metric, at }: MetricAt| {
        Ok(Reading { path: MetricPath::parse(&metric)?, at: at.into_iter().collect() })
    };
    kind.metrics().into_iter().map(reading).collect()
}

/// A metric at a point: what it is and its values by seed.
type Evidence<'a> = (&'a Reading, BySeed);

struct Court<'a> {
    grid: &'a Grid<'a>,
    claim: &'a Claim,
    warnings: &'a mut Vec<String>,
}

impl Court<'_> {
    fn points(&mut self, readings: &[Reading]) -> Vec<PointReport> {
        let points = self.grid.points_at(&self.claim.at);
        if points.is_empty() {
            self.warn("no point of the sweep matches its `at`");
        }
        match &self.claim.kind {
            ClaimKind::Trend { along, .. } => lines(self.grid, &points, along)
                .iter()
                .map(|line| self.line(&readings[0].path, along, line))
                .collect(),
            _ => points.into_iter().map(|point| self.point(readings, point)).collect(),
        }
    }

    fn point(&mut self, readings: &[Reading], point: usize) -> PointReport {
        let mut report = PointReport { point: as_map(&self.grid.points[point]), ..PointReport::default() };
        let mut complete = true;
        let mut evidence: Vec<Evidence> = Vec::new();
        for reading in readings {
            let values = match self.grid.moved(point, &reading.at) {
                Some(point) => self.evidence(&reading.path, point, &mut complete),
                None => {
                    self.warn(&format!("the sweep has no point for {reading}"));
                    complete = false;
                    BySeed::new()
                }
            };
            report.measured.push(Measured::new(reading.to_string(), reading.path.measure.quantity, &values));
            evidence.push((reading, values));
        }
        report.contrasts = self.contrasts(&evidence);
        let worst = report.contrasts.iter().map(|c| c.verdict).max();
        report.verdict = if complete { worst } else { None }.or(Some(Verdict::Incomplete));
        report
    }

    /// What the claim's verdict hangs on at a point.
    fn contrasts(&mut self, evidence: &[Evidence]) -> Vec<ContrastReport> {
        match &self.claim.kind {
            ClaimKind::Order(_) => {
                evidence.windows(2).map(|pair| compare(&pair[0], &pair[1], rules::ordered)).collect()
            }
            ClaimKind::Equal { within, .. } => {
                let pairs = (0..evidence.len()).flat_map(|i| (i + 1..evidence.len()).map(move |j| (i, j)));
                pairs
                    .map(|(i, j)| compare(&evidence[i], &evidence[j], |c| rules::equal(c, *within)))
                    .collect()
            }
            ClaimKind::Bound { range, .. } => {
                vec![ContrastReport::of_one(&evidence[0], |value| rules::bounded(value, *range))]
            }
            ClaimKind::Ratio { paper, within, over, .. } => {
                let relative = over.is_some() || evidence[0].0.path.measure.quantity == Quantity::Gain;
                let scale = if relative { Scale::Relative } else { Scale::Absolute };
                vec![self.ratio(evidence, Published { value: *paper, within: *within, scale })]
            }
            ClaimKind::Agree { values, within, .. } => vec![agreement(&evidence[0], values, *within)],
            ClaimKind::Trend { .. } => Vec::new(),
        }
    }

    fn ratio(&mut self, evidence: &[Evidence], published: Published) -> ContrastReport {
        let mut report = match evidence {
            [a, b, ..] => compare(a, b, |c| match c {
                Contrast::Ratio(ratio) => published.judge(&ratio),
                Contrast::Difference(_) => Verdict::NotReproduced,
            }),
            _ => ContrastReport::of_one(&evidence[0], |value| published.judge(value)),
        };
        report.blurred = report.verdict == Verdict::Reproduced && published.is_blurred_by(&report.value);
        if report.blurred {
            self.warn("its interval is more than twice as wide as the band: run more seeds");
        }
        report
    }

    /// A trend along the points of one line.
    fn line(&mut self, path: &MetricPath, along: &str, line: &Line) -> PointReport {
        let mut report = PointReport { point: as_map(&line.fixed), ..PointReport::default() };
        let mut complete = true;
        let mut values = Vec::new();
        for &(x, point) in &line.points {
            let at = self.evidence(path, point, &mut complete);
            let label = value_of(&self.grid.points[point], along).map_or_else(String::new, Value::to_string);
            let metric = format!("{path} at {label}");
            report.measured.push(Measured::new(metric, path.measure.quantity, &at));
            values.push((x, at));
        }
        let ClaimKind::Trend { goes, .. } = self.claim.kind else { return report };
        if line.points.len() < 2 {
            self.warn(&format!("fewer than two values of `{along}` in the sweep"));
            complete = false;
        }
        let (value, verdict) = rules::trend(&values, goes);
        report.contrasts = vec![ContrastReport::new(format!("slope of {path}"), Unit::One, value, verdict)];
        report.verdict = Some(if complete { verdict } else { Verdict::Incomplete });
        report
    }

    fn evidence(&mut self, path: &MetricPath, point: usize, complete: &mut bool) -> BySeed {
        let (values, gaps) = self.grid.by_seed(path, point);
        for gap in &gaps {
            *complete = false;
            if let Gap::Value(what) = gap {
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

/// A metric over the numbers of the same seeds from elsewhere.
fn agreement((reading, ours): &Evidence, theirs: &[f64], within: f64) -> ContrastReport {
    let theirs: BySeed = (1..).zip(theirs.iter().copied()).collect();
    let contrast = rules::contrast(ours, &theirs);
    let (Contrast::Ratio(value) | Contrast::Difference(value)) = contrast;
    let verdict = rules::equal(contrast, within);
    ContrastReport::new(format!("{reading} / numbers stated by seed"), Unit::One, value, verdict)
}

fn compare(a: &Evidence, b: &Evidence, judge: impl Fn(Contrast) -> Verdict) -> ContrastReport {
    let contrast = rules::contrast(&a.1, &b.1);
    let (sign, unit, value) = match contrast {
        Contrast::Ratio(ratio) => ("/", Unit::One, ratio),
        Contrast::Difference(difference) => ("-", a.0.unit(), difference),
    };
    ContrastReport::new(format!("{} {sign} {}", a.0, b.0), unit, value, judge(contrast))
}

/// Points that differ in one sweep key only, in increasing order of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// The other keys.
    pub fixed: Point,
    /// Position along the key (its value if numeric at all points, else its place in the sweep), and point.
    pub points: Vec<(f64, usize)>,
}

/// The lines along a sweep key through `points`.
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

/// A point as a JSON object.
pub(super) fn as_map(point: &Point) -> serde_json::Map<String, Value> {
    point.iter().cloned().collect()
}

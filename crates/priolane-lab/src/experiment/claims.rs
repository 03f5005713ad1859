//! `[[claim]]`: a statement of a paper and the test of it. Claims do not affect runs.

use priolane_source::{Field, InputError};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::{Map, Value as Json};

use super::Seeds;
use super::evaluation::{Names, text};
use crate::panels::SweptValues;

/// `[[claim]]`: a statement about the results and its test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Section of the paper that makes the statement.
    pub section: String,
    /// The statement, in our words.
    pub says: String,
    /// Source of the statement.
    pub source: Source,
    /// Whether it is the claim that the figure is about: reports begin with it. At most one claim leads; by default it is
    /// the first one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lead: bool,
    /// Sweep points to which it is restricted: swept key and value.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub at: Map<String, Json>,
    /// Its test.
    #[serde(flatten)]
    pub test: Test,
}

/// The source of a claim; the two kinds are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The paper; the default if the experiment names a paper.
    Paper,
    /// Ours: a check, a reading or a number of our own; the default if the experiment has no paper.
    Ours,
}

/// The test of a claim. Metrics are written as `quantity.class.scheme`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Test {
    /// The metrics are in decreasing order.
    Order(Vec<MetricAt>),
    /// The metrics agree within a relative tolerance.
    Equal {
        /// The metrics.
        of: Vec<MetricAt>,
        /// Relative tolerance.
        within: f64,
    },
    /// A metric (or the ratio of two) is above or below a bound, or between two bounds.
    Bound {
        /// The metric, or the numerator.
        of: MetricAt,
        /// The denominator.
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<MetricAt>,
        /// The required range.
        #[serde(flatten)]
        range: OpenRange,
    },
    /// A metric (or the ratio of two) equals the number in the paper, within a relative tolerance.
    Ratio {
        /// The metric, or the numerator.
        of: MetricAt,
        /// The denominator.
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<MetricAt>,
        /// The number in the paper.
        paper: f64,
        /// Relative tolerance.
        within: f64,
    },
    /// A metric agrees with reference values seed by seed, within a relative tolerance.
    Agree {
        /// The metric, at the claim's point.
        of: MetricAt,
        /// Reference values of seeds 1, 2, ...
        values: Vec<f64>,
        /// Relative tolerance.
        within: f64,
    },
    /// A metric increases or decreases along a swept key.
    Trend {
        /// The metric, at the points along the key.
        of: MetricAt,
        /// The swept key.
        along: String,
        /// Direction of the trend.
        goes: TrendDirection,
    },
}

/// An open interval; at least one end is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OpenRange {
    /// Exclusive lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Exclusive upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
}

impl OpenRange {
    /// Returns the interval of all numbers above `x`.
    pub fn above(x: f64) -> Self {
        Self { above: Some(x), below: None }
    }

    /// Returns the interval of all numbers below `x`.
    pub fn below(x: f64) -> Self {
        Self { above: None, below: Some(x) }
    }
}

/// A metric `quantity.class.scheme` at the claim's point, optionally with other values of some swept keys.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricAt {
    /// The metric.
    pub metric: String,
    /// Other values of swept keys; empty for the claim's point itself.
    pub at: Map<String, Json>,
}

impl From<&str> for MetricAt {
    fn from(metric: &str) -> Self {
        Self { metric: metric.to_owned(), at: Map::new() }
    }
}

impl Serialize for MetricAt {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.at.is_empty() {
            return s.serialize_str(&self.metric);
        }
        let mut table = s.serialize_struct("MetricAt", 2)?;
        table.serialize_field("metric", &self.metric)?;
        table.serialize_field("at", &self.at)?;
        table.end()
    }
}

impl Test {
    /// Returns its name in experiment files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Order(_) => "order",
            Self::Equal { .. } => "equal",
            Self::Bound { .. } => "bound",
            Self::Ratio { .. } => "ratio",
            Self::Agree { .. } => "agree",
            Self::Trend { .. } => "trend",
        }
    }

    /// Returns all metrics that it refers to, in order.
    pub fn metrics(&self) -> Vec<&MetricAt> {
        match self {
            Self::Order(of) | Self::Equal { of, .. } => of.iter().collect(),
            Self::Agree { of, .. } | Self::Trend { of, .. } => vec![of],
            Self::Ratio { of, over, .. } | Self::Bound { of, over, .. } => {
                std::iter::once(of).chain(over).collect()
            }
        }
    }
}

/// The direction of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrendDirection {
    /// Increasing.
    Up,
    /// Decreasing.
    Down,
}

/// Reads the `[[claim]]` tables of a file one after another: at most one claim leads.
pub(super) struct ClaimReader<'a> {
    names: &'a Names<'a>,
    paper: Option<&'a str>,
    leader: Option<String>,
}

impl<'a> ClaimReader<'a> {
    /// `paper` is the paper of the experiment, if any.
    pub(super) fn new(names: &'a Names<'a>, paper: Option<&'a str>) -> Self {
        Self { names, paper, leader: None }
    }

    /// Reads the next claim.
    pub(super) fn read(&mut self, field: &Field<'_>) -> Result<Claim, InputError> {
        let claim = claim(field, self.names, self.paper)?;
        if !claim.lead {
            return Ok(claim);
        }
        match self.leader.replace(claim.says.clone()) {
            None => Ok(claim),
            Some(first) => {
                let what = format!("`lead` is set twice: \"{first}\" leads already");
                Err(field.error(what, "lead = true in one claim only"))
            }
        }
    }
}

fn claim(field: &Field<'_>, names: &Names<'_>, paper: Option<&str>) -> Result<Claim, InputError> {
    let mut keys = field.table()?;
    let section = text(keys.need("section", "section = \"§V-B\"")?)?;
    let says = text(keys.need("says", "says = \"mice gain most\"")?)?;
    let source = source(keys.take("source").as_ref(), paper)?;
    let lead = keys.take("lead").map_or(Ok(false), |field| field.truth())?;
    let at = keys.take("at").map_or(Ok(Map::new()), |f| f.read::<_, SweptValues>())?;
    let kinds = ["order", "equal", "bound", "ratio", "agree", "trend"];
    let stated: Vec<(&str, Field<'_>)> = kinds.into_iter().filter_map(|k| Some((k, keys.take(k)?))).collect();
    let within = keys.take("within");
    let [(kind, test)] = stated.as_slice() else {
        let what = format!("the claim has {} tests", stated.len());
        return Err(keys.error(what, "exactly one of order, equal, bound, ratio, agree, trend"));
    };
    let test = match *kind {
        "order" => Test::Order(names.at_least_two(test)?),
        "equal" => equal(test, within.as_ref(), names)?,
        "bound" => bound(test, names)?,
        "ratio" => ratio(test, names)?,
        "agree" => agree(test, names)?,
        _ => trend(test, names)?,
    };
    if let (Some(field), true) = (within, *kind != "equal") {
        return Err(field.error("within belongs to equal", "Remove the key, or move it into ratio"));
    }
    keys.finish()?;
    Ok(Claim { section, says, source, lead, at, test })
}

fn source(field: Option<&Field<'_>>, paper: Option<&str>) -> Result<Source, InputError> {
    let default = if paper.is_some() { Source::Paper } else { Source::Ours };
    let Some(field) = field else { return Ok(default) };
    match field.word(&[("paper", Source::Paper), ("ours", Source::Ours)])? {
        Source::Paper if paper.is_none() => {
            Err(field
                .error("the experiment has no paper", "source = \"ours\", or paper = \"...\" at the top"))
        }
        source => Ok(source),
    }
}

/// Reads `equal = [..]` with `within` beside it, or `equal = { of = [..], within = .. }`.
fn equal(field: &Field<'_>, beside: Option<&Field<'_>>, names: &Names<'_>) -> Result<Test, InputError> {
    if field.list().is_ok() {
        let within = beside.map_or(Ok(0.1), |f| f.number(0.0, 10.0))?;
        return Ok(Test::Equal { of: names.at_least_two(field)?, within });
    }
    let mut keys = field.table()?;
    let of = names.at_least_two(&keys.need("of", "of = [\"fct.all.dctcp\", \"fct.all.pias\"]")?)?;
    let within = keys.take("within").map_or(Ok(0.1), |f| f.number(0.0, 10.0))?;
    keys.finish()?;
    Ok(Test::Equal { of, within })
}

fn bound(field: &Field<'_>, names: &Names<'_>) -> Result<Test, InputError> {
    let mut keys = field.table()?;
    let of = names.at_point(&keys.need("of", "of = \"gain.all.pias\"")?)?;
    let over = keys.take("over").map(|f| names.at_point(&f)).transpose()?;
    let above = keys.take("above").map(|f| f.any_number()).transpose()?;
    let below = keys.take("below").map(|f| f.any_number()).transpose()?;
    if above.is_none() && below.is_none() {
        return Err(field.error("no bound is set", "above = 1.0 or below = 1.0"));
    }
    if let (Some(low), Some(high)) = (above, below)
        && low >= high
    {
        return Err(field.error(
            "no value is above the lower bound and below the upper bound",
            "above = 1.0, below = 2.0",
        ));
    }
    keys.finish()?;
    Ok(Test::Bound { of, over, range: OpenRange { above, below } })
}

fn ratio(field: &Field<'_>, names: &Names<'_>) -> Result<Test, InputError> {
    let mut keys = field.table()?;
    let of = names.at_point(&keys.need("of", "of = \"fct.all.pias\"")?)?;
    let over = keys.take("over").map(|f| names.at_point(&f)).transpose()?;
    let paper = keys.need("paper", "paper = 3.2")?.any_number()?;
    let within = keys.need("within", "within = 0.1")?.number(0.0, 10.0)?;
    keys.finish()?;
    Ok(Test::Ratio { of, over, paper, within })
}

fn agree(field: &Field<'_>, names: &Names<'_>) -> Result<Test, InputError> {
    let mut keys = field.table()?;
    let of = names.here(&keys.need("of", "of = \"fct.all.pfabric\"")?)?;
    let numbers = keys.need("values", "values = [0.00125, 0.00131], a number for each seed")?;
    let values: Vec<f64> = numbers.filled_list()?.iter().map(Field::any_number).collect::<Result<_, _>>()?;
    if values.iter().any(|&number| number <= 0.0) {
        return Err(numbers.error("a value is not above zero", "positive numbers in the unit of the metric"));
    }
    let seeds = names.seeds.map_or(Vec::new(), Seeds::list);
    if let Some(seed) = seeds.into_iter().find(|&seed| seed > values.len() as u64) {
        let what = format!("the list has values for seeds 1 to {}, but not for seed {seed}", values.len());
        return Err(numbers.error(what, "a number for each seed, seed 1 first"));
    }
    let within = keys.need("within", "within = 0.02")?.number(0.0, 10.0)?;
    keys.finish()?;
    Ok(Test::Agree { of, values, within })
}

fn trend(field: &Field<'_>, names: &Names<'_>) -> Result<Test, InputError> {
    let mut keys = field.table()?;
    let of = names.here(&keys.need("of", "of = \"fct.all.pias\"")?)?;
    let along = text(keys.need("along", "along = \"group.all.load.value\"")?)?;
    let goes = keys
        .need("goes", "goes = \"up\"")?
        .word(&[("up", TrendDirection::Up), ("down", TrendDirection::Down)])?;
    keys.finish()?;
    Ok(Test::Trend { of, along, goes })
}

impl Names<'_> {
    /// Reads `quantity.class.scheme`, at the claim's own points.
    fn here(&self, field: &Field<'_>) -> Result<MetricAt, InputError> {
        Ok(MetricAt { metric: self.full(field)?, at: Map::new() })
    }

    /// Reads `quantity.class.scheme`, or `{ metric = ..., at = { swept key = value } }`.
    fn at_point(&self, field: &Field<'_>) -> Result<MetricAt, InputError> {
        let Ok(mut keys) = field.table() else {
            return self.here(field);
        };
        let metric = self.full(&keys.need("metric", "metric = \"fct.all.dctcp\"")?)?;
        let at = keys.need("at", "at = { \"group.all.load.value\" = 0.8 }, or the metric alone")?;
        let at = at.read::<_, SweptValues>()?;
        keys.finish()?;
        Ok(MetricAt { metric, at })
    }

    fn at_least_two(&self, field: &Field<'_>) -> Result<Vec<MetricAt>, InputError> {
        let items = field.list()?;
        if items.len() < 2 {
            return Err(field.error("the list has fewer than two metrics", "at least two metrics"));
        }
        let mut metrics: Vec<MetricAt> = Vec::new();
        for item in items {
            let metric = self.at_point(&item)?;
            if metrics.contains(&metric) {
                return Err(item.error("the metric is listed twice", "each metric once"));
            }
            metrics.push(metric);
        }
        Ok(metrics)
    }
}

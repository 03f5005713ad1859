//! `[[claim]]`: what a paper says, and how the runs are asked whether it is so. None of it changes a run.

use priolane_source::{Field, InputError};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::{Map, Value as Json};

use super::Seeds;
use super::evaluation::{Names, text};
use crate::panels::SweptValues;

/// `[[claim]]`: a statement about the results and how it is tested.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Where the paper says it.
    pub section: String,
    /// What it says, in our words.
    pub says: String,
    /// Who says it.
    pub source: Source,
    /// The points it is restricted to: swept key and value.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub at: Map<String, Json>,
    /// How it is tested.
    #[serde(flatten)]
    pub test: Test,
}

/// Whose statement a claim is: the two are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The paper's; the default where the experiment names a paper.
    Paper,
    /// Ours: a check, a reading or a number of our own; the default where the experiment names no paper.
    Ours,
}

/// How a claim is tested. Metrics are `quantity.class.scheme`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Test {
    /// The metrics decrease in this order.
    Order(Vec<MetricAt>),
    /// The metrics agree within a relative band.
    Equal {
        /// The metrics.
        of: Vec<MetricAt>,
        /// The band.
        within: f64,
    },
    /// A metric (or a ratio of two) is beyond a bound, or between two.
    Bound {
        /// The metric.
        of: MetricAt,
        /// What it is divided by.
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<MetricAt>,
        /// Where it lies.
        #[serde(flatten)]
        range: OpenRange,
    },
    /// A metric (or a ratio of two) is what the paper prints, within a relative band.
    Ratio {
        /// The metric.
        of: MetricAt,
        /// What it is divided by.
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<MetricAt>,
        /// The paper's number.
        paper: f64,
        /// The band.
        within: f64,
    },
    /// A metric agrees, seed by seed, with numbers from elsewhere, within a relative band.
    Agree {
        /// The metric, at the claim's point.
        of: MetricAt,
        /// The numbers, of seeds 1, 2, ...
        values: Vec<f64>,
        /// The band.
        within: f64,
    },
    /// A metric goes up or down along a swept key.
    Trend {
        /// The metric, at the points of the line.
        of: MetricAt,
        /// The swept key.
        along: String,
        /// Which way.
        goes: TrendDirection,
    },
}

/// Where a metric lies; one end at least is stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OpenRange {
    /// Above this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
}

impl OpenRange {
    /// Everything above `x`.
    pub fn above(x: f64) -> Self {
        Self { above: Some(x), below: None }
    }

    /// Everything below `x`.
    pub fn below(x: f64) -> Self {
        Self { above: None, below: Some(x) }
    }
}

/// A metric `quantity.class.scheme` at a point of the claim, or at that with some swept keys at other values.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricAt {
    /// The metric.
    pub metric: String,
    /// The other values by swept key; empty for the point itself.
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
    /// Its name in experiment files.
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

    /// All metrics it names, in order.
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

/// Which way a trend goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrendDirection {
    /// It grows.
    Up,
    /// It shrinks.
    Down,
}

/// Reads one `[[claim]]`; `paper` is the one that the experiment names.
pub(super) fn claim(field: &Field<'_>, names: &Names<'_>, paper: Option<&str>) -> Result<Claim, InputError> {
    let mut keys = field.table()?;
    let section = text(keys.need("section", "section = \"§V-B\"")?)?;
    let says = text(keys.need("says", "says = \"mice gain most\"")?)?;
    let source = source(keys.take("source").as_ref(), paper)?;
    let at = keys.take("at").map_or(Ok(Map::new()), |f| f.read::<_, SweptValues>())?;
    let kinds = ["order", "equal", "bound", "ratio", "agree", "trend"];
    let stated: Vec<(&str, Field<'_>)> = kinds.into_iter().filter_map(|k| Some((k, keys.take(k)?))).collect();
    let within = keys.take("within");
    let [(kind, test)] = stated.as_slice() else {
        let what = format!("{} tests are stated", stated.len());
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
        return Err(field.error("within belongs to equal", "leave it out, or put it into ratio"));
    }
    keys.finish()?;
    Ok(Claim { section, says, source, at, test })
}

fn source(field: Option<&Field<'_>>, paper: Option<&str>) -> Result<Source, InputError> {
    let default = if paper.is_some() { Source::Paper } else { Source::Ours };
    let Some(field) = field else { return Ok(default) };
    match field.word(&[("paper", Source::Paper), ("ours", Source::Ours)])? {
        Source::Paper if paper.is_none() => {
            Err(field
                .error("the experiment names no paper", "source = \"ours\", or paper = \"...\" at the top"))
        }
        source => Ok(source),
    }
}

/// `equal = [..]` with `within` beside it, or `equal = { of = [..], within = .. }`.
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
        return Err(field.error("no bound is stated", "above = 1.0 or below = 1.0"));
    }
    if let (Some(low), Some(high)) = (above, below)
        && low >= high
    {
        return Err(field.error("no value is above the one and below the other", "above = 1.0, below = 2.0"));
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
        return Err(numbers.error("a number is not above zero", "positive numbers in the metric's own unit"));
    }
    let seeds = names.seeds.map_or(Vec::new(), Seeds::list);
    if let Some(seed) = seeds.into_iter().find(|&seed| seed > values.len() as u64) {
        let what = format!("there is no number for seed {seed}: these are for seeds 1 to {}", values.len());
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
    /// `quantity.class.scheme`, at the claim's own points.
    fn here(&self, field: &Field<'_>) -> Result<MetricAt, InputError> {
        Ok(MetricAt { metric: self.full(field)?, at: Map::new() })
    }

    /// `quantity.class.scheme`, or `{ metric = ..., at = { swept key = value } }`.
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
            return Err(field.error("fewer than two metrics", "at least two to compare"));
        }
        let mut metrics: Vec<MetricAt> = Vec::new();
        for item in items {
            let metric = self.at_point(&item)?;
            if metrics.contains(&metric) {
                return Err(item.error("this metric stands here already", "one to compare it with"));
            }
            metrics.push(metric);
        }
        Ok(metrics)
    }
}

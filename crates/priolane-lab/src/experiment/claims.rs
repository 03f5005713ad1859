//! `[[claim]]`: a statement of a paper and the test of it. Claims do not affect runs.

use priolane_core::keys::{
    Bounds, Form, InTable, KeyConflict, KeyError, KeyValue, Keys, NonEmpty, Schema, Value, Words,
    WrittenValue,
};
use priolane_source::{Field, InputError};
use serde_json::{Map, Value as Json};

use super::{Cause, Seeds};
use crate::panels::SweptValues;

/// The noun of a metric of a scheme in the schemas of keys.
pub(super) const METRIC_OF_SCHEME: &str = "metric of a scheme";

/// `[[claim]]`: a statement about the results and its test.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct Claim {
    /// Place of the statement in the paper, or a label of one's own; none by default.
    #[key(default = String::new(), skip_default, shown = "none")]
    pub section: String,
    /// The statement, in our words.
    #[key(required = "says = \"mice gain most\"")]
    pub says: String,
    /// Source of the statement; claims of the two sources are counted separately.
    #[key(default = Source::Ours, shown = "paper if the experiment names a paper, else ours")]
    pub source: Source,
    /// Whether it is the claim that the figure is about: reports begin with it. At most one claim leads; by default it is
    /// the first one.
    #[key(default = false, skip_default)]
    pub lead: bool,
    /// The cause of its verdict; none by default.
    #[key(optional, form = InTable)]
    pub cause: Option<Cause>,
    /// The parameter that was fitted to its number; none by default. Such a claim is not counted as reproduced.
    #[key(optional)]
    pub fitted: Option<String>,
    /// Sweep points to which it is restricted: swept key and value.
    #[key(default = Map::new(), skip_default, shown = "all", form = SweptValues)]
    pub at: Map<String, Json>,
    /// Whether it must hold at more than half of its sweep points, as "in most cases" says, instead of at all of them. It
    /// needs a swept key that neither `at` nor `trend` sets.
    #[key(default = false, skip_default)]
    pub most: bool,
    /// Its test.
    #[keys(flatten)]
    pub test: Test,
    /// The relative tolerance of a list of metrics in `equal`.
    #[key(optional, shown = "0.1", range = "[0, 10]")]
    within: Option<f64>,
}

/// The source of a claim; the two kinds are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Source {
    /// The paper; the default if the experiment names a paper.
    Paper,
    /// Ours: a check, a reading or a number of our own; the default if the experiment has no paper.
    Ours,
}

/// The test of a claim. Metrics are written as `quantity.class.scheme`.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(
    one_of,
    all_known,
    count("the claim has {} tests", "exactly one of order, equal, bound, ratio, agree, trend")
)]
pub enum Test {
    /// The metrics are in decreasing order: at least two.
    #[key(required = "order = [\"fct.all.dctcp\", \"fct.all.pias\"]", form = AtLeastTwo)]
    Order(Vec<MetricAt>),
    /// The metrics agree within a relative tolerance: a table, or a list of metrics.
    #[key(required = "equal = [\"fct.all.dctcp\", \"fct.all.pias\"]")]
    Equal(EqualTest),
    /// A metric (or the ratio of two) is above or below a bound, or between two bounds.
    #[key(required = "bound = { of = \"gain.all.pias\", above = 1.0 }", form = InTable)]
    Bound(BoundTest),
    /// A metric (or the ratio of two) equals the number in the paper, within a relative tolerance.
    #[key(required = "ratio = { of = \"fct.all.pias\", paper = 3.2, within = 0.1 }", form = InTable)]
    Ratio(RatioTest),
    /// A metric agrees with reference values seed by seed, within a relative tolerance.
    #[key(required = "agree = { of = \"fct.all.pfabric\", values = [0.00125], within = 0.02 }", form = InTable)]
    Agree(AgreeTest),
    /// A metric increases or decreases along a swept key.
    #[key(required = "trend = { of = \"fct.all.pias\", along = \"time.measure\", goes = \"up\" }", form = InTable)]
    Trend(TrendTest),
}

/// Metrics that agree within a relative tolerance.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(shorthand = "of")]
pub struct EqualTest {
    /// The metrics, at least two.
    #[key(required = "of = [\"fct.all.dctcp\", \"fct.all.pias\"]", form = AtLeastTwo)]
    pub of: Vec<MetricAt>,
    /// Relative tolerance.
    #[key(default = DEFAULT_TOLERANCE, range = "[0, 10]")]
    pub within: f64,
}

/// The default relative tolerance of metrics that are equal.
const DEFAULT_TOLERANCE: f64 = 0.1;

/// A metric, or the ratio of two, and its bounds.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct BoundTest {
    /// The metric, or the numerator.
    #[key(required = "of = \"gain.all.pias\"")]
    pub of: MetricAt,
    /// The denominator.
    #[key(optional)]
    pub over: Option<MetricAt>,
    /// The required range.
    #[keys(flatten)]
    pub range: OpenRange,
}

/// A metric, or the ratio of two, and the number in the paper.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct RatioTest {
    /// The metric, or the numerator.
    #[key(required = "of = \"fct.all.pias\"")]
    pub of: MetricAt,
    /// The denominator.
    #[key(optional)]
    pub over: Option<MetricAt>,
    /// The number in the paper.
    #[key(required = "paper = 3.2")]
    pub paper: f64,
    /// Relative tolerance.
    #[key(required = "within = 0.1", range = "[0, 10]")]
    pub within: f64,
}

/// A metric and its reference values.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct AgreeTest {
    /// The metric, at the claim's point.
    #[key(required = "of = \"fct.all.pfabric\"", form = Here)]
    pub of: MetricAt,
    /// Reference values of seeds 1, 2, ... in the unit of the metric, each above zero.
    #[key(required = "values = [0.00125, 0.00131], a number for each seed", form = PositiveNumbers)]
    pub values: Vec<f64>,
    /// Relative tolerance.
    #[key(required = "within = 0.02", range = "[0, 10]")]
    pub within: f64,
}

/// A metric along a swept key.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct TrendTest {
    /// The metric, at the points along the key.
    #[key(required = "of = \"fct.all.pias\"", form = Here)]
    pub of: MetricAt,
    /// The swept key.
    #[key(required = "along = \"group.all.load.value\"")]
    pub along: String,
    /// Direction of the trend.
    #[key(required = "goes = \"up\"")]
    pub goes: TrendDirection,
}

/// An open interval; at least one end is given.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
pub struct OpenRange {
    /// Exclusive lower bound.
    #[key(optional)]
    pub above: Option<f64>,
    /// Exclusive upper bound.
    #[key(optional)]
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
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct MetricAt {
    /// The metric.
    #[key(required = "metric = \"fct.all.dctcp\"", names = "metric of a scheme")]
    pub metric: String,
    /// Other values of swept keys than those of the claim's point; empty for the point itself.
    #[key(required = "at = { \"group.all.load.value\" = 0.8 }, or the metric alone", form = SweptValues)]
    pub at: Map<String, Json>,
}

/// A metric alone, or a table of a metric and values of swept keys.
impl KeyValue for MetricAt {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        if let Value::Table(_) = value { InTable::read(value, bounds) } else { Here::read(value, bounds) }
    }

    fn write(&self) -> WrittenValue {
        if self.at.is_empty() { Here::write(self) } else { InTable::write(self) }
    }

    fn schema() -> Schema {
        Schema::AnyOf(vec![Here::schema(), <InTable as Form<Self>>::schema()])
    }
}

impl From<&str> for MetricAt {
    fn from(metric: &str) -> Self {
        Self { metric: metric.to_owned(), at: Map::new() }
    }
}

/// A metric at the claim's point: `quantity.class.scheme` alone.
#[derive(Clone, Copy, Debug)]
struct Here;

impl Form<MetricAt> for Here {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<MetricAt, KeyError> {
        String::read(value, bounds).map(|metric| MetricAt::from(metric.as_str()))
    }

    fn write(value: &MetricAt) -> WrittenValue {
        value.metric.write()
    }

    fn schema() -> Schema {
        Schema::Name(METRIC_OF_SCHEME)
    }
}

/// Lists of at least two metrics, each listed once.
#[derive(Clone, Copy, Debug)]
struct AtLeastTwo;

impl Form<Vec<MetricAt>> for AtLeastTwo {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<MetricAt>, KeyError> {
        if matches!(value, Value::List(items) if items.len() < 2) {
            return Err(KeyError::new("the list has fewer than two metrics", "at least two metrics"));
        }
        let metrics = Vec::<MetricAt>::read(value, bounds)?;
        match (1..metrics.len()).find(|&place| metrics[..place].contains(&metrics[place])) {
            None => Ok(metrics),
            Some(place) => {
                let twice = KeyError::new("the metric is listed twice", "each metric once");
                Err(KeyError::Item(place, Box::new(twice)))
            }
        }
    }

    fn write(value: &Vec<MetricAt>) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Vec::<MetricAt>::schema()
    }
}

/// Lists of at least one number, each above zero.
#[derive(Clone, Copy, Debug)]
struct PositiveNumbers;

impl Form<Vec<f64>> for PositiveNumbers {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<f64>, KeyError> {
        let numbers: Vec<f64> = NonEmpty::read(value, bounds)?;
        match numbers.iter().all(|&number| number > 0.0) {
            true => Ok(numbers),
            false => {
                Err(KeyError::new("a value is not above zero", "positive numbers in the unit of the metric"))
            }
        }
    }

    fn write(value: &Vec<f64>) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Vec::<f64>::schema()
    }
}

impl Test {
    /// Returns its name in experiment files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Order(_) => "order",
            Self::Equal(_) => "equal",
            Self::Bound(_) => "bound",
            Self::Ratio(_) => "ratio",
            Self::Agree(_) => "agree",
            Self::Trend(_) => "trend",
        }
    }

    /// Returns all metrics that it refers to, in order.
    pub fn metrics(&self) -> Vec<&MetricAt> {
        match self {
            Self::Order(of) | Self::Equal(EqualTest { of, .. }) => of.iter().collect(),
            Self::Agree(AgreeTest { of, .. }) | Self::Trend(TrendTest { of, .. }) => vec![of],
            Self::Ratio(RatioTest { of, over, .. }) | Self::Bound(BoundTest { of, over, .. }) => {
                std::iter::once(of).chain(over).collect()
            }
        }
    }
}

/// The direction of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TrendDirection {
    /// Increasing.
    Up,
    /// Decreasing.
    Down,
}

impl Claim {
    /// Returns a claim at all sweep points that does not lead.
    pub fn new(section: &str, says: &str, source: Source, test: Test) -> Self {
        let (section, says) = (section.to_owned(), says.to_owned());
        let (cause, fitted) = (None, None);
        Self {
            section,
            says,
            source,
            lead: false,
            cause,
            fitted,
            at: Map::new(),
            most: false,
            test,
            within: None,
        }
    }

    /// Moves `within` into the list of metrics that are equal; no other test has it beside itself.
    fn check(&mut self) -> Result<(), KeyConflict> {
        let Some(beside) = self.within.take() else { return Ok(()) };
        match &mut self.test {
            Test::Equal(equal) => {
                equal.within = beside;
                Ok(())
            }
            _ => {
                let fix = "Remove the key, or move it into ratio";
                Err(KeyConflict::of("within", "within belongs to equal", fix))
            }
        }
    }
}

impl BoundTest {
    fn check(&mut self) -> Result<(), KeyConflict> {
        match (self.range.above, self.range.below) {
            (None, None) => Err(KeyConflict::new("no bound is set", "above = 1.0 or below = 1.0")),
            (Some(low), Some(high)) if low >= high => Err(KeyConflict::new(
                "no value is above the lower bound and below the upper bound",
                "above = 1.0, below = 2.0",
            )),
            _ => Ok(()),
        }
    }
}

/// Reads the `[[claim]]` tables of a file one after another: at most one claim leads.
pub(super) struct ClaimReader<'a> {
    seeds: Option<&'a Seeds>,
    paper: Option<&'a str>,
    leader: Option<String>,
}

impl<'a> ClaimReader<'a> {
    /// `seeds` are those that are run, and `paper` is the paper of the experiment, if any.
    pub(super) fn new(seeds: Option<&'a Seeds>, paper: Option<&'a str>) -> Self {
        Self { seeds, paper, leader: None }
    }

    /// Reads the next claim.
    ///
    /// # Errors
    /// All its mistakes, except names that do not exist.
    pub(super) fn read(&mut self, field: &Field<'_>) -> Result<Claim, InputError> {
        let mut claim: Claim = field.keys()?;
        match (field.inner("source"), self.paper) {
            (None, Some(_)) => claim.source = Source::Paper,
            (Some(stated), None) if claim.source == Source::Paper => {
                let fix = "source = \"ours\", or paper = \"...\" at the top";
                return Err(stated.error("the experiment has no paper", fix));
            }
            _ => {}
        }
        if let Some(agree) = field.inner("agree") {
            self.each_seed_has_a_value(&agree, &claim.test)?;
        }
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

    fn each_seed_has_a_value(&self, agree: &Field<'_>, test: &Test) -> Result<(), InputError> {
        let Test::Agree(AgreeTest { values, .. }) = test else { return Ok(()) };
        let seeds = self.seeds.map_or(Vec::new(), Seeds::list);
        let Some(seed) = seeds.into_iter().find(|&seed| seed > values.len() as u64) else { return Ok(()) };
        let what = format!("the list has values for seeds 1 to {}, but not for seed {seed}", values.len());
        let numbers = agree.inner("values");
        Err(numbers.as_ref().unwrap_or(agree).error(what, "a number for each seed, seed 1 first"))
    }
}

//! Defines a metric as a value: its scope, requirements and evaluation.

use priolane_core::endpoint::ThresholdSet;
use std::io;

use priolane_results::RecordBatch;
use serde::Serialize;

use super::coverage::Coverage;
use super::estimate::{Estimate, Nature};
use super::ladder::Threshold;
use super::{ALL, SizeClass, mean_of};
use priolane_results::flows::FlowRow;
use priolane_results::record::RunRecord;
use priolane_results::rows::Table;
use priolane_results::summary::Summary;

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Dimensionless: a ratio, an index, a count.
    #[serde(rename = "1")]
    One,
    /// A part of all: 1 is 100 %.
    #[serde(rename = "part")]
    Part,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// 10^9 bits per second.
    #[serde(rename = "Gbit/s")]
    Gbps,
}

/// The scope of a metric: the allowed second part of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A size class, `all`, or a single flow, `flowN`.
    Flows,
    /// A size class or `all`.
    Classes,
    /// A size class that selects the class that flows request (`asked`).
    Asked,
    /// The whole run: `all`.
    Run,
    /// All flows together: `all`. The text explains why no class has a value of its own.
    All(&'static str),
    /// The number of a threshold, from 1.
    Thresholds,
    /// A set of ports.
    Ports,
}

impl Scope {
    /// Returns what the second part of a metric's path can be, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Flows => "a size class, `all`, or `flowN`",
            Self::Classes => "a size class or `all`",
            Self::Asked => "a class that states `asked`",
            Self::Run | Self::All(_) => "`all`",
            Self::Thresholds => "the number of a threshold, from 1",
            Self::Ports => "`hosts`, `edge`, `core`, or `switches`",
        }
    }
}

/// The declaration that a metric requires of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The scheme that gains are relative to.
    Baseline,
    /// The class that ratios are relative to (`over`).
    Over,
    /// The bottleneck of effective throughput.
    Bottleneck,
    /// The sampling interval of admission probabilities.
    Probabilities,
    /// The groups of the class, which also run alone.
    Alone,
}

impl Need {
    /// Returns what an experiment must state, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Baseline => "`baseline`",
            Self::Over => "`over` of the class",
            Self::Bottleneck => "`[metrics] effective`",
            Self::Probabilities => "`admission_every`",
            Self::Alone => "`group` of the class",
        }
    }
}

/// The way in which a published value of the metric is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A ratio of two metrics of the same kind, in which 1 means no difference.
    Relative,
    /// A value with a unit of its own.
    Absolute,
    /// A count of events, of which 0 is an ordinary value.
    Events,
}

/// The changes that seeds make in the runs of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Nothing: at each point and with each scheme, the runs of all seeds have the same results.
    Same,
    /// The results of some point and scheme.
    Differ,
}

/// The reason why a metric has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A run is missing; its name.
    Run(String),
    /// No run of the scheme has one; the reason.
    Scheme(String),
    /// The run of this seed has none; the reason.
    Seed(&'static str),
    /// The run of this seed and point has none; the reason.
    Point(&'static str),
    /// It has no value over time.
    OverTime,
    /// Any other reason, as a complete message.
    Other(String),
}

/// A time series of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    /// Length of a bin, in seconds.
    pub every: f64,
    /// Value by bin; `None` if the bin has none.
    pub values: Vec<Option<f64>>,
}

impl Bins {
    /// Returns the mean of each bin over the runs in which it has a value; `None` without runs.
    pub fn mean(runs: &[Self]) -> Option<Self> {
        let every = runs.last()?.every;
        let bins = runs.iter().map(|run| run.values.len()).max()?;
        let mean = |bin: usize| {
            let values: Vec<f64> = runs.iter().filter_map(|run| *run.values.get(bin)?).collect();
            mean_of(&values)
        };
        Some(Self { every, values: (0..bins).map(mean).collect() })
    }
}

/// The function that evaluates a metric.
pub(crate) type Eval<T> = fn(&Context<'_>) -> Result<T, Missing>;

/// Returns the arrivals that both parts of a value are per; `None` if it does not come from Little's law.
pub(crate) type Arrivals = fn(&Context<'_>) -> Option<(f64, f64)>;

/// A metric of a run. Two metrics are equal if their names are.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name in paths: `name.class.scheme`.
    pub name: &'static str,
    /// The meaning of the metric, as a phrase.
    pub meaning: &'static str,
    /// Unit of its values.
    pub unit: Unit,
    /// Range of its values, both ends included.
    pub range: (f64, f64),
    /// Its scope.
    pub scope: Scope,
    /// Requirements on the experiment.
    pub needs: &'static [Need],
    /// Whether a value of 1 means "no difference".
    pub scale: Scale,
    /// Computes its value, unless that is a quotient.
    pub eval: Eval<f64>,
    /// Computes both parts of its value if that is a quotient, the second above 0. Over several runs it is the quotient
    /// of their means: the mean of quotients is biased.
    pub quotient: Option<Eval<(f64, f64)>>,
    /// The flows that its value is made of.
    pub coverage: Coverage,
    /// Returns the arrivals that its value is per, or that each of its parts is, if arrivals continue and the value comes
    /// from Little's law; `None` in other runs. Over seeds it is then a ratio of sums.
    pub arrivals: Option<Arrivals>,
    /// Computes its values over time, if it has any.
    pub over_time: Option<Eval<Bins>>,
    /// Computes its value for a single flow of a table, if distributions over flows can be plotted.
    pub of_flow: Option<fn(&FlowRow<'_>) -> Option<f64>>,
    /// Returns its value in the summary of a class, if `tune` can minimize it.
    pub tuned: Option<fn(&Summary) -> Option<f64>>,
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Metric {}

/// The range of fractions.
pub(super) const SHARE: (f64, f64) = (0.0, 1.0);

impl Metric {
    /// Defaults for a dimensionless metric of flows, at least 0. Families override some fields.
    pub(super) const OF_FLOWS: Self = Self {
        name: "",
        meaning: "",
        unit: Unit::One,
        range: (0.0, f64::INFINITY),
        scope: Scope::Flows,
        needs: &[],
        scale: Scale::Absolute,
        eval: |_| Err(Missing::Seed("no value")),
        quotient: None,
        coverage: Coverage::Every,
        arrivals: None,
        over_time: None,
        of_flow: None,
        tuned: None,
    };
}

impl Metric {
    /// Returns what its values are: events if it is a share or a count of them.
    pub fn nature(&self) -> Nature {
        if self.range == SHARE || self.scale == Scale::Events { Nature::Events } else { Nature::Quantity }
    }

    /// Returns the nature of its values in runs of several seeds, which differ or are all the same. A threshold is computed
    /// from a continuous measure, or from the plan.
    pub fn nature_over_seeds(&self, runs: Runs) -> Nature {
        match (runs, self.nature()) {
            (Runs::Same, _) => Nature::Quantity,
            (Runs::Differ, Nature::Quantity) if self.scope != Scope::Thresholds => Nature::Drawn,
            (Runs::Differ, own) => own,
        }
    }

    /// Returns the estimate of its values over seeds whose runs differ.
    pub fn estimate(&self, values: &[f64]) -> Estimate {
        self.estimate_of(values, self.nature_over_seeds(Runs::Differ))
    }

    /// Returns the estimate of values of this nature. Quantities that can be negative have an arithmetic mean.
    pub fn estimate_of(&self, values: &[f64], nature: Nature) -> Estimate {
        let signed = self.range.0 < 0.0;
        let estimate =
            if signed { Estimate::arithmetic(values, nature) } else { Estimate::of(values, nature) };
        estimate.within(self.range)
    }
}

/// Returns both parts of a quotient, or what is missing if one is unknown or the second is not above 0.
pub(super) fn parts(of: Option<f64>, over: Option<f64>, none: Missing) -> Result<(f64, f64), Missing> {
    of.zip(over.filter(|&over| over > 0.0)).ok_or(none)
}

/// Access to stored data besides a run's record.
pub trait StoredData {
    /// Returns the baseline's run of the same point and seed.
    ///
    /// # Errors
    /// Returns the reason if the experiment has no baseline or the run is missing.
    fn baseline(&self) -> Result<&RunRecord, Missing>;

    /// Returns the run of the same point, scheme and seed in which only the groups of this class send.
    ///
    /// # Errors
    /// Returns the reason if no metric of the experiment asks for it or the run is missing.
    fn alone(&self, class: &str) -> Result<&RunRecord, Missing>;

    /// Returns a table of a run.
    ///
    /// # Errors
    /// Returns an error if the table is missing or damaged.
    fn table(&self, run: &RunRecord, table: Table) -> io::Result<Vec<RecordBatch>>;

    /// Returns the `number`-th threshold (from 1) of the run's scheme, as planned.
    fn threshold(&self, ladder: ThresholdSet, number: usize) -> Option<Threshold>;
}

/// The input of a metric's evaluation.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The record of the run.
    pub record: &'a RunRecord,
    /// The second part of the metric's path.
    pub class: &'a str,
    /// The size classes of the experiment.
    pub classes: &'a [SizeClass],
    /// Access to other stored data.
    pub stored: &'a dyn StoredData,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("run", &self.record.run).field("class", &self.class).finish()
    }
}

impl<'a> Context<'a> {
    /// Returns the size class of the metric; `None` for `all` and for scopes other than size classes.
    pub(crate) fn size_class(&self) -> Option<&'a SizeClass> {
        self.classes.iter().find(|class| class.name == self.class)
    }

    /// Returns the name of the class that ratios are relative to.
    pub fn over(&self) -> Option<&'a str> {
        self.size_class()?.over.as_deref()
    }

    /// Whether the metric covers all flows.
    pub(crate) fn is_all(&self) -> bool {
        self.class == ALL
    }

    /// Returns a value of the whole run.
    pub(super) fn of_run(&self, value: impl Fn(&RunRecord) -> Option<f64>) -> Result<f64, Missing> {
        value(self.record).ok_or(Missing::Seed("no value"))
    }
}

/// Converts bits per second to Gbit/s.
pub(super) fn gbps(bps: Option<f64>) -> Option<f64> {
    bps.map(|bps| bps / 1e9)
}

//! A metric as a value: what it is of, what it needs, and how it is found.

use std::io;

use priolane_results::RecordBatch;
use serde::Serialize;

use super::ladder::{DemotionThresholds, Threshold};
use super::{ALL, SizeClass};
use priolane_results::flows::FlowRow;
use priolane_results::record::RunRecord;
use priolane_results::rows::Table;
use priolane_results::summary::Summary;

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// None: a ratio, a share, a count.
    #[serde(rename = "1")]
    One,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Billions of bits per second.
    #[serde(rename = "Gbit/s")]
    Gbps,
}

/// What a metric may be of: the second part of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A size class, `all`, or a single flow, `flowN`.
    Flows,
    /// A size class or `all`.
    Classes,
    /// A size class that states which class its flows ask for.
    Asked,
    /// The whole run: `all`.
    Run,
    /// All flows together: `all`. The text says why no class has a value of its own.
    All(&'static str),
    /// The number of a threshold, from 1.
    Thresholds,
    /// A set of ports.
    Ports,
}

/// What an experiment must state for a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The scheme that gains are relative to.
    Baseline,
    /// The class that the class is `over`.
    Over,
    /// The bottleneck of effective throughput.
    Bottleneck,
    /// How often probabilities of admission are kept.
    Probabilities,
}

/// What values of a published metric mean by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A ratio of two like metrics: a side of 1 is a direction.
    Relative,
    /// A number with a unit of its own.
    Absolute,
}

/// Why a metric has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A run is not there: which.
    Run(String),
    /// No run of the scheme has one: why.
    Scheme(String),
    /// The run of this seed has none: why.
    Seed(&'static str),
    /// The run of this seed and point has none: why.
    Point(&'static str),
    /// It has no value over time.
    OverTime,
    /// There is none: why, in a message that stands alone.
    Other(String),
}

/// A metric over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    /// Length of a bin, in seconds.
    pub every: f64,
    /// By bin; `None` where it has no value.
    pub values: Vec<Option<f64>>,
}

/// How a value is found.
pub(crate) type Eval<T> = fn(&Context<'_>) -> Result<T, Missing>;

/// What can be asked of a run. Two metrics are equal if their names are.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name in paths: `name.class.scheme`.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// Where its values can lie, both ends included.
    pub range: (f64, f64),
    /// What it is of.
    pub scope: Scope,
    /// What the experiment must state.
    pub needs: &'static [Need],
    /// Whether a value of 1 means "no difference".
    pub scale: Scale,
    /// Its value.
    pub eval: Eval<f64>,
    /// Its value over time, if it has one.
    pub over_time: Option<Eval<Bins>>,
    /// Its value for a single flow of a table, if a distribution over flows can be drawn of it.
    pub of_flow: Option<fn(&FlowRow<'_>) -> Option<f64>>,
    /// Its value in the summary of a class, if `tune` can make it least.
    pub tuned: Option<fn(&Summary) -> Option<f64>>,
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Metric {}

/// Shares lie here.
pub(super) const SHARE: (f64, f64) = (0.0, 1.0);

impl Metric {
    /// A number of flows of a class, at 0 or above. Families state what differs.
    pub(super) const OF_FLOWS: Self = Self {
        name: "",
        unit: Unit::One,
        range: (0.0, f64::INFINITY),
        scope: Scope::Flows,
        needs: &[],
        scale: Scale::Absolute,
        eval: |_| Err(Missing::Seed("no value")),
        over_time: None,
        of_flow: None,
        tuned: None,
    };
}

/// What is stored besides a run's record.
pub trait Stored {
    /// The baseline's run of the same point and seed.
    ///
    /// # Errors
    /// The experiment has no baseline, or the run is not there.
    fn baseline(&self) -> Result<&RunRecord, Missing>;

    /// A table of a run.
    ///
    /// # Errors
    /// The table is not there, or not as it was written.
    fn table(&self, run: &RunRecord, table: Table) -> io::Result<Vec<RecordBatch>>;

    /// The `number`-th threshold (from 1) of the run's scheme, as planned.
    fn threshold(&self, ladder: DemotionThresholds, number: usize) -> Option<Threshold>;
}

/// What a metric is evaluated on.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The run.
    pub record: &'a RunRecord,
    /// What the metric is of: the second part of its path.
    pub class: &'a str,
    /// The size classes of the experiment.
    pub classes: &'a [SizeClass],
    /// What else is stored.
    pub stored: &'a dyn Stored,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("run", &self.record.run).field("class", &self.class).finish()
    }
}

impl<'a> Context<'a> {
    /// The size class of the experiment that the metric is of; `None` for `all` and what is no size class.
    pub(crate) fn size_class(&self) -> Option<&'a SizeClass> {
        self.classes.iter().find(|class| class.name == self.class)
    }

    /// The name of the class that ratios are relative to.
    pub fn over(&self) -> Option<&'a str> {
        self.size_class()?.over.as_deref()
    }

    /// Whether the metric is of all flows.
    pub(crate) fn is_all(&self) -> bool {
        self.class == ALL
    }

    /// A value of the run that is of no class.
    pub(super) fn of_run(&self, value: impl Fn(&RunRecord) -> Option<f64>) -> Result<f64, Missing> {
        value(self.record).ok_or(Missing::Seed("no value"))
    }
}

/// Bits per second as Gbit/s.
pub(super) fn gbps(bps: Option<f64>) -> Option<f64> {
    bps.map(|bps| bps / 1e9)
}

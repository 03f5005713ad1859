//! What an experiment wants to know: size classes, claims and panels.

use std::ops::Bound;

use serde_json::Value;

use crate::experiment::{self, Experiment};
pub use crate::experiment::{MetricAt, PanelKind, Source, Way};
use crate::metrics::SizeClass;

/// The part of an experiment that results are judged and drawn by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// Title of the experiment.
    pub title: String,
    /// The paper it reproduces.
    pub paper: Option<String>,
    /// The figure or table of the paper.
    pub figure: Option<String>,
    /// The scheme that gains are relative to.
    pub baseline: Option<String>,
    /// Size classes besides `all`.
    pub classes: Vec<SizeClass>,
    /// What the paper (or the user) says of the results.
    pub claims: Vec<Claim>,
    /// What to draw.
    pub panels: Vec<Panel>,
}

impl Spec {
    /// The part of `experiment` that results are judged and drawn by.
    pub fn of(experiment: &Experiment) -> Self {
        let metrics = &experiment.metrics;
        Self {
            title: experiment.title.clone(),
            paper: experiment.paper.clone(),
            figure: experiment.figure.clone(),
            baseline: metrics.baseline.clone(),
            classes: metrics.classes.iter().map(size_class).collect(),
            claims: experiment.claims.iter().map(Claim::of).collect(),
            panels: experiment.panels.iter().map(Panel::of).collect(),
        }
    }
}

/// A statement about results.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Where it stands: `NOS2 §V-B, Fig. 6c`.
    pub section: String,
    /// What it says, in words.
    pub says: String,
    /// Who says it.
    pub source: Source,
    /// What it says, in metrics.
    pub kind: ClaimKind,
    /// Sweep keys and values that restrict it to some points; empty for all.
    pub at: Vec<(String, Value)>,
}

impl Claim {
    fn of(claim: &experiment::Claim) -> Self {
        let at = claim.at.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let kind = ClaimKind::of(&claim.test);
        Self { section: claim.section.clone(), says: claim.says.clone(), source: claim.source, kind, at }
    }
}

/// What a claim says, in metric paths `quantity.class.scheme`, some perhaps at a point of their own.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimKind {
    /// The metrics decrease in this order.
    Order(Vec<MetricAt>),
    /// The metrics are equal.
    Equal {
        /// Which.
        of: Vec<MetricAt>,
        /// Widest ratio of two of them, less one: 0.1 is ±10 %.
        within: f64,
    },
    /// The metric, or the ratio of two, lies beyond a number, or between two.
    Bound {
        /// The metric, or the numerator.
        of: MetricAt,
        /// The denominator, if it is a ratio.
        over: Option<MetricAt>,
        /// Where.
        range: OpenRange,
    },
    /// The metric, or the ratio of two, is a number of the paper's.
    Ratio {
        /// The metric, or the numerator.
        of: MetricAt,
        /// The denominator, if it is a ratio.
        over: Option<MetricAt>,
        /// The paper's number, above 0.
        paper: f64,
        /// Half width of the band around it, relative: 0.1 is ±10 %.
        within: f64,
    },
    /// The metric agrees, seed by seed, with numbers from elsewhere.
    Agree {
        /// The metric.
        of: String,
        /// The numbers, of seeds 1, 2, ...
        values: Vec<f64>,
        /// Widest ratio of the two, less one: 0.1 is ±10 %.
        within: f64,
    },
    /// The metric goes up or down along a sweep key.
    Trend {
        /// Which.
        of: String,
        /// The sweep key.
        along: String,
        /// Which way.
        goes: Way,
    },
}

impl ClaimKind {
    fn of(test: &experiment::Test) -> Self {
        use experiment::Test;
        match test.clone() {
            Test::Order(of) => Self::Order(of),
            Test::Equal { of, within } => Self::Equal { of, within },
            Test::Bound { of, over, above, below } => {
                Self::Bound { of, over, range: OpenRange { above, below } }
            }
            Test::Ratio { of, over, paper, within } => Self::Ratio { of, over, paper, within },
            Test::Agree { of, values, within } => Self::Agree { of, values, within },
            Test::Trend { of, along, goes } => Self::Trend { of, along, goes },
        }
    }

    /// All metrics it names, in order.
    pub fn metrics(&self) -> Vec<MetricAt> {
        match self {
            Self::Order(of) | Self::Equal { of, .. } => of.clone(),
            Self::Agree { of, .. } | Self::Trend { of, .. } => vec![of.as_str().into()],
            Self::Bound { of, over, .. } | Self::Ratio { of, over, .. } => {
                std::iter::once(of).chain(over).cloned().collect()
            }
        }
    }
}

/// Where a bounded metric must lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpenRange {
    /// Above this.
    pub above: Option<f64>,
    /// Below this.
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

    /// Whether `x` lies in it, ends excluded.
    pub fn contains(self, x: f64) -> bool {
        self.above.is_none_or(|bound| x > bound) && self.below.is_none_or(|bound| x < bound)
    }
}

/// A part of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// How it is drawn.
    pub kind: PanelKind,
    /// The sweep key along x; `None` for bars by metric and for distributions.
    pub x: Option<String>,
    /// `quantity.class` of each mark.
    pub metrics: Vec<String>,
    /// The schemes drawn; empty for all.
    pub schemes: Vec<String>,
    /// Sweep keys and values that restrict it to some points; empty for all.
    pub at: Vec<(String, Value)>,
    /// Labels and scales.
    pub look: Look,
}

impl Panel {
    fn of(panel: &experiment::Panel) -> Self {
        let look = Look {
            x_label: panel.x_label.clone(),
            y_label: panel.y_label.clone(),
            log_y: panel.log_y,
            reference: panel.reference,
        };
        Self {
            title: panel.title.clone(),
            kind: panel.kind,
            x: panel.x.clone(),
            metrics: panel.metrics.clone(),
            schemes: panel.schemes.clone().unwrap_or_default(),
            at: panel.at.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
            look,
        }
    }
}

/// The kind's name in experiment files and reports.
pub fn kind_name(kind: PanelKind) -> &'static str {
    match kind {
        PanelKind::Line => "line",
        PanelKind::Bar => "bar",
        PanelKind::Cdf => "cdf",
    }
}

/// Labels and scales of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Label of the x axis.
    pub x_label: Option<String>,
    /// Label of the y axis.
    pub y_label: Option<String>,
    /// Whether y is logarithmic.
    pub log_y: bool,
    /// Where a horizontal line is drawn.
    pub reference: Option<f64>,
}

/// The size class of an experiment, `from` and `above` (and `to` and `below`) both holding where both are stated.
fn size_class((name, class): &(String, experiment::SizeClass)) -> SizeClass {
    let lower = class.from.max(class.above.map(|x| x.saturating_add(1)));
    let upper = [class.below.map(Bound::Excluded), class.to.map(Bound::Included)];
    let end = |bound: &Bound<u64>| match *bound {
        Bound::Included(x) => (x, 1),
        Bound::Excluded(x) => (x, 0),
        Bound::Unbounded => (u64::MAX, 1),
    };
    SizeClass {
        name: name.clone(),
        lower: lower.map_or(Bound::Unbounded, Bound::Included),
        upper: upper.into_iter().flatten().min_by_key(end).unwrap_or(Bound::Unbounded),
        groups: class.group.clone(),
        cos: class.cos,
        over: class.over.clone(),
        asked: class.asked,
        given: class.given,
    }
}

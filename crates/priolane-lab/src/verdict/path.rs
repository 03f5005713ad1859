//! Metric paths: `quantity.class.scheme`, for example `gain.mice.nos2` or `fct.flow2.dctcp`.

use std::fmt;

use crate::metrics::coflows::CoflowSummary;
use crate::metrics::ports::PortSummary;
use crate::metrics::rates::RateRecord;
use crate::metrics::{ALL, Summary};

/// What is measured of a class of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Mean completion time of the baseline over that of the scheme, same point and seed (NOS2 §V).
    Gain,
    /// Mean completion time, in seconds.
    Fct,
    /// A percentile of completion times, in seconds.
    FctPercentile(Tail),
    /// Standard deviation of completion times over their mean.
    Cv,
    /// Mean slowdown.
    Slowdown,
    /// A percentile of slowdowns.
    SlowdownPercentile(Tail),
    /// Missed deadlines over all that were met or missed.
    DeadlineMissRate,
    /// Met deadlines over all that were met or missed.
    DeadlineMeetRatio,
    /// Mean completion time over that of the class that the class is `over`.
    FctRatio,
    /// Deadlines that could not have been met alone in the network over all that were met or missed.
    DeadlineInfeasibleRate,
    /// Flows given a lower class than they asked for over all.
    Downgraded,
    /// Flows given a higher class than they asked for over all.
    Upgraded,
    /// Of a ladder of thresholds, not of flows.
    Thresholds(Of),
    /// Of flows without end, over time.
    Rates(Rated),
    /// Of coflows.
    Coflows(OfCoflows),
    /// What priorities cost at a port (see `metrics::order`).
    Order(Cost),
    /// Of a set of ports, whose name stands where other quantities have a class.
    Ports(Ported),
}

/// What is asked of coflows (see `metrics::coflows`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfCoflows {
    /// Mean completion time, in seconds.
    Cct,
    /// Its median, in seconds.
    P50,
    /// Its 95th percentile, in seconds.
    P95,
    /// Its 99th percentile, in seconds.
    P99,
    /// Mean completion time of the baseline over that of the scheme, same point and seed.
    Gain,
    /// Mean over coflows of the baseline's completion time over the scheme's.
    SpeedUp,
}

impl OfCoflows {
    /// Whether it needs the baseline.
    pub fn is_relative(self) -> bool {
        matches!(self, Self::Gain | Self::SpeedUp)
    }

    /// Its value in a scheme's summary; `baseline` is the baseline's, which `Gain` needs. `SpeedUp` is of single coflows.
    pub fn of(self, own: &CoflowSummary, baseline: Option<&CoflowSummary>) -> Option<f64> {
        match self {
            Self::Cct => own.mean_cct_s,
            Self::P50 => own.p50_cct_s,
            Self::P95 => own.p95_cct_s,
            Self::P99 => own.p99_cct_s,
            Self::Gain => Some(baseline?.mean_cct_s? / own.mean_cct_s.filter(|&cct| cct > 0.0)?),
            Self::SpeedUp => None,
        }
    }
}

/// A cost of priorities at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The part of the line that lower classes take while a higher one is backlogged.
    Taken,
    /// The part of the line that is idle while a class is backlogged.
    Idle,
}

/// What is asked of a set of ports (see `metrics::ports`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ported {
    /// Mean time that a packet waits at a port, in seconds.
    Wait,
    /// Packets dropped over packets offered.
    DropRate,
    /// Bytes sent over what the lines carry, mean over ports.
    Utilization,
    /// The same of the port with most.
    Busiest,
}

impl Ported {
    /// Its value for a set.
    pub fn of(self, set: &PortSummary) -> Option<f64> {
        match self {
            Self::Wait => set.wait_s,
            Self::DropRate => set.drop_rate,
            Self::Utilization => set.utilization,
            Self::Busiest => set.busiest,
        }
    }
}

/// What is asked of flows without end (see `metrics::rates`). Rates are payload in Gbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rated {
    /// Mean rate of a flow.
    Rate,
    /// The same over that of the class that the class is `over`.
    Ratio,
    /// Mean over hosts of the sum of a host's flows.
    Host,
    /// Jain's index of flows.
    Jain,
    /// Fraction of (flow, bin) below the flow's minimum rate.
    BelowTheta,
    /// Mean of what the optimum promises.
    Promised,
    /// Mean rate over what the optimum promises.
    OfPromised,
    /// Sum of weighted utilities over the optimum's; of all flows.
    Utility,
}

impl Rated {
    /// Its value for `class`; `over` is the class that it is relative to.
    pub fn of(self, record: &RateRecord, class: &str, over: Option<&str>) -> Option<f64> {
        let own = record.classes.get(class)?;
        match self {
            Self::Rate => gbps(own.mean),
            Self::Ratio => Some(own.mean? / record.classes.get(over?)?.mean.filter(|&mean| mean > 0.0)?),
            Self::Host => gbps(own.host_mean),
            Self::Jain => own.jain,
            Self::BelowTheta => own.below_theta,
            Self::Promised => gbps(own.promised),
            Self::OfPromised => Some(own.mean? / own.promised?),
            Self::Utility => record.mean_utility().filter(|_| class == ALL),
        }
    }

    /// Its values by bin, where it has any.
    pub fn over_time(self, record: &RateRecord, class: &str) -> Option<Vec<Option<f64>>> {
        match self {
            Self::Rate => Some(record.classes.get(class)?.rates.iter().map(|&rate| gbps(rate)).collect()),
            Self::Utility if class == ALL => Some(record.utility.clone()),
            _ => None,
        }
    }
}

/// What is asked of a threshold; its number, from 1, stands where other quantities have a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The threshold of classes, in bytes: the controller's last one up to the end of the measured window, or else
    /// that of the start.
    Class,
    /// The threshold inside hosts, in bytes, likewise; none where each host finds its own.
    Host,
    /// Periods of the controller, from the start of the measured window, after which the threshold of classes stays
    /// within 10 % of where it is at the window's end (docs/assumptions.md#settling).
    Settling,
}

fn gbps(bps: Option<f64>) -> Option<f64> {
    bps.map(|bps| bps / 1e9)
}

/// A percentile that summaries hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Median.
    P50,
    /// 95th.
    P95,
    /// 99th.
    P99,
    /// 99.9th.
    P999,
}

const QUANTITIES: [(&str, Quantity); 41] = [
    ("gain", Quantity::Gain),
    ("fct", Quantity::Fct),
    ("fct_p50", Quantity::FctPercentile(Tail::P50)),
    ("fct_p95", Quantity::FctPercentile(Tail::P95)),
    ("fct_p99", Quantity::FctPercentile(Tail::P99)),
    ("fct_p999", Quantity::FctPercentile(Tail::P999)),
    ("cv", Quantity::Cv),
    ("slowdown", Quantity::Slowdown),
    ("slowdown_p50", Quantity::SlowdownPercentile(Tail::P50)),
    ("slowdown_p95", Quantity::SlowdownPercentile(Tail::P95)),
    ("slowdown_p99", Quantity::SlowdownPercentile(Tail::P99)),
    ("slowdown_p999", Quantity::SlowdownPercentile(Tail::P999)),
    ("deadline_miss_rate", Quantity::DeadlineMissRate),
    ("deadline_meet_ratio", Quantity::DeadlineMeetRatio),
    ("deadline_infeasible_rate", Quantity::DeadlineInfeasibleRate),
    ("downgraded", Quantity::Downgraded),
    ("upgraded", Quantity::Upgraded),
    ("class_threshold", Quantity::Thresholds(Of::Class)),
    ("host_threshold", Quantity::Thresholds(Of::Host)),
    ("class_threshold_settling", Quantity::Thresholds(Of::Settling)),
    ("fct_ratio", Quantity::FctRatio),
    ("rate", Quantity::Rates(Rated::Rate)),
    ("rate_ratio", Quantity::Rates(Rated::Ratio)),
    ("host_rate", Quantity::Rates(Rated::Host)),
    ("jain", Quantity::Rates(Rated::Jain)),
    ("below_theta", Quantity::Rates(Rated::BelowTheta)),
    ("promised_rate", Quantity::Rates(Rated::Promised)),
    ("rate_of_promised", Quantity::Rates(Rated::OfPromised)),
    ("utility", Quantity::Rates(Rated::Utility)),
    ("cct", Quantity::Coflows(OfCoflows::Cct)),
    ("cct_p50", Quantity::Coflows(OfCoflows::P50)),
    ("cct_p95", Quantity::Coflows(OfCoflows::P95)),
    ("cct_p99", Quantity::Coflows(OfCoflows::P99)),
    ("cct_gain", Quantity::Coflows(OfCoflows::Gain)),
    ("coflow_speedup", Quantity::Coflows(OfCoflows::SpeedUp)),
    ("o1", Quantity::Order(Cost::Taken)),
    ("o2", Quantity::Order(Cost::Idle)),
    ("port_wait", Quantity::Ports(Ported::Wait)),
    ("port_drop_rate", Quantity::Ports(Ported::DropRate)),
    ("port_utilization", Quantity::Ports(Ported::Utilization)),
    ("port_busiest", Quantity::Ports(Ported::Busiest)),
];

impl Quantity {
    /// The quantity of that name.
    pub fn named(name: &str) -> Option<Self> {
        QUANTITIES.iter().find(|(n, _)| *n == name).map(|&(_, quantity)| quantity)
    }

    /// Names of all quantities, for messages.
    pub fn names() -> impl Iterator<Item = &'static str> {
        QUANTITIES.iter().map(|&(name, _)| name)
    }

    /// The quantity's name.
    pub fn name(self) -> &'static str {
        QUANTITIES.iter().find(|&&(_, q)| q == self).map_or("", |&(name, _)| name)
    }

    /// Its value in a scheme's summary, which has none of thresholds, rates, coflows and ports; `baseline` is the baseline's for the
    /// same point, seed and class, which `Gain` needs, or that of the class it is `over`, which `FctRatio` needs.
    pub fn of(self, summary: &Summary, baseline: Option<&Summary>) -> Option<f64> {
        match self {
            Self::Gain => {
                let own = summary.mean_fct_s.filter(|&fct| fct > 0.0)?;
                Some(baseline?.mean_fct_s? / own)
            }
            Self::FctRatio => {
                let other = baseline?.mean_fct_s.filter(|&fct| fct > 0.0)?;
                Some(summary.mean_fct_s? / other)
            }
            Self::Fct => summary.mean_fct_s,
            Self::FctPercentile(Tail::P50) => summary.p50_fct_s,
            Self::FctPercentile(Tail::P95) => summary.p95_fct_s,
            Self::FctPercentile(Tail::P99) => summary.p99_fct_s,
            Self::FctPercentile(Tail::P999) => summary.p999_fct_s,
            Self::Cv => summary.cv,
            Self::Slowdown => summary.mean_slowdown,
            Self::SlowdownPercentile(Tail::P50) => summary.p50_slowdown,
            Self::SlowdownPercentile(Tail::P95) => summary.p95_slowdown,
            Self::SlowdownPercentile(Tail::P99) => summary.p99_slowdown,
            Self::SlowdownPercentile(Tail::P999) => summary.p999_slowdown,
            Self::DeadlineMissRate => summary.deadline_miss_rate,
            Self::DeadlineMeetRatio => summary.deadline_meet_ratio,
            Self::DeadlineInfeasibleRate => summary.deadline_infeasible_rate,
            Self::Downgraded => summary.downgraded,
            Self::Upgraded => summary.upgraded,
            Self::Thresholds(_) | Self::Rates(_) | Self::Coflows(_) | Self::Order(_) | Self::Ports(_) => None,
        }
    }
}

/// A quantity of a class under every scheme: `gain.mice`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// What is measured.
    pub quantity: Quantity,
    /// Of which flows: a size class, `all`, or `flowN`; of thresholds the number, from 1.
    pub class: String,
}

impl Measure {
    /// Reads `quantity.class`; an error says what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (quantity, class) = text
            .split_once('.')
            .filter(|(_, class)| !class.is_empty())
            .ok_or_else(|| format!("metric `{text}` is not of the form quantity.class"))?;
        let quantity = Quantity::named(quantity).ok_or_else(|| {
            let known: Vec<&str> = Quantity::names().collect();
            format!("metric `{text}`: no quantity `{quantity}`; there are {}", known.join(", "))
        })?;
        Ok(Self { quantity, class: class.to_owned() })
    }
}

/// A quantity of a class under one scheme: `gain.mice.nos2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricPath {
    /// What is measured, of which flows.
    pub measure: Measure,
    /// Under which scheme.
    pub scheme: String,
}

impl MetricPath {
    /// Reads `quantity.class.scheme`; the scheme may contain dots. An error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("metric `{text}` is not of the form quantity.class.scheme");
        let mut parts = text.splitn(3, '.');
        let (quantity, class) = parts.next().zip(parts.next()).ok_or_else(wrong)?;
        let scheme = parts.next().filter(|s| !s.is_empty()).ok_or_else(wrong)?;
        let measure = Measure::parse(&format!("{quantity}.{class}"))?;
        Ok(Self { measure, scheme: scheme.to_owned() })
    }
}

impl fmt::Display for MetricPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.measure.quantity.name(), self.measure.class, self.scheme)
    }
}

/// The flow that a class `flowN` names.
pub(super) fn single_flow(class: &str) -> Option<u32> {
    let digits = class.strip_prefix("flow")?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The number of the threshold that a class names, 1 to 15.
pub fn threshold_number(class: &str) -> Option<usize> {
    let plain = !class.starts_with('0') && class.bytes().all(|b| b.is_ascii_digit());
    class.parse().ok().filter(|number| plain && (1..=15).contains(number))
}

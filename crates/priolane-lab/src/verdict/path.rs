//! Metric paths: `quantity.class.scheme`, for example `gain.mice.nos2` or `fct.flow2.dctcp`.

use std::fmt;

use super::rules::{self, BySeed};
use crate::metrics::interval::{Interval, half_width};
use crate::metrics::{ALL, rates};
use crate::results::admission::{Keys, Settling};
use crate::results::record::RunRecord;
use crate::results::summary::{
    CoflowSummary, EffectiveRecord, OrderRecord, PortSummary, RateRecord, Summary,
};
use crate::results::tokens::TokenRecord;

/// What is measured of a class of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Mean completion time of the baseline over that of the scheme, same point and seed (NOS2 §V).
    Gain,
    /// Mean completion time, in seconds.
    Fct,
    /// Mean time from a flow's start to the last acknowledgement at its sender, in seconds.
    FctAcked,
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
    /// What no scheme's mean completion time can be below, in seconds (see `metrics::bound`).
    FctBound,
    /// Mean completion time over that.
    FctOverBound,
    /// Deadlines that could not have been met alone in the network over all that were met or missed.
    DeadlineInfeasibleRate,
    /// Jain's index over sources of the part of deadlines that each met.
    DeadlineJain,
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
    /// Of timely flows at the declared bottleneck (see `metrics::effective`).
    Effective(Timely),
    /// Half of the 95 % interval of the part of deadlines missed.
    DeadlineMissHalfWidth,
    /// Of admission's probabilities: how they settled.
    Settling(Settles),
    /// How many updates they had, and how far they still moved.
    Keys(Kept),
    /// Their mean over the keys of the class asked for.
    Probability,
    /// What priorities cost at a port (see `metrics::order`).
    Order(Cost),
    /// Of a set of ports, whose name stands where other quantities have a class.
    Ports(Ported),
    /// Of tokens, of all flows.
    Tokens(Tokened),
    /// Time that a packet of payload waited at switches on its way, mean, in seconds; of all flows.
    DataWait,
    /// Bytes dropped or cut off at ports over bytes given to the network, tokens aside; of all flows.
    Loss,
    /// Payload that arrived at all hosts together while flows started, in Gbit/s; of all flows.
    Throughput,
}

/// What is asked of tokens (see `results::tokens`), as parts of those sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokened {
    /// Those that sent a packet.
    Used,
    /// Those that found nothing to send.
    Wasted,
    /// Those that found a queue full.
    Dropped,
    /// Those that were too old, at ports or at senders.
    Expired,
    /// Bytes of tokens over all bytes that ports sent.
    WireShare,
}

impl Tokened {
    /// Its value for a run.
    pub fn of(self, tokens: &TokenRecord) -> Option<f64> {
        match self {
            Self::Used => tokens.share(tokens.used),
            Self::Wasted => tokens.share(tokens.wasted),
            Self::Dropped => tokens.share(tokens.dropped),
            Self::Expired => tokens.share(tokens.expired_at_hosts + tokens.expired_at_ports),
            Self::WireShare => tokens.wire_share,
        }
    }
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
    /// How many finished.
    Finished,
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
            Self::Finished => Some(own.coflows.saturating_sub(own.unfinished) as f64),
        }
    }
}

/// What is asked of effective throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timely {
    /// Its mean over the second half of the measured window, in Gbit/s.
    Rate,
    /// The same over what the bottleneck carries.
    Share,
    /// Round trips of the empty network from the start of the window until it has settled.
    Settling,
}

impl Timely {
    /// Its value for `class`.
    pub fn of(self, record: &EffectiveRecord, class: &str) -> Option<f64> {
        let own = record.classes.get(class)?;
        match self {
            Self::Rate => gbps(own.end),
            Self::Share => Some(own.end? / record.capacity_bps),
            Self::Settling => Some(own.settled? as f64 * record.every_s / record.rtt_s),
        }
    }

    /// Its values by bin, where it has any.
    pub fn over_time(self, record: &EffectiveRecord, class: &str) -> Option<Vec<Option<f64>>> {
        let bins = &record.classes.get(class)?.bins;
        (self == Self::Rate).then(|| bins.iter().map(|&bps| gbps(Some(bps))).collect())
    }
}

/// What is asked of how quickly probabilities settle: the median of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settles {
    /// Round trips of the empty network from the first update to the last outside the band.
    Rtts,
    /// Updates until then.
    Updates,
    /// The part that has settled.
    Part,
}

impl Settles {
    /// Its value.
    pub fn of(self, settling: &Settling) -> f64 {
        match self {
            Self::Rtts => settling.p50_rtts,
            Self::Updates => settling.p50_updates as f64,
            Self::Part => settling.settled as f64 / settling.keys as f64,
        }
    }
}

/// What is asked of the probabilities of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The fewest updates of one.
    Updates,
    /// The median of updates.
    MedianUpdates,
    /// The largest difference between one in the end and about half of its updates before.
    Drift,
}

impl Kept {
    /// Its value.
    pub fn of(self, keys: &Keys) -> f64 {
        match self {
            Self::Updates => keys.fewest_updates as f64,
            Self::MedianUpdates => keys.median_updates as f64,
            Self::Drift => keys.largest_drift,
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
    /// What 99 % of the readings of its queue do not exceed, in bytes.
    QueueP99,
    /// The most of these.
    QueueMax,
}

impl Cost {
    /// Its value at a port.
    pub fn of(self, port: &OrderRecord) -> Option<f64> {
        match self {
            Self::Taken => port.o1,
            Self::Idle => port.o2,
            Self::QueueP99 => port.queue_p99_bytes.map(|bytes| bytes as f64),
            Self::QueueMax => port.queue_max_bytes.map(|bytes| bytes as f64),
        }
    }
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
    /// The most bytes of payload that waited at once at one port.
    MaxQueue,
    /// What waits at most at one port where tokens call for data, in bytes.
    QueueBound,
    /// The largest part of its own bound that waited at once at a port.
    QueueOfBound,
}

impl Ported {
    /// Its value for a set.
    pub fn of(self, set: &PortSummary) -> Option<f64> {
        match self {
            Self::Wait => set.wait_s,
            Self::DropRate => set.drop_rate,
            Self::Utilization => set.utilization,
            Self::Busiest => set.busiest,
            Self::MaxQueue => set.max_queue_bytes.map(|bytes| bytes as f64),
            Self::QueueBound => set.queue_bound_bytes.map(|bytes| bytes as f64),
            Self::QueueOfBound => set.queue_of_bound,
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
            Self::Utility => rates::mean_utility(record).filter(|_| class == ALL),
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

const QUANTITIES: [(&str, Quantity); 70] = [
    ("gain", Quantity::Gain),
    ("fct", Quantity::Fct),
    ("fct_acked", Quantity::FctAcked),
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
    ("deadline_jain", Quantity::DeadlineJain),
    ("deadline_miss_half_width", Quantity::DeadlineMissHalfWidth),
    ("downgraded", Quantity::Downgraded),
    ("upgraded", Quantity::Upgraded),
    ("class_threshold", Quantity::Thresholds(Of::Class)),
    ("host_threshold", Quantity::Thresholds(Of::Host)),
    ("class_threshold_settling", Quantity::Thresholds(Of::Settling)),
    ("fct_ratio", Quantity::FctRatio),
    ("fct_bound", Quantity::FctBound),
    ("fct_over_bound", Quantity::FctOverBound),
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
    ("coflows_finished", Quantity::Coflows(OfCoflows::Finished)),
    ("effective_rate", Quantity::Effective(Timely::Rate)),
    ("effective_share", Quantity::Effective(Timely::Share)),
    ("effective_settling", Quantity::Effective(Timely::Settling)),
    ("p_settling", Quantity::Settling(Settles::Rtts)),
    ("p_settling_updates", Quantity::Settling(Settles::Updates)),
    ("p_settled", Quantity::Settling(Settles::Part)),
    ("p_updates", Quantity::Keys(Kept::Updates)),
    ("p_updates_p50", Quantity::Keys(Kept::MedianUpdates)),
    ("p_drift", Quantity::Keys(Kept::Drift)),
    ("p_admit", Quantity::Probability),
    ("o1", Quantity::Order(Cost::Taken)),
    ("o2", Quantity::Order(Cost::Idle)),
    ("queue_p99", Quantity::Order(Cost::QueueP99)),
    ("queue_max", Quantity::Order(Cost::QueueMax)),
    ("port_wait", Quantity::Ports(Ported::Wait)),
    ("port_drop_rate", Quantity::Ports(Ported::DropRate)),
    ("port_utilization", Quantity::Ports(Ported::Utilization)),
    ("port_busiest", Quantity::Ports(Ported::Busiest)),
    ("port_max_queue", Quantity::Ports(Ported::MaxQueue)),
    ("port_queue_bound", Quantity::Ports(Ported::QueueBound)),
    ("port_queue_of_bound", Quantity::Ports(Ported::QueueOfBound)),
    ("token_used", Quantity::Tokens(Tokened::Used)),
    ("token_wasted", Quantity::Tokens(Tokened::Wasted)),
    ("token_dropped", Quantity::Tokens(Tokened::Dropped)),
    ("token_expired", Quantity::Tokens(Tokened::Expired)),
    ("token_wire_share", Quantity::Tokens(Tokened::WireShare)),
    ("data_wait", Quantity::DataWait),
    ("throughput", Quantity::Throughput),
    ("loss", Quantity::Loss),
];

impl Quantity {
    /// The quantity of that name.
    pub fn named(name: &str) -> Option<Self> {
        QUANTITIES.iter().find(|(n, _)| *n == name).map(|&(_, quantity)| quantity)
    }

    /// Where its values can lie, both ends included: shares in 0 to 1, whatever else is measured at 0 or above, and only a
    /// utility, a logarithm, anywhere.
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::Rates(Rated::Utility) => (f64::NEG_INFINITY, f64::INFINITY),
            Self::DeadlineMissRate
            | Self::DeadlineMeetRatio
            | Self::DeadlineInfeasibleRate
            | Self::DeadlineJain
            | Self::Downgraded
            | Self::Upgraded
            | Self::Effective(Timely::Share)
            | Self::Settling(Settles::Part)
            | Self::Rates(Rated::Jain)
            | Self::Ports(Ported::DropRate)
            | Self::Tokens(_)
            | Self::Loss => (0.0, 1.0),
            _ => (0.0, f64::INFINITY),
        }
    }

    /// Mean and interval of its values by seed: one over few seeds knows nothing of where values end.
    pub fn interval(self, values: &BySeed) -> Interval {
        let (least, most) = self.range();
        Interval::of(&rules::values(values)).map(|x| x.clamp(least, most))
    }

    /// Its value for a whole run, where it is one of no class of flows; `None` for others.
    pub fn of_run(self, record: &RunRecord) -> Option<Option<f64>> {
        match self {
            Self::Tokens(of) => Some(record.tokens.as_ref().and_then(|tokens| of.of(tokens))),
            Self::DataWait => Some(record.received.wait_s),
            Self::Loss => Some(record.received.loss),
            Self::Throughput => Some(gbps(record.received.throughput_bps)),
            _ => None,
        }
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
            Self::FctAcked => summary.mean_fct_acked_s,
            Self::FctBound => summary.mean_fct_bound_s,
            Self::FctOverBound => {
                let bound = summary.mean_fct_bound_s.filter(|&bound| bound > 0.0)?;
                Some(summary.mean_fct_s? / bound)
            }
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
            Self::DeadlineJain => summary.deadline_jain,
            Self::DeadlineMissHalfWidth => half_width(summary.deadlines_missed, summary.deadlines_met),
            Self::Downgraded => summary.downgraded,
            Self::Upgraded => summary.upgraded,
            Self::Thresholds(_)
            | Self::Rates(_)
            | Self::Coflows(_)
            | Self::Order(_)
            | Self::Ports(_)
            | Self::Effective(_)
            | Self::Settling(_)
            | Self::Keys(_)
            | Self::Probability
            | Self::Tokens(_)
            | Self::DataWait
            | Self::Throughput
            | Self::Loss => None,
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

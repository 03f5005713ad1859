//! What `run.json` says of a run in numbers: by size class of flows and coflows, by set of ports, over time.
//! `metrics` computes them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the measured flows of one size class add up to. Values are null where no flow has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Measured finite flows of the class, finished or not.
    pub flows: u64,
    /// Those that did not finish: they are in none of the values below but the deadline counts.
    pub unfinished: u64,
    /// Mean completion time, in seconds.
    pub mean_fct_s: Option<f64>,
    /// Standard deviation of completion times (docs/assumptions.md#population-std), in seconds.
    pub std_fct_s: Option<f64>,
    /// `std_fct_s / mean_fct_s`.
    pub cv: Option<f64>,
    /// Median completion time, in seconds.
    pub p50_fct_s: Option<f64>,
    /// 95th percentile of completion times, in seconds.
    pub p95_fct_s: Option<f64>,
    /// 99th percentile of completion times, in seconds.
    pub p99_fct_s: Option<f64>,
    /// 99.9th percentile of completion times, in seconds.
    pub p999_fct_s: Option<f64>,
    /// Mean time from a flow's start to the last acknowledgement at its sender, in seconds.
    #[serde(default)]
    pub mean_fct_acked_s: Option<f64>,
    /// No scheme can give the flows that finished a mean completion time below this (see `metrics::bound`), in seconds.
    #[serde(default)]
    pub mean_fct_bound_s: Option<f64>,
    /// Mean slowdown.
    pub mean_slowdown: Option<f64>,
    /// Median slowdown.
    pub p50_slowdown: Option<f64>,
    /// 95th percentile of slowdowns.
    pub p95_slowdown: Option<f64>,
    /// 99th percentile of slowdowns.
    pub p99_slowdown: Option<f64>,
    /// 99.9th percentile of slowdowns.
    pub p999_slowdown: Option<f64>,
    /// Flows that met their deadline.
    pub deadlines_met: u64,
    /// Flows that missed their deadline, unfinished ones whose deadline has passed included.
    pub deadlines_missed: u64,
    /// Unfinished flows whose deadline lies after the end of the run: neither met nor missed.
    pub deadlines_censored: u64,
    /// Missed over met and missed.
    pub deadline_miss_rate: Option<f64>,
    /// Met over met and missed.
    pub deadline_meet_ratio: Option<f64>,
    /// Of the flows met or missed, the part that could not have met its deadline alone in the network.
    #[serde(default)]
    pub deadline_infeasible_rate: Option<f64>,
    /// Jain's index, over the hosts that sent flows met or missed, of the part that each met; null where none met any.
    #[serde(default)]
    pub deadline_jain: Option<f64>,
    /// The part of the flows that was given a lower class than it asked for.
    #[serde(default)]
    pub downgraded: Option<f64>,
    /// The part of the flows that was given a higher class than it asked for.
    #[serde(default)]
    pub upgraded: Option<f64>,
}

/// What the measured coflows of a class add up to. Values are null where no coflow has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoflowSummary {
    /// Measured coflows of the class, finished or not.
    pub coflows: u64,
    /// Those that did not finish: they are in none of the values below.
    pub unfinished: u64,
    /// Mean coflow completion time, in seconds.
    pub mean_cct_s: Option<f64>,
    /// Its median, in seconds.
    pub p50_cct_s: Option<f64>,
    /// Its 95th percentile, in seconds.
    pub p95_cct_s: Option<f64>,
    /// Its 99th percentile, in seconds.
    pub p99_cct_s: Option<f64>,
}

/// A set of ports by where their lines begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortSet {
    /// Hosts' own, where they send.
    Hosts,
    /// Of switches towards hosts.
    Edge,
    /// Between switches.
    Core,
    /// All of switches.
    Switches,
}

impl PortSet {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Hosts, Self::Edge, Self::Core, Self::Switches];

    /// The name in metrics and `run.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Edge => "edge",
            Self::Core => "core",
            Self::Switches => "switches",
        }
    }

    /// The set of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }
}

/// A set of ports over a whole run, its warm-up and end included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortSummary {
    /// Ports of the set, whether a packet came or not.
    pub ports: u64,
    /// Packets served.
    pub packets: u64,
    /// Packets dropped for want of room.
    pub dropped: u64,
    /// Mean time of a packet from its arrival at a port to the start of its service, in seconds; null without packets.
    pub wait_s: Option<f64>,
    /// Dropped over served and dropped; null without packets.
    pub drop_rate: Option<f64>,
    /// Bytes served over what the lines could have carried, mean over ports; null where there is no port.
    pub utilization: Option<f64>,
    /// The same of the port with most.
    pub busiest: Option<f64>,
    /// The most bytes that waited at once in the queues of payload of one port; null at hosts, where it is not asked.
    #[serde(default)]
    pub max_queue_bytes: Option<u64>,
    /// What waits at most at one port where tokens call for data, signals aside (docs/assumptions.md#token-buffer); null
    /// without such ports.
    #[serde(default)]
    pub queue_bound_bytes: Option<u64>,
    /// The largest part of its own bound that waited at once at a port.
    #[serde(default)]
    pub queue_of_bound: Option<f64>,
}

/// Rates of a run. Rates are payload in bits per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateRecord {
    /// Length of a bin, in seconds; the first begins with the run.
    pub every_s: f64,
    /// The first bin inside the measured window.
    pub first: usize,
    /// The bin after the last inside it.
    pub end: usize,
    /// By class: `all` and the classes of `[metrics]`.
    pub classes: BTreeMap<String, ClassRates>,
    /// By bin: the sum of utilities relative to the optimum; null where a flow has no rate.
    pub utility: Vec<Option<f64>>,
    /// What the optimum is, where there is one.
    pub optimum: Option<OptimumRecord>,
}

/// The optimum's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimumRecord {
    /// V, the largest sum of weighted utilities, of rates in packets per second.
    pub value: f64,
    /// How far below the best V may be, by weak duality.
    pub gap: f64,
    /// Ports whose minimum rates do not fit.
    pub overbooked: usize,
}

/// Rates of a class of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassRates {
    /// Flows without end of the class.
    pub flows: u64,
    /// Hosts that send them.
    pub hosts: u64,
    /// By bin: mean rate of a flow.
    pub rates: Vec<Option<f64>>,
    /// Mean rate of a flow.
    pub mean: Option<f64>,
    /// Sum of the rates of a host's flows, averaged over hosts.
    pub host_mean: Option<f64>,
    /// Jain's index of the flows' mean rates: (sum x)^2 / (n sum x^2).
    pub jain: Option<f64>,
    /// Fraction of (flow, bin) whose rate is below the flow's minimum rate; null where no flow has one.
    pub below_theta: Option<f64>,
    /// Mean of what the optimum promises (weighted max-min with minima).
    pub promised: Option<f64>,
    /// Mean of the rates that maximize the sum of utilities.
    pub best: Option<f64>,
    /// Mean of the rates with equal weights and no minima.
    #[serde(default)]
    pub equal: Option<f64>,
    /// 1 - sum |mean - best| / sum |equal - best| over the flows of the class; null where best and equal are the same.
    #[serde(default)]
    pub gap_closed: Option<f64>,
}

/// Effective throughput of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectiveRecord {
    /// Length of a bin, in seconds.
    pub every_s: f64,
    /// What the bottleneck carries, in bits per second.
    pub capacity_bps: f64,
    /// The round trip of a packet of one byte between the first and the last host of the empty network, in seconds.
    pub rtt_s: f64,
    /// By class: `all` and the classes of `[metrics]`.
    pub classes: BTreeMap<String, ClassThroughput>,
}

/// Effective throughput of a class of flows, in bits per second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassThroughput {
    /// By bin.
    pub bins: Vec<f64>,
    /// The mean of the second half of the bins.
    pub end: Option<f64>,
    /// The bin from which on it is settled; null if it is not by the end, or nothing met a deadline.
    pub settled: Option<usize>,
}

/// What priorities cost at a port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// The port.
    pub port: String,
    /// Bins in which two classes were backlogged.
    pub contended: u64,
    /// Part of the line that classes below the best backlogged one took in these; null without such a bin.
    pub o1: Option<f64>,
    /// Bins in which a class was backlogged.
    pub wanted: u64,
    /// Part of the line that was idle in these; null without such a bin.
    pub o2: Option<f64>,
    /// What 99 % of the readings of the window did not exceed, in bytes queued; null without a reading.
    #[serde(default)]
    pub queue_p99_bytes: Option<u64>,
    /// The most of these.
    #[serde(default)]
    pub queue_max_bytes: Option<u64>,
}

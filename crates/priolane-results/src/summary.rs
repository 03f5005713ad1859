//! Numerical results in `run.json`: by size class of flows and coflows, by set of ports, over time. `metrics` computes
//! them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Summary of the measured flows of one size class. Values are null if no flow has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Measured finite flows of the class, finished or not.
    pub flows: u64,
    /// Flows that did not finish: they count in the deadline counts below and in means by Little's law, but in no other
    /// value.
    pub unfinished: u64,
    /// Mean completion time, in seconds; if arrivals continue, by Little's law (`steady`), as are the standard deviation
    /// and the mean slowdown.
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
    /// Lower bound, for any scheme, of the mean completion time of the finished flows (see `metrics::bound`), in
    /// seconds.
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
    /// Flows that missed their deadline, including unfinished ones whose deadline has passed.
    pub deadlines_missed: u64,
    /// Unfinished flows whose deadline is after the end of the run: neither met nor missed.
    pub deadlines_censored: u64,
    /// Missed over the sum of met and missed.
    pub deadline_miss_rate: Option<f64>,
    /// Met over the sum of met and missed.
    pub deadline_meet_ratio: Option<f64>,
    /// Fraction of the flows met or missed that could not have met their deadline alone in the network.
    #[serde(default)]
    pub deadline_infeasible_rate: Option<f64>,
    /// Jain's index, over the hosts that sent flows met or missed, of the fraction that each met; null if none met
    /// any.
    #[serde(default)]
    pub deadline_jain: Option<f64>,
    /// Fraction of the flows with a lower class than requested.
    #[serde(default)]
    pub downgraded: Option<f64>,
    /// Fraction of the flows with a higher class than requested.
    #[serde(default)]
    pub upgraded: Option<f64>,
    /// Payload of the flows that finished over the sum of their completion times, in bits per second; null without one.
    #[serde(default)]
    pub goodput_bps: Option<f64>,
    /// Payload of the flows over the time from the start of the first to the end of the last, in bits per second; null if
    /// one did not finish, or without flows.
    #[serde(default)]
    pub delivery_bps: Option<f64>,
    /// Part of the time of the measured flows after the measured window, in which no flow starts; null if arrivals
    /// continue, without a window, or if none finished.
    #[serde(default)]
    pub after_stop: Option<f64>,
    /// Retransmission timeouts of the flows of the class that ended at their sender; null in records of versions that did
    /// not count them.
    #[serde(default)]
    pub timeouts: Option<u64>,
    /// Timeouts of these flows that waited for `initial_rto`, as their round-trip time was not measured yet; 0 for
    /// transports without that key, null where nobody counted them.
    #[serde(default)]
    pub initial_timeouts: Option<u64>,
    /// Timeouts of these flows after which the reply to the original packet arrived: the packet was late and not lost
    /// (Eifel detection, RFC 3522). For transports without such replies (pHost, NDP, Homa and token transports), packets
    /// that arrived although the receiver already had them. Null where nobody counted them.
    #[serde(default)]
    pub spurious_timeouts: Option<u64>,
    /// The part of the flows that had a timeout; null without flows.
    #[serde(default)]
    pub timed_out: Option<f64>,
    /// Of the flows whose completion time is at least `p99_fct_s`, the part that waited for a timeout, one that was not spurious; null
    /// if none finished.
    #[serde(default)]
    pub tail_timed_out: Option<f64>,
    /// Completion times of the flows that waited for a timeout, over the sum of all; null if none finished.
    #[serde(default)]
    pub timed_out_fct_share: Option<f64>,
    /// Median completion time of the flows that waited for a timeout, in seconds; null if none of these finished.
    #[serde(default)]
    pub timed_out_p50_fct_s: Option<f64>,
}

impl Summary {
    /// The members that count flows, deadlines or timeouts.
    pub const COUNTS: [&'static str; 8] = [
        "flows",
        "unfinished",
        "deadlines_met",
        "deadlines_missed",
        "deadlines_censored",
        "timeouts",
        "initial_timeouts",
        "spurious_timeouts",
    ];
}

/// Summary of the measured coflows of a class. Values are null if no coflow has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoflowSummary {
    /// Measured coflows of the class, finished or not.
    pub coflows: u64,
    /// Coflows that did not finish: they count in none of the values below.
    pub unfinished: u64,
    /// Mean coflow completion time, in seconds.
    pub mean_cct_s: Option<f64>,
    /// Median, in seconds.
    pub p50_cct_s: Option<f64>,
    /// 95th percentile, in seconds.
    pub p95_cct_s: Option<f64>,
    /// 99th percentile, in seconds.
    pub p99_cct_s: Option<f64>,
}

impl CoflowSummary {
    /// Returns the number of measured coflows that finished.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.coflows.saturating_sub(self.unfinished)
    }
}

/// A set of ports, by the ends of their links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortSet {
    /// Ports of hosts.
    Hosts,
    /// Ports of switches towards hosts.
    Edge,
    /// Ports between switches.
    Core,
    /// All ports of switches.
    Switches,
}

impl PortSet {
    /// All sets.
    pub const ALL: [Self; 4] = [Self::Hosts, Self::Edge, Self::Core, Self::Switches];

    /// Returns the name in metrics and `run.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Edge => "edge",
            Self::Core => "core",
            Self::Switches => "switches",
        }
    }

    /// Returns the set with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }
}

/// Summary of a set of ports over a whole run, including warm-up and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortSummary {
    /// Number of ports of the set, with or without packets.
    pub ports: u64,
    /// Packets served.
    pub packets: u64,
    /// Packets dropped for lack of room.
    pub dropped: u64,
    /// Mean time of a packet from its arrival at a port to the start of its service, in seconds; null without packets.
    pub wait_s: Option<f64>,
    /// Dropped over the sum of served and dropped; null without packets.
    pub drop_rate: Option<f64>,
    /// Bytes served over the capacity of the links, mean over ports; null without ports.
    pub utilization: Option<f64>,
    /// The same for the port with the maximum.
    pub busiest: Option<f64>,
    /// Peak bytes in the payload queues of one port; null at hosts, where it is not measured.
    #[serde(default)]
    pub max_queue_bytes: Option<u64>,
    /// Upper bound of the queue at one port for data triggered by tokens, without signals
    /// (docs/assumptions.md#token-buffer); null without such ports.
    #[serde(default)]
    pub queue_bound_bytes: Option<u64>,
    /// Largest peak queue of a port as a fraction of its bound.
    #[serde(default)]
    pub queue_of_bound: Option<f64>,
}

/// Rates of a run. Rates are payload in bits per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateRecord {
    /// Length of a bin, in seconds; the first bin starts with the run.
    pub every_s: f64,
    /// The first bin inside the measured window.
    pub first: usize,
    /// One past the last bin inside the measured window.
    pub end: usize,
    /// By class: `all` and the classes of `[metrics]`.
    pub classes: BTreeMap<String, ClassRates>,
    /// By bin: the sum of utilities relative to the optimum; null if a flow has no rate.
    pub utility: Vec<Option<f64>>,
    /// The optimum, if there is one.
    pub optimum: Option<OptimumRecord>,
}

/// Values of the optimum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimumRecord {
    /// V, the largest sum of weighted utilities, of rates in packets per second.
    pub value: f64,
    /// Upper bound of the distance of V from the optimum, by weak duality.
    pub gap: f64,
    /// Number of ports whose minimum rates do not fit.
    pub overbooked: usize,
}

/// Rates of a class of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassRates {
    /// Endless flows of the class.
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
    /// Fraction of (flow, bin) with a rate below the flow's minimum rate; null if no flow has one.
    pub below_theta: Option<f64>,
    /// Mean of the guaranteed rates (weighted max-min with minima).
    pub promised: Option<f64>,
    /// Mean of the rates that maximize the sum of utilities.
    pub best: Option<f64>,
    /// Mean of the rates with equal weights and no minima.
    #[serde(default)]
    pub equal: Option<f64>,
    /// 1 - sum |mean - best| / sum |equal - best| over the flows of the class; null if best and equal are the same.
    #[serde(default)]
    pub gap_closed: Option<f64>,
}

/// Effective throughput of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectiveRecord {
    /// Length of a bin, in seconds.
    pub every_s: f64,
    /// Capacity of the bottleneck, in bits per second.
    pub capacity_bps: f64,
    /// The round trip of a packet of one byte between the first and the last host of the empty network, in seconds.
    pub rtt_s: f64,
    /// By class: `all` and the classes of `[metrics]`.
    pub classes: BTreeMap<String, ClassThroughput>,
}

/// Effective throughput of a class of flows, in bits per second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassThroughput {
    /// Effective throughput by bin.
    pub bins: Vec<f64>,
    /// The mean of the second half of the bins.
    pub end: Option<f64>,
    /// The bin from which it is settled; null if it is not by the end, or no flow met a deadline.
    pub settled: Option<usize>,
}

/// Cost of priorities at a port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// The port.
    pub port: String,
    /// Bins in which at least two classes were backlogged.
    pub contended: u64,
    /// Fraction of the link used by classes below the best backlogged one in these bins; null without such a bin.
    pub o1: Option<f64>,
    /// Bins in which at least one class was backlogged.
    pub wanted: u64,
    /// Fraction of the link that was idle in these bins; null without such a bin.
    pub o2: Option<f64>,
    /// 99th percentile of the queued bytes in the samples of the window; null without samples.
    #[serde(default)]
    pub queue_p99_bytes: Option<u64>,
    /// Maximum of the queued bytes.
    #[serde(default)]
    pub queue_max_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_the_members_that_are_whole_numbers() {
        let whole = serde_json::to_value(Summary::default()).unwrap();
        let refuses_a_half = |member: &&String| {
            let mut changed = whole.clone();
            changed[member.as_str()] = json!(0.5);
            serde_json::from_value::<Summary>(changed).is_err()
        };
        let mut found: Vec<&str> =
            whole.as_object().unwrap().keys().filter(refuses_a_half).map(String::as_str).collect();
        let mut counts = Summary::COUNTS;
        found.sort_unstable();
        counts.sort_unstable();
        assert_eq!(found, counts);
    }
}

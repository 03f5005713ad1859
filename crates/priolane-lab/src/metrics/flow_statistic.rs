//! Metrics as statistics of flows: which value of each flow they are made of, and how.

use super::metric::Metric;
use super::{PerMille, mean_of, percentile};
use priolane_results::flows::FlowRow;

/// The fewest flows that a mean or a median of some of the flows is of.
const LEAST_FLOWS: usize = 10;

/// Returns the value of a flow; `None` if it has none.
pub(crate) type ValueOfFlow = fn(&FlowRow<'_>) -> Option<f64>;

/// A mean or percentile over the values of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowStatistic {
    /// The arithmetic mean.
    Mean,
    /// A percentile.
    Percentile(PerMille),
}

impl FlowStatistic {
    /// Returns its value of `sorted`, which is in increasing order; `None` without values.
    pub(crate) fn of(self, sorted: &[f64]) -> Option<f64> {
        match self {
            Self::Mean => mean_of(sorted),
            Self::Percentile(p) => percentile(sorted, p),
        }
    }

    /// Returns the number of flows that it needs: one flow in the mean above the percentile, and at least ten flows.
    pub(crate) fn least_flows(self) -> usize {
        match self {
            Self::Mean => LEAST_FLOWS,
            Self::Percentile(PerMille(p)) => {
                (1000 / 1000_usize.saturating_sub(p as usize).max(1)).max(LEAST_FLOWS)
            }
        }
    }
}

impl Metric {
    /// Returns the value of a flow that it is made of, and the statistic: `fct`, `slowdown`, and their percentiles. `None`
    /// for any other metric.
    pub(crate) fn flow_statistic(&self) -> Option<(ValueOfFlow, FlowStatistic)> {
        super::fct::METRICS.iter().find(|metric| *metric == self)?;
        let Some(percent) = self.percentile() else { return Some((self.of_flow?, FlowStatistic::Mean)) };
        let (base, _) = self.name.rsplit_once("_p")?;
        let p = PerMille((percent * 10.0).round() as u32);
        Some((Self::named(base)?.of_flow?, FlowStatistic::Percentile(p)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistic(name: &str) -> Option<FlowStatistic> {
        Metric::named(name).unwrap().flow_statistic().map(|(_, statistic)| statistic)
    }

    #[test]
    fn completion_times_and_slowdowns_are_statistics_of_flows_and_no_other_metrics_are() {
        let found: Vec<&str> =
            Metric::all().filter(|m| m.flow_statistic().is_some()).map(|m| m.name).collect();
        let of_times = ["fct", "fct_p50", "fct_p95", "fct_p99", "fct_p999"];
        let of_slowdowns = ["slowdown", "slowdown_p50", "slowdown_p95", "slowdown_p99", "slowdown_p999"];
        assert_eq!(found, [of_times, of_slowdowns].concat());
        assert_eq!(statistic("fct"), Some(FlowStatistic::Mean));
        assert_eq!(statistic("slowdown_p999"), Some(FlowStatistic::Percentile(PerMille(999))));
        assert_eq!(statistic("fct_p50"), Some(FlowStatistic::Percentile(PerMille(500))));
    }

    #[test]
    fn a_percentile_needs_a_flow_above_it_and_all_need_ten() {
        let least = |name| statistic(name).unwrap().least_flows();
        let names = ["fct", "fct_p50", "fct_p95", "fct_p99", "fct_p999"];
        assert_eq!(names.map(least), [10, 10, 20, 100, 1000]);
    }
}

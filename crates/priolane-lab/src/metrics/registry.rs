//! The table of all metrics. Each family of metrics has a file of its own, whose part of the table is its `METRICS`.

use super::estimate::Nature;
use super::metric::Metric;
use priolane_results::summary::Summary;

/// Metrics that are documented together.
#[derive(Debug)]
pub struct Family {
    /// Its title.
    pub title: &'static str,
    /// Its metrics.
    pub metrics: &'static [Metric],
}

const fn family(title: &'static str, metrics: &'static [Metric]) -> Family {
    Family { title, metrics }
}

/// The table.
pub const FAMILIES: &[Family] = &[
    family("Completion times and slowdowns", super::fct::METRICS),
    family("Sizes", super::size::METRICS),
    family("Goodput and timeouts", super::transfers::METRICS),
    family("Deadlines", super::deadlines::METRICS),
    family("Thresholds", super::thresholds::METRICS),
    family("Rates of flows without end", super::rates::METRICS),
    family("Coflows", super::coflows::METRICS),
    family("Jobs", super::jobs::METRICS),
    family("Effective throughput", super::effective::METRICS),
    family("Admission", super::admission::METRICS),
    family("Order at a port", super::order::METRICS),
    family("Sets of ports", super::ports::METRICS),
    family("Tokens and the whole run", super::tokens::METRICS),
    family("Reordering", super::reordering::METRICS),
];

impl Metric {
    /// Returns the metric with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|metric| metric.name == name)
    }

    /// Whether it is a mean or percentile of completion times, or made of them.
    pub fn is_of_completion_times(&self) -> bool {
        let families = [super::fct::METRICS, super::transfers::METRICS].into_iter().flatten();
        self.nature() == Nature::Quantity && families.into_iter().any(|metric| metric == self)
    }

    /// Whether it is about coflows: the bounds of its class are those of coflows.
    pub fn is_of_coflows(&self) -> bool {
        super::coflows::METRICS.iter().any(|metric| metric == self)
    }

    /// Returns the percentile of completion times that it is, in per cent: 99 of `fct_p99`, 99.9 of `fct_p999`; `None`
    /// of a mean.
    pub fn percentile(&self) -> Option<f64> {
        let (_, digits) = self.name.rsplit_once("_p")?;
        let number: u32 = digits.parse().ok()?;
        Some(f64::from(number) / f64::from(10_u32.pow(digits.len() as u32 - 2)))
    }

    /// Returns the nature of the values of a member of a class's summary in `run.json`: that of the metric of its name,
    /// and events for counts without a metric.
    pub fn nature_in_summary(member: &str) -> Nature {
        match Self::named(member) {
            Some(metric) => metric.nature(),
            None if Summary::COUNTS.contains(&member) => Nature::Events,
            None => Nature::Quantity,
        }
    }

    /// Returns all metrics, family by family.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        FAMILIES.iter().flat_map(|family| family.metrics)
    }
}

#[cfg(test)]
mod tests {
    use super::super::metric::Unit;
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_names() {
        let of = |name: &str| Metric::named(name).and_then(Metric::percentile);
        let found = ["fct_p50", "slowdown_p95", "fct_p99", "fct_p999", "fct", "fct_ratio"].map(of);
        assert_eq!(found, [Some(50.0), Some(95.0), Some(99.0), Some(99.9), None, None]);
        let made_of_them = |name: &str| Metric::named(name).is_some_and(Metric::is_of_completion_times);
        assert!(["gain", "goodput", "slowdown_p99"].into_iter().all(made_of_them));
        let of_coflows = |name: &str| Metric::named(name).is_some_and(Metric::is_of_coflows);
        assert!(of_coflows("cct_p99") && of_coflows("coflows_finished") && !of_coflows("fct"));
        assert!(!["timed_out", "timeouts", "downgraded", "rate"].into_iter().any(made_of_them));
    }

    #[test]
    fn counts_and_shares_of_a_summary_are_events_and_its_times_are_none() {
        let events = ["timed_out", "tail_timed_out", "deadline_miss_rate", "downgraded", "deadline_jain"];
        let counted = Summary::COUNTS.into_iter().chain(events);
        assert!(counted.into_iter().all(|member| Metric::nature_in_summary(member) == Nature::Events));
        let times = ["mean_fct_s", "p99_slowdown", "goodput_bps", "cv", "after_stop"];
        assert!(times.into_iter().all(|member| Metric::nature_in_summary(member) == Nature::Quantity));
    }

    #[test]
    fn names_are_those_of_one_metric_each() {
        let names: Vec<&str> = Metric::all().map(|metric| metric.name).collect();
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
        assert!(names.iter().all(|name| !name.is_empty() && !name.contains('.')), "{names:?}");
        let unit = |name: &str| Metric::named(name).map(|metric| metric.unit);
        assert_eq!((unit("fct_bound"), unit("fct_over_bound")), (Some(Unit::Seconds), Some(Unit::One)));
        let undescribed = Metric::all().find(|metric| metric.meaning.is_empty());
        assert!(undescribed.is_none(), "{:?} has no meaning", undescribed.map(|metric| metric.name));
        assert!(Metric::named("fct").is_some() && Metric::named("nonsense").is_none());
    }
}

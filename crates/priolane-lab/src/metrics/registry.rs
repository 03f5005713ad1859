//! The table of all metrics. Each family of metrics has a file of its own, whose part of the table is its `METRICS`.

use super::metric::Metric;

/// The table.
const FAMILIES: &[&[Metric]] = &[
    super::fct::METRICS,
    super::size::METRICS,
    super::transfers::METRICS,
    super::deadlines::METRICS,
    super::thresholds::METRICS,
    super::rates::METRICS,
    super::coflows::METRICS,
    super::effective::METRICS,
    super::admission::METRICS,
    super::order::METRICS,
    super::ports::METRICS,
    super::tokens::METRICS,
    super::reordering::METRICS,
];

impl Metric {
    /// Returns the metric with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|metric| metric.name == name)
    }

    /// Returns all metrics, family by family.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        FAMILIES.iter().copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::super::metric::Unit;
    use super::*;

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
        assert!(Metric::named("fct").is_some() && Metric::named("nonsense").is_none());
    }
}

//! The distribution of a metric over flows.

use serde_json::Value;

use super::panel::{Axes, FlowValue, Mark, PanelInput, PanelKind, PanelReport, Series, X};
use super::published::Overlay;
use crate::metrics::estimate::{Estimate, Nature};
use crate::metrics::metric::Metric;
use crate::metrics::{PerMille, percentile};

/// The distribution of a metric over flows.
pub(crate) const CDF: PanelKind = PanelKind {
    name: "cdf",
    summary: "the distribution of a metric over flows",
    x: X::Optional,
    by: &[],
    axes: Axes::Values,
    overlay: Overlay::Drawn,
    fill,
};

/// Percentiles of the pooled flows at which the distribution is plotted.
const DRAWN: std::ops::RangeInclusive<u32> = 1..=100;

fn fill(drawn: &PanelInput<'_>, report: &mut PanelReport) -> Result<(), String> {
    for measure in &drawn.measures {
        let value = measure.metric.of_flow.ok_or_else(|| no_distribution(measure.metric))?;
        for &point in &drawn.points {
            for path in drawn.paths(measure) {
                let flows = drawn.values.flows(&path, point, value)?;
                let of_seed = |flows: &Vec<FlowValue>| flows.iter().map(|flow| flow.value).collect();
                let mut seeds: Vec<Vec<f64>> = flows.iter().map(of_seed).collect();
                seeds.iter_mut().for_each(|values| values.sort_unstable_by(f64::total_cmp));
                report.series.push(Series::of(&path, drawn.values.at(point), distribution(&seeds)));
            }
        }
    }
    Ok(())
}

fn no_distribution(metric: &Metric) -> String {
    let drawn: Vec<&str> = Metric::all().filter(|m| m.of_flow.is_some()).map(|m| m.name).collect();
    format!("a cdf can show {}, not {}", drawn.join(" or "), metric.name)
}

/// Returns the fraction of flows at or below each percentile of the pooled flows, with its confidence interval over
/// seeds. The values of each seed are sorted.
fn distribution(seeds: &[Vec<f64>]) -> Vec<Mark> {
    let mut pooled: Vec<f64> = seeds.iter().flatten().copied().collect();
    pooled.sort_unstable_by(f64::total_cmp);
    let mut xs: Vec<f64> = DRAWN.filter_map(|p| percentile(&pooled, PerMille(p * 10))).collect();
    xs.dedup();
    let fraction =
        |values: &Vec<f64>, x: f64| values.partition_point(|v| *v <= x) as f64 / values.len() as f64;
    let some: Vec<&Vec<f64>> = seeds.iter().filter(|values| !values.is_empty()).collect();
    let mark = |x: f64| {
        let fractions: Vec<f64> = some.iter().map(|values| fraction(values, x)).collect();
        Mark::new(Value::from(x), Estimate::arithmetic(&fractions, Nature::Quantity).within((0.0, 1.0)))
    };
    xs.into_iter().map(mark).collect()
}

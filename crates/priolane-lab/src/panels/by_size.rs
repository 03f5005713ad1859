//! A statistic of flows against their size, in bins with equal numbers of flows.
//!
//! ```text
//! bins       at most 8, cut at quantiles of the sizes of the flows of all schemes and seeds; flows of one size are in one
//!            bin; on average a scheme has the flows in a bin that the statistic needs (one above a percentile, at least 10)
//! mark       at the median size of its bin: the statistic of the flows of all seeds together
//! interval   over n seeds, from the jackknife: T of all seeds and T_i without seed i give the pseudo-values T^n / T_i^(n-1),
//!            whose 95 % interval is moved to T
//! ```

use serde_json::Value;

use super::panel::{FlowValue, Mark, PanelInput, PanelReport, Series};
use crate::metrics::PerMille;
use crate::metrics::estimate::{Estimate, Nature};
use crate::metrics::flow_statistic::FlowStatistic;
use crate::metrics::path::{Measure, MetricPath, single_flow};
use crate::metrics::percentile;

/// The most bins.
const MOST_BINS: usize = 8;

/// Returns what is wrong with a measure against flow size, and what to write instead.
pub(crate) fn refuse(measure: &Measure) -> Option<(String, String)> {
    let name = measure.metric.name;
    if measure.metric.flow_statistic().is_none() {
        let what = format!(
            "{name} is neither a completion time nor a slowdown of flows, so it has no value by flow size"
        );
        return Some((what, "fct, slowdown, or a percentile such as \"slowdown_p99.all\"".to_owned()));
    }
    let one = single_flow(&measure.class)?;
    Some((
        format!("flow {one} has one size"),
        format!("{name} of a size class or of all, such as \"{name}.all\""),
    ))
}

pub(super) fn fill(drawn: &PanelInput<'_>, report: &mut PanelReport) -> Result<(), String> {
    let mut few = Vec::new();
    for measure in &drawn.measures {
        let (value, statistic) =
            measure.metric.flow_statistic().ok_or("no completion time or slowdown of flows")?;
        for &point in &drawn.points {
            let mut groups: Vec<(MetricPath, Vec<Vec<FlowValue>>)> = Vec::new();
            for path in drawn.paths(measure) {
                let seeds = drawn.values.flows(&path, point, value)?;
                groups.push((path, seeds));
            }
            let bins = Bin::of(&groups, statistic.least_flows());
            if bins.is_empty() {
                few.push(measure.to_string());
            }
            for (path, seeds) in &groups {
                let marks = bins.iter().filter_map(|bin| bin.mark(seeds, statistic)).collect();
                report.series.push(Series::of(path, drawn.values.at(point), marks));
            }
        }
    }
    match few.first() {
        Some(measure) => {
            Err(format!("{measure}: too few flows of some scheme finished for one bin of sizes"))
        }
        None => Ok(()),
    }
}

/// An interval of flow sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    /// The least size.
    from: u64,
    /// The least size above the bin; `None` for the last bin.
    to: Option<u64>,
    /// The median size of the flows in it.
    middle: u64,
}

impl Bin {
    /// Returns the bins of the flows of all schemes; none if a scheme has fewer than `least` flows.
    fn of(groups: &[(MetricPath, Vec<Vec<FlowValue>>)], least: usize) -> Vec<Self> {
        let flows = |seeds: &Vec<Vec<FlowValue>>| seeds.iter().map(Vec::len).sum::<usize>();
        let fewest = groups.iter().map(|(_, seeds)| flows(seeds)).min().unwrap_or(0);
        let wanted = (fewest / least.max(1)).min(MOST_BINS);
        let mut sizes: Vec<u64> =
            groups.iter().flat_map(|(_, seeds)| seeds).flatten().map(|flow| flow.bytes).collect();
        sizes.sort_unstable();
        let mut starts: Vec<u64> = (0..wanted).map(|bin| sizes[bin * sizes.len() / wanted]).collect();
        starts.dedup();
        let place = |size: u64| sizes.partition_point(|&other| other < size);
        let bin = |(nth, &from): (usize, &u64)| {
            let to = starts.get(nth + 1).copied();
            let within = &sizes[place(from)..to.map_or(sizes.len(), place)];
            Some(Self { from, to, middle: percentile(within, PerMille(500))? })
        };
        starts.iter().enumerate().filter_map(bin).collect()
    }

    /// Whether flows of this size are in it.
    fn holds(&self, bytes: u64) -> bool {
        bytes >= self.from && self.to.is_none_or(|to| bytes < to)
    }

    /// Returns the statistic of the flows of a scheme in this bin, given by seed; `None` if there are too few.
    fn mark(&self, seeds: &[Vec<FlowValue>], statistic: FlowStatistic) -> Option<Mark> {
        let mut values: Vec<(f64, usize)> = Vec::new();
        for (seed, flows) in seeds.iter().enumerate() {
            values.extend(flows.iter().filter(|flow| self.holds(flow.bytes)).map(|flow| (flow.value, seed)));
        }
        if values.len() < statistic.least_flows() {
            return None;
        }
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let estimate = jackknife(&values, seeds.len(), statistic)?;
        Some(Mark::new(Value::from(self.middle), estimate))
    }
}

/// Returns the statistic of all values, which are above 0, in increasing order, and given with their seeds, and its interval
/// over seeds; there is no interval if one seed has all values.
fn jackknife(values: &[(f64, usize)], seeds: usize, statistic: FlowStatistic) -> Option<Estimate> {
    let all: Vec<f64> = values.iter().map(|&(value, _)| value).collect();
    let value = statistic.of(&all)?;
    let present: Vec<usize> = (0..seeds).filter(|&seed| values.iter().any(|&(_, of)| of == seed)).collect();
    let n = present.len() as f64;
    let pseudo = |&left_out: &usize| {
        let rest: Vec<f64> =
            values.iter().filter(|&&(_, of)| of != left_out).map(|&(value, _)| value).collect();
        let without = statistic.of(&rest)?;
        Some(libm::exp(n * libm::log(value) - (n - 1.0) * libm::log(without)))
    };
    let values: Vec<f64> = match present.len() {
        1 => vec![value],
        _ => present.iter().filter_map(pseudo).collect(),
    };
    Some(Estimate::geometric(&values, Nature::Drawn).moved_to(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(sizes: impl IntoIterator<Item = u64>) -> Vec<FlowValue> {
        sizes.into_iter().map(|bytes| FlowValue { bytes, value: 1.0 }).collect()
    }

    fn group(seeds: Vec<Vec<FlowValue>>) -> (MetricPath, Vec<Vec<FlowValue>>) {
        (MetricPath::parse("fct.all.dctcp").unwrap(), seeds)
    }

    #[test]
    fn bins_have_equal_numbers_of_flows_and_begin_and_end_between_sizes() {
        // 1 to 80: eight bins of ten; the median of 1 to 10 is the fifth.
        let bins = Bin::of(&[group(vec![flows(1..=40), flows(41..=80)])], 10);
        let found: Vec<_> = bins.iter().map(|bin| (bin.from, bin.to, bin.middle)).collect();
        let expected: Vec<_> =
            (0..8).map(|nth| (10 * nth + 1, (nth < 7).then_some(10 * nth + 11), 10 * nth + 5)).collect();
        assert_eq!(found, expected);
        assert!((1..=80).all(|size| bins.iter().filter(|bin| bin.holds(size)).count() == 1));
    }

    #[test]
    fn the_scheme_with_the_fewest_flows_limits_the_number_of_bins() {
        let many = group(vec![flows(1..=800)]);
        let of = |few: u64| Bin::of(&[many.clone(), group(vec![flows(1..=few)])], 100).len();
        assert_eq!([99, 100, 250, 800].map(of), [0, 1, 2, 8]);
    }

    #[test]
    fn flows_of_one_size_are_one_bin() {
        let bins = Bin::of(&[group(vec![flows(vec![5; 100])])], 10);
        assert_eq!(bins, [Bin { from: 5, to: None, middle: 5 }]);
        // Nine in ten flows have 5 bytes: the tenth begins a second bin only where a cut falls on it.
        let bins = Bin::of(&[group(vec![flows(vec![5; 72].into_iter().chain(vec![9; 8]))])], 10);
        assert_eq!(bins.iter().map(|bin| (bin.from, bin.to)).collect::<Vec<_>>(), [(5, None)]);
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_jackknife() {
        // Seeds of ten flows with values 2, 4 and 6: the mean is 4. Without one seed it is 5, 4 or 3, and the pseudo-values
        // are 64/25, 64/16 and 64/9.
        let mut values: Vec<(f64, usize)> =
            (0..3).flat_map(|seed| vec![(2.0 * (seed + 1) as f64, seed); 10]).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let found = jackknife(&values, 3, FlowStatistic::Mean).unwrap();
        let pseudo = Estimate::geometric(&[2.56, 4.0, 64.0 / 9.0], Nature::Drawn);
        let factor = 4.0 / libm::cbrt(2.56 * 4.0 * 64.0 / 9.0);
        let (low, high) = pseudo.ends().unwrap();
        let (from, to) = found.ends().unwrap();
        assert_eq!((found.mean, found.n), (Some(4.0), 3));
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(from, low * factor) && near(to, high * factor), "{found:?}");
    }

    #[test]
    fn one_seed_has_no_interval_and_too_few_flows_have_no_mark() {
        let seeds = vec![flows(1..=10), Vec::new()];
        let bin = Bin { from: 1, to: None, middle: 5 };
        let mark = bin.mark(&seeds, FlowStatistic::Mean).unwrap();
        assert_eq!((mark.y.mean, mark.y.ends(), mark.y.n), (Some(1.0), None, 1));
        assert!(bin.mark(&seeds, FlowStatistic::Percentile(PerMille(950))).is_none());
    }
}

//! Metrics of runs: completion times, slowdowns, deadlines and others, by size class.
//!
//! Percentile p of n values is the `ceil(p n / 100)`-th smallest. Means are summed in the order of the flow list.
//! Standard deviations are those of the population (divided by n), since the measured flows are the whole population.
//! Unfinished flows are counted, but excluded from percentiles, and from means unless these come from Little's law
//! (`coverage`).

pub mod admission;
pub mod bound;
mod class;
pub mod coflows;
pub mod coverage;
mod deadlines;
pub mod effective;
pub mod estimate;
mod fct;
pub(crate) mod flow_statistic;
pub mod interval;
pub(crate) mod jobs;
pub mod ladder;
pub mod metric;
pub mod order;
pub mod path;
pub mod pooled;
pub mod ports;
pub mod rates;
mod registry;
mod reordering;
pub(crate) mod sample;
mod size;
pub(crate) mod steady;
pub mod student;
mod summary;
pub mod thresholds;
mod tokens;
mod transfers;

pub use self::class::{ALL, usual_classes};
pub use self::registry::{FAMILIES, Family};

pub(crate) use self::class::{ByName, Payer, SizeClass};
pub(crate) use self::summary::{summarize, summarize_flow};
pub(crate) use self::transfers::spurious;

/// A percentile in thousandths: `PerMille(999)` is the 99.9th percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerMille(pub u32);

/// Returns a percentile of values sorted in increasing order: the `ceil(p n / 100)`-th smallest, the smallest for p =
/// 0; `None` if there is no value.
pub fn percentile<T: Copy>(sorted: &[T], p: PerMille) -> Option<T> {
    let rank = (sorted.len() as u64 * u64::from(p.0)).div_ceil(1000) as usize;
    sorted.get(rank.max(1).min(sorted.len()).checked_sub(1)?).copied()
}

/// Returns the mean of `values`; `None` if there are none.
pub(crate) fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns Jain's index, (sum of x)^2 / (n sum of x^2): 1 if all are equal, 1/n if one has everything; `None` if all
/// are 0.
pub fn jain(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) = values.fold((0_u64, 0.0, 0.0), |(n, s, q), x| (n + 1, s + x, q + x * x));
    (squares > 0.0).then(|| sum * sum / (n as f64 * squares))
}

#[cfg(test)]
mod tests;

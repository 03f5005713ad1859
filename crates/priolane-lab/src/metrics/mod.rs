//! What flows add up to: completion times, slowdowns and deadlines by size class.
//!
//! Percentile p of n values is the `ceil(p n / 100)`-th smallest. Means are taken in the order of the flow
//! list, standard deviations are those of the population (divided by n): the flows measured are all there
//! are. Unfinished flows enter no mean and no percentile; they are counted.

pub mod admission;
pub mod bound;
mod class;
pub mod coflows;
mod deadlines;
pub mod effective;
mod fct;
pub mod interval;
pub mod ladder;
pub mod metric;
pub mod order;
pub mod path;
pub mod ports;
pub mod rates;
mod registry;
mod reordering;
mod size;
pub mod student;
mod summary;
pub mod thresholds;
mod tokens;

pub use self::class::ALL;

pub(crate) use self::class::{ByName, Payer, SizeClass};
pub(crate) use self::summary::{summarize, summarize_flow};

/// A percentile in thousandths: `PerMille(999)` is the 99.9th percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerMille(pub u32);

/// The percentile of values sorted in increasing order: the `ceil(p n / 100)`-th smallest, the smallest
/// for p = 0; `None` if there is no value.
pub fn percentile<T: Copy>(sorted: &[T], p: PerMille) -> Option<T> {
    let rank = (sorted.len() as u64 * u64::from(p.0)).div_ceil(1000) as usize;
    sorted.get(rank.max(1).min(sorted.len()).checked_sub(1)?).copied()
}

/// Jain's index, (sum of x)^2 / (n sum of x^2): 1 if all are equal, 1/n if one has everything; `None` if none has anything.
pub fn jain(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) = values.fold((0_u64, 0.0, 0.0), |(n, s, q), x| (n + 1, s + x, q + x * x));
    (squares > 0.0).then(|| sum * sum / (n as f64 * squares))
}

#[cfg(test)]
mod tests;

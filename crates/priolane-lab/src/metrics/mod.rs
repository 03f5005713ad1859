//! What flows add up to: completion times, slowdowns and deadlines by size class.
//!
//! Percentile p of n values is the `ceil(p n / 100)`-th smallest. Means are taken in the order of the flow
//! list, standard deviations are those of the population (divided by n): the flows measured are all there
//! are. Unfinished flows enter no mean and no percentile; they are counted.

pub mod admission;
pub mod bound;
pub mod coflows;
pub mod effective;
pub mod interval;
pub mod order;
pub mod ports;
pub mod rates;
mod summary;

use std::ops::{Bound, RangeBounds};

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::Class;
use priolane_core::price::Cos;

pub use self::summary::{summarize, summarize_flow};
use crate::results::rows::Source;

/// The class that always exists: every finite flow.
pub const ALL: &str = "all";

/// A named range of flow sizes, in payload bytes, perhaps of some groups or a class of service only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// Its name in metric paths.
    pub name: String,
    /// `from = x` is `Included(x)`, `above = x` is `Excluded(x)`.
    pub lower: Bound<u64>,
    /// `to = x` is `Included(x)`, `below = x` is `Excluded(x)`.
    pub upper: Bound<u64>,
    /// The names of the groups whose flows count; all groups' if empty.
    pub groups: Vec<String>,
    /// The class of service whose flows count, by what they (or their machines) pay for; all if `None`.
    pub cos: Option<Cos>,
    /// The class that ratios of this one are relative to.
    pub over: Option<String>,
    /// The class that flows ask for; any if `None`.
    pub asked: Option<Class>,
    /// The class that flows are given when they start; any if `None`.
    pub given: Option<Class>,
}

impl SizeClass {
    /// The class `all`.
    pub fn all() -> Self {
        Self {
            name: ALL.to_owned(),
            lower: Bound::Unbounded,
            upper: Bound::Unbounded,
            groups: Vec::new(),
            cos: None,
            over: None,
            asked: None,
            given: None,
        }
    }

    /// Whether a flow of `bytes` payload bytes belongs to the class; one without end (`None`) does where sizes have
    /// no upper bound.
    pub fn contains(&self, bytes: Option<u64>, payer: Payer<'_>) -> bool {
        let sized = match bytes {
            Some(bytes) => (self.lower, self.upper).contains(&bytes),
            None => self.upper == Bound::Unbounded,
        };
        sized
            && (self.groups.is_empty() || self.groups.iter().any(|own| own == payer.group))
            && self.cos.is_none_or(|own| own == payer.cos)
    }
}

/// Whose flow it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payer<'a> {
    /// Its group; empty if it has none.
    pub group: &'a str,
    /// What it, or its machine, pays for.
    pub cos: Cos,
}

impl<'a> Payer<'a> {
    /// Whose flow `spec` is.
    pub fn of(spec: &FlowSpec, source: &Source<'a>) -> Self {
        Self { group: source.group(spec.group).unwrap_or_default(), cos: Cos::of(spec.weights) }
    }

    /// The payer that the columns `group` and `cos` of a table name.
    pub fn named(group: &'a str, cos: &str) -> Self {
        let all = [Cos::Differentiated, Cos::MinimumRate];
        let cos = all.into_iter().find(|own| own.name() == cos).unwrap_or(Cos::BestEffort);
        Self { group, cos }
    }
}

impl SizeClass {
    /// Whether a flow that asked for the first class and was given the second may belong to it.
    pub fn holds(&self, (asked, given): (Class, Class)) -> bool {
        self.asked.is_none_or(|class| class == asked) && self.given.is_none_or(|class| class == given)
    }
}

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

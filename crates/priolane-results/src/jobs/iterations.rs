//! Iterations of jobs: the coflows of each group, in the order in which they end.
//!
//! ```text
//! iteration time    end of the coflow - end of the one before; the first: - start of the group
//! ```
//!
//! It has the computation before the communication, and the times of all iterations sum up to the time until the last
//! coflow has ended.

use std::collections::BTreeMap;

use priolane_core::units::{Span, Time};
use serde::{Deserialize, Serialize};

/// The times of a job's iterations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationRecord {
    /// Number of iterations of all groups, at least 1.
    pub count: u32,
    /// Their mean time, in seconds.
    pub mean_s: f64,
    /// The 99th percentile of their times, in seconds: the `ceil(0.99 n)`-th smallest of n.
    pub p99_s: f64,
    /// Standard deviation of their times over their mean; 0 if each is 0.
    pub cv: f64,
}

/// The coflows of a group.
#[derive(Clone, Debug)]
pub(super) struct GroupTimes {
    /// Start of the first flow or step of the group.
    pub(super) start: Time,
    /// Ends of its coflows, in any order.
    pub(super) ends: Vec<Time>,
}

impl IterationRecord {
    /// Returns the record of the iterations of `groups`, by number; `None` if there are none.
    pub(super) fn of(groups: BTreeMap<u16, GroupTimes>) -> Option<Self> {
        let mut times: Vec<Span> = Vec::new();
        for GroupTimes { start, mut ends } in groups.into_values() {
            ends.sort_unstable();
            let before = std::iter::once(start).chain(ends.iter().copied());
            times.extend(ends.iter().zip(before).map(|(end, before)| end.since(before)));
        }
        times.sort_unstable();
        let p99 = *times.get((times.len() * 99).div_ceil(100).checked_sub(1)?)?;
        let n = times.len() as f64;
        let mean = times.iter().map(|time| time.as_secs_f64()).sum::<f64>() / n;
        let variance = times
            .iter()
            .map(|time| {
                let off = time.as_secs_f64() - mean;
                off * off
            })
            .sum::<f64>()
            / n;
        Some(Self {
            count: times.len() as u32,
            mean_s: mean,
            p99_s: p99.as_secs_f64(),
            cv: if mean > 0.0 { variance.sqrt() / mean } else { 0.0 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(start: u64, ends: impl IntoIterator<Item = u64>) -> GroupTimes {
        let us = |at: u64| Time(at * 1_000_000);
        GroupTimes { start: us(start), ends: ends.into_iter().map(us).collect() }
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-15, "{found}, not {expected}");
    }

    #[test]
    fn iterations_of_two_groups_are_from_end_to_end() {
        // 10, 20 and 30 us of the first group, which begins at 5 us; 40 us of the second.
        let record =
            IterationRecord::of(BTreeMap::from([(0, group(5, [35, 15, 65])), (1, group(0, [40]))])).unwrap();
        assert_eq!(record.count, 4);
        near(record.mean_s, 25e-6);
        near(record.p99_s, 40e-6);
        // Deviations of 15, 5, 5 and 15 us: a variance of 500 / 4.
        assert!((record.cv - 125.0_f64.sqrt() / 25.0).abs() < 1e-12);
        assert!(IterationRecord::of(BTreeMap::new()).is_none());
    }

    #[test]
    fn the_percentile_leaves_out_one_time_of_a_hundred() {
        // Times of 1, 2, ..., 200 us.
        let ends = (1..=200_u64).map(|k| k * (k + 1) / 2);
        let record = IterationRecord::of(BTreeMap::from([(3, group(0, ends))])).unwrap();
        near(record.p99_s, 198e-6);
        near(record.mean_s, 100.5e-6);
    }
}

//! The clock of an app whose load changes while it runs.

use priolane_core::sizes::SizeDistribution;
use priolane_core::units::Time;

/// The clock of an app whose load changes. Flows are drawn as if nothing changed; from a change on, time runs by the
/// ratio of the rates before and after, and sizes are of the law of then. What starts before a change is what starts
/// without it (docs/assumptions.md#load-change).
#[derive(Debug)]
pub(crate) struct Clock<'a> {
    pub(crate) stretches: Vec<Stretch<'a>>,
}

/// From one change to the next.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    /// Its first instant as it is drawn.
    pub(crate) drawn: u64,
    /// Its first instant.
    pub(crate) from: u64,
    /// Time per drawn time.
    pub(crate) slower: f64,
    pub(crate) sizes: &'a SizeDistribution,
}

impl Clock<'_> {
    /// When what was drawn for an instant happens, and the law of sizes of then.
    pub(crate) fn read(&self, drawn: Time) -> (Time, &SizeDistribution) {
        let next = self.stretches.partition_point(|stretch| stretch.drawn <= drawn.0).max(1);
        let Stretch { drawn: first, from, slower, sizes } = self.stretches[next - 1];
        let since = drawn.0 - first;
        let since = if slower == 1.0 { since } else { (since as f64 * slower).round() as u64 };
        let end = self.stretches.get(next).map_or(u64::MAX, |next| next.from);
        (Time(from.saturating_add(since).min(end)), sizes)
    }

    /// How many stretches there are.
    pub(crate) fn stretches(&self) -> usize {
        self.stretches.len()
    }

    /// The stretch of an instant.
    pub(crate) fn stretch_at(&self, start: Time) -> usize {
        self.stretches.partition_point(|stretch| stretch.from <= start.0).max(1) - 1
    }

    /// The law of sizes of an instant.
    pub(crate) fn law_at(&self, start: Time) -> &SizeDistribution {
        self.stretches[self.stretch_at(start)].sizes
    }
}

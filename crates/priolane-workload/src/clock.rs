//! The clock of an app whose load changes during the run.

use priolane_core::sizes::SizeDistribution;
use priolane_core::units::Time;

/// Maps drawn times to start times for an app whose load changes. Flows are drawn as if nothing changed. After a
/// change, time is scaled by the ratio of the rates before and after, and sizes come from the new distribution.
/// Flows before a change are the same as without it (docs/assumptions.md#load-change).
#[derive(Debug)]
pub(crate) struct Clock<'a> {
    pub(crate) segments: Vec<Segment<'a>>,
}

/// The time between two changes.
#[derive(Debug)]
pub(crate) struct Segment<'a> {
    /// The drawn time at which it begins.
    pub(crate) drawn: u64,
    /// The start time at which it begins.
    pub(crate) from: u64,
    /// Factor by which times after its beginning are scaled.
    pub(crate) time_scale: f64,
    pub(crate) sizes: &'a SizeDistribution,
}

impl Clock<'_> {
    /// Returns the start time of a drawn time, and the size distribution at that time.
    pub(crate) fn read(&self, drawn: Time) -> (Time, &SizeDistribution) {
        let next = self.segments.partition_point(|stretch| stretch.drawn <= drawn.0).max(1);
        let Segment { drawn: first, from, time_scale, sizes } = self.segments[next - 1];
        let since = drawn.0 - first;
        let since = if time_scale == 1.0 { since } else { (since as f64 * time_scale).round() as u64 };
        let end = self.segments.get(next).map_or(u64::MAX, |next| next.from);
        (Time(from.saturating_add(since).min(end)), sizes)
    }

    /// Returns the number of segments.
    pub(crate) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Returns the index of the stretch at a start time.
    pub(crate) fn segment_at(&self, start: Time) -> usize {
        self.segments.partition_point(|stretch| stretch.from <= start.0).max(1) - 1
    }

    /// Returns the size distribution at a start time.
    pub(crate) fn law_at(&self, start: Time) -> &SizeDistribution {
        self.segments[self.segment_at(start)].sizes
    }
}

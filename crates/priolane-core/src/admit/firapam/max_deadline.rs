//! The longest deadline among the last completions of a class, in amortized constant time.

use std::collections::VecDeque;

use super::utility::{ReferenceFlow, gbit, seconds};
use crate::units::Span;

/// Size of the window, in completions of a class (docs/assumptions.md#firapam-no-deadline).
const REMEMBERED: u64 = 1000;

/// A completed flow with a deadline.
#[derive(Clone, Copy, Debug)]
struct DeadlineSample {
    /// The number of the completion in its class.
    nth: u64,
    allowed: Span,
    bytes: u64,
}

/// Sliding-window maximum of a class's deadlines: a monotonic queue, longest first, of samples without a later one of
/// at least the same length.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxDeadlineWindow {
    completions: u64,
    candidates: VecDeque<DeadlineSample>,
}

impl MaxDeadlineWindow {
    /// Records the completion of a flow; `deadline` is its size and time from start to deadline, if it had one.
    pub(super) fn completed(&mut self, deadline: Option<(u64, Span)>) {
        self.completions += 1;
        if let Some((bytes, allowed)) = deadline {
            while self.candidates.back().is_some_and(|had| had.allowed <= allowed) {
                self.candidates.pop_back();
            }
            self.candidates.push_back(DeadlineSample { nth: self.completions, allowed, bytes });
        }
        while self.candidates.front().is_some_and(|had| had.nth + REMEMBERED <= self.completions) {
            self.candidates.pop_front();
        }
    }

    /// Returns B_max / d_max.
    pub(super) fn get(&self) -> Option<ReferenceFlow> {
        let had = self.candidates.front()?;
        Some(ReferenceFlow { gbps: gbit(had.bytes) / seconds(had.allowed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_deadline_is_remembered_for_a_thousand_completions() {
        let mut max_deadlines = MaxDeadlineWindow::default();
        assert_eq!(max_deadlines.get(), None);
        // 1 MB in 8 ms: 1 Gbit/s; then 1 MB in 4 ms, shorter.
        max_deadlines.completed(Some((1_000_000, Span::from_ms(8))));
        max_deadlines.completed(Some((1_000_000, Span::from_ms(4))));
        for _ in 2..1000 {
            max_deadlines.completed(None);
            assert_eq!(max_deadlines.get(), Some(ReferenceFlow { gbps: 1.0 }));
        }
        max_deadlines.completed(None);
        assert_eq!(max_deadlines.get(), Some(ReferenceFlow { gbps: 2.0 }));
        max_deadlines.completed(None);
        assert_eq!(max_deadlines.get(), None);
    }

    #[test]
    fn of_equally_long_deadlines_the_last_counts() {
        let mut max_deadlines = MaxDeadlineWindow::default();
        max_deadlines.completed(Some((1_000_000, Span::from_ms(8))));
        max_deadlines.completed(Some((3_000_000, Span::from_ms(8))));
        assert_eq!(max_deadlines.get(), Some(ReferenceFlow { gbps: 3.0 }));
    }
}

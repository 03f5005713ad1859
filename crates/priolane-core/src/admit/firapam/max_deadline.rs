//! The longest deadline among the last completions of a class, in constant time each.

use std::collections::VecDeque;

use super::utility::{Rival, gbit, seconds};
use crate::units::Span;

/// Completions of a class that are remembered (docs/assumptions.md#firapam-no-deadline).
const REMEMBERED: u64 = 1000;

/// A flow that had a deadline.
#[derive(Clone, Copy, Debug)]
struct DeadlineSample {
    /// Which completion of the class it was.
    nth: u64,
    allowed: Span,
    bytes: u64,
}

/// The longest deadline of one class: those that a later, at least as long one has not made pointless, longest first.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxDeadlineWindow {
    completions: u64,
    candidates: VecDeque<DeadlineSample>,
}

impl MaxDeadlineWindow {
    /// A flow of the class completed; its size and time from start to deadline, if it had one.
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

    /// B_max / d_max.
    pub(super) fn get(&self) -> Option<Rival> {
        let had = self.candidates.front()?;
        Some(Rival { gbps: gbit(had.bytes) / seconds(had.allowed) })
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
            assert_eq!(max_deadlines.get(), Some(Rival { gbps: 1.0 }));
        }
        max_deadlines.completed(None);
        assert_eq!(max_deadlines.get(), Some(Rival { gbps: 2.0 }));
        max_deadlines.completed(None);
        assert_eq!(max_deadlines.get(), None);
    }

    #[test]
    fn of_equally_long_deadlines_the_last_counts() {
        let mut max_deadlines = MaxDeadlineWindow::default();
        max_deadlines.completed(Some((1_000_000, Span::from_ms(8))));
        max_deadlines.completed(Some((3_000_000, Span::from_ms(8))));
        assert_eq!(max_deadlines.get(), Some(Rival { gbps: 3.0 }));
    }
}

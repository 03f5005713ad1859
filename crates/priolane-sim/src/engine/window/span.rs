//! The window that nodes run through, and its sample instants.

use priolane_core::units::{Span, Time};

/// A window, or its part before the end of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowSpan {
    pub(crate) start: Time,
    /// The first instant after it.
    pub(crate) end: Time,
    /// Interval of the samples; `None` without samples.
    pub(crate) sample_every: Option<Span>,
}

/// The sample instants of a window, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleTimes {
    next: Time,
    every: Span,
}

impl WindowSpan {
    /// Returns the sample instants at or after the start of the window.
    #[inline]
    pub(crate) fn samples(&self) -> SampleTimes {
        match self.sample_every {
            None => SampleTimes::NONE,
            Some(every) => SampleTimes { next: Time(self.start.0.next_multiple_of(every.0)), every },
        }
    }

    /// Returns when a node with the next event at `next` must run: at the next sample instant if that is earlier and
    /// there is something to sample.
    #[inline]
    pub(crate) fn next_wake(&self, next: Time, has_reading: impl FnOnce() -> bool) -> Time {
        match self.sample_every {
            Some(every) if has_reading() => next.min(Time(self.end.0.next_multiple_of(every.0))),
            _ => next,
        }
    }
}

impl SampleTimes {
    pub(crate) const NONE: Self = Self { next: Time::NEVER, every: Span::ZERO };

    /// Returns the next sample instant if it is before `t`, and advances.
    #[inline]
    pub(crate) fn next_before(&mut self, t: Time) -> Option<Time> {
        let instant = self.next;
        if instant >= t {
            return None;
        }
        self.next = instant + self.every;
        Some(instant)
    }
}

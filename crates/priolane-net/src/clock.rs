//! The clock of a host: monotonic, and of use for the kernel's times of arrival.
#![expect(clippy::disallowed_methods, reason = "a real host goes by the clock")]

use std::time::{Duration, Instant, SystemTime};

use priolane_core::units::{Span, Time};

/// What the clock reads when it is made: above zero, so that differences to the past stay above it.
const START: Time = Time(1_000_000_000_000);

/// The monotonic clock of a process, from a second above zero on.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    last: Time,
}

impl Clock {
    /// Starts it.
    pub fn start() -> Self {
        Self { start: Instant::now(), last: START }
    }

    /// The time, never earlier than at the last call.
    pub fn now(&mut self) -> Time {
        let now = START + span_of(self.start.elapsed());
        self.last = self.last.max(now);
        self.last
    }

    /// The instant at which it reads `time`.
    pub(crate) fn instant(&self, time: Time) -> Instant {
        self.start + duration_of(Span(time.0.saturating_sub(START.0)))
    }

    /// What the kernel's times of arrival mean, as of now.
    pub fn arrivals(&mut self) -> Arrivals {
        let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Arrivals { now: self.now(), real_ns: real.as_nanos() as u64 }
    }
}

/// The same instant by two clocks.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    /// By that of the process.
    pub now: Time,
    /// By that of the kernel's times, which may be set: then some datagrams have a wrong time, within the bounds below.
    real_ns: u64,
}

/// A datagram that seems to have waited longer came just now.
const LONGEST_WAIT: Span = Span::from_ms(1_000);

impl Arrivals {
    /// When a datagram came that the kernel says came at `real_ns` (`CLOCK_REALTIME`, in nanoseconds); now if it does not say.
    pub fn at(&self, real_ns: Option<u64>) -> Time {
        let waited =
            Span::from_ns(real_ns.map_or(0, |at| self.real_ns.saturating_sub(at)).min(u64::MAX / 1_000));
        if waited > LONGEST_WAIT { self.now } else { Time(self.now.0 - waited.0) }
    }
}

/// `duration` as the span that it is, at most the longest.
pub(crate) fn span_of(duration: Duration) -> Span {
    let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Span::from_ns(ns.min(Span::LONGEST.0 / 1_000))
}

/// `span` as a duration, rounded up to a nanosecond.
pub(crate) fn duration_of(span: Span) -> Duration {
    Duration::from_nanos(span.0.div_ceil(1_000))
}

/// Returns the instant `after` from now, for waits of other threads.
pub(crate) fn deadline(after: Duration) -> Option<Instant> {
    Instant::now().checked_add(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_arrival_are_in_the_past_and_not_long_ago() {
        let arrivals = Arrivals { now: Time(5_000_000_000_000), real_ns: 77_000_000_000 };
        assert_eq!(arrivals.at(Some(76_999_990_000)), Time(5_000_000_000_000 - 10_000_000));
        for wrong in [Some(77_000_000_001), Some(75_000_000_000), Some(0), Some(u64::MAX), None] {
            assert_eq!(arrivals.at(wrong), arrivals.now, "{wrong:?}");
        }
    }

    #[test]
    fn spans_and_durations_agree() {
        assert_eq!(span_of(Duration::from_micros(7)), Span::from_us(7));
        assert_eq!(duration_of(Span(7_000_001)), Duration::from_nanos(7_001));
        assert_eq!(span_of(Duration::MAX), Span::from_ns(Span::LONGEST.0 / 1_000));
    }
}

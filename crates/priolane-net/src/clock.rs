//! The clock of a host: monotonic, and comparable with the kernel's receive times.
#![expect(clippy::disallowed_methods, reason = "a real host goes by the clock")]

use std::time::{Duration, Instant, SystemTime};

use priolane_core::units::{Span, Time};

/// The time that a new clock reads. It is above zero, so that times before the start of the clock stay above zero too.
const START: Time = Time(1_000_000_000_000);

/// A monotonic clock that starts at one second.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    last: Time,
}

impl Clock {
    /// Starts a clock.
    pub fn start() -> Self {
        Self { start: Instant::now(), last: START }
    }

    /// Returns the time, which is never earlier than at the last call.
    pub fn now(&mut self) -> Time {
        let now = START + span_of(self.start.elapsed());
        self.last = self.last.max(now);
        self.last
    }

    /// Returns the instant at which the clock reads `time`.
    pub(crate) fn instant(&self, time: Time) -> Instant {
        self.start + duration_of(Span(time.0.saturating_sub(START.0)))
    }

    /// Returns the conversion from the kernel's receive times to this clock, as of now.
    pub fn arrivals(&mut self) -> Arrivals {
        let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Arrivals { now: self.now(), real_ns: real.as_nanos() as u64 }
    }
}

/// The same instant by two clocks, from which the kernel's receive times are converted.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    /// The instant by the clock of the process.
    pub now: Time,
    /// The instant by the kernel's clock in nanoseconds since 1970. That clock may be set; datagrams then have wrong
    /// times within the bounds below.
    real_ns: u64,
}

/// The longest plausible time that a datagram has waited. A datagram that seems to have waited longer counts as
/// received now.
const LONGEST_WAIT: Span = Span::from_ms(1_000);

impl Arrivals {
    /// Returns the time at which a datagram arrived that the kernel received at `real_ns` (`CLOCK_REALTIME`, in
    /// nanoseconds). Without that time, returns the present time.
    pub fn at(&self, real_ns: Option<u64>) -> Time {
        let waited =
            Span::from_ns(real_ns.map_or(0, |at| self.real_ns.saturating_sub(at)).min(u64::MAX / 1_000));
        if waited > LONGEST_WAIT { self.now } else { Time(self.now.0 - waited.0) }
    }
}

/// Converts `duration` to a span. A longer duration than the longest span becomes the longest span.
pub(crate) fn span_of(duration: Duration) -> Span {
    let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Span::from_ns(ns.min(Span::LONGEST.0 / 1_000))
}

/// Converts `span` to a duration, rounded up to a nanosecond.
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

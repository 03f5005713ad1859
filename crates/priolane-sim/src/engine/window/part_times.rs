//! The time that the parts of a network take in each window, measured where one thread runs all parts in turn.
#![expect(clippy::disallowed_methods, reason = "clocks measure the run and never reach its outcome")]

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

/// Times of a run in which one thread runs all parts in turn, from which the time of several threads follows.
///
/// Threads meet once per window. A thread for each part therefore takes `longest`, a share of `exchange`, and a barrier
/// for each window, if a part takes as long on a core of its own. Time that other programs took is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartTimes {
    /// Number of parts.
    pub parts: usize,
    /// Number of windows with work in any part.
    pub windows: u64,
    /// Time of all parts in all windows.
    pub work: Duration,
    /// Sum over the windows of the time of the part that takes longest.
    pub longest: Duration,
    /// Time of the exchange of packets and statuses between all parts, and of the search for the next window.
    pub exchange: Duration,
}

/// Measures [`PartTimes`].
#[derive(Debug)]
pub(super) struct PartTimer {
    times: PartTimes,
    started: Instant,
    processor: ThreadTime,
    since: Instant,
    /// The longest time of a part in this window.
    longest: Duration,
}

impl PartTimer {
    pub(super) fn start(parts: usize) -> Self {
        let times = PartTimes { parts, ..PartTimes::default() };
        let now = Instant::now();
        Self { times, started: now, processor: ThreadTime::now(), since: now, longest: Duration::ZERO }
    }

    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.since, now)
    }

    /// The exchange before a window is complete.
    pub(super) fn exchanged(&mut self) {
        let took = self.lap();
        self.times.exchange += took;
        self.times.longest += std::mem::take(&mut self.longest);
        self.times.windows += 1;
    }

    /// A part has run through the window.
    pub(super) fn lived(&mut self) {
        let took = self.lap();
        self.times.work += took;
        self.longest = self.longest.max(took);
    }

    /// Returns the times up to now.
    pub(super) fn finish(mut self) -> PartTimes {
        self.times.longest += self.longest;
        self.times.without_other_programs(self.started.elapsed(), self.processor.elapsed())
    }
}

impl PartTimes {
    /// Leaves out what other programs took of `wall`, of which this thread had the processor for `processor`. They
    /// interrupt parts in proportion to their work, and a part that they interrupt is the slowest of its window.
    fn without_other_programs(self, wall: Duration, processor: Duration) -> Self {
        let own = (processor.as_secs_f64() / wall.as_secs_f64().max(1e-9)).min(1.0);
        let work = self.work.mul_f64(own);
        let least = Duration::from_nanos((work.as_nanos() as u64).div_ceil(self.parts.max(1) as u64));
        Self {
            work,
            longest: self.longest.saturating_sub(self.work.saturating_sub(work)).max(least),
            exchange: self.exchange.mul_f64(own),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_lengthen_the_slowest_part_of_some_windows() {
        const MS: Duration = Duration::from_millis(1);
        let times =
            PartTimes { parts: 2, windows: 1_000, work: 200 * MS, longest: 130 * MS, exchange: 20 * MS };
        assert_eq!(times.without_other_programs(220 * MS, 220 * MS), times);
        // A quarter of the time was taken: 50 of the 200 ms, all of them from slowest parts.
        let found = times.without_other_programs(400 * MS, 300 * MS);
        let expected = PartTimes { work: 150 * MS, longest: 80 * MS, exchange: 15 * MS, ..times };
        assert_eq!(found, expected);
        // The slowest part has at least its share.
        assert_eq!(times.without_other_programs(400 * MS, 200 * MS).longest, 50 * MS);
    }
}

//! Whether several threads are faster than one, from the clocks of a run.
//!
//! A thread works while it is not at the barrier. If the wall-clock time is longer than the work of all threads
//! together, one thread would be faster: another program uses a core, or the parts are too small for their barriers.
#![expect(clippy::disallowed_methods, reason = "clocks decide who works, never what comes out")]

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

/// Wall-clock time between two checks of the clocks: a few time slices of the system.
const CHECK_AFTER: Duration = Duration::from_millis(10);

/// Consecutive checks that must find several threads slower, one that finds them twice as slow counting twice. A run
/// whose threads have no cores of their own then goes on alone within some tenths of a second.
const SLOWER_CHECKS: u32 = 3;

/// The clocks of one thread since the last check.
#[derive(Debug)]
pub(super) struct Clocks {
    wall: Instant,
    processor: ThreadTime,
    /// Wall-clock time at the barrier.
    waited: Duration,
    /// The time at which the thread last left the barrier.
    left: Instant,
}

impl Clocks {
    /// Starts now.
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { wall: now, processor: ThreadTime::now(), waited: Duration::ZERO, left: now }
    }

    /// Measures `wait` as time at the barrier.
    pub(super) fn waiting<R>(&mut self, wait: impl FnOnce() -> R) -> R {
        let began = Instant::now();
        let result = wait();
        self.left = Instant::now();
        self.waited += self.left - began;
        result
    }

    /// Returns the wall-clock time from the start to the last barrier.
    pub(super) fn elapsed(&self) -> Duration {
        self.left - self.wall
    }

    /// Returns the work since the start, and starts again.
    pub(super) fn take_work(&mut self) -> Work {
        let wall = self.wall.elapsed();
        let work = Work { wall, worked: worked(wall, self.waited, self.processor.elapsed()) };
        *self = Self::start();
        work
    }
}

/// The work of a thread between two checks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Wall-clock time.
    pub(super) wall: Duration,
    /// Processor time outside the barrier.
    pub(super) worked: Duration,
}

/// Returns the processor time outside the barrier: at most the `processor` time, which includes waits that spin, and
/// the rest of the wall-clock time, which includes other programs.
fn worked(wall: Duration, waited: Duration, processor: Duration) -> Duration {
    processor.min(wall.saturating_sub(waited))
}

/// The decision whether one thread takes over, made by the first thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpeedCheck {
    state: State,
    /// Consecutive checks that found several threads slower; counts twice if they were twice as slow.
    slower: u32,
}

/// The progress of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The next one is not due.
    Idle,
    /// All threads were asked for their work, which they publish in the next round.
    Asked,
    /// All have published their work since the last check, which took this long on the wall.
    Published(Duration),
}

/// The request to the other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    GoOn,
    /// Publish the work since the last check.
    PublishWork,
    /// Leave all parts to the first thread.
    OneThread,
}

impl SpeedCheck {
    pub(super) const START: Self = Self { state: State::Idle, slower: 0 };

    /// Notes that all threads publish their work now, `wall` after the last check.
    pub(super) fn published(&mut self, wall: Duration) {
        self.state = State::Published(wall);
    }

    /// Advises after a round, `elapsed` after the last check. `worked` is what all threads published in this round.
    pub(super) fn advise(&mut self, elapsed: Duration, worked: Duration) -> Advice {
        match self.state {
            State::Idle if elapsed < CHECK_AFTER => Advice::GoOn,
            State::Idle => {
                self.state = State::Asked;
                Advice::PublishWork
            }
            State::Asked => Advice::GoOn,
            State::Published(wall) => {
                self.state = State::Idle;
                self.slower = if wall <= worked { 0 } else { self.slower + 1 + u32::from(wall > 2 * worked) };
                if self.slower < SLOWER_CHECKS { Advice::GoOn } else { Advice::OneThread }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// One check: not due, asked for, published, judged.
    fn check(pace: &mut SpeedCheck, wall: Duration, worked: Duration) -> Advice {
        assert_eq!(pace.advise(9 * MS, Duration::ZERO), Advice::GoOn);
        assert_eq!(pace.advise(wall, Duration::ZERO), Advice::PublishWork);
        assert_eq!(pace.advise(wall, Duration::ZERO), Advice::GoOn);
        pace.published(wall);
        pace.advise(MS, worked)
    }

    #[test]
    fn one_thread_takes_over_after_three_slow_checks_in_a_row() {
        let mut pace = SpeedCheck::START;
        let slow = |pace: &mut SpeedCheck| check(pace, 12 * MS, 11 * MS);
        assert_eq!([slow(&mut pace), slow(&mut pace)], [Advice::GoOn; 2]);
        // Two threads that work for 18 of 20 ms each save time.
        assert_eq!(check(&mut pace, 20 * MS, 36 * MS), Advice::GoOn);
        assert_eq!([slow(&mut pace), slow(&mut pace)], [Advice::GoOn; 2]);
        assert_eq!(slow(&mut pace), Advice::OneThread);
        let mut pace = SpeedCheck::START;
        let very_slow = |pace: &mut SpeedCheck| check(pace, 23 * MS, 11 * MS);
        assert_eq!([very_slow(&mut pace), very_slow(&mut pace)], [Advice::GoOn, Advice::OneThread]);
    }

    #[test]
    fn neither_waits_nor_other_programs_are_work() {
        // 20 ms, 12 of them at the barrier; the thread spun there, then slept there, then lost its core for 5 ms.
        assert_eq!(worked(20 * MS, 12 * MS, 20 * MS), 8 * MS);
        assert_eq!(worked(20 * MS, 12 * MS, 8 * MS), 8 * MS);
        assert_eq!(worked(20 * MS, 12 * MS, 3 * MS), 3 * MS);
        // Clocks that disagree.
        assert_eq!(worked(20 * MS, 21 * MS, 20 * MS), Duration::ZERO);
    }
}

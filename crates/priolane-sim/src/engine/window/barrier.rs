//! A barrier for threads between windows.
//!
//! A window takes microseconds: threads spin, and yield their core only if the others take long.

use std::num::NonZeroU8;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Spins before a waiting thread starts to yield: some ten microseconds.
const SPINS: u32 = 4_000;

/// A barrier at which all members wait for each other.
#[derive(Debug)]
pub(super) struct Barrier {
    members: u32,
    arrived: AtomicU32,
    round: AtomicU32,
    broken: AtomicBool,
}

/// A member panicked, so the barrier will never be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BrokenBarrier;

impl Barrier {
    pub(super) fn new(members: usize) -> Self {
        let members = members as u32;
        Self { members, arrived: AtomicU32::new(0), round: AtomicU32::new(0), broken: AtomicBool::new(false) }
    }

    /// Waits for all members. Everything that any member did before is visible to all afterwards.
    pub(super) fn wait(&self) -> Result<(), BrokenBarrier> {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            if self.broken.load(Ordering::Relaxed) {
                return Err(BrokenBarrier);
            }
            if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Releases all waiting threads, now and in the future.
    pub(super) fn break_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }
}

/// Measures how long a barrier of this number of threads takes on this machine if all arrive at once: the least of
/// several averages, because other programs only lengthen it. Meaningless with more threads than cores.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads clocks")]
pub fn barrier_time(threads: NonZeroU8) -> Duration {
    const ROUNDS: u32 = 5_000;
    let average = || {
        let barrier = Barrier::new(usize::from(threads.get()));
        // No member panics here, so the barrier does not break.
        let meet = |rounds| (0..rounds).all(|_| barrier.wait().is_ok());
        std::thread::scope(|scope| {
            for _ in 1..threads.get() {
                scope.spawn(|| meet(ROUNDS + 1));
            }
            // Once all threads have started.
            meet(1);
            let began = Instant::now();
            meet(ROUNDS);
            began.elapsed() / ROUNDS
        })
    };
    (0..9).map(|_| average()).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn nobody_is_a_round_ahead() {
        let (barrier, log) = (Barrier::new(3), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for member in 0..3 {
                let (barrier, log) = (&barrier, &log);
                scope.spawn(move || {
                    for round in 0..200 {
                        log.lock().unwrap().push((round, member));
                        barrier.wait().unwrap();
                    }
                });
            }
        });
        let log = log.into_inner().unwrap();
        assert!(log.len() == 600 && log.is_sorted_by_key(|&(round, _)| round));
    }

    #[test]
    fn a_member_that_does_not_come_lets_the_others_go() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait());
            barrier.break_up();
            assert_eq!(waiting.join().unwrap(), Err(BrokenBarrier));
        });
    }
}

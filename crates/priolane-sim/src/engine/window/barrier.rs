//! Where threads wait for each other between windows.
//!
//! A window is microseconds of work: threads spin, and only yield their core when the others take long.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Spins before a waiting thread begins to yield: some ten microseconds.
const SPINS: u32 = 4_000;

/// All members wait until all are there.
#[derive(Debug)]
pub(super) struct Barrier {
    members: u32,
    arrived: AtomicU32,
    round: AtomicU32,
    broken: AtomicBool,
}

/// A member panicked, and will not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl Barrier {
    pub(super) fn new(members: usize) -> Self {
        let members = members as u32;
        Self { members, arrived: AtomicU32::new(0), round: AtomicU32::new(0), broken: AtomicBool::new(false) }
    }

    /// Waits for all others. What any of them did before, all see after.
    pub(super) fn wait(&self) -> Result<(), Broken> {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            if self.broken.load(Ordering::Relaxed) {
                return Err(Broken);
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

    /// Lets all go that wait, now and later.
    pub(super) fn break_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }
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
            assert_eq!(waiting.join().unwrap(), Err(Broken));
        });
    }
}

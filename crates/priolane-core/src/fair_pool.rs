//! A bounded amount of memory that several senders share, such that none can take all of it.
//!
//! ```text
//! total        half of it divided equally: each sender always gets its `guaranteed` part
//!              the rest is shared: a sender's use beyond its guaranteed part is at most ALPHA times what is free
//! ```
//!
//! The second rule is that of the dynamic thresholds of switch buffers (Choudhury and Hahne, ToN 1998): one sender alone gets
//! `ALPHA / (ALPHA + 1)` of the shared part, and some of it is free for the next. The pool never needs to take back what
//! it gave.

/// Use of the shared part that a sender may have, relative to what is free of it.
const ALPHA: u64 = 4;

/// The pool. The caller keeps the use of each sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FairPool {
    /// Use that each sender may always have.
    guaranteed: u64,
    shared: u64,
    /// Use of the shared part.
    taken: u64,
}

impl FairPool {
    /// Creates an unused pool of `total` for at most `senders` senders at the same time; 0 counts as 1.
    pub const fn new(total: u64, senders: u16) -> Self {
        let senders = if senders == 0 { 1 } else { senders as u64 };
        let guaranteed = total / 2 / senders;
        Self { guaranteed, shared: total - guaranteed * senders, taken: 0 }
    }

    fn beyond(&self, used: u64) -> u64 {
        used.saturating_sub(self.guaranteed)
    }

    /// Returns true if a sender that uses `used` may use `more`.
    pub fn admits(&self, used: u64, more: u64) -> bool {
        let after = self.beyond(used.saturating_add(more));
        let extra = after - self.beyond(used);
        let free = self.shared.saturating_sub(self.taken);
        extra == 0 || extra <= free && after <= (free - extra).saturating_mul(ALPHA)
    }

    /// Records that the use of a sender changed from `before` to `after`.
    pub fn change(&mut self, before: u64, after: u64) {
        self.taken = (self.taken + self.beyond(after)).saturating_sub(self.beyond(before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn one_sender_gets_four_fifths_of_the_shared_part_and_others_their_guaranteed_part() {
        // 1000 for 5 senders: 100 guaranteed each, 500 shared.
        let mut pool = FairPool::new(1_000, 5);
        let mut used = 0;
        while pool.admits(used, 1) {
            pool.change(used, used + 1);
            used += 1;
        }
        // 100 + x with x <= 4 (500 - x): x = 400.
        assert_eq!(used, 500);
        assert!(pool.admits(0, 100) && pool.admits(99, 1), "the guaranteed part of another");
        // 100 of the shared part are free: y <= 4 (100 - y), y = 80.
        assert!(pool.admits(0, 180) && !pool.admits(0, 181));
        pool.change(used, 0);
        assert_eq!(pool, FairPool::new(1_000, 5));
    }

    #[test]
    fn all_senders_together_never_use_more_than_the_total() {
        let mut draw = Stream::new(7, Purpose::Ties, 0);
        let mut pool = FairPool::new(10_000, 8);
        let mut used = [0u64; 8];
        for _ in 0..20_000 {
            let (at, more) = (draw.below(8) as usize, draw.below(300));
            if draw.chance(0.3) {
                let less = more.min(used[at]);
                pool.change(used[at], used[at] - less);
                used[at] -= less;
            } else if pool.admits(used[at], more) {
                pool.change(used[at], used[at] + more);
                used[at] += more;
            } else {
                assert!(used[at] + more > 625, "a sender is refused its guaranteed part");
            }
            assert!(used.iter().sum::<u64>() <= 10_000, "{used:?}");
        }
        assert!(used.iter().sum::<u64>() > 5_000, "the pool is not used: {used:?}");
    }
}

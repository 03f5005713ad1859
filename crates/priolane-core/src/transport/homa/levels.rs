//! Assigns classes to Homa's packets.
//!
//! ```text
//! unscheduled   U classes from 0 on: a message is in the first whose cut-off is not below its length, else the last
//! scheduled     S classes after those; M messages granted:  M < S: the M last classes, the best message first;
//!               else the best S - 1 messages have a class each, all others share the last
//! ```
//!
//! The last classes are used first, so that a better message that arrives later can preempt
//! (draft-ousterhout-tsvwg-homa §5). The cut-offs balance the unscheduled bytes across the unscheduled classes.
//! Control packets are in class 0.

use crate::ids::{CLASSES, Class};
use crate::sizes::SizeDistribution;

/// The classes of Homa's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Levels {
    unscheduled: u8,
    scheduled: u8,
    /// Maximum message length of each unscheduled class but the last, ascending; only the first `unscheduled - 1`
    /// count.
    cutoffs: [u64; CLASSES],
}

/// The reason why a class layout is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelsError {
    /// There must be at least one class of each kind, and at most 16 in total.
    Count,
    /// A cut-off is zero or not above the one before it.
    Order,
}

impl Levels {
    /// One unscheduled class, seven scheduled classes.
    pub const DEFAULT: Self = Self { unscheduled: 1, scheduled: 7, cutoffs: [0; CLASSES] };

    /// Creates a layout with `cutoffs.len() + 1` unscheduled and `scheduled` scheduled classes.
    ///
    /// # Errors
    /// See [`LevelsError`].
    pub fn new(cutoffs: &[u64], scheduled: u8) -> Result<Self, LevelsError> {
        if scheduled == 0 || cutoffs.len() + 1 + usize::from(scheduled) > CLASSES {
            return Err(LevelsError::Count);
        }
        if cutoffs.first() == Some(&0) || cutoffs.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(LevelsError::Order);
        }
        let mut all = [0; CLASSES];
        all[..cutoffs.len()].copy_from_slice(cutoffs);
        Ok(Self { unscheduled: cutoffs.len() as u8 + 1, scheduled, cutoffs: all })
    }

    /// Computes cut-offs that balance the unscheduled bytes across `unscheduled` classes. The unscheduled bytes are
    /// the first `rtt_bytes` of each message, with lengths drawn from `sizes`. Returns fewer cut-offs if a class
    /// would be empty.
    pub fn cutoffs(sizes: &SizeDistribution, rtt_bytes: u64, unscheduled: u8) -> Vec<u64> {
        const STEPS: u32 = 60;
        let below = |x: f64| unscheduled_below(sizes, x, rtt_bytes as f64);
        let largest = sizes.max();
        let total = below(largest);
        let mut cutoffs = Vec::new();
        for level in 1..unscheduled {
            let wanted = total * f64::from(level) / f64::from(unscheduled);
            let (mut low, mut high) = (0.0, largest);
            for _ in 0..STEPS {
                let middle = (low + high) / 2.0;
                if below(middle) < wanted { low = middle } else { high = middle }
            }
            let cutoff = high.ceil().max(1.0) as u64;
            if cutoffs.last().is_none_or(|&last| last < cutoff) && (cutoff as f64) < largest {
                cutoffs.push(cutoff);
            }
        }
        cutoffs
    }

    /// Returns the total number of classes.
    pub fn count(&self) -> u8 {
        self.unscheduled + self.scheduled
    }

    /// Returns the class of the unscheduled packets of a message of `size` bytes.
    pub(crate) fn unscheduled_class(&self, size: u64) -> Class {
        let cutoffs = &self.cutoffs[..usize::from(self.unscheduled - 1)];
        cutoffs.partition_point(|&cutoff| cutoff < size) as Class
    }

    /// Returns the class of packets granted to the message with this rank, 0 the best, of `granted` messages.
    pub(crate) fn scheduled_class(&self, rank: usize, granted: usize) -> Class {
        let scheduled = usize::from(self.scheduled);
        let place = (scheduled.saturating_sub(granted) + rank).min(scheduled - 1);
        self.unscheduled + place as Class
    }
}

/// E[min(X, rtt); X <= x]: mean unscheduled bytes per message that belong to messages of at most `x` bytes.
fn unscheduled_below(sizes: &SizeDistribution, x: f64, rtt: f64) -> f64 {
    // E[min(X, y); X <= y] = E[min(X, y)] - y P(X > y).
    let up_to = |y: f64| sizes.truncated_mean(y) - y * (1.0 - sizes.cdf(y));
    if x <= rtt { up_to(x) } else { up_to(rtt) + rtt * (sizes.cdf(x) - sizes.cdf(rtt)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes::{Interpolation, Point};

    #[test]
    fn few_granted_messages_use_the_last_classes_and_too_many_share_the_last() {
        let of = |granted: usize| {
            (0..granted).map(|rank| Levels::DEFAULT.scheduled_class(rank, granted)).collect::<Vec<_>>()
        };
        assert_eq!(of(1), [7]);
        assert_eq!(of(3), [5, 6, 7]);
        assert_eq!(of(7), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(of(9), [1, 2, 3, 4, 5, 6, 7, 7, 7]);
    }

    #[test]
    fn a_message_is_in_the_first_class_whose_cutoff_holds_it() {
        let levels = Levels::new(&[200, 2_800, 15_000], 4).unwrap();
        let classes =
            [1, 200, 201, 2_800, 15_000, 15_001, u64::MAX].map(|size| levels.unscheduled_class(size));
        assert_eq!((classes, levels.count()), ([0, 0, 1, 1, 2, 3, 3], 8));
    }

    #[test]
    fn cutoffs_ascend_and_sixteen_classes_are_all() {
        assert_eq!(Levels::new(&[5, 5], 2), Err(LevelsError::Order));
        assert_eq!(Levels::new(&[0], 2), Err(LevelsError::Order));
        assert_eq!(Levels::new(&[], 0), Err(LevelsError::Count));
        assert_eq!(Levels::new(&[], 16), Err(LevelsError::Count));
        assert!(Levels::new(&[1], 14).is_ok());
    }

    #[test]
    fn classes_share_the_unscheduled_bytes_evenly() {
        // Uniform from 0 to 1000 B with 1000 unscheduled: bytes below x are x^2 / 2000, so half of them below
        // 707.2.
        let even = SizeDistribution::new(
            [(0.0, 0.0), (1_000.0, 1.0)].map(|(bytes, cdf)| Point { bytes, cdf }).to_vec(),
            Interpolation::Linear,
        )
        .unwrap();
        assert_eq!(Levels::cutoffs(&even, 1_000, 2), [708]);
        // 100 unscheduled: all above 100 B have the same number; below x are 100 x - 5000, of 95000 in total: 5 +
        // 95 / 2 per cent.
        assert_eq!(Levels::cutoffs(&even, 100, 2), [525]);
        assert_eq!(Levels::cutoffs(&even, 100, 1), [0u64; 0]);
    }
}

//! Priority by bytes sent, with demotion thresholds (NOS2 §III-B, PIAS).
//!
//! A packet of a flow that has already sent `b` bytes gets level `p` with `w_p <= b < w_{p+1}`, `w_0 = 0`, `w_N`
//! infinite (half-open; docs/assumptions.md#thresholds-half-open). Per packet this takes one comparison with the
//! cached end of the current level.

use crate::ids::CLASSES;
use crate::keys::Words;

/// Definition of "bytes sent".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Count {
    /// The packet's own offset in the stream: a retransmission keeps its level (PIAS-NS2).
    #[default]
    StreamOffset,
    /// All payload bytes that the flow has sent, retransmissions included.
    BytesSent,
}

/// Demotion thresholds in payload bytes, non-decreasing; equal thresholds leave a level empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemotionThresholds {
    thresholds: [u64; CLASSES - 1],
    levels: u8,
    count: Count,
}

impl DemotionThresholds {
    /// One level: all packets are at level 0.
    pub const FLAT: Self =
        Self { thresholds: [u64::MAX; CLASSES - 1], levels: 1, count: Count::StreamOffset };

    /// Creates `thresholds.len() + 1` levels with these thresholds in bytes.
    ///
    /// `None` if there are more than 15 thresholds or they decrease.
    pub fn new(thresholds: &[u64], count: Count) -> Option<Self> {
        if thresholds.len() >= CLASSES || !thresholds.is_sorted() {
            return None;
        }
        let mut all = [u64::MAX; CLASSES - 1];
        all[..thresholds.len()].copy_from_slice(thresholds);
        Some(Self { thresholds: all, levels: thresholds.len() as u8 + 1, count })
    }

    /// Replaces the thresholds, in bytes, keeping the definition of bytes sent. Returns `self` if they are invalid.
    #[must_use]
    pub(crate) fn with_thresholds(&self, thresholds: &[u64]) -> Self {
        Self::new(thresholds, self.count).unwrap_or(*self)
    }

    /// Returns the number of levels, at least 1.
    pub fn levels(&self) -> u8 {
        self.levels
    }

    /// Returns the definition of bytes sent.
    pub fn count(&self) -> Count {
        self.count
    }

    /// Returns the thresholds in bytes, one fewer than levels.
    pub fn thresholds(&self) -> &[u64] {
        &self.thresholds[..usize::from(self.levels) - 1]
    }

    /// Returns the level of a packet after `bytes` sent bytes.
    #[inline]
    pub fn level(&self, bytes: u64) -> u8 {
        self.thresholds().iter().filter(|&&w| w <= bytes).count() as u8
    }

    /// Returns the first byte count beyond `level`; `u64::MAX` for the last level.
    #[inline]
    pub(crate) fn end_of(&self, level: u8) -> u64 {
        self.thresholds.get(usize::from(level)).copied().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_half_open() {
        let ladder = DemotionThresholds::new(&[1000, 1000, 5000], Count::StreamOffset).unwrap();
        assert_eq!(ladder.levels(), 4);
        let levels: Vec<u8> = [0, 999, 1000, 4999, 5000, u64::MAX - 1].map(|b| ladder.level(b)).to_vec();
        assert_eq!(levels, [0, 0, 2, 2, 3, 3]);
        assert_eq!((ladder.end_of(0), ladder.end_of(2), ladder.end_of(3)), (1000, 5000, u64::MAX));
    }

    #[test]
    fn decreasing_or_too_many_thresholds_are_refused() {
        assert!(DemotionThresholds::new(&[2, 1], Count::StreamOffset).is_none());
        assert!(DemotionThresholds::new(&[1; 16], Count::StreamOffset).is_none());
        assert!(DemotionThresholds::new(&[1; 15], Count::StreamOffset).is_some());
    }
}

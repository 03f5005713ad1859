//! Priority by bytes sent: a ladder of demotion thresholds (NOS2 §III-B, PIAS).
//!
//! A packet whose flow has already sent `b` bytes gets level `p` with `w_p <= b < w_{p+1}`, `w_0 = 0`,
//! `w_N` infinite (half-open; docs/assumptions.md#thresholds-half-open). Per packet it is one compare
//! with the cached end of the current level.

use crate::ids::CLASSES;
use crate::keys::Words;

/// What "bytes sent" counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Count {
    /// The packet's own offset in the stream: a retransmission keeps its level (PIAS-NS2).
    #[default]
    StreamOffset,
    /// Every payload byte the flow has sent, retransmissions included.
    BytesSent,
}

/// Demotion thresholds in payload bytes, non-decreasing; equal ones leave a level empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemotionThresholds {
    thresholds: [u64; CLASSES - 1],
    levels: u8,
    count: Count,
}

impl DemotionThresholds {
    /// One level: everybody is at level 0.
    pub const FLAT: Self =
        Self { thresholds: [u64::MAX; CLASSES - 1], levels: 1, count: Count::StreamOffset };

    /// The ladder with these thresholds in bytes: `thresholds.len() + 1` levels.
    ///
    /// `None` if there are more than 15 or they decrease.
    pub fn new(thresholds: &[u64], count: Count) -> Option<Self> {
        if thresholds.len() >= CLASSES || !thresholds.is_sorted() {
            return None;
        }
        let mut all = [u64::MAX; CLASSES - 1];
        all[..thresholds.len()].copy_from_slice(thresholds);
        Some(Self { thresholds: all, levels: thresholds.len() as u8 + 1, count })
    }

    /// A ladder with these thresholds in bytes that counts as this one does; this one if they are none for a ladder.
    #[must_use]
    pub(crate) fn with_thresholds(&self, thresholds: &[u64]) -> Self {
        Self::new(thresholds, self.count).unwrap_or(*self)
    }

    /// The number of levels, at least 1.
    pub fn levels(&self) -> u8 {
        self.levels
    }

    /// What the byte counter counts.
    pub fn count(&self) -> Count {
        self.count
    }

    /// The thresholds in bytes, one fewer than levels.
    pub fn thresholds(&self) -> &[u64] {
        &self.thresholds[..usize::from(self.levels) - 1]
    }

    /// The level of a packet that `bytes` bytes went before.
    #[inline]
    pub fn level(&self, bytes: u64) -> u8 {
        self.thresholds().iter().filter(|&&w| w <= bytes).count() as u8
    }

    /// The first byte count that is no longer at `level`; `u64::MAX` at the last.
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

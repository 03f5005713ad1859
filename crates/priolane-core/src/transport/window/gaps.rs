//! The out-of-order data of a receiver, and the bytes that its sender gave up.

use crate::packet::Offset;
use crate::transport::common::{Interval, Ranges};

/// Maximum number of out-of-order intervals at a receiver; a packet that would begin one more is treated as lost.
const MAX_RANGES: usize = 4_096;

/// The data received above the first missing byte.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    above: Ranges,
    /// A byte of the block reported first, and of the one reported first before that.
    recent: [Offset; 2],
    /// Bytes given up by the sender before they arrived.
    missing: u64,
}

impl Gaps {
    /// Returns the bytes given up by the sender before they arrived.
    pub(super) fn missing(&self) -> u64 {
        self.missing
    }

    /// Records that `bytes` will not arrive.
    pub(super) fn give_up(&mut self, bytes: Interval) {
        self.missing += self.above.missing(bytes);
    }

    /// Stores `bytes`, which are out of order, and makes their block the first to be reported. Returns true if any
    /// of them are new.
    pub(super) fn keep(&mut self, bytes: Interval) -> bool {
        if self.above.count() >= MAX_RANGES && !self.above.touches(bytes) {
            return false;
        }
        let mut is_new = false;
        self.above.insert(bytes, |_| is_new = true);
        let block = self.above.holding(bytes.start);
        if block != self.above.holding(self.recent[0].get()) {
            self.recent[1] = self.recent[0];
        }
        self.recent[0] = Offset::new(bytes.start);
        is_new
    }

    /// Returns true if the byte at `offset` is in a block.
    pub(super) fn has(&self, offset: u64) -> bool {
        self.above.holding(offset).is_some()
    }

    /// Returns the end of the highest block; `edge` if there is none.
    pub(super) fn end_above(&self, edge: u64) -> u64 {
        self.above.end_above(edge)
    }

    /// Returns true if there are no blocks.
    pub(super) fn is_empty(&self) -> bool {
        self.above.is_empty()
    }

    /// Returns the end of the contiguous data when everything before `edge` has arrived.
    pub(super) fn absorb(&mut self, edge: u64) -> u64 {
        self.above.absorb(edge)
    }

    /// Returns the blocks that an ACK reports, as offsets from `next`, the first missing byte; the most recent
    /// first (RFC 2018 §4). (0, 0) stands for no block, or one beyond 32 bits.
    pub(super) fn blocks(&self, next: u64) -> [(u32, u32); 2] {
        let [latest, before] = self.recent.map(|offset| self.above.holding(offset.get()));
        let top = self.above.highest();
        let first = latest.or(before).or(top);
        let second = [before, top].into_iter().flatten().find(|&block| Some(block) != first);
        let from_next = |offset: u64| u32::try_from(offset.saturating_sub(next));
        let relative = |block: Interval| Some((from_next(block.start).ok()?, from_next(block.end).ok()?));
        [first, second].map(|block| block.and_then(relative).unwrap_or((0, 0)))
    }
}

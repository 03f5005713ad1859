//! The packets of a flow, and sets of packet numbers.

use std::collections::VecDeque;

use crate::endpoint::PayloadStats;
use crate::packet::{Frame, Header, Offset};

/// The division of a flow into packets: at multiples of the largest payload.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Packets {
    size: u64,
    mss: u64,
}

impl Packets {
    /// Creates the packets of a flow of `size` bytes; without a size it never ends.
    pub(in crate::transport) fn new(size: Option<u64>, frame: &Frame) -> Self {
        let size = size.unwrap_or(Offset::MAX).clamp(1, Offset::MAX);
        Self { size, mss: u64::from(frame.mss()) }
    }

    /// Returns the size of the flow in bytes.
    #[inline]
    pub(in crate::transport) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the number of packets.
    #[inline]
    pub(in crate::transport) fn count(&self) -> u64 {
        self.size.div_ceil(self.mss)
    }

    /// Returns the offset of packet `n`.
    #[inline]
    pub(in crate::transport) fn offset(&self, n: u64) -> u64 {
        n * self.mss
    }

    /// Returns the number of the packet that begins at `offset`.
    #[inline]
    pub(in crate::transport) fn at(&self, offset: u64) -> u64 {
        offset / self.mss
    }

    /// Returns the payload length of packet `n`, which must be one of the flow's.
    #[inline]
    pub(in crate::transport) fn len(&self, n: u64) -> u16 {
        (self.size - self.offset(n)).min(self.mss) as u16
    }

    /// Returns true if offset and length of a data packet match one of these packets.
    pub(in crate::transport) fn are_of(&self, header: &Header) -> bool {
        let n = self.at(header.offset.get());
        n < self.count() && self.offset(n) == header.offset.get() && self.len(n) == header.payload
    }

    /// Returns the number of bytes of the first `n` packets.
    #[inline]
    pub(in crate::transport) fn bytes(&self, n: u64) -> u64 {
        self.size.min(n.saturating_mul(self.mss))
    }
}

/// Maximum number of words of a set: packets further beyond the first missing one are not recorded, whatever a
/// sender claims. An honest sender has fewer than 2^17 in flight.
const MAX_WORDS: u64 = 1 << 14;

/// A set of packet numbers that fills from below.
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct PacketSet {
    /// All numbers below `64 * full` are in the set.
    full: u64,
    /// The next numbers, one bit each.
    words: VecDeque<u64>,
}

impl PacketSet {
    /// Adds `n` and returns true if it is new. A number too far above the others is not added.
    #[inline]
    pub(in crate::transport) fn insert(&mut self, n: u64) -> bool {
        let Some(word) = (n / 64).checked_sub(self.full) else { return false };
        if word >= MAX_WORDS {
            return false;
        }
        let word = word as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (n % 64);
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.full += 1;
        }
        fresh
    }

    /// Adds packet `n` of a flow, which arrived with its payload, and counts it in `stats`. Returns true if it is
    /// new.
    #[inline]
    pub(in crate::transport) fn receive(&mut self, n: u64, stats: &mut PayloadStats) -> bool {
        let highest = self.end();
        let fresh = self.insert(n);
        if fresh {
            stats.count(n, highest);
        }
        fresh
    }

    /// Returns one more than the highest number in the set.
    #[inline]
    fn end(&self) -> u64 {
        // The last word is never 0.
        let last = self.words.back().map_or(0, |bits| u64::from(bits.leading_zeros()));
        64 * (self.full + self.words.len() as u64) - last
    }

    /// Returns true if the set contains `n`.
    #[inline]
    pub(in crate::transport) fn has(&self, n: u64) -> bool {
        match (n / 64).checked_sub(self.full) {
            None => true,
            Some(word) => self.words.get(word as usize).is_some_and(|bits| bits >> (n % 64) & 1 != 0),
        }
    }

    /// Returns the first number at or above `n` that is not in the set.
    pub(in crate::transport) fn first_missing(&self, n: u64) -> u64 {
        let n = n.max(64 * self.full);
        let mut word = n / 64 - self.full;
        let mut below = (1u64 << (n % 64)) - 1;
        while let Some(bits) = self.words.get(word as usize) {
            let missing = !(bits | below);
            if missing != 0 {
                return 64 * (self.full + word) + u64::from(missing.trailing_zeros());
            }
            (word, below) = (word + 1, 0);
        }
        n.max(64 * (self.full + word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn the_last_packet_is_what_is_left() {
        let packets = Packets::new(Some(3_000), &Frame::ETHERNET);
        assert_eq!((packets.count(), packets.len(1), packets.len(2)), (3, 1_460, 80));
        assert_eq!(
            (packets.offset(2), packets.at(2_920), packets.bytes(2), packets.bytes(9)),
            (2_920, 2, 2_920, 3_000)
        );
        assert_eq!(Packets::new(None, &Frame::ETHERNET).size(), Offset::MAX);
    }

    #[test]
    fn a_set_takes_little_memory_whatever_is_put_in() {
        let mut set = PacketSet::default();
        let most = 64 * MAX_WORDS;
        assert_eq!([1 << 37, most, most - 1, most - 1].map(|n| set.insert(n)), [false, false, true, false]);
        assert_eq!((set.words.len() as u64, set.has(1 << 37), set.first_missing(0)), (MAX_WORDS, false, 0));
        // As the set fills from below it accepts higher numbers.
        (0..64).for_each(|n| assert!(set.insert(n)));
        assert!(set.insert(most));
    }

    #[test]
    fn a_set_agrees_with_a_plain_list() {
        let mut draw = Stream::new(3, Purpose::Ties, 0);
        let (mut set, mut model) = (PacketSet::default(), [false; 1_000]);
        for step in 0..900u64 {
            let lowest = model.iter().position(|there| !there).unwrap() as u64;
            let n = if draw.chance(0.6) { lowest } else { (step / 2 + draw.below(90)).min(999) };
            assert_eq!(set.insert(n), !std::mem::replace(&mut model[n as usize], true));
            let probe = draw.below(999);
            assert_eq!(set.has(probe), model[probe as usize]);
            let gap = (probe as usize..).find(|&i| i >= 1_000 || !model[i]).unwrap();
            assert_eq!(set.first_missing(probe), gap as u64, "from {probe}");
            let highest = model.iter().rposition(|&there| there).map_or(0, |last| last as u64 + 1);
            assert_eq!(set.end(), highest);
        }
        assert!(set.full > 5, "{set:?}");
    }
}

//! Byte ranges of a stream that arrived out of order, or are known to have done so.

use std::collections::VecDeque;

/// Bytes `start..end` of a stream; never empty when stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) struct Interval {
    pub(in crate::transport) start: u64,
    pub(in crate::transport) end: u64,
}

impl Interval {
    #[inline]
    pub(in crate::transport) fn len(self) -> u64 {
        self.end - self.start
    }

    /// Returns the number of bytes that both intervals contain.
    #[inline]
    pub(in crate::transport) fn overlap(self, other: Self) -> u64 {
        self.end.min(other.end).saturating_sub(self.start.max(other.start))
    }
}

/// A sorted list of disjoint, non-touching intervals. Growth at the end and removal at the start, the common cases,
/// take constant time; other operations take a binary search and a shift.
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct Ranges {
    /// Boxed and allocated on first use, because most flows never need one.
    held: Option<Box<CountedRanges>>,
}

/// The intervals and their total number of bytes.
#[derive(Clone, Debug, Default)]
struct CountedRanges {
    all: VecDeque<Interval>,
    bytes: u64,
}

/// The list before the first insertion.
const NOTHING: &VecDeque<Interval> = &VecDeque::new();

impl Ranges {
    /// Returns the number of bytes in all intervals.
    #[inline]
    pub(in crate::transport) fn bytes(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.bytes)
    }

    #[inline]
    fn all(&self) -> &VecDeque<Interval> {
        self.held.as_ref().map_or(NOTHING, |held| &held.all)
    }

    /// Returns the number of intervals.
    #[inline]
    pub(in crate::transport) fn count(&self) -> usize {
        self.all().len()
    }

    #[inline]
    pub(in crate::transport) fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// Adds `new` (not empty) and calls `fresh` with each part of it that was missing.
    pub(in crate::transport) fn insert(&mut self, new: Interval, mut fresh: impl FnMut(Interval)) {
        let CountedRanges { all, bytes } = &mut **self.held.get_or_insert_default();
        let first = match all.back() {
            Some(top) if new.start > top.end => all.len(),
            Some(top) if new.start >= top.start => all.len() - 1,
            Some(_) => all.partition_point(|r| r.end < new.start),
            None => 0,
        };
        let mut merged = new;
        let mut at = new.start;
        let mut last = first;
        while let Some(&old) = all.get(last).filter(|r| r.start <= new.end) {
            if at < old.start {
                fresh(Interval { start: at, end: old.start });
            }
            at = old.end;
            *bytes -= old.len();
            merged = Interval { start: merged.start.min(old.start), end: merged.end.max(old.end) };
            last += 1;
        }
        if at < new.end {
            fresh(Interval { start: at, end: new.end });
        }
        *bytes += merged.len();
        if first == last {
            all.insert(first, merged);
        } else {
            all[first] = merged;
            all.drain(first + 1..last);
        }
    }

    /// Removes the bytes of `gone`, which may be in any number of intervals.
    pub(in crate::transport) fn remove(&mut self, gone: Interval) {
        let Some(CountedRanges { all, bytes }) = self.held.as_deref_mut() else { return };
        let mut at = all.partition_point(|r| r.end <= gone.start);
        while let Some(&old) = all.get(at).filter(|r| r.start < gone.end) {
            all.remove(at);
            *bytes -= old.overlap(gone);
            let rest = [(old.start, gone.start), (gone.end, old.end)];
            for (start, end) in rest.into_iter().filter(|(start, end)| start < end) {
                all.insert(at, Interval { start, end });
                at += 1;
            }
        }
    }

    /// Removes everything below `to` and calls `fresh` with each part of `from..to` that was missing.
    pub(in crate::transport) fn advance(&mut self, from: u64, to: u64, mut fresh: impl FnMut(Interval)) {
        let mut at = from;
        while let Some(CountedRanges { all, bytes }) = self.held.as_deref_mut()
            && let Some(front) = all.front_mut().filter(|r| r.start < to)
        {
            if at < front.start {
                fresh(Interval { start: at, end: front.start });
            }
            at = front.end;
            if front.end > to {
                *bytes -= to - front.start;
                front.start = to;
                break;
            }
            *bytes -= front.len();
            all.pop_front();
        }
        if at < to {
            fresh(Interval { start: at, end: to });
        }
    }

    /// Removes the intervals that touch `edge`, and returns the end of the contiguous range.
    pub(in crate::transport) fn absorb(&mut self, mut edge: u64) -> u64 {
        while let Some(CountedRanges { all, bytes }) = self.held.as_deref_mut()
            && let Some(&front) = all.front().filter(|r| r.start <= edge)
        {
            edge = edge.max(front.end);
            *bytes -= front.len();
            all.pop_front();
        }
        edge
    }

    /// Returns true if an interval overlaps or borders `new`, so that adding it would not increase the count.
    pub(in crate::transport) fn touches(&self, new: Interval) -> bool {
        let i = self.all().partition_point(|r| r.end < new.start);
        self.all().get(i).is_some_and(|r| r.start <= new.end)
    }

    /// Returns the interval that contains `offset`.
    pub(in crate::transport) fn holding(&self, offset: u64) -> Option<Interval> {
        let i = self.all().partition_point(|r| r.end <= offset);
        self.all().get(i).copied().filter(|r| r.start <= offset)
    }

    /// Returns the end of the highest interval; `edge` if there is none.
    #[inline]
    pub(in crate::transport) fn end_above(&self, edge: u64) -> u64 {
        self.highest().map_or(edge, |top| top.end)
    }

    /// Returns the lowest interval.
    pub(in crate::transport) fn lowest(&self) -> Option<Interval> {
        self.all().front().copied()
    }

    /// Returns the highest interval.
    pub(in crate::transport) fn highest(&self) -> Option<Interval> {
        self.all().back().copied()
    }

    /// Returns the first offset at or above `at` that is in no interval.
    #[inline]
    pub(in crate::transport) fn next_gap(&self, at: u64) -> u64 {
        if self.all().is_empty() { at } else { self.holding(at).map_or(at, |r| r.end) }
    }

    /// Returns the start of the first interval above `at`; `u64::MAX` if there is none.
    pub(in crate::transport) fn next_start(&self, at: u64) -> u64 {
        let i = self.all().partition_point(|r| r.start <= at);
        self.all().get(i).map_or(u64::MAX, |r| r.start)
    }

    /// Returns the number of bytes of `within` that are in no interval.
    pub(in crate::transport) fn missing(&self, within: Interval) -> u64 {
        if within.end <= within.start {
            return 0;
        }
        let from = self.all().partition_point(|r| r.end <= within.start);
        let there: u64 =
            self.all().range(from..).take_while(|r| r.start < within.end).map(|r| r.overlap(within)).sum();
        within.len() - there
    }

    /// Returns the highest offset, as the start of an interval, above which more than `bytes` bytes arrived. What
    /// is missing below it is lost (RFC 6675 §4, `IsLost`). `None` if no more than `bytes` bytes arrived.
    pub(in crate::transport) fn lost_edge(&self, bytes: u64) -> Option<u64> {
        if self.bytes() <= bytes {
            return None;
        }
        let mut above = 0;
        for range in self.all().iter().rev() {
            above += range.len();
            if above > bytes {
                return Some(range.start);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn interval(start: u64, end: u64) -> Interval {
        Interval { start, end }
    }

    #[test]
    fn what_touches_an_interval_makes_no_further_one() {
        let mut ranges = Ranges::default();
        assert!(!ranges.touches(interval(0, 5)));
        ranges.insert(interval(10, 20), |_| ());
        ranges.insert(interval(30, 40), |_| ());
        for (start, end) in
            [(0, 9), (0, 5), (21, 29), (22, 28), (41, 50), (5, 10), (20, 21), (25, 30), (12, 15)]
        {
            let mut with = ranges.clone();
            with.insert(interval(start, end), |_| ());
            assert_eq!(ranges.touches(interval(start, end)), with.count() == 2, "{start}..{end}");
        }
    }

    #[test]
    fn loss_edge_counts_bytes_above_the_hole() {
        let mut ranges = Ranges::default();
        ranges.insert(interval(10, 20), |_| ());
        ranges.insert(interval(30, 40), |_| ());
        ranges.insert(interval(50, 55), |_| ());
        // From the top: 5 bytes above 50, 15 above 30, 25 above 10. "More than", so 15 is not above 15.
        let edges = [4, 5, 14, 15, 24, 25].map(|b| ranges.lost_edge(b));
        assert_eq!(edges, [Some(50), Some(30), Some(30), Some(10), Some(10), None]);
    }

    /// Compares with a plain set of bytes: 300 random sequences of 40 operations on 64 bytes.
    #[test]
    fn ranges_agree_with_a_set_of_bytes() {
        for case in 0..300 {
            let mut draw = Stream::new(case, Purpose::Loss, 0);
            let (mut ranges, mut set, mut floor) = (Ranges::default(), [false; 65], 0);
            for _ in 0..40 {
                let start = floor + draw.below(64 - floor);
                let end = start + 1 + draw.below(64 - start);
                let mut reported = 0;
                if draw.chance(0.2) {
                    ranges.remove(interval(start, end));
                    set[start as usize..end as usize].fill(false);
                } else if draw.chance(0.8) {
                    ranges.insert(interval(start, end), |r| reported += r.len());
                    let fresh = (start..end).filter(|&b| !std::mem::replace(&mut set[b as usize], true));
                    assert_eq!(reported, fresh.count() as u64);
                } else {
                    let to = (floor + draw.below(4)).min(60);
                    ranges.advance(floor, to, |r| reported += r.len());
                    let fresh = (floor..to).filter(|&b| !std::mem::take(&mut set[b as usize]));
                    assert_eq!(reported, fresh.count() as u64);
                    floor = to;
                }
                assert_same(&ranges, &set, interval(start, end));
            }
        }
    }

    fn assert_same(ranges: &Ranges, set: &[bool], probe: Interval) {
        assert_eq!(ranges.bytes(), set.iter().filter(|&&b| b).count() as u64);
        let missing = (probe.start..probe.end).filter(|&b| !set[b as usize]).count() as u64;
        assert_eq!(ranges.missing(probe), missing);
        let gap = (probe.start..).find(|&b| !set[b as usize]).unwrap();
        assert_eq!(ranges.next_gap(probe.start), gap);
        assert!(ranges.all().iter().zip(ranges.all().iter().skip(1)).all(|(a, b)| a.end < b.start));
    }

    #[test]
    fn absorbing_moves_the_edge_over_touching_intervals() {
        let mut ranges = Ranges::default();
        ranges.insert(interval(10, 20), |_| ());
        ranges.insert(interval(30, 40), |_| ());
        assert_eq!(ranges.absorb(9), 9);
        assert_eq!((ranges.absorb(10), ranges.bytes(), ranges.count()), (20, 10, 1));
    }
}

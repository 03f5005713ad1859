//! A timing wheel: an event queue with near events in buckets of one tick, and far events in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::units::Time;

const BUCKETS: u64 = 4096;

/// An item with an instant and a total order by that instant first.
pub(crate) trait Timestamped: Ord {
    fn at(&self) -> Time;
}

/// An event queue, smallest event first.
#[derive(Debug)]
pub(crate) struct TimingWheel<E> {
    tick_log2: u32,
    tick: u64,
    current: BinaryHeap<Reverse<E>>,
    buckets: Vec<Vec<E>>,
    /// Bit `b` is set while bucket `b` is not empty.
    occupied: Vec<u64>,
    far: BinaryHeap<Reverse<E>>,
}

impl<E: Timestamped> TimingWheel<E> {
    /// Creates an empty queue with buckets of `2^tick_log2` picoseconds.
    pub(crate) fn new(tick_log2: u32) -> Self {
        Self {
            tick_log2,
            tick: 0,
            current: BinaryHeap::new(),
            buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
            occupied: vec![0; (BUCKETS / 64) as usize],
            far: BinaryHeap::new(),
        }
    }

    fn tick_of(&self, event: &E) -> u64 {
        event.at().0 >> self.tick_log2
    }

    pub(crate) fn push(&mut self, event: E) {
        let tick = self.tick_of(&event);
        if tick <= self.tick {
            self.current.push(Reverse(event));
        } else if tick < self.tick + BUCKETS {
            let bucket = tick % BUCKETS;
            self.occupied[(bucket / 64) as usize] |= 1 << (bucket % 64);
            self.buckets[bucket as usize].push(event);
        } else {
            self.far.push(Reverse(event));
        }
    }

    /// Removes and returns the smallest event.
    pub(crate) fn pop(&mut self) -> Option<E> {
        while self.current.is_empty() {
            let near = self.next_bucket();
            let far = self.far.peek().map(|Reverse(e)| self.tick_of(e));
            self.tick = [near, far].into_iter().flatten().min()?;
            self.open();
        }
        self.current.pop().map(|Reverse(event)| event)
    }

    /// Moves all events of the current tick to the sorted heap.
    fn open(&mut self) {
        let bucket = self.tick % BUCKETS;
        let events = &mut self.buckets[bucket as usize];
        self.current.extend(events.drain(..).map(Reverse));
        self.occupied[(bucket / 64) as usize] &= !(1 << (bucket % 64));
        while self.far.peek().is_some_and(|Reverse(e)| self.tick_of(e) <= self.tick) {
            self.current.extend(self.far.pop());
        }
    }

    fn next_bucket(&self) -> Option<u64> {
        let start = (self.tick + 1) % BUCKETS;
        let words = self.occupied.len() as u64;
        let ahead = |bucket: u64| self.tick + 1 + (bucket + BUCKETS - start) % BUCKETS;
        let from_start = self.occupied[(start / 64) as usize] >> (start % 64) << (start % 64);
        if from_start != 0 {
            return Some(ahead(start / 64 * 64 + u64::from(from_start.trailing_zeros())));
        }
        (1..=words).find_map(|w| {
            let word = (start / 64 + w) % words;
            let bits = self.occupied[word as usize];
            (bits != 0).then(|| ahead(word * 64 + u64::from(bits.trailing_zeros())))
        })
    }

    /// Returns the start of the current tick.
    pub(crate) fn now(&self) -> Time {
        Time(self.tick << self.tick_log2)
    }

    /// Iterates over the remaining events, unordered.
    pub(crate) fn rest(&self) -> impl Iterator<Item = &E> {
        let heaps = self.current.iter().chain(self.far.iter()).map(|Reverse(e)| e);
        heaps.chain(self.buckets.iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::rng::{Purpose, Stream};

    impl Timestamped for (u64, u32) {
        fn at(&self) -> Time {
            Time(self.0)
        }
    }

    #[test]
    fn events_come_out_in_order_however_far_ahead_they_were_put() {
        let mut stream = Stream::new(1, Purpose::Ties, 0);
        let mut wheel = TimingWheel::new(4);
        let mut now = 0;
        let mut pending = 0;
        let mut popped = 0;
        for i in 0..200_000u32 {
            let ahead = match stream.below(10) {
                0 => stream.below(10_000_000),
                1 => 0,
                // About one revolution.
                2 => (BUCKETS << 4) - 40 + stream.below(80),
                _ => stream.below(5_000),
            };
            wheel.push((now + ahead, i));
            pending += 1;
            if stream.below(2) == 0 || pending > 5000 {
                let (at, _) = wheel.pop().unwrap();
                assert!(at >= now, "{at} after {now}");
                now = at;
                pending -= 1;
                popped += 1;
            }
        }
        while let Some((at, _)) = wheel.pop() {
            assert!(at >= now);
            now = at;
            popped += 1;
        }
        assert_eq!(popped, 200_000);
    }
}

//! A chunked FIFO queue that grows and shrinks with its content.

use std::collections::VecDeque;
use std::fmt;
use std::hint::select_unpredictable;

use crate::prefetch::prefetch;

/// A FIFO queue. A dequeued item stays readable in place until the next item is enqueued.
///
/// Items are stored in two chunks of a few slots each, used in turn as a ring. A long queue has its first items in one
/// end chunk, its last items in the other, and full chunks *between* them; items never move. A queue that is mostly
/// empty stays in a few cache lines: it restarts at the first slot whenever it becomes empty.
///
/// ```text
/// ends[0]   . . . . . a b c      head at a
/// between   d e f g h i j k      l m n o p q r s
/// ends[1]   t u . . . . . .      tail behind u
/// ```
pub(crate) struct ChunkedQueue<T> {
    ends: [Option<Chunk<T>>; 2],
    /// `None` until a middle chunk is needed.
    between: Option<Box<MiddleChunks<T>>>,
    len: u32,
    /// Slot of the first item, counted over both ends.
    head: u16,
    /// Slot behind the last item, in the other end if the last chunk is full.
    tail: u16,
}

/// Slots per chunk; a power of two.
const PLACES: u16 = 8;
/// Slots of both ends.
const ROUND: u16 = 2 * PLACES;

type Chunk<T> = Box<[T; PLACES as usize]>;

/// Chunks between the ends of a long queue.
#[derive(Debug)]
struct MiddleChunks<T> {
    pieces: VecDeque<Chunk<T>>,
    /// The chunk that was emptied last: its last dequeued item may still be read.
    spent: Option<Chunk<T>>,
}

impl<T> Default for ChunkedQueue<T> {
    fn default() -> Self {
        Self { ends: [None, None], between: None, len: 0, head: 0, tail: 0 }
    }
}

impl<T: fmt::Debug> fmt::Debug for ChunkedQueue<T> {
    /// Lists the items in order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let middle = self.between.iter().flat_map(|between| &between.pieces).flat_map(|piece| &**piece);
        let outside = self.len as usize - middle.clone().count();
        let behind = match self.between.as_ref().map_or(0, |between| between.pieces.len()) {
            0 => 0,
            _ => outside - usize::from(PLACES - self.head % PLACES),
        };
        let run =
            |from: u16, count: usize| (0..count as u16).filter_map(move |i| self.at((from + i) % ROUND));
        let tail_run = (self.tail + ROUND - behind as u16) % ROUND;
        let all = run(self.head, outside - behind).chain(middle).chain(run(tail_run, behind));
        f.debug_list().entries(all).finish()
    }
}

/// Returns the end that contains a slot.
#[inline]
fn end(place: u16) -> usize {
    usize::from(place / PLACES % 2)
}

#[inline]
fn begins_piece(place: u16) -> bool {
    place.is_multiple_of(PLACES)
}

/// Returns the previous slot.
#[inline]
fn before(place: u16) -> u16 {
    place.wrapping_sub(1) % ROUND
}

/// Returns the corresponding slot of the other end.
#[inline]
fn across(place: u16) -> u16 {
    place ^ PLACES
}

impl<T> ChunkedQueue<T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the item in a slot of the ends.
    #[inline]
    fn at(&self, place: u16) -> Option<&T> {
        // Loads both pointers instead of branching: a packet waits for this load.
        let [first, second] = &self.ends;
        let piece = select_unpredictable(end(place) == 0, first.as_deref(), second.as_deref());
        piece.map(|piece| &piece[usize::from(place % PLACES)])
    }

    /// Returns the first item.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.at(self.head) }
    }

    /// Prefetches the first item and the slot of the next item to be enqueued.
    #[inline]
    pub(crate) fn prefetch(&self) {
        for place in [self.head, self.tail % ROUND] {
            if let Some(slot) = self.at(place) {
                prefetch(slot);
            }
            if begins_piece((place + 1) % ROUND)
                && let Some(between) = &self.between
            {
                prefetch(&**between);
            }
        }
    }

    /// Returns the second item.
    #[inline]
    pub(crate) fn second(&self) -> Option<&T> {
        if self.len < 2 {
            return None;
        }
        let next = (self.head + 1) % ROUND;
        if begins_piece(next)
            && let Some(piece) = self.between.as_ref().and_then(|between| between.pieces.front())
        {
            return piece.first();
        }
        self.at(next)
    }

    /// Returns the last item.
    pub(crate) fn last(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.at(before(self.tail)) }
    }

    /// Removes the first item.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<&T> {
        let first = self.head;
        let next = (first + 1) % ROUND;
        self.len = self.len.checked_sub(1)?;
        // Branch-free: no processor can predict which packet leaves a queue empty.
        self.head = select_unpredictable(self.len == 0, 0, next);
        self.tail = select_unpredictable(self.len == 0, 0, self.tail);
        if begins_piece(next) && self.between.is_some() {
            return self.leave_first(first);
        }
        self.at(first)
    }

    /// Advances the head to the next chunk after the first chunk became empty. Returns the item dequeued from slot
    /// `last`.
    #[inline(never)]
    fn leave_first(&mut self, last: u16) -> Option<&T> {
        let Some(next) = self.between.as_mut().and_then(|between| between.pieces.pop_front()) else {
            return self.at(last);
        };
        self.head = across(self.head);
        self.replace(end(last), next)?.last()
    }

    /// Removes the last item.
    pub(crate) fn pop_last(&mut self) -> Option<&T> {
        let last = before(self.tail);
        self.len = self.len.checked_sub(1)?;
        self.tail = last;
        if self.len == 0 {
            (self.head, self.tail) = (0, 0);
        } else if begins_piece(last)
            && let Some(full) = self.between.as_mut().and_then(|between| between.pieces.pop_back())
        {
            self.tail = across(last);
            return self.replace(end(last), full)?.first();
        }
        self.at(last)
    }

    /// Replaces an empty end chunk by a middle chunk. Keeps the empty chunk for its last dequeued item.
    fn replace(&mut self, end: usize, piece: Chunk<T>) -> Option<&Chunk<T>> {
        let spent = &mut self.between.as_mut()?.spent;
        *spent = self.ends[end].replace(piece);
        spent.as_ref()
    }
}

impl<T: Copy + Default> ChunkedQueue<T> {
    /// Keeps the items for which `keep` is true, in order.
    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        for _ in 0..self.len() {
            if let Some(item) = self.pop().copied().filter(&keep) {
                self.push(&item);
            }
        }
    }

    /// Appends `item` and returns its location.
    // Inlined as measured: most queues are FIFOs, whose packets all pass here.
    #[inline(always)]
    pub(crate) fn push(&mut self, item: &T) -> &mut T {
        // True if the slot is the first slot of the chunk that holds the first item.
        if begins_piece(self.tail) & (end(self.tail) == end(self.head)) & (self.len != 0) {
            self.make_room();
        }
        let place = self.tail;
        self.tail = (place + 1) % ROUND;
        self.len += 1;
        let place = &mut self.ends[end(place)].get_or_insert_with(piece)[usize::from(place % PLACES)];
        *place = *item;
        place
    }

    /// Moves the full tail chunk to the middle chunks when both ends are in use.
    #[inline(never)]
    fn make_room(&mut self) {
        let none = || Box::new(MiddleChunks { pieces: VecDeque::new(), spent: None });
        let MiddleChunks { pieces, spent } = &mut **self.between.get_or_insert_with(none);
        let next = spent.take().unwrap_or_else(piece);
        self.tail = across(self.tail);
        pieces.extend(self.ends[end(self.tail)].replace(next));
    }
}

#[cold]
#[inline(never)]
fn piece<T: Copy + Default>() -> Chunk<T> {
    Box::new([T::default(); PLACES as usize])
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn order_survives_growth_wrap_and_emptying() {
        let mut draw = Stream::new(1, Purpose::Ties, 0);
        let (mut ring, mut model, mut most) = (ChunkedQueue::default(), VecDeque::new(), 0);
        for item in 0..20_000u64 {
            // Long phases of growth and of decline, through empty.
            if draw.chance(if item / 500 % 2 == 0 { 0.6 } else { 0.35 }) {
                *ring.push(&item) += 1;
                model.push_back(item + 1);
            } else if draw.chance(0.2) {
                assert_eq!(ring.pop_last().copied(), model.pop_back());
            } else {
                assert_eq!(ring.pop().copied(), model.pop_front());
            }
            most = most.max(ring.len());
            if item % 16 == 0 {
                assert_eq!(format!("{ring:?}"), format!("{model:?}"));
            }
            assert_eq!(ring.is_empty(), model.is_empty());
            assert_eq!(ring.first(), model.front());
            assert_eq!((ring.second(), ring.last()), (model.get(1), model.back()));
        }
        assert!(most > 64, "{most}");
        while ring.pop().is_some() {}
        let Some(between) = ring.between else { panic!("two pieces were enough for {most}") };
        assert!(between.pieces.is_empty());
    }
}

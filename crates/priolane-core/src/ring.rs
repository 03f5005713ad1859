//! A queue in one block of memory that is written again and again.

use std::hint::select_unpredictable;

/// First in, first out. What was taken out stays readable in place until the next packet comes; an emptied queue
/// begins anew at its first place, so that a mostly empty one stays in a few cache lines.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    places: Box<[T]>,
    /// Below the number of places, or 0.
    head: u32,
    len: u32,
}

/// Places that a ring keeps once it was empty: a network has many, of which few were full lately.
const KEPT: usize = 16;

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Box::default(), head: 0, len: 0 }
    }
}

impl<T> Ring<T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Where the item lies that has so many before it; at most as many as there are places.
    #[inline]
    fn place(&self, before: u32) -> usize {
        let place = self.head as usize + before as usize;
        // Not a remainder, and without a branch.
        select_unpredictable(place < self.places.len(), place, place.wrapping_sub(self.places.len()))
    }

    /// The first.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.len == 0 { None } else { Some(&self.places[self.head as usize]) }
    }

    /// The one behind the first.
    #[inline]
    pub(crate) fn second(&self) -> Option<&T> {
        if self.len < 2 { None } else { Some(&self.places[self.place(1)]) }
    }

    /// The last.
    pub(crate) fn last(&self) -> Option<&T> {
        let last = self.len.checked_sub(1)?;
        Some(&self.places[self.place(last)])
    }

    /// Takes out the first.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let (first, second) = (self.head as usize, self.place(1) as u32);
        self.len -= 1;
        self.head = if self.len == 0 { 0 } else { second };
        Some(&self.places[first])
    }

    /// Takes out the last.
    pub(crate) fn pop_last(&mut self) -> Option<&T> {
        self.len = self.len.checked_sub(1)?;
        Some(&self.places[self.place(self.len)])
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Puts `item` at the end; where it is kept.
    #[inline]
    pub(crate) fn push(&mut self, item: &T) -> &mut T {
        if self.len as usize == self.places.len() || (self.len == 0 && self.places.len() > KEPT) {
            self.make_room();
        }
        let last = self.place(self.len);
        self.len += 1;
        let place = &mut self.places[last];
        *place = *item;
        place
    }

    #[cold]
    fn make_room(&mut self) {
        if self.len == 0 {
            *self = Self { places: vec![T::default(); 4].into_boxed_slice(), head: 0, len: 0 };
            return;
        }
        let mut places = std::mem::take(&mut self.places).into_vec();
        places.rotate_left(self.head as usize);
        let more = (places.len() / 2).max(4);
        places.reserve_exact(more);
        places.resize(places.len() + more, T::default());
        self.places = places.into_boxed_slice();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn order_survives_growth_wrap_and_emptying() {
        let mut draw = Stream::new(1, Purpose::Ties, 0);
        let (mut ring, mut model, mut most) = (Ring::default(), VecDeque::new(), 0);
        for item in 0..20_000u64 {
            // Long stretches of growth and of decline, through empty.
            if draw.chance(if item / 500 % 2 == 0 { 0.6 } else { 0.35 }) {
                *ring.push(&item) += 1;
                model.push_back(item + 1);
            } else if draw.chance(0.2) {
                assert_eq!(ring.pop_last().copied(), model.pop_back());
            } else {
                assert_eq!(ring.pop().copied(), model.pop_front());
            }
            most = most.max(ring.places.len());
            assert_eq!(ring.is_empty(), model.is_empty());
            assert_eq!(ring.first(), model.front());
            assert_eq!((ring.second(), ring.last()), (model.get(1), model.back()));
        }
        assert!(most > 64, "{most}");
        while ring.pop().is_some() {}
        ring.push(&0);
        assert!(ring.places.len() <= KEPT && ring.last() == Some(&0));
    }
}

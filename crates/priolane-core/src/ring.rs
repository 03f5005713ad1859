//! A queue in one block of memory that is written again and again.

/// First in, first out. What was taken out stays readable in place until the next packet comes; an emptied queue
/// begins anew at its first place, so that a mostly empty one stays in a few cache lines.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    /// As many as a power of two, or none.
    places: Box<[T]>,
    head: u32,
    len: u32,
}

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

    #[inline]
    fn place(&self, index: u32) -> usize {
        index as usize & self.places.len().wrapping_sub(1)
    }

    /// The first.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.len == 0 { None } else { Some(&self.places[self.place(self.head)]) }
    }

    /// The one behind the first.
    #[inline]
    pub(crate) fn second(&self) -> Option<&T> {
        if self.len < 2 { None } else { Some(&self.places[self.place(self.head.wrapping_add(1))]) }
    }

    /// The last.
    pub(crate) fn last(&self) -> Option<&T> {
        let last = self.len.checked_sub(1)?;
        Some(&self.places[self.place(self.head.wrapping_add(last))])
    }

    /// Takes out the first.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let first = self.place(self.head);
        self.len -= 1;
        self.head = if self.len == 0 { 0 } else { self.head.wrapping_add(1) };
        Some(&self.places[first])
    }

    /// Takes out the last.
    pub(crate) fn pop_last(&mut self) -> Option<&T> {
        self.len = self.len.checked_sub(1)?;
        let last = self.place(self.head.wrapping_add(self.len));
        Some(&self.places[last])
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Puts `item` at the end; where it is kept.
    #[inline]
    pub(crate) fn push(&mut self, item: &T) -> &mut T {
        if self.len as usize == self.places.len() {
            self.grow();
        }
        let last = self.place(self.head.wrapping_add(self.len));
        self.len += 1;
        let place = &mut self.places[last];
        *place = *item;
        place
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.place(self.head);
        let mut places = std::mem::take(&mut self.places).into_vec();
        places.rotate_left(first);
        places.resize((2 * places.len()).max(4), T::default());
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
        let (mut ring, mut model) = (Ring::default(), VecDeque::new());
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
            assert_eq!(ring.is_empty(), model.is_empty());
            assert_eq!(ring.first(), model.front());
            assert_eq!((ring.second(), ring.last()), (model.get(1), model.back()));
        }
        assert!(ring.places.len() > 64, "{}", ring.places.len());
    }
}

//! A queue in one block of memory that is written again and again.

/// First in, first out. What was taken out stays readable in place until the next packet comes; an emptied queue
/// begins anew at its first place, so that a mostly empty one stays in a few cache lines.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    /// As many as a power of two, or none.
    places: Vec<T>,
    head: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), head: 0, len: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts `item` at the end; where it is kept.
    #[inline]
    pub(crate) fn push(&mut self, item: &T) -> &mut T {
        if self.len == self.places.len() {
            self.grow();
        }
        let last = (self.head + self.len) & (self.places.len() - 1);
        self.len += 1;
        let place = &mut self.places[last];
        *place = *item;
        place
    }

    /// Takes out the first.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let first = self.head;
        self.len -= 1;
        self.head = if self.len == 0 { 0 } else { (first + 1) & (self.places.len() - 1) };
        Some(&self.places[first])
    }

    #[cold]
    fn grow(&mut self) {
        self.places.rotate_left(self.head);
        self.head = 0;
        self.places.resize((2 * self.len).max(4), T::default());
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
            } else {
                assert_eq!(ring.pop().copied(), model.pop_front());
            }
            assert_eq!(ring.is_empty(), model.is_empty());
        }
        assert!(ring.places.len() > 64, "{}", ring.places.len());
    }
}

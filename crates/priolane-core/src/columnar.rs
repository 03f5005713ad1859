//! Long lists of which each item is taken apart to be kept, and put together to be read.
//!
//! ```text
//! item      what a reader gets, by value
//! columns   what is kept of all items: packed entries for what differs from item to item, and a `SparseColumn` each for what most
//!           lists have alike, which takes no memory there
//! ```
//!
//! A run keeps its flows, and what became of them, for as long as it lasts: a million take tens of megabytes, not hundreds.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Bound, Range, RangeBounds};

/// One value for each item of a list, which takes memory for each only once two of them differ.
#[derive(Clone, Debug, Default)]
pub struct SparseColumn<T> {
    len: usize,
    /// The value of all, where they are alike.
    common: T,
    /// The values, where they are not.
    own: Vec<T>,
}

impl<T: Copy + PartialEq> SparseColumn<T> {
    /// `len` items with this value.
    pub fn uniform(len: usize, value: T) -> Self {
        Self { len, common: value, own: Vec::new() }
    }

    /// The value of the item at `place`, which there is.
    #[inline]
    pub fn at(&self, place: usize) -> T {
        self.own.get(place).copied().unwrap_or(self.common)
    }

    /// Gives the item at `place`, which there is, this value.
    pub fn set(&mut self, place: usize, value: T) {
        if self.own.is_empty() {
            if value == self.common {
                return;
            }
            self.own = vec![self.common; self.len];
        }
        self.own[place] = value;
    }

    /// One more item.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len == 0 {
            self.common = value;
        }
        if !self.own.is_empty() || value != self.common {
            self.push_own(value);
        }
        self.len += 1;
    }

    fn push_own(&mut self, value: T) {
        if self.own.is_empty() {
            self.own = vec![self.common; self.len];
        }
        self.own.push(value);
    }

    /// Bytes of memory that the values take.
    pub fn bytes(&self) -> usize {
        self.own.capacity() * size_of::<T>()
    }
}

/// How the items of a list are kept.
pub trait Columns: Clone + Default {
    /// What a reader gets.
    type Item: Copy + PartialEq + fmt::Debug;

    /// How many items there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at `place`, below `len`.
    fn at(&self, place: usize) -> Self::Item;

    /// Replaces the item at `place`, below `len`.
    fn set(&mut self, place: usize, item: Self::Item);

    /// One more item.
    fn push(&mut self, item: Self::Item);

    /// Makes room for so many more.
    fn reserve(&mut self, more: usize);
}

/// A list whose items are kept as `C` has it.
#[derive(Clone, Default)]
pub struct ColumnarVec<C>(C);

impl<C: Columns> ColumnarVec<C> {
    /// The list of what `columns` keep.
    pub fn new(columns: C) -> Self {
        Self(columns)
    }

    /// What is kept.
    #[inline]
    pub fn columns(&self) -> &C {
        &self.0
    }

    /// What is kept, to be changed.
    pub fn columns_mut(&mut self) -> &mut C {
        &mut self.0
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at `place`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn at(&self, place: usize) -> C::Item {
        assert!(place < self.len(), "no item {place} in a list of {}", self.len());
        self.0.at(place)
    }

    /// The item at `place`, if there is one.
    pub fn get(&self, place: usize) -> Option<C::Item> {
        (place < self.len()).then(|| self.0.at(place))
    }

    /// The last item, if there is one.
    pub fn last(&self) -> Option<C::Item> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The items, in order.
    pub fn iter(&self) -> Iter<'_, C> {
        self.range(0..self.len())
    }

    /// The items of these places, as far as there are any.
    pub fn range(&self, places: impl RangeBounds<usize>) -> Iter<'_, C> {
        let from = match places.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let to = match places.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&after) => after,
            Bound::Unbounded => self.len(),
        };
        let to = to.min(self.len());
        Iter { columns: &self.0, places: from.min(to)..to }
    }

    /// One more item.
    pub fn push(&mut self, item: C::Item) {
        self.0.push(item);
    }

    /// Changes the item at `place`.
    ///
    /// # Panics
    /// If there is none.
    pub fn edit(&mut self, place: usize, change: impl FnOnce(&mut C::Item)) {
        let mut item = self.at(place);
        change(&mut item);
        self.0.set(place, item);
    }

    /// Changes all items, in order.
    pub fn edit_all(&mut self, mut change: impl FnMut(&mut C::Item)) {
        // Anew: what all have alike afterwards takes no memory.
        let changed = |mut item| {
            change(&mut item);
            item
        };
        *self = self.iter().map(changed).collect();
    }

    /// Keeps the first `len` items.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            *self = self.range(..len).collect();
        }
    }

    /// Keeps the items of which this is true.
    pub fn retain(&mut self, keep: impl FnMut(&C::Item) -> bool) {
        *self = self.iter().filter(keep).collect();
    }

    /// Sorts by a key; items with the same one keep their order.
    ///
    /// # Panics
    /// If there are 2^32 items or more.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&C::Item) -> K) {
        if self.iter().is_sorted_by_key(|item| key(&item)) {
            return;
        }
        let count = u32::try_from(self.len()).expect("lists have places of 32 bits");
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|&place| key(&self.0.at(place as usize)));
        *self = order.into_iter().map(|place| self.0.at(place as usize)).collect();
    }
}

/// The items of a list, by value.
#[derive(Clone, Debug)]
pub struct Iter<'a, C> {
    columns: &'a C,
    places: Range<usize>,
}

impl<C: Columns> Iterator for Iter<'_, C> {
    type Item = C::Item;

    #[inline]
    fn next(&mut self) -> Option<C::Item> {
        self.places.next().map(|place| self.columns.at(place))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<C::Item> {
        self.places.nth(n).map(|place| self.columns.at(place))
    }
}

impl<C: Columns> DoubleEndedIterator for Iter<'_, C> {
    fn next_back(&mut self) -> Option<C::Item> {
        self.places.next_back().map(|place| self.columns.at(place))
    }
}

impl<C: Columns> ExactSizeIterator for Iter<'_, C> {}

impl<C: Columns> FusedIterator for Iter<'_, C> {}

impl<'a, C: Columns> IntoIterator for &'a ColumnarVec<C> {
    type Item = C::Item;
    type IntoIter = Iter<'a, C>;

    fn into_iter(self) -> Iter<'a, C> {
        self.iter()
    }
}

impl<C: Columns> Extend<C::Item> for ColumnarVec<C> {
    fn extend<I: IntoIterator<Item = C::Item>>(&mut self, items: I) {
        let items = items.into_iter();
        self.0.reserve(items.size_hint().0);
        items.for_each(|item| self.0.push(item));
    }
}

impl<C: Columns> FromIterator<C::Item> for ColumnarVec<C> {
    fn from_iter<I: IntoIterator<Item = C::Item>>(items: I) -> Self {
        let mut list = Self::default();
        list.extend(items);
        list
    }
}

impl<C: Columns> From<Vec<C::Item>> for ColumnarVec<C> {
    fn from(items: Vec<C::Item>) -> Self {
        items.into_iter().collect()
    }
}

impl<C: Columns> PartialEq for ColumnarVec<C> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<C: Columns> fmt::Debug for ColumnarVec<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn a_column_says_what_a_vector_says() {
        let mut draw = Stream::new(3, Purpose::Ties, 0);
        for values in 1..4 {
            let (mut column, mut plain) = (SparseColumn::default(), Vec::new());
            for _ in 0..400 {
                match draw.below(8) {
                    0..4 if !plain.is_empty() => {
                        let (place, value) = (draw.below(plain.len() as u64) as usize, draw.below(values));
                        column.set(place, value);
                        plain[place] = value;
                    }
                    _ => {
                        let value = draw.below(values);
                        column.push(value);
                        plain.push(value);
                    }
                }
                assert!((0..plain.len()).all(|place| column.at(place) == plain[place]), "{plain:?}");
            }
        }
    }

    #[test]
    fn a_column_of_one_value_takes_no_memory() {
        let mut column = SparseColumn::uniform(1_000, 7);
        (0..1_000).for_each(|place| column.set(place, 7));
        column.push(7);
        assert_eq!((column.bytes(), column.at(1_000)), (0, 7));
        column.set(3, 8);
        assert_eq!((column.own.len(), column.at(3), column.at(4)), (1_001, 8, 7));
    }
}

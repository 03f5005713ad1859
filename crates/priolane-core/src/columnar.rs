//! A struct-of-arrays list: items are split into columns when stored, and reassembled when read.
//!
//! ```text
//! item      what a reader gets, by value
//! columns   storage of all items: packed entries for fields that differ between items, and a `SparseColumn` for each
//!           field that is equal in most lists; such a field takes no memory there
//! ```
//!
//! A run keeps its flows and their outcomes until it ends: a million flows take tens of megabytes instead of hundreds.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Bound, Range, RangeBounds};

/// A column with one value per item. It takes memory only once two values differ.
#[derive(Clone, Debug, Default)]
pub struct SparseColumn<T> {
    len: usize,
    /// The value of all items, if they are equal.
    common: T,
    /// The value of each item, if they differ.
    own: Vec<T>,
}

impl<T: Copy + PartialEq> SparseColumn<T> {
    /// Creates a column of `len` items with this value.
    pub fn uniform(len: usize, value: T) -> Self {
        Self { len, common: value, own: Vec::new() }
    }

    /// Returns the value of the item at index `place`, below the length.
    #[inline]
    pub fn at(&self, place: usize) -> T {
        self.own.get(place).copied().unwrap_or(self.common)
    }

    /// Sets the value of the item at index `place`, below the length.
    pub fn set(&mut self, place: usize, value: T) {
        if self.own.is_empty() {
            if value == self.common {
                return;
            }
            self.own = vec![self.common; self.len];
        }
        self.own[place] = value;
    }

    /// Appends a value.
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

    /// Returns the bytes of memory that the values take.
    pub fn bytes(&self) -> usize {
        self.own.capacity() * size_of::<T>()
    }
}

/// Storage of the items of a list.
pub trait Columns: Clone + Default {
    /// The type of the items.
    type Item: Copy + PartialEq + fmt::Debug;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the item at index `place`, below `len`.
    fn at(&self, place: usize) -> Self::Item;

    /// Replaces the item at index `place`, below `len`.
    fn set(&mut self, place: usize, item: Self::Item);

    /// Appends an item.
    fn push(&mut self, item: Self::Item);

    /// Reserves capacity for `more` items.
    fn reserve(&mut self, more: usize);
}

/// A list whose items are stored in the columns `C`.
#[derive(Clone, Default)]
pub struct ColumnarVec<C>(C);

impl<C: Columns> ColumnarVec<C> {
    /// Creates the list of the items in `columns`.
    pub fn new(columns: C) -> Self {
        Self(columns)
    }

    /// Returns the columns.
    #[inline]
    pub fn columns(&self) -> &C {
        &self.0
    }

    /// Returns the columns for modification.
    pub fn columns_mut(&mut self) -> &mut C {
        &mut self.0
    }

    /// Returns the number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the item at index `place`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn at(&self, place: usize) -> C::Item {
        assert!(place < self.len(), "no item {place} in a list of {}", self.len());
        self.0.at(place)
    }

    /// Returns the item at index `place`, if there is one.
    pub fn get(&self, place: usize) -> Option<C::Item> {
        (place < self.len()).then(|| self.0.at(place))
    }

    /// Returns the last item, if there is one.
    pub fn last(&self) -> Option<C::Item> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Iterates over the items, in order.
    pub fn iter(&self) -> Iter<'_, C> {
        self.range(0..self.len())
    }

    /// Iterates over the items in this range of indices, clipped to the list.
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

    /// Appends an item.
    pub fn push(&mut self, item: C::Item) {
        self.0.push(item);
    }

    /// Modifies the item at index `place`.
    ///
    /// # Panics
    /// If there is none.
    pub fn edit(&mut self, place: usize, change: impl FnOnce(&mut C::Item)) {
        let mut item = self.at(place);
        change(&mut item);
        self.0.set(place, item);
    }

    /// Modifies all items, in order.
    pub fn edit_all(&mut self, mut change: impl FnMut(&mut C::Item)) {
        // Rebuilds the columns, so that a column whose values became equal takes no memory.
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

    /// Keeps the items that satisfy the predicate.
    pub fn retain(&mut self, keep: impl FnMut(&C::Item) -> bool) {
        *self = self.iter().filter(keep).collect();
    }

    /// Sorts by a key. The sort is stable.
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

/// Iterator over the items of a list, by value.
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

//! A table with stable slot numbers: freed slots are reused under a new generation.

use crate::prefetch::prefetch;

/// A table of `T` with stable slots. Beyond the first slots it grows in chunks: entries do not move, and there is
/// little unused memory.
#[derive(Debug)]
pub(in crate::transport) struct Slab<T> {
    /// Slots below [`FIRST`].
    first: Vec<Place<T>>,
    /// The other slots, in chunks of [`PIECE`]; the last chunk may be shorter.
    pieces: Vec<Vec<Place<T>>>,
    /// Head of the free list: the slot freed last, or [`NO_PLACE`].
    free: u32,
}

/// Marks the end of the free list.
const NO_PLACE: u32 = u32::MAX;

/// Number of slots accessed without the list of chunks; most hosts have no more flows at a time.
const FIRST: usize = 64;

/// Slots per chunk.
const PIECE: usize = 16;

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    /// For a free slot: the next slot of the free list, or [`NO_PLACE`].
    next_free: u32,
    value: Option<T>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { first: Vec::new(), pieces: Vec::new(), free: NO_PLACE }
    }
}

impl<T> Slab<T> {
    /// Stores `value` and returns its slot.
    pub(in crate::transport) fn insert(&mut self, value: T) -> u32 {
        let value = Some(value);
        let free = self.free;
        if let Some(place) = self.place_mut(free) {
            place.value = value;
            self.free = place.next_free;
            return free;
        }
        let slot = self.places();
        let place = Place { generation: 0, next_free: NO_PLACE, value };
        match (slot as usize).checked_sub(FIRST) {
            None => self.first.push(place),
            Some(beyond) => {
                if beyond.is_multiple_of(PIECE) {
                    self.pieces.push(Vec::with_capacity(PIECE));
                }
                self.pieces[beyond / PIECE].push(place);
            }
        }
        slot
    }

    #[inline]
    fn place(&self, slot: u32) -> Option<&Place<T>> {
        match (slot as usize).checked_sub(FIRST) {
            None => self.first.get(slot as usize),
            Some(beyond) => self.pieces.get(beyond / PIECE)?.get(beyond % PIECE),
        }
    }

    // Inlined as measured for the first slots: every packet of a flow passes here.
    #[inline(always)]
    fn place_mut(&mut self, slot: u32) -> Option<&mut Place<T>> {
        if (slot as usize) < FIRST { self.first.get_mut(slot as usize) } else { self.place_beyond(slot) }
    }

    /// Returns a slot from [`FIRST`] on.
    #[inline(never)]
    fn place_beyond(&mut self, slot: u32) -> Option<&mut Place<T>> {
        let beyond = slot as usize - FIRST;
        self.pieces.get_mut(beyond / PIECE)?.get_mut(beyond % PIECE)
    }

    /// Empties a slot, which is not reused before `release`.
    pub(in crate::transport) fn take(&mut self, slot: u32) -> Option<T> {
        let place = self.place_mut(slot)?;
        place.generation = place.generation.wrapping_add(1);
        place.value.take()
    }

    /// Adds an emptied slot to the free list.
    pub(in crate::transport) fn release(&mut self, slot: u32) {
        let free = self.free;
        if let Some(place) = self.place_mut(slot) {
            place.next_free = free;
            self.free = slot;
        }
    }

    /// Returns one more than the highest slot ever used.
    pub(in crate::transport) fn places(&self) -> u32 {
        let in_pieces = self.pieces.last().map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len());
        (self.first.len() + in_pieces) as u32
    }

    /// Returns how often the slot was emptied; 0 if it was never used.
    #[inline]
    pub(in crate::transport) fn generation(&self, slot: u32) -> u32 {
        self.place(slot).map_or(0, |place| place.generation)
    }

    /// Prefetches the entry of a slot.
    #[inline]
    pub(in crate::transport) fn prefetch(&self, slot: Option<u32>) {
        if let Some(place) = slot.and_then(|slot| self.first.get(slot as usize)) {
            prefetch(place);
        }
    }

    /// Returns the entry of a slot and the slot's generation.
    #[inline]
    pub(in crate::transport) fn entry(&mut self, slot: u32) -> Option<(u32, &mut T)> {
        let place = self.place_mut(slot)?;
        let generation = place.generation;
        place.value.as_mut().map(|value| (generation, value))
    }

    #[inline]
    pub(in crate::transport) fn get(&self, slot: u32) -> Option<&T> {
        self.place(slot).and_then(|place| place.value.as_ref())
    }

    #[inline]
    pub(in crate::transport) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.place_mut(slot).and_then(|place| place.value.as_mut())
    }
}

//! A table whose places keep their number: freed ones are used again under a new generation.

/// A table of `T`. Beyond the first places it grows piece by piece: what is in it does not move then, and it is hardly larger
/// than what it holds.
#[derive(Debug)]
pub(in crate::transport) struct Slab<T> {
    /// Places below [`FIRST`].
    first: Vec<Place<T>>,
    /// The others, [`PIECE`] each, fewer in the last.
    pieces: Vec<Vec<Place<T>>>,
    /// The place given back last, or [`NO_PLACE`].
    free: u32,
}

/// No place.
const NO_PLACE: u32 = u32::MAX;

/// Places that are found without a look at a list of pieces: most hosts have no more flows at a time.
const FIRST: usize = 64;

/// Places of a piece.
const PIECE: usize = 16;

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    /// Of a free place: the one given back before it, or [`NO_PLACE`].
    next_free: u32,
    value: Option<T>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { first: Vec::new(), pieces: Vec::new(), free: NO_PLACE }
    }
}

impl<T> Slab<T> {
    /// Stores `value`; its place.
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

    #[inline]
    fn place_mut(&mut self, slot: u32) -> Option<&mut Place<T>> {
        match (slot as usize).checked_sub(FIRST) {
            None => self.first.get_mut(slot as usize),
            Some(beyond) => self.pieces.get_mut(beyond / PIECE)?.get_mut(beyond % PIECE),
        }
    }

    /// Empties a place, which is not used again before `release`.
    pub(in crate::transport) fn take(&mut self, slot: u32) -> Option<T> {
        let place = self.place_mut(slot)?;
        place.generation = place.generation.wrapping_add(1);
        place.value.take()
    }

    /// Gives an emptied place back.
    pub(in crate::transport) fn release(&mut self, slot: u32) {
        let free = self.free;
        if let Some(place) = self.place_mut(slot) {
            place.next_free = free;
            self.free = slot;
        }
    }

    /// One more than the highest place that was ever used.
    pub(in crate::transport) fn places(&self) -> u32 {
        let in_pieces = self.pieces.last().map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len());
        (self.first.len() + in_pieces) as u32
    }

    /// How often the place was emptied so far; 0 for one that never was used.
    #[inline]
    pub(in crate::transport) fn generation(&self, slot: u32) -> u32 {
        self.place(slot).map_or(0, |place| place.generation)
    }

    /// What is at a place, with the place's generation.
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

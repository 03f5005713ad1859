//! A table whose places keep their number: freed ones are used again under a new generation.

/// A table of `T`.
#[derive(Debug)]
pub(in crate::transport) struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Stores `value`; its place.
    pub(in crate::transport) fn insert(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.places[slot as usize].value = Some(value);
            return slot;
        }
        self.places.push(Place { generation: 0, value: Some(value) });
        (self.places.len() - 1) as u32
    }

    /// Empties a place, which is not used again before `release`.
    pub(in crate::transport) fn take(&mut self, slot: u32) -> Option<T> {
        let place = self.places.get_mut(slot as usize)?;
        place.generation = place.generation.wrapping_add(1);
        place.value.take()
    }

    /// Gives an emptied place back.
    pub(in crate::transport) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// One more than the highest place that was ever used.
    pub(in crate::transport) fn places(&self) -> u32 {
        self.places.len() as u32
    }

    /// How often the place was emptied so far.
    #[inline]
    pub(in crate::transport) fn generation(&self, slot: u32) -> u32 {
        self.places[slot as usize].generation
    }

    /// What is at a place, with the place's generation.
    #[inline]
    pub(in crate::transport) fn entry(&mut self, slot: u32) -> Option<(u32, &mut T)> {
        let place = self.places.get_mut(slot as usize)?;
        let generation = place.generation;
        place.value.as_mut().map(|value| (generation, value))
    }

    #[inline]
    pub(in crate::transport) fn get(&self, slot: u32) -> Option<&T> {
        self.places.get(slot as usize).and_then(|place| place.value.as_ref())
    }

    #[inline]
    pub(in crate::transport) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.places.get_mut(slot as usize).and_then(|place| place.value.as_mut())
    }
}

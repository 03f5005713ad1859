//! The flow that a table found last.

use std::fmt;

/// The key and the slot of the flow found last. Packets in a row often belong to one flow: one comparison then replaces
/// a lookup in a map.
#[derive(Clone, Copy)]
pub(super) struct LastFound {
    /// [`NO_KEY`] for none.
    key: u64,
    slot: u32,
}

/// Equals no key: keys of flows have less than 64 bits.
const NO_KEY: u64 = u64::MAX;

impl LastFound {
    pub(super) const NONE: Self = Self { key: NO_KEY, slot: 0 };

    /// Returns the slot of the flow with this key; `look_up` finds it if it is not the last one.
    #[inline]
    pub(super) fn find(&mut self, key: u64, look_up: impl FnOnce() -> Option<u32>) -> Option<u32> {
        if key != self.key {
            *self = Self { key, slot: look_up()? };
        }
        Some(self.slot)
    }

    /// Returns the slot of the flow with this key if it was found last.
    #[inline]
    pub(super) fn of(&self, key: u64) -> Option<u32> {
        (key == self.key).then_some(self.slot)
    }

    /// Forgets the flow with this key; called before its entry in the map changes.
    pub(super) fn forget(&mut self, key: u64) {
        if key == self.key {
            *self = Self::NONE;
        }
    }
}

impl fmt::Debug for LastFound {
    /// Omits the content: it is not state, because it changes no answer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastFound")
    }
}

//! Selects the messages to grant: those with the fewest packets left, at most one per sender.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::OrderKey;
use crate::ids::HostId;

/// The messages that need grants, best first.
#[derive(Debug, Default)]
pub(super) struct Grants {
    /// The messages of each sender.
    of: FxHashMap<HostId, BTreeSet<OrderKey>>,
    /// The best message of each sender.
    best: BTreeSet<OrderKey>,
    /// The slots returned by the last call of `best`, kept to reuse the allocation.
    chosen: Vec<u32>,
}

impl Grants {
    /// Moves the message at `slot`, from `sender`, to `place`, or removes it; `grant_position` is its current position.
    pub(super) fn update(
        &mut self,
        slot: u32,
        sender: HostId,
        grant_position: &mut Option<OrderKey>,
        place: Option<OrderKey>,
    ) {
        debug_assert!(place.is_none_or(|(.., at)| at == slot), "a place of its own");
        if *grant_position == place {
            return;
        }
        let own = self.of.entry(sender).or_default();
        let before = own.first().copied();
        if let Some(old) = std::mem::replace(grant_position, place) {
            own.remove(&old);
        }
        own.extend(place);
        let after = own.first().copied();
        if own.is_empty() {
            self.of.remove(&sender);
        }
        if before != after {
            before.map(|old| self.best.remove(&old));
            self.best.extend(after);
        }
    }

    /// Returns the slots of the `most` best messages, one per sender, best first.
    pub(super) fn best(&mut self, most: u8) -> Vec<u32> {
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        chosen.extend(self.best.iter().take(usize::from(most)).map(|&(_, _, slot)| slot));
        chosen
    }

    /// Takes back the list that `best` returned, to reuse its allocation.
    pub(super) fn reuse(&mut self, list: Vec<u32>) {
        self.chosen = list;
    }
}

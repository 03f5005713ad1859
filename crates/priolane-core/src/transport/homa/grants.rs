//! Which messages are granted: those with least left, one per sender.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Place;
use crate::ids::HostId;

/// Messages that want grants, best first.
#[derive(Debug, Default)]
pub(super) struct Grants {
    /// Those of each sender.
    of: FxHashMap<HostId, BTreeSet<Place>>,
    /// The best of each sender.
    best: BTreeSet<Place>,
    /// The places of what was asked for last.
    chosen: Vec<u32>,
}

impl Grants {
    /// The message at `slot`, from `sender`, wants grants as `place` says, or none; `asks` is how it wanted them so far.
    pub(super) fn update(
        &mut self,
        slot: u32,
        sender: HostId,
        asks: &mut Option<Place>,
        place: Option<Place>,
    ) {
        debug_assert!(place.is_none_or(|(.., at)| at == slot), "a place of its own");
        if *asks == place {
            return;
        }
        let own = self.of.entry(sender).or_default();
        let before = own.first().copied();
        if let Some(old) = std::mem::replace(asks, place) {
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

    /// The `most` best messages, one per sender, best first.
    pub(super) fn best(&mut self, most: u8) -> Vec<u32> {
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        chosen.extend(self.best.iter().take(usize::from(most)).map(|&(_, _, slot)| slot));
        chosen
    }

    /// Takes back the list that `best` gave, to be used again.
    pub(super) fn reuse(&mut self, list: Vec<u32>) {
        self.chosen = list;
    }
}

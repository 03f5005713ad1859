//! Prefetches the arrivals of nodes that have not run yet.

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::prefetch::prefetch;

use super::{ArrivalBatches, CHUNK, Entry, ListHeads};

/// A walk along the lists of a node that has not run yet.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::window) struct Walk(ListHeads);

impl Walk {
    /// A walk that is at its end.
    pub(in crate::engine::window) const END: Self = Self(ListHeads::NONE);
}

impl<B: Body> ArrivalBatches<B> {
    /// Prefetches the lists of `node`.
    #[inline]
    pub(in crate::engine::window) fn prefetch_lists(&self, node: NodeId) {
        if let Some(heads) = self.bucket.heads.get(node.index()) {
            prefetch(heads);
        }
    }

    /// Prefetches the first packet in each of the lists of `node`.
    #[inline]
    pub(in crate::engine::window) fn prefetch_packets(&self, node: NodeId) {
        let Walk(heads) = self.walk_of(node);
        [heads.last, heads.before].into_iter().filter_map(|place| self.entry(place)).for_each(prefetch);
    }

    /// Returns a walk along the lists of `node`, from their start.
    #[inline]
    pub(in crate::engine::window) fn walk_of(&self, node: NodeId) -> Walk {
        Walk(self.bucket.heads.get(node.index()).copied().unwrap_or(ListHeads::NONE))
    }

    /// Visits the next packets of a walk, at most `steps`, and prefetches those after them.
    #[inline]
    pub(in crate::engine::window) fn walk(
        &self,
        Walk(heads): &mut Walk,
        steps: usize,
        mut visit: impl FnMut(&Packet<B>),
    ) {
        for _ in 0..steps {
            let Some(entry) = self.entry(heads.last) else { return };
            heads.turn(entry.tag);
            if let Some(after) = self.entry(heads.before) {
                prefetch(after);
            }
            visit(&entry.packet);
        }
    }

    #[inline]
    fn entry(&self, place: u32) -> Option<&Entry<B>> {
        let place = place as usize;
        self.bucket.chunks.get(place / CHUNK).map(|chunk| &chunk[place % CHUNK])
    }
}

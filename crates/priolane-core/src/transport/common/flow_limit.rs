//! Limits the flows for which a real host keeps state as their receiver, and finds those that are idle.
//!
//! ```text
//! first packet of a flow   its sender has `flows_per_peer` unfinished flows, or no room in `flow_memory`  ──▶ dropped
//!                          otherwise                                                                     ──▶ a receiver
//! no data for `idle`       ──▶ the flow ends
//! ```
//!
//! The flows form a list, linked by their slots, in the order in which data of them arrived last. So the flow at its head is
//! the next to become idle, and each operation takes constant time.

use rustc_hash::FxHashMap;

use super::flow_key::FlowKey;
use crate::endpoint::RealHost;
use crate::fair_pool::FairPool;
use crate::ids::HostId;
use crate::units::{Span, Time};

/// Bytes that count for an unfinished flow: its entry in the table, its state at the transport and its timers.
const UNFINISHED: u64 = 512;

/// Bytes that count for a remembered flow: an entry in a table that is nearly half full at least, and one in a queue.
const REMEMBERED: u64 = 96;

/// The flows of a peer.
#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    unfinished: u32,
    remembered: u32,
}

impl Peer {
    fn bytes(self) -> u64 {
        u64::from(self.unfinished) * UNFINISHED + u64::from(self.remembered) * REMEMBERED
    }
}

/// A flow in the list.
#[derive(Clone, Copy, Debug)]
struct ListEntry {
    key: FlowKey,
    /// The time at which data of the flow arrived last, or at which its first packet arrived.
    heard: Time,
    /// Its neighbours, as slots; [`NOWHERE`] at the ends.
    before: u32,
    after: u32,
}

/// No slot.
const NOWHERE: u32 = u32::MAX;

/// The limit on flows that a real host receives.
#[derive(Debug)]
pub(in crate::transport) struct FlowLimit {
    most: u32,
    idle: Span,
    memory: FairPool,
    peers: FxHashMap<HostId, Peer>,
    /// Indexed by receiver slot.
    slots: Vec<Option<ListEntry>>,
    /// Flows in the list.
    unfinished: u32,
    head: u32,
    tail: u32,
}

impl FlowLimit {
    pub(super) fn new(real: &RealHost) -> Self {
        Self {
            most: real.flows_per_peer.max(1),
            idle: real.idle,
            memory: FairPool::new(real.flow_memory, real.peers),
            peers: FxHashMap::default(),
            slots: Vec::new(),
            unfinished: 0,
            head: NOWHERE,
            tail: NOWHERE,
        }
    }

    /// Returns true if a flow of `src` may get a receiver.
    pub(super) fn admits(&self, src: HostId) -> bool {
        let peer = self.peers.get(&src).copied().unwrap_or_default();
        peer.unfinished < self.most && self.memory.admits(peer.bytes(), UNFINISHED)
    }

    /// Returns true if a flow of `src` without a receiver may be remembered.
    pub(super) fn may_remember(&self, src: HostId) -> bool {
        let peer = self.peers.get(&src).copied().unwrap_or_default();
        self.memory.admits(peer.bytes(), REMEMBERED)
    }

    fn change(&mut self, src: HostId, change: impl FnOnce(&mut Peer)) {
        let peer = self.peers.entry(src).or_default();
        let before = peer.bytes();
        change(peer);
        let after = peer.bytes();
        if after == 0 {
            self.peers.remove(&src);
        }
        self.memory.change(before, after);
    }

    /// Records that a receiver was created at `slot`.
    pub(super) fn opened(&mut self, slot: u32, key: FlowKey, now: Time) {
        let place = slot as usize;
        if place >= self.slots.len() {
            self.slots.resize(place + 1, None);
        }
        self.slots[place] = Some(ListEntry { key, heard: now, before: NOWHERE, after: NOWHERE });
        self.append(slot);
        self.unfinished += 1;
        self.change(key.src(), |peer| peer.unfinished += 1);
    }

    /// Records data of the flow at `slot`.
    pub(in crate::transport) fn heard(&mut self, slot: u32, now: Time) {
        let Some(entry) = self.entry(slot) else { return };
        entry.heard = now;
        if self.tail != slot {
            self.unlink(slot);
            self.append(slot);
        }
    }

    /// Records that the receiver at `slot` was removed.
    pub(super) fn closed(&mut self, slot: u32) {
        let Some(&ListEntry { key, .. }) = self.entry(slot).as_deref() else { return };
        self.unlink(slot);
        self.slots[slot as usize] = None;
        self.unfinished -= 1;
        self.change(key.src(), |peer| peer.unfinished -= 1);
    }

    /// Records that a flow of `src` is remembered.
    pub(super) fn remembered(&mut self, src: HostId) {
        self.change(src, |peer| peer.remembered += 1);
    }

    /// Records that `flows` flows of `src` are no longer remembered.
    pub(super) fn forgotten(&mut self, src: HostId, flows: u32) {
        self.change(src, |peer| peer.remembered = peer.remembered.saturating_sub(flows));
    }

    /// Returns the number of unfinished flows of all peers.
    pub(super) fn unfinished(&self) -> u32 {
        self.unfinished
    }

    /// Returns the flow that is the next to become idle, and when.
    pub(super) fn next_idle(&self) -> Option<(FlowKey, Time)> {
        let entry = self.slots.get(self.head as usize)?.as_ref()?;
        Some((entry.key, entry.heard + self.idle))
    }

    fn entry(&mut self, slot: u32) -> Option<&mut ListEntry> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    fn append(&mut self, slot: u32) {
        let last = std::mem::replace(&mut self.tail, slot);
        match self.entry(last) {
            Some(entry) => entry.after = slot,
            None => self.head = slot,
        }
        if let Some(entry) = self.entry(slot) {
            (entry.before, entry.after) = (last, NOWHERE);
        }
    }

    fn unlink(&mut self, slot: u32) {
        let Some(&ListEntry { before, after, .. }) = self.entry(slot).as_deref() else { return };
        match self.entry(before) {
            Some(entry) => entry.after = after,
            None => self.head = after,
        }
        match self.entry(after) {
            Some(entry) => entry.before = before,
            None => self.tail = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;

    fn key(host: u16, flow: u32) -> FlowKey {
        FlowKey::new(HostId(host), FlowId(flow))
    }

    #[test]
    fn a_peer_has_so_many_unfinished_flows_and_another_has_room_of_its_own() {
        let mut limit = FlowLimit::new(&RealHost { flows_per_peer: 2, ..RealHost::new(1) });
        (0..2).for_each(|flow| limit.opened(flow, key(1, flow), Time(10)));
        assert_eq!([1, 2].map(|host| limit.admits(HostId(host))), [false, true]);
        limit.closed(1);
        assert!(limit.admits(HostId(1)));
        limit.closed(0);
        assert!(limit.peers.is_empty());
    }

    #[test]
    fn the_flow_of_which_nothing_came_for_longest_is_idle_first() {
        let mut limit = FlowLimit::new(&RealHost { idle: Span(100), ..RealHost::new(1) });
        assert_eq!(limit.next_idle(), None);
        (0..3).for_each(|slot| limit.opened(slot, key(1, slot), Time(10)));
        assert_eq!(limit.next_idle(), Some((key(1, 0), Time(110))));
        limit.heard(0, Time(50));
        limit.heard(0, Time(55));
        assert_eq!(limit.next_idle(), Some((key(1, 1), Time(110))));
        limit.closed(2);
        limit.heard(1, Time(60));
        assert_eq!(limit.next_idle(), Some((key(1, 0), Time(155))));
        limit.closed(0);
        assert_eq!(limit.next_idle(), Some((key(1, 1), Time(160))));
        limit.closed(1);
        assert_eq!(limit.next_idle(), None);
        limit.opened(1, key(1, 7), Time(200));
        assert_eq!(limit.next_idle(), Some((key(1, 7), Time(300))));
    }

    #[test]
    fn unfinished_and_remembered_flows_of_all_peers_have_room_for_a_stated_number() {
        // 8 unfinished flows: half of the room for two peers, so that each has 2, and 4 are shared.
        let real = RealHost { flow_memory: 8 * UNFINISHED, peers: 2, ..RealHost::new(1) };
        let mut limit = FlowLimit::new(&real);
        let mut opened = 0;
        while limit.admits(HostId(1)) {
            limit.opened(opened, key(1, opened), Time(10));
            opened += 1;
        }
        // 2 and 3 of the 4: x <= 4 (4 - x) has x = 3.2.
        assert_eq!(opened, 5);
        assert!(limit.admits(HostId(2)), "another peer has its guaranteed part");
        // Ended flows are remembered in less room.
        limit.closed(4);
        let mut remembered = 0;
        while limit.may_remember(HostId(1)) {
            limit.remembered(HostId(1));
            remembered += 1;
        }
        // 4 unfinished flows take 2048 bytes; 1024 + 1638 = 2662 in all: 6 remembered ones.
        assert_eq!((remembered, limit.admits(HostId(1))), (6, false));
        limit.forgotten(HostId(1), 6);
        assert!(limit.admits(HostId(1)));
    }
}

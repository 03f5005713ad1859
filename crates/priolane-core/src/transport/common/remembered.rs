//! The flows that ended at a real host, which are remembered for a limited time.
//!
//! ```text
//! push ──▶ remembered ─┬─ no packet for `time_wait` ──▶ forgotten
//!          ▲           ├─ a packet ──────────────────▶ remembered for another `time_wait`
//!          │           ├─ forget ────────────────────▶ forgotten
//!          │           └─ forget_host ───────────────▶ outdated: no longer found; its memory is free after `time_wait`
//!          └─ a flow with the same key ends ─────────────┘
//! ```
//!
//! No operation takes time that grows with the number of flows, so that no datagram delays a host. Each entry has the number of
//! times that its host was forgotten when it was pushed: an entry with an earlier number is outdated. The table is a number of
//! small ones, since a hash table that grows moves all its entries; the queue grows by blocks for the same reason.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;

use rustc_hash::FxHashMap;

use super::flow_hash::FlowHash;
use super::flow_key::FlowKey;
use crate::ids::{FlowId, HostId};
use crate::units::{Span, Time};

/// Number of tables. With four million flows, each has 16,000.
const TABLES: usize = 256;

/// Entries in a block of the queue.
const BLOCK: usize = 1_024;

/// An ended flow in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EndedFlow {
    /// This host received it.
    Received(FlowKey),
    /// This host sent it and aborted it.
    Aborted(FlowId),
}

/// A received flow that ended.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    end: E,
    /// The time at which it is forgotten, which identifies its entry in the queue.
    until: Time,
    /// Number of times that its host was forgotten before.
    forgotten: u32,
    /// A packet of the flow came since it was put into the queue.
    heard_again: bool,
}

/// The flows that are remembered.
#[derive(Debug)]
pub(super) struct Remembered<E> {
    time_wait: Span,
    hash: FlowHash,
    tables: Vec<HashMap<FlowKey, Entry<E>, FlowHash>>,
    /// In the order of the times at which they are forgotten.
    queue: Blocks,
    /// The number of times that each host was forgotten; no entry for never.
    forgotten: FxHashMap<HostId, u32>,
}

impl<E: Copy> Remembered<E> {
    pub(super) fn new(time_wait: Span, hash: FlowHash) -> Self {
        let tables = (0..TABLES).map(|_| HashMap::with_hasher(hash)).collect();
        Self { time_wait, hash, tables, queue: Blocks::default(), forgotten: FxHashMap::default() }
    }

    /// Returns the number of the table of a flow: bits that select a place in no table with fewer than 65,536 places.
    fn number(&self, key: FlowKey) -> usize {
        (self.hash.hash_one(key) >> 16) as usize % TABLES
    }

    fn table(&mut self, key: FlowKey) -> &mut HashMap<FlowKey, Entry<E>, FlowHash> {
        let number = self.number(key);
        &mut self.tables[number]
    }

    fn times_forgotten(&self, host: HostId) -> u32 {
        self.forgotten.get(&host).copied().unwrap_or_default()
    }

    fn entry(&mut self, key: FlowKey) -> Option<&mut Entry<E>> {
        let forgotten = self.times_forgotten(key.src());
        self.table(key).get_mut(&key).filter(|entry| entry.forgotten == forgotten)
    }

    /// Returns what is remembered of a flow.
    #[cfg(test)]
    pub(super) fn end_of(&self, key: FlowKey) -> Option<E> {
        let entry = self.tables[self.number(key)].get(&key)?;
        (entry.forgotten == self.times_forgotten(key.src())).then_some(entry.end)
    }

    /// Returns what is remembered of a flow of which a packet came, and remembers it for another `time_wait`.
    pub(super) fn hear(&mut self, key: FlowKey) -> Option<E> {
        let entry = self.entry(key)?;
        entry.heard_again = true;
        Some(entry.end)
    }

    /// Replaces what is remembered of a flow, and returns true if it is remembered.
    pub(super) fn replace(&mut self, key: FlowKey, end: E) -> bool {
        self.entry(key).map(|entry| entry.end = end).is_some()
    }

    /// Remembers a received flow that ended at `now`. Returns the time for a timer if there was none.
    pub(super) fn push(&mut self, key: FlowKey, end: E, now: Time) -> Option<Time> {
        let until = now + self.time_wait;
        let forgotten = self.times_forgotten(key.src());
        self.table(key).insert(key, Entry { end, until, forgotten, heard_again: false });
        self.enqueue(EndedFlow::Received(key), until)
    }

    /// Remembers in the queue that this host aborted a flow at `now`. Returns the time for a timer if there was none.
    pub(super) fn push_aborted(&mut self, flow: FlowId, now: Time) -> Option<Time> {
        self.enqueue(EndedFlow::Aborted(flow), now + self.time_wait)
    }

    fn enqueue(&mut self, flow: EndedFlow, until: Time) -> Option<Time> {
        let was_empty = self.queue.first().is_none();
        self.queue.push((until, flow));
        was_empty.then_some(until)
    }

    /// Forgets a received flow.
    pub(super) fn forget(&mut self, key: FlowKey) {
        self.table(key).remove(&key);
    }

    /// Forgets the flows received from a host.
    pub(super) fn forget_host(&mut self, host: HostId) {
        *self.forgotten.entry(host).or_default() += 1;
    }

    /// Returns when the first flow is forgotten.
    pub(super) fn next(&self) -> Option<Time> {
        self.queue.first().map(|(until, _)| until)
    }

    /// Removes a flow whose time is over at `now` and returns it.
    pub(super) fn pop(&mut self, now: Time) -> Option<EndedFlow> {
        while let Some((until, flow)) = self.queue.first().filter(|&(until, _)| until <= now) {
            self.queue.pop();
            let EndedFlow::Received(key) = flow else { return Some(flow) };
            let again = now + self.time_wait;
            let forgotten = self.times_forgotten(key.src());
            let number = self.number(key);
            match self.tables[number].get_mut(&key).filter(|entry| entry.until == until) {
                Some(entry) if entry.heard_again && entry.forgotten == forgotten => {
                    (entry.until, entry.heard_again) = (again, false);
                    self.queue.push((again, flow));
                }
                Some(_) => {
                    self.tables[number].remove(&key);
                    return Some(flow);
                }
                // Its key is that of a later flow, or it was forgotten.
                None => return Some(flow),
            }
        }
        None
    }
}

/// A queue in blocks.
#[derive(Debug, Default)]
struct Blocks {
    /// None is empty.
    blocks: VecDeque<VecDeque<(Time, EndedFlow)>>,
}

impl Blocks {
    fn first(&self) -> Option<(Time, EndedFlow)> {
        self.blocks.front()?.front().copied()
    }

    fn push(&mut self, entry: (Time, EndedFlow)) {
        match self.blocks.back_mut().filter(|block| block.len() < block.capacity()) {
            Some(block) => block.push_back(entry),
            None => {
                let mut block = VecDeque::with_capacity(BLOCK);
                block.push_back(entry);
                self.blocks.push_back(block);
            }
        }
    }

    fn pop(&mut self) {
        let Some(block) = self.blocks.front_mut() else { return };
        block.pop_front();
        if block.is_empty() {
            self.blocks.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(host: u16, flow: u32) -> FlowKey {
        FlowKey::new(HostId(host), FlowId(flow))
    }

    fn remembered() -> Remembered<u32> {
        Remembered::new(Span(100), FlowHash::new(7))
    }

    /// Returns the flows whose time is over.
    fn popped(remembered: &mut Remembered<u32>, now: u64) -> Vec<EndedFlow> {
        std::iter::from_fn(|| remembered.pop(Time(now))).collect()
    }

    #[test]
    fn entries_are_found_until_their_time_in_any_number() {
        let mut of = remembered();
        let flows = 10 * BLOCK as u32;
        for flow in 0..flows {
            let first = of.push(key((flow % 7) as u16, flow), flow, Time(u64::from(flow)));
            assert_eq!(first, (flow == 0).then_some(Time(100)));
        }
        assert!(of.tables.iter().all(|table| table.len() < 3 * flows as usize / TABLES), "they share evenly");
        let half = popped(&mut of, 100 + u64::from(flows / 2) - 1);
        assert_eq!(half.len() as u32, flows / 2);
        assert_eq!(half[3], EndedFlow::Received(key(3, 3)), "in their order");
        for flow in 0..flows {
            let expected = (flow >= flows / 2).then_some(flow);
            assert_eq!(of.hear(key((flow % 7) as u16, flow)), expected);
        }
        assert_eq!(of.next(), Some(Time(100 + u64::from(flows / 2))));
        // All others were heard again.
        assert_eq!(popped(&mut of, 1_000_000), []);
        assert_eq!(popped(&mut of, 1_000_100).len() as u32, flows / 2);
        assert_eq!((of.next(), of.queue.blocks.len()), (None, 0));
    }

    #[test]
    fn flows_of_a_forgotten_host_are_not_found_and_keep_their_place_until_their_time() {
        let mut of = remembered();
        of.push(key(1, 5), 10, Time(0));
        of.push(key(2, 5), 20, Time(0));
        of.hear(key(1, 5));
        of.forget_host(HostId(1));
        assert_eq!((of.hear(key(1, 5)), of.replace(key(1, 5), 11)), (None, false));
        assert_eq!(of.hear(key(2, 5)), Some(20));
        // The host uses the id again, and its flow ends.
        of.push(key(1, 5), 12, Time(50));
        assert_eq!(popped(&mut of, 100), [EndedFlow::Received(key(1, 5))], "the first one, heard or not");
        assert_eq!(of.hear(key(1, 5)), Some(12));
        of.forget_host(HostId(1));
        assert_eq!((of.hear(key(1, 5)), of.hear(key(2, 5))), (None, Some(20)));
    }

    #[test]
    fn a_forgotten_flow_may_end_again() {
        let mut of = remembered();
        of.push(key(1, 5), 10, Time(0));
        of.forget(key(1, 5));
        assert_eq!(of.hear(key(1, 5)), None);
        of.push(key(1, 5), 11, Time(60));
        assert!(of.replace(key(1, 5), 12));
        assert_eq!(popped(&mut of, 100).len(), 1);
        assert_eq!(of.hear(key(1, 5)), Some(12));
        of.push_aborted(FlowId(5), Time(100));
        assert_eq!(popped(&mut of, 200), [EndedFlow::Aborted(FlowId(5))], "the other was heard");
    }
}

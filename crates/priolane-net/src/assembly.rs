//! Messages that are being received, by sender and flow: the bytes that have arrived, and the memory that each sender may use.
//!
//! The endpoint tracks which bytes have arrived, and this module stores them until the message is complete. A packet for which there is
//! no memory is not passed to the endpoint, so its sender retransmits it. The memory of all senders together is bounded
//! ([`ReceiveLimits`]):
//!
//! ```text
//! pool      shared by all senders and divided by `FairPool`: each sender has a guaranteed part that others cannot use
//!           a sender uses at most `sender` bytes; only its oldest message may exceed that
//! reserve   used by one message at a time, the holder of the turn, which can therefore always complete
//!           an oldest message that finds no memory takes the turn, or its sender queues for the turn
//!           the turn ends with the message, or when the holder has used none of the reserve for a second while others wait
//!           a holder that was slow for ten seconds while others waited is dropped, because its bytes occupy the reserve
//! ```
//!
//! Payload that the endpoint has acknowledged is never discarded, except that of such a holder; its sender is notified.

use std::collections::{HashMap, VecDeque};

use priolane_core::fair_pool::FairPool;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::Time;

use crate::parts::Parts;

mod room;
mod turn;

pub(crate) use room::{LEAST_RECEIVING, ReceiveLimits};
use turn::{Turn, TurnOutcome};

/// Bytes that count for each message in addition to its payload: its entries in the tables of this module.
const MESSAGE: u64 = 256;

/// The largest number of runs of dropped messages that are freed in one step, so that other work does not wait for long.
const FREED_AT_ONCE: usize = 1_024;

/// The outcome of storing payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreOutcome {
    /// The payload is stored.
    Yes,
    /// The payload is stored, as the first payload of its message.
    First,
    /// There is no memory for the payload at present.
    NoRoom,
    /// The message exceeds the largest permitted length.
    TooLong,
}

/// A message that is not complete.
#[derive(Debug)]
struct Partial {
    /// The bytes that have arrived; empty for a message that is counted and not kept.
    parts: Parts,
    readable: u64,
    /// Memory that the message uses of the reserve. It takes the rest from the pool.
    reserved: u64,
    /// The place at which the meter counts the message, if it is not kept.
    counted: Option<u32>,
}

impl Partial {
    /// Returns the memory of the message. A message that is counted uses none besides its table entries, like a flow without payload.
    fn kept(&self) -> u64 {
        if self.counted.is_some() { 0 } else { MESSAGE + self.parts.kept() }
    }
}

#[derive(Debug, Default)]
struct Sender {
    /// The memory of the sender's messages, and the part of that memory that is taken from the pool (`pooled`).
    kept: u64,
    pooled: u64,
    messages: u32,
    /// The sender's messages, the oldest first. Messages that have ended may still be listed.
    order: VecDeque<FlowId>,
}

/// The messages that are being received. Peers choose the flow identifiers, so the tables use randomly keyed hashes.
#[derive(Debug)]
pub(crate) struct Assembly {
    room: ReceiveLimits,
    pool: FairPool,
    /// Memory that is taken from the reserve.
    reserved: u64,
    turn: Turn,
    partial: HashMap<(HostId, FlowId), Partial>,
    senders: HashMap<HostId, Sender>,
    /// Memory of all messages; `freeing` is that of dropped messages that are not freed yet.
    kept: u64,
    to_free: VecDeque<Parts>,
    freeing: u64,
    /// Messages that were dropped in favour of others and that the caller has not fetched yet.
    dropped: Vec<(HostId, FlowId)>,
}

/// A message that is removed from the assembly.
#[derive(Debug)]
pub(crate) struct TakenMessage {
    pub(crate) parts: Parts,
    /// Bytes from the start of the message that the endpoint reports as readable. Fewer or more bytes may be stored.
    pub(crate) readable: u64,
    /// The place at which the meter counted the message, if it was not kept.
    pub(crate) counted: Option<u32>,
}

/// The memory from which payload is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Pool,
    Reserve,
    Nowhere,
}

impl Assembly {
    pub(crate) fn new(room: ReceiveLimits) -> Self {
        Self {
            pool: FairPool::new(room.pool(), room.senders),
            room,
            reserved: 0,
            turn: Turn::default(),
            partial: HashMap::new(),
            senders: HashMap::new(),
            kept: 0,
            to_free: VecDeque::new(),
            freeing: 0,
            dropped: Vec::new(),
        }
    }

    /// Stores `payload` at `offset` of a message. For a new message, `counted` returns the place at which the meter counts it, or `None`
    /// if it is to be kept.
    pub(crate) fn store(
        &mut self,
        of: (HostId, FlowId),
        offset: u64,
        payload: &[u8],
        now: Time,
        counted: impl FnOnce() -> Option<u32>,
    ) -> StoreOutcome {
        let Some(end) = offset.checked_add(payload.len() as u64).filter(|&end| end <= self.room.message)
        else {
            return StoreOutcome::TooLong;
        };
        let (counted, readable, growth) = match self.partial.get(&of) {
            Some(Partial { counted: Some(place), .. }) => (Some(*place), 0, 0),
            Some(Partial { parts, readable, .. }) => (None, *readable, parts.growth(offset, payload.len())),
            None => {
                let growth = || MESSAGE + Parts::default().growth(offset, payload.len());
                match counted() {
                    Some(place) => (Some(place), 0, 0),
                    None => (None, 0, growth()),
                }
            }
        };
        if counted.is_none() {
            if end > self.room.longest_kept() {
                return StoreOutcome::TooLong;
            }
            if end > readable.saturating_add(self.room.ahead) {
                return StoreOutcome::NoRoom;
            }
        }
        match self.place(of, growth, now) {
            Place::Nowhere => StoreOutcome::NoRoom,
            place => self.keep(of, offset, payload, place, counted),
        }
    }

    /// Returns where there is memory for `growth` more bytes of a message.
    fn place(&mut self, of: (HostId, FlowId), growth: u64, now: Time) -> Place {
        if growth == 0 {
            return Place::Pool;
        }
        // Memory that is still to be freed counts as used.
        if self.kept + self.freeing + growth > self.room.pool() + self.room.reserve() {
            return Place::Nowhere;
        }
        let (kept, pooled) = self.senders.get(&of.0).map_or((0, 0), |sender| (sender.kept, sender.pooled));
        let is_within = kept.saturating_add(growth) <= self.room.sender;
        if !is_within && self.oldest(of.0).is_some_and(|oldest| oldest != of.1) {
            return Place::Nowhere;
        }
        if self.pool.admits(pooled, growth) {
            return Place::Pool;
        }
        if self.oldest(of.0).is_some_and(|oldest| oldest != of.1) {
            return Place::Nowhere;
        }
        match self.turn.ask(of, now) {
            TurnOutcome::Held if self.reserved + growth <= self.room.reserve() => {
                self.turn.took(growth);
                Place::Reserve
            }
            TurnOutcome::Held | TurnOutcome::Wait => Place::Nowhere,
            TurnOutcome::Over { dropped } => {
                if let Some(slow) = dropped {
                    self.discard(slow, now);
                    self.dropped.push(slow);
                } else {
                    self.next_turn(now);
                }
                Place::Nowhere
            }
        }
    }

    /// Returns the oldest message of a sender.
    fn oldest(&mut self, src: HostId) -> Option<FlowId> {
        let sender = self.senders.get_mut(&src)?;
        while let Some(oldest) = sender.order.front() {
            if self.partial.contains_key(&(src, *oldest)) {
                return Some(*oldest);
            }
            sender.order.pop_front();
        }
        None
    }

    /// Gives the turn to the next sender in the queue.
    fn next_turn(&mut self, now: Time) {
        while let Some(src) = self.turn.next_waiting() {
            if let Some(flow) = self.oldest(src) {
                return self.turn.give((src, flow), now);
            }
        }
        self.turn.give_up();
    }

    fn keep(
        &mut self,
        key: (HostId, FlowId),
        offset: u64,
        payload: &[u8],
        place: Place,
        counted: Option<u32>,
    ) -> StoreOutcome {
        let (src, flow) = key;
        let sender = self.senders.entry(src).or_default();
        let mut stored = StoreOutcome::Yes;
        let mut before = 0;
        let partial =
            self.partial.entry(key).and_modify(|partial| before = partial.kept()).or_insert_with(|| {
                stored = StoreOutcome::First;
                sender.messages += 1;
                sender.order.push_back(flow);
                Partial { parts: Parts::default(), readable: 0, reserved: 0, counted }
            });
        if counted.is_none() {
            partial.parts.write(offset, payload);
        }
        // `after` may be less than `before`, because a run may release spare capacity.
        let after = partial.kept();
        let (reserved, pooled) = (partial.reserved, before - partial.reserved);
        partial.reserved = match place {
            Place::Reserve => (reserved + after).saturating_sub(before),
            Place::Pool | Place::Nowhere => reserved.min(after),
        };
        self.kept = self.kept + after - before;
        self.reserved = self.reserved + partial.reserved - reserved;
        sender.kept = sender.kept + after - before;
        let of_sender = sender.pooled + (after - partial.reserved) - pooled;
        self.pool.change(sender.pooled, of_sender);
        sender.pooled = of_sender;
        stored
    }

    /// Records that all bytes of a message before `bytes` are readable.
    pub(crate) fn readable(&mut self, src: HostId, flow: FlowId, bytes: u64) {
        if let Some(partial) = self.partial.get_mut(&(src, flow)) {
            partial.readable = bytes;
        }
    }

    /// Returns the place at which the meter counts a message, if it counts the message.
    pub(crate) fn counted(&self, src: HostId, flow: FlowId) -> Option<u32> {
        self.partial.get(&(src, flow))?.counted
    }

    /// Removes a message and returns it.
    pub(crate) fn take(&mut self, src: HostId, flow: FlowId, now: Time) -> Option<TakenMessage> {
        let partial = self.partial.remove(&(src, flow))?;
        self.release(src, &partial);
        if let Some(sender) = self.senders.get_mut(&src) {
            sender.messages -= 1;
            if sender.messages == 0 {
                self.senders.remove(&src);
            } else if sender.order.front() == Some(&flow) {
                sender.order.pop_front();
            } else if sender.order.len() > 64 + 2 * sender.messages as usize {
                sender.order.retain(|flow| self.partial.contains_key(&(src, *flow)));
            }
        }
        if self.turn.is_held_by((src, flow)) {
            self.next_turn(now);
        }
        let Partial { parts, readable, counted, .. } = partial;
        Some(TakenMessage { parts, readable, counted })
    }

    /// Subtracts the memory of a message from all counts.
    fn release(&mut self, src: HostId, partial: &Partial) {
        let kept = partial.kept();
        self.kept -= kept;
        self.reserved -= partial.reserved;
        if let Some(sender) = self.senders.get_mut(&src) {
            sender.kept -= kept;
            let pooled = sender.pooled + partial.reserved - kept;
            self.pool.change(sender.pooled, pooled);
            sender.pooled = pooled;
        }
    }

    /// Drops a message, and returns whether it was stored.
    pub(crate) fn discard(&mut self, (src, flow): (HostId, FlowId), now: Time) -> bool {
        let Some(TakenMessage { parts, .. }) = self.take(src, flow, now) else { return false };
        self.free_later(parts);
        true
    }

    fn free_later(&mut self, parts: Parts) {
        if !parts.is_empty() {
            self.freeing += parts.kept();
            self.to_free.push_back(parts);
        }
    }

    /// Frees some of the memory of dropped messages, and returns whether more is left.
    pub(crate) fn free_some(&mut self) -> bool {
        let mut left = FREED_AT_ONCE;
        while left > 0
            && let Some(parts) = self.to_free.front_mut()
        {
            let kept = parts.kept();
            left -= parts.drop_runs(left).max(1).min(left);
            if parts.is_empty() {
                self.freeing -= kept;
                self.to_free.pop_front();
            }
        }
        !self.to_free.is_empty()
    }

    /// Drops all messages of a sender.
    pub(crate) fn forget(&mut self, src: HostId, now: Time) {
        let Some(sender) = self.senders.get_mut(&src) else { return };
        for flow in std::mem::take(&mut sender.order) {
            self.discard((src, flow), now);
        }
    }

    /// Returns a message that was dropped in favour of others and that the caller has not fetched yet.
    pub(crate) fn next_dropped(&mut self) -> Option<(HostId, FlowId)> {
        self.dropped.pop()
    }

    /// Returns the number of messages of a sender that are being received.
    pub(crate) fn messages_of(&self, src: HostId) -> u32 {
        self.senders.get(&src).map_or(0, |sender| sender.messages)
    }

    /// Returns the memory of all messages, including memory that is still to be freed.
    pub(crate) fn bytes(&self) -> u64 {
        self.kept + self.freeing
    }
}

#[cfg(test)]
mod tests;

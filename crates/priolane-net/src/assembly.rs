//! Messages that are being received, by sender and flow: what is kept of each, and for whom there is room.
//!
//! An endpoint knows which bytes have come; here they are kept until all have. What finds no room is not shown to the endpoint,
//! and so is sent again. Memory of all senders together is bounded ([`Room`]):
//!
//! ```text
//! pool      of all senders, divided by `FairPool`: each has its guaranteed part, whatever others have
//!           a sender has at most `sender` bytes; only its oldest message may have more
//! reserve   for one message at a time, the holder of the turn, which thus always ends
//!           an oldest message that finds no room takes the turn, or its sender queues for it
//!           the turn ends with the message, or where the holder takes nothing for a second while others wait
//!           a holder that was slow for ten seconds while others waited is dropped, since its bytes fill the reserve
//! ```
//!
//! No payload is given back once the endpoint has acknowledged it, other than that of such a holder, whose sender is told.

use std::collections::{HashMap, VecDeque};

use priolane_core::fair_pool::FairPool;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::Time;

use crate::parts::Parts;

mod room;
mod turn;

pub(crate) use room::{LEAST_RECEIVING, Room};
use turn::{Turn, TurnOutcome};

/// Bytes that count for each message besides its payload: its entry in the tables here.
const MESSAGE: u64 = 256;

/// Runs of dropped messages that are freed at once, so that no other work waits for long.
const FREED_AT_ONCE: usize = 1_024;

/// What became of payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreOutcome {
    /// It is here.
    Yes,
    /// It is here, the first of its message.
    First,
    /// There is no room for it now.
    NoRoom,
    /// Its message is longer than any may be.
    TooLong,
}

/// A message of which not all has come.
#[derive(Debug)]
struct Partial {
    /// Nothing of a message that is counted.
    parts: Parts,
    readable: u64,
    /// Memory that is taken from the reserve; the rest is of the pool.
    reserved: u64,
    /// Where it is counted, if it is not kept.
    counted: Option<u32>,
}

impl Partial {
    /// Memory for it. Of a message that is counted, only the entries in tables are kept, as of a flow without payload.
    fn kept(&self) -> u64 {
        if self.counted.is_some() { 0 } else { MESSAGE + self.parts.kept() }
    }
}

#[derive(Debug, Default)]
struct Sender {
    /// Memory that is kept of its messages, and the part that is taken from the pool.
    kept: u64,
    pooled: u64,
    messages: u32,
    /// Its messages, the oldest first; some are no more.
    order: VecDeque<FlowId>,
}

/// The messages that are being received. Names are chosen by others: the tables hash with secrets of their own.
#[derive(Debug)]
pub(crate) struct Assembly {
    room: Room,
    pool: FairPool,
    /// Memory that is taken from the reserve.
    reserved: u64,
    turn: Turn,
    partial: HashMap<(HostId, FlowId), Partial>,
    senders: HashMap<HostId, Sender>,
    /// Memory that is kept of messages, and of those that were dropped and are still to be freed.
    kept: u64,
    to_free: VecDeque<Parts>,
    freeing: u64,
    /// Messages that were dropped for others, of which the caller does not know yet.
    dropped: Vec<(HostId, FlowId)>,
}

/// A message that is taken out.
#[derive(Debug)]
pub(crate) struct TakenMessage {
    pub(crate) parts: Parts,
    /// How many of its bytes can be read; fewer or more may be here.
    pub(crate) readable: u64,
    /// Where it was counted, if it was not kept.
    pub(crate) counted: Option<u32>,
}

/// Where there is memory for payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Pool,
    Reserve,
    Nowhere,
}

impl Assembly {
    pub(crate) fn new(room: Room) -> Self {
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

    /// Keeps `payload` at `offset` of a message. `counted` tells where a new one is counted, if it is not to be kept.
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
            place => self.keep(of, (offset, payload), place, counted),
        }
    }

    /// Where there is memory for `growth` more bytes of a message.
    fn place(&mut self, of: (HostId, FlowId), growth: u64, now: Time) -> Place {
        if growth == 0 {
            return Place::Pool;
        }
        // What is still to be freed is memory too.
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

    /// The oldest message of a sender.
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

    /// Gives the turn to the next that waits.
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
        (src, flow): (HostId, FlowId),
        (offset, payload): (u64, &[u8]),
        place: Place,
        counted: Option<u32>,
    ) -> StoreOutcome {
        let sender = self.senders.entry(src).or_default();
        let mut stored = StoreOutcome::Yes;
        let mut before = 0;
        let partial =
            self.partial.entry((src, flow)).and_modify(|partial| before = partial.kept()).or_insert_with(
                || {
                    stored = StoreOutcome::First;
                    sender.messages += 1;
                    sender.order.push_back(flow);
                    Partial { parts: Parts::default(), readable: 0, reserved: 0, counted }
                },
            );
        if counted.is_none() {
            partial.parts.write(offset, payload);
        }
        // Less where a run gives back what it had to spare.
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

    /// All before `bytes` of a message can be read.
    pub(crate) fn readable(&mut self, src: HostId, flow: FlowId, bytes: u64) {
        if let Some(partial) = self.partial.get_mut(&(src, flow)) {
            partial.readable = bytes;
        }
    }

    /// Where a message is counted, if it is.
    pub(crate) fn counted(&self, src: HostId, flow: FlowId) -> Option<u32> {
        self.partial.get(&(src, flow))?.counted
    }

    /// Takes a message out.
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

    /// What was kept of a message is not any more.
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

    /// Drops a message; whether it was here.
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

    /// Frees some of what was dropped; whether there is more.
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

    /// A message that was dropped so that others end, of which the caller was not told yet.
    pub(crate) fn next_dropped(&mut self) -> Option<(HostId, FlowId)> {
        self.dropped.pop()
    }

    /// Messages of a sender that are being received.
    pub(crate) fn messages_of(&self, src: HostId) -> u32 {
        self.senders.get(&src).map_or(0, |sender| sender.messages)
    }

    /// Memory that is kept, with what is still to be freed.
    pub(crate) fn bytes(&self) -> u64 {
        self.kept + self.freeing
    }
}

#[cfg(test)]
mod tests;

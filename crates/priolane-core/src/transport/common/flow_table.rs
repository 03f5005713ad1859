//! The flows that start or end at a host, found by the names that packets give them, and their timers.
//!
//! A flow's id is chosen by the host that sends it. A flow that is sent here is found by its id, a flow that is received
//! here by its id and its sender: two senders may use the same id.
//!
//! ```text
//! outgoing   add_sender ──▶ active ── remove_sender ──▶ forgotten
//! incoming   add_receiver ──▶ active ─┬─ end_receiver ──▶ ended, remembered with `E`
//!                                     └─ remove_receiver ──▶ forgotten
//! ```

use rustc_hash::FxHashMap;

use super::slab::Slab;
use super::timers::{Entry, Owner, Timers};
use crate::ids::{FlowId, HostId};
use crate::packet::Header;
use crate::units::Time;

/// The name of a flow at its receiver: its sender, and the id that the sender chose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::transport) struct FlowKey(u64);

impl FlowKey {
    /// The flow that `src` calls `flow`.
    #[inline]
    pub(in crate::transport) fn new(src: HostId, flow: FlowId) -> Self {
        Self(u64::from(src.0) << 32 | u64::from(flow.0))
    }

    /// The flow of a packet from its sender.
    #[inline]
    pub(in crate::transport) fn of(header: &Header) -> Self {
        Self::new(header.src, header.flow)
    }
}

/// A flow that this host receives or received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Incoming<E> {
    /// Not all of it is here: its place among the receivers.
    Active(u32),
    /// It ended.
    Ended(E),
}

/// A flow with a timer.
pub(in crate::transport) trait Timed {
    /// When its timer expires; `Time::NEVER` for not at all.
    fn due(&self) -> Time;

    /// When its live entry in the host's timers is; `Time::NEVER` for none.
    fn armed(&mut self) -> &mut Time;
}

/// A deadline that its flow sets.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Alarm {
    /// `Time::NEVER` for not at all.
    pub(in crate::transport) due: Time,
    pub(in crate::transport) armed: Time,
}

impl Alarm {
    pub(in crate::transport) const OFF: Self = Self { due: Time::NEVER, armed: Time::NEVER };
}

/// Makes flows with a field `alarm` [`Timed`] by it.
macro_rules! timed_by_alarm {
    ($flow:ty) => {
        impl $crate::transport::common::Timed for $flow {
            fn due(&self) -> $crate::units::Time {
                self.alarm.due
            }

            fn armed(&mut self) -> &mut $crate::units::Time {
                &mut self.alarm.armed
            }
        }
    };
}
pub(in crate::transport) use timed_by_alarm;

/// The flows of one host: `S` is a flow at its sender, `R` one at its receiver, `E` what is remembered of one received.
#[derive(Debug)]
pub(in crate::transport) struct FlowTable<S, R, E> {
    outgoing: FxHashMap<FlowId, u32>,
    incoming: FxHashMap<FlowKey, Incoming<E>>,
    pub(in crate::transport) senders: Slab<S>,
    pub(in crate::transport) receivers: Slab<R>,
    timers: Timers,
}

impl<S, R, E> Default for FlowTable<S, R, E> {
    fn default() -> Self {
        Self {
            outgoing: FxHashMap::default(),
            incoming: FxHashMap::default(),
            senders: Slab::default(),
            receivers: Slab::default(),
            timers: Timers::default(),
        }
    }
}

impl<S: Timed, R: Timed, E: Copy> FlowTable<S, R, E> {
    /// The place of a flow that is sent here.
    #[inline]
    pub(in crate::transport) fn sender_of(&self, flow: FlowId) -> Option<u32> {
        self.outgoing.get(&flow).copied()
    }

    /// What is known of a flow that is or was received here.
    #[inline]
    pub(in crate::transport) fn incoming(&self, key: FlowKey) -> Option<Incoming<E>> {
        self.incoming.get(&key).copied()
    }

    /// The place of a flow that is being received here.
    #[inline]
    pub(in crate::transport) fn receiver_of(&self, key: FlowKey) -> Option<u32> {
        match self.incoming.get(&key) {
            Some(&Incoming::Active(slot)) => Some(slot),
            _ => None,
        }
    }

    /// A flow starts here; its place.
    pub(in crate::transport) fn add_sender(&mut self, flow: FlowId, sender: S) -> u32 {
        let slot = self.senders.insert(sender);
        self.outgoing.insert(flow, slot);
        slot
    }

    /// A flow ends here; its place.
    pub(in crate::transport) fn add_receiver(&mut self, key: FlowKey, receiver: R) -> u32 {
        let slot = self.receivers.insert(receiver);
        self.incoming.insert(key, Incoming::Active(slot));
        slot
    }

    /// Forgets a flow that is sent here; its place is free.
    pub(in crate::transport) fn remove_sender(&mut self, flow: FlowId) -> Option<S> {
        let (slot, sender) = self.take_sender(flow)?;
        self.senders.release(slot);
        Some(sender)
    }

    /// Forgets a flow that is sent here, but keeps its place from new flows until `Slab::release`.
    pub(in crate::transport) fn take_sender(&mut self, flow: FlowId) -> Option<(u32, S)> {
        let slot = self.outgoing.remove(&flow)?;
        Some((slot, self.senders.take(slot)?))
    }

    /// A flow that was being received ended: `end` is what is remembered of it.
    pub(in crate::transport) fn end_receiver(&mut self, key: FlowKey, end: E) {
        if let Some(Incoming::Active(slot)) = self.incoming.insert(key, Incoming::Ended(end)) {
            self.free_receiver(slot);
        }
    }

    /// Forgets a flow that was being received.
    pub(in crate::transport) fn remove_receiver(&mut self, key: FlowKey) {
        if let Some(Incoming::Active(slot)) = self.incoming.remove(&key) {
            self.free_receiver(slot);
        }
    }

    fn free_receiver(&mut self, slot: u32) {
        self.receivers.take(slot);
        self.receivers.release(slot);
    }

    /// After a change of when a sender's timer expires. One that expires later keeps its entry.
    #[inline]
    pub(in crate::transport) fn arm_sender(&mut self, slot: u32) {
        if let Some((generation, sender)) = self.senders.entry(slot) {
            arm(&mut self.timers, Owner::Sender(slot), generation, sender);
        }
    }

    /// After a change of when a receiver's timer expires.
    #[inline]
    pub(in crate::transport) fn arm_receiver(&mut self, slot: u32) {
        if let Some((generation, receiver)) = self.receivers.entry(slot) {
            arm(&mut self.timers, Owner::Receiver(slot), generation, receiver);
        }
    }

    /// When the first timer expires; perhaps earlier than any does.
    #[inline]
    pub(in crate::transport) fn next_timeout(&self) -> Option<Time> {
        self.timers.first_at()
    }

    /// The next flow whose timer has expired at `now`; it is armed no more.
    pub(in crate::transport) fn expired(&mut self, now: Time) -> Option<Owner> {
        while let Some(entry) = self.timers.first().filter(|entry| entry.at <= now) {
            self.timers.pop();
            if !self.is_live(&entry) {
                continue;
            }
            let due = match entry.owner {
                Owner::Sender(slot) => self.senders.get_mut(slot).map(disarm),
                Owner::Receiver(slot) => self.receivers.get_mut(slot).map(disarm),
            };
            if due.is_some_and(|due| due <= now) {
                return Some(entry.owner);
            }
            match entry.owner {
                Owner::Sender(slot) => self.arm_sender(slot),
                Owner::Receiver(slot) => self.arm_receiver(slot),
            }
        }
        None
    }

    fn is_live(&mut self, entry: &Entry) -> bool {
        let live = match entry.owner {
            Owner::Sender(slot) => self.senders.entry(slot).map(|(g, sender)| (g, *sender.armed())),
            Owner::Receiver(slot) => self.receivers.entry(slot).map(|(g, receiver)| (g, *receiver.armed())),
        };
        live == Some((entry.generation, entry.at))
    }

    /// Drops the first timers as far as they are those of flows that ended, so that `next_timeout` is the next that
    /// expires. A machine that does not call it is woken for nothing.
    pub(in crate::transport) fn drop_dead_timers(&mut self) {
        while let Some(entry) = self.timers.first()
            && !self.is_live(&entry)
        {
            self.timers.pop();
        }
    }
}

#[inline]
fn arm(timers: &mut Timers, owner: Owner, generation: u32, flow: &mut impl Timed) {
    let at = flow.due();
    if at < *flow.armed() {
        timers.arm(Entry { at, owner, generation }, flow.armed());
    }
}

/// Disarms a flow; when its timer expires.
fn disarm(flow: &mut impl Timed) -> Time {
    *flow.armed() = Time::NEVER;
    flow.due()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Flow {
        alarm: Alarm,
    }

    timed_by_alarm!(Flow);

    fn at(due: u64) -> Flow {
        Flow { alarm: Alarm { due: Time(due), ..Alarm::OFF } }
    }

    type Table = FlowTable<Flow, Flow, ()>;

    #[test]
    fn two_senders_may_choose_the_same_id_and_so_may_this_host() {
        let mut table = Table::default();
        let [a, b] = [1, 2].map(|src| FlowKey::new(HostId(src), FlowId(1)));
        let (first, second) = (table.add_receiver(a, at(1)), table.add_receiver(b, at(2)));
        let own = table.add_sender(FlowId(1), at(3));
        assert_ne!(first, second);
        table.end_receiver(a, ());
        assert_eq!(table.incoming(a), Some(Incoming::Ended(())));
        assert_eq!((table.receiver_of(b), table.sender_of(FlowId(1))), (Some(second), Some(own)));
        table.remove_sender(FlowId(1));
        table.remove_receiver(b);
        assert_eq!((table.incoming(b), table.sender_of(FlowId(1))), (None, None));
    }

    #[test]
    fn a_timer_that_was_put_off_expires_once_and_later() {
        let mut table = Table::default();
        let slot = table.add_sender(FlowId(0), at(10));
        table.arm_sender(slot);
        table.senders.get_mut(slot).unwrap().alarm.due = Time(30);
        table.arm_sender(slot);
        assert_eq!(table.next_timeout(), Some(Time(10)), "the entry stays");
        assert_eq!((table.expired(Time(10)), table.next_timeout()), (None, Some(Time(30))));
        assert_eq!((table.expired(Time(30)), table.next_timeout()), (Some(Owner::Sender(slot)), None));
    }

    #[test]
    fn timers_of_flows_that_ended_are_dropped_and_do_not_expire_for_those_that_take_their_place() {
        let mut table = Table::default();
        let old = table.add_sender(FlowId(0), at(10));
        table.arm_sender(old);
        let key = FlowKey::new(HostId(1), FlowId(7));
        let receiver = table.add_receiver(key, at(5));
        table.arm_receiver(receiver);
        // The sender's entry is not the first, so it stays in the heap; its place is taken by a flow due later.
        assert!(table.remove_sender(FlowId(0)).is_some());
        assert_eq!(table.add_sender(FlowId(1), at(20)), old);
        table.arm_sender(old);
        assert_eq!(table.expired(Time(10)), Some(Owner::Receiver(receiver)));
        assert_eq!(table.expired(Time(10)), None);
        assert_eq!(table.expired(Time(20)), Some(Owner::Sender(old)));
    }
}

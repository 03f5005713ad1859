//! A table of the flows that start or end at a host, looked up by the ids in packets, with their timers.
//!
//! The sender of a flow chooses its id. A flow sent by this host is looked up by its id, a flow received by this
//! host by its id and its sender, because two senders may use the same id.
//!
//! ```text
//! outgoing   add_sender ──▶ active ── remove_sender ──▶ forgotten
//!                              └─ abort_sender ───▶ aborted, remembered
//! incoming   add_receiver ──▶ active ─┬─ end_receiver ──▶ ended, remembered with `E`
//!                                     ├─ no data for `idle` ──▶ `Expired::Idle`, on a real host
//!                                     └─ remove_receiver ──▶ forgotten
//! remembered ── time_wait ──▶ forgotten
//! ```
//!
//! The remembered state answers late packets. A packet later than `time_wait` belongs to a new flow. So `time_wait`
//! is twice the maximum lifetime of a packet (RFC 9293 §3.4.2), or unlimited in a simulation, which ends. As in TCP,
//! a packet of a remembered flow starts the time again (§3.10.7.4): its sender did not get the answer, and will
//! retransmit.

use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::flow_hash::FlowHash;
use super::flow_key::FlowKey;
use super::flow_limit::FlowLimit;
use super::last_found::LastFound;
use super::remembered::{EndedFlow, Remembered};
use super::slab::Slab;
use super::timers::{Entry, Owner, Timers};
use crate::endpoint::LocalHost;
use crate::ids::{FlowId, HostId};
use crate::packet::{Header, Kind};
use crate::units::Time;

/// A flow that this host is receiving or has received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Incoming<E> {
    /// Not completely received: its slot among the receivers.
    Active(u32),
    /// It has ended.
    Ended(E),
}

/// A flow whose timer has expired: its slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Expired {
    Sender(u32),
    Receiver(u32),
    /// A flow that is being received, of which no data arrived for [`RealHost::idle`](crate::endpoint::RealHost::idle). Its
    /// owner ends or removes it.
    Idle(FlowKey),
}

/// A flow with a timer.
pub(in crate::transport) trait HasTimer {
    /// Returns when its timer expires; `Time::NEVER` if it is not set.
    fn due(&self) -> Time;

    /// Returns the time of its live entry in the host's timers; `Time::NEVER` for none.
    fn armed(&mut self) -> &mut Time;
}

/// The state of a flow at its sender.
pub(in crate::transport) trait SentFlow: HasTimer {
    /// Returns the receiving host.
    fn dst(&self) -> HostId;
}

/// A borrowed sender flow with its slot and the host's timers, so that a call looks it up only once.
#[derive(Debug)]
pub(in crate::transport) struct Sending<'a, S> {
    pub(in crate::transport) flow: &'a mut S,
    /// Number of times that the slot was freed before this flow took it.
    pub(in crate::transport) generation: u32,
    pub(in crate::transport) slot: u32,
    timers: &'a mut Timers,
}

impl<S: HasTimer> Sending<'_, S> {
    /// Sets the timer after the flow's deadline changed. If the deadline became later, the existing entry stays.
    #[inline]
    pub(in crate::transport) fn arm(mut self) {
        self.arm_before_sending();
    }

    /// As [`Self::arm`], where the flow sends in the same call.
    #[inline]
    pub(in crate::transport) fn arm_before_sending(&mut self) {
        arm(self.timers, Owner::Sender(self.slot), self.generation, self.flow);
    }
}

/// The deadline of a flow's timer.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct FlowTimer {
    /// `Time::NEVER` if it is not set.
    pub(in crate::transport) due: Time,
    pub(in crate::transport) armed: Time,
}

impl FlowTimer {
    pub(in crate::transport) const OFF: Self = Self { due: Time::NEVER, armed: Time::NEVER };
}

/// Implements [`HasTimer`] for flows with a field `alarm`.
macro_rules! timed_by_alarm {
    ($flow:ty) => {
        impl $crate::transport::common::HasTimer for $flow {
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

/// The flows of a host: `S` is the state at a sender, `R` at a receiver, `E` is what is remembered of a received
/// flow.
#[derive(Debug)]
pub(in crate::transport) struct FlowTable<S, R, E> {
    outgoing: FxHashMap<FlowId, u32>,
    /// Flows that are being received; in a simulation, also those that ended.
    incoming: HashMap<FlowKey, Incoming<E>, FlowHash>,
    last_sender: LastFound,
    last_receiver: LastFound,
    /// Limit on received flows, on a real host.
    pub(in crate::transport) limit: Option<Box<FlowLimit>>,
    /// Time of the live entry that looks for idle flows; `Time::NEVER` for none.
    idle_check: Time,
    /// Flows that this host aborted as their sender.
    aborted: FxHashSet<FlowId>,
    /// Flows that ended, on a real host. A simulation remembers them for an unlimited time.
    remembered: Option<Box<Remembered<E>>>,
    pub(in crate::transport) senders: Slab<S>,
    pub(in crate::transport) receivers: Slab<R>,
    timers: Timers,
}

impl<S: SentFlow, R: HasTimer, E: Copy> FlowTable<S, R, E> {
    /// Creates the table of `host`, without flows.
    pub(in crate::transport) fn new(host: &LocalHost) -> Self {
        let hash = FlowHash::new(host.real.map_or(0, |real| real.secret));
        Self {
            outgoing: FxHashMap::default(),
            incoming: HashMap::with_hasher(hash),
            last_sender: LastFound::NONE,
            last_receiver: LastFound::NONE,
            limit: host.real.map(|real| Box::new(FlowLimit::new(&real))),
            idle_check: Time::NEVER,
            aborted: FxHashSet::default(),
            remembered: host.real.map(|real| Box::new(Remembered::new(real.time_wait, hash))),
            senders: Slab::default(),
            receivers: Slab::default(),
            timers: Timers::default(),
        }
    }

    /// Returns true if this host aborted the flow as its sender and remembers it.
    pub(in crate::transport) fn is_aborted(&self, flow: FlowId) -> bool {
        self.aborted.contains(&flow)
    }

    /// Returns the slot of a flow sent by this host.
    #[inline]
    pub(in crate::transport) fn sender_of(&self, flow: FlowId) -> Option<u32> {
        self.outgoing.get(&flow).copied()
    }

    /// Returns the slot of the sender flow that a packet from its receiver refers to. A packet of another host
    /// refers to none, as that host may use the same id for another flow.
    #[inline]
    pub(in crate::transport) fn answered(&mut self, header: &Header) -> Option<u32> {
        self.answering(header).map(|sending| sending.slot)
    }

    /// Returns the state of a flow that is or was received by this host and of which a packet came. If the flow has
    /// ended, it is remembered for another `time_wait`.
    #[inline]
    pub(in crate::transport) fn incoming(&mut self, key: FlowKey) -> Option<Incoming<E>> {
        match self.incoming.get(&key) {
            Some(&state) => Some(state),
            None => self.remembered.as_mut()?.hear(key).map(Incoming::Ended),
        }
    }

    /// Returns the slot of a flow that is being received.
    #[inline]
    pub(in crate::transport) fn receiver_of(&self, key: FlowKey) -> Option<u32> {
        match self.incoming.get(&key) {
            Some(&Incoming::Active(slot)) => Some(slot),
            _ => None,
        }
    }

    /// As [`Self::receiver_of`], for packets of one flow in a row.
    #[inline]
    pub(in crate::transport) fn receiving(&mut self, key: FlowKey) -> Option<u32> {
        let Self { incoming, last_receiver, .. } = self;
        last_receiver.find(key.word(), || match incoming.get(&key) {
            Some(&Incoming::Active(slot)) => Some(slot),
            _ => None,
        })
    }

    /// Prefetches the first timer, and the state of a packet's flow if it is the one found last.
    #[inline]
    pub(in crate::transport) fn prefetch(&self, header: &Header) {
        self.timers.prefetch();
        match header.kind {
            Kind::Data => self.receivers.prefetch(self.last_receiver.of(FlowKey::of(header).word())),
            _ => self.senders.prefetch(self.last_sender.of(u64::from(header.flow.0))),
        }
    }

    /// Adds a flow that starts at this host and returns its slot.
    pub(in crate::transport) fn add_sender(&mut self, flow: FlowId, sender: S) -> u32 {
        self.last_sender.forget(u64::from(flow.0));
        let slot = self.senders.insert(sender);
        self.outgoing.insert(flow, slot);
        slot
    }

    /// Adds a flow of the connection whose sender is at `slot`.
    pub(in crate::transport) fn add_to_sender(&mut self, flow: FlowId, slot: u32) {
        self.last_sender.forget(u64::from(flow.0));
        self.outgoing.insert(flow, slot);
    }

    /// Returns true if an unknown flow may get a receiver.
    #[inline]
    pub(in crate::transport) fn admits(&self, key: FlowKey) -> bool {
        self.limit.as_ref().is_none_or(|limit| limit.admits(key.src()))
    }

    /// Adds a flow that ends at this host and whose first packet arrived at `now`; returns its slot.
    pub(in crate::transport) fn add_receiver(&mut self, key: FlowKey, receiver: R, now: Time) -> u32 {
        let slot = self.receivers.insert(receiver);
        if let Some(limit) = &mut self.limit {
            limit.opened(slot, key, now);
            self.check_idle_later();
        }
        self.last_receiver.forget(key.word());
        self.incoming.insert(key, Incoming::Active(slot));
        slot
    }

    /// Removes a sender flow and frees its slot.
    pub(in crate::transport) fn remove_sender(&mut self, flow: FlowId) -> Option<S> {
        let (slot, sender) = self.take_sender(flow)?;
        self.senders.release(slot);
        Some(sender)
    }

    /// Removes a sender flow, but does not free its slot until `Slab::release`.
    pub(in crate::transport) fn take_sender(&mut self, flow: FlowId) -> Option<(u32, S)> {
        self.last_sender.forget(u64::from(flow.0));
        let slot = self.outgoing.remove(&flow)?;
        Some((slot, self.senders.take(slot)?))
    }

    /// Aborts a sender flow.
    pub(in crate::transport) fn abort_sender(&mut self, flow: FlowId, now: Time) {
        if self.remove_sender(flow).is_some() {
            self.aborted.insert(flow);
            let first = self.remembered.as_mut().and_then(|remembered| remembered.push_aborted(flow, now));
            self.forget_later(first);
        }
    }

    /// Returns the number of flows that are being received, on a real host.
    pub(in crate::transport) fn receiving_now(&self) -> u32 {
        self.limit.as_ref().map_or(0, |limit| limit.unfinished())
    }

    /// Records that data of the flow at `slot` arrived at `now`.
    #[inline]
    pub(in crate::transport) fn heard(&mut self, slot: u32, now: Time) {
        if let Some(limit) = &mut self.limit {
            limit.heard(slot, now);
        }
    }

    /// Adds the entry that looks for idle flows, if there are flows and no such entry.
    fn check_idle_later(&mut self) {
        if self.idle_check == Time::NEVER
            && let Some((_, at)) = self.limit.as_ref().and_then(|limit| limit.next_idle())
        {
            self.idle_check = at;
            self.timers.check_idle_at(at);
        }
    }

    /// Returns the flow that is idle at `now`, if any.
    fn idle_at(&mut self, now: Time) -> Option<FlowKey> {
        self.idle_check = Time::NEVER;
        let (key, at) = self.limit.as_ref()?.next_idle()?;
        if at > now {
            self.check_idle_later();
            return None;
        }
        // There may be another.
        self.idle_check = now;
        self.timers.check_idle_at(now);
        Some(key)
    }

    /// Ends a receiver flow at `now`; `end` is remembered.
    pub(in crate::transport) fn end_receiver(&mut self, key: FlowKey, end: E, now: Time) {
        self.last_receiver.forget(key.word());
        if let Some(Incoming::Active(slot)) = self.replace_incoming(key, end) {
            self.free_receiver(slot);
            self.remember(key, end, now);
        }
    }

    /// Ends a flow that is or was to be received here, at `now`; `end` is remembered, if there is room for it.
    pub(in crate::transport) fn refuse(&mut self, key: FlowKey, end: E, now: Time) {
        if self.remembered.as_mut().is_some_and(|remembered| remembered.replace(key, end)) {
            return;
        }
        let is_new = !self.incoming.contains_key(&key);
        if is_new && self.limit.as_ref().is_some_and(|limit| !limit.may_remember(key.src())) {
            return;
        }
        self.last_receiver.forget(key.word());
        if let Some(Incoming::Active(slot)) = self.replace_incoming(key, end) {
            self.free_receiver(slot);
        }
        self.remember(key, end, now);
    }

    /// Returns what the table of flows that are being received has for a flow that ends. A simulation remembers `end` there.
    fn replace_incoming(&mut self, key: FlowKey, end: E) -> Option<Incoming<E>> {
        match self.remembered {
            Some(_) => self.incoming.remove(&key),
            None => self.incoming.insert(key, Incoming::Ended(end)),
        }
    }

    /// The flows that this host sends to `host`.
    pub(in crate::transport) fn sent_to(&self, host: HostId) -> Vec<FlowId> {
        let is_to = |slot: u32| self.senders.get(slot).is_some_and(|sender| sender.dst() == host);
        self.outgoing.iter().filter(|&(_, &slot)| is_to(slot)).map(|(&flow, _)| flow).collect()
    }

    /// The flows that this host is receiving from `host`.
    pub(in crate::transport) fn received_from(&self, host: HostId) -> Vec<FlowKey> {
        let active = self.incoming.iter().filter(|(_, role)| matches!(role, Incoming::Active(_)));
        active.map(|(&key, _)| key).filter(|key| key.src() == host).collect()
    }

    /// Forgets a received flow that ended.
    pub(in crate::transport) fn forget_ended(&mut self, key: FlowKey) {
        match &mut self.remembered {
            Some(remembered) => remembered.forget(key),
            None if matches!(self.incoming.get(&key), Some(Incoming::Ended(_))) => {
                self.incoming.remove(&key);
            }
            None => {}
        }
    }

    /// Forgets the flows received from `host` that ended.
    pub(in crate::transport) fn forget_ended_of(&mut self, host: HostId) {
        match &mut self.remembered {
            Some(remembered) => remembered.forget_host(host),
            None => {
                self.incoming.retain(|key, role| matches!(role, Incoming::Active(_)) || key.src() != host)
            }
        }
    }

    /// Remembers a received flow on a real host.
    fn remember(&mut self, key: FlowKey, end: E, now: Time) {
        let Some(remembered) = &mut self.remembered else { return };
        let first = remembered.push(key, end, now);
        if let Some(limit) = &mut self.limit {
            limit.remembered(key.src());
        }
        self.forget_later(first);
    }

    /// Sets the timer of the remembered flows if `first` is the time of the only one.
    fn forget_later(&mut self, first: Option<Time>) {
        if let Some(at) = first {
            self.timers.forget_at(at);
        }
    }

    /// Forgets the flows whose time is over at `now`.
    fn forget(&mut self, now: Time) {
        let Some(remembered) = &mut self.remembered else { return };
        while let Some(flow) = remembered.pop(now) {
            match flow {
                EndedFlow::Received(key) => {
                    if let Some(limit) = &mut self.limit {
                        limit.forgotten(key.src(), 1);
                    }
                }
                EndedFlow::Aborted(flow) => drop(self.aborted.remove(&flow)),
            }
        }
        let next = remembered.next();
        self.forget_later(next);
    }

    /// Removes a receiver flow without remembering it.
    pub(in crate::transport) fn remove_receiver(&mut self, key: FlowKey) {
        self.last_receiver.forget(key.word());
        if let Some(Incoming::Active(slot)) = self.incoming.remove(&key) {
            self.free_receiver(slot);
        }
    }

    fn free_receiver(&mut self, slot: u32) {
        if let Some(limit) = &mut self.limit {
            limit.closed(slot);
        }
        self.receivers.take(slot);
        self.receivers.release(slot);
    }

    /// Returns the flow at the slot that [`Self::answered`] returns.
    #[inline]
    pub(in crate::transport) fn answering(&mut self, header: &Header) -> Option<Sending<'_, S>> {
        let Self { outgoing, last_sender, .. } = self;
        let slot = last_sender.find(u64::from(header.flow.0), || outgoing.get(&header.flow).copied())?;
        self.sending(slot).filter(|sending| sending.flow.dst() == header.src)
    }

    /// Returns the sender flow at `slot`.
    #[inline]
    pub(in crate::transport) fn sending(&mut self, slot: u32) -> Option<Sending<'_, S>> {
        let (generation, flow) = self.senders.entry(slot)?;
        Some(Sending { flow, generation, slot, timers: &mut self.timers })
    }

    /// Sets a sender's timer after its deadline changed. If the deadline became later, the existing entry stays.
    #[inline]
    pub(in crate::transport) fn arm_sender(&mut self, slot: u32) {
        if let Some(sending) = self.sending(slot) {
            sending.arm();
        }
    }

    /// Sets a receiver's timer after its deadline changed.
    #[inline]
    pub(in crate::transport) fn arm_receiver(&mut self, slot: u32) {
        if let Some((generation, receiver)) = self.receivers.entry(slot) {
            arm(&mut self.timers, Owner::Receiver(slot), generation, receiver);
        }
    }

    /// Returns a lower bound on when the first timer expires.
    #[inline]
    pub(in crate::transport) fn next_timeout(&self) -> Option<Time> {
        self.timers.first_at()
    }

    /// Returns the next flow whose timer has expired at `now`, and disarms it.
    pub(in crate::transport) fn expired(&mut self, now: Time) -> Option<Expired> {
        while let Some(entry) = self.timers.first().filter(|entry| entry.at <= now) {
            self.timers.pop();
            if !self.is_live(&entry) {
                continue;
            }
            match entry.owner {
                Owner::Sender(slot) if self.senders.get_mut(slot).is_some_and(|s| disarm(s) <= now) => {
                    return Some(Expired::Sender(slot));
                }
                Owner::Receiver(slot) if self.receivers.get_mut(slot).is_some_and(|r| disarm(r) <= now) => {
                    return Some(Expired::Receiver(slot));
                }
                Owner::Sender(slot) => self.arm_sender(slot),
                Owner::Receiver(slot) => self.arm_receiver(slot),
                Owner::Ended => self.forget(now),
                Owner::Idle => {
                    if let Some(key) = self.idle_at(now) {
                        return Some(Expired::Idle(key));
                    }
                }
            }
        }
        if self.limit.is_some() {
            self.drop_dead_timers();
        }
        None
    }

    fn is_live(&mut self, entry: &Entry) -> bool {
        let live = match entry.owner {
            Owner::Sender(slot) => self.senders.entry(slot).map(|(g, sender)| (g, *sender.armed())),
            Owner::Receiver(slot) => self.receivers.entry(slot).map(|(g, receiver)| (g, *receiver.armed())),
            Owner::Ended => return true,
            Owner::Idle => {
                let is_watching = self.limit.as_ref().is_some_and(|limit| limit.next_idle().is_some());
                let is_live = self.idle_check == entry.at;
                if is_live && !is_watching {
                    self.idle_check = Time::NEVER;
                }
                return is_live && is_watching;
            }
        };
        live == Some((entry.generation, entry.at))
    }

    /// Drops timers of ended flows at the head of the heap, so that `next_timeout` is exact. A transport that does
    /// not call it gets spurious wake-ups.
    pub(in crate::transport) fn drop_dead_timers(&mut self) {
        while let Some(entry) = self.timers.first()
            && !self.is_live(&entry)
        {
            self.timers.pop();
        }
    }
}

// Inlined as measured: hardly any ACK moves a deadline to an earlier time.
#[inline(always)]
fn arm(timers: &mut Timers, owner: Owner, generation: u32, flow: &mut impl HasTimer) {
    let at = flow.due();
    if at < *flow.armed() {
        timers.arm(Entry { at, owner, generation }, flow.armed());
    }
}

/// Disarms a flow and returns its deadline.
fn disarm(flow: &mut impl HasTimer) -> Time {
    *flow.armed() = Time::NEVER;
    flow.due()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::RealHost;
    use crate::units::{Rate, Span};

    const SIMULATED: LocalHost = LocalHost::simulated(HostId(0), Rate::from_gbps(10));

    #[derive(Debug)]
    struct Flow {
        alarm: FlowTimer,
    }

    timed_by_alarm!(Flow);

    impl SentFlow for Flow {
        fn dst(&self) -> HostId {
            HostId(9)
        }
    }

    fn at(due: u64) -> Flow {
        Flow { alarm: FlowTimer { due: Time(due), ..FlowTimer::OFF } }
    }

    type Table = FlowTable<Flow, Flow, ()>;

    /// The state of a flow of which no packet comes.
    fn state(table: &Table, key: FlowKey) -> Option<Incoming<()>> {
        let ended = table.remembered.as_ref().and_then(|remembered| remembered.end_of(key));
        table.incoming.get(&key).copied().or(ended.map(Incoming::Ended))
    }

    #[test]
    fn two_senders_may_choose_the_same_id_and_so_may_this_host() {
        let mut table = Table::new(&SIMULATED);
        let [a, b] = [1, 2].map(|src| FlowKey::new(HostId(src), FlowId(1)));
        let (first, second) =
            (table.add_receiver(a, at(1), Time::ZERO), table.add_receiver(b, at(2), Time::ZERO));
        let own = table.add_sender(FlowId(1), at(3));
        assert_ne!(first, second);
        table.end_receiver(a, (), Time(1));
        assert_eq!(state(&table, a), Some(Incoming::Ended(())));
        assert_eq!((table.receiver_of(b), table.sender_of(FlowId(1))), (Some(second), Some(own)));
        table.remove_sender(FlowId(1));
        table.remove_receiver(b);
        assert_eq!((state(&table, b), table.sender_of(FlowId(1))), (None, None));
    }

    #[test]
    fn a_flow_that_was_found_last_is_not_found_once_it_ended_and_is_found_where_it_begins_anew() {
        let mut table = Table::new(&SIMULATED);
        let (key, other) = (FlowKey::new(HostId(9), FlowId(1)), FlowKey::new(HostId(9), FlowId(2)));
        let answer = Header { flow: FlowId(1), src: HostId(9), ..Header::default() };
        let endings: [fn(&mut Table, FlowKey); 3] = [
            |table, key| table.remove_receiver(key),
            |table, key| table.end_receiver(key, (), Time::ZERO),
            |table, key| table.refuse(key, (), Time::ZERO),
        ];
        for end in endings {
            let slot = table.add_receiver(key, at(1), Time::ZERO);
            assert_eq!([table.receiving(key), table.receiving(key)], [Some(slot); 2]);
            end(&mut table, key);
            assert_eq!(table.receiving(key), None);
            // Takes the slot that is free now.
            assert_eq!(table.add_receiver(other, at(1), Time::ZERO), slot);
            let again = table.add_receiver(key, at(1), Time::ZERO);
            assert_eq!((table.receiving(key), table.receiving(other)), (Some(again), Some(slot)));
            assert_eq!(table.receiving(key), table.receiver_of(key));
            [key, other].into_iter().for_each(|key| table.remove_receiver(key));
        }
        let slot = table.add_sender(FlowId(1), at(1));
        assert_eq!([table.answered(&answer), table.answered(&answer)], [Some(slot); 2]);
        table.remove_sender(FlowId(1));
        assert_eq!(table.answered(&answer), None);
        table.add_sender(FlowId(2), at(1));
        let again = table.add_sender(FlowId(1), at(1));
        assert!(again != slot && table.answered(&answer) == Some(again));
    }

    #[test]
    fn only_the_receiver_of_a_flow_answers_for_it() {
        let mut table = Table::new(&SIMULATED);
        let slot = table.add_sender(FlowId(1), at(1));
        let from = |host, flow| Header { src: HostId(host), flow: FlowId(flow), ..Header::default() };
        assert_eq!(
            [(9, 1), (8, 1), (9, 2)].map(|(host, flow)| table.answered(&from(host, flow))),
            [Some(slot), None, None]
        );
    }

    #[test]
    fn a_timer_that_was_put_off_expires_once_and_later() {
        let mut table = Table::new(&SIMULATED);
        let slot = table.add_sender(FlowId(0), at(10));
        table.arm_sender(slot);
        table.senders.get_mut(slot).unwrap().alarm.due = Time(30);
        table.arm_sender(slot);
        assert_eq!(table.next_timeout(), Some(Time(10)), "the entry stays");
        assert_eq!((table.expired(Time(10)), table.next_timeout()), (None, Some(Time(30))));
        assert_eq!((table.expired(Time(30)), table.next_timeout()), (Some(Expired::Sender(slot)), None));
    }

    #[test]
    fn timers_of_flows_that_ended_are_dropped_and_do_not_expire_for_those_that_take_their_place() {
        let mut table = Table::new(&SIMULATED);
        let old = table.add_sender(FlowId(0), at(10));
        table.arm_sender(old);
        let key = FlowKey::new(HostId(1), FlowId(7));
        let receiver = table.add_receiver(key, at(5), Time::ZERO);
        table.arm_receiver(receiver);
        // The sender's entry is not at the head, so it stays in the heap; a flow with a later deadline takes its
        // slot.
        assert!(table.remove_sender(FlowId(0)).is_some());
        assert_eq!(table.add_sender(FlowId(1), at(20)), old);
        table.arm_sender(old);
        assert_eq!(table.expired(Time(10)), Some(Expired::Receiver(receiver)));
        assert_eq!(table.expired(Time(10)), None);
        assert_eq!(table.expired(Time(20)), Some(Expired::Sender(old)));
    }

    #[test]
    fn a_flow_that_ended_is_forgotten_after_its_time() {
        let mut table = Table::new(&LocalHost {
            real: Some(RealHost { time_wait: Span(100), ..RealHost::new(1) }),
            ..SIMULATED
        });
        let keys = [1, 2].map(|flow| FlowKey::new(HostId(1), FlowId(flow)));
        for key in keys {
            table.add_receiver(key, at(1_000), Time::ZERO);
        }
        table.add_sender(FlowId(3), at(1_000));
        table.end_receiver(keys[0], (), Time(10));
        table.abort_sender(FlowId(3), Time(20));
        table.end_receiver(keys[1], (), Time(50));
        assert_eq!((table.expired(Time(109)), table.next_timeout()), (None, Some(Time(110))));
        assert_eq!(state(&table, keys[0]), Some(Incoming::Ended(())));
        assert_eq!((table.expired(Time(120)), table.next_timeout()), (None, Some(Time(150))));
        assert_eq!((state(&table, keys[0]), table.is_aborted(FlowId(3))), (None, false));
        assert_eq!(state(&table, keys[1]), Some(Incoming::Ended(())), "its time has not come");
        // The id may be reused.
        let slot = table.add_receiver(keys[0], at(2_000), Time::ZERO);
        assert_eq!((table.expired(Time(150)), state(&table, keys[1])), (None, None));
        let idle = Time::ZERO + RealHost::new(1).idle;
        assert_eq!((table.receiver_of(keys[0]), table.next_timeout()), (Some(slot), Some(idle)));
    }

    #[test]
    fn a_flow_that_ended_is_remembered_while_packets_of_it_come() {
        let real = RealHost { time_wait: Span(100), ..RealHost::new(1) };
        let mut table = Table::new(&LocalHost { real: Some(real), ..SIMULATED });
        let keys = [1, 2].map(|flow| FlowKey::new(HostId(1), FlowId(flow)));
        for key in keys {
            table.add_receiver(key, at(1_000), Time::ZERO);
            table.end_receiver(key, (), Time(10));
        }
        // A packet of the first comes, and none after it.
        assert_eq!(table.incoming(keys[0]), Some(Incoming::Ended(())));
        assert_eq!((table.expired(Time(110)), table.next_timeout()), (None, Some(Time(210))));
        let mut remembered = keys.map(|key| state(&table, key).is_some());
        assert_eq!(remembered, [true, false]);
        assert_eq!((table.expired(Time(210)), table.next_timeout()), (None, None));
        remembered = keys.map(|key| state(&table, key).is_some());
        assert_eq!(remembered, [false; 2]);
    }

    #[test]
    fn a_flow_that_its_sender_gave_up_is_remembered_as_one_that_ended() {
        let real = RealHost { time_wait: Span(100), ..RealHost::new(1) };
        let mut table = Table::new(&LocalHost { real: Some(real), ..SIMULATED });
        let keys = [1, 2].map(|flow| FlowKey::new(HostId(1), FlowId(flow)));
        table.add_receiver(keys[0], at(1_000), Time::ZERO);
        for key in keys {
            table.refuse(key, (), Time(10));
            table.refuse(key, (), Time(50));
            assert_eq!(state(&table, key), Some(Incoming::Ended(())), "whether or not a packet of it came");
        }
        assert_eq!(table.expired(Time(110)), None);
        assert_eq!(keys.map(|key| state(&table, key)), [None; 2]);
    }

    #[test]
    fn flows_of_a_host_that_is_another_now_are_found_and_those_that_ended_forgotten() {
        let real = RealHost { time_wait: Span(100), ..RealHost::new(1) };
        let mut table = Table::new(&LocalHost { real: Some(real), ..SIMULATED });
        let key = |host, flow| FlowKey::new(HostId(host), FlowId(flow));
        for (host, flow) in [(1, 1), (1, 2), (2, 1)] {
            table.add_receiver(key(host, flow), at(1_000), Time::ZERO);
        }
        table.end_receiver(key(1, 1), (), Time(10));
        table.end_receiver(key(2, 1), (), Time(10));
        // To host 9, as all flows of this test.
        table.add_sender(FlowId(7), at(1_000));
        assert_eq!((table.sent_to(HostId(9)), table.sent_to(HostId(1))), (vec![FlowId(7)], vec![]));
        assert_eq!(table.received_from(HostId(1)), [key(1, 2)]);
        table.forget_ended_of(HostId(1));
        assert_eq!(state(&table, key(1, 1)), None);
        assert_eq!(state(&table, key(2, 1)), Some(Incoming::Ended(())));
        assert_eq!(table.receiver_of(key(1, 2)), Some(1));
        // A flow of the same name is not forgotten when the time of the old one has come.
        table.add_receiver(key(1, 1), at(1_000), Time(20));
        assert_eq!(table.expired(Time(110)), None);
        assert!(table.receiver_of(key(1, 1)).is_some() && state(&table, key(2, 1)).is_none());
    }

    #[test]
    fn idle_flows_expire_one_by_one_and_leave_no_timer() {
        let real = RealHost { time_wait: Span(50), idle: Span(100), ..RealHost::new(1) };
        let mut table = Table::new(&LocalHost { real: Some(real), ..SIMULATED });
        let keys = [1, 2, 3].map(|flow| FlowKey::new(HostId(1), FlowId(flow)));
        let slots = keys.map(|key| table.add_receiver(key, at(Time::NEVER.0), Time(10)));
        table.heard(slots[0], Time(60));
        assert_eq!((table.next_timeout(), table.expired(Time(109))), (Some(Time(110)), None));
        for key in &keys[1..] {
            assert_eq!(table.expired(Time(110)), Some(Expired::Idle(*key)));
            table.refuse(*key, (), Time(110));
        }
        assert_eq!(table.expired(Time(110)), None);
        assert_eq!(table.next_timeout(), Some(Time(160)), "both the first flow and what ended");
        table.remove_receiver(keys[0]);
        assert_eq!((table.expired(Time(200)), table.next_timeout()), (None, None));
        assert_eq!(keys.map(|key| state(&table, key)), [None; 3]);
    }

    #[test]
    fn without_a_time_it_is_remembered_for_ever() {
        let mut table = Table::new(&SIMULATED);
        let key = FlowKey::new(HostId(1), FlowId(1));
        table.add_receiver(key, at(1_000), Time::ZERO);
        table.end_receiver(key, (), Time(10));
        assert_eq!((table.expired(Time(u64::MAX / 2)), table.next_timeout()), (None, None));
        assert_eq!(state(&table, key), Some(Incoming::Ended(())));
    }
}

//! The flows that start or end at a host, found by the names that packets give them, and their timers.
//!
//! A flow's id is chosen by the host that sends it. A flow that is sent here is found by its id, a flow that is received
//! here by its id and its sender: two senders may use the same id.
//!
//! ```text
//! outgoing   add_sender ──▶ active ── remove_sender ──▶ forgotten
//!                              └─ abort_sender ───▶ aborted, remembered
//! incoming   add_receiver ──▶ active ─┬─ end_receiver ──▶ ended, remembered with `E`
//!                                     └─ remove_receiver ──▶ forgotten
//! remembered ── time_wait ──▶ forgotten
//! ```
//!
//! What is remembered answers packets that come late. A packet that comes later than `time_wait` is one of a new flow, so
//! `time_wait` is twice the longest life of a packet (RFC 9293 §3.4.2), or none in a simulation that ends.

use std::collections::{HashMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::flow_hash::FlowHash;
use super::flow_key::FlowKey;
use super::flow_limit::{Admit, FlowLimit};
use super::slab::Slab;
use super::timers::{Entry, Owner, Timers};
use crate::endpoint::{Event, LocalHost};
use crate::ids::{FlowId, HostId};
use crate::packet::Header;
use crate::units::{Span, Time};

/// A flow that this host receives or received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Incoming<E> {
    /// Not all of it is here: its place among the receivers.
    Active(u32),
    /// It ended.
    Ended(E),
}

/// A flow whose timer has expired: its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Expired {
    Sender(u32),
    Receiver(u32),
}

/// A flow that ended and is remembered.
#[derive(Clone, Copy, Debug)]
enum Ended {
    Received(FlowKey),
    Aborted(FlowId),
}

/// A flow with a timer.
pub(in crate::transport) trait Timed {
    /// When its timer expires; `Time::NEVER` for not at all.
    fn due(&self) -> Time;

    /// When its live entry in the host's timers is; `Time::NEVER` for none.
    fn armed(&mut self) -> &mut Time;
}

/// A flow at its sender.
pub(in crate::transport) trait SentFlow: Timed {
    /// The host that receives it.
    fn dst(&self) -> HostId;
}

/// A flow that is sent here, found at its place, and what arms its timer: one look at the table for all of a call.
#[derive(Debug)]
pub(in crate::transport) struct Sending<'a, S> {
    pub(in crate::transport) flow: &'a mut S,
    /// How often the place was emptied before the flow came.
    pub(in crate::transport) generation: u32,
    pub(in crate::transport) slot: u32,
    timers: &'a mut Timers,
}

impl<S: Timed> Sending<'_, S> {
    /// After a change of when the flow's timer expires. One that expires later keeps its entry.
    #[inline]
    pub(in crate::transport) fn arm(self) {
        arm(self.timers, Owner::Sender(self.slot), self.generation, self.flow);
    }
}

/// A deadline that its flow sets.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct FlowTimer {
    /// `Time::NEVER` for not at all.
    pub(in crate::transport) due: Time,
    pub(in crate::transport) armed: Time,
}

impl FlowTimer {
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
    incoming: HashMap<FlowKey, Incoming<E>, FlowHash>,
    /// How many are not finished, on a real host.
    pub(in crate::transport) limit: Option<Box<FlowLimit>>,
    /// Flows that this host gave up as their sender.
    aborted: FxHashSet<FlowId>,
    /// How long flows that ended are remembered; `None` for ever.
    time_wait: Option<Span>,
    /// Flows that ended and when they are forgotten, in order; empty where that is never.
    ended: VecDeque<(Time, Ended)>,
    pub(in crate::transport) senders: Slab<S>,
    pub(in crate::transport) receivers: Slab<R>,
    timers: Timers,
}

impl<S: SentFlow, R: Timed, E: Copy> FlowTable<S, R, E> {
    /// The table of `host`, without flows.
    pub(in crate::transport) fn new(host: &LocalHost) -> Self {
        let hash = FlowHash::new(host.real.map_or(0, |real| real.secret));
        Self {
            outgoing: FxHashMap::default(),
            incoming: HashMap::with_hasher(hash),
            limit: host.real.map(|real| Box::new(FlowLimit::new(&real))),
            aborted: FxHashSet::default(),
            time_wait: host.time_wait(),
            ended: VecDeque::new(),
            senders: Slab::default(),
            receivers: Slab::default(),
            timers: Timers::default(),
        }
    }

    /// Whether this host gave up a flow that it sent, and remembers it.
    pub(in crate::transport) fn is_aborted(&self, flow: FlowId) -> bool {
        self.aborted.contains(&flow)
    }

    /// The place of a flow that is sent here.
    #[inline]
    pub(in crate::transport) fn sender_of(&self, flow: FlowId) -> Option<u32> {
        self.outgoing.get(&flow).copied()
    }

    /// The place of the flow that is sent here and that a packet from its receiver is about. Packets of other hosts, which
    /// may use the same id, are about none.
    #[inline]
    pub(in crate::transport) fn answered(&mut self, header: &Header) -> Option<u32> {
        self.answering(header).map(|sending| sending.slot)
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

    /// Whether a flow that is not known here may have a receiver at `now`. Where another flow must be forgotten for it, adds the
    /// event that says so.
    #[inline]
    pub(in crate::transport) fn admit(
        &mut self,
        key: FlowKey,
        now: Time,
        events: &mut VecDeque<Event>,
    ) -> Admit {
        let admit = self.limit.as_mut().map_or(Admit::Yes, |limit| limit.admit(key.src(), now));
        if let Admit::InPlaceOf(old) = admit {
            events.push_back(Event::Forgotten { src: old.src(), flow: old.flow() });
        }
        admit
    }

    /// A flow ends here, of which the first packet came at `now`; its place.
    pub(in crate::transport) fn add_receiver(&mut self, key: FlowKey, receiver: R, now: Time) -> u32 {
        let slot = self.receivers.insert(receiver);
        if let Some(limit) = &mut self.limit {
            limit.opened(slot, key, now);
        }
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

    /// Gives up a flow that is sent here.
    pub(in crate::transport) fn abort_sender(&mut self, flow: FlowId, now: Time) {
        if self.remove_sender(flow).is_some() {
            self.aborted.insert(flow);
            self.remember(Ended::Aborted(flow), now);
        }
    }

    /// A flow that was being received ended at `now`: `end` is what is remembered of it.
    pub(in crate::transport) fn end_receiver(&mut self, key: FlowKey, end: E, now: Time) {
        if let Some(Incoming::Active(slot)) = self.incoming.insert(key, Incoming::Ended(end)) {
            self.free_receiver(slot);
            self.remember(Ended::Received(key), now);
        }
    }

    fn remember(&mut self, flow: Ended, now: Time) {
        let Some(time_wait) = self.time_wait else { return };
        let until = now + time_wait;
        if self.ended.is_empty() {
            self.timers.forget_at(until);
        }
        self.ended.push_back((until, flow));
    }

    /// Forgets the flows that ended `time_wait` before `now`.
    fn forget(&mut self, now: Time) {
        while let Some(&(until, flow)) = self.ended.front() {
            if until > now {
                return self.timers.forget_at(until);
            }
            self.ended.pop_front();
            match flow {
                Ended::Received(key) => drop(self.incoming.remove(&key)),
                Ended::Aborted(flow) => drop(self.aborted.remove(&flow)),
            }
        }
    }

    /// Forgets a flow that was being received.
    pub(in crate::transport) fn remove_receiver(&mut self, key: FlowKey) {
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

    /// The flow at the place that [`Self::answered`] names.
    #[inline]
    pub(in crate::transport) fn answering(&mut self, header: &Header) -> Option<Sending<'_, S>> {
        let slot = self.sender_of(header.flow)?;
        self.sending(slot).filter(|sending| sending.flow.dst() == header.src)
    }

    /// The flow that is sent at a place.
    #[inline]
    pub(in crate::transport) fn sending(&mut self, slot: u32) -> Option<Sending<'_, S>> {
        let (generation, flow) = self.senders.entry(slot)?;
        Some(Sending { flow, generation, slot, timers: &mut self.timers })
    }

    /// After a change of when a sender's timer expires. One that expires later keeps its entry.
    #[inline]
    pub(in crate::transport) fn arm_sender(&mut self, slot: u32) {
        if let Some(sending) = self.sending(slot) {
            sending.arm();
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
            }
        }
        None
    }

    fn is_live(&mut self, entry: &Entry) -> bool {
        let live = match entry.owner {
            Owner::Sender(slot) => self.senders.entry(slot).map(|(g, sender)| (g, *sender.armed())),
            Owner::Receiver(slot) => self.receivers.entry(slot).map(|(g, receiver)| (g, *receiver.armed())),
            Owner::Ended => return true,
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
    use crate::endpoint::RealHost;
    use crate::units::Rate;

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

    #[test]
    fn two_senders_may_choose_the_same_id_and_so_may_this_host() {
        let mut table = Table::new(&SIMULATED);
        let [a, b] = [1, 2].map(|src| FlowKey::new(HostId(src), FlowId(1)));
        let (first, second) =
            (table.add_receiver(a, at(1), Time::ZERO), table.add_receiver(b, at(2), Time::ZERO));
        let own = table.add_sender(FlowId(1), at(3));
        assert_ne!(first, second);
        table.end_receiver(a, (), Time(1));
        assert_eq!(table.incoming(a), Some(Incoming::Ended(())));
        assert_eq!((table.receiver_of(b), table.sender_of(FlowId(1))), (Some(second), Some(own)));
        table.remove_sender(FlowId(1));
        table.remove_receiver(b);
        assert_eq!((table.incoming(b), table.sender_of(FlowId(1))), (None, None));
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
        // The sender's entry is not the first, so it stays in the heap; its place is taken by a flow due later.
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
        assert_eq!(table.incoming(keys[0]), Some(Incoming::Ended(())));
        assert_eq!((table.expired(Time(120)), table.next_timeout()), (None, Some(Time(150))));
        assert_eq!((table.incoming(keys[0]), table.is_aborted(FlowId(3))), (None, false));
        assert_eq!(table.incoming(keys[1]), Some(Incoming::Ended(())), "its time has not come");
        // The id may be used again.
        let slot = table.add_receiver(keys[0], at(2_000), Time::ZERO);
        assert_eq!((table.expired(Time(150)), table.incoming(keys[1])), (None, None));
        assert_eq!((table.receiver_of(keys[0]), table.next_timeout()), (Some(slot), None));
    }

    #[test]
    fn without_a_time_it_is_remembered_for_ever() {
        let mut table = Table::new(&SIMULATED);
        let key = FlowKey::new(HostId(1), FlowId(1));
        table.add_receiver(key, at(1_000), Time::ZERO);
        table.end_receiver(key, (), Time(10));
        assert_eq!((table.expired(Time(u64::MAX / 2)), table.next_timeout()), (None, None));
        assert_eq!(table.incoming(key), Some(Incoming::Ended(())));
    }
}

//! The flows that start or end at a host, and what waits to be sent, told and done for them.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::note::Note;
use super::outgoing::Outgoing;
use crate::endpoint::Event;
use crate::ids::{Class, FlowId, HostId};
use crate::packet::{Frame, Header, Kind, Packet};
use crate::ring::Ring;
use crate::transport::window::slab::Slab;
pub(in crate::transport) use crate::transport::window::timers::Owner;
use crate::transport::window::timers::{Entry, Timers};
use crate::units::Time;

/// What a host is to a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Role {
    /// It sends it: place among the senders.
    Sender(u32),
    /// It receives it: place among the receivers.
    Receiver(u32),
    /// It received all of it.
    Received,
}

/// When a flow wants its timer, and when its live entry in the host's timers is.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Alarm {
    /// `Time::NEVER` for not at all.
    pub(in crate::transport) due: Time,
    armed: Time,
}

impl Alarm {
    pub(in crate::transport) const OFF: Self = Self { due: Time::NEVER, armed: Time::NEVER };
}

/// Something with a timer.
pub(in crate::transport) trait Timed {
    /// Its alarm.
    fn alarm(&mut self) -> &mut Alarm;
}

/// The ends of flows at one host: `S` is a flow at its sender, `R` one at its receiver.
#[derive(Debug)]
pub(in crate::transport) struct Ends<S, R> {
    host: HostId,
    control_class: Class,
    pub(in crate::transport) frame: Frame,
    roles: FxHashMap<FlowId, Role>,
    pub(in crate::transport) senders: Slab<S>,
    pub(in crate::transport) receivers: Slab<R>,
    outbox: Ring<Packet<Note>>,
    pub(in crate::transport) events: VecDeque<Event>,
    timers: Timers,
}

impl<S: Timed, R: Timed> Ends<S, R> {
    /// Those of `host`, without flows; its control packets have `control_class`.
    pub(in crate::transport) fn new(host: HostId, frame: Frame, control_class: Class) -> Self {
        Self {
            host,
            control_class,
            frame,
            roles: FxHashMap::default(),
            senders: Slab::default(),
            receivers: Slab::default(),
            outbox: Ring::default(),
            events: VecDeque::new(),
            timers: Timers::default(),
        }
    }

    /// What this host is to `flow`.
    #[inline]
    pub(in crate::transport) fn role(&self, flow: FlowId) -> Option<Role> {
        self.roles.get(&flow).copied()
    }

    /// The sender of `flow`, if it is here.
    #[inline]
    pub(in crate::transport) fn sender_of(&self, flow: FlowId) -> Option<u32> {
        match self.roles.get(&flow) {
            Some(&Role::Sender(slot)) => Some(slot),
            _ => None,
        }
    }

    /// A flow starts here; its place.
    pub(in crate::transport) fn add_sender(&mut self, flow: FlowId, sender: S) -> u32 {
        let slot = self.senders.insert(sender);
        self.roles.insert(flow, Role::Sender(slot));
        slot
    }

    /// A flow ends here; its place.
    pub(in crate::transport) fn add_receiver(&mut self, flow: FlowId, receiver: R) -> u32 {
        let slot = self.receivers.insert(receiver);
        self.roles.insert(flow, Role::Receiver(slot));
        slot
    }

    /// Forgets a flow that is sent from here.
    pub(in crate::transport) fn drop_sender(&mut self, flow: FlowId, slot: u32) {
        self.senders.take(slot);
        self.senders.release(slot);
        self.roles.remove(&flow);
        self.drop_dead_timers();
    }

    /// All of a flow has arrived at `at`.
    pub(in crate::transport) fn received(&mut self, flow: FlowId, slot: u32, at: Time) {
        self.drop_receiver(flow, slot);
        self.roles.insert(flow, Role::Received);
        self.events.push_back(Event::Delivered { flow, at, missing: 0 });
    }

    /// Forgets a flow that comes no more.
    pub(in crate::transport) fn drop_receiver(&mut self, flow: FlowId, slot: u32) {
        self.receivers.take(slot);
        self.receivers.release(slot);
        self.roles.remove(&flow);
        self.drop_dead_timers();
    }

    /// Queues a control packet, which goes ahead of payload: what depends on the host is filled in here.
    #[inline]
    pub(in crate::transport) fn post(&mut self, header: Header, body: Note) {
        let header = self.control(header);
        self.outbox.push(&Packet { header, body });
    }

    /// The header of a control packet of this host.
    #[inline]
    pub(in crate::transport) fn control(&self, header: Header) -> Header {
        let wire = self.frame.ack_wire();
        Header { src: self.host, class: self.control_class, wire, payload: 0, ..header }
    }

    /// The control packet that leaves next.
    #[inline]
    pub(in crate::transport) fn next_control(&mut self) -> Option<Packet<Note>> {
        self.outbox.pop().copied()
    }

    /// After a change of a sender's alarm.
    #[inline]
    pub(in crate::transport) fn arm_sender(&mut self, slot: u32) {
        if let Some((generation, sender)) = self.senders.entry(slot) {
            arm(&mut self.timers, Owner::Sender(slot), generation, sender.alarm());
        }
    }

    /// After a change of a receiver's alarm.
    #[inline]
    pub(in crate::transport) fn arm_receiver(&mut self, slot: u32) {
        if let Some((generation, receiver)) = self.receivers.entry(slot) {
            arm(&mut self.timers, Owner::Receiver(slot), generation, receiver.alarm());
        }
    }

    /// When the first timer is; perhaps earlier than needed.
    #[inline]
    pub(in crate::transport) fn next_timeout(&self) -> Option<Time> {
        self.timers.first_at()
    }

    /// The next flow whose timer is due at `now`: its alarm is off.
    pub(in crate::transport) fn ring(&mut self, now: Time) -> Option<Owner> {
        while let Some(entry) = self.timers.first().filter(|entry| entry.at <= now) {
            self.timers.pop();
            let Some(alarm) = self.live(&entry) else { continue };
            alarm.armed = Time::NEVER;
            if alarm.due <= now {
                alarm.due = Time::NEVER;
                return Some(entry.owner);
            }
            match entry.owner {
                Owner::Sender(slot) => self.arm_sender(slot),
                Owner::Receiver(slot) => self.arm_receiver(slot),
            }
        }
        None
    }

    /// The alarm whose live entry this is.
    fn live(&mut self, entry: &Entry) -> Option<&mut Alarm> {
        let (generation, alarm) = match entry.owner {
            Owner::Sender(slot) => self.senders.entry(slot).map(|(g, s)| (g, s.alarm()))?,
            Owner::Receiver(slot) => self.receivers.entry(slot).map(|(g, r)| (g, r.alarm()))?,
        };
        (generation == entry.generation && alarm.armed == entry.at).then_some(alarm)
    }

    fn drop_dead_timers(&mut self) {
        while let Some(entry) = self.timers.first() {
            if self.live(&entry).is_some() {
                return;
            }
            self.timers.pop();
        }
    }
}

#[inline]
fn arm(timers: &mut Timers, owner: Owner, generation: u32, alarm: &mut Alarm) {
    if alarm.due < alarm.armed {
        timers.arm(Entry { at: alarm.due, owner, generation }, &mut alarm.armed);
    }
}

/// The header of an answer to a packet.
#[inline]
pub(in crate::transport) fn answer(to: &Header, kind: Kind) -> Header {
    Header { flow: to.flow, dst: to.src, offset: to.offset, entropy: to.entropy, kind, ..Header::default() }
}

/// The header of a control packet from a flow's sender.
pub(in crate::transport) fn towards_receiver(flow: &Outgoing, kind: Kind) -> Header {
    let spec = &flow.spec;
    Header { flow: spec.id, dst: spec.dst, entropy: spec.entropy, kind, ..Header::default() }
}

//! Ports of other crates.
//!
//! A discipline of another crate is compiled where it is registered, for one type of queue item, because that crate knows
//! neither the transports nor the nodes of a run. It queues headers, and the port keeps each packet in a slot:
//!
//! ```text
//! packet ─► slot ─► (header, slot) ─► discipline ─► (header, slot) ─► packet with that header
//! ```

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::{Admission, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup, PortSink};
use crate::ids::{Class, ClassSet};
use crate::packet::{Header, QueueItem};
use crate::registry::registered_parts;
use crate::units::Time;

registered_parts! {
    /// A kind of port of another crate with its parameters.
    pub trait RegisteredKind: DynKind in Port;
}

/// A kind of port whose discipline has any type.
pub trait DynKind: KindRules + fmt::Debug {
    /// Returns the discipline of a port of this kind.
    fn dyn_discipline(&self, setup: &PortSetup<'_>) -> RegisteredSpec;
}

impl<K> DynKind for K
where
    K: KindRules + OfKind + fmt::Debug,
    K::Spec: PortFactory + PartialEq + Send + Sync + 'static,
{
    fn dyn_discipline(&self, setup: &PortSetup<'_>) -> RegisteredSpec {
        RegisteredSpec::new(self.discipline(setup))
    }
}

/// The parameters of a discipline of another crate.
#[derive(Clone, Debug)]
pub struct RegisteredSpec(Arc<dyn DynFactory>);

impl RegisteredSpec {
    /// Returns the discipline with these parameters.
    pub fn new<S>(spec: S) -> Self
    where
        S: PortFactory + PartialEq + Send + Sync + 'static,
    {
        Self(Arc::new(spec))
    }
}

impl PartialEq for RegisteredSpec {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.as_any())
    }
}

impl PortFactory for RegisteredSpec {
    type Port<P: QueueItem> = RegisteredPort<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> RegisteredPort<P> {
        let slots = Slots { packets: Vec::new(), free: Vec::new() };
        RegisteredPort { discipline: self.0.dyn_build(context), slots, leaving: P::default() }
    }

    fn queue_of(&self, class: Class) -> u8 {
        self.0.dyn_queue_of(class)
    }

    fn is_pausable(&self) -> bool {
        self.0.dyn_is_pausable()
    }

    fn is_limited(&self) -> bool {
        self.0.dyn_is_limited()
    }

    /// Always true: nothing tests what a discipline of another crate says.
    fn sends_back(&self) -> bool {
        true
    }

    fn reads_ranks(&self) -> bool {
        self.0.dyn_reads_ranks()
    }

    fn cost(&self) -> f64 {
        self.0.dyn_cost()
    }

    fn without_qdisc(&self) -> &'static str {
        self.0.dyn_without_qdisc()
    }
}

/// A [`PortFactory`] whose ports queue headers.
trait DynFactory: fmt::Debug + Send + Sync {
    fn dyn_build(&self, context: &PortContext) -> Box<dyn Discipline<QueuedHeader>>;
    fn dyn_queue_of(&self, class: Class) -> u8;
    fn dyn_is_pausable(&self) -> bool;
    fn dyn_is_limited(&self) -> bool;
    fn dyn_reads_ranks(&self) -> bool;
    fn dyn_cost(&self) -> f64;
    fn dyn_without_qdisc(&self) -> &'static str;
    fn equals(&self, other: &dyn Any) -> bool;
    fn as_any(&self) -> &dyn Any;
}

impl<S> DynFactory for S
where
    S: PortFactory + PartialEq + Send + Sync + 'static,
{
    fn dyn_build(&self, context: &PortContext) -> Box<dyn Discipline<QueuedHeader>> {
        Box::new(self.build::<QueuedHeader>(context))
    }

    fn dyn_queue_of(&self, class: Class) -> u8 {
        self.queue_of(class)
    }

    fn dyn_is_pausable(&self) -> bool {
        self.is_pausable()
    }

    fn dyn_is_limited(&self) -> bool {
        self.is_limited()
    }

    fn dyn_reads_ranks(&self) -> bool {
        self.reads_ranks()
    }

    fn dyn_cost(&self) -> f64 {
        self.cost()
    }

    fn dyn_without_qdisc(&self) -> &'static str {
        self.without_qdisc()
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The header of a packet that waits in a slot.
#[derive(Clone, Copy, Debug, Default)]
struct QueuedHeader {
    header: Header,
    slot: u32,
}

impl QueueItem for QueuedHeader {
    fn header(&self) -> &Header {
        &self.header
    }

    fn header_mut(&mut self) -> &mut Header {
        &mut self.header
    }
}

/// The packets that wait at a port, each in a slot that it keeps until it leaves.
#[derive(Debug)]
struct Slots<P> {
    packets: Vec<Option<P>>,
    free: Vec<u32>,
}

impl<P: QueueItem> Slots<P> {
    fn put(&mut self, packet: &P) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.packets[slot as usize] = Some(*packet);
            return slot;
        }
        self.packets.push(Some(*packet));
        self.packets.len() as u32 - 1
    }

    /// Returns the packet of a slot, with the header that the discipline has given it.
    fn packet(&self, queued: &QueuedHeader) -> P {
        let packet = self.packets[queued.slot as usize];
        let mut packet = packet.expect("invariant: a discipline gives each packet back once");
        *packet.header_mut() = queued.header;
        packet
    }

    fn clear(&mut self, slot: u32) {
        if self.packets[slot as usize].take().is_some() {
            self.free.push(slot);
        }
    }

    fn take(&mut self, queued: &QueuedHeader) -> P {
        let packet = self.packet(queued);
        self.clear(queued.slot);
        packet
    }
}

/// Passes the packets of a discipline of another crate on to the owner of the port.
struct OwnerSink<'s, P> {
    slots: &'s mut Slots<P>,
    out: &'s mut dyn PortSink<P>,
}

impl<P: QueueItem> PortSink<QueuedHeader> for OwnerSink<'_, P> {
    fn evicted(&mut self, queued: &QueuedHeader) {
        let packet = self.slots.take(queued);
        self.out.evicted(&packet);
    }

    fn trimmed(&mut self, before: &Header, after: &Header) {
        self.out.trimmed(before, after);
    }

    fn returned(&mut self, queued: &QueuedHeader) {
        let packet = self.slots.packet(queued);
        self.out.returned(&packet);
    }

    fn expired(&mut self, queued: &QueuedHeader) {
        let packet = self.slots.take(queued);
        self.out.expired(&packet);
    }
}

/// A port with a discipline of another crate.
pub struct RegisteredPort<P> {
    discipline: Box<dyn Discipline<QueuedHeader>>,
    slots: Slots<P>,
    /// The packet that left last.
    leaving: P,
}

impl<P: fmt::Debug> fmt::Debug for RegisteredPort<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredPort").field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl<P: QueueItem> Discipline<P> for RegisteredPort<P> {
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let slot = self.slots.put(item);
        let queued = QueuedHeader { header: *item.header(), slot };
        let mut sink = OwnerSink { slots: &mut self.slots, out };
        let admission = self.discipline.enqueue(now, &queued, &mut sink);
        if !admission.is_kept() {
            self.slots.clear(slot);
        }
        admission
    }

    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        self.discipline.try_bypass(now, header)
    }

    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        self.discipline.expire(now, &mut OwnerSink { slots: &mut self.slots, out });
    }

    fn next_eligible_time(&self) -> Option<Time> {
        self.discipline.next_eligible_time()
    }

    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        let mut sink = OwnerSink { slots: &mut self.slots, out };
        let queued = *self.discipline.dequeue(t, &mut sink)?;
        self.leaving = self.slots.take(&queued);
        Some(&self.leaving)
    }

    fn is_ready(&self, paused: ClassSet) -> bool {
        self.discipline.is_ready(paused)
    }

    fn dequeue_unpaused(&mut self, t: Time, paused: ClassSet, out: &mut dyn PortSink<P>) -> Option<&P> {
        let mut sink = OwnerSink { slots: &mut self.slots, out };
        let queued = *self.discipline.dequeue_unpaused(t, paused, &mut sink)?;
        self.leaving = self.slots.take(&queued);
        Some(&self.leaving)
    }

    fn packets(&self) -> u32 {
        self.discipline.packets()
    }

    fn bytes(&self) -> u64 {
        self.discipline.bytes()
    }

    fn payload_bytes(&self) -> u64 {
        self.discipline.payload_bytes()
    }

    fn bytes_before(&self, header: &Header) -> u64 {
        self.discipline.bytes_before(header)
    }

    fn packets_before(&self, header: &Header) -> u32 {
        self.discipline.packets_before(header)
    }
}

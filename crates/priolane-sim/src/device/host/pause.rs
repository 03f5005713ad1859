//! A host whose switch pauses classes (PFC).
//!
//! A transmit queue continues with its other classes, as a switch port does. A host without a transmit queue knows a
//! packet's class only after polling it from the transport. It holds that packet and polls no other until the class is
//! resumed (docs/assumptions.md#pfc).

use priolane_core::endpoint::{Cx, Departure, Endpoint};
use priolane_core::ids::{CLASSES, Class, ClassSet};
use priolane_core::packet::Packet;
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::Host;
use super::state::Pull;
use crate::device::event_sink::EventSink;
use crate::device::nic::Outgoing;

impl<E: Endpoint> Host<E> {
    /// Applies a pause frame of the switch.
    #[cold]
    pub(super) fn pause<W: EventSink<E::Body>>(&mut self, now: Time, frame: &Packet<E::Body>, sink: &mut W) {
        self.hold(now, ClassSet(frame.header.rank as u16));
        // Resumed packets start from now on.
        self.port.line.free_at = self.port.line.free_at.max(now);
        self.release(now, sink);
        self.pump(now, sink);
    }

    fn hold(&mut self, now: Time, classes: ClassSet) {
        let pausing = self.pausing.get_or_insert_default();
        for class in (0..CLASSES as Class).filter(|&c| self.paused.has(c) != classes.has(c)) {
            let since = std::mem::replace(&mut pausing.since[usize::from(class)], now);
            if self.paused.has(class) {
                self.port.counts.paused(class, now.since(since));
            }
        }
        self.paused = classes;
    }

    /// Holds a packet of a paused class.
    #[cold]
    pub(super) fn keep(&mut self, now: Time, outgoing: Outgoing<E::Body>) {
        self.port.counts.queued(now, &outgoing.packet.header);
        self.pausing.get_or_insert_default().kept = Some(outgoing);
        self.pull = Pull::Kept;
    }

    /// Sends the held packet if its class is no longer paused.
    fn release<W: EventSink<E::Body>>(&mut self, now: Time, sink: &mut W) {
        let paused = self.paused;
        let may_go = |kept: &mut Outgoing<E::Body>| !paused.has(kept.packet.header.class);
        let Some(kept) = self.pausing.as_mut().and_then(|p| p.kept.take_if(may_go)) else { return };
        self.pull = Pull::Ask;
        self.port.counts.dequeued(now, &kept.packet.header);
        self.port.line.transmit(now, &kept.packet, &mut self.port.counts, sink);
        if let Some(id) = kept.id {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.on_departure(cx, id, Departure::Sent(now));
        }
    }

    /// Returns whether the transmit queue can continue with unpaused classes.
    #[cold]
    pub(super) fn has_unpaused(&self) -> bool {
        self.port.queue.is_ready(self.paused)
    }

    /// Ends all pauses at the end of the run; returns the held packet.
    pub(super) fn end_pauses(&mut self, at: Time) -> Option<Packet<E::Body>> {
        self.pausing.as_ref()?;
        self.hold(at, ClassSet::NONE);
        self.pausing.as_mut()?.kept.take().map(|kept| kept.packet)
    }
}

//! The states of a host: of its pulls, of its transmit queue, and of classes that its switch has paused.

use priolane_core::endpoint::SendId;
use priolane_core::ids::CLASSES;
use priolane_core::packet::Body;
use priolane_core::units::Time;

use crate::device::event_sink::{EventSink, Service};
use crate::device::nic::Outgoing;

/// What the transport answered when it was last asked for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pull {
    /// Nothing to send until something happens.
    Idle,
    /// Ask when the line is free.
    Ask,
    /// Ask at this instant.
    NotBefore(Time),
    /// Not before the packet that is kept has gone: its class is paused.
    Kept,
}

/// What the transmit queue holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pub(super) packets: u32,
    /// Those whose departure the transport wants to know.
    pub(super) named: u32,
    /// Whether the queue may hold packets back: then each departure is an event, at an instant that the queue knows.
    pub(super) limited: bool,
}

impl Waiting {
    #[inline]
    pub(super) fn add(&mut self, id: Option<SendId>) {
        self.packets += 1;
        self.named += u32::from(id.is_some());
    }

    #[inline]
    pub(super) fn remove(&mut self, id: Option<SendId>) {
        self.packets -= 1;
        self.named -= u32::from(id.is_some());
    }

    /// Whether the next departure is an event of its own.
    #[inline]
    pub(super) fn is_event<W: EventSink<B>, B: Body>(self) -> bool {
        self.named > 0 || ((W::SERVICE == Service::Eager || self.limited) && self.packets > 0)
    }
}

/// What the switch has paused here.
#[derive(Debug)]
pub(super) struct Pausing<B> {
    pub(super) since: [Time; CLASSES],
    /// A packet that the transport gave away and whose class is paused.
    pub(super) kept: Option<Outgoing<B>>,
}

impl<B> Default for Pausing<B> {
    fn default() -> Self {
        Self { since: [Time::ZERO; CLASSES], kept: None }
    }
}

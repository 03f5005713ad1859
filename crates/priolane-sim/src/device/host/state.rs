//! States of a host: polling, transmit queue, and paused classes.

use priolane_core::endpoint::SendId;
use priolane_core::ids::CLASSES;
use priolane_core::packet::Body;
use priolane_core::units::Time;

use crate::device::event_sink::{EventSink, Service};
use crate::device::nic::Outgoing;

/// The transport's last reply to a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pull {
    /// Nothing to send until another event.
    Idle,
    /// Poll when the link is free.
    Ask,
    /// Poll at this instant.
    NotBefore(Time),
    /// Do not poll until the held packet has left: its class is paused.
    Kept,
}

/// Packets in the transmit queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pub(super) packets: u32,
    /// Packets whose departure the transport wants to know.
    pub(super) named: u32,
    /// Whether the queue may delay packets: then each departure is an event, at an instant that the queue determines.
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

    /// Returns whether the next departure is an event of its own.
    #[inline]
    pub(super) fn is_event<W: EventSink<B>, B: Body>(self) -> bool {
        self.named > 0 || ((W::SERVICE == Service::Eager || self.limited) && self.packets > 0)
    }
}

/// Classes that the switch has paused here.
#[derive(Debug)]
pub(super) struct Pausing<B> {
    pub(super) since: [Time; CLASSES],
    /// A packet polled from the transport whose class is paused.
    pub(super) kept: Option<Outgoing<B>>,
}

impl<B> Default for Pausing<B> {
    fn default() -> Self {
        Self { since: [Time::ZERO; CLASSES], kept: None }
    }
}

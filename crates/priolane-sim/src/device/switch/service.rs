//! Service of a switch's ports: arrivals that may start at once, and due departures.

use priolane_core::ids::ClassSet;
use priolane_core::packet::{Body, Kind, Packet};
use priolane_core::port::{Discipline, PortSink};
use priolane_core::units::Time;

use crate::device::event_sink::EventSink;
use crate::device::port::{Port, Started};

/// The result of an arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArrivalResult<B> {
    /// A transmission was started, of this packet or another.
    Started,
    /// The link takes no packet now.
    NotStarted,
    /// The packet was dropped; this header returns to its sender.
    Returned(Packet<B>),
}

impl<B> From<Started> for ArrivalResult<B> {
    #[inline]
    fn from(started: Started) -> Self {
        match started {
            Started::Yes => Self::Started,
            Started::No => Self::NotStarted,
        }
    }
}

/// Stores the header to be returned.
struct ReturnedHeader<B>(Option<Packet<B>>);

impl<B: Body> PortSink<Packet<B>> for ReturnedHeader<B> {
    fn returned(&mut self, packet: &Packet<B>) {
        self.0 = Some(*packet);
    }
}

impl<D> Port<D> {
    /// Handles `packet`, which arrives at `now`; departures due by `now` have happened.
    #[inline]
    pub(crate) fn arrive<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) -> ArrivalResult<B>
    where
        D: Discipline<Packet<B>>,
    {
        match self.pass(now, packet, sink) {
            Some(started) => started.into(),
            None => self.store(now, packet, sink),
        }
    }

    /// As [`Self::arrive`] if the packet need not be queued; nothing is queued then, before and after. `None` if it is
    /// still to be stored.
    // Inlined as measured: a call is a tenth of the work.
    #[inline(always)]
    pub(crate) fn pass<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) -> Option<Started>
    where
        D: Discipline<Packet<B>>,
    {
        self.expire(now, sink, &mut ());
        self.offered(now, &packet.header, sink);
        if self.line.free_at > now || self.queue.packets() > 0 {
            return None;
        }
        self.bypass(now, packet, sink)
    }

    /// As [`Self::pass`], if nothing is queued.
    #[inline(always)]
    pub(crate) fn pass_empty<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) -> Option<Started>
    where
        D: Discipline<Packet<B>>,
    {
        debug_assert_eq!(self.queue.packets(), 0, "a port with a backlog that is not listed");
        self.expire(now, sink, &mut ());
        self.offered(now, &packet.header, sink);
        if self.line.free_at > now {
            return None;
        }
        self.bypass(now, packet, sink)
    }

    #[inline(always)]
    fn bypass<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) -> Option<Started>
    where
        D: Discipline<Packet<B>>,
    {
        let admission = self.try_bypass(now, &packet.header, sink)?;
        Some(self.forward(now, packet, admission, sink))
    }

    /// Queues a packet that [`Self::pass`] did not take, and starts the next service if the link is free.
    #[inline(always)]
    pub(crate) fn store<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        sink: &mut W,
    ) -> ArrivalResult<B>
    where
        D: Discipline<Packet<B>>,
    {
        let idle = self.line.free_at <= now;
        let mut returned = ReturnedHeader(None);
        let admission = self.enqueue(now, packet, sink, &mut returned);
        if !admission.is_kept() {
            return returned.0.map_or(ArrivalResult::NotStarted, ArrivalResult::Returned);
        }
        let started = if idle {
            self.line.free_at = now;
            self.serve_one(now, sink)
        } else {
            Started::No
        };
        if packet.header.kind == Kind::Data {
            self.counts.holds(self.queue.payload_bytes());
        }
        started.into()
    }

    /// Starts the next service if it is due by `limit`.
    #[inline(never)]
    pub(crate) fn serve_one<B: Body, W: EventSink<B>>(&mut self, limit: Time, sink: &mut W) -> Started
    where
        D: Discipline<Packet<B>>,
    {
        self.start_due(limit, sink)
    }

    #[inline(always)]
    fn start_due<B: Body, W: EventSink<B>>(&mut self, limit: Time, sink: &mut W) -> Started
    where
        D: Discipline<Packet<B>>,
    {
        // If a discipline starts nothing, it has discarded the eligible packets.
        loop {
            let Some(start) = self.next_service().filter(|&s| s <= limit) else { return Started::No };
            if self.start(start, ClassSet::NONE, sink, &mut ()).is_some() {
                return Started::Yes;
            }
        }
    }

    /// Starts every service due by `limit`.
    #[inline]
    pub(crate) fn serve_until<B: Body, W: EventSink<B>>(&mut self, limit: Time, sink: &mut W)
    where
        D: Discipline<Packet<B>>,
    {
        if self.line.free_at <= limit {
            self.serve_all(limit, sink);
        }
    }

    // Not inlined, with the loop inside: several services in a row save registers once.
    #[inline(never)]
    fn serve_all<B: Body, W: EventSink<B>>(&mut self, limit: Time, sink: &mut W)
    where
        D: Discipline<Packet<B>>,
    {
        while self.line.free_at <= limit && self.start_due(limit, sink) == Started::Yes {}
    }
}

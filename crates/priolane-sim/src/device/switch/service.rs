//! How a switch serves its ports: an arrival that may start at once, and departures as they fall due.

use priolane_core::ids::ClassSet;
use priolane_core::packet::{Body, Kind, Packet};
use priolane_core::port::{Discipline, PortSink};
use priolane_core::units::Time;

use crate::device::event_sink::EventSink;
use crate::device::port::{Port, Started};

/// What an arrival led to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArrivalResult<B> {
    /// A packet, this one or another, was put on the line.
    Started,
    /// The line takes no packet now.
    NotStarted,
    /// The packet was not kept; this header of it goes back to its sender.
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

/// Keeps the header that goes back.
struct ReturnedHeader<B>(Option<Packet<B>>);

impl<B: Body> PortSink<Packet<B>> for ReturnedHeader<B> {
    fn returned(&mut self, packet: &Packet<B>) {
        self.0 = Some(*packet);
    }
}

impl<D> Port<D> {
    /// `packet` arrives at `now`; departures due by `now` have happened.
    // Inlined by measurement: a switch has two places that call it, and a call is a tenth of the work.
    #[inline(always)]
    pub(crate) fn arrive<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        wire: &mut W,
    ) -> ArrivalResult<B>
    where
        D: Discipline<Packet<B>>,
    {
        let idle = self.line.free_at <= now;
        self.expire(now, wire, &mut ());
        self.offered(now, &packet.header, wire);
        if idle
            && self.queue.packets() == 0
            && let Some(admission) = self.try_bypass(now, &packet.header, wire)
        {
            return self.forward(now, packet, admission, wire).into();
        }
        let mut returned = ReturnedHeader(None);
        let admission = self.enqueue(now, packet, wire, &mut returned);
        if !admission.is_kept() {
            return returned.0.map_or(ArrivalResult::NotStarted, ArrivalResult::Returned);
        }
        let started = if idle {
            self.line.free_at = now;
            self.serve_one(now, wire)
        } else {
            Started::No
        };
        if packet.header.kind == Kind::Data {
            self.counts.holds(self.queue.payload_bytes());
        }
        started.into()
    }

    /// Starts the next service if it is due by `limit`.
    #[inline]
    pub(crate) fn serve_one<B: Body, W: EventSink<B>>(&mut self, limit: Time, wire: &mut W) -> Started
    where
        D: Discipline<Packet<B>>,
    {
        // A discipline that starts nothing then has discarded what could have started.
        loop {
            let Some(start) = self.next_service().filter(|&s| s <= limit) else { return Started::No };
            if self.start(start, ClassSet::NONE, wire, &mut ()).is_some() {
                return Started::Yes;
            }
        }
    }

    /// Starts every service due by `limit`.
    #[inline]
    pub(crate) fn serve_until<B: Body, W: EventSink<B>>(&mut self, limit: Time, wire: &mut W)
    where
        D: Discipline<Packet<B>>,
    {
        while self.line.free_at <= limit && self.serve_one(limit, wire) == Started::Yes {}
    }
}

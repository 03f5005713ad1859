//! An egress port: a discipline in front of a line.
//!
//! The window engine serves it *lazily*: on touch, everything that could start before now is served first.
//! The wheel engine serves it *eagerly*, one event per departure. Both use `serve_one`, so a port cannot
//! tell who drives it.

use priolane_core::ids::LinkId;
use priolane_core::packet::{Body, Header, Kind, Packet, Parcel};
use priolane_core::port::{Admission, Discipline, PortSink};
use priolane_core::units::Time;

use super::counts::Counts;
use super::line::Line;
use crate::trace::{Backlog, Seen};
use crate::wire::Wire;

/// A port of a switch; aligned, so that it takes no more cache lines than it must.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Egress<D> {
    pub(crate) line: Line,
    pub(crate) counts: Counts,
    queue: D,
    /// Whether the switch has this port on its list of ports with a backlog.
    pub(crate) listed: bool,
}

impl<D> Egress<D> {
    /// An empty port.
    pub(crate) fn new(line: Line, queue: D) -> Self {
        Self { line, counts: Counts::default(), queue, listed: false }
    }

    /// Packets and bytes queued.
    pub(crate) fn queued<B: Body>(&self) -> (u32, u64)
    where
        D: Discipline<Packet<B>>,
    {
        (self.queue.packets(), self.queue.bytes())
    }

    /// When the next service starts; `None` if nothing is queued.
    #[inline]
    pub(crate) fn next_service<B: Body>(&self) -> Option<Time>
    where
        D: Discipline<Packet<B>>,
    {
        self.queue.next_start().map(|ready| ready.max(self.line.free_at))
    }

    /// `packet` arrives at `now`; departures due by `now` have happened. Whether it or another packet was
    /// put on the line.
    // Inlined by measurement: a switch has two places that call it, and a call is a tenth of the work.
    #[inline(always)]
    pub(crate) fn arrive<B: Body, W: Wire<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        wire: &mut W,
    ) -> ArrivalResult<B>
    where
        D: Discipline<Packet<B>>,
    {
        let (class, size) = (packet.header.class, packet.header.wire);
        let idle = self.line.free_at <= now;
        self.queue.expire(now, &mut PortEvents::new(now, self.line.link, &mut self.counts, wire));
        wire.observe(|| self.offered(now, packet));
        if idle
            && self.queue.packets() == 0
            && let Some(admission) = self.queue.pass(now, &packet.header)
        {
            return self.pass(now, packet, admission, wire).into();
        }
        let mut events = PortEvents::new(now, self.line.link, &mut self.counts, wire);
        let admission = self.queue.enqueue(now, packet, &mut events);
        let returned = events.returned;
        wire.observe(|| Seen::Admitted(admission));
        match admission {
            Admission::Dropped => {
                self.counts.dropped(class, size);
                return ArrivalResult::NotStarted;
            }
            Admission::Returned => {
                return returned.map_or(ArrivalResult::NotStarted, ArrivalResult::Returned);
            }
            Admission::Marked => self.counts.marked(class),
            Admission::Queued => {}
        }
        self.counts.queued(now, &packet.header);
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

    /// Bytes in the queue that a packet with this header would join.
    #[inline]
    pub(crate) fn bytes_before<B: Body>(&self, header: &Header) -> u64
    where
        D: Discipline<Packet<B>>,
    {
        self.queue.bytes_before(header)
    }

    /// `packet` arrives at `now`, and the switch has no room for it.
    pub(crate) fn refuse<B: Body, W: Wire<B>>(&mut self, now: Time, packet: &Packet<B>, wire: &mut W)
    where
        D: Discipline<Packet<B>>,
    {
        wire.observe(|| self.offered(now, packet));
        wire.observe(|| Seen::Admitted(Admission::Dropped));
        self.counts.dropped(packet.header.class, packet.header.wire);
    }

    /// What a packet finds that arrives now.
    fn offered<B: Body>(&self, at: Time, packet: &Packet<B>) -> Seen<'static, B>
    where
        D: Discipline<Packet<B>>,
    {
        let (packets, bytes) = self.queued();
        Seen::Offered { link: self.line.link, at, header: packet.header, ahead: Backlog { packets, bytes } }
    }

    #[inline]
    fn pass<B: Body, W: Wire<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        admission: Admission,
        wire: &mut W,
    ) -> Started {
        wire.observe(|| Seen::Admitted(admission));
        if admission != Admission::Queued {
            return self.pass_changed(now, packet, admission, wire);
        }
        self.put(now, packet, wire)
    }

    /// Puts a packet on the line before which nothing waited.
    #[inline(always)]
    fn put<B: Body, W: Wire<B>>(&mut self, now: Time, packet: &Packet<B>, wire: &mut W) -> Started {
        if B::STAMPED {
            self.send_stamped(now, packet, 0, wire);
        } else {
            self.line.transmit(now, packet, &mut self.counts, wire);
        }
        Started::Yes
    }

    /// A packet that is not simply let pass.
    #[cold]
    fn pass_changed<B: Body, W: Wire<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        admission: Admission,
        wire: &mut W,
    ) -> Started {
        match admission {
            Admission::Dropped => {
                self.counts.dropped(packet.header.class, packet.header.wire);
                return Started::No;
            }
            Admission::Returned => return Started::No,
            Admission::Marked => self.counts.marked(packet.header.class),
            Admission::Queued => {}
        }
        let mut kept = *packet;
        admission.mark(&mut kept);
        self.put(now, &kept, wire)
    }

    /// Starts the next service if it is due by `limit`.
    #[inline]
    pub(crate) fn serve_one<B: Body, W: Wire<B>>(&mut self, limit: Time, wire: &mut W) -> Started
    where
        D: Discipline<Packet<B>>,
    {
        // A discipline that starts nothing then has discarded what could have started.
        let (start, packet) = loop {
            let Some(start) = self.next_service::<B>().filter(|&s| s <= limit) else { return Started::No };
            let mut events = PortEvents::new(start, self.line.link, &mut self.counts, wire);
            if let Some(packet) = self.queue.start(start, &mut events) {
                break (start, packet);
            }
        };
        self.counts.dequeued(start, &packet.header);
        if B::STAMPED {
            let packet = *packet;
            let left_behind = self.queue.bytes();
            self.send_stamped(start, &packet, left_behind, wire);
            return Started::Yes;
        }
        self.line.transmit(start, packet, &mut self.counts, wire);
        Started::Yes
    }

    /// Puts a packet on the line with a reading of this port, in which it leaves `queued_bytes` behind.
    fn send_stamped<B: Body, W: Wire<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        queued_bytes: u64,
        wire: &mut W,
    ) {
        let reading = self.line.reading(t, queued_bytes, &self.counts);
        let stamp = |packet: &mut Packet<B>| packet.body.stamp(&packet.header, reading);
        self.line.transmit_stamped(t, packet, &mut self.counts, wire, stamp);
    }

    /// Starts every service due by `limit`.
    #[inline]
    pub(crate) fn serve_until<B: Body, W: Wire<B>>(&mut self, limit: Time, wire: &mut W)
    where
        D: Discipline<Packet<B>>,
    {
        while self.line.free_at <= limit && self.serve_one(limit, wire) == Started::Yes {}
    }
}

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

/// Counts and traces what a switch port's discipline gives up.
struct PortEvents<'a, B, W> {
    now: Time,
    link: LinkId,
    counts: &'a mut Counts,
    wire: &'a mut W,
    returned: Option<Packet<B>>,
}

impl<'a, B, W> PortEvents<'a, B, W> {
    #[inline]
    fn new(now: Time, link: LinkId, counts: &'a mut Counts, wire: &'a mut W) -> Self {
        Self { now, link, counts, wire, returned: None }
    }
}

impl<B: Body, W: Wire<B>> PortSink<Packet<B>> for PortEvents<'_, B, W> {
    fn evicted(&mut self, packet: &Packet<B>) {
        let (link, header) = (self.link, packet.header);
        self.wire.observe(|| Seen::Evicted { link, header });
        self.counts.evicted(self.now, &header);
    }

    fn trimmed(&mut self, before: &Header, after: &Header) {
        let (link, before) = (self.link, *before);
        if self.returned.is_none() {
            self.wire.observe(|| Seen::Trimmed { link, before });
        }
        self.counts.trimmed(before.class, before.wire - after.wire);
    }

    fn returned(&mut self, packet: &Packet<B>) {
        self.returned = Some(*packet);
    }

    fn expired(&mut self, packet: &Packet<B>) {
        let (link, header) = (self.link, packet.header);
        self.wire.observe(|| Seen::Expired { link, header });
        self.counts.expired(self.now, &header);
    }
}

/// Whether a packet was put on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    Yes,
    No,
}

impl<D> Egress<D> {
    /// Takes out what is still queued at the end of a run.
    pub(crate) fn drain<B: Body>(&mut self, at: Time, mut take: impl FnMut(&Packet<B>))
    where
        D: Discipline<Packet<B>>,
    {
        while let Some(start) = self.queue.next_start() {
            let mut expired = Drained(&mut take);
            if let Some(packet) = self.queue.start(start.max(at), &mut expired) {
                self.counts.payload_left(at, &packet.header);
                take(packet);
            }
        }
    }
}

/// Takes the packets that expire in a queue that is emptied.
pub(super) struct Drained<'a, F>(pub(super) &'a mut F);

impl<P: Parcel, F: FnMut(&P)> PortSink<P> for Drained<'_, F> {
    fn expired(&mut self, packet: &P) {
        (self.0)(packet);
    }
}

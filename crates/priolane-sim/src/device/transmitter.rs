//! A transmitter and its link: when it is free, what it serves, what the link loses.

use std::collections::VecDeque;

use priolane_core::ids::LinkId;
use priolane_core::packet::{Body, Packet};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::telemetry::HopReading;
use priolane_core::units::{Rate, Span, Time};

use crate::device::event_sink::{EventSink, Ingress};
use crate::model::outage::{Down, Outages};
use crate::model::scenario::Scenario;
use crate::model::topology::Link;
use crate::observe::counters::PortCounters;
use crate::observe::trace::{Loss, TraceEvent};

/// What a link does to packets, if anything.
#[derive(Debug)]
struct Impairment {
    /// Probability that a packet is lost at random.
    probability: f64,
    stream: Stream,
    /// Propagation without what a host adds.
    delay: Span,
    /// When the link is down, what is over left out.
    down: VecDeque<Down>,
}

impl Impairment {
    fn of(link: LinkId, spec: &Link, outages: &Outages, seed: u64) -> Option<Box<Self>> {
        let down: VecDeque<Down> = outages.of(link).iter().copied().collect();
        if spec.loss <= 0.0 && down.is_empty() {
            return None;
        }
        let stream = Stream::new(seed, Purpose::Loss, u64::from(link.0));
        Some(Box::new(Self { probability: spec.loss, stream, delay: spec.delay, down }))
    }

    /// How a packet is lost, if it is, that is put on the line at `start` and has left it at `left`.
    fn takes(&mut self, start: Time, left: Time) -> Option<Loss> {
        while self.down.front().is_some_and(|down| down.until <= start) {
            self.down.pop_front();
        }
        let by_chance = self.probability > 0.0 && self.stream.chance(self.probability);
        let is_down = self.down.front().is_some_and(|down| down.from < left + self.delay);
        if is_down {
            Some(Loss::Down)
        } else if by_chance {
            Some(Loss::Chance)
        } else {
            None
        }
    }
}

/// One transmitter.
#[derive(Debug)]
pub(crate) struct Transmitter {
    pub(crate) link: LinkId,
    to: Ingress,
    rate: Rate,
    /// Picoseconds per byte where that is a whole number, else 0.
    ps_per_byte: u32,
    /// Propagation, and the receiving host's processing delay where it ends at one.
    delay: Span,
    /// When the packet on the line has left, or the last instant something arrived at an idle line.
    pub(crate) free_at: Time,
    impairment: Option<Box<Impairment>>,
}

impl Transmitter {
    /// The idle line of `link`, which ends at `to`; `extra_delay` is what a receiving host adds to its delay.
    pub(crate) fn new(scenario: &Scenario, link: LinkId, to: Ingress, extra_delay: Span) -> Self {
        let spec = &scenario.topology.links[link.index()];
        Self {
            link,
            to,
            rate: spec.rate,
            ps_per_byte: spec.rate.whole_ps_per_byte().unwrap_or(0),
            delay: spec.delay + extra_delay,
            free_at: Time::ZERO,
            impairment: Impairment::of(link, spec, &scenario.outages, scenario.seed),
        }
    }

    /// What a packet is told whose service starts at `t`; it leaves `queued_bytes` behind.
    pub(crate) fn reading(&self, t: Time, queued_bytes: u64, counts: &PortCounters) -> HopReading {
        HopReading { at: t, queued_bytes, sent_bytes: counts.served_bytes(), rate: self.rate }
    }

    #[inline]
    fn serialize(&self, wire: u16) -> Span {
        if self.ps_per_byte != 0 {
            Span(u64::from(wire) * u64::from(self.ps_per_byte))
        } else {
            self.rate.serialize(u64::from(wire))
        }
    }

    /// Puts a pause frame on the line at `t`, when the line is free. It is in no counts, and never lost.
    pub(crate) fn signal<B: Body, W: EventSink<B>>(&mut self, t: Time, frame: &Packet<B>, wire: &mut W) {
        let header = frame.header;
        self.free_at = t + self.serialize(header.wire);
        wire.observe(|| TraceEvent::Started { link: self.link, start: t, left: self.free_at, header });
        wire.emit(self.to, self.free_at + self.delay, frame, |_| {});
    }

    /// Puts `packet` on the line at `t`, when the line is free.
    #[inline]
    pub(crate) fn transmit<B: Body, W: EventSink<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        counts: &mut PortCounters,
        wire: &mut W,
    ) {
        self.transmit_stamped(t, packet, counts, wire, |_| {});
    }

    /// The same, with what `stamp` writes into it.
    ///
    /// Every hop ends here. Nothing is kept over a call, so that no registers are saved: what calls is at the end of its
    /// own way, and that is why the whole of it is said twice.
    #[inline(never)]
    pub(crate) fn transmit_stamped<B: Body, W: EventSink<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        counts: &mut PortCounters,
        wire: &mut W,
        stamp: impl FnOnce(&mut Packet<B>),
    ) {
        let header = &packet.header;
        if self.ps_per_byte != 0
            && self.impairment.is_none()
            && let Some(served) = counts.served_of(header.class)
        {
            served.add(header.wire);
            self.free_at = t + Span(u64::from(header.wire) * u64::from(self.ps_per_byte));
            wire.observe(|| TraceEvent::Started {
                link: self.link,
                start: t,
                left: self.free_at,
                header: *header,
            });
            wire.emit(self.to, self.free_at + self.delay, packet, stamp);
        } else {
            self.transmit_slowly(t, packet, counts, wire, stamp);
        }
    }

    /// The same over a line that is impaired or takes no whole number of picoseconds for a byte, or of a class that is
    /// new here.
    #[inline(never)]
    fn transmit_slowly<B: Body, W: EventSink<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        counts: &mut PortCounters,
        wire: &mut W,
        stamp: impl FnOnce(&mut Packet<B>),
    ) {
        let header = &packet.header;
        counts.sent(header.class, header.wire);
        self.free_at = t + self.serialize(header.wire);
        wire.observe(|| TraceEvent::Started {
            link: self.link,
            start: t,
            left: self.free_at,
            header: *header,
        });
        if let Some(impairment) = &mut self.impairment
            && let Some(by) = impairment.takes(t, self.free_at)
        {
            wire.observe(|| TraceEvent::Lost(by));
            counts.lost(header.class, header.wire);
            return;
        }
        wire.emit(self.to, self.free_at + self.delay, packet, stamp);
    }
}

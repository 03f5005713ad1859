//! A transmitter and its link: serialization, propagation and loss.

use std::collections::VecDeque;

use priolane_core::ids::LinkId;
use priolane_core::packet::{Body, Packet};
use priolane_core::rng::{CounterRng, Purpose};
use priolane_core::telemetry::HopReading;
use priolane_core::units::{Rate, Span, Time};

use crate::device::event_sink::{EventSink, Ingress};
use crate::model::outage::{Down, Outages};
use crate::model::scenario::Scenario;
use crate::model::topology::Link;
use crate::observe::counters::PortCounters;
use crate::observe::trace::{Loss, TraceEvent};

/// Impairments of a link.
#[derive(Debug)]
struct Impairment {
    /// Picoseconds per byte of the link if they are a whole number.
    ps_per_byte: Option<u32>,
    /// Probability of random loss.
    probability: f64,
    rng: CounterRng,
    /// Propagation delay without host delay.
    delay: Span,
    /// Remaining intervals in which the link is down.
    down: VecDeque<Down>,
}

impl Impairment {
    fn of(link: LinkId, spec: &Link, outages: &Outages, seed: u64) -> Option<Box<Self>> {
        let down: VecDeque<Down> = outages.of(link).iter().copied().collect();
        if spec.loss <= 0.0 && down.is_empty() {
            return None;
        }
        let rng = CounterRng::new(seed, Purpose::Loss, u64::from(link.0));
        let ps_per_byte = spec.rate.whole_ps_per_byte();
        Some(Box::new(Self { ps_per_byte, probability: spec.loss, rng, delay: spec.delay, down }))
    }

    /// Returns whether and why a packet is lost whose transmission lasts from `start` to `left`.
    fn takes(&mut self, start: Time, left: Time) -> Option<Loss> {
        while self.down.front().is_some_and(|down| down.until <= start) {
            self.down.pop_front();
        }
        let by_chance = self.rng.chance(start.0, self.probability);
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

/// The transmitter of a link.
#[derive(Debug)]
pub(crate) struct Transmitter {
    pub(crate) link: LinkId,
    to: Ingress,
    rate: Rate,
    /// Picoseconds per byte if they are a whole number and nothing impairs the link, else 0: one test for both.
    ps_per_byte: u32,
    /// Propagation delay, plus the host delay if the link ends at a host.
    delay: Span,
    /// The time at which the current transmission ends, or the last instant at which a packet arrived at an idle link.
    pub(crate) free_at: Time,
    impairment: Option<Box<Impairment>>,
}

impl Transmitter {
    /// Creates the idle transmitter of `link`, which ends at `to`; `extra_delay` is the delay of a receiving host.
    pub(crate) fn new(scenario: &Scenario, link: LinkId, to: Ingress, extra_delay: Span) -> Self {
        let spec = &scenario.topology.links[link.index()];
        let impairment = Impairment::of(link, spec, &scenario.outages, scenario.seed);
        let ps_per_byte = if impairment.is_none() { spec.rate.whole_ps_per_byte() } else { None };
        Self {
            link,
            to,
            rate: spec.rate,
            ps_per_byte: ps_per_byte.unwrap_or(0),
            delay: spec.delay + extra_delay,
            free_at: Time::ZERO,
            impairment,
        }
    }

    /// Returns the telemetry reading for a packet whose service starts at `t` and leaves `queued_bytes` behind.
    pub(crate) fn reading(&self, t: Time, queued_bytes: u64, counts: &PortCounters) -> HopReading {
        HopReading { at: t, queued_bytes, sent_bytes: counts.served_bytes(), rate: self.rate }
    }

    #[inline]
    fn serialize(&self, wire: u16) -> Span {
        let impaired = || self.impairment.as_ref().and_then(|impairment| impairment.ps_per_byte);
        match if self.ps_per_byte != 0 { Some(self.ps_per_byte) } else { impaired() } {
            Some(ps) => Span(u64::from(wire) * u64::from(ps)),
            None => self.rate.serialize(u64::from(wire)),
        }
    }

    /// Transmits a pause frame at `t`, when the link is free. It is never counted and never lost.
    pub(crate) fn signal<B: Body, W: EventSink<B>>(&mut self, t: Time, frame: &Packet<B>, sink: &mut W) {
        let header = frame.header;
        self.free_at = t + self.serialize(header.wire);
        sink.observe(|| TraceEvent::Started { link: self.link, start: t, left: self.free_at, header });
        sink.emit(self.to, self.free_at + self.delay, frame, |_| {});
    }

    /// Transmits `packet` at `t`, when the link is free.
    #[inline]
    pub(crate) fn transmit<B: Body, W: EventSink<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        counts: &mut PortCounters,
        sink: &mut W,
    ) {
        self.transmit_stamped(t, packet, counts, sink, |_| {});
    }

    /// As `transmit`, with modifications by `stamp`.
    ///
    /// Every hop ends here. All calls are tail calls, so that no registers are saved; this is why the fast path is
    /// written separately from the slow one.
    #[inline(never)]
    pub(crate) fn transmit_stamped<B: Body, W: EventSink<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        counts: &mut PortCounters,
        sink: &mut W,
        stamp: impl FnOnce(&mut Packet<B>),
    ) {
        let header = &packet.header;
        if self.ps_per_byte != 0
            && let Some(served) = counts.served_of(header.class)
        {
            served.add(header.wire);
            self.free_at = t + Span(u64::from(header.wire) * u64::from(self.ps_per_byte));
            sink.observe(|| TraceEvent::Started {
                link: self.link,
                start: t,
                left: self.free_at,
                header: *header,
            });
            sink.emit(self.to, self.free_at + self.delay, packet, stamp);
        } else {
            self.transmit_slowly(t, packet, counts, sink, stamp);
        }
    }

    /// As `transmit_stamped`, for a link with impairments, without a whole number of picoseconds per byte, or a class
    /// that is new here.
    #[inline(never)]
    fn transmit_slowly<B: Body, W: EventSink<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        counts: &mut PortCounters,
        sink: &mut W,
        stamp: impl FnOnce(&mut Packet<B>),
    ) {
        let header = &packet.header;
        counts.sent(header.class, header.wire);
        self.free_at = t + self.serialize(header.wire);
        sink.observe(|| TraceEvent::Started {
            link: self.link,
            start: t,
            left: self.free_at,
            header: *header,
        });
        if let Some(impairment) = &mut self.impairment
            && let Some(by) = impairment.takes(t, self.free_at)
        {
            sink.observe(|| TraceEvent::Lost(by));
            counts.lost(header.class, header.wire);
            return;
        }
        sink.emit(self.to, self.free_at + self.delay, packet, stamp);
    }
}

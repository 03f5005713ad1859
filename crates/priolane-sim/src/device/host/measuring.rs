//! Measurement errors of a host.

use priolane_core::endpoint::LocalClock;
use priolane_core::ids::HostId;
use priolane_core::noise::DelayNoise;
use priolane_core::packet::{Header, Kind, Marks};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Span;

use crate::model::scenario::Scenario;

/// The error that the host adds to measured delays.
#[derive(Debug)]
pub(super) struct Noise {
    of: DelayNoise,
    stream: Stream,
}

impl Noise {
    pub(super) fn new(scenario: &Scenario, host: HostId) -> Option<Self> {
        let of = scenario.measuring.noise.clone()?;
        Some(Self { of, stream: Stream::new(scenario.seed, Purpose::DelayNoise, u64::from(host.0)) })
    }

    /// Returns the error of the delay that `header` reports; only replies report a delay.
    pub(super) fn of(&mut self, header: &Header) -> Span {
        match header.kind {
            Kind::Ack | Kind::SynAck => self.of.sample(&mut self.stream),
            Kind::Probe if header.marks.has(Marks::ECHO) => self.of.sample(&mut self.stream),
            _ => Span::ZERO,
        }
    }
}

/// Returns the clock of `host` with its offset.
pub(super) fn clock(scenario: &Scenario, host: HostId) -> LocalClock {
    let error = scenario.measuring.clock_error.0;
    let drawn =
        Stream::new(scenario.seed, Purpose::Clock, u64::from(host.0)).below(error.saturating_mul(2) + 1);
    LocalClock { offset_ps: drawn.cast_signed() - error.cast_signed() }
}

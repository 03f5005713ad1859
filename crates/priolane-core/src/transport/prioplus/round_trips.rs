//! Counts round trips by sequence numbers; they alternate between two phases.

use crate::transport::window::AckEvent;

/// The two alternating phases: adaptive increase acts in one round trip and takes effect in the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RoundTripPhase {
    /// The window grows by the controller's step.
    Plain,
    /// The window also grows by adaptive increase.
    Adaptive,
}

/// The round trips of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    /// The current round trip ends when more than this is acknowledged.
    end: u64,
    pub(super) half: RoundTripPhase,
}

impl RoundTrips {
    /// Starts a round trip, with `next` the first byte not yet sent.
    pub(super) fn from(next: u64) -> Self {
        Self { end: next, half: RoundTripPhase::Plain }
    }

    /// Returns true if `ack` ends a round trip.
    #[inline]
    pub(super) fn pass(&mut self, ack: &AckEvent) -> bool {
        if ack.una <= self.end {
            return false;
        }
        self.end = ack.next;
        self.half =
            if self.half == RoundTripPhase::Plain { RoundTripPhase::Adaptive } else { RoundTripPhase::Plain };
        true
    }
}

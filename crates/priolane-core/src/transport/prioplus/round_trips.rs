//! Round trips by sequence numbers, and which of two they are.

use crate::transport::window::AckEvent;

/// Which of two round trips: adaptive increase acts in one and shows in the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RoundTripPhase {
    /// The window grows by the controller's step.
    Plain,
    /// And by adaptive increase.
    Adaptive,
}

/// The round trips of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    /// The current one ends when more than this is acknowledged.
    end: u64,
    pub(super) half: RoundTripPhase,
}

impl RoundTrips {
    /// From now on, with `next` the first byte not yet sent.
    pub(super) fn from(next: u64) -> Self {
        Self { end: next, half: RoundTripPhase::Plain }
    }

    /// Whether `ack` ends a round trip.
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

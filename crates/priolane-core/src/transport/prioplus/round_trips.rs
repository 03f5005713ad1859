//! Counts round trips by sequence numbers; they alternate between two phases.

use super::variant::Variant;
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
    /// The current round trip ends when more than this is acknowledged; `None` before the first ACK of the
    /// released code, which begins it.
    end: Option<u64>,
    pub(super) half: RoundTripPhase,
}

impl RoundTrips {
    /// Starts a round trip, with `next` the first byte not yet sent; in the released code the first ACK starts it.
    pub(super) fn from(next: u64, variant: Variant) -> Self {
        let end = match variant {
            Variant::Paper => Some(next),
            Variant::Released => None,
        };
        Self { end, half: RoundTripPhase::Plain }
    }

    /// Returns true if `ack` ends a round trip.
    #[inline]
    pub(super) fn pass(&mut self, ack: &AckEvent) -> bool {
        let Some(end) = self.end else {
            self.end = Some(ack.next);
            return false;
        };
        if ack.una <= end {
            return false;
        }
        self.end = Some(ack.next);
        self.half =
            if self.half == RoundTripPhase::Plain { RoundTripPhase::Adaptive } else { RoundTripPhase::Plain };
        true
    }
}

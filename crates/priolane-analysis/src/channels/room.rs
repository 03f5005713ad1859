//! Determines the fraction of the noise that channels cover: as given, or as needed for a given link utilization.
//!
//! A flow yields when the second sample in a round trip has an error above B, and other flows of its class need not
//! compensate for it:
//!
//! ```text
//! m = D R / (n P)                            samples of one of n flows in a round trip, with packets of P; at least 1
//! y = 1 - (1 - q)^m - m q (1 - q)^(m - 1)    probability that two of them are in the part q that B does not cover
//! t = 3/2 + 2 log_1.5(m)                     round trips without its share: half of one on average to the probe, one
//!                                            until its reply; then a growth by half every second one, from one packet
//! U = 1 / (1 + y t)                          utilization
//! ```
//!
//! The covered fraction of the noise is 1 - q for the required U. The mean wait and the growth follow PrioPlus (§4.2,
//! §4.3.1). Independent samples and a delay that is always as high as A allows are our assumptions
//! (docs/assumptions.md#channel-utilization).

use serde::{Deserialize, Serialize};

/// The noise that channels accommodate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoveredNoise {
    /// This fraction of the measured delays, above 0 and at most 1.
    Part(f64),
    /// The fraction that yields this link utilization, above 0 and at most 1.
    Utilization(f64),
}

impl CoveredNoise {
    /// Returns the given number and its key.
    pub(super) fn stated(self) -> (&'static str, f64) {
        match self {
            Self::Part(part) => ("part", part),
            Self::Utilization(used) => ("utilization", used),
        }
    }

    /// Returns the covered fraction of the noise if a flow has this many samples per round trip.
    pub(super) fn part(self, samples: f64) -> f64 {
        let used = match self {
            Self::Part(part) => return part,
            Self::Utilization(used) => used,
        };
        let samples = samples.max(1.0);
        let wanted = (1.0 / used - 1.0) / without_share(samples);
        if wanted >= two_beyond(samples, 1.0) {
            return 0.0;
        }
        let (mut least, mut most) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (least + most) / 2.0;
            if two_beyond(samples, middle) > wanted {
                most = middle;
            } else {
                least = middle;
            }
        }
        1.0 - least
    }
}

/// Returns t.
fn without_share(samples: f64) -> f64 {
    1.5 + 2.0 * libm::log(samples) / libm::log(1.5)
}

/// Returns y.
fn two_beyond(samples: f64, left_out: f64) -> f64 {
    let none = libm::pow(1.0 - left_out, samples);
    let one = samples * left_out * libm::pow(1.0 - left_out, samples - 1.0);
    1.0 - none - one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_with_many_samples_needs_more_room_than_one_with_few() {
        // 55 samples: t = 21.27, y = 0.0204 / 21.27 = 9.6e-4, and 55 x 54 / 2 q^2 = y at q = 8.0e-4 to first order.
        let many = CoveredNoise::Utilization(0.98).part(55.0);
        assert!((1.0 - many - 8.2e-4).abs() < 0.3e-4, "{many}");
        // Two samples: t = 4.92, and q^2 = 0.0204 / 4.92: 6.4 % may have a larger error.
        let few = CoveredNoise::Utilization(0.98).part(2.0);
        assert!((1.0 - few - 0.0644).abs() < 1e-3, "{few}");
        assert_eq!(CoveredNoise::Part(0.9).part(55.0), 0.9);
    }

    #[test]
    fn a_line_that_is_always_used_has_room_for_all_noise_and_one_sample_a_round_trip_needs_none() {
        assert!((CoveredNoise::Utilization(1.0).part(20.0) - 1.0).abs() < 1e-8);
        assert_eq!(CoveredNoise::Utilization(0.98).part(0.3), 0.0);
        assert!(CoveredNoise::Utilization(0.5).part(8.0) < CoveredNoise::Utilization(0.99).part(8.0));
    }
}

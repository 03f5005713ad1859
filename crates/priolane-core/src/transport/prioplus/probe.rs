//! The phases of a flow (sending, waiting, probing), and the random jitter of probes.

use crate::units::{Span, Time};

/// The phase of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// It sends as its window allows.
    Sending,
    /// It has stopped and sends a probe at `probe_at`.
    Waiting {
        /// The time at which the probe is due.
        probe_at: Time,
    },
    /// A probe is in flight; at `again_at` it counts as lost and another is sent.
    Probing {
        /// The time at which the next probe is due.
        again_at: Time,
    },
}

/// The random stream of a flow, seeded from its host's stream (SplitMix64, Steele et al., OOPSLA 2014).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a uniform random span below `end`.
    pub(super) fn below(&mut self, end: Span) -> Span {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
        Span(((u128::from(x) * u128::from(end.0)) >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_that_of_the_published_generator() {
        // SplitMix64 from the seed 1234567; a span of 2^63 takes the upper 63 bits of each number.
        let published: [u64; 5] = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        let mut jitter = Jitter::seeded(1_234_567);
        let drawn = [(); 5].map(|()| jitter.below(Span(1 << 63)).0);
        assert_eq!(drawn, published.map(|number| number >> 1));
    }

    #[test]
    fn jitter_is_even() {
        let mut jitter = Jitter::seeded(5);
        let end = Span::from_us(12);
        let draws: Vec<f64> = (0..10_000).map(|_| jitter.below(end).0 as f64 / end.0 as f64).collect();
        let mean = draws.iter().sum::<f64>() / 1e4;
        let square = draws.iter().map(|u| u * u).sum::<f64>() / 1e4;
        // Means 1/2 and 1/3 with sigmas of sqrt(1/12)/100 and sqrt(4/45)/100; bounds of four sigmas.
        assert!((mean - 0.5).abs() < 0.0116 && (square - 1.0 / 3.0).abs() < 0.012, "{mean} {square}");
        assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
    }
}

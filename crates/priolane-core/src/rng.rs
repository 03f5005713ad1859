//! Random streams keyed by (seed, purpose, entity), with our own sampling code.
//!
//! The values of a stream depend on its key alone: adding an entity, a scheme or a thread never changes another
//! stream. The generator is ChaCha8; golden values in the tests pin the samplers.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// The purpose of a random stream; each purpose has its own streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Inter-arrival times of open-loop traffic.
    Arrivals = 1,
    /// Flow sizes.
    Sizes = 2,
    /// Sources and destinations.
    Pairs = 3,
    /// Random loss on links.
    Loss = 4,
    /// Path choice.
    Paths = 5,
    /// Random choices of a transport at a host.
    Endpoint = 6,
    /// Random choices of a port discipline.
    Port = 7,
    /// Deadlines.
    Deadlines = 8,
    /// Random service classes.
    Classes = 9,
    /// Order of simultaneous arrivals at a node.
    Ties = 10,
    /// Clock error of a host.
    Clock = 11,
    /// Start times of long-lived traffic.
    Starts = 12,
    /// Hops of an optimization (basin hopping).
    Search = 13,
    /// Loss and delay of a host's reports to a controller.
    Reports = 14,
    /// Random choices of an admission policy at a host.
    Admission = 15,
    /// Time that a host takes before a packet leaves it (`send_jitter`).
    SendJitter = 16,
    /// Flows under way when a run begins (a warm start).
    WarmStart = 17,
    /// Error that a host adds to measured delays.
    DelayNoise = 20,
}

/// Returns a number in [0, 1), a multiple of 2^-53, from 64 uniform bits.
#[inline]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Returns the exclusive or of the halves of a product.
#[inline]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// A counter-based generator: each number is a function of a key and a counter, and of nothing that was drawn before.
///
/// Choices on the packet path are drawn in this way, with a counter that names the packet, such as the instant at which
/// it arrives. The order in which an engine visits nodes then has no influence on them. The function is two folded
/// multiplications, as in the hash functions wyhash and rapidhash: the halves of a product of 128 bits are combined by
/// exclusive or. One is not enough: numbers of counters that are 2^40 apart would be correlated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterRng(u64);

impl CounterRng {
    /// Creates the generator of `entity` for `purpose` in the run with `seed`.
    pub fn new(seed: u64, purpose: Purpose, entity: u64) -> Self {
        Self(Stream::new(seed, purpose, entity).bits())
    }

    /// Returns the generator of a part of the entity.
    #[inline]
    #[must_use]
    pub fn of(self, part: u64) -> Self {
        Self(self.bits(part))
    }

    /// Returns the 64 uniform bits of `counter`.
    #[inline]
    pub fn bits(self, counter: u64) -> u64 {
        folded(folded(self.0 ^ counter, 0x9e37_79b9_7f4a_7c15), 0xe703_7ed1_a0b4_28db)
    }

    /// Returns the integer in [0, n) of `counter`; 0 for n = 0. The probabilities of two integers differ by less than
    /// n / 2^64 of themselves.
    #[inline]
    pub fn below(self, counter: u64, n: u64) -> u64 {
        ((u128::from(self.bits(counter)) * u128::from(n)) >> 64) as u64
    }

    /// Returns true for a fraction `p` of the counters.
    #[inline]
    pub fn chance(self, counter: u64, p: f64) -> bool {
        unit(self.bits(counter)) < p
    }
}

/// A random stream.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Creates the stream of `entity` for `purpose` in the run with `seed`.
    pub fn new(seed: u64, purpose: Purpose, entity: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = purpose as u8;
        key[16..24].copy_from_slice(&entity.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Returns 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform number in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Returns a uniform integer in [0, n), unbiased (Lemire's method); 0 for n = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        loop {
            let wide = u128::from(self.bits()) * u128::from(n);
            let low = wide as u64;
            // The rejection bound is below n, so hardly any sample needs the division.
            if low >= n || low >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Returns an exponentially distributed number with the given mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Returns true with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Shuffles `items` to a uniform permutation (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u64 + 1) as usize;
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_keys_differ_and_equal_keys_agree() {
        let draw = |seed, purpose, entity| Stream::new(seed, purpose, entity).bits();
        let base = draw(1, Purpose::Sizes, 7);
        assert_eq!(base, draw(1, Purpose::Sizes, 7));
        assert_ne!(base, draw(2, Purpose::Sizes, 7));
        assert_ne!(base, draw(1, Purpose::Arrivals, 7));
        assert_ne!(base, draw(1, Purpose::Sizes, 8));
    }

    #[test]
    fn below_is_uniform_over_a_small_range() {
        let mut stream = Stream::new(3, Purpose::Pairs, 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|&c| (9_500..10_500).contains(&c)), "{counts:?}");
        assert_eq!(stream.below(0), 0);
    }

    #[test]
    fn numbers_of_a_counter_depend_on_key_and_counter_alone_and_are_uniform() {
        let rng = CounterRng::new(7, Purpose::Ties, 3);
        assert_eq!(rng.bits(9), CounterRng::new(7, Purpose::Ties, 3).bits(9));
        assert_ne!(rng.bits(9), CounterRng::new(8, Purpose::Ties, 3).bits(9));
        assert_ne!(rng.bits(9), CounterRng::new(7, Purpose::Ties, 4).bits(9));
        assert_ne!(rng.bits(9), rng.of(1).bits(9));
        // Counters as they occur: instants that are multiples of a packet time, or that differ in few bits.
        for step in [1u64, 800, 1_230_400, 1 << 32] {
            let mut counts = [0u32; 6];
            (0..60_000).for_each(|i| counts[rng.below(i * step, 6) as usize] += 1);
            // 10,000 of each, standard deviation 91.
            assert!(counts.iter().all(|&c| (9_600..10_400).contains(&c)), "{step}: {counts:?}");
            // Whether one counter's number is below the next one's is a fair coin: 30,000, standard deviation 122.
            let ascents =
                (0..60_000).filter(|i| rng.bits(i * 2 * step) < rng.bits((i * 2 + 1) * step)).count();
            assert!((29_400..30_600).contains(&ascents), "{step}: {ascents}");
            let hits = (0..60_000).filter(|i| rng.chance(i * step, 0.1)).count();
            assert!((5_700..6_300).contains(&hits), "{step}: {hits}");
        }
        assert_eq!(rng.below(5, 0), 0);
    }

    #[test]
    fn exponential_has_the_stated_mean() {
        let mut stream = Stream::new(5, Purpose::Arrivals, 0);
        let n = 200_000;
        let mean = (0..n).map(|_| stream.exponential(2.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 2.0).abs() < 0.02, "{mean}");
    }
}

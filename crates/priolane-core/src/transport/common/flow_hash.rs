//! Hash function for flow ids chosen by other hosts.
//!
//! `hash(x) = x a mod 2^64`, rotated so that the upper bits select the table index: multiply-shift hashing
//! (Dietzfelbinger, Hagerup, Katajainen, Penttonen 1997). For a uniformly random odd `a`, two given keys collide
//! with at most twice the probability of an ideal hash. A peer that does not know `a` cannot choose flow ids that
//! all collide.

use std::hash::{BuildHasher, Hasher};

/// `a` in a simulator: the multiplier of `rustc_hash`, so that the hash of one word equals that of `rustc_hash`.
const MULTIPLIER: u64 = 0xf135_7aea_2e62_a9c5;

/// Bits by which the product is rotated, as in `rustc_hash`.
const ROTATION: u32 = 26;

/// Builds hashers with the multiplier of one host.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowHash {
    multiplier: u64,
}

impl FlowHash {
    /// Creates the hash of a host with `secret`; a simulator passes 0.
    pub(super) const fn new(secret: u64) -> Self {
        Self { multiplier: (MULTIPLIER ^ secret) | 1 }
    }
}

impl BuildHasher for FlowHash {
    type Hasher = FlowHasher;

    #[inline]
    fn build_hasher(&self) -> FlowHasher {
        FlowHasher { multiplier: self.multiplier, hash: 0 }
    }
}

/// Hashes one word.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowHasher {
    multiplier: u64,
    hash: u64,
}

impl Hasher for FlowHasher {
    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.hash = self.hash.wrapping_add(word).wrapping_mul(self.multiplier);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.hash.rotate_left(ROTATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxBuildHasher;

    /// Returns the largest number of the 1024 keys with the same index in a table of 1024 slots.
    fn fullest(hash: FlowHash, keys: &[u64; 1024]) -> usize {
        let mut places = [0; 1024];
        keys.iter().for_each(|key| places[hash.hash_one(key) as usize % 1024] += 1);
        places.into_iter().max().unwrap()
    }

    #[test]
    fn keys_that_collide_under_one_multiplier_do_not_under_that_of_a_secret() {
        // 1024 flow ids of one host whose products with the published multiplier agree in bits 38 to 47, the index
        // bits.
        let mut found = (0..u64::from(u32::MAX)).filter(|id| id.wrapping_mul(MULTIPLIER) >> 38 & 1023 == 0);
        let keys: [u64; 1024] = std::array::from_fn(|_| found.next().unwrap());
        assert_eq!(fullest(FlowHash::new(0), &keys), 1024);
        for secret in [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0x2545_f491_4f6c_dd1d] {
            let fullest = fullest(FlowHash::new(secret), &keys);
            assert!(fullest < 32, "{fullest} keys with one index");
        }
    }

    #[test]
    fn without_a_secret_it_is_the_hash_of_rustc_hash() {
        for key in [0, 1, 7 << 32 | 3, u64::MAX] {
            assert_eq!(FlowHash::new(0).hash_one(key), FxBuildHasher.hash_one(key));
        }
    }
}

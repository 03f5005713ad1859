//! Sorts the few arrival keys of a node.
//!
//! Nodes have a handful of arrivals per window, in an order that no processor can predict: insertion sort mispredicts
//! once per key. A sorting network has no branches. The networks here have the fewest known comparators (Knuth, The
//! Art of Computer Programming 3, §5.3.4). Whether two keys have an instant in common is found while the sorted keys are
//! still in registers.

/// Sorts keys. Returns whether any two agree in all bits above the `BELOW` lowest.
#[inline]
pub(super) fn sort<const BELOW: u32>(keys: &mut [u64]) -> bool {
    keys.len() > 1 && sort_several::<BELOW>(keys)
}

#[inline(never)]
fn sort_several<const BELOW: u32>(keys: &mut [u64]) -> bool {
    let closest = match keys.len() {
        2 => network::<2, 1>(keys, [(0, 1)]),
        3 => network::<3, 3>(keys, [(0, 2), (0, 1), (1, 2)]),
        4 => network::<4, 5>(keys, [(0, 2), (1, 3), (0, 1), (2, 3), (1, 2)]),
        5 => {
            let exchanges = [(0, 3), (1, 4), (0, 2), (1, 3), (0, 1), (2, 4), (1, 2), (3, 4), (2, 3)];
            network::<5, 9>(keys, exchanges)
        }
        6 => {
            let first = [(0, 5), (1, 3), (2, 4), (1, 2), (3, 4), (0, 3)];
            let then = [(2, 5), (0, 1), (2, 3), (4, 5), (1, 2), (3, 4)];
            network::<6, 6>(keys, first);
            network::<6, 6>(keys, then)
        }
        7 => {
            let first = [(0, 6), (2, 3), (4, 5), (0, 2), (1, 4), (3, 6), (0, 1), (2, 5)];
            let then = [(3, 4), (1, 2), (4, 6), (2, 3), (4, 5), (1, 2), (3, 4), (5, 6)];
            network::<7, 8>(keys, first);
            network::<7, 8>(keys, then)
        }
        8 => {
            let first = [(0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7), (0, 1), (2, 3)];
            let then = [(4, 5), (6, 7), (2, 4), (3, 5), (1, 4), (3, 6), (1, 2), (3, 4), (5, 6)];
            network::<8, 10>(keys, first);
            network::<8, 9>(keys, then)
        }
        9..=16 => {
            sixteen(keys);
            return agree::<BELOW>(keys);
        }
        _ => {
            keys.sort_unstable();
            return agree::<BELOW>(keys);
        }
    };
    closest >> BELOW == 0
}

/// Returns whether any two neighbours agree in all bits above the `BELOW` lowest.
// No branch for each pair: such pairs are rare.
#[inline]
fn agree<const BELOW: u32>(keys: &[u64]) -> bool {
    let same = |pair: &[u64]| u64::from((pair[0] ^ pair[1]) >> BELOW == 0);
    keys.windows(2).map(same).fold(0, |any, same| any | same) != 0
}

/// Sorts up to 16 keys, padded with the largest key.
fn sixteen(keys: &mut [u64]) {
    let mut all = [u64::MAX; 16];
    all[..keys.len()].copy_from_slice(keys);
    let run = &mut all;
    network::<16, 8>(run, [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 15)]);
    network::<16, 8>(run, [(0, 2), (1, 3), (4, 6), (5, 7), (8, 10), (9, 11), (12, 14), (13, 15)]);
    network::<16, 8>(run, [(0, 4), (1, 5), (2, 6), (3, 7), (8, 12), (9, 13), (10, 14), (11, 15)]);
    network::<16, 8>(run, [(0, 8), (1, 9), (2, 10), (3, 11), (4, 12), (5, 13), (6, 14), (7, 15)]);
    network::<16, 7>(run, [(5, 10), (6, 9), (3, 12), (13, 14), (4, 8), (1, 2), (7, 11)]);
    network::<16, 4>(run, [(1, 4), (7, 13), (2, 8), (11, 14)]);
    network::<16, 6>(run, [(2, 4), (5, 6), (9, 10), (11, 13), (3, 8), (7, 12)]);
    network::<16, 4>(run, [(6, 8), (10, 12), (3, 5), (7, 9)]);
    network::<16, 7>(run, [(3, 4), (5, 6), (7, 8), (9, 10), (11, 12), (6, 7), (8, 9)]);
    keys.copy_from_slice(&run[..keys.len()]);
}

/// Applies these comparators in sequence to `N` keys. Returns the smallest exclusive or of two neighbours: once the keys
/// are sorted, that of the two keys that agree in the most of their highest bits.
#[inline(always)]
fn network<const N: usize, const M: usize>(keys: &mut [u64], exchanges: [(usize, usize); M]) -> u64 {
    let Some((keys, _)) = keys.split_first_chunk_mut::<N>() else { return u64::MAX };
    let mut sorted = *keys;
    for (a, b) in exchanges {
        (sorted[a], sorted[b]) = (sorted[a].min(sorted[b]), sorted[a].max(sorted[b]));
    }
    *keys = sorted;
    sorted.windows(2).map(|pair| pair[0] ^ pair[1]).fold(u64::MAX, u64::min)
}

#[cfg(test)]
mod tests {
    use priolane_core::rng::{Purpose, Stream};

    use super::*;

    /// The zero-one principle: a network that sorts all sequences of zeros and ones sorts all sequences (Knuth, The
    /// Art of Computer Programming 3, §5.3.4, theorem Z).
    #[test]
    fn networks_sort_all_sequences_of_zeros_and_ones() {
        for count in 0..=16 {
            for bits in 0..1u32 << count {
                let mut keys: Vec<u64> = (0..count).map(|i| u64::from(bits >> i & 1)).collect();
                sort::<0>(&mut keys);
                assert!(keys.is_sorted(), "{bits:b} of {count}");
                assert_eq!(keys.iter().sum::<u64>(), u64::from(bits.count_ones()));
            }
        }
    }

    /// Compared with all pairs: keys that agree in their higher bits, seldom and often, for any number of keys.
    #[test]
    fn any_number_of_keys_is_sorted_and_equal_high_bits_are_found() {
        let mut draw = Stream::new(2, Purpose::Ties, 0);
        let mut found = [0u32; 2];
        for round in 0..20_000 {
            let count = round % 40;
            let high = [2, 40, 400, 1 << 20][round / 40 % 4];
            let mut keys: Vec<u64> =
                (0..count).map(|_| draw.below(high) << 40 | draw.below(1 << 40)).collect();
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            let pairs = |i: usize| (0..i).any(|j| keys[i] >> 40 == keys[j] >> 40);
            let agree = (0..count).any(pairs);
            assert_eq!(sort::<40>(&mut keys), agree, "{sorted:?}");
            assert_eq!(keys, sorted);
            found[usize::from(agree)] += 1;
        }
        assert!(found.iter().all(|&times| times > 2_000), "{found:?}");
    }
}

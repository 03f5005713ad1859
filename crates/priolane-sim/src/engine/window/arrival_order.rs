//! Sorts the few arrival keys of a node.
//!
//! Nodes have a handful of arrivals per window, in an order that no processor can predict: insertion sort mispredicts
//! once per key. A sorting network has no branches. The networks here have the fewest known comparators (Knuth, The
//! Art of Computer Programming 3, §5.3.4).

/// Sorts keys.
#[inline]
pub(super) fn sort(keys: &mut [u64]) {
    if keys.len() > 1 {
        sort_several(keys);
    }
}

#[inline(never)]
fn sort_several(keys: &mut [u64]) {
    match keys.len() {
        2 => network::<2, 1>(keys, [(0, 1)]),
        3 => network::<3, 3>(keys, [(0, 2), (0, 1), (1, 2)]),
        4 => network::<4, 5>(keys, [(0, 2), (1, 3), (0, 1), (2, 3), (1, 2)]),
        5 => {
            let exchanges = [(0, 3), (1, 4), (0, 2), (1, 3), (0, 1), (2, 4), (1, 2), (3, 4), (2, 3)];
            network::<5, 9>(keys, exchanges);
        }
        6 => {
            let first = [(0, 5), (1, 3), (2, 4), (1, 2), (3, 4), (0, 3)];
            let then = [(2, 5), (0, 1), (2, 3), (4, 5), (1, 2), (3, 4)];
            network::<6, 6>(keys, first);
            network::<6, 6>(keys, then);
        }
        7 => {
            let first = [(0, 6), (2, 3), (4, 5), (0, 2), (1, 4), (3, 6), (0, 1), (2, 5)];
            let then = [(3, 4), (1, 2), (4, 6), (2, 3), (4, 5), (1, 2), (3, 4), (5, 6)];
            network::<7, 8>(keys, first);
            network::<7, 8>(keys, then);
        }
        8 => {
            let first = [(0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7), (0, 1), (2, 3)];
            let then = [(4, 5), (6, 7), (2, 4), (3, 5), (1, 4), (3, 6), (1, 2), (3, 4), (5, 6)];
            network::<8, 10>(keys, first);
            network::<8, 9>(keys, then);
        }
        9..=16 => sixteen(keys),
        _ => keys.sort_unstable(),
    }
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

/// Applies these comparators in sequence to `N` keys.
#[inline(always)]
fn network<const N: usize, const M: usize>(keys: &mut [u64], exchanges: [(usize, usize); M]) {
    let Some((keys, _)) = keys.split_first_chunk_mut::<N>() else { return };
    let mut sorted = *keys;
    for (a, b) in exchanges {
        (sorted[a], sorted[b]) = (sorted[a].min(sorted[b]), sorted[a].max(sorted[b]));
    }
    *keys = sorted;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The zero-one principle: a network that sorts all sequences of zeros and ones sorts all sequences (Knuth, The
    /// Art of Computer Programming 3, §5.3.4, theorem Z).
    #[test]
    fn networks_sort_all_sequences_of_zeros_and_ones() {
        for count in 0..=16 {
            for bits in 0..1u32 << count {
                let mut keys: Vec<u64> = (0..count).map(|i| u64::from(bits >> i & 1)).collect();
                sort(&mut keys);
                assert!(keys.is_sorted(), "{bits:b} of {count}");
                assert_eq!(keys.iter().sum::<u64>(), u64::from(bits.count_ones()));
            }
        }
    }

    #[test]
    fn any_number_of_keys_is_sorted() {
        for count in 0..20u64 {
            let mut keys: Vec<u64> = (0..count).map(|i| (i * 7 + 3) % 20).collect();
            let mut sorted = keys.clone();
            sort(&mut keys);
            sorted.sort_unstable();
            assert_eq!(keys, sorted);
        }
    }
}

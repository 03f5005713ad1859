//! Sorting the few keys of a node.
//!
//! Nodes have a handful of arrivals per window, in an order that no processor can foresee: insertion mispredicts once per
//! key. A sorting network has no branch. A run of keys has room for a network's number of them, and what is not filled
//! sorts to the end.

/// Sorts behind every key.
pub(super) const NO_KEY: u64 = u64::MAX;

/// By number of keys: what the networks take.
const ROOM: [u32; 9] = [0, 1, 2, 4, 4, 8, 8, 8, 8];

/// The places that a run of `count` keys is given.
#[inline]
pub(super) fn room_for(count: u32) -> u32 {
    ROOM.get(count as usize).copied().unwrap_or(count)
}

/// Sorts a run of keys, `NO_KEY` where it is not filled.
#[inline]
pub(super) fn sort(run: &mut [u64]) {
    match run {
        [] | [_] => {}
        [a, b] => exchange(a, b),
        [a, b, c, d] => four(a, b, c, d),
        [a, b, c, d, e, f, g, h] => eight([a, b, c, d], [e, f, g, h]),
        _ => run.sort_unstable(),
    }
}

/// Puts two keys in order.
#[inline]
fn exchange(a: &mut u64, b: &mut u64) {
    (*a, *b) = ((*a).min(*b), (*a).max(*b));
}

#[inline]
fn four(a: &mut u64, b: &mut u64, c: &mut u64, d: &mut u64) {
    exchange(a, b);
    exchange(c, d);
    exchange(a, c);
    exchange(b, d);
    exchange(b, c);
}

/// Batcher's odd-even merge of two sorted halves.
fn eight([a, b, c, d]: [&mut u64; 4], [e, f, g, h]: [&mut u64; 4]) {
    four(a, b, c, d);
    four(e, f, g, h);
    exchange(a, e);
    exchange(b, f);
    exchange(c, g);
    exchange(d, h);
    exchange(c, e);
    exchange(d, f);
    exchange(b, c);
    exchange(d, e);
    exchange(f, g);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that sorts all sequences of zeros and ones sorts all sequences (Knuth, The Art of Computer Programming
    /// 3, §5.3.4, theorem Z).
    #[test]
    fn networks_sort_all_sequences_of_zeros_and_ones() {
        for keys in [1, 2, 4, 8] {
            for bits in 0..1u32 << keys {
                let mut run: Vec<u64> = (0..keys).map(|i| u64::from(bits >> i & 1)).collect();
                sort(&mut run);
                assert!(run.is_sorted(), "{bits:b} of {keys}");
                assert_eq!(run.iter().sum::<u64>(), u64::from(bits.count_ones()));
            }
        }
    }

    #[test]
    fn what_is_not_filled_sorts_to_the_end() {
        for count in 0..20u64 {
            let mut run = vec![NO_KEY; room_for(count as u32) as usize];
            (0..count).for_each(|i| run[i as usize] = (i * 7 + 3) % 20);
            sort(&mut run);
            let mut keys: Vec<u64> = (0..count).map(|i| (i * 7 + 3) % 20).collect();
            keys.sort_unstable();
            assert_eq!(run[..count as usize], keys);
            assert!(run[count as usize..].iter().all(|&key| key == NO_KEY));
        }
    }
}

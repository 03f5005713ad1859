//! Size thresholds that give each class its share of flows, or all classes equal bytes.
//!
//! ```text
//! flow fraction:  t_i = F^-1(f_1 + ... + f_i)
//! equal bytes:    E[X; X <= t_i] = (i / N) E[X]        (Homa, SIGCOMM 2018 §3.4)
//! ```

use crate::sizes::{SizeDistribution, whole_bytes};

/// Returns the thresholds, in whole bytes, that give class `i` the fraction `fractions[i]` of flows; one fewer than
/// fractions. Classes are empty if one size is more common than a class.
pub fn flow_fraction(sizes: &SizeDistribution, fractions: &[f64]) -> Vec<u64> {
    let mut sum = 0.0;
    let cuts = fractions.iter().take(fractions.len().saturating_sub(1));
    cuts.map(|fraction| {
        sum += fraction;
        whole_bytes(sizes.quantile(sum.min(1.0)))
    })
    .collect()
}

/// Returns the `levels - 1` thresholds, in whole bytes, between which flows have equal total bytes.
pub fn equal_bytes(sizes: &SizeDistribution, levels: u8) -> Vec<u64> {
    let part = |i: u8| f64::from(i) / f64::from(levels) * sizes.mean();
    (1..levels).map(|i| whole_bytes(size_with(sizes, part(i)))).collect()
}

/// Bisection steps: sizes up to 2^53 bytes are found to the byte.
const HALVINGS: u32 = 80;

/// Returns the smallest size at which flows up to it contribute `bytes` to the mean flow size.
fn size_with(sizes: &SizeDistribution, bytes: f64) -> f64 {
    let of_flows_up_to = |x: f64| sizes.truncated_mean(x) - x * (1.0 - sizes.cdf(x));
    let (mut low, mut high) = (0.0, sizes.max());
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if of_flows_up_to(middle) < bytes {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes::{Interpolation, Point};

    fn law(rows: &[(f64, f64)], interpolation: Interpolation) -> SizeDistribution {
        let points = rows.iter().map(|&(bytes, cdf)| Point { bytes, cdf }).collect();
        SizeDistribution::new(points, interpolation).unwrap()
    }

    #[test]
    fn fractions_of_flows_are_cut_at_quantiles() {
        // Uniform from 0 to 1000 bytes.
        let even = law(&[(0.0, 0.0), (1000.0, 1.0)], Interpolation::Linear);
        assert_eq!(flow_fraction(&even, &[0.3, 0.5, 0.2]), [300, 800]);
        assert_eq!(flow_fraction(&even, &[1.0]), []);
    }

    #[test]
    fn equal_bytes_of_an_even_law_are_cut_at_square_roots() {
        // E[X; X <= x] = x^2 / 2000, E[X] = 500: x_i = 1000 sqrt(i / N).
        let even = law(&[(0.0, 0.0), (1000.0, 1.0)], Interpolation::Linear);
        assert_eq!(equal_bytes(&even, 2), [707]);
        assert_eq!(equal_bytes(&even, 4), [500, 707, 866]);
        assert_eq!(equal_bytes(&even, 1), []);
    }

    #[test]
    fn an_atom_is_in_one_class() {
        // 10 bytes or 1000, equally likely: 5 of 505 bytes are in small flows.
        let two = law(&[(10.0, 0.5), (1000.0, 1.0)], Interpolation::Step);
        assert_eq!(equal_bytes(&two, 2), [1000]);
        // 90 of 100 flows have 90 bytes, ten have 810: equal bytes in each.
        let even = law(&[(90.0, 0.9), (810.0, 1.0)], Interpolation::Step);
        assert_eq!(equal_bytes(&even, 4), [90, 90, 810]);
    }
}

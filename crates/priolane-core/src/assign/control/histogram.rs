//! Histograms of flow sizes with 16 bins per factor of two; reports carry them, and the controller adds them up.

use crate::sizes::{Interpolation, Point, SizeDistribution};

/// Bins per factor of two, as a power of two: the relative width of a bin is at most 1/16.
const SUB_BITS: u32 = 4;
const SUB: u64 = 1 << SUB_BITS;

/// The largest size that has its own bin: 2^47 bytes.
const LARGEST: u64 = (1 << 47) - 1;

/// Number of bins.
pub(crate) const BINS: usize = bin_of(LARGEST) as usize + 1;

/// Returns the bin of a size in bytes; larger sizes are in the last bin.
pub(crate) const fn bin_of(bytes: u64) -> u16 {
    let bytes = if bytes > LARGEST { LARGEST } else { bytes };
    if bytes < SUB {
        return bytes as u16;
    }
    let exponent = bytes.ilog2();
    let sub = (bytes >> (exponent - SUB_BITS)) & (SUB - 1);
    ((exponent - SUB_BITS + 1) as u64 * SUB + sub) as u16
}

/// Returns the smallest size of a bin, in bytes.
pub(crate) const fn lower(bin: u16) -> u64 {
    let bin = bin as u64;
    if bin < SUB {
        return bin;
    }
    (SUB + bin % SUB) << (bin / SUB - 1)
}

/// The number of flows in each size bin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u32]>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BINS].into_boxed_slice(), total: 0 }
    }
}

impl Histogram {
    /// Returns the number of flows.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Adds a flow in `bin`.
    pub(crate) fn add(&mut self, bin: u16) {
        self.counts[usize::from(bin)] += 1;
        self.total += 1;
    }

    /// Removes a flow from `bin`, which must have one.
    pub(crate) fn remove(&mut self, bin: u16) {
        self.counts[usize::from(bin)] -= 1;
        self.total -= 1;
    }

    /// Adds all flows of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.total += other.total;
    }

    /// Returns the distribution of the sizes, uniform within a bin; `None` without flows.
    pub fn distribution(&self) -> Option<SizeDistribution> {
        if self.total == 0 {
            return None;
        }
        let mut points = Vec::new();
        let mut below = 0u64;
        for (bin, &count) in self.counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let bin = bin as u16;
            let cdf = |flows: u64| flows as f64 / self.total as f64;
            points.push(Point { bytes: lower(bin) as f64, cdf: cdf(below) });
            below += u64::from(count);
            // A bin of a single size is an atom.
            points.push(Point { bytes: (lower(bin + 1) - 1) as f64, cdf: cdf(below) });
        }
        SizeDistribution::new(points, Interpolation::Linear).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_in_order_without_gaps_and_a_sixteenth_wide() {
        for bin in 0..BINS as u16 {
            assert_eq!(bin_of(lower(bin)), bin);
            let last = lower(bin + 1) - 1;
            assert_eq!(bin_of(last), bin);
            assert!((last - lower(bin)) * SUB <= lower(bin), "{bin}: {}..{last}", lower(bin));
        }
        assert_eq!(bin_of(u64::MAX), BINS as u16 - 1);
    }

    #[test]
    fn the_law_has_the_mass_of_the_flows() {
        let mut histogram = Histogram::default();
        assert!(histogram.distribution().is_none());
        for bytes in [1, 1, 1_460, 10_000] {
            histogram.add(bin_of(bytes));
        }
        let law = histogram.distribution().unwrap();
        // Half of the flows have 1 byte; 1,460 is in 1,408..1,471, and 10,000 in 9,728..10,239.
        assert_eq!([law.cdf(0.9), law.cdf(1.0), law.cdf(1_407.0), law.cdf(1_471.0)], [0.0, 0.5, 0.5, 0.75]);
        assert!((law.mean() - (2.0 + 1_439.5 + 9_983.5) / 4.0).abs() < 1e-6, "{}", law.mean());
        histogram.remove(bin_of(1));
        assert_eq!(histogram.total(), 3);
    }
}

//! A host's estimate of the sizes of its own flows, from its last completed flows.

use std::collections::VecDeque;

use super::histogram::{Histogram, bin_of};

/// A host's local estimate of flow sizes, over a sliding window of flows.
#[derive(Clone, Debug)]
pub struct SizeEstimate {
    window: usize,
    bins: VecDeque<u16>,
    histogram: Histogram,
}

impl SizeEstimate {
    /// Creates an empty estimate; `window` is the number of flows it remembers, at least 1.
    pub fn new(window: u32) -> Self {
        Self { window: window.max(1) as usize, bins: VecDeque::new(), histogram: Histogram::default() }
    }

    /// Adds a completed flow of `bytes` payload bytes.
    pub fn observe(&mut self, bytes: u64) {
        if self.bins.len() == self.window
            && let Some(oldest) = self.bins.pop_front()
        {
            self.histogram.remove(oldest);
        }
        let bin = bin_of(bytes);
        self.bins.push_back(bin);
        self.histogram.add(bin);
    }

    /// Returns the histogram of the flows in the window.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_flows_count() {
        let mut estimate = SizeEstimate::new(3);
        for bytes in [1, 1, 1, 1, 7] {
            estimate.observe(bytes);
        }
        let law = estimate.histogram().distribution().unwrap();
        assert_eq!(estimate.histogram().total(), 3);
        assert!((law.cdf(1.0) - 2.0 / 3.0).abs() < 1e-12);
    }
}

//! The range of values that a claim allows.

use std::ops::Bound;

use crate::experiment::OpenRange;

/// The range of values that a claim allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Lower end.
    pub low: Bound<f64>,
    /// Upper end.
    pub high: Bound<f64>,
}

impl Band {
    /// Returns the band from `low` to `high`, both included.
    pub fn closed(low: f64, high: f64) -> Self {
        Self { low: Bound::Included(low), high: Bound::Included(high) }
    }

    /// Whether all values from `from` to `to` lie in the band.
    pub fn holds(&self, (from, to): (f64, f64)) -> bool {
        self.is_beyond_low(from) && self.is_beyond_high(to)
    }

    /// Whether no value from `from` to `to` lies in the band.
    pub fn misses(&self, (from, to): (f64, f64)) -> bool {
        !self.is_beyond_low(to) || !self.is_beyond_high(from)
    }

    /// Returns its finite ends.
    pub fn ends(&self) -> impl Iterator<Item = f64> {
        [self.low, self.high].into_iter().filter_map(|end| match end {
            Bound::Included(x) | Bound::Excluded(x) => Some(x),
            Bound::Unbounded => None,
        })
    }

    fn is_beyond_low(&self, x: f64) -> bool {
        match self.low {
            Bound::Included(low) => x >= low,
            Bound::Excluded(low) => x > low,
            Bound::Unbounded => true,
        }
    }

    fn is_beyond_high(&self, x: f64) -> bool {
        match self.high {
            Bound::Included(high) => x <= high,
            Bound::Excluded(high) => x < high,
            Bound::Unbounded => true,
        }
    }
}

impl From<OpenRange> for Band {
    fn from(OpenRange { above, below }: OpenRange) -> Self {
        let end = |end: Option<f64>| end.map_or(Bound::Unbounded, Bound::Excluded);
        Self { low: end(above), high: end(below) }
    }
}

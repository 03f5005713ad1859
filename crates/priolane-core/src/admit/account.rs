//! What admission policies leave for reports: what became of each key, and how large the terms of a utility were.

use std::collections::BTreeMap;

use crate::ids::{Class, HostId};

/// What a policy has come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// Every key that was read or written, by destination and class.
    pub keys: Vec<Key>,
    /// Magnitudes of the terms of a utility, by name, in the order of its formula; empty for policies without one.
    pub terms: Vec<(&'static str, Magnitudes)>,
    /// Completions and reports that taught nothing, as something the policy needs was not known of the flow.
    pub skipped: u64,
}

/// One probability: that of flows to a destination that ask for, or run at, a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// The destination.
    pub dst: HostId,
    /// The class.
    pub class: Class,
    /// The admit probability in the end.
    pub p: f64,
    /// The admit probability after half of the updates.
    pub p_half: f64,
    /// How often it was updated.
    pub updates: u64,
}

/// Updates of one probability, and where it was half of them ago.
#[derive(Clone, Debug)]
pub(super) struct Drift {
    updates: u64,
    /// The probability after each power of two of updates.
    at: Vec<f64>,
}

impl Drift {
    pub(super) fn new() -> Self {
        Self { updates: 0, at: Vec::new() }
    }

    /// An update left the probability at `p`.
    pub(super) fn updated(&mut self, p: f64) {
        self.updates += 1;
        if self.updates.is_power_of_two() {
            self.at.push(p);
        }
    }

    /// The key's record; half of the updates is the largest power of two of them that is not above it.
    pub(super) fn key(&self, (dst, class): (HostId, Class), p: f64) -> Key {
        let half = (self.updates / 2).checked_ilog2().and_then(|i| self.at.get(i as usize));
        Key { dst, class, p, p_half: half.copied().unwrap_or(1.0), updates: self.updates }
    }
}

/// Magnitudes of numbers, to a quarter of a power of two: their quantiles without their list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Magnitudes {
    bins: BTreeMap<u64, u64>,
    count: u64,
}

/// Bits of a double's fraction that a bin does not tell apart.
const COARSE: u32 = 50;

impl Magnitudes {
    /// One more number; its sign does not count.
    pub fn add(&mut self, x: f64) {
        *self.bins.entry(x.abs().to_bits() >> COARSE).or_default() += 1;
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The magnitude, rounded down to a quarter of its power of two, that the fraction `q` of the numbers, 0 to 1, is
    /// not above; `None` without any.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut passed = 0;
        self.bins.iter().find_map(|(&bin, &count)| {
            passed += count;
            (passed >= rank).then(|| f64::from_bits(bin << COARSE))
        })
    }

    /// Adds what `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        for (&bin, &count) in &other.bins {
            *self.bins.entry(bin).or_default() += count;
        }
        self.count += other.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_a_quarter_of_a_power_of_two() {
        let mut all = Magnitudes::default();
        assert_eq!(all.quantile(0.5), None);
        (1..=100).for_each(|i| all.add(-f64::from(i)));
        // The 50th is 50, in [48, 56); the 100th is 100, in [96, 112); the first is 1.
        assert_eq!([0.0, 0.5, 1.0].map(|q| all.quantile(q)), [Some(1.0), Some(48.0), Some(96.0)]);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!((twice.count(), twice.quantile(0.5)), (200, Some(48.0)));
        assert_eq!(
            Magnitudes::quantile(
                &{
                    let mut z = Magnitudes::default();
                    z.add(0.0);
                    z
                },
                0.5
            ),
            Some(0.0)
        );
    }

    #[test]
    fn drift_is_read_after_the_power_of_two_up_to_half_of_the_updates() {
        let mut drift = Drift::new();
        let read = |drift: &Drift| (drift.key((HostId(1), 0), 9.0).p_half, drift.updates);
        assert_eq!(read(&drift), (1.0, 0));
        (1..=11).for_each(|i| drift.updated(f64::from(i)));
        // 11 / 2 = 5, and 4 is the power of two up to it.
        assert_eq!(read(&drift), (4.0, 11));
    }
}

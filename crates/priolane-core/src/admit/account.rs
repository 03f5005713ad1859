//! Final state of admission policies, for reports: the probability of each key, and the magnitudes of a utility's
//! terms.

use std::collections::BTreeMap;

use crate::ids::{Class, HostId};
use crate::units::{Span, Time};

/// Final state of a policy, for the results tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionState {
    /// All keys that were ever updated, by destination and class.
    pub keys: Vec<Key>,
    /// Magnitudes of the terms of a utility, by name, in the order of its formula; empty for policies without a
    /// utility.
    pub terms: Vec<(&'static str, LogHistogram)>,
    /// Completions and reports without an update, because the flow lacked a value that the policy needs.
    pub skipped: u64,
}

/// The admit probability of flows to a destination that request, or run at, a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The destination.
    pub dst: HostId,
    /// The class.
    pub class: Class,
    /// The final admit probability.
    pub p: f64,
    /// The admit probability after half of the updates.
    pub p_half: f64,
    /// Number of updates.
    pub updates: u64,
    /// Its course until the final value.
    pub trail: ConvergenceTrace,
    /// Its value at the end of each sampling interval with an update; empty if it was not sampled.
    pub watched: Vec<(Time, f64)>,
}

/// Updates of one probability, and its value after half of them.
#[derive(Clone, Debug)]
pub(super) struct ProbabilityHistory {
    updates: u64,
    /// The probability after 1, 2, 4, 8, .. updates.
    at: Vec<f64>,
    trail: ConvergenceTrace,
    every: Option<Span>,
    watched: Vec<(Time, f64)>,
}

impl ProbabilityHistory {
    /// Starts recording a probability, sampled at intervals of `every` if given.
    pub(super) fn new(every: Option<Span>) -> Self {
        Self { updates: 0, at: Vec::new(), trail: ConvergenceTrace::default(), every, watched: Vec::new() }
    }

    /// Records an update at `now` to the probability `p`.
    pub(super) fn updated(&mut self, p: f64, now: Time) {
        if self.updates == 0 {
            self.trail.begin(now);
        }
        self.updates += 1;
        self.trail.add(Step { p, update: self.updates, at: now });
        if self.updates.is_power_of_two() {
            self.at.push(p);
        }
        if let Some(every) = self.every.filter(|&every| every > Span::ZERO) {
            let end = Time(now.0 - now.0 % every.0) + every;
            match self.watched.last_mut() {
                Some(last) if last.0 == end => last.1 = p,
                _ => self.watched.push((end, p)),
            }
        }
    }

    /// Returns the key's record. Half of the updates is rounded down to a power of two.
    pub(super) fn key(&self, (dst, class): (HostId, Class), p: f64) -> Key {
        let half = (self.updates / 2).checked_ilog2().and_then(|i| self.at.get(i as usize));
        Key {
            dst,
            class,
            p,
            p_half: half.copied().unwrap_or(1.0),
            updates: self.updates,
            trail: self.trail.clone(),
            watched: self.watched.clone(),
        }
    }
}

/// A probability after an update.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    p: f64,
    /// The number of the update, from 1; 0 is the initial value.
    update: u64,
    at: Time,
}

/// Distance of a probability from its final value over time. Keeps only steps that no later step exceeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvergenceTrace {
    first: Time,
    /// From the highest step on, the last step of each height, falling.
    highs: Vec<Step>,
    /// From the lowest step on, the last step of each depth, rising.
    lows: Vec<Step>,
}

/// The time at which a probability settled within a band around its final value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlingTime {
    /// Number of the last update that left it outside; 0 if it never was outside.
    pub updates: u64,
    /// Time from the first update to that update.
    pub after: Span,
}

impl ConvergenceTrace {
    /// Records the initial probability of 1 before the first update, at `now`.
    fn begin(&mut self, now: Time) {
        self.first = now;
        self.add(Step { p: 1.0, update: 0, at: now });
    }

    fn add(&mut self, step: Step) {
        while self.highs.pop_if(|high| high.p <= step.p).is_some() {}
        while self.lows.pop_if(|low| low.p >= step.p).is_some() {}
        self.highs.push(step);
        self.lows.push(step);
    }

    /// Returns when it settled within `band`, at least 0, around its final value; `None` without an update.
    pub fn settled(&self, band: f64) -> Option<SettlingTime> {
        let end = self.highs.last()?.p;
        let last = |steps: &[Step]| steps.iter().rfind(|step| (step.p - end).abs() > band).copied();
        let outside =
            [last(&self.highs), last(&self.lows)].into_iter().flatten().max_by_key(|step| step.update);
        Some(outside.map_or(SettlingTime { updates: 0, after: Span::ZERO }, |step| SettlingTime {
            updates: step.update,
            after: step.at.since(self.first),
        }))
    }
}

/// A logarithmic histogram of magnitudes with four bins per power of two, for quantiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHistogram {
    bins: BTreeMap<u64, u64>,
    count: u64,
}

/// Bits of a double's fraction that a bin ignores.
const COARSE: u32 = 50;

impl LogHistogram {
    /// Adds a number; its sign is ignored.
    pub fn add(&mut self, x: f64) {
        *self.bins.entry(x.abs().to_bits() >> COARSE).or_default() += 1;
        self.count += 1;
    }

    /// Returns the count of numbers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the quantile `q`, 0 to 1, of the magnitudes, rounded down to a quarter of its power of two; `None`
    /// without numbers.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut passed = 0;
        self.bins.iter().find_map(|(&bin, &count)| {
            passed += count;
            (passed >= rank).then(|| f64::from_bits(bin << COARSE))
        })
    }

    /// Adds the counts of `other`.
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
        let mut all = LogHistogram::default();
        assert_eq!(all.quantile(0.5), None);
        (1..=100).for_each(|i| all.add(-f64::from(i)));
        // The 50th is 50, in [48, 56); the 100th is 100, in [96, 112); the first is 1.
        assert_eq!([0.0, 0.5, 1.0].map(|q| all.quantile(q)), [Some(1.0), Some(48.0), Some(96.0)]);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!((twice.count(), twice.quantile(0.5)), (200, Some(48.0)));
        assert_eq!(
            LogHistogram::quantile(
                &{
                    let mut z = LogHistogram::default();
                    z.add(0.0);
                    z
                },
                0.5
            ),
            Some(0.0)
        );
    }

    #[test]
    fn a_probability_settles_where_it_leaves_the_band_for_the_last_time() {
        let settled = |path: &[f64], band| {
            let mut drift = ProbabilityHistory::new(None);
            for (i, &p) in path.iter().enumerate() {
                drift.updated(p, Time(1_000 + 10 * i as u64));
            }
            let settled = drift.trail.settled(band)?;
            Some((settled.updates, settled.after.0))
        };
        assert_eq!(settled(&[], 0.1), None);
        // From 1 down to 0.4, up to 0.7 and back: the third update is the last outside 0.4 to 0.6.
        let path = [0.8, 0.4, 0.7, 0.6, 0.5];
        assert_eq!(settled(&path, 0.15), Some((3, 20)));
        assert_eq!(settled(&path, 0.25), Some((1, 0)));
        assert_eq!(settled(&path, 0.5), Some((0, 0)));
        // Below and above: the later one counts.
        assert_eq!(settled(&[0.1, 1.9, 0.2, 1.0], 0.5), Some((3, 20)));
        assert_eq!(settled(&[1.0, 1.0], 0.0), Some((0, 0)));
        // Compared with a list of all steps.
        let mut draw = crate::rng::Stream::new(5, crate::rng::Purpose::Ties, 0);
        for _ in 0..200 {
            let path: Vec<f64> = (0..40).map(|_| draw.below(20) as f64 / 10.0).collect();
            let end = path[39];
            let outside = path.iter().rposition(|p| (p - end).abs() > 0.35).map_or(0, |i| i as u64 + 1);
            assert_eq!(settled(&path, 0.35).unwrap().0, outside);
        }
    }

    #[test]
    fn drift_is_read_after_the_power_of_two_up_to_half_of_the_updates() {
        let mut drift = ProbabilityHistory::new(None);
        let read = |drift: &ProbabilityHistory| (drift.key((HostId(1), 0), 9.0).p_half, drift.updates);
        assert_eq!(read(&drift), (1.0, 0));
        (1..=11).for_each(|i| drift.updated(f64::from(i), Time::ZERO));
        // 11 / 2 = 5; the largest power of two up to it is 4.
        assert_eq!(read(&drift), (4.0, 11));
    }

    #[test]
    fn a_watched_probability_is_kept_at_the_end_of_each_interval_that_updated_it() {
        let mut drift = ProbabilityHistory::new(Some(Span(10)));
        for (at, p) in [(0, 0.9), (9, 0.8), (10, 0.7), (35, 0.6), (39, 0.5)] {
            drift.updated(p, Time(at));
        }
        let watched = drift.key((HostId(1), 0), 0.5).watched;
        assert_eq!(watched, [(Time(10), 0.8), (Time(20), 0.7), (Time(40), 0.5)]);
    }
}

//! What admission did, for `run.json`: who was moved where, how deadlines fared, what probabilities came to, and which
//! term of the utility ruled.

use std::collections::BTreeMap;

use priolane_core::admit::{Key, Magnitudes};
use priolane_core::ids::Class;
use priolane_sim::outcome::Outcome;
use serde::{Deserialize, Serialize};

use super::rows::Source;
use crate::metrics::met;

/// A term whose median is so many times those of the others together rules alone.
const DWARFS: f64 = 100.0;

/// Updates without which a probability says little.
const ENOUGH: u64 = 200;

/// What admission did in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdmissionRecord {
    /// Measured finite flows by class asked for and class given: the transition matrix.
    pub transitions: Vec<Transition>,
    /// Changes of class of flows under way, all flows of the run.
    pub moves: u64,
    /// The probabilities.
    pub keys: Keys,
    /// Completions and monitor intervals that taught nothing.
    pub skipped: u64,
    /// Terms of the utility, in Gbit, seconds and Gbit/s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
}

/// Flows that asked for one class and were given one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// The class asked for.
    pub asked: Class,
    /// The class given at the start.
    pub given: Class,
    /// Flows.
    pub flows: u64,
    /// Those that met their deadline.
    pub deadlines_met: u64,
    /// Those that missed it.
    pub deadlines_missed: u64,
    /// Of both, those that could not have met it alone in the network.
    pub deadlines_infeasible: u64,
}

/// Probabilities: one for each source, destination and class that was updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Keys {
    /// How many.
    pub count: u64,
    /// How many had 200 updates or more.
    pub with_200_updates: u64,
    /// The fewest updates of one.
    pub fewest_updates: u64,
    /// The median of updates.
    pub median_updates: u64,
    /// The smallest probability in the end.
    pub p_min: f64,
    /// The median of probabilities.
    pub p_median: f64,
    /// The largest.
    pub p_max: f64,
    /// The largest difference between a probability in the end and about half of its updates before.
    pub largest_drift: f64,
}

/// The magnitude of a term, to a quarter of its power of two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Its name.
    pub name: String,
    /// Its median.
    pub p50: f64,
    /// Its 95th percentile.
    pub p95: f64,
    /// Its 99th percentile.
    pub p99: f64,
}

impl AdmissionRecord {
    /// What admission did in `outcome`; `None` without an admission policy.
    pub fn of(source: &Source, outcome: &Outcome) -> Option<Self> {
        source.scenario.admission.levels()?;
        let accounts = || outcome.admission.iter().map(|(_, account)| account);
        let keys: Vec<Key> = accounts().flat_map(|account| account.keys.iter().copied()).collect();
        let mut terms: BTreeMap<&str, Magnitudes> = BTreeMap::new();
        for (name, magnitudes) in accounts().flat_map(|account| &account.terms) {
            terms.entry(name).or_default().merge(magnitudes);
        }
        Some(Self {
            transitions: transitions(source, outcome),
            moves: outcome.flows.iter().map(|flow| u64::from(flow.moves)).sum(),
            keys: Keys::of(&keys),
            skipped: accounts().map(|account| account.skipped).sum(),
            terms: terms.into_iter().filter_map(|(name, magnitudes)| Term::of(name, &magnitudes)).collect(),
        })
    }

    /// What to check before trusting it.
    pub fn warnings(&self) -> Vec<String> {
        let all: f64 = self.terms.iter().map(|term| term.p50).sum();
        let ruling = self.terms.iter().filter(|term| term.p50 > DWARFS * (all - term.p50));
        let dwarfs = |term: &Term| {
            format!(
                "admission: the median of the utility's term of {} is {:.3}, more than {DWARFS} times the others \
                 together: it alone decides (docs/admission.md#terms)",
                term.name, term.p50
            )
        };
        let mut all: Vec<String> = ruling.map(dwarfs).collect();
        let Keys { count, with_200_updates, median_updates, .. } = self.keys;
        if with_200_updates < count {
            all.push(format!(
                "admission: {} of {count} probabilities had fewer than {ENOUGH} updates (median {median_updates}): they \
                 may not have settled",
                count - with_200_updates
            ));
        }
        all
    }
}

fn transitions(source: &Source, outcome: &Outcome) -> Vec<Transition> {
    let mut all: BTreeMap<(Class, Class), Transition> = BTreeMap::new();
    let specs = source.scenario.flows.iter().zip(source.measured).zip(source.bare_fct);
    for (((spec, _), &bare), record) in
        specs.zip(&outcome.flows).filter(|(((spec, measured), _), _)| **measured && spec.size.is_some())
    {
        let (asked, given) = (record.class.asked, record.class.given);
        let fresh = Transition { asked, given, ..Transition::default() };
        let row = all.entry((asked, given)).or_insert(fresh);
        row.flows += 1;
        let Some(met) = met(spec, record, outcome.stopped_at) else { continue };
        row.deadlines_met += u64::from(met);
        row.deadlines_missed += u64::from(!met);
        row.deadlines_infeasible +=
            u64::from(spec.deadline.is_some_and(|deadline| spec.start + bare > deadline));
    }
    all.into_values().collect()
}

impl Keys {
    fn of(keys: &[Key]) -> Self {
        let mut updates: Vec<u64> = keys.iter().map(|key| key.updates).collect();
        let mut p: Vec<f64> = keys.iter().map(|key| key.p).collect();
        updates.sort_unstable();
        p.sort_unstable_by(f64::total_cmp);
        let middle = keys.len().saturating_sub(1) / 2;
        Self {
            count: keys.len() as u64,
            with_200_updates: updates.iter().filter(|&&n| n >= ENOUGH).count() as u64,
            fewest_updates: updates.first().copied().unwrap_or(0),
            median_updates: updates.get(middle).copied().unwrap_or(0),
            p_min: p.first().copied().unwrap_or(1.0),
            p_median: p.get(middle).copied().unwrap_or(1.0),
            p_max: p.last().copied().unwrap_or(1.0),
            largest_drift: keys.iter().map(|key| (key.p - key.p_half).abs()).fold(0.0, f64::max),
        }
    }
}

impl Term {
    fn of(name: &str, magnitudes: &Magnitudes) -> Option<Self> {
        let at = |q| magnitudes.quantile(q);
        Some(Self { name: name.to_owned(), p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(name: &str, p50: f64) -> Term {
        Term { name: name.to_owned(), p50, p95: p50, p99: p50 }
    }

    #[test]
    fn a_term_that_dwarfs_the_others_and_keys_with_few_updates_are_warned_of() {
        let mut record = AdmissionRecord {
            terms: vec![term("loss", 0.0), term("rate", 1.0), term("slack", 99.0)],
            ..Default::default()
        };
        assert_eq!(record.warnings(), Vec::<String>::new());
        record.terms[2].p50 = 101.0;
        assert!(record.warnings()[0].contains("term of slack"));
        record.keys = Keys { count: 3, with_200_updates: 1, median_updates: 7, ..Keys::default() };
        assert!(record.warnings()[1].contains("2 of 3") && record.warnings().len() == 2);
    }

    #[test]
    fn keys_by_hand() {
        let key =
            |p, p_half, updates| Key { dst: priolane_core::ids::HostId(0), class: 0, p, p_half, updates };
        let keys = Keys::of(&[key(0.1, 0.5, 300), key(1.9, 1.8, 100), key(1.0, 1.0, 200)]);
        assert_eq!(
            (keys.count, keys.with_200_updates, keys.fewest_updates, keys.median_updates),
            (3, 2, 100, 200)
        );
        assert_eq!((keys.p_min, keys.p_median, keys.p_max, keys.largest_drift), (0.1, 1.0, 1.9, 0.4));
    }
}

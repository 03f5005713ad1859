//! The part of the error probability that each look at the claims of a directory may spend.
//!
//! Whoever judges the same claims again with more seeds, until they are decided, has several chances of a false
//! verdict. The probability of even one false verdict over all looks is at most the sum of what each look spends
//! (Bonferroni), whenever the looks end. A look spends
//!
//! - of `n` looks that are planned from the first one on, an equal share of what earlier looks have left;
//! - otherwise four fifths of what earlier looks have left, so that seeds can be added later without a plan.
//!
//! Judging the same runs again is the same look, and spends nothing. The same seeds with a longer window, or at other
//! points, are other runs.

use std::collections::BTreeSet;

use priolane_results::digest::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A look at the claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The seeds whose runs were judged; empty if they are not known.
    pub seeds: Vec<u64>,
    /// SHA-256 over the ids of these runs, in hexadecimal digits; empty if they are not known.
    pub runs: String,
    /// The part of the error probability that it spends, from 0 to 1.
    pub share: f64,
}

/// The looks at the claims of a directory, so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Looks {
    /// Number of looks that are planned, at least 1.
    pub planned: u32,
    /// The looks that were made, in order.
    pub earlier: Vec<Look>,
}

/// The part of what is left that a look without a plan spends.
const UNPLANNED: f64 = 0.8;

impl Looks {
    /// Returns the first look, the only one that is planned.
    pub fn one() -> Self {
        Self { planned: 1, earlier: Vec::new() }
    }

    /// Returns what the first of `planned` looks spends of the error probability, from 0 to 1; four fifths if it is the
    /// only one, which no plan follows.
    pub fn first_share(planned: u32) -> f64 {
        let (looks, place) = Self { planned, earlier: Vec::new() }.with(&[], "");
        looks[place].share
    }

    /// Returns all looks after one at the runs of `seeds` whose ids have the digest `runs`, and the place of that look.
    pub(super) fn with(&self, seeds: &[u64], runs: &str) -> (Vec<Look>, usize) {
        let set = |seeds: &[u64]| seeds.iter().copied().collect::<BTreeSet<u64>>();
        let mut looks = self.earlier.clone();
        let is_same = |look: &Look| set(&look.seeds) == set(seeds) && look.runs == runs;
        if let Some(place) = looks.iter().position(is_same) {
            return (looks, place);
        }
        let spent: f64 = looks.iter().map(|look| look.share).sum();
        let left = (1.0 - spent).max(0.0);
        let to_come = (self.planned as usize).saturating_sub(looks.len());
        let share = if to_come > 1 { left / to_come as f64 } else { UNPLANNED * left };
        looks.push(Look { seeds: seeds.to_vec(), runs: runs.to_owned(), share });
        let place = looks.len() - 1;
        (looks, place)
    }
}

/// Returns the digest by which a look knows its runs: SHA-256 over their ids, in any order.
pub(super) fn digest_of<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let sorted: BTreeSet<&str> = ids.collect();
    let mut hash = Sha256::new();
    for id in sorted {
        hash.update(id.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shares of looks with 1, 2, 3, ... seeds.
    fn shares(planned: u32, count: u64) -> Vec<f64> {
        let mut looks = Looks { planned, earlier: Vec::new() };
        for seeds in 1..=count {
            (looks.earlier, _) = looks.with(&(1..=seeds).collect::<Vec<u64>>(), "some");
        }
        looks.earlier.iter().map(|look| look.share).collect()
    }

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let all = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(all, "{found:?} is not {expected:?}");
    }

    #[test]
    fn a_look_without_a_plan_spends_four_fifths_of_what_is_left() {
        near(&shares(1, 4), &[0.8, 0.16, 0.032, 0.0064]);
    }

    #[test]
    fn planned_looks_have_equal_shares_and_what_follows_them_a_part_of_the_rest() {
        near(&shares(4, 5), &[0.25, 0.25, 0.25, 0.2, 0.04]);
    }

    #[test]
    fn no_number_of_looks_spends_more_than_there_is() {
        for planned in [1, 2, 6, 40] {
            assert!(shares(planned, 60).iter().sum::<f64>() <= 1.0 + 1e-12, "{planned}");
        }
    }

    fn look(seeds: &[u64], runs: &str) -> Look {
        Look { seeds: seeds.to_vec(), runs: runs.to_owned(), share: 0.8 }
    }

    #[test]
    fn the_same_seeds_are_the_same_look_in_any_order() {
        let looks = Looks { planned: 1, earlier: vec![look(&[1, 2, 3], "some")] };
        assert_eq!(looks.with(&[3, 1, 2], "some"), (looks.earlier.clone(), 0));
        let (after, place) = looks.with(&[1, 2], "some");
        assert_eq!((after.len(), place), (2, 1));
    }

    #[test]
    fn the_same_seeds_of_other_runs_are_another_look() {
        let looks = Looks { planned: 1, earlier: vec![look(&[1, 2, 3], "4 ms")] };
        let (after, place) = looks.with(&[1, 2, 3], "8 ms");
        assert_eq!((after.len(), place), (2, 1));
        near(&[after[place].share], &[0.16]);
        let of = |ids: &[&'static str]| digest_of(ids.iter().copied());
        assert_eq!(of(&["a", "b"]), of(&["b", "a"]));
        assert!(of(&["a", "b"]) != of(&["ab"]) && of(&["a"]) != of(&["a", "b"]));
    }

    #[test]
    fn looks_before_a_plan_count_against_it() {
        let looks = Looks { planned: 3, earlier: vec![look(&[1], "some")] };
        let (after, place) = looks.with(&[1, 2], "some");
        near(&[after[place].share], &[0.1]);
    }
}

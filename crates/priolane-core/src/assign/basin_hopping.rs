//! Basin hopping over the cumulative masses of levels, as PIAS (ToN 2017) and its reimplementations search, on
//! [`PiasForm::Normalised`].
//!
//! ```text
//! start    theta = 0.75, then half of the rest at each level, the last level gets the rest
//! descent  for step = 1/8, 1/16 .. 2^-20: move each cut of the cumulative masses by +-step between its
//!          neighbours while that lowers the cost
//! hop      move every cut by up to +-1/4 uniformly, sort the cuts; descent; the next hop starts from the result
//!          with probability min(1, exp((old - new) / (T old))), T = 0.05
//! end      after 60 hops: the best thresholds found
//! ```
//!
//! Thresholds are `F^-1` of the cuts in whole bytes. The descent is our own pattern search, while SciPy's routine uses
//! L-BFGS-B: the cost has kinks at every row of a table, where it has no gradient. Hops use an RNG stream with a fixed
//! key, so that the same sizes, load and levels yield the same thresholds. The search may end in a local minimum.

use super::pias_cost::{PiasForm, pias_cost};
use super::solver::{SolverError, SolverInput, ThresholdSolver};
use crate::keys::Keys;
use crate::part::Part;
use crate::rng::{Purpose, Stream};
use crate::sizes::{SizeDistribution, whole_bytes};

const HOPS: u32 = 60;

/// Maximum distance of a hop, per cut.
const HOP: f64 = 0.25;

/// Relative increase of the cost that a hop accepts with probability 1/e.
const TEMPERATURE: f64 = 0.05;

const FIRST_STEP: f64 = 0.125;
const LAST_STEP: f64 = 1.0 / (1u32 << 20) as f64;

/// The solver `basin_hopping`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Keys, Part)]
#[part(
    name = "basin_hopping",
    summary = "minimizes the cost of PIAS by basin hopping, a random search",
    source = "PIAS (ToN 2017); docs/assumptions.md#pias-cost"
)]
pub struct BasinHopping;

impl ThresholdSolver for BasinHopping {
    fn solve(&self, question: &SolverInput<'_>) -> Result<Vec<u64>, SolverError> {
        Ok(basin_hopping(question.sizes, question.load, question.levels))
    }
}

/// Returns the `levels - 1` thresholds that the search finds, in bytes, non-decreasing; empty for 0 or 1 level. `load`
/// is in (0, 1).
pub fn basin_hopping(sizes: &SizeDistribution, load: f64, levels: u8) -> Vec<u64> {
    if levels < 2 {
        return Vec::new();
    }
    let search = Search { sizes, load };
    let mut draw = Stream::new(0, Purpose::Search, u64::from(levels));
    let mut here = search.descend(first_cuts(levels));
    let mut best = here.clone();
    for _ in 0..HOPS {
        let hop = |cut: &f64| (cut + HOP * (2.0 * draw.uniform() - 1.0)).clamp(0.0, 1.0);
        let mut cuts: Vec<f64> = here.cuts.iter().map(hop).collect();
        cuts.sort_by(f64::total_cmp);
        let there = search.descend(cuts);
        if there.cost < best.cost {
            best = there.clone();
        }
        let rise = (there.cost - here.cost) / (TEMPERATURE * here.cost);
        if draw.chance(libm::exp(-rise)) {
            here = there;
        }
    }
    search.thresholds(&best.cuts)
}

/// Returns the initial cumulative masses: 3/4, then half of the rest.
fn first_cuts(levels: u8) -> Vec<f64> {
    let mut rest = 0.25;
    let cut = |level| {
        if level > 1 {
            rest *= 0.5;
        }
        1.0 - rest
    };
    (1..levels).map(cut).collect()
}

#[derive(Clone)]
struct Minimum {
    cuts: Vec<f64>,
    cost: f64,
}

struct Search<'a> {
    sizes: &'a SizeDistribution,
    load: f64,
}

impl Search<'_> {
    fn thresholds(&self, cuts: &[f64]) -> Vec<u64> {
        cuts.iter().map(|&cut| whole_bytes(self.sizes.quantile(cut))).collect()
    }

    fn cost(&self, cuts: &[f64]) -> f64 {
        pias_cost(self.sizes, &self.thresholds(cuts), self.load, PiasForm::Normalised)
    }

    /// Descends from `cuts` to a local minimum.
    fn descend(&self, mut cuts: Vec<f64>) -> Minimum {
        let mut least = self.cost(&cuts);
        let mut step = FIRST_STEP;
        while step >= LAST_STEP {
            let before = least;
            for level in 0..cuts.len() {
                for change in [step, -step] {
                    self.slide(&mut cuts, &mut least, level, change);
                }
            }
            if least == before {
                step *= 0.5;
            }
        }
        Minimum { cuts, cost: least }
    }

    /// Moves one cut by `change` as long as that lowers the cost.
    fn slide(&self, cuts: &mut [f64], least: &mut f64, level: usize, change: f64) {
        loop {
            let low = level.checked_sub(1).map_or(0.0, |below| cuts[below]);
            let high = cuts.get(level + 1).copied().unwrap_or(1.0);
            let old = cuts[level];
            cuts[level] = (old + change).clamp(low, high);
            let cost = self.cost(cuts);
            if cost >= *least {
                cuts[level] = old;
                return;
            }
            *least = cost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::byte_share::tests::{data_mining, web_search};
    use crate::assign::equal_split;

    fn cost(sizes: &SizeDistribution, thresholds: &[u64], load: f64) -> f64 {
        pias_cost(sizes, thresholds, load, PiasForm::Normalised)
    }

    #[test]
    fn the_start_is_three_quarters_and_halves() {
        assert_eq!(first_cuts(4), [0.75, 0.875, 0.9375]);
    }

    #[test]
    fn two_levels_reach_the_minimum_of_a_brute_force_search() {
        for sizes in [web_search(), data_mining()] {
            for load in [0.5, 0.8] {
                let found = cost(&sizes, &basin_hopping(&sizes, load, 2), load);
                let grid = (1..=10_000).map(|i| [sizes.quantile(f64::from(i) / 10_000.0).round() as u64]);
                let brute = grid.map(|w| cost(&sizes, &w, load)).fold(f64::INFINITY, f64::min);
                assert!(found <= brute * (1.0 + 1e-4), "{load}: {found} {brute}");
            }
        }
    }

    #[test]
    fn it_beats_its_start_and_equal_split() {
        for sizes in [web_search(), data_mining()] {
            for levels in [2, 3, 5, 8] {
                let found = basin_hopping(&sizes, 0.8, levels);
                assert_eq!(found.len(), usize::from(levels) - 1);
                assert!(found.is_sorted());
                let search = Search { sizes: &sizes, load: 0.8 };
                let least = cost(&sizes, &found, 0.8);
                assert!(least <= search.cost(&first_cuts(levels)));
                assert!(least <= search.descend(first_cuts(levels)).cost);
                assert!(least <= cost(&sizes, &equal_split(&sizes, levels), 0.8));
            }
        }
    }

    #[test]
    fn the_same_question_has_the_same_answer() {
        assert_eq!(basin_hopping(&web_search(), 0.7, 4), basin_hopping(&web_search(), 0.7, 4));
        assert_eq!(basin_hopping(&web_search(), 0.7, 1), Vec::<u64>::new());
    }
}

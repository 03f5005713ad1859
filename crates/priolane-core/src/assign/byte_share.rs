//! Mean completion time of demotion thresholds modelled as a series of queues, each loaded by its share of the bytes,
//! and the two-level threshold that minimises it (OPT-2, the controller of NOS2 §IV-B).
//!
//! PIAS models level `l` as a stage that every flow longer than `w_{l-1}` passes. It is served by the capacity that
//! the stages above leave. With the exact share of bytes per stage, service rate 1 and load `rho`:
//!
//! ```text
//! lambda_m = rho * Int_{w_{m-1}}^{w_m} (1 - F(x)) dx / E[X]        w_0 = 0, w_N = infinite
//! T_l      = 1 / (1 - sum_{m <= l} lambda_m)
//! cost     = sum_l (1 - F(w_{l-1})) T_l,   the first level's weight being 1
//! ```
//!
//! The papers print other shares, none of which yields the published tables (docs/assumptions.md#opt2-byte-share).
//! Every stage costs its flows at least 1. Under this cost eight levels can therefore be worse than two, and the
//! published tables of eight levels do not minimise it.

use super::solver::{SolverError, SolverInput, ThresholdSolver};
use crate::keys::Keys;
use crate::part::Part;
use crate::sizes::{Interpolation, SizeDistribution};

/// Maximum number of parts per segment that are searched separately: the cost may have several minima in a segment.
const MOST_PARTS: usize = 64;

/// Approximate total number of parts, so that a table with many rows is not divided much further.
const ALL_PARTS: usize = 4096;

/// Steps of golden-section search per part. Each leaves 0.618 of the interval; 64 leave 4e-14.
const STEPS: u32 = 64;

/// (sqrt(5) - 1) / 2.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Returns the mean completion time of flows under `thresholds` (bytes, non-decreasing), in units of the mean service
/// time of a stage. `load` is in [0, 1). Infinite if a stage has no capacity left.
pub fn cost(sizes: &SizeDistribution, thresholds: &[u64], load: f64) -> f64 {
    let mean = sizes.mean();
    let ends = thresholds.iter().map(|&w| w as f64).chain([f64::INFINITY]);
    let (mut visitors, mut total) = (1.0, 0.0);
    for end in ends {
        let left = 1.0 - load * sizes.truncated_mean(end) / mean;
        if left <= 0.0 {
            return f64::INFINITY;
        }
        total += visitors / left;
        visitors = 1.0 - sizes.cdf(end);
    }
    total
}

/// The solver `opt2`: [`Opt`](super::Opt) with two levels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Keys, Part)]
#[part(
    name = "opt2",
    summary = "minimizes the mean completion time of two queues in a row, by their bytes",
    source = "NOS2 §IV-B; docs/assumptions.md#opt2-byte-share"
)]
pub struct Opt2;

impl ThresholdSolver for Opt2 {
    fn solve(&self, question: &SolverInput<'_>) -> Result<Vec<u64>, SolverError> {
        Ok(vec![opt2(question.sizes, question.load)])
    }

    fn levels(&self) -> Option<u8> {
        Some(2)
    }
}

/// Returns the threshold in bytes, at least 1, that minimises [`cost`] for two levels; the smallest of equal optima.
///
/// Tries all rows of the table, and golden-section search between rows, where the cost is smooth. If all mass is on
/// rows, no size between two rows is better than the lower one. `load` is in (0, 1).
pub fn opt2(sizes: &SizeDistribution, load: f64) -> u64 {
    if sizes.interpolation() == Interpolation::Step {
        return opt2_of_rows(sizes, load);
    }
    let smooth = |threshold: f64| {
        let upper = 1.0 - load * sizes.truncated_mean(threshold) / sizes.mean();
        1.0 / upper + (1.0 - sizes.cdf(threshold)) / (1.0 - load)
    };
    let mut best = Best { threshold: 1, cost: cost(sizes, &[1], load) };
    let parts = (ALL_PARTS / sizes.points().len()).clamp(1, MOST_PARTS);
    for segment in sizes.segments() {
        best.try_around(sizes, load, segment.low);
        best.try_around(sizes, load, segment.high);
        if segment.high > segment.low {
            let width = (segment.high - segment.low) / parts as f64;
            for part in 0..parts {
                let start = segment.low + width * part as f64;
                best.try_around(sizes, load, golden_section(&smooth, start, width));
            }
        }
    }
    best.threshold
}

/// Computes [`opt2`] in one pass over the rows, of which recorded flows may have a million.
fn opt2_of_rows(sizes: &SizeDistribution, load: f64) -> u64 {
    let mut best = Best { threshold: 1, cost: cost(sizes, &[1], load) };
    let (per_mean, below) = (load / sizes.mean(), 1.0 / (1.0 - load));
    for row in sizes.rows() {
        let threshold = row.bytes as u64;
        if threshold as f64 == row.bytes && threshold > 0 {
            best.offer(threshold, 1.0 / (1.0 - per_mean * row.truncated_mean) + (1.0 - row.cdf) * below);
        } else {
            best.try_around(sizes, load, row.bytes);
        }
    }
    best.threshold
}

struct Best {
    threshold: u64,
    cost: f64,
}

impl Best {
    /// Tries the integers on both sides of `threshold`.
    fn try_around(&mut self, sizes: &SizeDistribution, load: f64, threshold: f64) {
        for threshold in [threshold.floor(), threshold.ceil()].map(|w| (w as u64).max(1)) {
            self.offer(threshold, cost(sizes, &[threshold], load));
        }
    }

    fn offer(&mut self, threshold: u64, cost: f64) {
        if cost < self.cost || (cost == self.cost && threshold < self.threshold) {
            *self = Self { threshold, cost };
        }
    }
}

/// Returns the minimum of `f` in `[low, low + width]`, assuming a single one.
pub(super) fn golden_section(f: &dyn Fn(f64) -> f64, mut low: f64, mut width: f64) -> f64 {
    let (mut a, mut b) = (low + width * (1.0 - GOLDEN), low + width * GOLDEN);
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..STEPS {
        width *= GOLDEN;
        if at_a <= at_b {
            (b, at_b) = (a, at_a);
            a = low + width * (1.0 - GOLDEN);
            at_a = f(a);
        } else {
            low = a;
            (a, at_a) = (b, at_b);
            b = low + width * GOLDEN;
            at_b = f(b);
        }
    }
    0.5 * (a + b)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::assign::equal_split;
    use crate::assign::pias_published::pias_published;
    use crate::sizes::Point;

    const LOADS: [f64; 4] = [0.5, 0.6, 0.7, 0.8];

    fn packets(rows: &[(f64, f64)]) -> SizeDistribution {
        let points = rows.iter().map(|&(packets, cdf)| Point { bytes: packets * 1460.0, cdf }).collect();
        SizeDistribution::new(points, Interpolation::Linear).unwrap()
    }

    /// Web search in packets of 1460 B (DCTCP, SIGCOMM 2010).
    pub(in crate::assign) fn web_search() -> SizeDistribution {
        let low = [(6.0, 0.0), (6.0, 0.15), (13.0, 0.2), (19.0, 0.3), (33.0, 0.4), (53.0, 0.53)];
        let high = [(133.0, 0.6), (667.0, 0.7), (1333.0, 0.8), (3333.0, 0.9), (6667.0, 0.97), (20000.0, 1.0)];
        packets(&[low, high].concat())
    }

    /// Data mining in packets of 1460 B (VL2, SIGCOMM 2009).
    pub(in crate::assign) fn data_mining() -> SizeDistribution {
        let low = [(1.0, 0.0), (1.0, 0.5), (2.0, 0.6), (3.0, 0.7), (7.0, 0.8), (267.0, 0.9)];
        let high = [(2107.0, 0.95), (66_667.0, 0.99), (666_667.0, 1.0)];
        packets(&[&low[..], &high[..]].concat())
    }

    #[test]
    fn opt2_sits_on_the_known_kinks() {
        for load in LOADS {
            assert_eq!(opt2(&web_search(), load), 1333 * 1460, "F = .80 at load {load}");
            assert_eq!(opt2(&data_mining(), load), 2107 * 1460, "F = .95 at load {load}");
        }
    }

    #[test]
    fn opt2_is_the_minimum_of_a_brute_force_search() {
        let smooth = packets(&[(0.0, 0.0), (10.0, 0.5), (1000.0, 1.0)]);
        let step = SizeDistribution::new(web_search().points().to_vec(), Interpolation::Step).unwrap();
        for sizes in [web_search(), data_mining(), smooth, step] {
            for load in [0.05, 0.3, 0.5, 0.8, 0.95, 0.99] {
                let found = cost(&sizes, &[opt2(&sizes, load)], load);
                let grid = (1..=10_000).map(|i| sizes.max() * f64::from(i) / 10_000.0);
                let fine = (1..=10_000).map(|i| sizes.quantile(f64::from(i) / 10_000.0));
                let brute = grid
                    .chain(fine)
                    .map(|w| cost(&sizes, &[w.round() as u64], load))
                    .fold(f64::INFINITY, f64::min);
                assert!(found <= brute * (1.0 + 1e-12), "{load}: {found} > {brute}");
                assert!(found >= brute * (1.0 - 1e-3), "{load}: {found} far below {brute}");
            }
        }
    }

    #[test]
    fn opt2_costs_no_more_than_other_two_level_splits_and_longer_ladders() {
        for (name, sizes) in [("web_search", web_search()), ("data_mining", data_mining())] {
            for load in LOADS {
                let best = cost(&sizes, &[opt2(&sizes, load)], load);
                for levels in 2..=8 {
                    assert!(
                        best <= cost(&sizes, &equal_split(&sizes, levels), load),
                        "{name} {load} {levels}"
                    );
                }
                assert!(best <= cost(&sizes, &pias_published(name, load).unwrap(), load), "{name} {load}");
            }
        }
    }

    #[test]
    fn costs_of_known_ladders() {
        // Web search at load 0.8, summed segment by segment in an independent script.
        let sizes = web_search();
        let at = |thresholds: &[u64]| (cost(&sizes, thresholds, 0.8) * 1e4).round() / 1e4;
        assert_eq!(at(&pias_published("web_search", 0.8).unwrap()), 3.8055);
        assert_eq!(at(&equal_split(&sizes, 8)), 5.4043);
        assert_eq!(at(&[1331 * 1460, 6669 * 1460]), 2.1617);
        assert_eq!(at(&[1333 * 1460]), 2.4234);
        // One level is an M/M/1 queue: 1 / (1 - rho).
        assert!((cost(&sizes, &[], 0.8) - 5.0).abs() < 1e-12);
        // A threshold at the largest size leaves no flow for the second level.
        assert!((cost(&sizes, &[sizes.max() as u64], 0.8) - 5.0).abs() < 1e-12);
        assert_eq!(cost(&sizes, &[1000], 1.0), f64::INFINITY);
    }

    #[test]
    fn a_table_of_very_many_rows_is_searched_too() {
        let coarse = web_search();
        let row = |i: u32| {
            let cdf = f64::from(i) / 20_000.0;
            Point { bytes: coarse.quantile(cdf), cdf }
        };
        let fine = SizeDistribution::new((1..=20_000).map(row).collect(), Interpolation::Linear).unwrap();
        let (found, want) = (opt2(&fine, 0.8), opt2(&coarse, 0.8));
        assert!(found.abs_diff(want) < 2, "{found} {want}");
    }

    #[test]
    fn cost_does_not_depend_on_the_unit_of_size() {
        for factor in [4.0, 16.0, 1000.0] {
            let sizes = web_search();
            let scaled = sizes.scaled(factor).unwrap();
            for load in LOADS {
                let thresholds = equal_split(&sizes, 5);
                let larger: Vec<u64> = thresholds.iter().map(|w| w * factor as u64).collect();
                let (a, b) = (cost(&sizes, &thresholds, load), cost(&scaled, &larger, load));
                assert!((a - b).abs() < 1e-9 * a, "{a} {b}");
                assert_eq!(opt2(&scaled, load), opt2(&sizes, load) * factor as u64);
            }
        }
    }
}

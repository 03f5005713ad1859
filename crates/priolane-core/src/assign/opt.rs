//! OPT-N: the thresholds of any number of levels that minimise [`byte_share::cost`].
//!
//! With `G = 1 - F`, `R(w) = 1 - rho E[min(X, w)] / E[X]`, `w_0 = 0` and `w_N` infinite, the cost is a chain:
//!
//! ```text
//! cost   = sum_l G(w_{l-1}) / R(w_l)                     l = 1 .. N,  G(w_0) = 1,  R(w_N) = 1 - rho
//! D_1(w) = 1 / R(w)
//! D_l(w) = min over v <= w of  D_{l-1}(v) + G(v) / R(w)
//! best   = min over w of  D_{N-1}(w) + G(w) / (1 - rho)
//! ```
//!
//! 1. Candidates: the rows of the table, and for linear tables logarithmically spaced points between them.
//! 2. Dynamic programming over the candidates (docs/assumptions.md#opt-levels). For a fixed `v`, `D_{l-1}(v) + G(v) x`
//!    is a line in `x = 1/R(w)`. Slopes fall and queries rise along the candidates, so the lower envelope takes one
//!    pass per level and yields the global optimum among the candidates, independent of a starting point.
//! 3. Coordinate descent, for linear tables: with its neighbours fixed, `w_l` minimises
//!    `G(w_{l-1}) / R(w) + G(w) / R(w_{l+1})`. Each local minimum of this on the candidates is refined by
//!    golden-section search. Sweeps end when none improves.
//!
//! If all mass is on rows (`Step`, recorded flows), `G` is constant and `1/R` rises between rows, so step 2 is exact
//! and step 3 is skipped. A level costs its flows at least 1. If no further level improves the cost, thresholds are
//! set to the largest size and the levels above stay empty.

use super::byte_share::{cost, golden_section, opt2};
use super::solver::{SolverError, SolverInput, ThresholdSolver};
use crate::keys::Keys;
use crate::part::Part;
use crate::sizes::{Interpolation, SizeDistribution};

/// Logarithmically spaced points of a linear table: at most 0.5 % apart on tables from 1 B to 1 GB.
const LOGARITHMIC: usize = 4096;

/// Maximum number of local minima refined per coordinate, the lowest first: tables with many rows have many.
const VALLEYS: usize = 32;

/// Maximum sweeps of the descent; rarely more than ten are needed.
const SWEEPS: usize = 100;

/// The solver `opt`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Keys, Part)]
#[part(
    name = "opt",
    summary = "minimizes the mean completion time of any number of queues in a row, by their bytes",
    source = "docs/thresholds.md#opt"
)]
pub struct Opt;

impl ThresholdSolver for Opt {
    fn solve(&self, question: &SolverInput<'_>) -> Result<Vec<u64>, SolverError> {
        let SolverInput { sizes, load, levels, .. } = *question;
        // With two levels, the smallest of equal optima.
        Ok(if levels == 2 { vec![opt2(sizes, load)] } else { opt(sizes, load, levels) })
    }
}

/// Returns the `levels - 1` thresholds with the least [`cost`] that the search finds, in bytes, non-decreasing.
///
/// `levels` is 1 to 16, `load` in (0, 1). Empty for 0 or 1 level. Thresholds at the largest size mean that fewer
/// levels suffice.
pub fn opt(sizes: &SizeDistribution, load: f64, levels: u8) -> Vec<u64> {
    let thresholds = usize::from(levels).saturating_sub(1);
    if thresholds == 0 {
        return Vec::new();
    }
    let candidates = Candidates::new(sizes, load);
    let mut found = candidates.best_ladder(thresholds);
    if sizes.interpolation() == Interpolation::Linear {
        candidates.descend(&mut found);
    }
    found
}

/// A candidate threshold with the terms that the cost needs.
#[derive(Clone, Copy)]
struct Candidate {
    threshold: u64,
    /// `1 - F(w)`: the fraction of flows that continue.
    beyond: f64,
    /// `1 / R(w)`: the time in the stage that ends here.
    stage: f64,
}

struct Candidates<'a> {
    sizes: &'a SizeDistribution,
    load: f64,
    all: Vec<Candidate>,
}

impl<'a> Candidates<'a> {
    fn new(sizes: &'a SizeDistribution, load: f64) -> Self {
        let mut all = vec![candidate(sizes, load, 1)];
        for row in sizes.rows() {
            let (low, high) = (row.bytes.floor() as u64, row.bytes.ceil() as u64);
            if low == high && low > 0 {
                let stage = 1.0 / (1.0 - load * row.truncated_mean / sizes.mean());
                all.push(Candidate { threshold: low, beyond: 1.0 - row.cdf, stage });
            } else {
                all.extend([low, high].map(|w| candidate(sizes, load, w.max(1))));
            }
        }
        if sizes.interpolation() == Interpolation::Linear {
            let step = libm::log(sizes.max()) / LOGARITHMIC as f64;
            let between = (1..LOGARITHMIC).map(|i| libm::exp(step * i as f64) as u64);
            all.extend(between.map(|w| candidate(sizes, load, w.max(1))));
        }
        all.sort_by_key(|c| c.threshold);
        all.dedup_by_key(|c| c.threshold);
        Self { sizes, load, all }
    }

    /// Returns the time in the last stage, which depends only on the load.
    fn last_stage(&self) -> f64 {
        1.0 / (1.0 - self.load)
    }

    /// Returns the best `thresholds` of the candidates (step 2).
    fn best_ladder(&self, thresholds: usize) -> Vec<u64> {
        let mut costs: Vec<f64> = self.all.iter().map(|c| c.stage).collect();
        let mut before = Vec::with_capacity(thresholds - 1);
        for _ in 1..thresholds {
            before.push(self.one_more(&mut costs));
        }
        let total = |i: usize| costs[i] + self.all[i].beyond * self.last_stage();
        let mut at = (0..self.all.len()).fold(0, |best, i| if total(i) < total(best) { i } else { best });
        let mut found = vec![self.all[at].threshold];
        for level in before.iter().rev() {
            at = level[at] as usize;
            found.push(self.all[at].threshold);
        }
        found.reverse();
        found
    }

    /// Replaces the costs of sequences that end at each candidate by those with one more threshold. Returns the
    /// predecessor of each candidate.
    fn one_more(&self, costs: &mut [f64]) -> Vec<u32> {
        let old = costs.to_vec();
        let mut hull = Hull::default();
        let mut before = Vec::with_capacity(self.all.len());
        for (i, candidate) in self.all.iter().enumerate() {
            hull.add(Line { slope: candidate.beyond, start: old[i], of: i as u32 });
            let best = hull.lowest(candidate.stage);
            costs[i] = best.at(candidate.stage);
            before.push(best.of);
        }
        before
    }

    /// Runs coordinate descent from `ladder` (step 3).
    fn descend(&self, ladder: &mut [u64]) {
        let mut least = cost(self.sizes, ladder, self.load);
        for _ in 0..SWEEPS {
            let start = least;
            for level in 0..ladder.len() {
                let old = ladder[level];
                ladder[level] = self.coordinate(ladder, level);
                let now = cost(self.sizes, ladder, self.load);
                if now < least { least = now } else { ladder[level] = old }
            }
            if least == start {
                return;
            }
        }
    }

    /// Returns the best threshold of `level` between its neighbours.
    fn coordinate(&self, ladder: &[u64], level: usize) -> u64 {
        let at = |w: u64| candidate(self.sizes, self.load, w);
        let below = level.checked_sub(1).map(|l| at(ladder[l]));
        let above = ladder.get(level + 1).map(|&w| at(w));
        let low = below.unwrap_or(self.all[0]);
        let high = above.unwrap_or(self.all[self.all.len() - 1]);
        let (visitors, next) =
            (below.map_or(1.0, |c| c.beyond), above.map_or(self.last_stage(), |c| c.stage));
        let value = |c: Candidate| visitors * c.stage + c.beyond * next;
        let smooth = |w: f64| {
            let (beyond, stage) = law(self.sizes, self.load, w);
            visitors * stage + beyond * next
        };
        let from = self.all.partition_point(|c| c.threshold <= low.threshold);
        let to = self.all.partition_point(|c| c.threshold < high.threshold).max(from);
        let range = [&[low], &self.all[from..to], &[high]].concat();
        let mut best = (value(at(ladder[level])), ladder[level]);
        for valley in valleys(&range.iter().map(|&c| value(c)).collect::<Vec<_>>()) {
            let ends = [valley.saturating_sub(1), valley, (valley + 1).min(range.len() - 1)];
            for cell in ends.windows(2) {
                let [start, end] = [cell[0], cell[1]].map(|i| range[i].threshold);
                let found = golden_section(&smooth, start as f64, (end - start) as f64);
                for w in [found.floor(), found.ceil()].map(|w| (w as u64).clamp(start, end)) {
                    let value = value(at(w));
                    if value < best.0 {
                        best = (value, w);
                    }
                }
            }
        }
        best.1
    }
}

fn candidate(sizes: &SizeDistribution, load: f64, threshold: u64) -> Candidate {
    let (beyond, stage) = law(sizes, load, threshold as f64);
    Candidate { threshold, beyond, stage }
}

/// Returns `G(w)` and `1 / R(w)`.
fn law(sizes: &SizeDistribution, load: f64, w: f64) -> (f64, f64) {
    (1.0 - sizes.cdf(w), 1.0 / (1.0 - load * sizes.truncated_mean(w) / sizes.mean()))
}

/// Returns the local minima of `values`, the lowest first, at most [`VALLEYS`].
fn valleys(values: &[f64]) -> Vec<usize> {
    let higher = |i: usize, than: f64| values.get(i).is_none_or(|&v| v >= than);
    let lowest = |&i: &usize| higher(i.wrapping_sub(1), values[i]) && higher(i + 1, values[i]);
    let mut found: Vec<usize> = (0..values.len()).filter(lowest).collect();
    found.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    found.truncate(VALLEYS);
    found
}

/// A line `start + slope x`: the cost of a sequence that ends at candidate `of` plus that of the next stage.
#[derive(Clone, Copy)]
struct Line {
    slope: f64,
    start: f64,
    of: u32,
}

impl Line {
    fn at(self, x: f64) -> f64 {
        self.start + self.slope * x
    }
}

/// The lower envelope of lines. Lines are added with falling slopes, queries have rising abscissas.
#[derive(Default)]
struct Hull {
    lines: Vec<Line>,
    first: usize,
}

impl Hull {
    fn add(&mut self, line: Line) {
        if let Some(&last) = self.lines.last()
            && last.slope == line.slope
        {
            if last.start <= line.start {
                return;
            }
            self.lines.pop();
        }
        while let [.., a, b] = self.lines[self.first.min(self.lines.len())..] {
            // b is never lowest if a and the new line cross before a and b do.
            if (line.start - a.start) * (a.slope - b.slope) > (b.start - a.start) * (a.slope - line.slope) {
                break;
            }
            self.lines.pop();
        }
        self.lines.push(line);
        self.first = self.first.min(self.lines.len() - 1);
    }

    fn lowest(&mut self, x: f64) -> Line {
        while let Some(next) = self.lines.get(self.first + 1) {
            if next.at(x) > self.lines[self.first].at(x) {
                break;
            }
            self.first += 1;
        }
        self.lines[self.first]
    }
}

#[cfg(test)]
mod tests;

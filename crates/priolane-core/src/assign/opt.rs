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
//! 1. Candidates: the rows of the table, and for linear tables logarithmic points between them.
//! 2. Dynamic programming over the candidates (docs/assumptions.md#opt-levels). For a fixed `v`, `D_{l-1}(v) + G(v) x` is a line in `x = 1/R(w)`;
//!    slopes fall and queries rise along the candidates, so the lower envelope takes one pass a level and gives
//!    the optimum among all ladders of candidates: no start decides which valley is found.
//! 3. Coordinate descent, for linear tables: with its neighbours fixed, `w_l` minimises
//!    `G(w_{l-1}) / R(w) + G(w) / R(w_{l+1})`; each valley of that on the candidates is searched by golden
//!    section. Sweeps end when none improves.
//!
//! Where all mass lies on rows (`Step`, recorded flows), `G` is constant and `1/R` rises between them, so step 2
//! is exact and step 3 is left out. A level that pays costs its visitors at least 1; where none is left that
//! pays, thresholds stand at the largest size and the levels above stay empty.

use super::byte_share::{cost, golden_section, opt2};
use super::solver::{Question, Refusal, ThresholdSolver};
use crate::keys::Keys;
use crate::part::Part;
use crate::sizes::{Interpolation, SizeDistribution};

/// Logarithmic points of a linear table: 0.5 % apart or less on tables from 1 B to 1 GB.
const LOGARITHMIC: usize = 4096;

/// Valleys of a coordinate that are searched, the deepest first: tables of many rows have many.
const VALLEYS: usize = 32;

/// Sweeps of the descent, at most; ten are rarely needed.
const SWEEPS: usize = 100;

/// The solver `opt`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Keys, Part)]
#[part(
    name = "opt",
    summary = "least mean completion time of a row of queues by their bytes",
    source = "docs/thresholds.md#opt"
)]
pub struct Opt;

impl ThresholdSolver for Opt {
    fn solve(&self, question: &Question<'_>) -> Result<Vec<u64>, Refusal> {
        let Question { sizes, load, levels, .. } = *question;
        // Of two levels the smallest of equally good thresholds.
        Ok(if levels == 2 { vec![opt2(sizes, load)] } else { opt(sizes, load, levels) })
    }
}

/// The `levels - 1` thresholds in bytes, non-decreasing, of the least [`cost`] that the search above finds.
///
/// `levels` is 1 to 16, `load` in (0, 1). None for 0 or 1 level. Thresholds at the largest size say that fewer
/// levels are enough.
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

/// What the cost needs to know of a threshold.
#[derive(Clone, Copy)]
struct Candidate {
    threshold: u64,
    /// `1 - F(w)`: who goes on.
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

    /// The time in a last stage: nothing but the load decides it.
    fn last_stage(&self) -> f64 {
        1.0 / (1.0 - self.load)
    }

    /// The best ladder of `thresholds` candidates (step 2).
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

    /// Turns the costs of ladders that end at each candidate into those with one threshold more, and says
    /// which candidate comes before the last.
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

    /// Coordinate descent from `ladder` (step 3).
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

    /// The best threshold of `level` between its neighbours.
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

/// `G(w)` and `1 / R(w)`.
fn law(sizes: &SizeDistribution, load: f64, w: f64) -> (f64, f64) {
    (1.0 - sizes.cdf(w), 1.0 / (1.0 - load * sizes.truncated_mean(w) / sizes.mean()))
}

/// Where `values` has local minima, the least first, at most [`VALLEYS`].
fn valleys(values: &[f64]) -> Vec<usize> {
    let higher = |i: usize, than: f64| values.get(i).is_none_or(|&v| v >= than);
    let lowest = |&i: &usize| higher(i.wrapping_sub(1), values[i]) && higher(i + 1, values[i]);
    let mut found: Vec<usize> = (0..values.len()).filter(lowest).collect();
    found.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    found.truncate(VALLEYS);
    found
}

/// `start + slope x`, the cost so far of a ladder that ends at candidate `of`, and of the stage after it.
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

/// The lower envelope of lines that are added with falling slopes and asked for at rising places.
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

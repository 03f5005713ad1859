//! The number of a claim's points at which it must hold: all of them, or more than half (`most`).
//!
//! A claim that needs k of n points is
//!
//! - *reproduced* if at least k points are. Its p value is that of the partial conjunction "at least k of n", with
//!   Bonferroni's bound: n - k + 1 times the k-th smallest p value (Benjamini and Heller 2008). With k = n this is the largest
//!   p value.
//! - *contradicted* if at least n - k + 1 points are, so that k can no longer hold. Its p value is k times the
//!   (n - k + 1)-th smallest one.

use super::decision::{Direction, Verdict};

/// Number of points at which a claim must hold, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quorum {
    points: usize,
    needed: usize,
}

impl Quorum {
    /// Returns the number for a claim that holds at all of its points.
    pub(super) fn all(points: usize) -> Self {
        Self { points, needed: points }
    }

    /// Returns the number for a claim that holds at more than half of its points.
    pub(super) fn most(points: usize) -> Self {
        Self { points, needed: points / 2 + 1 }
    }

    /// Returns the number of points at which the claim must hold.
    pub(super) fn needed(self) -> usize {
        self.needed
    }

    /// Returns the number of points without which the claim cannot hold.
    pub(super) fn against(self) -> usize {
        self.points + 1 - self.needed
    }

    /// Combines the verdicts of all points.
    pub(super) fn verdict(self, verdicts: impl Iterator<Item = Verdict> + Clone) -> Verdict {
        let count = |of: Verdict| verdicts.clone().filter(|&verdict| verdict == of).count();
        if self.points == 0 {
            Verdict::Incomplete
        } else if count(Verdict::Contradicted) >= self.against() {
            Verdict::Contradicted
        } else if count(Verdict::Reproduced) >= self.needed {
            Verdict::Reproduced
        } else if count(Verdict::Incomplete) > 0 {
            Verdict::Incomplete
        } else {
            Verdict::Undecided
        }
    }

    /// Combines the directions of all points.
    pub(super) fn direction(self, directions: impl Iterator<Item = Direction> + Clone) -> Direction {
        let count = |of: Direction| directions.clone().filter(|&direction| direction == of).count();
        if self.points == 0 {
            Direction::None
        } else if count(Direction::Opposes) >= self.against() {
            Direction::Opposes
        } else if count(Direction::Agrees) >= self.needed {
            Direction::Agrees
        } else {
            Direction::None
        }
    }

    /// Returns the p value of "the claim does not hold", from the p values of "it does not hold at this point".
    pub(super) fn if_outside(self, of_points: Vec<f64>) -> f64 {
        nth_smallest(of_points, self.needed).map_or(1.0, |p| (self.against() as f64 * p).min(1.0))
    }

    /// Returns the p value of "the claim holds", from the p values of "it holds at this point".
    pub(super) fn if_inside(self, of_points: Vec<f64>) -> f64 {
        nth_smallest(of_points, self.against()).map_or(1.0, |p| (self.needed as f64 * p).min(1.0))
    }
}

/// Returns the `n`-th smallest value, counted from 1.
fn nth_smallest(mut values: Vec<f64>, n: usize) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(n.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests;

//! Evaluates all claims of a figure together (multiple testing).
//!
//! A claim that is evaluated by its 95 % intervals alone gets a false verdict with a probability of up to 5 %, or more
//! if any of many comparisons can contradict it. Among the claims of a figure, some verdicts would be false. Here the
//! probability of even one false `reproduced` or `contradicted` in a figure (the family-wise error rate) is at most 5 %
//! under any dependence. Both kinds of verdict are tests:
//!
//! - *reproduced* rejects "some comparison of the claim is outside its band". Its p value is the maximum over the
//!   comparisons (intersection-union, Berger 1982) of the larger of two one-sided p values (Schuirmann 1987).
//! - *contradicted* rejects "all comparisons are within their bands". Its p value is the minimum over the comparisons
//!   times their number (Bonferroni).
//!
//! A claim about most of its points combines the p values of its points as `quorum` says.
//!
//! The p values of each kind are adjusted for the number of claims by Holm's method (1979); each kind has a level of
//! 2.5 %, of which a look at the claims has a share (see `looks`). A claim without a p value counts as one with p = 1.

use super::decision::{Seeds, UndecidedReason, Verdict};
use super::distance::{Distance, SeedRange};
use super::quorum::Quorum;
use super::report::{ClaimReport, PointReport};
use crate::metrics::student::{LEVEL, holm};

/// The evidence for a claim, as p values.
struct Evidence {
    /// p value of "some comparison is outside its band".
    reproduced: f64,
    /// p value of "all comparisons are within their bands".
    contradicted: f64,
}

/// Levels at which the undecided claims would be decided next.
struct Next {
    reproduced: f64,
    contradicted: f64,
}

/// Sets the verdicts of claims that already have those of their own intervals; `share` is the part of the error
/// probability that this look may spend, from 0 to 1.
pub(super) fn judge(claims: &mut [ClaimReport], share: f64) {
    let level = (1.0 - LEVEL) / 2.0 * share;
    let evidence: Vec<Evidence> = claims.iter().map(Evidence::of).collect();
    let corrected = |p: fn(&Evidence) -> f64| holm(&evidence.iter().map(p).collect::<Vec<_>>());
    let reproduced = corrected(|e| e.reproduced);
    let contradicted = corrected(|e| e.contradicted);
    let left = |all: &[f64]| all.iter().filter(|&&p| p > level).count().max(1) as f64;
    let next = Next { reproduced: level / left(&reproduced), contradicted: level / left(&contradicted) };
    for (claim, p) in claims.iter_mut().zip(reproduced.into_iter().zip(contradicted)) {
        settle(claim, p, level);
        if claim.verdict == Verdict::Undecided {
            claim.undecided = reason(claim, &next);
        }
    }
}

/// Sets the verdict of a claim with these adjusted p values.
fn settle(claim: &mut ClaimReport, (reproduced, contradicted): (f64, f64), level: f64) {
    let holds = match claim.alone {
        Verdict::Reproduced => reproduced <= level,
        Verdict::Contradicted => contradicted <= level,
        Verdict::Undecided | Verdict::Incomplete => true,
    };
    claim.verdict = if holds {
        claim.alone
    } else if claim.points.iter().any(|point| point.verdict == Verdict::Incomplete) {
        Verdict::Incomplete
    } else {
        Verdict::Undecided
    };
}

/// Returns why a claim is undecided, with the number of seeds that would decide it among all claims.
fn reason(claim: &ClaimReport, next: &Next) -> Option<UndecidedReason> {
    match &claim.undecided {
        Some(UndecidedReason::Interval(_)) => Some(UndecidedReason::Interval(seeds(claim, next))),
        None => Some(UndecidedReason::Among(seeds(claim, next))),
        Some(other) => Some(other.clone()),
    }
}

/// Returns the number of seeds that would decide a claim: as contradicted if a mean lies outside its band, else as
/// reproduced.
fn seeds(claim: &ClaimReport, next: &Next) -> Seeds {
    if claim.most {
        return seeds_of_most(claim, next);
    }
    let parts: Vec<&Distance> = claim.points.iter().flat_map(distances).flatten().collect();
    let found = if parts.iter().all(|part| part.inside) {
        until_inside(&parts, next.reproduced)
    } else {
        until_outside(&parts, next.contradicted)
    };
    found.map_or(Seeds::TooMany, Seeds::Between)
}

/// Returns the same for a claim about most of its points: as reproduced if the means of enough points lie inside.
fn seeds_of_most(claim: &ClaimReport, next: &Next) -> Seeds {
    let quorum = Quorum::most(claim.points.len());
    let parts = |point: &PointReport| -> Vec<Distance> { distances(point).flatten().cloned().collect() };
    let points: Vec<Vec<Distance>> =
        claim.points.iter().map(parts).filter(|parts| !parts.is_empty()).collect();
    let (inside, outside): (Vec<_>, Vec<_>) =
        points.iter().partition(|parts| parts.iter().all(|part| part.inside));
    let (needed, mut found): (usize, Vec<SeedRange>) = if inside.len() >= quorum.needed() {
        let level = next.reproduced / quorum.against() as f64;
        let each = |parts: &Vec<Distance>| until_inside(&parts.iter().collect::<Vec<_>>(), level);
        (quorum.needed(), inside.into_iter().filter_map(each).collect())
    } else {
        let level = next.contradicted / quorum.needed() as f64;
        let each = |parts: &Vec<Distance>| until_outside(&parts.iter().collect::<Vec<_>>(), level);
        (quorum.against(), outside.into_iter().filter_map(each).collect())
    };
    found.sort_by_key(|range| range.low);
    match found.get(..needed).and_then(|least| least.iter().copied().reduce(SeedRange::most)) {
        Some(range) => Seeds::Between(range),
        None => Seeds::TooMany,
    }
}

/// Returns the number of seeds at which all `parts` would be shown inside their bands.
fn until_inside(parts: &[&Distance], level: f64) -> Option<SeedRange> {
    let all: Option<Vec<SeedRange>> = parts.iter().map(|part| part.seeds(level)).collect();
    all.and_then(|all| all.into_iter().reduce(SeedRange::most))
}

/// Returns the number of seeds at which one of `parts` would be shown outside its band.
fn until_outside(parts: &[&Distance], level: f64) -> Option<SeedRange> {
    let each = level / parts.len() as f64;
    let outside = parts.iter().filter(|part| !part.inside);
    outside.filter_map(|part| part.seeds(each)).reduce(SeedRange::fewest)
}

impl Evidence {
    fn of(claim: &ClaimReport) -> Self {
        if claim.most {
            let quorum = Quorum::most(claim.points.len());
            let of_points: Vec<Self> = claim.points.iter().map(|point| Self::of_points(&[point])).collect();
            return Self {
                reproduced: quorum.if_outside(of_points.iter().map(|point| point.reproduced).collect()),
                contradicted: quorum.if_inside(of_points.iter().map(|point| point.contradicted).collect()),
            };
        }
        Self::of_points(&claim.points.iter().collect::<Vec<_>>())
    }

    /// Returns the evidence for "it holds at all these points".
    fn of_points(points: &[&PointReport]) -> Self {
        let parts: Vec<Option<&Distance>> = points.iter().copied().flat_map(distances).collect();
        let outside = |part: &Option<&Distance>| part.map_or(1.0, Distance::if_outside);
        let inside = |part: &Option<&Distance>| part.map_or(1.0, Distance::if_inside);
        let least = parts.iter().map(inside).fold(1.0, f64::min);
        Self {
            reproduced: parts.iter().map(outside).reduce(f64::max).unwrap_or(1.0),
            contradicted: (parts.len() as f64 * least).min(1.0),
        }
    }
}

/// Returns the distances of a point's comparisons; `None` for those that decide nothing, such as all comparisons of a
/// point with missing runs, with a deviating load or without a steady state.
fn distances(point: &PointReport) -> impl Iterator<Item = Option<&Distance>> {
    let is_unfit = point.undecided.as_ref().is_some_and(UndecidedReason::is_of_runs);
    let is_decided = point.verdict != Verdict::Incomplete && !is_unfit;
    point.contrasts.iter().map(move |contrast| contrast.distance.as_ref().filter(|_| is_decided))
}

#[cfg(test)]
mod tests;

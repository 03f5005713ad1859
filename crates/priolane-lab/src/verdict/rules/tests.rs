use super::*;
use crate::verdict::Verdict;

mod drawn;

fn seeds(values: &[f64]) -> BySeed {
    (1..).zip(values.iter().copied()).collect()
}

fn interval(values: &[f64]) -> Estimate {
    Estimate::arithmetic(values, Nature::Quantity)
}

fn comparison(a: &BySeed, b: &BySeed) -> Comparison {
    super::comparison(a, b, Nature::Quantity)
}

fn trend(along: &[(f64, BySeed)], way: TrendDirection) -> Trend {
    super::trend(along, way, Nature::Quantity)
}

fn outcome_of(decision: Decision) -> (Verdict, Direction) {
    (decision.verdict, decision.direction)
}

#[test]
fn order_is_paired_by_seed() {
    // Seeds differ by a factor of 100, but a is 10 % to 12 % above b in each: an unpaired comparison would not detect
    // it.
    let b = seeds(&[1.0, 10.0, 100.0]);
    let a = seeds(&[1.10, 11.2, 111.0]);
    assert_eq!(outcome_of(judge_order(comparison(&a, &b))), (Verdict::Reproduced, Direction::Agrees));
    assert_eq!(outcome_of(judge_order(comparison(&b, &a))), (Verdict::Contradicted, Direction::Opposes));
}

#[test]
fn order_with_an_interval_across_equality_is_undecided() {
    // ln ratios 0.69, -0.22, 0.41: mean 0.29 > 0, s = 0.47, half-width = 4.303 * 0.47 / sqrt(3) = 1.16.
    let a = seeds(&[2.0, 0.8, 1.5]);
    let b = seeds(&[1.0, 1.0, 1.0]);
    assert_eq!(outcome_of(judge_order(comparison(&a, &b))), (Verdict::Undecided, Direction::None));
}

#[test]
fn a_tie_without_variance_is_no_order() {
    let a = seeds(&[2.0, 2.0, 2.0]);
    assert_eq!(outcome_of(judge_order(comparison(&a, &a))), (Verdict::Contradicted, Direction::None));
    assert_eq!(equal(comparison(&a, &a), 0.1).verdict, Verdict::Reproduced);
}

#[test]
fn one_seed_decides_nothing() {
    let (a, b) = (seeds(&[2.0]), seeds(&[1.0]));
    let published = PublishedNumber { value: 2.0, within: 0.1, scale: Scale::Absolute };
    let along = [(0.5, seeds(&[1.0])), (0.6, seeds(&[2.0]))];
    let undecided = Decision::undecided(UndecidedReason::OneSeed);
    for decision in [
        judge_order(comparison(&a, &b)),
        equal(comparison(&a, &a), 0.1),
        agrees(comparison(&a, &a), 0.1),
        judge_bound(&interval(&[2.0]), OpenRange::above(1.0)),
        published.judge(&interval(&[2.0])),
        trend(&along, TrendDirection::Up).decision,
    ] {
        assert_eq!(decision, undecided);
    }
}

#[test]
fn ratio_of_seeds_is_their_geometric_mean() {
    // Ratios 2 and 8: geometric mean 4.
    let Comparison::Ratio(ratio) = comparison(&seeds(&[2.0, 8.0]), &seeds(&[1.0, 1.0])) else {
        panic!("positive")
    };
    assert!((ratio.mean.unwrap() - 4.0).abs() < 1e-12);
    assert_eq!(ratio.n, 2);
}

#[test]
fn zero_values_are_compared_by_difference() {
    let comparison = comparison(&seeds(&[0.5, 0.6]), &seeds(&[0.0, 0.1]));
    assert!(matches!(comparison, Comparison::Difference(d) if (d.mean.unwrap() - 0.5).abs() < 1e-12));
    assert_eq!(outcome_of(judge_order(comparison)), (Verdict::Reproduced, Direction::Agrees));
    assert_eq!(equal(comparison, 0.1).verdict, Verdict::Contradicted);
    assert_eq!(agrees(comparison, 0.1), Decision::undecided(UndecidedReason::NoRatio));
    let published = PublishedNumber { value: 2.0, within: 0.1, scale: Scale::Relative };
    assert_eq!(published.judge_ratio(comparison), Decision::undecided(UndecidedReason::NoRatio));
    assert_eq!(
        bounded_ratio(comparison, OpenRange::above(1.0)),
        Decision::undecided(UndecidedReason::NoRatio)
    );
}

#[test]
fn equality_needs_the_whole_interval_inside_the_band() {
    let one = seeds(&[1.0; 4]);
    let near = seeds(&[1.01, 1.02, 0.99, 1.0]);
    assert_eq!(equal(comparison(&near, &one), 0.1).verdict, Verdict::Reproduced);
    // Mean ratio about 1.06, s of logs about 0.08, half-width = 3.182 * 0.08 / 2 = 0.13: extends beyond ln 1.1.
    let spread = seeds(&[1.15, 0.97, 1.1, 1.03]);
    assert_eq!(equal(comparison(&spread, &one), 0.1).verdict, Verdict::Undecided);
    let far = seeds(&[1.3, 1.31, 1.29, 1.3]);
    assert_eq!(outcome_of(equal(comparison(&far, &one), 0.1)), (Verdict::Contradicted, Direction::None));
}

#[test]
fn equality_does_not_depend_on_which_comes_first() {
    // 1.095 is inside ±10 % of 1, and so is 1 / 1.095 = 0.913; 1.105 and its inverse 0.905 are both outside.
    for (x, verdict) in [(1.095, Verdict::Reproduced), (1.105, Verdict::Contradicted)] {
        let (a, b) = (seeds(&[x, x]), seeds(&[1.0, 1.0]));
        assert_eq!(equal(comparison(&a, &b), 0.1).verdict, verdict);
        assert_eq!(equal(comparison(&b, &a), 0.1).verdict, verdict);
    }
}

#[test]
fn bounds_are_strict_and_need_the_whole_interval() {
    let above = |values: &[f64]| outcome_of(judge_bound(&interval(values), OpenRange::above(1.0)));
    assert_eq!(above(&[1.2, 1.3, 1.25]), (Verdict::Reproduced, Direction::Agrees));
    assert_eq!(above(&[0.9, 1.5, 1.2]), (Verdict::Undecided, Direction::None));
    // 0.925 ± 12.7 * 0.035 / sqrt(2) extends to 1.24.
    assert_eq!(above(&[0.9, 0.95]), (Verdict::Undecided, Direction::None));
    assert_eq!(above(&[0.9, 0.91, 0.92]), (Verdict::Contradicted, Direction::Opposes));
    assert_eq!(above(&[1.0, 1.0]), (Verdict::Contradicted, Direction::None));
    let below = judge_bound(&interval(&[0.5, 0.51, 0.52]), OpenRange::below(1.0));
    assert_eq!(outcome_of(below), (Verdict::Reproduced, Direction::Agrees));
    let between = OpenRange { above: Some(1.0), below: Some(2.0) };
    let inside = outcome_of(judge_bound(&interval(&[1.5, 1.51, 1.52]), between));
    assert_eq!(inside, (Verdict::Reproduced, Direction::None));
    assert_eq!(outcome_of(judge_bound(&interval(&[2.5, 2.51, 2.52]), between)).0, Verdict::Contradicted);
}

#[test]
fn a_ratio_is_bounded_on_one_side_only() {
    // 30 % better does not violate "at most 19 % above".
    let at_most = OpenRange::below(1.19);
    let (better, worse) = (seeds(&[0.70, 0.71, 0.69]), seeds(&[1.30, 1.31, 1.29]));
    let one = seeds(&[1.0; 3]);
    assert_eq!(bounded_ratio(comparison(&better, &one), at_most).verdict, Verdict::Reproduced);
    assert_eq!(bounded_ratio(comparison(&worse, &one), at_most).verdict, Verdict::Contradicted);
}

#[test]
fn a_ratio_needs_the_whole_interval_within_the_band_around_the_papers_number() {
    // The band is 2.88 to 3.52.
    let published = PublishedNumber { value: 3.2, within: 0.1, scale: Scale::Relative };
    assert_eq!(
        outcome_of(published.judge(&interval(&[3.1, 3.2, 3.2]))),
        (Verdict::Reproduced, Direction::Agrees)
    );
    // 3.13 ± 4.303 * 0.153 / sqrt(3) = [2.75, 3.51] overlaps the band, which is not conclusive.
    assert_eq!(
        outcome_of(published.judge(&interval(&[3.0, 3.1, 3.3]))),
        (Verdict::Undecided, Direction::Agrees)
    );
    // Far off, but on the same side of 1.
    assert_eq!(
        outcome_of(published.judge(&interval(&[1.5, 1.51, 1.52]))),
        (Verdict::Contradicted, Direction::Agrees)
    );
    assert_eq!(
        outcome_of(published.judge(&interval(&[0.5, 0.51, 0.52]))),
        (Verdict::Contradicted, Direction::Opposes)
    );
    let absolute = PublishedNumber { scale: Scale::Absolute, ..published };
    assert_eq!(
        outcome_of(absolute.judge(&interval(&[1.5, 1.51, 1.52]))),
        (Verdict::Contradicted, Direction::None)
    );
    let less = PublishedNumber { value: 0.62, ..published };
    assert_eq!(
        outcome_of(less.judge(&interval(&[0.99, 0.98, 0.985]))),
        (Verdict::Contradicted, Direction::Agrees)
    );
}

#[test]
fn more_seeds_of_the_same_law_never_leave_less_decided() {
    // With three seeds, 1.28 ± 0.6 overlaps 0.62 ± 15 %, although the mean is off by a factor of two on the other side
    // of 1.
    let published = PublishedNumber { value: 0.62, within: 0.15, scale: Scale::Relative };
    let some = [0.98, 1.28, 1.58];
    let many: Vec<f64> = some.iter().cycle().take(12).copied().collect();
    assert_eq!(published.judge(&interval(&some)).verdict, Verdict::Undecided);
    assert_eq!(published.judge(&interval(&many)).verdict, Verdict::Contradicted);
}

#[test]
fn trend_needs_changes_of_one_sign_and_monotone_means() {
    let up = [(0.5, seeds(&[1.0, 10.0])), (0.6, seeds(&[2.0, 20.2])), (0.7, seeds(&[3.0, 30.0]))];
    let found = trend(&up, TrendDirection::Up);
    // Of three equidistant x, the fitted change is that from the first to the last: 3 for both seeds.
    assert!((found.change.mean.unwrap() - 3.0).abs() < 1e-9);
    assert_eq!(outcome_of(found.decision), (Verdict::Reproduced, Direction::Agrees));
    assert_eq!(found.adverse_step, None);
    let down = trend(&up, TrendDirection::Down);
    assert_eq!(outcome_of(down.decision), (Verdict::Contradicted, Direction::Opposes));
    let unsure = [(0.5, seeds(&[1.0, 1.0, 1.0])), (0.6, seeds(&[3.0, 0.9, 1.0]))];
    let found = trend(&unsure, TrendDirection::Up);
    assert_eq!(outcome_of(found.decision), (Verdict::Undecided, Direction::None));
    assert_eq!(found.adverse_step, None);
}

#[test]
fn a_trend_with_a_zero_and_one_of_events_is_one_of_differences() {
    let up = [(0.5, seeds(&[0.0, 0.1])), (0.7, seeds(&[0.3, 0.4]))];
    let found = trend(&up, TrendDirection::Up).change;
    assert_eq!(found.average, Average::Arithmetic);
    assert!((found.mean.unwrap() - 0.3).abs() < 1e-12, "{found:?}");
    let shares = [(0.5, seeds(&[0.2, 0.1])), (0.7, seeds(&[0.3, 0.4]))];
    let found = super::trend(&shares, TrendDirection::Up, Nature::Events).change;
    assert!((found.mean.unwrap() - 0.2).abs() < 1e-12 && found.average == Average::Arithmetic, "{found:?}");
}

#[test]
fn a_step_against_the_trend_contradicts_it_only_beyond_noise() {
    let steps = |second: &[f64]| {
        let along = [(0.5, seeds(&[1.0, 1.1, 1.2])), (0.6, seeds(second)), (0.7, seeds(&[3.0, 3.1, 3.2]))];
        let found = trend(&along, TrendDirection::Up);
        assert_eq!(outcome_of(found.decision), (Verdict::Reproduced, Direction::Agrees));
        found.adverse_step.unwrap()
    };
    // Ratios of 0.9, 0.89 and 0.91: logarithms of mean -0.105399, s = 0.011112, t = -16.43 with two degrees of freedom.
    let sure = steps(&[0.9, 0.979, 1.092]);
    assert_eq!((sure.from, sure.decision.verdict), (0, Verdict::Contradicted));
    assert!((sure.change.mean.unwrap() - libm::exp(-0.105_399)).abs() < 1e-5);
    // One of two steps: the one-sided p value (1 - t / sqrt(2 + t^2)) / 2, twice.
    assert!((sure.decision.distance.unwrap().if_inside() - 2.0 * 0.00184).abs() < 2e-5);
    // Ratios of 0.5, 1.18 and 0.92.
    let unsure = steps(&[0.5, 1.3, 1.1]).decision;
    assert_eq!(outcome_of(unsure.clone()), (Verdict::Undecided, Direction::Agrees));
    assert_eq!(unsure.undecided, Some(UndecidedReason::NotMonotone));
}

#[test]
fn equal_counts_of_few_seeds_decide_nothing() {
    let (none, some) = (seeds(&[0.0; 3]), seeds(&[0.2, 0.1, 0.3]));
    let same = super::comparison(&none, &none, Nature::Events);
    assert_eq!(judge_order(same).undecided, Some(UndecidedReason::SameCount));
    let rare = Estimate::of(&[0.0; 3], Nature::Events);
    assert_eq!(judge_bound(&rare, OpenRange::below(0.1)).undecided, Some(UndecidedReason::SameCount));
    let many = Estimate::of(&[0.0; 6], Nature::Events);
    assert_eq!(judge_bound(&many, OpenRange::below(0.1)).verdict, Verdict::Reproduced);
    // Counts that differ have an interval.
    assert_ne!(
        judge_order(super::comparison(&none, &some, Nature::Events)).undecided,
        Some(UndecidedReason::SameCount)
    );
}

#[test]
fn verdicts_are_spelled_as_in_reports() {
    let all = [Verdict::Reproduced, Verdict::Undecided, Verdict::Incomplete, Verdict::Contradicted];
    assert!(all.is_sorted());
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(text, r#"["reproduced","undecided","incomplete","contradicted"]"#);
}

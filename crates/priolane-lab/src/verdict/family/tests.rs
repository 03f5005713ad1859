use priolane_core::rng::{Purpose, Stream};
use priolane_rounds::rounds;

use super::super::band::Band;
use super::super::decision::Decision;
use super::super::report::ComparisonReport;
use super::super::rules::{BySeed, trend};
use super::super::unfit::Unsteady;
use super::*;
use crate::experiment::{Claim, OpenRange, Source, Test, TrendDirection};
use crate::metrics::estimate::{Estimate, Nature};
use crate::metrics::metric::Unit;

/// Returns a claim with a comparison for each list of values by seed.
fn claim(parts: &[Vec<f64>], band: Band) -> ClaimReport {
    let mut point = PointReport::at(serde_json::Map::new());
    let compared = |values: &Vec<f64>| {
        let value = Estimate::arithmetic(values, Nature::Quantity);
        ComparisonReport::new("a - b".into(), (Unit::One, value), Decision::of(&value, band))
    };
    point.contrasts = parts.iter().map(compared).collect();
    at_one_point(point)
}

/// Returns the claim of which `point` is the only point.
fn at_one_point(mut point: PointReport) -> ClaimReport {
    point.settle(None);
    let claim = Claim::new("§1", "so it is", Source::Paper, Test::Order(Vec::new()));
    ClaimReport::new(&claim, vec![point], Vec::new())
}

fn above_zero() -> Band {
    OpenRange::above(0.0).into()
}

/// Generates normally distributed values (Box and Muller 1958).
struct Normal(Stream);

impl Normal {
    fn draw(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.0.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.0.uniform())
    }

    /// Returns values with mean 0, of which the fraction `part` of the variance comes from `common`.
    fn around_zero(&mut self, common: &[f64], part: f64) -> Vec<f64> {
        common.iter().map(|all| part.sqrt() * all + (1.0 - part).sqrt() * self.draw()).collect()
    }
}

/// Returns four standard deviations above the expected count of `n` events with probability 0.05.
fn most_of(n: u64) -> u64 {
    let n = n as f64;
    (0.05 * n + 4.0 * (n * 0.05 * 0.95).sqrt()) as u64
}

#[test]
fn among_many_claims_of_random_numbers_hardly_a_figure_has_a_false_verdict() {
    let figures = rounds(300, 10_000);
    for (entity, part) in [(0, 0.0), (1, 0.5)] {
        let mut normal = Normal(Stream::new(1, Purpose::Search, entity));
        let (mut false_alone, mut false_among) = (0, 0);
        for _ in 0..figures {
            let common: Vec<f64> = (0..5).map(|_| normal.draw()).collect();
            // The mean 0 is not above 0, and lies within the band from -100 to 0.
            let mut claims: Vec<ClaimReport> =
                (0..10).map(|_| claim(&[normal.around_zero(&common, part)], above_zero())).collect();
            claims.extend((0..10).map(|_| {
                let parts = [normal.around_zero(&common, part), normal.around_zero(&common, part)];
                claim(&parts, Band::closed(-100.0, 0.0))
            }));
            judge(&mut claims, 1.0);
            let is_false = |verdict: fn(&ClaimReport) -> Verdict| {
                claims[..10].iter().any(|claim| verdict(claim) == Verdict::Reproduced)
                    || claims[10..].iter().any(|claim| verdict(claim) == Verdict::Contradicted)
            };
            false_alone += u64::from(is_false(|claim| claim.alone));
            false_among += u64::from(is_false(|claim| claim.verdict));
        }
        assert!(false_among <= most_of(figures), "{false_among} of {figures}, part {part}");
        // Without the correction, far more figures have a false verdict: the test above would fail.
        assert!(false_alone > most_of(figures), "{false_alone} of {figures}, part {part}");
    }
}

#[test]
fn looks_while_seeds_are_added_do_not_add_up_to_false_verdicts() {
    const LOOKS: u32 = 6;
    let figures = rounds(1_000, 40_000);
    let mut normal = Normal(Stream::new(2, Purpose::Search, 0));
    let (mut false_if_ignored, mut false_if_counted) = (0, 0);
    for _ in 0..figures {
        let values: Vec<f64> = (0..3 << (LOOKS - 1)).map(|_| normal.draw()).collect();
        let ever_reproduced = |share: f64| {
            (0..LOOKS).any(|look| {
                let mut claims = [claim(&[values[..3 << look].to_vec()], above_zero())];
                judge(&mut claims, share);
                claims[0].verdict == Verdict::Reproduced
            })
        };
        false_if_ignored += u64::from(ever_reproduced(1.0));
        false_if_counted += u64::from(ever_reproduced(1.0 / f64::from(LOOKS)));
    }
    assert!(false_if_counted <= most_of(figures), "{false_if_counted} of {figures}");
    assert!(false_if_ignored > most_of(figures), "{false_if_ignored} of {figures}");
}

/// Returns the claim that the values grow along x.
fn growing(along: &[(f64, BySeed)]) -> ClaimReport {
    let mut point = PointReport::at(serde_json::Map::new());
    let found = trend(along, TrendDirection::Up, Nature::Quantity);
    let step = found.adverse_step.map(|step| (step.change, step.decision));
    let parts = [Some((found.change, found.decision)), step].into_iter().flatten();
    point.contrasts = parts
        .map(|(value, decision)| ComparisonReport::new("a".into(), (Unit::One, value), decision))
        .collect();
    at_one_point(point)
}

#[test]
fn a_curve_that_saturates_is_hardly_ever_contradicted_by_a_step() {
    const STEPS: u32 = 12;
    let figures = rounds(500, 10_000);
    let mut normal = Normal(Stream::new(3, Purpose::Search, 0));
    let (mut alone, mut among) = (0, 0);
    for _ in 0..figures {
        let level = |x: u32| if x == 0 { -30.0 } else { 0.0 };
        let along: Vec<(f64, BySeed)> = (0..=STEPS)
            .map(|x| (f64::from(x), (1..=8).map(|seed| (seed, level(x) + normal.draw())).collect()))
            .collect();
        let mut claims = [growing(&along)];
        judge(&mut claims, 1.0);
        assert_ne!(claims[0].verdict, Verdict::Incomplete);
        alone += u64::from(claims[0].alone == Verdict::Contradicted);
        among += u64::from(claims[0].verdict == Verdict::Contradicted);
    }
    assert!(among <= most_of(figures), "{among} of {figures}");
    assert!(alone > most_of(figures), "{alone} of {figures}");
}

#[test]
fn one_claim_with_one_bound_is_judged_by_its_interval() {
    // 3 ± 1.9632, as in the tests of intervals.
    let values = [1.0, 2.0, 3.0, 4.0, 5.0];
    for end in [1.03, 1.04, 4.96, 4.97] {
        for band in [OpenRange::above(end), OpenRange::below(end)] {
            let mut claims = [claim(&[values.to_vec()], band.into())];
            judge(&mut claims, 1.0);
            assert_eq!(claims[0].verdict, claims[0].alone, "{band:?}");
        }
    }
}

#[test]
fn a_claim_among_others_needs_more_seeds() {
    // The p value of 3 above 0 with four degrees of freedom is 0.0066: below 0.025, and above 0.025 / 4.
    let some = || claim(&[vec![1.0, 2.0, 3.0, 4.0, 5.0]], above_zero());
    let verdicts = |claims: &mut [ClaimReport]| {
        judge(claims, 1.0);
        claims.iter().map(|claim| claim.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&mut [some(), some(), some()]), [Verdict::Reproduced; 3]);
    let mut four = [some(), some(), some(), some()];
    assert_eq!(verdicts(&mut four), [Verdict::Undecided; 4]);
    assert_eq!(four[0].alone, Verdict::Reproduced);
    // At 0.00625 and n = 6: t = 3 sqrt(6) / 1.5811 = 4.65 with five degrees of freedom, p = 0.0028.
    // At 0.00625 and n = 6: the lower quartile of the mean is 3 - 0.7407 x 0.7071 = 2.476, t = 2.476 sqrt(6) / 1.5811 =
    // 3.84 with five degrees of freedom, p = 0.0061.
    let six = SeedRange { low: 6, high: Some(6) };
    assert_eq!(four[0].undecided, Some(UndecidedReason::Among(Seeds::Between(six))));
    // A claim without variance has p = 0, so the correction for the others does not change.
    let known = claim(&[vec![2.0; 5]], above_zero());
    assert_eq!(verdicts(&mut [some(), some(), known, some()]), [Verdict::Reproduced; 4]);
}

#[test]
fn a_contradiction_by_one_of_many_comparisons_is_corrected_for_their_number() {
    let low = vec![-1.0, -2.0, -3.0, -4.0, -5.0];
    let high = || vec![1000.0, 1000.1, 999.9, 1000.0, 1000.2];
    let mut few = [claim(&[low.clone(), high(), high()], above_zero())];
    judge(&mut few, 1.0);
    assert_eq!(few[0].verdict, Verdict::Contradicted);
    let mut many = [claim(&[low, high(), high(), high()], above_zero())];
    judge(&mut many, 1.0);
    assert_eq!((many[0].alone, many[0].verdict), (Verdict::Contradicted, Verdict::Undecided));
}

#[test]
fn a_point_without_a_steady_state_decides_nothing_about_the_others() {
    // The interval of the values from 1 to 5 ends at 4.9632: with p just below 0.025, the first point contradicts alone.
    let point = |values: Vec<f64>, unfit: Option<Unsteady>| {
        let mut point = claim(&[values], OpenRange::above(4.97).into()).points.remove(0);
        point.settle(unfit.map(UndecidedReason::Unsteady));
        point
    };
    let judged = |unfit: Option<Unsteady>| {
        let points =
            vec![point(vec![1.0, 2.0, 3.0, 4.0, 5.0], None), point(vec![0.1, 0.2, 0.3, 0.15, 0.25], unfit)];
        let mut claims = [ClaimReport { points, ..claim(&[vec![1.0, 2.0, 3.0, 4.0, 5.0]], above_zero()) }];
        claims[0].alone = Verdict::Contradicted;
        judge(&mut claims, 1.0);
        claims[0].verdict
    };
    assert_eq!(judged(None), Verdict::Contradicted);
    assert_eq!(judged(Some(Unsteady::Overload(1.3))), Verdict::Undecided);
}

/// Returns a claim about most of its points, each with one comparison of these values by seed.
fn about_most(points: &[Vec<f64>], band: Band) -> ClaimReport {
    let points = points.iter().map(|values| claim(std::slice::from_ref(values), band).points.remove(0));
    let mut most = Claim::new("§1", "in most cases", Source::Paper, Test::Order(Vec::new()));
    most.most = true;
    ClaimReport::new(&most, points.collect(), Vec::new())
}

#[test]
fn three_of_five_points_are_most_of_them() {
    let high: Vec<f64> = (0..12).map(|i| 10.0 + f64::from(i % 3)).collect();
    let low: Vec<f64> = high.iter().map(|x| -x).collect();
    let verdict = |points: &[&Vec<f64>]| {
        let points: Vec<Vec<f64>> = points.iter().map(|&values| values.clone()).collect();
        let mut claims = [about_most(&points, above_zero())];
        judge(&mut claims, 1.0);
        claims[0].verdict
    };
    assert_eq!(verdict(&[&high, &low, &high, &low, &high]), Verdict::Reproduced);
    assert_eq!(verdict(&[&high, &low, &high, &low, &low]), Verdict::Contradicted);
    assert_eq!(verdict(&[&high, &low, &high, &low]), Verdict::Contradicted);
}

/// The third of five points lies at 0.3 standard deviations: 12 seeds leave it open, and some hundred decide.
#[test]
fn the_point_that_decides_about_most_of_them_says_how_many_seeds_it_needs() {
    let high: Vec<f64> = (0..12).map(|i| 10.0 + f64::from(i % 3)).collect();
    let low: Vec<f64> = high.iter().map(|x| -x).collect();
    let near: Vec<f64> = (0..12).map(|i| 0.3 + if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let points = [high.clone(), low.clone(), near, low, high];
    let mut claims = [about_most(&points, above_zero())];
    judge(&mut claims, 1.0);
    assert_eq!(claims[0].verdict, Verdict::Undecided);
    match claims[0].undecided {
        Some(UndecidedReason::Interval(Seeds::Between(range))) => assert!((20..400).contains(&range.low)),
        ref other => panic!("{other:?}"),
    }
}

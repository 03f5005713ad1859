//! Verdicts of drawn values against the definitions at the top of `rules`, with Student's t from the printed table.

use priolane_core::rng::{Purpose, Stream};
use priolane_rounds::rounds;

use super::*;

/// Two-sided 95 % quantiles for 1 to 7 degrees of freedom, as printed in tables.
const T: [f64; 7] = [12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624];

/// Mean and half-width; the variance is that of all pairs of values.
fn mean_and_half(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let pairs =
        values.iter().enumerate().flat_map(|(i, x)| values[..i].iter().map(move |y| (x - y) * (x - y)));
    let variance = pairs.sum::<f64>() / (n * (n - 1.0));
    (values.iter().sum::<f64>() / n, T[values.len() - 2] * (variance / n).sqrt())
}

/// The ends of a band that lie clearly inside or outside of an interval: beside its ends and its middle.
fn ends(mean: f64, half: f64) -> Vec<f64> {
    let beside = half * 1e-3;
    [mean - half, mean, mean + half].iter().flat_map(|x| [x - beside, x + beside]).collect()
}

/// The verdict and the direction of an interval of a claim "above `low`" (if stated) "and below `high`" (if stated).
fn defined(mean: f64, half: f64, low: Option<f64>, high: Option<f64>) -> Verdict {
    let (from, to) = (mean - half, mean + half);
    let inside = low.is_none_or(|low| from > low) && high.is_none_or(|high| to < high);
    let outside = low.is_some_and(|low| to < low) || high.is_some_and(|high| from > high);
    match (inside, outside) {
        (true, _) => Verdict::Reproduced,
        (_, true) => Verdict::Contradicted,
        _ => Verdict::Undecided,
    }
}

/// The direction of a claim that the mean is above `tie`.
fn side_above(mean: f64, half: f64, tie: f64) -> Direction {
    match (mean - half > tie, mean + half < tie) {
        (true, _) => Direction::Agrees,
        (_, true) => Direction::Opposes,
        _ => Direction::None,
    }
}

/// The direction of a claim that the mean is below `tie`.
fn side_below(mean: f64, half: f64, tie: f64) -> Direction {
    side_above(-mean, half, -tie)
}

/// Draws values of 2 to 8 seeds around `around`, whose spread is a part of 0.01 to 1 of it.
fn draw(stream: &mut Stream, around: f64) -> Vec<f64> {
    let spread = [0.01, 0.1, 0.9][stream.below(3) as usize];
    (0..2 + stream.below(7)).map(|_| around * (1.0 + spread * (stream.uniform() - 0.5))).collect()
}

#[test]
fn a_bound_is_decided_as_its_definition_says_just_inside_and_just_outside_of_each_end() {
    let mut stream = Stream::new(5, Purpose::Ties, 0);
    for _ in 0..rounds(30, 1_000) {
        let around = if stream.below(2) == 0 { 3.0 } else { -2.0 };
        let values = draw(&mut stream, around);
        let (mean, half) = mean_and_half(&values);
        let value = interval(&values);
        for low in ends(mean, half) {
            let found = outcome_of(judge_bound(&value, OpenRange::above(low)));
            assert_eq!(found, (defined(mean, half, Some(low), None), side_above(mean, half, low)));
            let found = outcome_of(judge_bound(&value, OpenRange::below(low)));
            assert_eq!(found, (defined(mean, half, None, Some(low)), side_below(mean, half, low)));
            for high in ends(mean, half).into_iter().filter(|&high| high > low) {
                let range = OpenRange { above: Some(low), below: Some(high) };
                let found = outcome_of(judge_bound(&value, range));
                assert_eq!(found, (defined(mean, half, Some(low), Some(high)), Direction::None));
            }
        }
        // Both ends of a published number's band belong to it; the band is as wide on both sides.
        for end in ends(mean, half) {
            let within = (end / mean - 1.0).abs();
            let published = PublishedNumber { value: mean, within, scale: Scale::Absolute };
            let (low, high) = (mean - (mean * within).abs(), mean + (mean * within).abs());
            if mean > 0.0 {
                assert_eq!(
                    outcome_of(published.judge(&value)),
                    (defined(mean, half, Some(low), Some(high)), Direction::None)
                );
            }
        }
    }
}

#[test]
fn ratios_are_decided_on_logarithms_of_paired_seeds() {
    let mut stream = Stream::new(6, Purpose::Ties, 0);
    for _ in 0..rounds(30, 1_000) {
        let (a, around) = (draw(&mut stream, 4.0), [1.0, 3.9, 4.1][stream.below(3) as usize]);
        let b: Vec<f64> = a.iter().map(|_| around * (1.0 + 0.3 * stream.uniform())).collect();
        let logs: Vec<f64> = a.iter().zip(&b).map(|(a, b)| libm::log(*a) - libm::log(*b)).collect();
        let (mean, half) = mean_and_half(&logs);
        let compared = comparison(&seeds(&a), &seeds(&b));
        let order = outcome_of(judge_order(compared));
        assert_eq!(order, (defined(mean, half, Some(0.0), None), side_above(mean, half, 0.0)));
        for end in ends(mean, half) {
            let (tie, wide) = (libm::exp(end), libm::exp(end.abs()));
            let above = outcome_of(bounded_ratio(compared, OpenRange::above(tie)));
            assert_eq!(above, (defined(mean, half, Some(end), None), side_above(mean, half, end)));
            let below = outcome_of(bounded_ratio(compared, OpenRange::below(tie)));
            assert_eq!(below, (defined(mean, half, None, Some(end)), side_below(mean, half, end)));
            let band = defined(mean, half, Some(-end.abs()), Some(end.abs()));
            assert_eq!(outcome_of(equal(compared, wide - 1.0)), (band, Direction::None));
            assert_eq!(outcome_of(agrees(compared, wide - 1.0)), (band, Direction::None));
            let published = PublishedNumber { value: libm::exp(mean), within: 0.05, scale: Scale::Relative };
            let [low, high] = [0.95, 1.05].map(|edge| libm::log(edge) + mean);
            let claimed = if mean > 0.0 { side_above(mean, half, 0.0) } else { side_below(mean, half, 0.0) };
            if [low, high].iter().all(|edge| ((edge - mean).abs() - half).abs() > 1e-3 * half) {
                let found = outcome_of(published.judge_ratio(compared));
                assert_eq!(found, (defined(mean, half, Some(low), Some(high)), claimed));
            }
        }
    }
}

#[test]
fn differences_take_the_place_of_ratios_where_a_value_is_not_above_zero() {
    let mut stream = Stream::new(7, Purpose::Ties, 0);
    for _ in 0..rounds(30, 1_000) {
        let mut a = draw(&mut stream, 0.4);
        let shift = [-0.5, -0.4, -0.3, 0.2][stream.below(4) as usize];
        let b: Vec<f64> = a.iter().map(|x| x + shift * stream.uniform()).collect();
        // One value is exactly zero.
        let place = stream.below(a.len() as u64) as usize;
        a[place] = 0.0;
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let (mean, half) = mean_and_half(&differences);
        let compared = comparison(&seeds(&a), &seeds(&b));
        let Comparison::Difference(found) = compared else { panic!("a value is zero") };
        assert!((found.mean.unwrap() - mean).abs() < 1e-9);
        let order = outcome_of(judge_order(compared));
        assert_eq!(order, (defined(mean, half, Some(0.0), None), side_above(mean, half, 0.0)));
        let apart = mean - half > 0.0 || mean + half < 0.0;
        let equality = if apart { Verdict::Contradicted } else { Verdict::Undecided };
        assert_eq!(equal(compared, 5.0).verdict, equality);
    }
}

#[test]
fn slopes_are_those_of_least_squares_and_only_seeds_with_all_values_have_one() {
    let mut stream = Stream::new(8, Purpose::Ties, 0);
    for _ in 0..rounds(30, 1_000) {
        let xs: Vec<f64> =
            (0..2 + stream.below(4)).map(|i| i as f64 * 0.5 + stream.uniform() * 0.4).collect();
        let count = 2 + stream.below(4);
        let mut along: Vec<(f64, BySeed)> =
            xs.iter().map(|&x| (x, (1..=count).map(|seed| (seed, stream.uniform())).collect())).collect();
        let n = xs.len() as f64;
        // The slope from the normal equations.
        let slope = |seed: u64| {
            let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
                along.iter().map(|(x, values)| of(*x, values[&seed])).sum()
            };
            let (x, y) = (sum(&|x, _| x), sum(&|_, y| y));
            (n * sum(&|x, y| x * y) - x * y) / (n * sum(&|x, _| x * x) - x * x)
        };
        let slopes: Vec<f64> = (1..=count).map(slope).collect();
        let (mean, half) = mean_and_half(&slopes);
        let found = trend(&along, TrendDirection::Up).slope;
        assert!((found.0.mean.unwrap() - mean).abs() < 1e-9 && found.0.n == count as u32, "{found:?}");
        assert_eq!(outcome_of(found.1), (defined(mean, half, Some(0.0), None), side_above(mean, half, 0.0)));
        let down = outcome_of(trend(&along, TrendDirection::Down).slope.1);
        assert_eq!(down, (defined(mean, half, None, Some(0.0)), side_below(mean, half, 0.0)));
        along[1].1.remove(&1);
        assert_eq!(trend(&along, TrendDirection::Up).slope.0.n, count as u32 - 1);
    }
}

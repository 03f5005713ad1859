//! Verdicts of drawn values against the definitions at the top of `rules`, with Student's t from the printed table.

use priolane_core::rng::{Purpose, Stream};
use priolane_rounds::rounds;

use super::*;

/// Two-sided 95 % quantiles for 1 to 7 degrees of freedom, as printed in tables.
const T: [f64; 7] = [12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624];

/// The 95 % interval of some values: the means that neither Student's nor Hall's statistic excludes.
#[derive(Clone, Copy)]
struct Defined {
    mean: f64,
    low: f64,
    high: f64,
}

impl Defined {
    /// Searches each end by bisection; the variance is that of all pairs of values.
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let pairs =
            values.iter().enumerate().flat_map(|(i, x)| values[..i].iter().map(move |y| (x - y) * (x - y)));
        let s = (pairs.sum::<f64>() / (n * (n - 1.0))).sqrt();
        let mean = values.iter().sum::<f64>() / n;
        let cubes: f64 = values.iter().map(|x| libm::pow((x - mean) / s, 3.0)).sum();
        let g = if values.len() > 2 { n * cubes / ((n - 1.0) * (n - 2.0)) } else { 0.0 };
        let excluded = |x: f64| {
            let t = (mean - x) / s;
            let hall = t + g * t * t / 3.0 + g * g * t * t * t / 27.0 + g / (6.0 * n);
            let sign = t.signum();
            n.sqrt() * (sign * t).min(sign * hall) > T[values.len() - 2]
        };
        let end = |way: f64| {
            let (mut inside, mut outside) = (mean, mean + way * 100.0 * s);
            for _ in 0..100 {
                let middle = f64::midpoint(inside, outside);
                if excluded(middle) { outside = middle } else { inside = middle }
            }
            outside
        };
        Self { mean, low: end(-1.0), high: end(1.0) }
    }

    /// The ends of a band that lie clearly inside or outside of it: beside its ends and its middle.
    fn ends(self) -> Vec<f64> {
        let beside = (self.high - self.low) * 5e-4;
        [self.low, self.mean, self.high].iter().flat_map(|x| [x - beside, x + beside]).collect()
    }

    /// The verdict of a claim "above `low`" (if stated) "and below `high`" (if stated).
    fn verdict(self, low: Option<f64>, high: Option<f64>) -> Verdict {
        let inside = low.is_none_or(|low| self.low > low) && high.is_none_or(|high| self.high < high);
        let outside = low.is_some_and(|low| self.high < low) || high.is_some_and(|high| self.low > high);
        match (inside, outside) {
            (true, _) => Verdict::Reproduced,
            (_, true) => Verdict::Contradicted,
            _ => Verdict::Undecided,
        }
    }

    /// The direction of a claim that the mean is above `tie`.
    fn above(self, tie: f64) -> Direction {
        match (self.low > tie, self.high < tie) {
            (true, _) => Direction::Agrees,
            (_, true) => Direction::Opposes,
            _ => Direction::None,
        }
    }

    /// The direction of a claim that the mean is below `tie`.
    fn below(self, tie: f64) -> Direction {
        match self.above(tie) {
            Direction::Agrees => Direction::Opposes,
            Direction::Opposes => Direction::Agrees,
            Direction::None => Direction::None,
        }
    }
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
        let defined = Defined::of(&values);
        let value = interval(&values);
        for low in defined.ends() {
            let found = outcome_of(judge_bound(&value, OpenRange::above(low)));
            assert_eq!(found, (defined.verdict(Some(low), None), defined.above(low)));
            let found = outcome_of(judge_bound(&value, OpenRange::below(low)));
            assert_eq!(found, (defined.verdict(None, Some(low)), defined.below(low)));
            for high in defined.ends().into_iter().filter(|&high| high > low) {
                let range = OpenRange { above: Some(low), below: Some(high) };
                let found = outcome_of(judge_bound(&value, range));
                assert_eq!(found, (defined.verdict(Some(low), Some(high)), Direction::None));
            }
        }
        // Both ends of a published number's band belong to it; the band is as wide on both sides.
        let mean = defined.mean;
        for end in defined.ends() {
            let within = (end / mean - 1.0).abs();
            let published = PublishedNumber { value: mean, within, scale: Scale::Absolute };
            let (low, high) = (mean - (mean * within).abs(), mean + (mean * within).abs());
            if mean > 0.0 {
                assert_eq!(
                    outcome_of(published.judge(&value)),
                    (defined.verdict(Some(low), Some(high)), Direction::None)
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
        let defined = Defined::of(&logs);
        let mean = defined.mean;
        let compared = comparison(&seeds(&a), &seeds(&b));
        let order = outcome_of(judge_order(compared));
        assert_eq!(order, (defined.verdict(Some(0.0), None), defined.above(0.0)));
        for end in defined.ends() {
            let (tie, wide) = (libm::exp(end), libm::exp(end.abs()));
            let above = outcome_of(bounded_ratio(compared, OpenRange::above(tie)));
            assert_eq!(above, (defined.verdict(Some(end), None), defined.above(end)));
            let below = outcome_of(bounded_ratio(compared, OpenRange::below(tie)));
            assert_eq!(below, (defined.verdict(None, Some(end)), defined.below(end)));
            let band = defined.verdict(Some(-end.abs()), Some(end.abs()));
            assert_eq!(outcome_of(equal(compared, wide - 1.0)), (band, Direction::None));
            assert_eq!(outcome_of(agrees(compared, wide - 1.0)), (band, Direction::None));
            let published = PublishedNumber { value: libm::exp(mean), within: 0.05, scale: Scale::Relative };
            let [low, high] = [0.95, 1.05].map(|edge| libm::log(edge) + mean);
            let claimed = if mean > 0.0 { defined.above(0.0) } else { defined.below(0.0) };
            let clear = 1e-3 * (defined.high - defined.low);
            let ends = [defined.low, defined.high];
            if ends.iter().all(|end| [low, high].iter().all(|edge| (edge - end).abs() > clear)) {
                let found = outcome_of(published.judge_ratio(compared));
                assert_eq!(found, (defined.verdict(Some(low), Some(high)), claimed));
            }
        }
    }
}

#[test]
fn a_quantity_above_zero_is_decided_on_logarithms_and_its_interval_is_the_printed_one() {
    let mut stream = Stream::new(9, Purpose::Ties, 0);
    for _ in 0..rounds(30, 1_000) {
        let values = draw(&mut stream, 3.0);
        let logs: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
        let defined = Defined::of(&logs);
        let value = Estimate::of(&values, Nature::Quantity);
        let (low, high) = value.ends().unwrap();
        assert!((libm::log(low) - defined.low).abs() < 1e-6 && (libm::log(high) - defined.high).abs() < 1e-6);
        for end in defined.ends() {
            let found = outcome_of(judge_bound(&value, OpenRange::below(libm::exp(end))));
            assert_eq!(found, (defined.verdict(None, Some(end)), defined.below(end)));
            // A bound is excluded exactly if it lies beyond the printed interval.
            assert_eq!(found.0 == Verdict::Reproduced, high < libm::exp(end));
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
        let defined = Defined::of(&differences);
        let compared = comparison(&seeds(&a), &seeds(&b));
        let Comparison::Difference(found) = compared else { panic!("a value is zero") };
        assert!((found.mean.unwrap() - defined.mean).abs() < 1e-9);
        let order = outcome_of(judge_order(compared));
        assert_eq!(order, (defined.verdict(Some(0.0), None), defined.above(0.0)));
        let apart = defined.low > 0.0 || defined.high < 0.0;
        let equality = if apart { Verdict::Contradicted } else { Verdict::Undecided };
        assert_eq!(equal(compared, 5.0).verdict, equality);
    }
}

#[test]
fn fitted_changes_are_those_of_least_squares_and_only_seeds_with_all_values_have_one() {
    let mut stream = Stream::new(8, Purpose::Ties, 0);
    for round in 0..rounds(30, 1_000) {
        let xs: Vec<f64> =
            (0..2 + stream.below(4)).map(|i| i as f64 * 0.5 + stream.uniform() * 0.4).collect();
        let count = 2 + stream.below(4);
        // Every other curve has values below 0.
        let geometric = round % 2 == 0;
        let least = if geometric { 0.1 } else { -0.5 };
        let mut along: Vec<(f64, BySeed)> = xs
            .iter()
            .map(|&x| (x, (1..=count).map(|seed| (seed, least + stream.uniform())).collect()))
            .collect();
        if !geometric {
            along[0].1.insert(1, -0.25);
        }
        let n = xs.len() as f64;
        // The slope from the normal equations.
        let fitted = |seed: u64| {
            let value = |y: f64| if geometric { libm::log(y) } else { y };
            let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
                along.iter().map(|(x, values)| of(*x, value(values[&seed]))).sum()
            };
            let (x, y) = (sum(&|x, _| x), sum(&|_, y| y));
            let slope = (n * sum(&|x, y| x * y) - x * y) / (n * sum(&|x, _| x * x) - x * x);
            slope * (xs[xs.len() - 1] - xs[0])
        };
        let changes: Vec<f64> = (1..=count).map(fitted).collect();
        let defined = Defined::of(&changes);
        let found = trend(&along, TrendDirection::Up);
        let mean = found.change.on_scale(found.change.mean.unwrap());
        assert!((mean - defined.mean).abs() < 1e-9 && found.change.n == count as u32, "{found:?}");
        assert_eq!(outcome_of(found.decision), (defined.verdict(Some(0.0), None), defined.above(0.0)));
        let down = outcome_of(trend(&along, TrendDirection::Down).decision);
        assert_eq!(down, (defined.verdict(None, Some(0.0)), defined.below(0.0)));
        along[1].1.remove(&1);
        assert_eq!(trend(&along, TrendDirection::Up).change.n, count as u32 - 1);
    }
}

//! The promise of verdicts: among experiments in which nothing is to be found, at most 5 % have a false verdict.
//!
//! An experiment has 1 to 12 claims of every kind about values that are drawn from one distribution, with the truth at
//! the very edge of what each claim allows: equal metrics in an order or a trend, a ratio of 1.1 for a claim of at most
//! 1.1 times, a mean at its bound. Each verdict `reproduced` or `contradicted` is false. The claims are judged at looks
//! with 3, 6, 12 and 24 seeds, in one half of the experiments with six looks planned as `--until decided` has them, in
//! the other as somebody adds seeds to a directory. An experiment counts as false if any claim has a verdict at any
//! look.
//!
//! The truth of a claim on one metric is the mean of many draws, on the scale on which claims are judged.

use priolane_core::rng::{Purpose, Stream};
use priolane_rounds::rounds;

use super::*;
use crate::metrics::path::MetricPath;
use crate::verdict::claims::{MetricRef, contrasts, trend_contrasts};
use crate::verdict::report::PointReport;
use crate::verdict::rules::BySeed;

const LOOKS: [u64; 4] = [3, 6, 12, 24];

/// A law of the values of a metric over seeds.
#[derive(Clone, Copy, Debug)]
enum Law {
    /// Logarithms are normal.
    Lognormal,
    /// Logarithms have Student's t distribution with three degrees of freedom: heavy tails on both sides.
    HeavyTails,
    /// The mean of 50 Pareto values of shape 1.5, which have no variance: mean completion times of heavy-tailed flows.
    ParetoMeans,
    /// Exponential values: logarithms have a long lower tail.
    Exponential,
    /// The part of 200 flows that missed a deadline, with a probability of 1 %: 13 % of the values are 0.
    Rates,
    /// Lognormal values, of which nine tenths of the variance are common to all metrics of a seed.
    CorrelatedPairs,
}

const LAWS: [Law; 6] =
    [Law::Lognormal, Law::HeavyTails, Law::ParetoMeans, Law::Exponential, Law::Rates, Law::CorrelatedPairs];

impl Law {
    /// The metric whose nature the values have.
    fn metric(self) -> &'static str {
        if matches!(self, Self::Rates) { "deadline_miss_rate" } else { "fct" }
    }

    /// Draws a value; `common` is a normal value of the seed.
    fn draw(self, stream: &mut Stream, common: f64) -> f64 {
        match self {
            Self::Lognormal => libm::exp(0.4 * normal(stream)),
            Self::HeavyTails => {
                let squares: f64 = (0..3).map(|_| libm::pow(normal(stream), 2.0)).sum();
                libm::exp(0.3 * normal(stream) / (squares / 3.0).sqrt())
            }
            Self::ParetoMeans => {
                let pareto = |stream: &mut Stream| libm::pow(1.0 - stream.uniform(), -1.0 / 1.5);
                (0..50).map(|_| pareto(stream)).sum::<f64>() / 50.0
            }
            Self::Exponential => -libm::log(1.0 - stream.uniform()),
            Self::Rates => (0..200).filter(|_| stream.uniform() < 0.01).count() as f64 / 200.0,
            Self::CorrelatedPairs => {
                libm::exp(0.5 * (0.9_f64.sqrt() * common + 0.1_f64.sqrt() * normal(stream)))
            }
        }
    }

    /// The true mean of the values, on the scale on which they are judged, in the unit of the values.
    fn truth(self) -> f64 {
        const DRAWS: u64 = 400_000;
        match self {
            Self::Lognormal | Self::HeavyTails | Self::CorrelatedPairs => 1.0,
            Self::Rates => 0.01,
            Self::ParetoMeans | Self::Exponential => {
                let mut stream = Stream::new(77, Purpose::Search, self as u64);
                let draws = if matches!(self, Self::Exponential) { DRAWS } else { DRAWS / 4 };
                let sum: f64 = (0..draws).map(|_| libm::log(self.draw(&mut stream, 0.0))).sum();
                libm::exp(sum / draws as f64)
            }
        }
    }
}

/// Generates normally distributed values (Box and Muller 1958).
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - stream.uniform())).sqrt();
    radius * libm::cos(std::f64::consts::TAU * stream.uniform())
}

/// A claim with the values of its metrics, or of one metric along x, for all seeds.
struct NullClaim {
    claim: Claim,
    values: Vec<BySeed>,
}

fn test_of(kind: u64, law: Law, truth: f64) -> (Test, usize, f64) {
    let name = |scheme: &str| MetricAt::from(format!("{}.all.{scheme}", law.metric()).as_str());
    let two = || vec![name("a"), name("b")];
    let over = |over| (name("a"), over);
    match kind {
        0 => (Test::Order(two()), 2, 1.0),
        1 => (Test::Order(vec![name("a"), name("b"), name("c")]), 3, 1.0),
        // The first metric is 1.1 times the second.
        2 => (Test::Equal(EqualTest { of: two(), within: 0.1 }), 2, 1.1),
        3 => {
            let (of, over) = over(Some(name("b")));
            (Test::Bound(BoundTest { of, over, range: OpenRange::below(1.1) }), 2, 1.1)
        }
        4 => {
            let (of, over) = over(None);
            (Test::Bound(BoundTest { of, over, range: OpenRange::below(truth) }), 1, 1.0)
        }
        5 => {
            let (of, over) = over(None);
            (Test::Bound(BoundTest { of, over, range: OpenRange::above(truth) }), 1, 1.0)
        }
        6 => {
            let (of, over) = over(None);
            (Test::Ratio(RatioTest { of, over, paper: truth / 0.9, within: 0.1 }), 1, 1.0)
        }
        7 => {
            let (of, over) = over(Some(name("b")));
            (Test::Ratio(RatioTest { of, over, paper: 1.0, within: 0.1 }), 2, 1.1)
        }
        kind => {
            let goes = if kind == 8 { TrendDirection::Up } else { TrendDirection::Down };
            (Test::Trend(TrendTest { of: name("a"), along: "x".into(), goes }), 4, 1.0)
        }
    }
}

fn draw_claim(stream: &mut Stream, (law, truth): (Law, f64), common: &[f64]) -> NullClaim {
    let (test, metrics, factor) = test_of(stream.below(10), law, truth);
    let mut values = vec![BySeed::new(); metrics];
    for (seed, &common) in (1..).zip(common) {
        for (place, by_seed) in values.iter_mut().enumerate() {
            let value = law.draw(stream, common);
            by_seed.insert(seed, if place == 0 { factor * value } else { value });
        }
    }
    let claim = Claim::new("§1", "so it is", Source::Ours, test);
    NullClaim { claim, values }
}

/// Judges a claim by its first seeds as `verdict::claims` does.
fn report(NullClaim { claim, values }: &NullClaim, seeds: u64) -> ClaimReport {
    let first =
        |by_seed: &BySeed| by_seed.range(..=seeds).map(|(&seed, &value)| (seed, value)).collect::<BySeed>();
    let paths = claim.test.metrics().into_iter().map(|of| MetricPath::parse(&of.metric).unwrap());
    let readings: Vec<MetricRef> = paths
        .map(|path| {
            let nature = path.measure.metric.nature();
            MetricRef { path, at: serde_json::Map::new(), nature }
        })
        .collect();
    let mut point = PointReport::at(serde_json::Map::new());
    point.contrasts = if let Test::Trend(TrendTest { goes, .. }) = claim.test {
        let place = |x: usize| [("x".to_owned(), x.into())].into_iter().collect();
        let places: Vec<serde_json::Map<String, serde_json::Value>> = (0..values.len()).map(place).collect();
        let along: Vec<(f64, BySeed)> =
            values.iter().enumerate().map(|(x, v)| (x as f64, first(v))).collect();
        trend_contrasts(&readings[0], goes, (&places, &along))
    } else {
        contrasts(&claim.test, &readings.iter().zip(values.iter().map(first)).collect::<Vec<_>>())
    };
    point.settle(None);
    ClaimReport::new(claim, vec![point], Vec::new())
}

/// Whether some claim of an experiment is decided at some look: with its own intervals alone at the first look, and
/// among all claims and looks.
fn false_verdicts(stream: &mut Stream, law: (Law, f64), planned: u32) -> (bool, bool) {
    let common: Vec<f64> = (0..LOOKS[3]).map(|_| normal(stream)).collect();
    let claims: Vec<NullClaim> =
        (0..1 + stream.below(12)).map(|_| draw_claim(stream, law, &common)).collect();
    let decided = |verdict: Verdict| matches!(verdict, Verdict::Reproduced | Verdict::Contradicted);
    let mut looks = Looks { planned, earlier: Vec::new() };
    let (mut alone, mut among) = (false, false);
    for seeds in LOOKS {
        let (made, place) = looks.with(&(1..=seeds).collect::<Vec<u64>>(), "");
        looks.earlier = made;
        let mut reports: Vec<ClaimReport> = claims.iter().map(|claim| report(claim, seeds)).collect();
        family::judge(&mut reports, looks.earlier[place].share);
        alone |= seeds == LOOKS[0] && reports.iter().any(|claim| decided(claim.alone));
        among |= reports.iter().any(|claim| decided(claim.verdict));
    }
    (alone, among)
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts of each law are evidence")]
fn at_most_one_in_twenty_null_experiments_has_a_false_verdict() {
    let experiments = rounds(240, 2_000);
    let laws: Vec<(Law, f64)> = LAWS.into_iter().map(|law| (law, law.truth())).collect();
    let mut counts = vec![[0_u64; 3]; laws.len()];
    for experiment in 0..experiments {
        let mut stream = Stream::new(42, Purpose::Search, experiment);
        let place = (experiment % laws.len() as u64) as usize;
        let planned = if (experiment / laws.len() as u64).is_multiple_of(2) { 6 } else { 1 };
        let (alone, among) = false_verdicts(&mut stream, laws[place], planned);
        counts[place][0] += 1;
        counts[place][1] += u64::from(alone);
        counts[place][2] += u64::from(among);
    }
    for ((law, _), [all, alone, among]) in laws.iter().zip(&counts) {
        println!(
            "{law:?}: {all} experiments, {among} with a false verdict, {alone} by intervals of 3 seeds alone"
        );
    }
    let sum = |nth: usize| counts.iter().map(|count| count[nth]).sum::<u64>();
    println!("all: {} experiments, {} with a false verdict, {} alone", sum(0), sum(2), sum(1));
    // The largest count that a rate of 5 % exceeds with a probability of 2 %: 120 of 2,000.
    let expected = 0.05 * experiments as f64;
    let most = expected + 2.05 * (expected * 0.95).sqrt();
    assert!(sum(2) as f64 <= most, "{} of {experiments} null experiments have a false verdict", sum(2));
    // Without correction for claims and looks, most experiments have one: the test above can fail.
    assert!(sum(1) as f64 > 2.0 * most, "{} of {experiments}", sum(1));
}

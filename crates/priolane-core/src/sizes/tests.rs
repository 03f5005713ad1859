use super::*;
use crate::rng::Purpose;

fn law(rows: &[(f64, f64)], interpolation: Interpolation) -> SizeDistribution {
    SizeDistribution::new(points(rows), interpolation).unwrap()
}

fn points(rows: &[(f64, f64)]) -> Vec<Point> {
    rows.iter().map(|&(bytes, cdf)| Point { bytes, cdf }).collect()
}

/// Half of the mass is an atom at 100 B, a quarter is uniform over 100..300 B, a quarter uniform over 300..1100 B.
const ROWS: [(f64, f64); 4] = [(100.0, 0.0), (100.0, 0.5), (300.0, 0.75), (1100.0, 1.0)];

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

#[test]
fn linear_moments_are_those_of_the_segments() {
    let sizes = law(&ROWS, Interpolation::Linear);
    // 100/2 + 200/4 + 700/4 = 275.
    assert!(close(sizes.mean(), 275.0));
    // min(X, 700): 50 + 50 + 1/4 * (1/2 * 500 + 1/2 * 700) = 250.
    assert!(close(sizes.truncated_mean(700.0), 250.0));
    assert!(close(sizes.truncated_mean(40.0), 40.0));
    assert!(close(sizes.truncated_mean(1e9), 275.0));
    assert_eq!([0.0, 0.5, 0.625, 1.0].map(|u| sizes.quantile(u)), [100.0, 100.0, 200.0, 1100.0]);
    assert_eq!([99.0, 100.0, 200.0, 700.0, 1e9].map(|x| sizes.cdf(x)), [0.0, 0.5, 0.625, 0.875, 1.0]);
}

#[test]
fn step_puts_the_mass_on_the_upper_row() {
    let sizes = law(&ROWS, Interpolation::Step);
    // 100/2 + 300/4 + 1100/4 = 400.
    assert!(close(sizes.mean(), 400.0));
    assert!(close(sizes.truncated_mean(700.0), 300.0));
    assert_eq!([0.5, 0.51, 0.75, 0.76].map(|u| sizes.quantile(u)), [100.0, 300.0, 300.0, 1100.0]);
    assert_eq!([299.0, 300.0, 1099.0].map(|x| sizes.cdf(x)), [0.5, 0.75, 0.75]);
}

#[test]
fn truncated_mean_is_the_integral_of_the_survival_function() {
    for interpolation in [Interpolation::Linear, Interpolation::Step] {
        let sizes = law(&ROWS, interpolation);
        let mut integral = 0.0;
        for x in 0..1200 {
            assert!((sizes.truncated_mean(f64::from(x)) - integral).abs() < 1e-6, "{x}");
            // Midpoints are exact, because F is linear or constant within each whole byte here.
            integral += 1.0 - sizes.cdf(f64::from(x) + 0.5);
        }
    }
}

#[test]
fn quantile_and_cdf_are_inverse_where_there_is_no_atom() {
    let sizes = law(&[(0.0, 0.0), (1e4, 0.15), (2e4, 0.2), (3e7, 1.0)], Interpolation::Linear);
    for i in 1..1000 {
        let u = f64::from(i) / 1000.0;
        assert!((sizes.cdf(sizes.quantile(u)) - u).abs() < 1e-12);
    }
}

#[test]
fn a_gap_without_mass_is_never_drawn() {
    let sizes = law(&[(10.0, 0.5), (1000.0, 0.5), (2000.0, 1.0)], Interpolation::Linear);
    assert_eq!(sizes.quantile(0.5), 10.0);
    assert!(sizes.quantile(0.5 + 1e-12) > 999.0);
    assert_eq!(sizes.segments().count(), 2);
}

#[test]
fn each_defect_of_a_table_has_its_error() {
    let error = |rows: &[(f64, f64)]| SizeDistribution::new(points(rows), Interpolation::Linear).unwrap_err();
    assert_eq!(error(&[]), SizeError::Empty);
    assert_eq!(error(&[(f64::NAN, 0.0), (1.0, 1.0)]), SizeError::NotFinite { row: 0 });
    assert_eq!(error(&[(1.0, 0.0), (2.0, f64::INFINITY)]), SizeError::NotFinite { row: 1 });
    assert_eq!(error(&[(-1.0, 0.0), (2.0, 1.0)]), SizeError::Negative { row: 0 });
    assert_eq!(error(&[(1.0, 0.0), (1.5e14, 1.0)]), SizeError::TooLarge { row: 1 });
    assert_eq!(error(&[(5.0, 0.0), (4.0, 1.0)]), SizeError::DecreasingBytes { row: 1 });
    assert_eq!(error(&[(5.0, 0.5), (6.0, 0.4), (7.0, 1.0)]), SizeError::DecreasingCdf { row: 1 });
    assert_eq!(error(&[(5.0, 0.5), (6.0, 1.1)]), SizeError::CdfOutside { row: 1 });
    assert_eq!(error(&[(5.0, -0.5), (6.0, 1.0)]), SizeError::CdfOutside { row: 0 });
    assert_eq!(error(&[(5.0, 0.0), (6.0, 0.9)]), SizeError::NotEndingAtOne { last: 0.9 });
    assert_eq!(error(&[(0.0, 0.0), (0.5, 1.0)]), SizeError::NoBytes);
    let sizes = law(&ROWS, Interpolation::Linear);
    assert_eq!(sizes.scaled(0.0).unwrap_err(), SizeError::Factor { factor: 0.0 });
    assert_eq!(sizes.scaled(1e12).unwrap_err(), SizeError::TooLarge { row: 2 });
    assert_eq!(sizes.capped(0.5).unwrap_err(), SizeError::Cap { max: 0.5 });
    assert_eq!(sizes.scaled_to_mean(200.0, Some(150.0)).unwrap_err(), SizeError::Mean { mean: 200.0 });
}

#[test]
fn a_sum_of_probabilities_a_hair_off_one_is_one() {
    let sizes = law(&[(1.0, 0.1), (2.0, 0.999_999_999_9)], Interpolation::Linear);
    assert_eq!(sizes.cdf(2.0), 1.0);
    assert_eq!(law(&[(1.0, 0.1), (2.0, 1.000_000_000_000_2)], Interpolation::Step).quantile(1.0), 2.0);
}

#[test]
fn scaling_and_capping_change_the_moments_as_they_should() {
    for interpolation in [Interpolation::Linear, Interpolation::Step] {
        let sizes = law(&ROWS, interpolation);
        assert!(close(sizes.scaled(3.0).unwrap().mean(), 3.0 * sizes.mean()));
        for cap in [50.0, 100.0, 250.0, 700.0, 5000.0] {
            let capped = sizes.capped(cap).unwrap();
            assert!(close(capped.mean(), sizes.truncated_mean(cap)), "{cap}");
            assert_eq!(capped.cdf(cap), 1.0);
        }
        let fitted = sizes.scaled_to_mean(2000.0, Some(5000.0)).unwrap();
        assert!(close(fitted.mean(), 2000.0) && fitted.max() <= 5000.0 + 1e-6);
        assert!(close(sizes.scaled_to_mean(10.0, None).unwrap().mean(), 10.0));
    }
}

#[test]
fn one_row_is_a_fixed_size() {
    let sizes = SizeDistribution::fixed(1460.0).unwrap();
    let mut stream = Stream::new(1, Purpose::Sizes, 0);
    assert_eq!((sizes.mean(), sizes.quantile(0.3), sizes.sample(&mut stream)), (1460.0, 1460.0, 1460));
    assert_eq!((sizes.cdf(1459.0), sizes.cdf(1460.0)), (0.0, 1.0));
}

#[test]
fn samples_follow_the_law_and_are_never_empty() {
    let sizes = law(&[(0.0, 0.0), (1.0, 0.5), (9.0, 1.0)], Interpolation::Linear);
    let mut stream = Stream::new(9, Purpose::Sizes, 4);
    let n = 200_000;
    let draws: Vec<u64> = (0..n).map(|_| sizes.sample(&mut stream)).collect();
    assert!(draws.iter().all(|&bytes| (1..=9).contains(&bytes)));
    // Rounding: sizes in [0, 1] and in the lowest half byte of [1, 9] become 1.
    let ones = draws.iter().filter(|&&bytes| bytes == 1).count() as f64 / f64::from(n);
    assert!((ones - (0.5 + 0.5 * 0.5 / 8.0)).abs() < 0.005, "{ones}");
}

#[test]
fn a_table_that_ends_at_almost_one_ends_at_one() {
    // A row and the last one exceed 1, or the last one falls short, by less than the slack of 10^-9.
    for last in [1.0 - 9e-10, 1.0, 1.0 + 9e-10] {
        let sizes = law(&[(100.0, 0.5), (200.0, last), (300.0, last)], Interpolation::Linear);
        assert!(sizes.points().iter().all(|point| point.cdf <= 1.0), "{last}");
        assert_eq!(sizes.points()[1].cdf, last.min(1.0));
        assert_eq!(
            (sizes.points()[2].cdf, sizes.quantile(1.0)),
            (1.0, if last < 1.0 { 300.0 } else { 200.0 })
        );
    }
    for beyond in [1.0 - 2e-9, 1.0 + 2e-9] {
        let table = points(&[(100.0, 0.5), (300.0, beyond)]);
        assert!(SizeDistribution::new(table, Interpolation::Linear).is_err(), "{beyond}");
    }
}

#[test]
fn quantiles_by_bytes_divide_the_bytes_of_all_flows() {
    let rows = [(0.0, 0.1), (7.0, 0.2), (7.0, 0.3), (1_460.0, 0.5), (1_461.0, 0.6), (9_000.0, 1.0)];
    for interpolation in [Interpolation::Linear, Interpolation::Step] {
        let sizes = law(&rows, interpolation);
        // The bytes of flows up to x by a sum over a fine grid of quantiles.
        let grid: Vec<f64> = (0..1_000_000).map(|i| sizes.quantile((f64::from(i) + 0.5) / 1e6)).collect();
        let total: f64 = grid.iter().sum();
        for i in 0..=50 {
            let u = f64::from(i) / 50.0;
            let x = sizes.quantile_by_bytes(u);
            let below: f64 = grid.iter().filter(|&&size| size < x).sum();
            let up_to: f64 = grid.iter().filter(|&&size| size <= x).sum();
            assert!(below / total <= u + 1e-5 && u - 1e-5 <= up_to / total, "{interpolation:?} {u}: {x}");
        }
    }
    assert_eq!(SizeDistribution::fixed(500.0).unwrap().quantile_by_bytes(0.3), 500.0);
}

use super::*;

fn seeds(values: &[f64]) -> BySeed {
    (1..).zip(values.iter().copied()).collect()
}

fn interval(values: &[f64]) -> Interval {
    Interval::of(values)
}

#[test]
fn order_is_paired_by_seed() {
    // Seeds differ by a factor of 100, but a is 10 % to 12 % above b in each: unpaired means would not tell.
    let b = seeds(&[1.0, 10.0, 100.0]);
    let a = seeds(&[1.10, 11.2, 111.0]);
    assert_eq!(ordered(contrast(&a, &b)), Verdict::Reproduced);
    assert_eq!(ordered(contrast(&b, &a)), Verdict::NotReproduced);
}

#[test]
fn order_with_an_interval_across_equality_is_direction_only() {
    // ln ratios 0.69, -0.22, 0.41: mean 0.29 > 0, s = 0.47, half = 4.303 * 0.47 / sqrt(3) = 1.16.
    let a = seeds(&[2.0, 0.8, 1.5]);
    let b = seeds(&[1.0, 1.0, 1.0]);
    assert_eq!(ordered(contrast(&a, &b)), Verdict::DirectionOnly);
}

#[test]
fn one_seed_is_at_best_direction_only() {
    let (a, b) = (seeds(&[2.0]), seeds(&[1.0]));
    assert_eq!(ordered(contrast(&a, &b)), Verdict::DirectionOnly);
    assert_eq!(equal(contrast(&a, &a), 0.1), Verdict::DirectionOnly);
    assert_eq!(bounded(&interval(&[2.0]), OpenRange::above(1.0)), Verdict::DirectionOnly);
    let published = Published { value: 2.0, within: 0.1, scale: Scale::Absolute };
    assert_eq!(published.judge(&interval(&[2.0])), Verdict::DirectionOnly);
}

#[test]
fn ratio_of_seeds_is_their_geometric_mean() {
    // Ratios 2 and 8: geometric mean 4.
    let Contrast::Ratio(ratio) = contrast(&seeds(&[2.0, 8.0]), &seeds(&[1.0, 1.0])) else {
        panic!("positive")
    };
    assert!((ratio.mean.unwrap() - 4.0).abs() < 1e-12);
    assert_eq!(ratio.n, 2);
}

#[test]
fn zero_values_are_compared_by_difference() {
    let contrast = contrast(&seeds(&[0.5, 0.6]), &seeds(&[0.0, 0.1]));
    assert!(matches!(contrast, Contrast::Difference(d) if (d.mean.unwrap() - 0.5).abs() < 1e-12));
    assert_eq!(ordered(contrast), Verdict::Reproduced);
    assert_eq!(equal(contrast, 0.1), Verdict::NotReproduced);
}

#[test]
fn equality_needs_the_whole_interval_inside_the_band() {
    let one = seeds(&[1.0; 4]);
    let near = seeds(&[1.01, 1.02, 0.99, 1.0]);
    assert_eq!(equal(contrast(&near, &one), 0.1), Verdict::Reproduced);
    // Mean ratio about 1.06, s of logs about 0.08, half = 3.182 * 0.08 / 2 = 0.13: reaches beyond ln 1.1.
    let spread = seeds(&[1.15, 0.97, 1.1, 1.03]);
    assert_eq!(equal(contrast(&spread, &one), 0.1), Verdict::DirectionOnly);
    let far = seeds(&[1.3, 1.31, 1.29, 1.3]);
    assert_eq!(equal(contrast(&far, &one), 0.1), Verdict::NotReproduced);
}

#[test]
fn equality_does_not_depend_on_which_comes_first() {
    // 1.095 is inside ±10 % of 1, and 1 / 1.095 = 0.913 too; 1.105 and its inverse 0.905 are both outside.
    for (x, verdict) in [(1.095, Verdict::Reproduced), (1.105, Verdict::NotReproduced)] {
        let (a, b) = (seeds(&[x, x]), seeds(&[1.0, 1.0]));
        assert_eq!(equal(contrast(&a, &b), 0.1), verdict);
        assert_eq!(equal(contrast(&b, &a), 0.1), verdict);
    }
}

#[test]
fn bounds_are_strict_and_need_the_whole_interval() {
    assert_eq!(bounded(&interval(&[1.2, 1.3, 1.25]), OpenRange::above(1.0)), Verdict::Reproduced);
    assert_eq!(bounded(&interval(&[0.9, 1.5, 1.2]), OpenRange::above(1.0)), Verdict::DirectionOnly);
    assert_eq!(bounded(&interval(&[0.9, 0.95]), OpenRange::above(1.0)), Verdict::NotReproduced);
    assert_eq!(bounded(&interval(&[1.0, 1.0]), OpenRange::above(1.0)), Verdict::NotReproduced);
    assert_eq!(bounded(&interval(&[0.5, 0.51, 0.52]), OpenRange::below(1.0)), Verdict::Reproduced);
    let between = OpenRange { above: Some(1.0), below: Some(2.0) };
    assert_eq!(bounded(&interval(&[1.5, 1.51, 1.52]), between), Verdict::Reproduced);
    assert_eq!(bounded(&interval(&[2.5, 2.51, 2.52]), between), Verdict::NotReproduced);
}

#[test]
fn ratio_meets_the_band_around_the_papers_number() {
    let published = Published { value: 3.2, within: 0.1, scale: Scale::Relative };
    assert_eq!(published.judge(&interval(&[3.0, 3.1, 3.3])), Verdict::Reproduced);
    // Far off, but on the same side of 1.
    assert_eq!(published.judge(&interval(&[1.5, 1.51, 1.52])), Verdict::DirectionOnly);
    assert_eq!(published.judge(&interval(&[0.5, 0.51, 0.52])), Verdict::NotReproduced);
    let absolute = Published { scale: Scale::Absolute, ..published };
    assert_eq!(absolute.judge(&interval(&[1.5, 1.51, 1.52])), Verdict::NotReproduced);
}

#[test]
fn a_blurred_ratio_is_told_from_a_sharp_one() {
    // The band is 2.88 to 3.52, 0.64 wide.
    let published = Published { value: 3.2, within: 0.1, scale: Scale::Relative };
    assert!(published.is_blurred_by(&interval(&[2.0, 4.0])));
    assert!(!published.is_blurred_by(&interval(&[3.19, 3.2, 3.21])));
}

#[test]
fn trend_needs_slopes_of_one_sign_and_monotone_means() {
    let up = [(0.5, seeds(&[1.0, 10.0])), (0.6, seeds(&[2.0, 11.1])), (0.7, seeds(&[3.0, 12.0]))];
    let (slope, verdict) = trend(&up, Direction::Up);
    // Slopes 10 and 10 per unit of load (10.0 -> 12.0 over 0.2 is 10).
    assert!((slope.mean.unwrap() - 10.0).abs() < 1e-9);
    assert_eq!(verdict, Verdict::Reproduced);
    assert_eq!(trend(&up, Direction::Down).1, Verdict::NotReproduced);
    let bent = [(0.5, seeds(&[1.0, 1.1])), (0.6, seeds(&[0.9, 1.0])), (0.7, seeds(&[3.0, 3.1]))];
    assert_eq!(trend(&bent, Direction::Up).1, Verdict::DirectionOnly);
    let unsure = [(0.5, seeds(&[1.0, 1.0, 1.0])), (0.6, seeds(&[3.0, 0.9, 1.0]))];
    assert_eq!(trend(&unsure, Direction::Up).1, Verdict::DirectionOnly);
}

#[test]
fn verdicts_are_spelled_as_in_reports() {
    let all = [Verdict::Reproduced, Verdict::DirectionOnly, Verdict::NotReproduced, Verdict::Incomplete];
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(text, r#"["reproduced","direction only","not reproduced","incomplete"]"#);
}

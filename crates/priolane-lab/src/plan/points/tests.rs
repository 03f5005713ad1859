use priolane_source::parse_value;

use super::*;

/// The number of points of a sweep with as many values per key as `axes` has, or the message that refuses it.
fn points(text: &str, axes: &[u64]) -> Result<usize, String> {
    let root = parse("t.toml", text).unwrap();
    let axis = |&count: &u64| Axis {
        key: "key".to_owned(),
        values: (0..count).map(|value| parse_value("t.toml", &value.to_string())).collect(),
    };
    let axes: Vec<Axis> = axes.iter().map(axis).collect();
    grid("t.toml", &root, (&axes, None)).map(|points| points.len()).map_err(|error| error.to_string())
}

fn file(schemes: usize, seeds: u64) -> String {
    format!("schemes = {:?}\nseeds = {seeds}\n", vec!["s"; schemes])
}

#[test]
fn a_sweep_has_ten_thousand_points_and_a_million_runs_at_most() {
    for axes in [&[10_000][..], &[100, 100], &[10, 1_000, 1]] {
        assert_eq!(points(&file(1, 1), axes), Ok(10_000));
        // 10,000 points of 100 runs each.
        assert_eq!(points(&file(5, 20), axes), Ok(10_000));
        let refused = points(&file(3, 34), axes).unwrap_err();
        assert!(refused.contains("the sweep has 10000 points and 1020000 runs"), "{refused}");
    }
    for (axes, count) in [(&[10_001][..], 10_001), (&[100, 101], 10_100), (&[2, 2, 2_501], 10_004)] {
        let refused = points(&file(1, 1), axes).unwrap_err();
        assert!(refused.contains(&format!("the sweep has {count} points and {count} runs")), "{refused}");
    }
    assert_eq!(points(&file(2, 10_000), &[50]), Ok(50));
    assert!(points(&file(2, 10_000), &[51]).is_err());
}

#[test]
fn without_a_sweep_too_many_runs_are_a_mistake_of_the_seeds() {
    assert_eq!(points(&file(100, 10_000), &[]), Ok(1));
    let refused = points(&file(101, 10_000), &[]).unwrap_err();
    assert!(refused.contains("seeds: the experiment has 1010000 runs"), "{refused}");
    // A number of seeds beyond all that may be counts as the most that may be, and is refused elsewhere.
    assert_eq!(points(&file(100, 1 << 40), &[]), Ok(1));
    let list = |seeds: usize| format!("schemes = {:?}\nseeds = {:?}\n", vec!["s"; 500], vec![7; seeds]);
    assert_eq!(points(&list(2_000), &[]), Ok(1));
    assert!(points(&list(2_001), &[]).is_err());
}

#[test]
fn a_sweep_over_a_long_file_merges_twenty_million_values_at_most() {
    let long = |values: usize| format!("schemes = [\"a\"]\nseeds = 1\nvalues = {:?}\n", vec![0; values]);
    // Each of 10,000 points reads the file, and merges its scheme with it: 2 x 990 and 2 x 1,010 values.
    assert_eq!(points(&long(990), &[100, 100]), Ok(10_000));
    let refused = points(&long(1_010), &[100, 100]).unwrap_err();
    assert!(refused.contains("10000 points and 1 schemes share"), "{refused}");
    assert_eq!(points(&long(1_010), &[100, 98]), Ok(9_800));
}

#[test]
fn the_last_key_of_a_sweep_varies_fastest() {
    let root = parse("t.toml", "seeds = 1\n").unwrap();
    let axis = |values: &[&str]| Axis {
        key: "key".to_owned(),
        values: values.iter().map(|value| parse_value("t.toml", value)).collect(),
    };
    let axes = [axis(&["1", "2"]), axis(&["3", "4", "5"])];
    let points = grid("t.toml", &root, (&axes, None)).unwrap();
    let shown: Vec<String> =
        points.iter().map(|point| point.iter().map(|&node| shown(node).to_string()).collect()).collect();
    assert_eq!(shown, ["13", "14", "15", "23", "24", "25"]);
}

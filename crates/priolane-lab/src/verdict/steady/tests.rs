use super::*;
use crate::metrics::coverage::Coverage;

/// A run with this number of flows, of which some did not complete, and their means in seconds.
fn run([flows, unfinished]: [u64; 2], [direct, little]: [f64; 2], halves: [f64; 2]) -> ClassRun {
    ClassRun {
        summary: Summary { flows, unfinished, ..Summary::default() },
        steady: SteadySummary {
            arrivals: flows,
            mean_fct_s: Some(little),
            direct_fct_s: Some(direct),
            halves_fct_s: halves.map(Some),
            ..SteadySummary::default()
        },
    }
}

#[test]
fn means_of_all_seeds_are_compared_flow_by_flow() {
    // 300 flows of 1 s and 100 of 3 s: a mean of 1.5 s. By Little's law 2 s and 1 s: 1.75 s.
    let runs = [run([300, 0], [1.0, 2.0], [1.0; 2]), run([100, 0], [3.0, 1.0], [1.0; 2])];
    assert_eq!(direct_over_little(&runs), Some(1.5 / 1.75));
    assert_eq!(not_steady(&runs), None);
    let [below, above] = [0.84, 1.16].map(|ratio| not_steady(&[run([100, 0], [ratio, 1.0], [1.0; 2])]));
    assert_eq!(below, Some(Unsteady::DirectOverLittle(0.84)));
    assert_eq!(above, Some(Unsteady::DirectOverLittle(1.16)));
    let near = [0.86, 1.14].map(|ratio| not_steady(&[run([100, 0], [ratio, 1.0], [1.0; 2])]));
    assert_eq!(near, [None; 2]);
}

#[test]
fn flows_that_do_not_complete_make_the_direct_mean_meaningless() {
    let of = |unfinished| not_steady(&[run([200, unfinished], [2.0, 1.0], [1.0; 2])]);
    assert_eq!((of(2), of(3)), (Some(Unsteady::DirectOverLittle(2.0)), None));
    assert_eq!(
        unfinished(&[run([200, 3], [1.0; 2], [1.0; 2]), run([100, 0], [1.0; 2], [1.0; 2])]),
        Some(0.01)
    );
    assert_eq!((unfinished(&[]), not_steady(&[])), (None, None));
}

#[test]
fn halves_may_differ_by_a_tenth_or_within_their_intervals() {
    let of = |halves: &[[f64; 2]]| {
        let runs: Vec<ClassRun> = halves.iter().map(|&halves| run([100, 0], [1.0; 2], halves)).collect();
        not_steady(&runs)
    };
    assert_eq!(of(&[[1.0, 1.09]]), None);
    assert_eq!(
        (of(&[[1.0, 1.2]]), of(&[[1.2, 1.0]])),
        (Some(Unsteady::Halves(1.2)), Some(Unsteady::Halves(1.0 / 1.2)))
    );
    // Four seeds: 1.0 +- 0.02 and 1.3 +- 0.02; then with a spread that covers the difference.
    assert!(matches!(
        of(&[[0.99, 1.29], [1.01, 1.31], [0.99, 1.31], [1.01, 1.29]]),
        Some(Unsteady::Halves(_))
    ));
    assert_eq!(of(&[[0.7, 1.7], [1.3, 0.9], [0.8, 1.6], [1.2, 1.0]]), None);
}

#[test]
fn the_largest_class_has_the_highest_lower_bound() {
    let class = |name: &str, above, from| SizeClass { name: name.into(), above, from, ..SizeClass::all() };
    let classes = [class("a", Some(5), None), class("b", None, Some(9)), class("c", None, None)];
    assert_eq!(
        (largest(&classes), largest(&classes[2..]), largest(&[])),
        ("b".into(), "all".into(), "large".into())
    );
}

#[test]
fn what_is_missing_is_said_with_its_number_and_its_remedy() {
    let says = [
        Unsteady::DirectOverLittle(1.82),
        Unsteady::Halves(0.7),
        Unsteady::LeftOut(Coverage::Completed, 0.123),
    ];
    let [direct, halves, unfinished] = says.map(|fault| fault.to_string());
    assert!(direct.contains("1.82 times") && direct.contains("time.start"), "{direct}");
    assert!(halves.contains("factor of 0.70") && halves.contains("measure longer"), "{halves}");
    assert!(
        unfinished.starts_with("12.3 % of the flows") && unfinished.contains("time.limit"),
        "{unfinished}"
    );
}

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
            quarters_under_way: [10.0; 2],
            ..SteadySummary::default()
        },
    }
}

/// Returns the way in which runs that wait for the flows of their window miss a steady state.
fn drained(runs: &[ClassRun]) -> Option<NotSteady> {
    not_steady(runs, RunEnd::WithFlows)
}

#[test]
fn means_of_all_seeds_are_compared_flow_by_flow() {
    // 300 flows of 1 s and 100 of 3 s: a mean of 1.5 s. By Little's law 2 s and 1 s: 1.75 s.
    let runs = [run([300, 0], [1.0, 2.0], [1.0; 2]), run([100, 0], [3.0, 1.0], [1.0; 2])];
    assert_eq!(direct_over_little(&runs), Some(1.5 / 1.75));
    assert_eq!(drained(&runs), None);
    let [below, above] = [0.84, 1.16].map(|ratio| drained(&[run([100, 0], [ratio, 1.0], [1.0; 2])]));
    assert_eq!(below, Some(NotSteady::DirectOverLittle(0.84)));
    assert_eq!(above, Some(NotSteady::DirectOverLittle(1.16)));
    let near = [0.86, 1.14].map(|ratio| drained(&[run([100, 0], [ratio, 1.0], [1.0; 2])]));
    assert_eq!(near, [None; 2]);
}

#[test]
fn flows_that_do_not_complete_before_the_limit_are_no_steady_state() {
    let of = |unfinished| drained(&[run([200, unfinished], [1.0; 2], [1.0; 2])]);
    assert_eq!((of(2), of(3)), (None, Some(NotSteady::Unfinished(0.015))));
    let [late, none] = [3, 0].map(|unfinished| run([200, unfinished], [1.0; 2], [1.0; 2]));
    assert_eq!(unfinished(&[late, none, none]), Some(0.005));
    assert_eq!(drained(&[late, none, none]), None);
}

#[test]
fn flows_under_way_may_not_grow_where_the_end_of_the_run_cuts_flows_off() {
    // A third of the flows is cut off, so that the direct mean tells nothing.
    let of = |quarters: &[[f64; 2]]| {
        let cut = |&quarters_under_way: &[f64; 2]| {
            let run = run([300, 100], [9.0, 1.0], [1.0; 2]);
            ClassRun { steady: SteadySummary { quarters_under_way, ..run.steady }, ..run }
        };
        not_steady(&quarters.iter().map(cut).collect::<Vec<_>>(), RunEnd::WithWindow)
    };
    assert_eq!((of(&[[10.0, 10.9]]), of(&[[10.0, 7.0]])), (None, None));
    assert_eq!(of(&[[10.0, 12.0]]), Some(NotSteady::UnderWay(1.2)));
    let grows = of(&[[10.0, 12.9], [10.1, 13.1], [9.9, 12.9], [10.0, 13.1]]);
    assert!(matches!(grows, Some(NotSteady::UnderWay(ratio)) if (ratio - 1.3).abs() < 0.01), "{grows:?}");
    // The same mean growth, within what seeds differ by.
    assert_eq!(of(&[[7.0, 17.0], [13.0, 9.0], [8.0, 16.0], [12.0, 10.0]]), None);
}

#[test]
fn a_class_without_flows_is_no_evidence() {
    let none = |flows| ClassRun {
        summary: Summary { flows, ..Summary::default() },
        steady: SteadySummary { arrivals: flows, ..SteadySummary::default() },
    };
    assert_eq!(drained(&[none(0), none(0)]), Some(NotSteady::NoEvidence(0)));
    assert_eq!(drained(&[]), Some(NotSteady::NoEvidence(0)));
    // Flows that were all cut off, and not in both halves.
    let cut = ClassRun { summary: Summary { unfinished: 2, ..none(2).summary }, ..none(2) };
    assert_eq!(not_steady(&[cut], RunEnd::WithWindow), Some(NotSteady::NoEvidence(2)));
}

#[test]
fn halves_may_differ_by_a_tenth_or_within_their_intervals() {
    let of = |halves: &[[f64; 2]]| {
        let runs: Vec<ClassRun> = halves.iter().map(|&halves| run([100, 0], [1.0; 2], halves)).collect();
        drained(&runs)
    };
    assert_eq!(of(&[[1.0, 1.09]]), None);
    assert_eq!(
        (of(&[[1.0, 1.2]]), of(&[[1.2, 1.0]])),
        (Some(NotSteady::Halves(1.2)), Some(NotSteady::Halves(1.0 / 1.2)))
    );
    // Four seeds: 1.0 +- 0.02 and 1.3 +- 0.02; then with a spread that covers the difference.
    assert!(matches!(
        of(&[[0.99, 1.29], [1.01, 1.31], [0.99, 1.31], [1.01, 1.29]]),
        Some(NotSteady::Halves(_))
    ));
    assert_eq!(of(&[[0.7, 1.7], [1.3, 0.9], [0.8, 1.6], [1.2, 1.0]]), None);
}

#[test]
fn the_largest_class_has_the_highest_lower_bound_of_those_with_flows() {
    let class = |name: &str, above, from| SizeClass { name: name.into(), above, from, ..SizeClass::all() };
    let classes = [class("b", None, Some(9)), class("a", Some(5), None), class("c", None, None)];
    assert_eq!((by_size(&classes), by_size(&classes[2..])), (vec!["a".to_owned(), "b".to_owned()], vec![]));
    assert_eq!(by_size(&[]).last().map(String::as_str), Some("large"));
    let with_flows = |names: &'static [&str]| largest(&classes, |class| names.contains(&class));
    assert_eq!(with_flows(&[]), None);
    assert_eq!(with_flows(&["a", "c"]).as_deref(), Some("a"));
    assert_eq!(with_flows(&["b", "a"]).as_deref(), Some("b"));
}

#[test]
fn what_is_missing_is_said_with_its_number_and_its_remedy() {
    let of = |how, may_start_warm| Unsteady::Class { class: "big".into(), how, may_start_warm }.to_string();
    let direct = of(NotSteady::DirectOverLittle(1.82), true);
    assert!(direct.contains("`big`") && direct.contains("1.82 times"), "{direct}");
    assert!(direct.ends_with("warm up longer, or use time.start = \"warm_path\""), "{direct}");
    // Runs that begin so, or cannot.
    let direct = of(NotSteady::DirectOverLittle(1.82), false);
    assert!(direct.ends_with("warm up longer"), "{direct}");
    let halves = of(NotSteady::Halves(0.7), false);
    assert!(halves.contains("factor of 0.70") && halves.ends_with("measure longer"), "{halves}");
    let late = of(NotSteady::Unfinished(0.123), true);
    assert!(late.contains("12.3 % of the flows") && late.ends_with("a lower load"), "{late}");
    let grows = of(NotSteady::UnderWay(1.5), false);
    assert!(grows.contains("grew by a factor of 1.50"), "{grows}");
    assert_eq!(
        of(NotSteady::NoEvidence(3), true),
        "no evidence of a steady state: class `big` has 3 flows in the window; measure longer"
    );
    let over = Unsteady::Overload(1.16).to_string();
    assert!(over.starts_with("no steady state at a load of 1.16"), "{over}");
    assert!(over.contains("lower the load") && over.contains("time.arrivals = \"stop\""), "{over}");
    let left_out = Unsteady::LeftOut(Coverage::Completed, 0.123).to_string();
    assert!(left_out.starts_with("12.3 % of the flows") && left_out.contains("time.limit"), "{left_out}");
}

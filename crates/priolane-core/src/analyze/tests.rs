use super::*;

/// Eight flows: six of 100 B that require 1 s, and two of 400 B, of which one requires 1 s and one 2 s.
fn parts() -> ModelInput {
    ModelInput {
        flows: 8.0,
        sizes: vec![100.0, 400.0],
        shares: vec![0.75, 0.25],
        requirements: vec![1.0, 2.0],
        mix: vec![vec![1.0, 0.0], vec![0.5, 0.5]],
    }
}

fn model() -> Model {
    Model::new(parts()).unwrap()
}

/// (x / 100)^-0.5: 1 at 100 B, 0.5 at 400 B.
const OF_SIZE: Law = Law { gamma: 0.01, alpha: 0.0, exponent: -0.5, base: 0.0 };

/// 1 / x: 1 at 1 s, 0.5 at 2 s.
const OF_TIME: Law = Law { gamma: 1.0, alpha: 0.0, exponent: -1.0, base: 0.0 };

#[test]
fn the_matrices_are_eqs_2_and_5() {
    // T = [6 x 100, 2 x 400]; R = [6 x 1, 2 x 1.5]; sigma of 600 and 800 is 100.
    assert_eq!(model().traffic(), [600.0, 800.0]);
    assert_eq!(model().requirement(), [6.0, 3.0]);
    assert_eq!(model().deviation(), 100.0);
}

#[test]
fn priorities_by_size_are_eqs_9_to_11() {
    // At 200 B/s for priority 1: 100 / 200 = 0.5 s and 400 / 100 = 4 s. Both large flows are late, the small ones are
    // not.
    let found = BytesBased::new(&model(), &OF_SIZE, 200.0);
    assert_eq!(found.fct_s, [0.5, 4.0]);
    assert_eq!((found.printed_s, found.mean_s), (4.5, 0.75 * 0.5 + 0.25 * 4.0));
    assert_eq!((found.missed, found.miss_rate), (vec![0.0, 1.0], 0.25));
    assert!(BytesBased::new(&model(), &OF_SIZE, 1e9).miss_rate.is_sign_positive(), "nothing is 0, not -0");
    // gamma^-e = 0.01^0.5 = 0.1, and a_1 = (100 x 10 + 400 x 20) / 200 = 45.
    assert!((found.slope.unwrap() - 45.0).abs() < 1e-9);
}

#[test]
fn a_flow_that_takes_as_long_as_it_may_has_met_its_deadline() {
    // At 100 B/s: 1 s and 8 s.
    let found = BytesBased::new(&model(), &OF_SIZE, 100.0);
    assert_eq!(found.missed, [0.0, 1.0]);
    assert_eq!(BytesBased::new(&model(), &OF_SIZE, 99.999).missed, [1.0, 1.0]);
}

#[test]
fn priorities_by_requirement_are_eqs_12_to_14() {
    // At 200 B/s for priority 1: flows that require 1 s get 200 B/s, the other gets 100 B/s. 0.5 s; 2 s (late) and 4 s
    // (late).
    let found = LatencyBased::new(&model(), &OF_TIME, 200.0);
    assert_eq!(found.fct_s, [[0.5, 1.0], [2.0, 4.0]]);
    // Printed: 0.75 x 100 / 200 + 0.25 x 400 / (200 x 0.75); by flow: 0.75 x 0.5 + 0.25 x (2 + 4) / 2.
    assert!((found.printed_s - (0.375 + 100.0 / 150.0)).abs() < 1e-12);
    assert_eq!((found.mean_s, found.class_s), (0.375 + 0.75, vec![0.5, 3.0]));
    assert_eq!((found.missed, found.miss_rate), (vec![0.0, 1.0], 0.25));
    // At 400 B/s the large flows take 1 and 2 s: exactly in time.
    assert_eq!(LatencyBased::new(&model(), &OF_TIME, 400.0).miss_rate, 0.0);
    assert_eq!(LatencyBased::new(&model(), &OF_TIME, 399.0).missed, [0.0, 1.0]);
}

#[test]
fn completion_times_by_size_grow_with_the_deviation_of_traffic() {
    // Eq. 7: gamma = k sigma. The same bytes in two classes, evenly and not: sigma 0 has no gamma, then 100 and 200.
    let at = |gamma: f64| BytesBased::new(&model(), &Law { gamma, ..OF_SIZE }, 200.0);
    let (one, two) = (at(0.01), at(0.02));
    // e = -1/2: twice the deviation takes sqrt(2) times as long.
    assert!((two.printed_s / one.printed_s - 2f64.sqrt()).abs() < 1e-12);
    assert!((two.slope.unwrap() - one.slope.unwrap()).abs() < 1e-9, "a_1 does not depend on gamma");
}

#[test]
fn a_base_bounds_completion_times_and_has_no_slope() {
    // beta = 1: priorities 2 and 1.5; 100 / 400 and 400 / 300 s. The priority is infinite at and below alpha.
    let law = Law { base: 1.0, ..OF_SIZE };
    let found = BytesBased::new(&model(), &law, 200.0);
    assert_eq!((found.fct_s[0], found.slope), (0.25, None));
    assert!((found.fct_s[1] - 400.0 / 300.0).abs() < 1e-12);
    let law = Law { alpha: 100.0, ..OF_SIZE };
    assert_eq!((law.priority(100.0), law.priority(99.0)), (f64::INFINITY, f64::INFINITY));
    assert_eq!(BytesBased::new(&model(), &law, 200.0).fct_s[0], 0.0);
}

#[test]
fn parts_that_are_no_model_are_refused() {
    let refused = |change: &dyn Fn(&mut ModelInput)| {
        let mut parts = parts();
        change(&mut parts);
        Model::new(parts).unwrap_err()
    };
    assert_eq!(refused(&|p| p.flows = 0.0), ModelError::Flows);
    assert_eq!(refused(&|p| p.flows = f64::NAN), ModelError::Flows);
    assert_eq!(refused(&|p| p.sizes = vec![400.0, 100.0]), ModelError::Sizes);
    assert_eq!(refused(&|p| p.sizes.clear()), ModelError::Sizes);
    assert_eq!(refused(&|p| p.shares = vec![0.75, 0.35]), ModelError::Shares);
    assert_eq!(refused(&|p| p.shares = vec![1.0]), ModelError::Shares);
    assert_eq!(refused(&|p| p.requirements[0] = 0.0), ModelError::Requirements);
    assert_eq!(refused(&|p| p.requirements[1] = f64::INFINITY), ModelError::Requirements);
    assert_eq!(refused(&|p| p.mix[1] = vec![1.5, -0.5]), ModelError::Mix);
    assert_eq!(refused(&|p| p.mix[1] = vec![1.0]), ModelError::Mix);
}

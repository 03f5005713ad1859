use super::*;
use crate::admit::Policy;
use crate::admit::tests::{done, flow, live_once, rng};

/// Three classes; 15 us and 25 us per MTU of 1000 B, one increase per 100 us.
fn config(update: Update) -> Config {
    Config {
        levels: 3,
        alpha: 0.01,
        beta: 0.01,
        floor: 0.1,
        most: 1.0,
        per: Per::Mtu,
        targets: [15, 25].map(Span::from_us).to_vec(),
        percentile: None,
        window: Some(Span::from_us(100)),
        update,
    }
}

pub(in crate::admit) fn policy() -> Policy {
    Policy::Aequitas(config(Update::Prose))
}

/// A flow of `mtus` MTUs to host 1 requests class 0 and takes `us`; it completes at `at_us`.
fn completes(policy: &mut Aequitas, mtus: u64, us: u64, at_us: u64) -> f64 {
    let spec = flow(0, (1, 0), mtus * 1000, None);
    let key = (spec.dst, 0);
    policy.active.insert(spec.id, ActiveFlow::new(&spec, 0, 0.0));
    policy.completed(&done(0, mtus * 1000, Span::from_us(us), 0), Time::ZERO + Span::from_us(at_us));
    policy.admit_probability(key.0, key.1)
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} {b}");
}

#[test]
fn a_miss_takes_beta_for_each_mtu_down_to_the_floor() {
    let mut policy = Aequitas::new(config(Update::Prose), 1000);
    // The target of 4 MTUs is 60 us.
    near(completes(&mut policy, 4, 59, 1), 1.0);
    near(completes(&mut policy, 4, 60, 2), 1.0 - 0.04);
    near(completes(&mut policy, 1, 900, 3), 0.96 - 0.01);
    near(completes(&mut policy, 200, 1_000_000, 4), 0.1);
}

#[test]
fn no_miss_takes_more_than_the_most() {
    let mut policy = Aequitas::new(Config { most: 0.25, ..config(Update::Prose) }, 1000);
    // 61.5 MB are 61,500 MTUs: beta size is 615.
    near(completes(&mut policy, 61_500, 10_000_000, 1), 0.75);
}

#[test]
fn targets_per_rpc_do_not_grow_with_size() {
    let mut policy = Aequitas::new(Config { per: Per::Rpc, ..config(Update::Prose) }, 1000);
    near(completes(&mut policy, 4, 14, 1), 1.0);
    near(completes(&mut policy, 4, 15, 2), 0.96);
}

#[test]
fn the_three_updates_differ_in_what_begins_a_window() {
    // Windows are 100 us. Misses (-0.01) at 150 and 290 us, hits at 200, 260, 301, 402 us.
    let run = |update| {
        let mut policy = Aequitas::new(config(update), 1000);
        let script = [(20, 150), (1, 200), (1, 260), (20, 290), (1, 301), (1, 402)];
        script.map(|(us, at)| (completes(&mut policy, 1, us, at) * 100.0).round())
    };
    // Prose: the hit at 200 increases p (200 > 100 since 0), 301 increases it (101 since 200), 402 is at 1 already but
    // counts.
    assert_eq!(run(Update::Prose), [99.0, 100.0, 100.0, 99.0, 100.0, 100.0]);
    // Simulator: the miss at 150 restarts the window, so 200 is too early and 260 increases p; after the miss at 290,
    // 402 does.
    assert_eq!(run(Update::Simulator), [99.0, 99.0, 100.0, 99.0, 99.0, 100.0]);
    // Literal: the hit at 200 increases p. The hits at 260 and 301 restart the window and are too early; 402, 101
    // later, increases p.
    assert_eq!(run(Update::Literal), [99.0, 100.0, 100.0, 99.0, 99.0, 100.0]);
}

#[test]
fn without_misses_the_probability_is_back_within_its_windows() {
    let mut policy = Aequitas::new(config(Update::Prose), 1000);
    completes(&mut policy, 200, 1_000_000, 1);
    near(policy.admit_probability(HostId(1), 0), 0.1);
    // ceil(0.9 / 0.01) = 90 windows, with a completion just after each.
    let after = |n: u64| 1 + 101 * n;
    for n in 1..90 {
        assert!(completes(&mut policy, 1, 1, after(n)) < 1.0 - 0.005, "window {n}");
    }
    near(completes(&mut policy, 1, 1, after(90)), 1.0);
}

#[test]
fn at_most_one_increase_in_a_window() {
    let mut policy = Aequitas::new(config(Update::Prose), 1000);
    completes(&mut policy, 50, 1_000_000, 1);
    let at_102 = completes(&mut policy, 1, 1, 102);
    near(at_102, 0.51);
    for at in 103..=202 {
        near(completes(&mut policy, 1, 1, at), at_102);
    }
    near(completes(&mut policy, 1, 1, 203), 0.52);
}

#[test]
fn keys_do_not_touch_each_other_and_the_lowest_class_has_none() {
    let mut policy = Aequitas::new(config(Update::Prose), 1000);
    let mut rng = rng(3);
    let late = done(0, 1000, Span::from_ms(1), 0);
    assert_eq!(live_once(&mut policy, &flow(0, (1, 0), 1000, None), &late, &mut rng), 0);
    assert_eq!(live_once(&mut policy, &flow(0, (2, 2), 1000, None), &late, &mut rng), 2);
    let p = |dst, class| policy.admit_probability(HostId(dst), class);
    near(p(1, 0), 0.99);
    for (dst, class) in [(1, 1), (1, 2), (2, 0), (2, 1), (2, 2)] {
        near(p(dst, class), 1.0);
    }
    assert_eq!(policy.account().keys.len(), 1);
}

#[test]
fn the_fraction_downgraded_is_one_minus_p_and_all_of_it_to_the_lowest() {
    let mut policy = Aequitas::new(config(Update::Prose), 1000);
    completes(&mut policy, 70, 1_000_000, 1);
    let p = policy.admit_probability(HostId(1), 0);
    near(p, 0.3);
    let (mut rng, n) = (rng(5), 100_000u32);
    let mut given = [0u32; 3];
    for id in 0..n {
        given[usize::from(policy.open(&flow(id, (1, 0), 1000, None), Time::ZERO, &mut rng))] += 1;
        assert_eq!(policy.open(&flow(n, (1, 2), 1000, None), Time::ZERO, &mut rng), 2);
    }
    // 4 sigma: 4 sqrt(n p (1 - p)) = 580.
    assert_eq!(given[1], 0, "never the next lower");
    assert!((f64::from(given[2]) - 0.7 * f64::from(n)).abs() < 580.0, "{given:?}");
}

#[test]
fn probabilities_stay_between_floor_and_one_whatever_happens() {
    let mut policy = Aequitas::new(config(Update::Simulator), 1000);
    let mut draw = rng(9);
    for i in 0..20_000 {
        let p = completes(&mut policy, 1 + draw.below(90), draw.below(2_000), 20 * i);
        assert!((0.1..=1.0).contains(&p), "{p}");
    }
}

#[test]
fn windows_follow_from_the_percentile() {
    // 15 us at the 99.9th percentile: 15 us * 100 / 0.1 = 15 ms; at the 99th 1.5 ms.
    let window = |per_mille| Objective::at_percentile(Span::from_us(15), per_mille).window;
    assert_eq!(
        (window(999), window(990), window(500)),
        (Span::from_ms(15), Span::from_us(1500), Span::from_us(30))
    );
}

#[test]
fn a_percentage_in_a_file_sets_the_windows_of_all_targets() {
    let windows = |percentile| {
        let config = Config { percentile: Some(percentile), window: None, ..config(Update::Prose) };
        config.objectives().iter().map(|objective| objective.window).collect::<Vec<_>>()
    };
    // Targets of 15 us and 25 us: times 1000 at 99.9 %, times 100 at 99 %, times 2 at 50 %, and as they are at 0 %.
    assert_eq!(windows(99.9), [15, 25].map(Span::from_ms));
    assert_eq!(windows(99.0), [1_500, 2_500].map(Span::from_us));
    assert_eq!(windows(50.0), [30, 50].map(Span::from_us));
    assert_eq!(windows(0.0), [15, 25].map(Span::from_us));
}

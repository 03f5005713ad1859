use super::utility::seconds;
use super::*;
use crate::admit::Policy;
use crate::admit::tests::{done, flow, live_once, rng};

/// Steps of `a` times the gradient, bounded in the analytic mode.
fn config(mode: GradientMode) -> Config {
    Config {
        levels: 3,
        mode,
        first: (mode == GradientMode::Literal).then_some(First::Zero),
        utility: Constants::default(),
        a: mode.step_size(),
        step: (mode == GradientMode::Analytic).then_some(0.1),
        b_low: 0.1,
        b_up: 1.9,
        monitoring: Monitoring { mi: Interval::Rpc, remap: Remap::AtIssue },
    }
}

pub(in crate::admit) fn analytic() -> Policy {
    Policy::Firapam(config(GradientMode::Analytic))
}

/// Observation of a flow of 1 Gbit with `allowed` time that took `took`: D is 1 Gbit/s if it had a second.
fn seen(allowed: Option<Span>, took: Span, loss: f64) -> Observation {
    Observation::new(125_000_000, (allowed, allowed.is_some()), took, loss).unwrap()
}

const SECOND: Span = Span::from_ms(1000);

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9 * a.abs().max(1.0), "{a} {b}");
}

/// Runs a flow of class 1 to host 1 at its requested class, and returns p of that class after its end.
fn ends(policy: &mut Firapam, bytes: u64, allowed: Span, took: Span, again: u64) -> f64 {
    let spec = flow(0, (1, 1), bytes, Some(allowed));
    policy.active.insert(spec.id, ActiveFlow::new(&spec, 1, 0.0));
    policy.completed(&done(0, bytes, took, again), Time::ZERO + took);
    policy.admit_probability(HostId(1), 1)
}

#[test]
fn the_utility_is_eq_16() {
    // D = 1 Gbit / 1 s = 1; slack 1 - 0.75 = 0.25 s; u = 1^0.9 - 900 * 1 * 0.25 - 11 * 1 * 0.02 = 1 - 225 - 0.22.
    let terms = Constants::default().utility(&seen(Some(SECOND), Span::from_ms(750), 0.02), None).unwrap();
    near(terms.rate, 1.0);
    near(terms.slack, -225.0);
    near(terms.loss, -0.22);
    near(terms.sum(), -224.22);
    // With half a second allowed, D = 2; 2^0.9 = 1.866065983; slack -0.25: + 900 * 2 * 0.25 = 450.
    let late = Constants::default().utility(&seen(Some(Span::from_ms(500)), Span::from_ms(750), 0.0), None);
    near(late.unwrap().sum(), 451.866_065_983_073_6);
}

#[test]
fn the_gradient_is_eq_21() {
    // lambda = 1: 0.9 * 1^-0.1 - 900 * 0.0005 - 11 * 0.02 = 0.9 - 0.45 - 0.22 = 0.23.
    let on_time = seen(Some(SECOND + Span::from_us(500)), SECOND, 0.02);
    near(Constants::default().gradient(&on_time, None).unwrap().sum(), 0.23);
}

#[test]
fn without_deadline_it_is_eq_19_against_the_longest_deadline_of_the_class() {
    // B = 1, B / d = 2, B_max / d_max = 0.5: u = 1 - 900 * 1 * 1.5 - 11 * 1 * 0.1 = -1350.1; g = 0.9 - 1350 - 1.1.
    let plain = seen(None, Span::from_ms(500), 0.1);
    let rival = Some(ReferenceFlow { gbps: 0.5 });
    near(Constants::default().utility(&plain, rival).unwrap().sum(), -1350.1);
    near(Constants::default().gradient(&plain, rival).unwrap().sum(), -1350.2);
    assert_eq!(Constants::default().utility(&plain, None), None, "no rival, no signal");
}

#[test]
fn an_analytic_update_moves_by_a_g_at_most_a_step() {
    let mut policy = Firapam::new(config(GradientMode::Analytic));
    let (soon, later) = (SECOND + Span::from_us(500), SECOND + Span::from_ms(250));
    // lambda = 1, slack 0.5 ms, no loss: g = 0.9 - 0.45 = 0.45; p = 1 + 0.05 * 0.45.
    near(ends(&mut policy, 125_000_000, soon, SECOND, 0), 1.0225);
    // Slack 250 ms: a g = 0.05 * (0.9 - 225) = -11.2, clamped to -0.1.
    near(ends(&mut policy, 125_000_000, later, SECOND, 0), 0.9225);
    // Half of the sent bytes are retransmissions: l = 0.5, g = 0.9 - 0.45 - 5.5 = -5.05, a g = -0.2525, clamped to
    // -0.1.
    near(ends(&mut policy, 125_000_000, soon, SECOND, 125_000_000), 0.8225);
}

#[test]
fn a_literal_update_is_the_difference_quotient_of_successive_ends() {
    let mut policy = Firapam::new(Config { a: 1e-4, ..config(GradientMode::Literal) });
    // First: x = 1 / 1 = 1 Gbit/s, u = 1 - 0: g = (1 - 0) / (1 - 0) = 1, p = 1 + 0.0001.
    near(ends(&mut policy, 125_000_000, SECOND, SECOND, 0), 1.000_1);
    // Then x = 1 / 0.8 = 1.25, u = 1 - 900 * 0.2 = -179: g = -180 / 0.25 = -720, p falls by 0.072.
    near(ends(&mut policy, 125_000_000, SECOND, Span::from_ms(800), 0), 0.928_1);
    // The same sample again: 0 / 0 is no quotient.
    near(ends(&mut policy, 125_000_000, SECOND, Span::from_ms(800), 0), 0.928_1);
    // x = 1 / 2 = 0.5, u = 1 + 900 = 901: g = 1080 / -0.75 = -1440, p falls by 0.144.
    near(ends(&mut policy, 125_000_000, SECOND, Span::from_ms(2000), 0), 0.784_1);
    let account = policy.account();
    assert_eq!((account.skipped, account.keys[0].updates), (1, 3));
}

#[test]
fn the_first_literal_update_of_a_key_is_the_utility_over_the_rate_or_none() {
    let literal = |first| Config { a: 1e-4, first: Some(first), ..config(GradientMode::Literal) };
    // D = 1 Gbit / 1 s, x = 1 Gbit / d. On time u = 1 - 900 (1 - d), late u = 1 + 900 (d - 1): g = u d.
    for (took, g) in [(500, -449.0 * 0.5), (999, 0.1 * 0.999), (1_000, 1.0), (1_500, 451.0 * 1.5)] {
        let first =
            ends(&mut Firapam::new(literal(First::Zero)), 125_000_000, SECOND, Span::from_ms(took), 0);
        near(first, 1.0 + 1e-4 * g);
        let mut policy = Firapam::new(literal(First::None));
        near(ends(&mut policy, 125_000_000, SECOND, Span::from_ms(took), 0), 1.0);
        assert_eq!(policy.account().skipped, 1);
    }
    // Each destination and class has a first sample of its own, whatever others have seen.
    let mut policy = Firapam::new(literal(First::Zero));
    ends(&mut policy, 125_000_000, SECOND, Span::from_ms(500), 0);
    let spec = flow(1, (2, 1), 125_000_000, Some(SECOND));
    policy.active.insert(spec.id, ActiveFlow::new(&spec, 1, 0.0));
    policy.completed(&done(1, 125_000_000, Span::from_ms(1_500), 0), Time::ZERO);
    near(policy.admit_probability(HostId(2), 1), 1.0 + 1e-4 * 451.0 * 1.5);
}

#[test]
fn the_first_sample_belongs_to_the_literal_mode_and_is_zero_there_by_default() {
    let checked = |mode, first| {
        let mut config = Config { first, ..config(mode) };
        config.check().map(|()| config.first)
    };
    assert_eq!(checked(GradientMode::Literal, None).unwrap(), Some(First::Zero));
    assert_eq!(checked(GradientMode::Literal, Some(First::None)).unwrap(), Some(First::None));
    assert_eq!(checked(GradientMode::Analytic, None).unwrap(), None);
    assert!(checked(GradientMode::Analytic, Some(First::Zero)).is_err());
}

#[test]
fn literal_updates_lower_flows_of_one_size_and_deadline_whoever_is_late() {
    // u2 - u1 = b D (d2 - d1) and x2 - x1 = B (d1 - d2) / (d1 d2) with D = B / d_o: g = -b d1 d2 / d_o, below 0.
    let times = [100, 250, 400, 900, 999, 1_000, 1_001, 1_500, 3_000, 20_000].map(Span::from_ms);
    for (bytes, allowed) in [(125_000_000, SECOND), (1_000, SECOND), (9_000_000, Span::from_ms(20))] {
        for (first, second) in times.iter().flat_map(|&one| times.map(|other| (one, other))) {
            let first_sample = Some(First::None);
            let config =
                Config { a: 1e-6, b_low: 1e-6, first: first_sample, ..config(GradientMode::Literal) };
            let mut policy = Firapam::new(config);
            ends(&mut policy, bytes, allowed, first, 0);
            let p = ends(&mut policy, bytes, allowed, second, 0);
            let g = -900.0 * seconds(first) * seconds(second) / seconds(allowed);
            near(p, if first == second { 1.0 } else { (1.0 + 1e-6 * g).max(1e-6) });
            assert!(first == second || p < 1.0, "{first:?} {second:?}");
        }
    }
}

#[test]
fn the_papers_step_size_jumps_between_the_bounds() {
    let mut policy = Firapam::new(config(GradientMode::Literal));
    ends(&mut policy, 125_000_000, SECOND, SECOND, 0);
    near(ends(&mut policy, 125_000_000, SECOND, Span::from_ms(800), 0), 0.1);
    // x = 1.25 to 1.111, u = -179 to 1 - 900 * 0.1 = -89: g = 90 / -0.139 < 0 still; then a positive quotient.
    near(ends(&mut policy, 125_000_000, SECOND, Span::from_ms(900), 0), 0.1);
    // x = 0.6 * 1.0 = 2.0 with D = 2: u = 1.866 - 900 * 2 * 0 = 1.866 at x = 2: g = 90.9 / 0.889 > 0.
    near(ends(&mut policy, 125_000_000, Span::from_ms(500), Span::from_ms(500), 0), 1.9);
}

#[test]
fn issue_is_algorithm_1() {
    let table = [
        // p, draw, requested class: class given, of 0 to 2
        ((1.0, 0.999_999), 1, 1),
        ((0.4, 0.4), 1, 1),
        ((0.4, 0.41), 1, 2),
        ((0.4, 0.41), 0, 1),
        ((0.4, 0.41), 2, 2),
        ((1.7, 0.29), 1, 1),
        ((1.7, 0.31), 1, 0),
        ((1.7, 0.31), 2, 1),
        ((1.7, 0.31), 0, 0),
    ];
    for (drawn, asked, given) in table {
        assert_eq!(mapped(asked, 2, drawn), given, "{drawn:?} {asked}");
    }
}

#[test]
fn moves_are_to_the_adjacent_level_and_as_frequent_as_p_says() {
    for (p, neighbour) in [(0.35, 2u8), (1.35, 0)] {
        let mut policy = Firapam::new(config(GradientMode::Analytic));
        policy.channels.insert((HostId(1), 1), Channel { p, ..Channel::new(None, None) });
        let (mut rng, n) = (rng(4), 100_000);
        let mut given = [0u32; 3];
        for id in 0..n {
            given[usize::from(policy.open(&flow(id, (1, 1), 9, None), Time::ZERO, &mut rng))] += 1;
        }
        let moved = f64::from(given[usize::from(neighbour)]) / f64::from(n);
        let expected: f64 = if p < 1.0 { 1.0 - p } else { p - 1.0 };
        // 4 sigma of 100,000 draws: 0.006.
        assert!((moved - expected).abs() < 0.006_1, "{p} {moved}");
        assert_eq!(given[1] + given[usize::from(neighbour)], n);
    }
}

#[test]
fn late_flows_upgrade_early_or_lossy_ones_downgrade() {
    let g = |allowed: Span, took: Span, loss| {
        Constants::default().gradient(&seen(Some(allowed), took, loss), None).unwrap().sum()
    };
    let mut draw = rng(8);
    for _ in 0..1_000 {
        let took = Span(1 + draw.below(SECOND.0));
        let late = Span(draw.below(took.0));
        assert!(g(Span(took.0 - late.0), took, 0.0) > 0.0);
        let slack = Constants::default().equilibrium_slack(1.0 / took.as_secs_f64(), 0.0);
        let allowed = took + Span((slack * 1.01 * 1e12) as u64);
        assert!(g(allowed, took, 0.0) < 0.0, "slack above t lambda^(t-1) / b");
        // dg/dl = -c.
        near((g(took, took, 0.3) - g(took, took, 0.1)) / 0.2, -11.0);
    }
}

#[test]
fn the_equilibrium_slack_is_that_of_the_formula() {
    // At 10 Gbit/s: 0.9 * 10^-0.1 / 900 = 0.794328235 ms.
    near(Constants::default().equilibrium_slack(10.0, 0.0), 0.794_328_234_724_281_5e-3);
    for (gbps, loss) in [(0.1, 0.0), (1.0, 0.01), (10.0, 0.03), (100.0, 0.05)] {
        let slack = Constants::default().equilibrium_slack(gbps, loss);
        let took = 1.0 / gbps;
        let seen = Observation { gbit: 1.0, allowed: Some(took + slack), took, loss };
        near(Constants::default().gradient(&seen, None).unwrap().sum() + 1.0, 1.0);
    }
}

#[test]
fn the_gradient_takes_the_actual_rate_and_the_utility_the_demand_rate() {
    // B = 1 Gbit, d_o = 1 s, d = 0.5 s: lambda = 2 and D = 1. g = 0.9 * 2^-0.1 - 900 * 0.5; u = 1 - 900 * 0.5.
    let early = seen(Some(SECOND), Span::from_ms(500), 0.0);
    near(Constants::default().gradient(&early, None).unwrap().rate, 0.9 * 0.933_032_991_536_807_4);
    near(Constants::default().utility(&early, None).unwrap().sum(), -449.0);
}

#[test]
fn theorem_1_every_deadline_has_one_equilibrium_and_it_is_in_time() {
    // Eq. 22: g(d) = t (B / d)^(t-1) - b (d_o - d) grows with d from - b d_o to t (B / d_o)^(t-1), so that it has one
    // root, below d_o. With D = B / d_o for lambda it has no root above 0 if b d_o < t D^(t-1), such as for 0.5 ms at
    // 1 Gbit/s.
    let constants = Constants::default();
    let deadlines = [0.05e-3, 0.5e-3, 2e-3, 50e-3];
    for (gbps, allowed) in [0.1, 1.0, 40.0].into_iter().flat_map(|gbps| deadlines.map(|d| (gbps, d))) {
        let g = |took: f64| {
            let seen = Observation { gbit: gbps * allowed, allowed: Some(allowed), took, loss: 0.0 };
            constants.gradient(&seen, None).unwrap().sum()
        };
        let (mut low, mut high) = (1e-60 * allowed, allowed);
        assert!(g(low) < 0.0 && g(high) > 0.0, "{gbps} {allowed}");
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if g(middle) < 0.0 { low = middle } else { high = middle }
        }
        assert!(low < allowed, "{gbps} {allowed}");
        let rising =
            (1..1_000).all(|i| g(allowed * f64::from(i + 1) / 500.0) > g(allowed * f64::from(i) / 500.0));
        assert!(rising, "one root only: {gbps} {allowed}");
    }
}

#[test]
fn the_utility_is_concave_in_the_rate_at_fixed_slack() {
    let u = |gbps: f64| {
        let seen = Observation { gbit: 1.0, allowed: Some(1.0 / gbps), took: 1.0 / gbps - 1e-3, loss: 0.01 };
        Constants::default().utility(&seen, None).unwrap().sum()
    };
    for i in 1..200 {
        let x = 0.1 * f64::from(i);
        assert!(u(x) > 0.5 * (u(0.9 * x) + u(1.1 * x)), "{x}");
    }
}

#[test]
fn theorem_1_random_loss_up_to_theta_downgrades_nobody() {
    // c = t C^(t-1) / theta: a flow that just meets its deadline is not downgraded while l <= theta and D <= C.
    for capacity in [1.0f64, 10.0, 100.0] {
        let theta = 0.05;
        let c = 0.9 * libm::pow(capacity, -0.1) / theta;
        let constants = Constants { c, ..Constants::default() };
        for (rate, loss) in
            (1..=20).flat_map(|i| (0..=10).map(move |j| (f64::from(i) / 20.0, f64::from(j) / 10.0)))
        {
            let allowed = 1.0 / (rate * capacity);
            let seen = Observation { gbit: 1.0, allowed: Some(allowed), took: allowed, loss: loss * theta };
            let g = constants.gradient(&seen, None).unwrap().sum();
            assert!(g > -1e-9, "{capacity} {rate} {loss}: {g}");
        }
        let worse =
            Observation { gbit: 1.0, allowed: Some(1.0 / capacity), took: 1.0 / capacity, loss: 1.1 * theta };
        assert!(constants.gradient(&worse, None).unwrap().sum() < 0.0, "above theta it does");
    }
    // The paper's c = 11 is for C = 100 Gbit/s and 5 %: 0.9 * 100^-0.1 / 0.05 = 11.357.
    near(0.9 * libm::pow(100.0, -0.1) / 0.05, 11.357_232_200_643_478);
}

#[test]
fn theorem_2_settling_is_faster_with_larger_gradients() {
    // lambda near 1, late by x: g = 0.9 + 900 x, and p needs ceil(0.9 / (0.05 g)) updates from 1 to 1.9:
    // x = 0.1 ms: g = 0.99, 18.2; 0.5 ms: 1.35, 13.3; 1 ms: 1.8, 10; 2 ms and more: the step of 0.1, 9.
    let updates = |late_us: u64| {
        let mut policy = Firapam::new(config(GradientMode::Analytic));
        let took = SECOND + Span::from_us(late_us);
        (1..100).find(|_| ends(&mut policy, 125_000_000, SECOND, took, 0) > 1.9 - 1e-9)
    };
    assert_eq!([100, 500, 1_000, 2_000, 50_000].map(updates), [19, 14, 10, 9, 9].map(Some));
}

#[test]
fn probabilities_stay_within_their_bounds_and_finite_whatever_happens() {
    for mode in [GradientMode::Analytic, GradientMode::Literal] {
        let mut policy = Firapam::new(config(mode));
        let mut draw = rng(2);
        for _ in 0..20_000 {
            let (allowed, took) =
                (Span(draw.below(3) * draw.below(1 << 40)), Span(draw.below(3) * draw.below(1 << 40)));
            let p =
                ends(&mut policy, draw.below(3) * draw.below(1 << 30), allowed, took, draw.below(1 << 20));
            assert!((0.1..=1.9).contains(&p), "{p}");
        }
        let account = policy.account();
        assert!(account.skipped > 1_000 && account.keys[0].updates > 1_000, "{account:?}");
    }
}

#[test]
fn no_bytes_no_time_and_a_deadline_at_the_start_teach_nothing() {
    let mut policy = Firapam::new(config(GradientMode::Analytic));
    for (bytes, allowed, took) in [(0, SECOND, SECOND), (9, Span::ZERO, SECOND), (9, SECOND, Span::ZERO)] {
        near(ends(&mut policy, bytes, allowed, took, 0), 1.0);
    }
    assert_eq!((policy.account().skipped, policy.account().keys.len()), (3, 0));
}

#[test]
fn a_key_is_read_at_the_class_asked_for_and_written_at_that_given() {
    let mut policy = Firapam::new(config(GradientMode::Analytic));
    policy.channels.insert((HostId(1), 0), Channel { p: 0.1, ..Channel::new(None, None) });
    let (spec, end) =
        (flow(0, (1, 0), 125_000_000, Some(SECOND)), done(0, 125_000_000, Span::from_ms(1200), 0));
    let mut rng = rng(6);
    let mut given = Vec::new();
    while !given.contains(&1) {
        given.push(live_once(&mut policy, &spec, &end, &mut rng));
    }
    let downgraded = given.iter().filter(|&&class| class == 1).count() as f64;
    near(policy.admit_probability(HostId(1), 1), 1.0 + 0.1 * downgraded);
    near(policy.admit_probability(HostId(1), 0), 0.1 + 0.1 * (given.len() as f64 - downgraded));
    near(policy.admit_probability(HostId(2), 1), 1.0);
}

#[test]
fn flows_under_way_move_when_the_probability_crosses_their_draw() {
    let policy = Config {
        monitoring: Monitoring { mi: Interval::Rtt, remap: Remap::PerInterval },
        ..config(GradientMode::Analytic)
    };
    let mut policy = Firapam::new(policy);
    let spec = flow(0, (1, 1), 125_000_000, Some(SECOND));
    policy.active.insert(spec.id, ActiveFlow::new(&spec, 1, 0.85));
    // At 0.25 s half is left, at 4 Gbit/s: it takes 0.125 s and has 0.75 s. p falls by 0.1 per interval.
    let early = FlowReport {
        remaining: 62_500_000,
        rate_bps: 4_000_000_000,
        ..done(0, 62_500_000, Span::from_ms(250), 0)
    };
    let at = Time::ZERO + Span::from_ms(250);
    assert_eq!(policy.report(&early, at), None, "p = 0.9, the draw is 0.85");
    assert_eq!(policy.report(&early, at), Some(2), "p = 0.8");
    // From now on it updates class 2. Other flows increase p of class 1 to 0.9, and it returns to class 1.
    ends_beside(&mut policy);
    assert_eq!(policy.report(&early, at), Some(1));
    // After its deadline there is no sample.
    let skipped = policy.account().skipped;
    assert_eq!(policy.report(&early, Time::ZERO + Span::from_ms(1001)), None);
    assert_eq!(policy.account().skipped, skipped + 1);
}

/// Another flow of class 1 ends late and increases p by a step of 0.1.
fn ends_beside(policy: &mut Firapam) {
    let spec = flow(9, (1, 1), 125_000_000, Some(SECOND));
    policy.active.insert(spec.id, ActiveFlow::new(&spec, 1, 0.0));
    policy.completed(&done(9, 125_000_000, Span::from_ms(1200), 0), Time::ZERO);
}

#[test]
fn without_a_step_every_flow_gets_what_it_asks_for() {
    let mut policy = Firapam::new(Config { a: 0.0, ..config(GradientMode::Analytic) });
    let mut rng = rng(7);
    for id in 0..1_000 {
        let class = (id % 3) as u8;
        let end = done(id, 9_999, Span::from_ms(u64::from(1 + id)), 99);
        let spec = flow(id, (1, class), 9_999, Some(Span::from_ms(50)));
        assert_eq!(live_once(&mut policy, &spec, &end, &mut rng), class);
    }
}

#[test]
fn terms_are_logged_in_canonical_units() {
    let mut policy = Firapam::new(config(GradientMode::Analytic));
    ends(&mut policy, 125_000_000, SECOND + Span::from_ms(250), SECOND, 0);
    let terms = policy.account().terms;
    let medians: Vec<_> = terms.iter().map(|(name, all)| (*name, all.quantile(0.5).unwrap())).collect();
    // 0.9 is in the bin [0.875, 1), 225 in [224, 256).
    assert_eq!(medians, [("rate", 0.875), ("slack", 224.0), ("loss", 0.0)]);
}

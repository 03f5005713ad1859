use super::*;
use crate::transport::new_reno::NewReno;
use crate::units::Time;

const MSS: u64 = 1_000;
const RTT: Span = Span::from_us(100);

const CONFIG: Config = Config {
    reno: new_reno::Config { init_window: None },
    r_cos: 3.0,
    avoidance: Avoidance::Approximate,
    rtt: RttOf::Smoothed,
    floor: LossFloor::None,
};
const EXACT: Config = Config { avoidance: Avoidance::Exact, ..CONFIG };

fn ack(acked: u64) -> AckEvent {
    AckEvent {
        now: Time::ZERO,
        acked,
        delivered: acked,
        in_flight: 0,
        una: 0,
        next: 0,
        marked: false,
        growth: Growth::Allowed,
        rtt: Some(RTT),
        srtt: RTT,
        one_way_ps: 0,
        host_delay: Span::ZERO,
    }
}

fn loss(in_flight: u64) -> LossEvent {
    LossEvent { now: Time::ZERO, in_flight, next: 0 }
}

/// A new flow with a minimum window (in segments over `RTT`), a weight, and an initial window of `segments`.
fn paccp(config: Config, segments: u64, minimum: u64, w_milli: u32) -> Paccp {
    let reno = new_reno::Config { init_window: Some(segments * MSS) };
    let mut paccp = Paccp::new(&Config { reno, ..config }, MSS);
    // A segment of 8000 bits per 100 us is 80 Mbps.
    paccp.set_weights(Rate::from_bps(minimum * 80_000_000), w_milli);
    paccp
}

/// The same flow in congestion avoidance with exactly `segments`.
fn avoiding(config: Config, segments: u64, minimum: u64, w_milli: u32) -> Paccp {
    let mut paccp = paccp(config, segments, minimum, w_milli);
    paccp.ssthresh = segments * MSS;
    paccp
}

/// The window, in segments, after one round trip without loss: every segment of the window acknowledged.
fn after_round_trip(mut paccp: Paccp) -> f64 {
    for _ in 0..paccp.window() / MSS {
        paccp.on_ack(&ack(MSS));
    }
    // Include the credit for a partial segment.
    (paccp.window() as f64 + paccp.credit as f64 / 1e3 / paccp.window() as f64 * MSS as f64) / MSS as f64
}

fn near(got: f64, expected: f64, within: f64) {
    assert!((got / expected - 1.0).abs() <= within, "{got} is not {expected}");
}

#[test]
fn the_window_stands_when_it_does_not_limit_or_is_being_repaired() {
    for mut paccp in
        [paccp(CONFIG, 10, 0, 1_000), avoiding(CONFIG, 10, 0, 2_000), avoiding(EXACT, 10, 5, 1_000)]
    {
        for growth in [Growth::NotLimited, Growth::Recovering] {
            (0..100).for_each(|_| paccp.on_ack(&AckEvent { growth, ..ack(MSS) }));
        }
        assert_eq!((paccp.window(), paccp.credit), (10 * MSS, 0));
    }
}

#[test]
fn slow_start_multiplies_by_the_papers_factors() {
    // CND2: (3 - 3^(1-w)) / 2 + 1: w = 0.5: (3 - 1.732) / 2 + 1 = 1.634; 1: 2; 2: (3 - 1/3) / 2 + 1 = 2.333;
    // 4: (3 - 1/27) / 2 + 1 = 2.4815.
    for (w, factor) in [(500, 1.634), (1_000, 2.0), (2_000, 2.3333), (4_000, 2.48148)] {
        near(after_round_trip(paccp(CONFIG, 100, 0, w)), 100.0 * factor, 1e-3);
    }
    // CND1: (9 - 3^(1-w)) / 2 + 1: w = 1: 5; w = 2: (9 - 1/3) / 2 + 1 = 5.333.
    for (w, factor) in [(1_000, 5.0), (2_000, 5.33333)] {
        near(after_round_trip(paccp(CONFIG, 100, 10_000, w)), 100.0 * factor, 1e-3);
    }
}

#[test]
fn congestion_avoidance_adds_w_segments_a_round_trip() {
    // Each ACK adds w acked / W, and the window grows meanwhile: a little less than w.
    for w in [250, 500, 1_000, 2_000, 8_000] {
        let gained = after_round_trip(avoiding(CONFIG, 200, 0, w)) - 200.0;
        near(gained, f64::from(w) / 1e3, 0.03);
    }
    // CND1: (r - 1) / 2 W + (r - 1 + w) = 200 + 2 + w; the additive part is divided by a window that doubles,
    // so that a round trip earns ln 2 of it: 200 + 0.69 (2 + 2).
    near(after_round_trip(avoiding(CONFIG, 200, 10_000, 2_000)), 400.0 + 0.69 * 4.0, 2e-3);
}

#[test]
fn acks_add_their_share_one_by_one() {
    // W = 4, w = 2: 2000 credits of thousandths a byte; 4 segments' worth is 4,000,000. Two ACKs add the
    // fifth segment (2 * 1000 * 2000 = 4,000,000), and 2.5 more the sixth: three ACKs make 6,000,000,
    // 1,000,000 left.
    let mut paccp = avoiding(CONFIG, 4, 0, 2_000);
    let windows: Vec<u64> = (0..5).map(|_| (paccp.on_ack(&ack(MSS)), paccp.window() / MSS).1).collect();
    assert_eq!(windows, [4, 5, 5, 5, 6]);
}

#[test]
fn a_loss_in_slow_start_keeps_what_equation_13_says() {
    // (1 - 3^(1-w) / 2) of 100 segments: w = 0.5: 13.4; 1: 50; 2: 83.3; 4: 98.1.
    for (w, kept) in [(500, 13_397), (1_000, 50_000), (2_000, 83_333), (4_000, 98_148)] {
        let mut paccp = paccp(CONFIG, 100, 0, w);
        paccp.on_loss(&loss(100 * MSS));
        assert_eq!((paccp.window(), paccp.ssthresh()), (kept, kept), "w = {w}");
    }
}

#[test]
fn a_cut_below_nothing_leaves_two_segments() {
    // w = 0.333: 1 - 3^0.667 / 2 = -0.04.
    let mut flow = paccp(CONFIG, 100, 0, 333);
    flow.on_loss(&loss(100 * MSS));
    assert_eq!(flow.window(), 2 * MSS);
    // CAP with W = 4, w = 0.1: 2 - 0.9 = 1.1.
    let mut flow = avoiding(CONFIG, 4, 0, 100);
    flow.on_loss(&loss(4 * MSS));
    assert_eq!(flow.window(), 2 * MSS);
}

#[test]
fn a_loss_in_avoidance_keeps_half_and_w_less_one() {
    // 20 / 2 + (w - 1): w = 0.5: 9.5; 1: 10; 3: 12.
    for (w, kept) in [(500, 9_500), (1_000, 10_000), (3_000, 12_000)] {
        let mut flow = avoiding(CONFIG, 20, 0, w);
        flow.on_loss(&loss(20 * MSS));
        assert_eq!(flow.window(), kept, "w = {w}");
    }
    // 4 / 2 + 7 = 9 would be more than was in flight.
    let mut flow = avoiding(CONFIG, 4, 0, 8_000);
    flow.on_loss(&loss(4 * MSS));
    assert_eq!(flow.window(), 4 * MSS);
}

#[test]
fn the_minimum_window_ends_the_fast_growth() {
    // W_min = 20. From 10 in slow start with w = 1: + 4 per segment acknowledged below 20, then + 1.
    let mut flow = paccp(CONFIG, 10, 20, 1_000);
    let windows: Vec<u64> = (0..5).map(|_| (flow.on_ack(&ack(MSS)), flow.window() / MSS).1).collect();
    assert_eq!((windows, flow.minimum), (vec![14, 18, 22, 23, 24], 20_000.0));
}

#[test]
fn the_minimum_window_follows_the_smoothed_or_the_base_rtt() {
    for (of, expected) in [(RttOf::Smoothed, 40_000.0), (RttOf::Base, 20_000.0)] {
        let mut flow = paccp(Config { rtt: of, ..CONFIG }, 10, 20, 1_000);
        flow.on_ack(&ack(MSS));
        flow.on_ack(&AckEvent { rtt: Some(RTT.times(3)), srtt: RTT.times(2), ..ack(MSS) });
        assert_eq!(flow.minimum, expected);
    }
}

#[test]
fn a_timeout_restarts_as_new_reno_whatever_the_weight() {
    let mut flow = paccp(CONFIG, 100, 0, 4_000);
    flow.on_timeout(&loss(80 * MSS), Repeat::First);
    assert_eq!((flow.window(), flow.ssthresh()), (MSS, 40 * MSS));
    flow.on_timeout(&loss(MSS), Repeat::Again);
    assert_eq!((flow.window(), flow.ssthresh()), (MSS, 40 * MSS));
}

#[test]
fn the_exact_law_is_equation_11() {
    // W = 5, w = 4: (1 + 2.5)(1 - 1.4^-4) = 3.5 * 0.7397 = 2.589 (Eq. 14 says 4).
    let flow = avoiding(EXACT, 5, 0, 4_000);
    assert_eq!(flow.exact(1.0), 2_588);
    // Loss: 5 - 3.5 * 0.2603 = 4.0889.
    let mut flow = avoiding(EXACT, 5, 0, 4_000);
    flow.on_loss(&loss(5 * MSS));
    assert_eq!(flow.window(), 4_088);
    // For a large window Eq. 14 is close: W = 1000, w = 2: (1 + 500)(1 - 1.002^-2) = 1.999.
    assert_eq!(avoiding(EXACT, 1_000, 0, 2_000).exact(1.0), 1_998);
}

/// Twenty segments in flight: half are left, or W_min of 16, or all where W_min is 40. At 4 and 10, NewReno's floor and the
/// half are more.
#[test]
fn a_loss_leaves_the_minimum_window_where_it_is_kept() {
    let keeping = Config { floor: LossFloor::Minimum, ..CONFIG };
    for (minimum, without, with) in [(16, 10, 16), (40, 10, 20), (4, 10, 10), (0, 10, 10)] {
        for (config, left) in [(CONFIG, without), (keeping, with)] {
            let mut flow = avoiding(config, 20, minimum, 1_000);
            flow.on_ack(&AckEvent { growth: Growth::NotLimited, ..ack(MSS) });
            flow.on_loss(&loss(20 * MSS));
            assert_eq!(flow.window(), left * MSS, "minimum of {minimum}");
        }
    }
    // Under marks of DCTCP, too: a mark at W_min takes nothing.
    let mut marked = avoiding(keeping, 20, 20, 1_000);
    marked.on_ack(&AckEvent { growth: Growth::NotLimited, ..ack(MSS) });
    assert_eq!(marked.loss_cut(), 0.0);
}

/// Random ACKs, losses and timeouts: with (0, 1) the window equals NewReno's after each, with either
/// equation.
#[test]
fn with_no_minimum_and_weight_one_it_is_new_reno() {
    use crate::rng::{Purpose, Stream};
    for case in 0..200 {
        let mut draw = Stream::new(case, Purpose::Loss, 5);
        let config = if case % 2 == 0 { CONFIG } else { EXACT };
        let (mut reno, mut paccp) = (NewReno::new(&config.reno, MSS), Paccp::new(&config, MSS));
        for step in 0..500 {
            let flight = 1 + draw.below(reno.window());
            match draw.below(40) {
                0 => (reno.on_loss(&loss(flight)), paccp.on_loss(&loss(flight))),
                1 => {
                    let repeat = if draw.chance(0.5) { Repeat::First } else { Repeat::Again };
                    (reno.on_timeout(&loss(flight), repeat), paccp.on_timeout(&loss(flight), repeat))
                }
                2 => (reno.on_recovered(flight), paccp.on_recovered(flight)),
                _ => {
                    let seen = ack(draw.below(4 * MSS));
                    (reno.on_ack(&seen), paccp.on_ack(&seen))
                }
            };
            assert_eq!(reno.window(), paccp.window(), "case {case}, step {step}");
            assert_eq!(reno.ssthresh(), paccp.ssthresh(), "case {case}, step {step}");
        }
    }
}

/// Property 17: for all weights and events, the window is at least a segment and no loss increases it.
#[test]
fn the_window_never_falls_below_a_segment() {
    use crate::rng::{Purpose, Stream};
    for case in 0..300 {
        let mut draw = Stream::new(case, Purpose::Loss, 6);
        let config = if case % 2 == 0 { CONFIG } else { EXACT };
        let mut flow = paccp(config, 1 + draw.below(20), draw.below(3) * 40, 10 + draw.below(7_990) as u32);
        for _ in 0..300 {
            let before = flow.window();
            match draw.below(12) {
                0 => {
                    let flight = 1 + draw.below(before);
                    flow.on_loss(&loss(flight));
                    assert!(flow.window() <= before.max(2 * MSS));
                }
                1 => flow.on_timeout(&loss(before), Repeat::First),
                2 => {
                    flow.set_weights(Rate::from_bps(draw.below(4) * 1_000_000_000), draw.below(8_000) as u32)
                }
                _ => flow.on_ack(&ack(1 + draw.below(3 * MSS))),
            }
            assert!(flow.window() >= MSS, "case {case}: {}", flow.window());
            assert!(flow.ssthresh() >= 2 * MSS);
        }
    }
}

/// Property 19: two flows under the fluid Eq. 11, reduced whenever their sum reaches capacity, have rates w1
/// : w2.
#[test]
fn the_fluid_law_shares_by_weight() {
    for (w1, w2) in [(1.0, 2.0), (1.0, 4.0), (0.5, 3.0)] {
        // Windows in segments; W' = -(1 + W/2)(1 + 2/W)^-w, and 1 + W/2 more without congestion. Capacity 20,000.
        let yielded = |window: f64, w: f64| (1.0 + window / 2.0) * libm::pow(1.0 + 2.0 / window, -w);
        let (mut a, mut b) = (100.0_f64, 100.0_f64);
        let (mut sum_a, mut sum_b) = (0.0, 0.0);
        let step = 0.02;
        for tick in 0..4_000_000 {
            let idle = if a + b < 20_000.0 { 1.0 } else { 0.0 };
            let rise = |window: f64, w| step * (idle * (1.0 + window / 2.0) - yielded(window, w));
            let (da, db) = (rise(a, w1), rise(b, w2));
            (a, b) = (a + da, b + db);
            if tick >= 3_000_000 {
                sum_a += a;
                sum_b += b;
            }
        }
        near(sum_b / sum_a, w2 / w1, 0.01);
    }
}

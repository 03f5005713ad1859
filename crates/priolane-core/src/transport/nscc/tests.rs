//! The cases of the controller, worked out by hand in the reference network of the source: 100 Gbps, 12 us, so a = 1,
//! W_max = 225 kB, Q = 9 us; segments of 1,000 bytes.

use super::*;
use crate::endpoint::BaseDelay;
use crate::keys::with_defaults;
use crate::transport::window::Growth;
use crate::units::Rate;

const MSS: u64 = 1_000;

fn path(rate: Rate, round_trip: Span) -> Path {
    let delay = BaseDelay { one_way: Span(round_trip.0 / 2), round_trip };
    Path { hops: 2, rate, data: delay, control: delay, send_jitter: Span::ZERO }
}

fn reference() -> Path {
    path(Rate::from_gbps(100), Span::from_us(12))
}

/// A flow in the reference network whose window is `cwnd` bytes.
fn flow(cwnd: f64) -> Nscc {
    let mut flow = Nscc::starting(&with_defaults(&[]), MSS, &reference(), Time::ZERO);
    flow.cwnd = cwnd;
    flow
}

fn us(us: u64) -> Time {
    Time(us * 1_000_000)
}

/// The ACK of one segment at `at` us, `delay` us above the base of 12 us.
fn answer(at: u64, delay: u64) -> AckEvent {
    AckEvent {
        now: us(at),
        acked: 0,
        delivered: MSS,
        in_flight: 50_000,
        una: 0,
        next: 0,
        marked: false,
        growth: Growth::Allowed,
        rtt: Some(Span::from_us(12 + delay)),
        srtt: Span::from_us(12),
        one_way_ps: 0,
        host_delay: Span::ZERO,
    }
}

fn marked(at: u64, delay: u64) -> AckEvent {
    AckEvent { marked: true, ..answer(at, delay) }
}

/// The report of a trimmed segment at `at` us.
fn trim(at: u64) -> TrimEvent {
    TrimEvent { now: us(at), bytes: MSS, in_flight: 50_000, rtt: Span::from_us(12) }
}

fn ack_many(flow: &mut Nscc, count: u64, ack: &AckEvent) {
    (0..count).for_each(|_| flow.on_ack(ack));
}

fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-12, "{value}, not {expected}");
}

#[test]
fn constants_scale_with_the_bandwidth_delay_product_and_the_target() {
    let law = flow(0.0).law;
    assert_eq!((law.rtt, law.target, law.fair, law.eta, law.fast), (12e6, 9e6, 5_000.0, 150.0, 0.25));
    // 4 MSS a b / Q = 4 x 1,000 x 1 x 0.75 / 9 us.
    assert_near(law.proportional, 4_000.0 * 0.75 / 9e6);
    // 400 Gbps for 6 us are twice 150 kB; the target is stated.
    let config = Config { target: Some(Span::from_us(3)), ..with_defaults(&[]) };
    let law = Law::of(&config, MSS, &path(Rate::from_gbps(400), Span::from_us(6)));
    assert_eq!((law.target, law.fair, law.eta, law.fast), (3e6, 10_000.0, 300.0, 0.5));
    assert_near(law.proportional, 4_000.0 * 2.0 * (3.0 / 12.0) / 3e6);
}

/// The constants that `htsim_uec -tm connection_matrices/one.cm` prints, to its six digits: packets of 4,150 bytes, 64 of them
/// header, 100 Gbps, and a `network_rtt` of 14,022,720 ps.
#[test]
fn constants_are_those_that_the_source_prints() {
    let config = with_defaults(&[]);
    let path = path(Rate::from_gbps(100), Span(14_022_720));
    let law = Law::of(&config, 4_086, &path);
    let printed = [
        ("_target_Qdelay", law.target, 10_517_040.0),
        ("_alpha", law.proportional, 0.001_591_58),
        ("_fi", law.fair, 23_873.7),
        ("_eta", law.eta, 716.21),
        ("_fi_scale", law.fast, 0.292_14),
        ("_qa_threshold", config.qa_threshold * law.target, 4.206_82e7),
        ("_maxwnd", Nscc::starting(&config, 4_086, &path, Time::ZERO).most, 262_926.0),
    ];
    for (name, value, theirs) in printed {
        assert!((value / theirs - 1.0).abs() < 5e-6, "{name}: {value}, not {theirs}");
    }
}

#[test]
fn a_flow_starts_at_the_ceiling_and_the_least_round_trip_lowers_it() {
    let mut flow = Nscc::starting(&with_defaults(&[]), MSS, &reference(), Time::ZERO);
    assert_eq!(flow.window(), 225_000);
    // 8 us at 12,500 bytes a us and 1.5.
    flow.on_ack(&AckEvent { rtt: Some(Span::from_us(8)), ..answer(8, 0) });
    assert_eq!((flow.base, flow.window()), (8e6, 150_000));
    flow.on_ack(&answer(9, 0));
    assert_eq!(flow.base, 8e6);
}

/// Quadrant without mark, below the target. Each ACK adds 4 x 1,000 x 1,000 x (9 - 3) / 12 = 2e6; the ninth is the first
/// with more than eight segments: W + 9 x 2e6 / W.
#[test]
fn below_the_target_the_increase_is_proportional_to_the_room() {
    let mut flow = flow(100_000.0);
    ack_many(&mut flow, 8, &answer(5, 3));
    assert_eq!(flow.cwnd, 100_000.0);
    flow.on_ack(&answer(5, 3));
    assert_near(flow.cwnd, 100_000.0 + 180.0);
    assert_eq!((flow.increase, flow.received), (0.0, 0));
}

/// Quadrant without mark, at the target or above: 5 x 1,000 x 1,000 for each ACK, whatever the delay.
#[test]
fn unmarked_delays_at_the_target_or_above_increase_all_windows_alike() {
    for delay in [9, 10, 30] {
        let mut flow = flow(100_000.0);
        ack_many(&mut flow, 9, &answer(5, delay));
        assert_near(flow.cwnd, 100_000.0 + 9.0 * 5e6 / 1e5);
    }
}

/// Quadrant with mark, below the target.
#[test]
fn marks_below_the_target_change_nothing() {
    let mut flow = flow(100_000.0);
    flow.average = 50e6;
    ack_many(&mut flow, 100, &marked(5, 8));
    assert_eq!(flow.cwnd, 100_000.0);
}

/// Quadrant with mark, at the target or above: 1 - 0.8 (18 - 9) / 18 = 0.6, once in a base round trip after the first.
#[test]
fn marked_delays_cut_by_the_excess_of_the_average_once_a_round_trip() {
    let mut flow = flow(100_000.0);
    flow.average = 18e6;
    flow.on_ack(&marked(12, 18));
    assert_eq!(flow.cwnd, 100_000.0, "no more than a round trip after the start");
    // At 13 and 26 us more than 12 us have passed since the last addition of eta, 150 bytes, which no queue prevents.
    for (at, expected) in [(13, 60_150.0), (14, 60_150.0), (25, 60_150.0), (26, 60_150.0 * 0.6 + 150.0)] {
        flow.on_ack(&marked(at, 18));
        assert_near(flow.cwnd, expected);
    }
}

#[test]
fn a_cut_leaves_at_least_half_and_an_average_below_the_target_none() {
    let mut flow = flow(100_000.0);
    // 1 - 0.8 (900 - 9) / 900 = 0.208, and 150 bytes of eta.
    flow.average = 900e6;
    flow.on_ack(&marked(13, 900));
    assert_near(flow.cwnd, 50_150.0);
    flow.average = 8e6;
    flow.adjusted = us(100);
    flow.on_ack(&marked(100, 9));
    assert_near(flow.cwnd, 50_150.0);
}

/// Closed form of an EWMA from 0 of n equal samples: s (1 - 0.9875^n). An unmarked delay above 9 us counts as 12 / 4 = 3 us, a
/// trimmed segment as 12 us.
#[test]
fn the_average_takes_samples_by_their_kind() {
    let rest = (0..50).fold(1.0, |rest, _| rest * (1.0 - 0.0125));
    for (ack, sample) in
        [(answer(5, 7), 7e6), (answer(5, 9), 9e6), (answer(5, 10), 3e6), (marked(5, 10), 10e6)]
    {
        let mut flow = flow(100_000.0);
        ack_many(&mut flow, 50, &ack);
        assert!((flow.average / (sample * (1.0 - rest)) - 1.0).abs() < 1e-9, "{}", flow.average);
    }
    let mut flow = flow(100_000.0);
    (0..50).for_each(|_| flow.on_trim(&trim(5)));
    assert!((flow.average / (12e6 * (1.0 - rest)) - 1.0).abs() < 1e-9, "{}", flow.average);
}

/// Nine ACKs without delay add 9 x 4 x 1e6 x 9 / 12 = 27e6 to a window of 10,000: 12,700. With the thirteenth more than
/// that arrived in a row: from then on each adds a quarter of its bytes. A delay of 1 us ends that.
#[test]
fn a_window_without_delay_begins_fast_increase() {
    let mut flow = flow(10_000.0);
    ack_many(&mut flow, 12, &answer(5, 0));
    assert_near(flow.cwnd, 12_700.0);
    assert_eq!(flow.calm, Calm::For(12_000.0));
    flow.on_ack(&answer(5, 0));
    assert_near(flow.cwnd, 12_950.0);
    ack_many(&mut flow, 4, &answer(5, 0));
    assert_near(flow.cwnd, 13_950.0);
    flow.on_ack(&answer(5, 1));
    // The eighteenth ACK adds 4e6 x 8 / 12 to the 9e6 of the tenth to twelfth, and is more than eight segments.
    assert_near(flow.cwnd, 13_950.0 + (9e6 + 32e6 / 12.0) / 13_950.0);
    assert_eq!(flow.calm, Calm::For(0.0));
}

#[test]
fn a_round_trip_adds_eta_and_what_was_collected_even_if_little_arrived() {
    let mut flow = flow(100_000.0);
    flow.on_ack(&answer(12, 3));
    assert_eq!(flow.cwnd, 100_000.0);
    flow.on_ack(&answer(13, 3));
    assert_near(flow.cwnd, 100_000.0 + 2.0 * 2e6 / 1e5 + 150.0);
}

#[test]
fn a_trimmed_segment_takes_its_bytes_from_the_window_down_to_a_segment() {
    let mut flow = flow(3_500.0);
    let windows: Vec<u64> = (0..4)
        .map(|_| {
            flow.on_trim(&trim(5));
            flow.window()
        })
        .collect();
    assert_eq!(windows, [2_500, 1_500, 1_000, 1_000]);
}

/// The first signal, at 5 us, begins a period of 12 + 9 us. Four segments arrive in it: fewer than 225,000 / 8.
#[test]
fn the_window_adapts_quickly_to_what_arrived_and_then_ignores_what_was_in_flight() {
    let mut flow = flow(200_000.0);
    flow.on_trim(&trim(5));
    ack_many(&mut flow, 4, &answer(10, 3));
    flow.on_trim(&trim(26));
    assert_eq!(flow.cwnd, 198_000.0, "not before 26 us have passed");
    flow.on_trim(&trim(27));
    assert_eq!((flow.cwnd, flow.ignoring), (4_000.0, 50_000));
    // 48 trims and a mark are ignored, and count; unmarked ACKs are not ignored.
    (0..48).for_each(|_| flow.on_trim(&trim(28)));
    flow.average = 50e6;
    flow.on_ack(&marked(40, 20));
    assert_eq!((flow.cwnd, flow.ignoring), (4_000.0, 1_000));
    flow.on_ack(&answer(41, 3));
    assert_near(flow.cwnd, 4_000.0 + 2e6 / 4_000.0 + 150.0);
    // Nothing is left: this trim counts.
    flow.on_trim(&trim(42));
    assert_near(flow.cwnd, 3_650.0);
}

#[test]
fn long_delays_adapt_quickly_without_trims_and_many_arrivals_never() {
    for (delay, arrivals, adapts) in [(36, 5, false), (37, 5, true), (37, 28, true), (37, 29, false)] {
        let mut flow = flow(200_000.0);
        flow.on_ack(&answer(1, 0));
        // With the ACK that looks: `arrivals` segments.
        ack_many(&mut flow, arrivals - 1, &marked(20, 0));
        let before = flow.cwnd;
        flow.on_ack(&answer(23, delay));
        assert_eq!(flow.ignoring > 0, adapts, "{delay} us, {arrivals} segments");
        if adapts {
            assert_eq!(flow.cwnd, (arrivals * MSS) as f64);
        } else {
            assert!(flow.cwnd >= before);
        }
    }
}

#[test]
fn a_timeout_takes_what_is_in_flight_from_the_window() {
    let mut flow = flow(100_000.0);
    let loss = LossEvent { now: us(5), in_flight: 30_000, next: 0 };
    flow.on_loss(&loss);
    assert_eq!(flow.window(), 100_000);
    flow.on_timeout(&loss, Repeat::First);
    assert_eq!(flow.window(), 70_000);
    flow.on_timeout(&LossEvent { in_flight: 70_000, ..loss }, Repeat::Again);
    assert_eq!(flow.window(), 1_000);
}

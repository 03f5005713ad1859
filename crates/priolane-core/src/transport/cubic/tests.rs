use super::*;
use crate::keys::with_defaults;
use crate::units::Span;

const MSS: u64 = 1_000;
const WAN: Span = Span::from_ms(100);
const FABRIC: Span = Span::from_us(20);

fn config() -> Config {
    with_defaults(&[])
}

fn ack(now: Time, segments: f64, rtt: Span) -> AckEvent {
    AckEvent {
        now,
        acked: (segments * MSS as f64) as u64,
        delivered: (segments * MSS as f64) as u64,
        in_flight: 0,
        una: 0,
        next: u64::MAX,
        marked: false,
        growth: Growth::Allowed,
        rtt: Some(rtt),
        srtt: rtt,
        one_way_ps: 0,
        host_delay: Span::ZERO,
    }
}

fn loss(segments: u64) -> LossEvent {
    LossEvent { now: Time::ZERO, in_flight: segments * MSS, next: 0 }
}

/// A flow that has just lost a packet with a window of `segments`, all of them in flight.
fn after_loss(config: &Config, segments: u64) -> Cubic {
    let mut flow = Cubic::new(&Config { init_window: Some(segments * MSS), ..*config }, MSS);
    flow.on_loss(&loss(segments));
    flow
}

/// A flow whose ACKs arrive one by one at the rate of its window.
struct Clocked {
    flow: Cubic,
    now: Time,
    rtt: Span,
}

impl Clocked {
    fn new(flow: Cubic, rtt: Span) -> Self {
        Self { flow, now: Time::ZERO, rtt }
    }

    fn acknowledge(&mut self) {
        self.flow.on_ack(&ack(self.now, 1.0, self.rtt));
        self.now += Span((self.rtt.0 as f64 / self.flow.cwnd) as u64);
    }

    fn run_until(&mut self, at: f64) {
        while self.now.as_secs_f64() < at {
            self.acknowledge();
        }
    }
}

fn w_max(flow: &Cubic) -> Option<f64> {
    let mut found = None;
    flow.inspect(&mut |name, value| {
        if name == "cubic_w_max_bytes" {
            found = Some(value / MSS as f64);
        }
    });
    found
}

/// Eq. 1 with K found by bisection of 0.4 K^3 = 0.3 `W_max`. The window follows the curve of the next round trip, so at the
/// curvature 6 C K and 100 ms it is 0.16 segments off at most; a segment is tolerated.
#[test]
fn beyond_the_reno_friendly_region_the_window_is_the_cubic_function_of_time() {
    for segments in [400, 1_000, 3_000] {
        let wide = segments as f64;
        let (mut low, mut high) = (0.0, 100.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            (low, high) =
                if 0.4 * middle * middle * middle < 0.3 * wide { (middle, high) } else { (low, middle) };
        }
        let k = low;
        let mut clocked = Clocked::new(after_loss(&config(), segments), WAN);
        for eighth in 0..=16 {
            let t = k * f64::from(eighth) / 8.0;
            clocked.run_until(t);
            let expected = 0.4 * (t - k) * (t - k) * (t - k) + wide;
            let found = clocked.flow.cwnd;
            assert!((found - expected).abs() <= 1.0, "W_max {wide}, t {t}: {found}, not {expected}");
        }
    }
}

/// dw/dn = alpha / w gives w^2 = w_0^2 + 2 alpha n after n segments: from 70 to 100 in 4816.7 at alpha = 9/17, and to 110
/// in 1050 more at 1. A hundredth of a segment is tolerated.
#[test]
fn in_a_fabric_the_window_is_that_of_aimd() {
    let mut clocked = Clocked::new(after_loss(&config(), 100), FABRIC);
    let mut acknowledge = |times| {
        (0..times).for_each(|_| clocked.acknowledge());
        clocked.flow.cwnd
    };
    let found = [acknowledge(1_000), acknowledge(3_816), acknowledge(1_051)];
    let expected = [(4_900.0 + 18.0 / 17.0 * 1_000.0_f64).sqrt(), 100.0, 110.0];
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found - expected).abs() < 0.01, "{found}, not {expected}");
    }
}

#[test]
fn a_loss_below_the_former_maximum_aims_below_the_window() {
    for (fast_convergence, second) in [(true, 59.5), (false, 70.0)] {
        let mut flow = after_loss(&Config { fast_convergence, ..config() }, 100);
        assert_eq!((w_max(&flow), flow.window()), (Some(100.0), 70 * MSS));
        flow.on_loss(&loss(70));
        assert_eq!((w_max(&flow), flow.window()), (Some(second), 49 * MSS));
        // K^3 = (W_max - 49) / 0.4: 2.972^3 = 26.25, 3.744^3 = 52.5 (§4.2).
        flow.on_ack(&ack(Time::ZERO, 1.0, WAN));
        let k = flow.stage.unwrap().k;
        assert!((k * k * k * 0.4 - (second - 49.0)).abs() < 1e-9, "{k}");
    }
}

#[test]
fn a_loss_leaves_seven_tenths_of_the_flight_and_at_least_two_segments() {
    let mut flow = Cubic::new(&config(), MSS);
    flow.on_loss(&loss(8));
    assert_eq!((flow.window(), flow.ssthresh, w_max(&flow)), (5_600, 5.6, Some(10.0)));
    flow.on_loss(&loss(2));
    assert_eq!(flow.window(), 2 * MSS);
}

#[test]
fn a_timeout_starts_from_one_and_the_stage_that_follows_has_no_k() {
    let mut flow = after_loss(&config(), 100);
    flow.on_timeout(&loss(50), Repeat::First);
    assert_eq!((flow.window(), flow.ssthresh, w_max(&flow)), (MSS, 35.0, None));
    // The same data again: the threshold stays.
    flow.on_timeout(&loss(1), Repeat::Again);
    assert_eq!((flow.window(), flow.ssthresh), (MSS, 35.0));
    // Slow start adds 34 segments, one for each. The next ACK begins the stage.
    (0..34).for_each(|_| flow.on_ack(&ack(Time::ZERO, 3.0, WAN)));
    assert!((flow.cwnd, flow.stage.is_none()) == (35.0, true));
    flow.on_ack(&ack(Time::ZERO, 1.0, WAN));
    let Stage { k, plateau, .. } = flow.stage.unwrap();
    assert_eq!((k, plateau), (0.0, 35.0));
    // W_cubic(0) = 35 is below W_est = 35 + 9/17 / 35.
    assert_eq!(flow.cwnd, 35.0 + 3.0 * (1.0 - 0.7) / 1.7 / 35.0);
}

#[test]
fn the_first_threshold_is_reached_exactly_and_the_rest_counts_for_avoidance() {
    let mut flow = after_loss(&config(), 10);
    flow.on_timeout(&loss(5), Repeat::First);
    // The threshold is 3.5: 2, 3, and 3.5 with half a segment left over.
    (0..3).for_each(|_| flow.on_ack(&ack(Time::ZERO, 1.0, FABRIC)));
    let left = 0.5 * 3.0 * (1.0 - 0.7) / 1.7 / 3.5;
    assert!((flow.cwnd - 3.5 - left).abs() < 1e-12, "{}", flow.cwnd);
}

#[test]
fn times_in_which_the_window_does_not_limit_the_sender_do_not_count() {
    let busy = || {
        let mut clocked = Clocked::new(after_loss(&config(), 1_000), WAN);
        clocked.run_until(3.0);
        clocked
    };
    let mut never = busy();
    never.run_until(6.0);
    let expected = never.flow.cwnd;
    for growth in [Growth::NotLimited, Growth::Recovering] {
        let mut limited = busy();
        for _ in 0..100 {
            let unchanged = limited.flow.cwnd;
            limited.flow.on_ack(&AckEvent { growth, ..ack(limited.now, 1.0, WAN) });
            assert_eq!(limited.flow.cwnd, unchanged);
            limited.now += Span::from_ms(50);
        }
        limited.run_until(11.0);
        let found = limited.flow.cwnd;
        assert!((found - expected).abs() < 1.0, "{growth:?}: {found}, not {expected}");
    }
    // Nothing was in the network for 5 s; the first ACK comes a round trip later, and that one counts.
    let mut idle = busy();
    idle.now += Span(Span::from_ms(5_000).0 + WAN.0);
    idle.run_until(11.1);
    never.run_until(6.1);
    let (found, expected) = (idle.flow.cwnd, never.flow.cwnd);
    assert!((found - expected).abs() < 1.0, "{found}, not {expected}");
}

/// Half a segment for each segment acknowledged: dw/dt = w / 2 RTT, so e^(1/2) in a round trip. A hundredth is tolerated.
#[test]
fn the_window_grows_by_half_a_segment_per_segment_at_most() {
    let mut clocked = Clocked::new(after_loss(&Config { c: 1e12, ..config() }, 100), WAN);
    clocked.run_until(0.1);
    let factor = clocked.flow.cwnd / 70.0;
    assert!((factor - 1.648_721).abs() < 0.016, "{factor}");
}

#[test]
fn the_first_window_is_ten_segments_unless_said_and_at_least_one() {
    let window = |bytes| Cubic::new(&Config { init_window: bytes, ..config() }, MSS).window();
    assert_eq!([None, Some(4_000), Some(1)].map(window), [10_000, 4_000, 1_000]);
}

#[test]
fn after_recovery_the_window_is_at_most_a_segment_above_the_flight() {
    for (flight, window) in [(3, 4), (0, 2), (90, 70)] {
        let mut flow = after_loss(&config(), 100);
        flow.on_recovered(flight * MSS);
        assert_eq!(flow.window(), window * MSS);
    }
}

use super::*;

const MSS: u64 = 1_000;

const CONFIG: Config = Config {
    signal: Signal::OneWay,
    target: Span::from_us(20),
    class_step: Span::ZERO,
    gain: 1.0,
    decrease_gain: 1.0,
    allowed_increase: 1.0,
    init_window: Some(10 * MSS),
    min_window: 2.0,
    base: Base::Measured(Span::from_ms(1)),
};

/// An ACK of a segment with ten in flight, with a one-way delay in microseconds.
fn ack(at: u64, delay: i64) -> AckEvent {
    AckEvent {
        now: Time(at * 1_000_000),
        acked: MSS,
        delivered: MSS,
        in_flight: 0,
        una: MSS,
        next: 10 * MSS,
        marked: false,
        growth: Growth::Allowed,
        rtt: Some(Span::from_us(10)),
        srtt: Span::from_us(10),
        one_way_ps: delay * 1_000_000,
        host_delay: Span::ZERO,
    }
}

fn flow(config: &Config) -> Ledbat {
    Ledbat::new(config, MSS)
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn growth_is_in_proportion_to_what_is_missing_of_the_target() {
    let mut flow = flow(&CONFIG);
    // The base is -3 us, because the clocks differ; no queue: 10,000 + 1,000 x 1 x 1,000 / 10,000.
    flow.on_ack(&ack(100, -3));
    close(flow.cwnd(), 10_100.0);
    // More than a round trip later, 5 us of queueing delay: off = 15 / 20.
    flow.on_ack(&ack(200, 2));
    close(flow.cwnd(), 10_100.0 + 0.75 * 1e6 / 10_100.0);
}

#[test]
fn each_class_below_the_best_has_a_target_a_step_lower() {
    let mut flow = flow(&Config { class_step: Span::from_us(5), ..CONFIG });
    let mut target = |class| {
        flow.set_class(class);
        flow.target
    };
    // 20 us, 5 us less for each class, and 1 ns at least.
    assert_eq!((target(0), target(3), target(1), target(4)), (20e6, 5e6, 15e6, 1e3));
}

#[test]
fn a_window_that_does_not_limit_shrinks_but_does_not_grow() {
    let mut flow = flow(&CONFIG);
    flow.on_ack(&AckEvent { growth: Growth::NotLimited, ..ack(100, 0) });
    close(flow.cwnd(), 10_000.0);
    // 40 us of queueing delay: off = -1.
    flow.on_ack(&AckEvent { growth: Growth::NotLimited, ..ack(200, 40) });
    close(flow.cwnd(), 10_000.0 - 1e6 / 10_000.0);
}

#[test]
fn more_than_the_target_shrinks_the_window_by_the_gain_of_decreases() {
    let mut flow = flow(&Config { decrease_gain: 4.0, ..CONFIG });
    flow.on_ack(&ack(100, 0));
    // 40 us of queueing delay: off = -1, times 4.
    flow.on_ack(&ack(200, 40));
    close(flow.cwnd(), 10_100.0 - 4.0 * 1e6 / 10_100.0);
    for at in 0..500 {
        flow.on_ack(&ack(300 + at, 40));
    }
    close(flow.cwnd(), 2_000.0);
}

#[test]
fn the_filter_takes_the_shortest_of_the_last_samples_of_a_round_trip() {
    let mut flow = flow(&CONFIG);
    flow.on_ack(&ack(100, 0));
    // 6 us later the sample of 0 still counts.
    flow.on_ack(&ack(106, 20));
    close(flow.cwnd(), 10_100.0 + 1e6 / 10_100.0);
    let before = flow.cwnd();
    // 11 us later it does not; the sample of 20 us does: off = 0.
    flow.on_ack(&ack(111, 30));
    close(flow.cwnd(), before);
}

#[test]
fn the_window_stays_within_what_is_in_flight_and_a_segment() {
    let mut flow = flow(&CONFIG);
    // One segment is left in flight, two before this ACK: the window is at most three.
    flow.on_ack(&AckEvent { next: 2 * MSS, ..ack(100, 0) });
    close(flow.cwnd(), 3_000.0);
}

#[test]
fn losses_halve_once_a_round_trip_and_a_timeout_leaves_a_segment() {
    let mut flow = flow(&CONFIG);
    flow.on_ack(&ack(100, 0));
    let loss = |at: u64| LossEvent { now: Time(at * 1_000_000), in_flight: 0, next: 0 };
    flow.on_loss(&loss(200));
    flow.on_loss(&loss(209));
    close(flow.cwnd(), 5_050.0);
    flow.on_loss(&loss(210));
    close(flow.cwnd(), 2_525.0);
    flow.on_loss(&loss(230));
    close(flow.cwnd(), 2_000.0);
    flow.on_timeout(&loss(300), Repeat::First);
    assert_eq!(flow.window(), MSS);
}

#[test]
fn a_base_of_long_ago_is_forgotten() {
    let mut flow = flow(&CONFIG);
    flow.on_ack(&ack(0, 0));
    // A new route is 30 us longer; after ten intervals of 1 ms that is the base.
    for ms in 1..10 {
        flow.on_ack(&ack(ms * 1_000, 30));
    }
    let before = flow.cwnd();
    flow.on_ack(&ack(10_000, 30));
    assert!(flow.cwnd() > before, "{} {before}", flow.cwnd());
    assert!(before < 10_000.0, "{before}");
}

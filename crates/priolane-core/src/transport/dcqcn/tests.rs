use super::*;
use crate::endpoint::BaseDelay;
use crate::keys::with_defaults;
use crate::transport::window::Growth;

const MSS: u64 = 1_000;
const G: f64 = 1.0 / 256.0;

/// Links of 40 Gbps.
const PATH: Path = {
    let delay = BaseDelay { one_way: Span::from_us(2), round_trip: Span::from_us(4) };
    Path { hops: 2, rate: Rate::from_gbps(40), data: delay, control: delay, send_jitter: Span::ZERO }
};

fn us(us: u64) -> Time {
    Time(us * 1_000_000)
}

fn starting(config: Config) -> Dcqcn {
    Dcqcn::starting(&config, MSS, &PATH)
}

fn paper() -> Dcqcn {
    starting(with_defaults(&[]))
}

/// An ACK without a mark.
fn answer(at: u64) -> AckEvent {
    AckEvent {
        now: us(at),
        acked: MSS,
        delivered: MSS,
        in_flight: 0,
        una: 0,
        next: 0,
        marked: false,
        growth: Growth::Allowed,
        rtt: Some(Span::from_us(4)),
        srtt: Span::from_us(4),
        one_way_ps: 0,
        host_delay: Span::ZERO,
    }
}

/// A marked ACK arrives.
fn mark(flow: &mut Dcqcn, at: u64) {
    flow.on_ack(&AckEvent { marked: true, ..answer(at) });
}

/// The rate in Gbps after each increase by time up to `until`.
fn raised(flow: &mut Dcqcn, until: u64) -> Vec<f64> {
    let mut rates = Vec::new();
    while flow.wake() <= us(until) {
        let now = flow.wake();
        flow.on_wake(now);
        rates.push((flow.rate / 1e5).round() / 1e4);
    }
    rates
}

#[test]
fn presets_have_the_published_values_and_are_the_defaults_of_other_keys() {
    assert_eq!(with_defaults::<Config>(&[]), Config::of(Preset::Paper));
    let Config { g, cnp_interval, rate_timer, byte_counter, additive, .. } = Config::of(Preset::Connectx);
    assert_eq!((1.0 / g, cnp_interval, rate_timer), (204.8, Span::from_us(4), Span::from_us(300)));
    assert_eq!((byte_counter, additive.bps()), (Some(2_097_088), 5_000_000));
    let Config { byte_counter, recovery_stages, clamp_target, .. } = Config::of(Preset::Hpcc);
    assert_eq!((byte_counter, recovery_stages, clamp_target), (None, 1, false));
}

#[test]
fn with_a_class_of_their_own_cnps_cut_the_rate_and_marked_acks_do_not() {
    let mut flow = starting(Config { cnp_class: Some(3), ..with_defaults(&[]) });
    mark(&mut flow, 10);
    assert_eq!((flow.rate, flow.wake()), (40e9, Time::NEVER));
    // alpha is 1: half of the line. The receiver keeps the interval, so the next CNP counts at once.
    flow.on_notification(us(11));
    assert_eq!((flow.rate, flow.target, flow.wake()), (20e9, 40e9, us(66)));
    flow.on_notification(us(12));
    assert_eq!((flow.rate, flow.target), (10e9, 20e9));
    let notification = |config: &Config| Dcqcn::notification(config);
    let expected = Notification { class: 3, interval: Span::from_us(50) };
    assert_eq!(notification(&flow.config), Some(expected));
    assert_eq!((notification(&Config::of(Preset::Paper)), flow.config.classes()), (None, 4));
}

/// Null test: without marks a flow sends at the rate of its line for ever, and sets no timer.
#[test]
fn without_marks_the_rate_is_that_of_the_line_and_no_timer_runs() {
    let mut flow = paper();
    for at in 0..100_000 {
        flow.on_sent(us(at));
        flow.on_ack(&answer(at));
        assert_eq!(flow.wake(), Time::NEVER);
    }
    // 8,000 bits at 40 Gbps are 200 ns.
    assert_eq!(flow.gate(), SendPermission::NotBefore(Time(us(99_999).0 + 200_000)));
    assert_eq!(flow.alpha, 1.0);
}

#[test]
fn marks_cut_the_rate_by_half_of_alpha_at_most_once_per_interval() {
    let mut flow = paper();
    let rates: Vec<f64> = [0, 1, 49, 50, 99, 100]
        .into_iter()
        .map(|at| {
            mark(&mut flow, at);
            flow.rate / 1e9
        })
        .collect();
    // alpha stays 1: it would decay 55 us after a CNP.
    assert_eq!(rates, [20.0, 20.0, 20.0, 10.0, 10.0, 5.0]);
    assert_eq!((flow.target / 1e9, flow.alpha), (10.0, 1.0));
}

#[test]
fn the_floor_holds() {
    let mut flow = paper();
    (0..100).for_each(|i| mark(&mut flow, i * 50));
    assert_eq!(flow.rate, 1e7);
}

/// Closed form: (1 - g)^n after n times K, and alpha + g (1 - alpha) with the CNP; 1e-12 is tolerated.
#[test]
fn alpha_decays_geometrically_from_one_cnp_to_the_next() {
    for n in [0_u32, 1, 10, 1_000] {
        let mut flow = paper();
        mark(&mut flow, 0);
        let at = 55 * u64::from(n) + 50;
        raised(&mut flow, at);
        let before = flow.rate;
        mark(&mut flow, at);
        let decayed = (0..n).fold(1.0, |alpha, _| alpha * (1.0 - G));
        assert!((flow.alpha - (decayed + G * (1.0 - decayed))).abs() < 1e-12, "{n}: {}", flow.alpha);
        let cut = flow.rate / before;
        assert!((cut - (1.0 - decayed / 2.0)).abs() < 1e-12, "{n}: {cut}");
    }
}

/// By hand: R_T = 20 and R_C = 10 Gbps after two CNPs; each stage halves the distance, and from the fifth on the target
/// rises by 40 Mbps before.
#[test]
fn the_timer_halves_the_distance_and_then_raises_the_target() {
    let mut flow = paper();
    mark(&mut flow, 0);
    mark(&mut flow, 50);
    assert_eq!(flow.wake(), us(105));
    let rates = raised(&mut flow, 50 + 6 * 55);
    assert_eq!(rates, [15.0, 17.5, 18.75, 19.375, 19.7075, 19.8938]);
    // The next CNP sets the target to the rate, and restarts the timer.
    let before = flow.rate;
    mark(&mut flow, 400);
    assert_eq!((flow.target, flow.wake()), (before, us(455)));
}

#[test]
fn without_the_clamp_the_target_stays_until_the_rate_was_raised() {
    let mut flow = starting(Config { clamp_target: false, ..with_defaults(&[]) });
    mark(&mut flow, 0);
    mark(&mut flow, 50);
    assert_eq!((flow.target / 1e9, flow.rate / 1e9), (40.0, 10.0));
    raised(&mut flow, 105);
    mark(&mut flow, 110);
    assert_eq!(flow.target / 1e9, 25.0);
}

/// The counter of bytes alone raises the rate as the timer does; with both beyond F, the step is R_HAI.
#[test]
fn bytes_raise_the_rate_too_and_both_beyond_their_stages_take_the_large_step() {
    let config = Config { byte_counter: Some(10 * MSS), recovery_stages: 1, ..with_defaults(&[]) };
    let mut flow = starting(config);
    mark(&mut flow, 0);
    mark(&mut flow, 50);
    (0..9).for_each(|_| flow.on_sent(us(60)));
    assert_eq!(flow.rate / 1e9, 10.0);
    // The first stage is additive with F = 1: (20.04 + 10) / 2.
    flow.on_sent(us(60));
    assert_eq!(flow.rate / 1e9, 15.02);
    // The second by bytes, (20.08 + 15.02) / 2; then two by time: (20.12 + 17.55) / 2, and with R_HAI (20.32 + 18.835) / 2.
    (0..10).for_each(|_| flow.on_sent(us(70)));
    assert_eq!(flow.rate / 1e9, 17.55);
    assert_eq!(raised(&mut flow, 160), [18.835, 19.5775]);
}

/// Without a counter of bytes the timer alone passes through all phases (HPCC's authors).
#[test]
fn the_timer_alone_leads_to_the_large_step() {
    let mut flow = starting(Config { byte_counter: None, recovery_stages: 1, ..with_defaults(&[]) });
    mark(&mut flow, 0);
    mark(&mut flow, 50);
    // (20.04 + 10) / 2, then (20.24 + 15.02) / 2.
    assert_eq!(raised(&mut flow, 160), [15.02, 17.63]);
}

#[test]
fn a_flow_back_at_its_line_stops_its_timer() {
    let mut flow = paper();
    mark(&mut flow, 0);
    let rates = raised(&mut flow, 100_000);
    // 20 Gbps from the line, halved 35 times, is less than a bit per second.
    assert_eq!((rates.len(), rates.last()), (35, Some(&40.0)));
    assert_eq!((flow.rate, flow.wake()), (4e10, Time::NEVER));
}

#[test]
fn a_late_timer_counts_every_period_that_passed() {
    let [mut on_time, mut late] = [paper(), paper()];
    for flow in [&mut on_time, &mut late] {
        mark(flow, 0);
        mark(flow, 50);
    }
    raised(&mut on_time, 600);
    late.on_wake(us(600));
    assert_eq!((late.rate, late.wake()), (on_time.rate, on_time.wake()));
}

use super::*;
use crate::endpoint::{BaseDelay, FlowSpec};
use crate::ids::{FlowId, HostId};
use crate::rng::{Purpose, Stream};
use crate::units::Rate;

const MSS: u64 = 1_000;

/// Two 100 Gbps links with an RTT of 12 us: a BDP of 150,000 B.
const PATH: Path = {
    let delay = BaseDelay { one_way: Span::from_us(6), round_trip: Span::from_us(12) };
    Path { hops: 2, rate: Rate::from_gbps(100), data: delay, control: delay, send_jitter: Span::ZERO }
};

/// A target of 40 us without scaling.
const PLAIN: Config = Config {
    signal: Signal::Rtt,
    init_window: Size::Packets(10.0),
    ai: Size::Packets(1.0),
    target: Span::from_us(40),
    target_from: TargetFrom::Total,
    hop: Span::ZERO,
    class_step: Span::ZERO,
    fs_range: None,
    beta: 0.8,
    max_mdf: 0.5,
    min_window: Size::Packets(0.001),
    max_window: Size::Packets(1_000.0),
    whole: Whole::Fractions,
    endpoint_target: None,
    retx_reset: 5,
    ..Config::of(Preset::Paper)
};

fn swift(config: &Config) -> Swift {
    let flow = FlowSpec::new(FlowId(0), (HostId(0), HostId(1)), None);
    let mut swift = Swift::new(config, MSS);
    let rng = &mut Stream::new(1, Purpose::Endpoint, 0);
    swift.open(&mut FlowStart {
        flow: &flow.request(),
        catch_up: Span::ZERO,
        now: Time::ZERO,
        path: &|| PATH,
        rng,
    });
    swift
}

/// An ACK of a segment at `at` microseconds after the start, with this delay in microseconds.
fn ack(at: u64, delay: u64) -> AckEvent {
    AckEvent {
        now: Time(at * 1_000_000),
        acked: MSS,
        delivered: MSS,
        in_flight: 0,
        una: 0,
        next: 0,
        marked: false,
        growth: Growth::Allowed,
        rtt: Some(Span::from_us(delay)),
        srtt: Span::from_us(delay),
        one_way_ps: 0,
        host_delay: Span::ZERO,
    }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn a_round_trip_below_the_target_adds_ai_by_shares() {
    let mut flow = swift(&PLAIN);
    flow.on_ack(&ack(20, 39));
    // 10,000 + 1,000 x 1,000 / 10,000.
    close(flow.cwnd(), 10_100.0);
    flow.on_ack(&AckEvent { growth: Growth::NotLimited, ..ack(21, 39) });
    flow.on_ack(&AckEvent { acked: 0, ..ack(21, 39) });
    close(flow.cwnd(), 10_100.0);
}

/// A step of 180 B over a window of 90,500 B is 180 x 1,000 / 90,500 = 1.99 B an ACK, and over 181,000 B less than one.
#[test]
fn in_whole_bytes_what_an_ack_adds_or_leaves_is_rounded_down() {
    let after = |packets, grain, delay| {
        let first = Config { init_window: Size::Packets(packets), ai: Size::Packets(0.18), grain, ..PLAIN };
        let mut flow = swift(&first);
        flow.on_ack(&ack(20, delay));
        flow.cwnd()
    };
    assert_eq!(after(90.5, Grain::Bytes, 20), 90_501.0);
    close(after(90.5, Grain::Fractions, 20), 90_500.0 + 180e3 / 90_500.0);
    assert_eq!(after(181.0, Grain::Bytes, 20), 181_000.0);
    // 0.84 of 90,501 B are 76,020.84.
    assert_eq!(after(90.501, Grain::Bytes, 50), 76_020.0);
    close(after(90.501, Grain::Fractions, 50), 76_020.84);
}

#[test]
fn a_divisor_of_window_and_packet_halves_the_step_of_one_packet() {
    let after = |packets| {
        let divisor = Divisor::WindowAndPacket;
        let mut flow = swift(&Config { init_window: Size::Packets(packets), divisor, ..PLAIN });
        flow.on_ack(&ack(20, 20));
        flow.cwnd()
    };
    // 1,000 x 1,000 over 1,999, 1,249, and 10,999 B.
    close(after(1.0), 1_000.0 + 1e6 / 1_999.0);
    close(after(0.25), 250.0 + 1e6 / 1_249.0);
    close(after(10.0), 10_000.0 + 1e6 / 10_999.0);
    // Of one byte and a packet less one there is a packet.
    close(after(0.001), 1.0 + 1_000.0);
}

#[test]
fn each_class_below_the_best_has_a_target_a_step_lower() {
    let mut flow = swift(&Config { class_step: Span::from_us(10), ..PLAIN });
    let mut target = |class| {
        flow.set_class(class);
        flow.target_ps()
    };
    // 40 us, 10 us less for each class.
    assert_eq!((target(0), target(3), target(1)), (40e6, 10e6, 30e6));
}

#[test]
fn a_window_below_a_packet_gains_ai_per_packet_and_is_paced() {
    let mut flow = swift(&Config { init_window: Size::Packets(0.25), ..PLAIN });
    assert_eq!((flow.window(), flow.gate()), (MSS, SendPermission::Open));
    flow.on_sent(Time(5_000_000));
    // A round trip of 12 us at a quarter of a packet: 48 us later.
    assert_eq!(flow.gate(), SendPermission::NotBefore(Time(53_000_000)));
    flow.on_ack(&ack(20, 20));
    // 250 + 1,000 x 1,000 / 1,000: no longer paced.
    close(flow.cwnd(), 1_250.0);
    assert_eq!((flow.window(), flow.gate()), (1_250, SendPermission::Open));
}

#[test]
fn a_decrease_is_in_proportion_to_the_excess_and_once_a_round_trip() {
    let mut flow = swift(&PLAIN);
    flow.on_ack(&ack(100, 50));
    // 1 - 0.8 (50 - 40) / 50 = 0.84.
    close(flow.cwnd(), 8_400.0);
    flow.on_ack(&ack(149, 50));
    close(flow.cwnd(), 8_400.0);
    flow.on_ack(&ack(150, 50));
    close(flow.cwnd(), 8_400.0 * 0.84);
    // 1 - 0.8 (400 - 40) / 400 = 0.28 is below the 0.5 that max_mdf allows.
    flow.on_ack(&ack(1_000, 400));
    close(flow.cwnd(), 8_400.0 * 0.84 * 0.5);
}

#[test]
fn at_the_target_a_window_falls_by_nothing_and_the_next_decrease_need_not_wait() {
    let mut flow = swift(&PLAIN);
    flow.on_ack(&ack(100, 40));
    close(flow.cwnd(), 10_000.0);
    flow.on_ack(&ack(101, 50));
    close(flow.cwnd(), 8_400.0);
}

#[test]
fn the_floor_holds_and_starts_the_timer() {
    let mut flow = swift(&Config { init_window: Size::Packets(0.0015), ..PLAIN });
    flow.on_ack(&ack(100, 400));
    close(flow.cwnd(), 1.0);
    flow.on_ack(&ack(600, 400));
    close(flow.cwnd(), 1.0);
    // Still at the floor, where the timer restarted at 600: nothing happens before 1,000.
    assert_eq!(flow.cwnd.cut, Some(Time(600_000_000)));
}

#[test]
fn the_target_grows_with_hops_and_as_the_window_falls() {
    let config = Config {
        target: Span::from_us(25),
        target_from: TargetFrom::Total,
        hop: Span::from_us(1),
        fs_range: Some(Span::from_us(100)),
        fs_min: Size::Packets(0.1),
        fs_max: Size::Packets(100.0),
        ..PLAIN
    };
    let at = |packets| swift(&Config { init_window: Size::Packets(packets), ..config }).target_ps();
    // fa = 100 / (1/sqrt(0.1) - 1/sqrt(100)) = 100 / (3.162278 - 0.1) = 32.655421 us, fb = -3.265542 us.
    close(at(1.0), 25e6 + 2e6 + 32_655_421.0 - 3_265_542.0);
    close(at(25.0), 25e6 + 2e6 + 32_655_421.0 / 5.0 - 3_265_542.0);
    close(at(100.0), 27e6);
    close(at(400.0), 27e6);
    close(at(0.1), 127e6);
    close(at(0.01), 127e6);
}

#[test]
fn sizes_in_paths_and_targets_above_the_empty_path() {
    let flow = swift(&Config {
        init_window: Size::Bdp(1.0),
        ai: Size::Bdp(0.0012),
        target: Span::from_us(25),
        target_from: TargetFrom::Base,
        fs_range: Some(Span::from_us(100)),
        fs_min: Size::Bdp(0.1),
        fs_max: Size::Bdp(1.0),
        ..PLAIN
    });
    // 100 Gbps x 12 us = 150,000 B; 0.0012 of it 180 B; 12 + 25 us. g = 1 / (1/sqrt(0.1) - 1) = 0.46248.
    close(flow.cwnd(), 150_000.0);
    close(flow.step(), 180.0);
    close(flow.target_ps(), 37e6);
    close(flow.law.target(0.25 * 150_000.0), 37e6 + 100e6 * 0.462_475_3 * (2.0 - 1.0));
}

#[test]
fn losses_cut_once_a_round_trip_and_timeouts_in_a_row_reset() {
    let mut flow = swift(&Config { retx_reset: 3, ..PLAIN });
    flow.on_ack(&ack(20, 30));
    let loss = |at: u64| LossEvent { now: Time(at * 1_000_000), in_flight: 0, next: 0 };
    flow.on_loss(&loss(100));
    close(flow.cwnd(), 5_050.0);
    // The round-trip time is 30 us.
    flow.on_loss(&loss(129));
    close(flow.cwnd(), 5_050.0);
    flow.on_timeout(&loss(200), Repeat::First);
    flow.on_timeout(&loss(300), Repeat::Again);
    close(flow.cwnd(), 5_050.0 / 4.0);
    flow.on_timeout(&loss(400), Repeat::Again);
    close(flow.cwnd(), 1.0);
    // An ACK of new data resets the count of timeouts.
    flow.on_ack(&ack(500, 30));
    flow.on_timeout(&loss(600), Repeat::First);
    close(flow.cwnd(), 1_001.0 / 2.0);
}

#[test]
fn whole_packets_round_down_and_never_below_one() {
    let mut flow = swift(&Config { whole: Whole::Packets, init_window: Size::Packets(2.0), ..PLAIN });
    flow.on_ack(&ack(20, 30));
    assert_eq!((flow.window(), flow.cwnd()), (2_000, 2_500.0));
    for at in 1..10 {
        flow.on_ack(&ack(at * 1_000, 900));
    }
    assert_eq!((flow.window(), flow.gate()), (1_000, SendPermission::Open));
}

#[test]
fn a_slow_host_is_no_congestion_of_the_fabric() {
    let config = Config { endpoint_target: Some(Span::from_us(100)), ..PLAIN };
    let slow = |delay| AckEvent { host_delay: Span::from_us(20), ..ack(100, delay) };
    let mut flow = swift(&config);
    // 79 us minus twice 20 is 39, below the target of 40; the hosts' 40 us are below their target of 100.
    flow.on_ack(&slow(79));
    close(flow.cwnd(), 10_100.0);
    let mut tight = swift(&Config { endpoint_target: Some(Span::from_us(32)), ..PLAIN });
    // The hosts take 40 us with a target of 32: 1 - 0.8 x 8 / 40 = 0.84 of their window, the smaller one.
    tight.on_ack(&slow(79));
    close(tight.cwnd(), 8_400.0);
}

#[test]
fn one_way_delay_is_measured_against_one_way_targets() {
    let config =
        Config { signal: Signal::OneWay, target: Span::from_us(4), target_from: TargetFrom::Base, ..PLAIN };
    let mut flow = swift(&config);
    // The target is 6 + 4 us.
    flow.on_ack(&AckEvent { one_way_ps: 9_000_000, ..ack(20, 80) });
    close(flow.cwnd(), 10_100.0);
    flow.on_ack(&AckEvent { one_way_ps: 12_500_000, ..ack(21, 10) });
    // 1 - 0.8 x 2.5 / 12.5 = 0.84.
    close(flow.cwnd(), 10_100.0 * 0.84);
}

use super::super::delay::Size;
use super::super::swift::{self, Preset, Swift, TargetFrom, Whole};
use super::*;
use crate::endpoint::{BaseDelay, FlowSpec};
use crate::ids::{FlowId, HostId};
use crate::rng::{Purpose, Stream};
use crate::units::Rate;

const MSS: u64 = 1_000;

/// 100 Gbps with an RTT of 12 us: a BDP of 150,000 B; probes take 1 us less.
const PATH: Path = Path {
    hops: 2,
    rate: Rate::from_gbps(100),
    data: BaseDelay { one_way: Span::from_us(7), round_trip: Span::from_us(12) },
    control: BaseDelay { one_way: Span::from_us(6), round_trip: Span::from_us(11) },
    send_jitter: Span::ZERO,
};

/// The paper's channels for two classes: 8 and 4 us above the empty path, limits 2.4 us above that.
fn channels(start: Start) -> ChannelTable {
    let lane = |us: u64| Channel {
        target: Span::from_us(us),
        limit: Some(Span::from_ns(us * 1_000 + 2_400)),
        start,
        linear_start: 0.25,
    };
    ChannelTable::new(&[lane(8), lane(4)]).unwrap()
}

fn config(variant: Variant, start: Start) -> Config<swift::Config> {
    let inner = swift::Config {
        signal: Signal::Rtt,
        init_window: Size::Bdp(1.0),
        ai: Size::Packets(0.18),
        target: Span::from_us(25),
        target_from: TargetFrom::Base,
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
        ..swift::Config::of(Preset::Paper)
    };
    Config { inner, variant, channel_table: Some(channels(start)), ..Config::default() }
}

/// A flow of class 1: D_target 16 us, D_limit 18.4 us, W_LS 37,500 B.
struct Driven {
    flow: PrioPlus<Swift>,
    una: u64,
    next: u64,
}

impl Driven {
    fn new(config: &Config<swift::Config>) -> Self {
        let spec = FlowSpec { class: 1, ..FlowSpec::new(FlowId(0), (HostId(0), HostId(1)), None) };
        let mut flow = PrioPlus::new(config, MSS);
        let rng = &mut Stream::new(1, Purpose::Endpoint, 0);
        flow.open(&mut FlowStart {
            flow: &spec.request(),
            catch_up: Span::ZERO,
            now: Time::ZERO,
            path: &|| PATH,
            rng,
        });
        flow.set_class(1);
        Self { flow, una: 0, next: 0 }
    }

    fn sending(variant: Variant) -> Self {
        Self::new(&config(variant, Start::Linear))
    }

    /// Delivers an ACK of a segment within a round trip, at `at` us, with a delay in us.
    fn ack(&mut self, at: u64, delay: f64) {
        self.una += MSS;
        self.next = self.next.max(self.una + 50 * MSS);
        let rtt = Some(Span((delay * 1e6) as u64));
        self.flow.on_ack(&AckEvent {
            now: Time(at * 1_000_000),
            acked: MSS,
            delivered: MSS,
            in_flight: 0,
            una: self.una,
            next: self.next,
            marked: false,
            growth: Growth::Allowed,
            rtt,
            srtt: Span::ZERO,
            one_way_ps: 0,
            host_delay: Span::ZERO,
        });
    }

    /// Delivers the first ACK of a new round trip.
    fn round(&mut self, at: u64, delay: f64) {
        self.una = self.flow_end();
        self.ack(at, delay);
    }

    fn flow_end(&self) -> u64 {
        self.next
    }

    fn answer(&mut self, at: u64, delay: f64) {
        let now = Time(at * 1_000_000);
        // A probe takes 1 us less than a data packet.
        let rtt = Span((delay * 1e6) as u64 - 1_000_000);
        self.flow.on_probe_answer(&ProbeReply { now, next: self.next, rtt, one_way_ps: 0 });
    }

    fn cwnd(&self) -> f64 {
        self.flow.inner().cwnd()
    }

    /// Returns when the next probe is due, in us after `at`.
    fn probe_in(&self, at: u64) -> f64 {
        match self.flow.gate() {
            SendPermission::Probe(due) => due.0 as f64 / 1e6 - at as f64,
            gate => panic!("{gate:?}"),
        }
    }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn linear_start_adds_its_share_each_round_trip_of_an_empty_path() {
    let mut driven = Driven::sending(Variant::Paper);
    close(driven.cwnd(), 37_500.0);
    driven.round(12, 12.5);
    // 37,500 more, then the controller's own 180 x 1,000 / 75,000.
    close(driven.cwnd(), 75_002.4);
    driven.ack(13, 12.5);
    close(driven.cwnd(), 75_002.4 + 180e3 / 75_002.4);
    // The released code does not run the controller on an empty path.
    let mut released = Driven::sending(Variant::Released);
    released.ack(11, 12.5);
    close(released.cwnd(), 37_500.0);
    released.round(12, 12.5);
    released.ack(13, 12.5);
    close(released.cwnd(), 75_000.0);
}

#[test]
fn the_first_ack_ends_a_round_trip_of_the_paper_and_begins_one_of_the_released_code() {
    for (variant, after_one) in [(Variant::Paper, 75_000.0), (Variant::Released, 37_500.0)] {
        let mut driven = Driven::new(&config(variant, Start::Probe));
        driven.flow.on_probe_sent(Time::ZERO, Span::from_us(500));
        driven.answer(12, 12.0);
        close(driven.cwnd(), 37_500.0);
        driven.round(24, 12.0);
        // The controller of the paper's variant adds a few bytes.
        assert!((driven.cwnd() - after_one).abs() < 10.0, "{variant:?}: {}", driven.cwnd());
        driven.round(36, 12.0);
        assert!((driven.cwnd() - after_one - 37_500.0).abs() < 10.0, "{variant:?}: {}", driven.cwnd());
    }
}

#[test]
fn a_flow_alone_is_at_line_rate_after_as_many_round_trips_as_shares_of_the_path() {
    for variant in [Variant::Paper, Variant::Released] {
        let mut driven = Driven::sending(variant);
        if variant == Variant::Released {
            // The first ACK begins the first round trip.
            driven.ack(11, 12.0);
        }
        for round in 1..=3 {
            assert!(driven.cwnd() < 150_000.0, "{variant:?} {round}");
            driven.round(12 * round, 12.0);
        }
        assert!(driven.cwnd() >= 150_000.0, "{variant:?}: {}", driven.cwnd());
    }
}

#[test]
fn adaptive_increase_fills_the_channel_in_every_second_round_trip() {
    let mut driven = Driven::sending(Variant::Paper);
    // Between the empty path and D_target = 16 us: (16 - 14) / 14 x 37,500 = 5,357.14 more per round trip.
    driven.round(14, 14.0);
    close(driven.flow.inner().step(), 180.0 + 2.0 / 14.0 * 37_500.0);
    driven.ack(15, 14.0);
    close(driven.flow.inner().step(), 180.0 + 2.0 / 14.0 * 37_500.0);
    // The next round trip is plain: the increase takes effect before it acts again.
    driven.round(28, 15.0);
    close(driven.flow.inner().step(), 180.0);
    driven.round(42, 15.0);
    assert!(driven.flow.inner().step() > 180.0);
}

/// At 14 us, below D_target and above the empty path, the first ACK computes no adaptive increase yet: 180 B over the window,
/// 37,500 B, and a packet.
#[test]
fn the_released_code_divides_once_by_a_packet_more_whoever_does() {
    for (divisor, packet) in [(swift::Divisor::Window, 1_000.0), (swift::Divisor::WindowAndPacket, 999.0)] {
        let config = config(Variant::Released, Start::Linear);
        let inner = swift::Config { divisor, ..config.inner };
        let mut driven = Driven::new(&Config { inner, ..config });
        driven.ack(11, 14.0);
        close(driven.cwnd(), 37_500.0 + 180e3 / (37_500.0 + packet));
    }
}

#[test]
fn adaptive_increase_of_the_released_code_begins_with_the_ack_after_the_one_that_computes_it() {
    let mut driven = Driven::sending(Variant::Released);
    // The first ACK begins a round trip. Of a step of 180 B a window of 37.5 packets gets 180 / 38.5 by an ACK.
    driven.ack(13, 14.0);
    let first = 37_500.0 + 180.0 / 38.5;
    close(driven.cwnd(), first);
    // The second one ends it. Adaptive increase does not act on this ACK.
    driven.round(27, 14.0);
    let second = first + 180e3 / (first + 1_000.0);
    close(driven.cwnd(), second);
    // (16 - 14) / 14 of the window: for the ACKs of this round trip.
    driven.ack(28, 14.0);
    let third = second + (180.0 + 2.0 / 14.0 * second) * 1_000.0 / (second + 1_000.0);
    close(driven.cwnd(), third);
    // The ACK that begins the next one has no part of it.
    driven.round(42, 14.0);
    close(driven.cwnd(), third + 180e3 / (third + 1_000.0));
}

#[test]
fn windows_of_the_released_code_are_rounded_up_to_packets() {
    for (bytes, whole) in [(500.0, 1_000), (1_000.0, 1_000), (1_001.0, 2_000), (37_500.0, 38_000)] {
        let mut driven = Driven::sending(Variant::Released);
        driven.flow.inner.set_cwnd(bytes);
        assert_eq!(driven.flow.window(), whole, "{bytes}");
    }
}

#[test]
fn adaptive_increase_in_every_round_trip_takes_no_notice_of_the_last_one() {
    let config = Config { increase: Increase::EveryRtt, ..config(Variant::Paper, Start::Linear) };
    let mut driven = Driven::new(&config);
    for at in [14, 28, 42] {
        let window = driven.cwnd();
        driven.round(at, 14.0);
        close(driven.flow.inner().step(), 180.0 + 2.0 / 14.0 * window);
    }
}

#[test]
fn the_strawman_probes_as_soon_as_the_last_probe_is_answered() {
    let mut driven = Driven::new(&Config { probes: Probes::EachRtt, ..config(Variant::Paper, Start::Probe) });
    driven.flow.on_probe_sent(Time::ZERO, Span::from_us(500));
    driven.answer(30, 30.0);
    close(driven.probe_in(30), 0.0);
}

/// Property: for any delays, W stays above zero, two multiplicative decreases are at least a round trip apart
/// (except a yield), and a yielding flow has no window and a pending probe.
#[test]
fn windows_stay_above_zero_and_fall_once_a_round_trip() {
    let mut draw = Stream::new(11, Purpose::Sizes, 0);
    let (mut decreases, mut yields) = (0, 0);
    for case in 0..200 {
        let variant = if case % 2 == 0 { Variant::Paper } else { Variant::Released };
        let mut driven = Driven::sending(variant);
        let (mut now, mut cut) = (0, None);
        for _ in 0..500 {
            now += 1 + draw.below(4);
            let delay = 12.0 + 9.0 * draw.uniform() * draw.uniform();
            if driven.flow.is_yielding() {
                assert_eq!(driven.flow.window(), 0);
                assert!(matches!(driven.flow.gate(), SendPermission::Probe(_)));
                driven.flow.on_probe_sent(Time(now * 1_000_000), Span::from_us(500));
                driven.answer(now, delay);
                cut = None;
                continue;
            }
            let before = driven.cwnd();
            if draw.chance(0.2) {
                driven.round(now, delay)
            } else {
                driven.ack(now, delay)
            }
            let after = driven.cwnd();
            assert!(after > 0.0 && after.is_finite(), "case {case}: {after}");
            if driven.flow.is_yielding() {
                yields += 1;
            } else if after < before {
                decreases += 1;
                // At a delay of 12 us or more the last decrease was at least 12 us ago.
                assert!(cut.is_none_or(|at| now - at >= 12), "case {case}: {cut:?} {now}");
                cut = Some(now);
            }
        }
    }
    assert!(decreases > 500 && yields > 500, "{decreases} {yields}");
}

#[test]
fn adaptive_increase_is_at_most_half_the_window() {
    let mut driven = Driven::sending(Variant::Paper);
    driven.flow.target = 60e6;
    driven.round(14, 20.0);
    // (60 - 20) / 20 is twice the window.
    close(driven.flow.inner().step(), 180.0 + 37_500.0 / 2.0);
}

#[test]
fn one_sample_above_the_limit_is_noise_and_two_make_it_yield() {
    let mut driven = Driven::sending(Variant::Paper);
    driven.ack(20, 18.5);
    // The first decrease is the controller's: 1 - 0.8 (18.5 - 16) / 18.5.
    close(driven.cwnd(), 37_500.0 * (1.0 - 0.8 * 2.5 / 18.5));
    assert!(!driven.flow.is_yielding());
    driven.ack(21, 18.5);
    assert!(driven.flow.is_yielding());
    assert_eq!(driven.flow.window(), 0);
    // 18.5 - 16 = 2.5 us plus up to a round trip of 12 us.
    let wait = driven.probe_in(21);
    assert!((2.5..14.5).contains(&wait), "{wait}");
}

#[test]
fn the_variants_differ_in_what_resets_the_filter() {
    // A sample between target and limit resets the count in the released code, not in the paper.
    for (variant, yields) in [(Variant::Paper, true), (Variant::Released, false)] {
        let mut driven = Driven::sending(variant);
        driven.ack(20, 18.5);
        driven.ack(21, 17.0);
        driven.ack(22, 18.5);
        assert_eq!(driven.flow.is_yielding(), yields, "{variant:?}");
    }
}

#[test]
fn a_flow_that_resumes_yields_at_its_first_sample_above_the_limit_only_as_released() {
    for (variant, yields) in [(Variant::Paper, false), (Variant::Released, true)] {
        let mut driven = Driven::sending(variant);
        driven.ack(20, 18.5);
        driven.ack(21, 18.5);
        assert!(driven.flow.is_yielding(), "{variant:?}");
        driven.flow.on_probe_sent(Time(40_000_000), Span::from_us(500));
        driven.answer(60, 17.0);
        assert!(!driven.flow.is_yielding(), "{variant:?}");
        driven.ack(22, 18.5);
        assert_eq!(driven.flow.is_yielding(), yields, "{variant:?}");
    }
}

#[test]
fn a_yield_counts_flows_and_scales_the_step() {
    let mut driven = Driven::sending(Variant::Paper);
    driven.ack(20, 18.5);
    let window = driven.cwnd();
    driven.ack(21, 20.0);
    // 20 us of 100 Gbps are 250,000 B.
    close(driven.flow.flows(), 250_000.0 / window);
    close(driven.flow.inner().step(), 180.0 * window / 250_000.0);
    let mut released = Driven::sending(Variant::Released);
    released.ack(20, 18.5);
    let window = released.cwnd();
    released.ack(21, 20.0);
    // 20 us over 16 us of its window over the path's BDP, in whole flows; fewer than five do not scale the
    // step.
    close(released.flow.flows(), (20.0 / 16.0 * 150_000.0 / window).floor());
    close(released.flow.inner().step(), 180.0);
}

#[test]
fn probes_go_on_until_the_delay_is_below_the_limit() {
    let mut driven = Driven::new(&config(Variant::Paper, Start::Probe));
    assert!(driven.flow.is_yielding());
    close(driven.probe_in(0), 0.0);
    driven.flow.on_probe_sent(Time::ZERO, Span::from_us(500));
    close(driven.probe_in(0), 500.0);
    driven.answer(30, 30.0);
    // 30 - 16 us plus up to 12 us.
    let wait = driven.probe_in(30);
    assert!((14.0..26.0).contains(&wait), "{wait}");
    driven.flow.on_probe_sent(Time(50_000_000), Span::from_us(500));
    driven.answer(70, 18.0);
    // Below the limit, but the path is not empty: one packet.
    assert_eq!((driven.flow.is_yielding(), driven.cwnd()), (false, 1_000.0));
}

#[test]
fn an_empty_path_resumes_with_the_share_of_linear_start() {
    let mut driven = Driven::new(&config(Variant::Paper, Start::Probe));
    driven.flow.on_probe_sent(Time::ZERO, Span::from_us(500));
    driven.answer(12, 12.0);
    close(driven.cwnd(), 37_500.0);
    // A late or duplicate answer to an earlier probe changes nothing.
    driven.answer(13, 40.0);
    assert!(!driven.flow.is_yielding());
}

/// Property: after it has overestimated the number of flows, a flow sends a packet, or probes, when the path
/// is empty. It does not wait for a pacing gap computed from a window of a few bytes.
#[test]
fn an_empty_path_never_resumes_with_next_to_nothing() {
    for variant in [Variant::Paper, Variant::Released] {
        let mut driven = Driven::sending(variant);
        driven.flow.inner.set_cwnd(150.0);
        driven.ack(20, 18.5);
        driven.flow.inner.set_cwnd(150.0);
        driven.ack(21, 18.5);
        // 18.5 us of 100 Gbps over 150 B: 1,541 flows; over D_target instead: 1,156; 37,500 B over that are 24 B and 32 B.
        assert!(driven.flow.is_yielding() && driven.flow.flows() > 1_000.0, "{}", driven.flow.flows());
        let mut probes = 0;
        while driven.flow.is_yielding() {
            let now = 40 + 20 * probes;
            driven.flow.on_probe_sent(Time(now * 1_000_000), Span::from_us(500));
            driven.answer(now + 12, 12.0);
            probes += 1;
            assert!(probes < 20);
        }
        match variant {
            Variant::Paper => assert_eq!((probes, driven.cwnd()), (1, 1_000.0)),
            // n stays for BDP / W_LS + 2 = 6 RTTs and then halves: 32, 64 and 129 B, above 100.
            Variant::Released => assert!(probes > 6 && driven.cwnd() > 100.0, "{probes} {}", driven.cwnd()),
        }
    }
}

#[test]
fn a_lost_probe_is_sent_again() {
    let mut driven = Driven::new(&config(Variant::Released, Start::Probe));
    for at in [0u64, 500, 1_500] {
        driven.flow.on_probe_sent(Time(at * 1_000_000), Span::from_us(700));
        close(driven.probe_in(at), 700.0);
        assert_eq!(driven.flow.window(), 0);
    }
    driven.answer(1_600, 12.0);
    assert!(!driven.flow.is_yielding());
}

#[test]
fn acks_of_what_was_in_flight_do_not_wake_a_yielding_flow_of_the_paper() {
    for (variant, wakes) in [(Variant::Paper, false), (Variant::Released, true)] {
        let mut driven = Driven::sending(variant);
        driven.ack(20, 18.5);
        driven.ack(21, 18.5);
        assert!(driven.flow.is_yielding());
        driven.round(30, 12.0);
        assert_eq!(driven.flow.is_yielding(), !wakes, "{variant:?}");
    }
}

/// A flow of the released code that yields at 21 us and takes its class for `n` flows: D_limit is 18.4 us.
fn stopped(n: f64) -> Driven {
    let mut driven = Driven::sending(Variant::Released);
    driven.ack(20, 18.5);
    driven.ack(21, 18.5);
    driven.flow.flows = Cardinality::ONE;
    driven.flow.flows.estimate(n, 4.0, Variant::Released);
    driven.flow.set_step();
    assert!(driven.flow.is_yielding());
    driven
}

#[test]
fn an_ack_below_the_target_wakes_a_stopped_flow_of_the_released_code_with_its_step() {
    // W = 0 grows by 180 B min(1, 5 / n), and a flow with 100 B or less stops again: n = 8 gives 112.5 B, n = 9 100 B.
    for (n, wakes_with) in
        [(1.0, Some(180.0)), (5.0, Some(180.0)), (8.0, Some(112.5)), (9.0, None), (40.0, None)]
    {
        let mut driven = stopped(n);
        driven.ack(30, 14.0);
        assert_eq!(driven.flow.is_yielding(), wakes_with.is_none(), "{n}");
        if let Some(window) = wakes_with {
            close(driven.cwnd(), window);
            // The next one finds a window below a packet, which grows by as much.
            driven.ack(31, 14.0);
            close(driven.cwnd(), window + 180.0 * (5.0 / n).min(1.0) * 1_000.0 / (window + 1_000.0));
        }
    }
    let mut paper = Driven::sending(Variant::Paper);
    paper.ack(20, 18.5);
    paper.ack(21, 18.5);
    let probe = paper.flow.gate();
    paper.ack(30, 14.0);
    assert_eq!(paper.flow.gate(), probe, "no ACK changes anything");
}

#[test]
fn acks_that_leave_no_window_put_the_probe_off_to_within_a_round_trip() {
    // On the empty path within a round trip, and from D_target to D_limit, however far the delay is above D_target.
    for delay in [12.0, 12.9, 16.0, 17.0, 18.3] {
        let mut waits = Vec::new();
        for seed in 0..50 {
            let mut driven = stopped(1.0);
            driven.flow.jitter = Jitter::seeded(seed);
            let before = driven.cwnd();
            for at in 100..120 {
                driven.ack(at, delay);
                assert!(driven.flow.is_yielding(), "{delay}");
                waits.push(driven.probe_in(at));
            }
            close(driven.cwnd(), before);
        }
        let mean = waits.iter().sum::<f64>() / 1e3;
        // U(0, 12 us): mean 6, standard deviation 12 / sqrt(12) / sqrt(1,000) = 0.11.
        assert!(
            (mean - 6.0).abs() < 0.5 && waits.iter().all(|wait| (0.0..12.0).contains(wait)),
            "{delay} {mean}"
        );
    }
}

#[test]
fn a_window_that_falls_to_a_tenth_of_a_packet_probes_within_a_round_trip_as_released() {
    for (variant, after) in [(Variant::Paper, 2.3), (Variant::Released, 0.0)] {
        let mut waits = Vec::new();
        for seed in 0..200 {
            let mut driven = Driven::sending(variant);
            driven.flow.jitter = Jitter::seeded(seed);
            driven.flow.inner.set_cwnd(101.0);
            // 18.3 us: 2.3 us above D_target and below D_limit. 1 - 0.8 x 2.3 / 18.3 leaves 90.8 B.
            driven.ack(50, 18.3);
            assert!(driven.flow.is_yielding());
            waits.push(driven.probe_in(50));
        }
        let mean = waits.iter().sum::<f64>() / 200.0;
        // U(0, 12 us) after that: standard deviation of the mean 0.25.
        assert!((mean - after - 6.0).abs() < 1.0, "{variant:?} {mean}");
        assert!(waits.iter().all(|wait| (after - 0.01..after + 12.0).contains(wait)), "{variant:?}");
    }
}

#[test]
fn every_answer_to_a_probe_counts_as_released() {
    let probed = || {
        let mut driven = stopped(1.0);
        driven.flow.on_probe_sent(Time(22_000_000), Span::from_us(500));
        driven
    };
    // An ACK at D_target puts the next probe off; the answer to the one in flight resumes all the same.
    let mut driven = probed();
    driven.ack(30, 16.5);
    assert!(driven.flow.is_yielding());
    driven.answer(40, 17.0);
    assert_eq!((driven.flow.is_yielding(), driven.cwnd()), (false, 500.0));
    // The flow is awake when the answer comes: half a packet, or its share of an empty path; above D_limit nothing.
    for (delay, window) in [(17.0, 500.0), (12.0, 37_500.0), (30.0, 180.0)] {
        let mut driven = probed();
        driven.ack(30, 14.0);
        assert!(!driven.flow.is_yielding());
        driven.answer(40, delay);
        assert_eq!((driven.flow.is_yielding(), driven.cwnd()), (false, window), "{delay}");
    }
}

#[test]
fn the_best_class_starts_at_line_rate_and_never_yields() {
    let top = Channel { target: Span::from_us(4), limit: None, start: Start::LineRate, linear_start: 1.0 };
    let channel_table = Some(ChannelTable::new(&[top]).unwrap());
    let mut driven = Driven::new(&Config { channel_table, ..config(Variant::Paper, Start::Probe) });
    close(driven.cwnd(), 150_000.0);
    for at in 0..100 {
        driven.ack(100 * at, 900.0);
    }
    assert!(!driven.flow.is_yielding());
}

#[test]
fn a_demoted_flow_moves_to_its_new_channel() {
    let mut driven = Driven::sending(Variant::Paper);
    driven.flow.set_class(0);
    close(driven.flow.inner().target_ps(), 20e6);
    driven.ack(20, 19.0);
    driven.ack(21, 19.0);
    assert!(!driven.flow.is_yielding());
    driven.flow.set_class(1);
    driven.ack(22, 19.0);
    driven.ack(23, 19.0);
    assert!(driven.flow.is_yielding());
}

#[test]
fn the_released_code_stops_rather_than_trickle_and_paces_by_its_own_rule() {
    let mut driven = Driven::new(&config(Variant::Released, Start::Probe));
    driven.flow.on_probe_sent(Time::ZERO, Span::from_us(500));
    driven.answer(20, 17.0);
    // Half a packet: the first one at once, as no ACK of data has come, and the next one 24 us later.
    assert_eq!((driven.flow.gate(), driven.flow.window()), (SendPermission::Open, MSS));
    driven.flow.on_sent(Time(20_000_000));
    assert_eq!(driven.flow.gate(), SendPermission::NotBefore(Time(44_000_000)));
    driven.flow.inner.set_cwnd(110.0);
    driven.ack(60, 17.5);
    // 1 - 0.8 x 1.5 / 17.5 leaves 102.5 B: above 100. The next decrease goes below.
    assert!(!driven.flow.is_yielding(), "{}", driven.cwnd());
    driven.ack(90, 17.5);
    assert!(driven.flow.is_yielding(), "{}", driven.cwnd());
}

#[test]
fn channels_that_overlap_are_refused() {
    let lane = |target: u64, limit: Option<u64>| Channel {
        target: Span::from_us(target),
        limit: limit.map(Span::from_us),
        start: Start::Probe,
        linear_start: 0.125,
    };
    assert!(ChannelTable::new(&[lane(12, None), lane(8, Some(10)), lane(4, Some(6))]).is_ok());
    let refused = |channels: &[Channel]| ChannelTable::new(channels).unwrap_err();
    assert_eq!(refused(&[]), ChannelError::Count(0));
    assert_eq!(refused(&[lane(8, Some(10)), lane(4, Some(8))]), ChannelError::Overlap(1));
    assert_eq!(refused(&[lane(4, Some(6)), lane(8, None)]), ChannelError::Overlap(1));
    assert_eq!(refused(&[lane(8, Some(8))]), ChannelError::Inverted(0));
    assert_eq!(refused(&[Channel { linear_start: 0.0, ..lane(8, None) }]), ChannelError::LinearStart(0));
}

/// Property: on average a probe is sent (delay - D_target) + BaseRTT / 2 after the answer to the one before.
#[test]
fn probes_cost_what_the_formula_says() {
    let mut driven = Driven::new(&config(Variant::Paper, Start::Probe));
    let (mut waited, mut formula, mut now) = (0.0, 0.0, 0);
    for i in 0..4_000 {
        driven.flow.on_probe_sent(Time(now * 1_000_000), Span::from_us(500));
        let delay = 19 + i % 30;
        now += delay;
        driven.answer(now, delay as f64);
        let wait = driven.probe_in(now);
        waited += wait;
        formula += delay as f64 - 16.0 + 6.0;
        now += wait as u64 + 1;
    }
    // The jitter, uniform over 12 us, has a sigma of 12 / sqrt(12); the sum has sqrt(4,000) times that.
    let sigma = 12.0 / 12f64.sqrt() * 4_000f64.sqrt();
    assert!((waited - formula).abs() < 4.0 * sigma, "{waited} {formula}");
}

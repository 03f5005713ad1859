//! Cubic at one line: what a sawtooth of additive increase and multiplicative decrease must do, and what HyStart++ spares.

use crate::support::{agreed, drive, fifo, flow, link, new_reno, run, scenario, window as on_window};
use priolane_core::keys::with_defaults;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::transport::{Controller, Transport, cubic};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Engine, ScenarioSpec, Stop};
use priolane_sim::topology::Dumbbell;

/// Packets of 1,000 bytes and one of header; other bytes take no time.
const FRAME: Frame = Frame { mtu: 1_001, header: 1, link: 0, minimum: 0, gap: 0, ack: 1, syn: 1 };
/// A packet at 10 Gbps, in seconds.
const PACKET: f64 = 1_001.0 * 8.0 / 10e9;

fn cubic() -> Controller {
    Controller::Cubic(with_defaults(&[]))
}

/// One endless flow over a line of 10 Gbps between lines of 100 Gbps, `round_trip` us of propagation there and back, with
/// room for `room` packets.
fn alone(controller: Controller, (round_trip, room): (u64, u32), until: Time) -> ScenarioSpec {
    let bottleneck = link(10, Span::from_us(round_trip * 3 / 8));
    let shape =
        Dumbbell { left: 1, right: 1, host_link: link(100, Span::from_us(round_trip / 16)), bottleneck };
    let endless = flow(0, (0, 1), u64::MAX >> 20, Time::ZERO);
    let buffer = Buffer { limit: Limit::Packets(room), ..Buffer::UNLIMITED };
    let mut scenario = scenario(shape.build().unwrap(), fifo(buffer), vec![endless]);
    scenario.frame = FRAME;
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(FRAME) };
    scenario.transport = on_window(controller, window);
    scenario.stop = Stop::At(until);
    scenario
}

/// Packets served and dropped at the slow line.
fn at_the_line(scenario: &ScenarioSpec, outcome: &Outcome) -> [u64; 2] {
    let line = scenario.topology.link_between("left", "right").unwrap();
    let of_line = || outcome.ports.iter().filter(|port| port.link == line);
    [of_line().map(|port| port.packets).sum(), of_line().map(|port| port.dropped).sum()]
}

/// Microseconds of propagation, which 300 packets fill: recovery takes few of the 150 round trips between losses.
const ROUND_TRIP: u64 = 240;

/// The part of the line that is used from 0.1 to 1.3 s, and the time between falls of the rate in seconds.
fn sawtooth(controller: &Controller, room: u32) -> (f64, f64) {
    let every = Span::from_ms(1);
    let mut scenario = alone(controller.clone(), (ROUND_TRIP, room), Time(1_300_000_000_000));
    scenario.rates_every = Some(every);
    let Transport::Window { window, .. } = &mut scenario.transport else {
        unreachable!("the window machine")
    };
    window.monitor = Some(every);
    let outcome = run(&scenario, drive(Engine::Window));
    let acked: Vec<u64> = outcome.flow_samples.iter().map(|sample| sample.acked_bytes).skip(100).collect();
    let rates: Vec<f64> =
        acked.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1_000.0 * PACKET / 1e-3).collect();
    (rates.iter().sum::<f64>() / rates.len() as f64, rates.len() as f64 * 1e-3 / falls(&rates) as f64)
}

/// The number of falls by more than 8 % of the line, each until the rate rises again.
fn falls(rates: &[f64]) -> usize {
    let (mut most, mut is_falling, mut found) = (0.0_f64, false, 0);
    for pair in rates.windows(2) {
        if is_falling && pair[1] >= pair[0] {
            (most, is_falling) = (pair[1], false);
        }
        most = most.max(pair[1]);
        if !is_falling && pair[1] < most - 0.08 {
            (is_falling, found) = (true, found + 1);
        }
    }
    found
}

/// The same for AIMD(alpha, beta) with D packets to fill the path, from a window of L = beta W to the one of W that loses.
/// A round trip takes D packet times below a window of D, and as many as the window above, so that growth takes
/// (D - L) D / alpha + (W^2 - D^2) / 2 alpha packet times, or (W^2 - L^2) / 2 alpha if L is above D. A loss is seen after W
/// packet times and repaired after W more. In all, (W^2 - L^2) / 2 alpha + 2 W packets are sent.
fn theory((alpha, beta): (f64, f64), room: u32) -> (f64, f64) {
    // The propagation, the packet on three lines, and its ACK of a byte on them.
    let full = (ROUND_TRIP as f64 * 1e-6 + PACKET * 1.2) / PACKET;
    let most = full + f64::from(room);
    let low = beta * most;
    let growing = (full - low).max(0.0) * full + (most * most - low.max(full) * low.max(full)) / 2.0;
    let time = growing / alpha + 2.0 * most;
    let sent = (most * most - low * low) / 2.0 / alpha + 2.0 * most;
    (sent / time, time * PACKET)
}

/// Stated before the first run: the part of the line that is used within 1.5 %, the time between falls within 6 %.
#[test]
fn alone_at_a_small_buffer_cubic_and_new_reno_are_the_aimd_of_their_texts() {
    for (name, controller, aimd) in
        [("newreno", new_reno(), (1.0, 0.5)), ("cubic", cubic(), (9.0 / 17.0, 0.7))]
    {
        for room in [10, 60] {
            let (used, period) = sawtooth(&controller, room);
            let (expected, between) = theory(aimd, room);
            assert!((used / expected - 1.0).abs() < 0.015, "{name}, {room} packets: {used}, not {expected}");
            assert!(
                (period / between - 1.0).abs() < 0.06,
                "{name}, {room} packets: {period} s, not {between}"
            );
        }
    }
}

/// The losses of the first 5 ms in a buffer of 1,000 packets, whose wait is at most 0.8 ms.
fn first_losses(keys: &cubic::Config) -> (u64, Outcome) {
    let scenario = alone(Controller::Cubic(*keys), (80, 1_000), Time(5_000_000_000));
    let outcome = agreed(&scenario);
    (at_the_line(&scenario, &outcome)[1], outcome)
}

#[test]
fn hystart_ends_slow_start_before_losses_where_its_rise_can_happen_and_else_changes_nothing() {
    let usual: cubic::Config = with_defaults(&[]);
    let with = |slow_start: cubic::hystart::Config| cubic::Config { slow_start, ..usual };
    let (losses, outcome) = first_losses(&usual);
    assert!(losses > 50, "{losses}");
    // No packet here waits for 4 ms.
    let reno = cubic::hystart::Config { hystart: false, ..usual.slow_start };
    assert_eq!(first_losses(&with(reno)).1, outcome);
    // Seen behind a window of 320 packets, of which 100 fill the path; five rounds multiply it by 1.25^5 = 3.05.
    let rise = Span::from_us(20);
    let sensitive =
        cubic::hystart::Config { hystart_min_rise: rise, hystart_max_rise: rise, ..usual.slow_start };
    let (spared, outcome) = first_losses(&with(sensitive));
    assert_eq!(spared, 0);
    assert!(outcome.ports.iter().map(|port| port.packets).max().unwrap() > 5_000, "the line idles");
}

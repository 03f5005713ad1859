use super::*;
use crate::endpoint::BaseDelay;
use crate::units::Rate;

const MSS: u64 = 1_000;

/// Two 80 Gbps links with an RTT of 10 us: 10 B/ns, and a BDP of 100,000 B.
const PATH: Path = {
    let delay = BaseDelay { one_way: Span::from_us(5), round_trip: Span::from_us(10) };
    Path { hops: 2, rate: Rate::from_gbps(80), data: delay, control: delay, send_jitter: Span::ZERO }
};

const CONFIG: Config = Config {
    eta: 0.95,
    eta_step: 0.0,
    max_stage: 5,
    step: Size::Packets(0.5),
    rtt: CommonRtt::Longest,
    min_window: Size::Packets(0.001),
};

/// A reading of an 80 Gbps link.
fn at(us: u64, queued_bytes: u64, sent_bytes: u64) -> HopReading {
    HopReading { at: Time(us * 1_000_000), queued_bytes, sent_bytes, rate: Rate::from_gbps(80) }
}

fn way(hops: &[HopReading]) -> Readings {
    let mut way = Readings::default();
    hops.iter().for_each(|&hop| way.push(hop));
    way
}

/// Acknowledges the data up to `una`; `next` is the first byte not yet sent.
fn ack(flow: &mut Hpcc, una: u64, next: u64, hops: &[HopReading]) {
    flow.on_telemetry(&way(hops));
    flow.on_ack(&AckEvent {
        now: Time(1),
        acked: MSS,
        delivered: MSS,
        in_flight: 0,
        una,
        next,
        marked: false,
        growth: crate::transport::window::Growth::Allowed,
        rtt: None,
        srtt: Span::ZERO,
        one_way_ps: 0,
        host_delay: Span::ZERO,
    });
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

fn hpcc() -> Hpcc {
    Hpcc::starting(&CONFIG, MSS, &PATH)
}

#[test]
fn one_update_of_the_window_by_hand() {
    let mut flow = hpcc();
    assert_eq!(flow.window(), 100_000);
    // The first ACK is only stored: Wc may change with the first ACK beyond the data sent by then.
    ack(&mut flow, 1_000, 50_000, &[at(0, 30_000, 0), at(2, 0, 0)]);
    assert_eq!(flow.window(), 100_000);
    // Hop 1: min(30,000, 20,000) / (10 B/ns x 10 us) + 50,000 B / 5 us / (10 B/ns) = 0.2 + 1 = 1.2, over 5 us.
    // Hop 2: 0 + 20,000 B / 4 us / (10 B/ns) = 0.5. U = 1 - 0.5 + 0.5 x 1.2 = 1.1.
    ack(&mut flow, 60_000, 160_000, &[at(5, 20_000, 50_000), at(6, 0, 20_000)]);
    close(flow.utilization(), 1.1);
    // W = 100,000 / (1.1 / 0.95) + 500, and so is Wc, as 60,000 is beyond 50,000.
    let first = 100_000.0 * 0.95 / 1.1 + 500.0;
    close(flow.window, first);
    close(flow.reference, first);
    // The same round trip again, the link busy and no queue: U = 0.5 x 1.1 + 0.5 x 1 = 1.05. W is computed
    // from Wc, which stays.
    ack(&mut flow, 61_000, 170_000, &[at(10, 0, 100_000), at(11, 0, 20_000)]);
    close(flow.utilization(), 1.05);
    close(flow.window, first * 0.95 / 1.05 + 500.0);
    close(flow.reference, first);
}

#[test]
fn of_two_hops_that_are_equally_busy_the_first_gives_the_time() {
    // Algorithm 1, line 6: a hop is taken if u' > u. Both links have u = 0.5 without a queue, measured over 5 us and over 10 us.
    for (hops, u) in [([5, 10], 0.75), ([10, 5], 0.5)] {
        let mut flow = hpcc();
        ack(&mut flow, 0, 0, &[at(0, 0, 0), at(0, 0, 0)]);
        let seen = hops.map(|us| at(us, 0, us * 5_000));
        ack(&mut flow, 1_000, 1_000, &seen);
        // U = (1 - tau/T) x 1 + tau/T x 0.5 with T of 10 us.
        close(flow.utilization(), u);
    }
}

#[test]
fn each_class_has_a_target_of_its_own() {
    let config = Config { eta_step: 0.01, ..CONFIG };
    let mut flow = Hpcc::starting(&config, MSS, &PATH);
    flow.set_class(7);
    (flow.utilization, flow.update_beyond, flow.seen) = (0.9, Some(0), way(&[at(0, 0, 0)]));
    // The link is busy for 0.9 of 10 us: below 0.95 and above the target of class 7, 0.88.
    ack(&mut flow, 10, 10, &[at(10, 0, 90_000)]);
    close(flow.window, 100_000.0 * 0.88 / 0.9 + 500.0);
    let mut coarse = Hpcc::starting(&Config { eta_step: 0.5, ..CONFIG }, MSS, &PATH);
    coarse.set_class(2);
    close(coarse.target, 0.05);
    flow.set_class(0);
    (flow.reference, flow.stage) = (10_000.0, 0);
    ack(&mut flow, 20, 20, &[at(20, 0, 180_000)]);
    close(flow.window, 10_500.0);
}

#[test]
fn below_eta_there_are_five_steps_and_then_a_multiplicative_increase() {
    let mut flow = hpcc();
    (flow.utilization, flow.reference, flow.update_beyond) = (0.5, 10_000.0, Some(0));
    flow.seen = way(&[at(0, 0, 0)]);
    let mut stages = Vec::new();
    // Each ACK is a round trip later, with half of the link in use: u = 50,000 B / 10 us / (10 B/ns) = 0.5 =
    // U.
    for round in 1..=7 {
        ack(&mut flow, 1_000 * round, 1_000 * round, &[at(10 * round, 0, 50_000 * round)]);
        stages.push((flow.stage, flow.reference.round() as u64));
        flow.update_beyond = Some(0);
    }
    // Five steps of 500 B; then 12,500 x 0.95 / 0.5 + 500.
    let steps = [(1, 10_500), (2, 11_000), (3, 11_500), (4, 12_000), (5, 12_500), (0, 24_250), (1, 24_750)];
    assert_eq!(stages, steps);
}

#[test]
fn the_window_stays_between_floor_and_line_rate_and_is_paced() {
    let mut flow = hpcc();
    flow.on_sent(Time(7_000_000));
    // 1,000 B of 100,000 in 10 us: a packet each 100 ns.
    assert_eq!(flow.gate(), SendPermission::NotBefore(Time(7_100_000)));
    (flow.utilization, flow.update_beyond, flow.seen) = (1e-9, Some(0), way(&[at(0, 0, 0)]));
    flow.stage = 5;
    ack(&mut flow, 10, 10, &[at(10, 0, 0)]);
    close(flow.window, 100_000.0);
    (flow.utilization, flow.reference) = (1e9, 10.0);
    flow.step = 0.0;
    ack(&mut flow, 20, 20, &[at(11, 0, 0)]);
    close(flow.window, 1.0);
    assert_eq!(
        (flow.window(), flow.gate()),
        (MSS, SendPermission::NotBefore(Time(7_000_000 + 10_000_000_000)))
    );
}

#[test]
fn readings_of_another_way_change_nothing() {
    let mut flow = hpcc();
    ack(&mut flow, 0, 0, &[at(0, 0, 1_000)]);
    let slower = HopReading { rate: Rate::from_gbps(40), ..at(20, 0, 9_000) };
    // More hops, fewer hops, an earlier time, fewer bytes sent, another rate.
    let two = [at(9, 0, 9_000), at(10, 0, 0)];
    for other in [&two[..], &[at(11, 0, 10)], &[at(10, 0, 11)], &[at(12, 0, 5)], &[slower]] {
        let before = flow.window;
        ack(&mut flow, 1_000, 1_000, other);
        close(flow.window, before);
        close(flow.utilization(), 1.0);
    }
}

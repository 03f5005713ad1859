use super::*;
use crate::endpoint::LocalHost;

const PEER: HostId = HostId(1);

fn us(n: u64) -> Span {
    Span::from_us(n)
}

fn at(n: u64) -> Time {
    Time::ZERO + us(n)
}

fn real() -> Peers {
    Peers::new(&LocalHost::real(HostId(0), Rate::from_gbps(10), 1))
}

#[test]
fn what_is_known_of_a_path_stays_and_the_rest_is_measured() {
    let mut peers = real();
    assert_eq!(peers.path(PEER, &Path::NOMINAL.into()), Path::NOMINAL);
    let unknown = peers.path(PEER, &PathInfo::UNKNOWN);
    assert_eq!((unknown.rate, unknown.data.round_trip), (Rate::from_gbps(10), RealHost::new(1).first_rtt));
    peers.opened(3, PEER, PathInfo::UNKNOWN);
    let mut ack = |now, rtt, acked| peers.acknowledged(3, Sample { now: at(now), rtt: us(rtt), acked });
    // 40 us instead of 100 us; a sixteenth less counts as the same path.
    assert_eq!(ack(50, 40, 0).unwrap().data.round_trip, us(40));
    assert_eq!(ack(90, 38, 0), None);
    // 1250 B per us (10 Gbps) without a queue do not count. 125 B per us with a queue: 1 Gbps, which is the path's rate.
    (100..250).for_each(|now| assert_eq!(ack(now, 40, 1_250), None, "nothing queues: not of the path"));
    let found: Vec<Path> = (250..700).filter_map(|now| ack(now, 80, 125)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].rate.bps().abs_diff(1_000_000_000) < 20_000_000, "{found:?}");
    // Known values are not replaced by measurements.
    let rate = Some(Rate::from_gbps(10));
    assert_eq!(peers.path(PEER, &PathInfo { rate, ..PathInfo::UNKNOWN }).rate, Rate::from_gbps(10));
    // Both measurements are forgotten.
    let later = Sample { now: at(30_000_000), rtt: us(60), acked: 0 };
    assert_eq!(peers.acknowledged(3, later).unwrap().data.round_trip, us(60));
}

#[test]
fn small_messages_that_hosts_answer_late_do_not_measure_the_path() {
    let mut peers = real();
    peers.opened(3, PEER, PathInfo::UNKNOWN);
    let mut ack = |now, rtt, acked| peers.acknowledged(3, Sample { now: at(now), rtt: us(rtt), acked });
    ack(40, 40, 0);
    // A message of 1 B each 100 us, answered 2 ms late: 80 kbps, at which a full packet takes 146 ms.
    (1..200).for_each(|n| assert_eq!(ack(40 + 100 * n, 2_000, 1), None));
    assert_eq!(peers.path(PEER, &PathInfo::UNKNOWN).rate, Rate::from_gbps(10));
}

/// Measured one-way delays if packets take `there` us and replies `back` us; the peer's clock is ahead by `offset`
/// ticks and gains `ppm`.
fn found(offset: u32, ppm: f64, ways: impl Fn(u64) -> (u64, u64)) -> Vec<i64> {
    let mut peers = real();
    let delay = BaseDelay { one_way: us(30), round_trip: us(50) };
    let known = PathInfo { data: Some(delay), ..PathInfo::UNKNOWN };
    peers.opened(0, PEER, known);
    let one = |step: u64| {
        let (there, back) = ways(step);
        let now = at(1_000_000 + 1_000 * step);
        let gained = Stamp::ticks(Span((now.0 as f64 * ppm / 1e6) as u64));
        let ticks = Stamp::ticks(us(there)).wrapping_add(offset).wrapping_add(gained);
        peers.one_way(0, ticks, (now, us(there + back))) / 1_000_000
    };
    (0..2_000).map(one).collect()
}

#[test]
fn one_way_delays_are_found_whatever_the_clocks_say() {
    // Packets always queue, replies every other time.
    let ways = |step: u64| (40 + step % 50, 20 + 30 * (step % 2));
    for offset in [0, u32::MAX - 50, 1 << 31, 3_000_000] {
        for ppm in [0.0, 100.0] {
            let found = found(offset, ppm, ways);
            let wrong = |&(step, delay): &(usize, &i64)| delay.abs_diff(ways(step as u64).0 as i64) > 1;
            let wrong: Vec<_> = found.iter().enumerate().skip(2).filter(wrong).collect();
            assert!(wrong.is_empty(), "offset {offset}, {ppm} ppm: {wrong:?}");
        }
    }
}

#[test]
fn a_clock_that_loses_time_errs_by_what_it_loses_in_two_periods() {
    // -100 ppm in 100 ms: 10 us.
    let mut peers = real();
    let known =
        PathInfo { data: Some(BaseDelay { one_way: us(30), round_trip: us(50) }), ..PathInfo::UNKNOWN };
    peers.opened(0, PEER, known);
    for step in 0..5_000u64 {
        let lost = Stamp::ticks(Span(step * 100_000));
        let ticks = Stamp::ticks(us(40)).wrapping_sub(lost);
        let found = peers.one_way(0, ticks, (at(1_000 * step), us(60))) / 1_000_000;
        assert!((29..=41).contains(&found), "{found} at {step} ms");
    }
}

#[test]
fn ages_count_from_the_least_of_each_host() {
    let mut peers = real();
    for (host, offset) in [(HostId(1), 0u32), (HostId(2), u32::MAX - 50), (HostId(3), 1 << 31)] {
        let mut age = |ticks: u32, now| peers.age(host, offset.wrapping_add(ticks), at(now));
        assert_eq!([age(100, 0), age(130, 1), age(90, 2), age(100, 3)], [0, 30, 0, 10]);
        // The minimum is forgotten after two periods of 50 ms.
        assert_eq!([age(150, 60_000), age(160, 120_000)], [60, 10]);
    }
    let mut exact = Peers::new(&LocalHost::simulated(HostId(0), Rate::from_gbps(10)));
    assert_eq!(exact.age(PEER, 100, Time::ZERO), 100);
}

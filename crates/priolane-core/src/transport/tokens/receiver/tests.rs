//! Tests of the times at which a receiver updates its token rate, computed by hand.

use super::*;
use crate::endpoint::LocalClock;
use crate::packet::Frame;
use crate::rng::{Purpose, Stream};

/// Slots of 1622 B at 10 Gbps: the initial rate is half of the link, a token every two slots.
const SLOT: u64 = 1_297_600;

/// Arrival of the SYNC.
const ASKED: Time = Time(7_000_000_000);

/// A receiver without jitter, and its environment.
struct Bench {
    config: Config,
    rng: Stream,
    receiver: Receiver,
}

impl Bench {
    fn new() -> Self {
        let config =
            Config { jitter: 0.0, ..Config::top(Frame::ETHERNET, super::super::priority::Priority::Single) };
        let mut rng = Stream::new(1, Purpose::Ties, 0);
        let sync = Sync { packets: 1_000, deadline: Time::NEVER, asked: 0, unscheduled: 0, announced_key: 0 };
        let cx = Cx { now: ASKED, clock: LocalClock::default(), rng: &mut rng };
        let receiver = Receiver::new(&Header::default(), sync, Rate::from_gbps(10), &cx, &config);
        Self { config, rng, receiver }
    }

    fn cx<R>(&mut self, now: Time, act: impl FnOnce(&mut Receiver, &mut Cx, &Config) -> R) -> R {
        let cx = &mut Cx { now, clock: LocalClock::default(), rng: &mut self.rng };
        act(&mut self.receiver, cx, &self.config)
    }

    /// Returns the gaps between the tokens from the SYNC until `end`; each token's data arrives `rtt` later.
    fn gaps(&mut self, rtt: Span, end: Time) -> Vec<u64> {
        let (mut sent, mut arrived) = (Vec::new(), 0u32);
        loop {
            let due = self.receiver.next_action(&self.config);
            let data = sent.get(arrived as usize).map_or(Time::NEVER, |&at: &Time| at + rtt);
            if due.min(data) > end {
                return sent.windows(2).map(|pair| pair[1].since(pair[0]).0).collect();
            }
            if data < due {
                let stamp = Stamp::read(LocalClock::default(), sent[arrived as usize]);
                let stats = &mut PayloadStats::default();
                let packet = DataArrival { packet: u64::from(arrived), token: Some((arrived, stamp)) };
                self.cx(data, |receiver, cx, config| receiver.arrive(packet, cx, config, stats, |_| ()));
                arrived += 1;
            } else {
                self.cx(due, |receiver, cx, config| receiver.token(cx, Span::ZERO, config)).unwrap();
                sent.push(due);
            }
        }
    }
}

#[test]
fn the_first_update_comes_with_the_first_token_after_the_first_data() {
    let mut bench = Bench::new();
    // Data arrives 10.5 slots after its token. The tokens at 0, 2, ... 10 slots are sent at the initial rate. The
    // one at 12 is the first after the first data, and the first at least a round trip after the SYNC. Nothing was
    // lost: rate = 15/16 of 0.5 + 1/16 of 1.1, or 0.5375 of the link. w stays, as no earlier period raised the
    // rate. A round trip later, 22.5 slots: tokens at 12 + n / 0.5375, of which n = 6 is at 23.16: w = 9/32, rate =
    // 23/32 x 0.5375 + 9/32 x 1.1 = 0.695703125.
    let gaps = bench.gaps(Span(SLOT * 21 / 2), ASKED + Span(25 * SLOT));
    let slots = |rate: f64| (SLOT as f64 / rate) as u64;
    let (first, second, third) = (slots(0.5), slots(0.5375), slots(0.695_703_125));
    assert_eq!(gaps[..13], [[first; 6].as_slice(), &[second; 6], &[third; 1]].concat());
}

#[test]
fn a_flow_that_asks_again_waits_a_round_trip_from_there() {
    let mut bench = Bench::new();
    bench.gaps(Span(SLOT * 21 / 2), ASKED + Span(11 * SLOT));
    bench.receiver.stop();
    let again = ASKED + Span(1_000 * SLOT);
    bench.receiver.resume(again, 0);
    // The data of the first token has arrived and there was no update: the token at the request changes nothing
    // yet.
    bench.cx(again, |receiver, cx, config| receiver.token(cx, Span::ZERO, config)).unwrap();
    assert_eq!(bench.receiver.feedback.rate(), bench.config.max_rate(Rate::from_gbps(10)) / 2.0);
    let later = again + Span(SLOT * 11);
    bench.cx(later, |receiver, cx, config| receiver.token(cx, Span::ZERO, config)).unwrap();
    assert!(bench.receiver.feedback.rate() > bench.config.max_rate(Rate::from_gbps(10)) / 2.0);
}

/// Returns the tokens that a receiver of 100 Mbit/s sends within 1 s if each of its timers is `late`.
fn tokens_with_late_timers(late: Span, catch_up: Span) -> usize {
    let mut bench = Bench::new();
    let cx = Cx { now: ASKED, clock: LocalClock::default(), rng: &mut bench.rng };
    let sync = Sync { packets: u64::MAX, deadline: Time::NEVER, asked: 0, unscheduled: 0, announced_key: 0 };
    bench.receiver =
        Receiver::new(&Header::default(), sync, Rate::from_bps(100_000_000).unwrap(), &cx, &bench.config);
    let mut count = 0;
    loop {
        let at = bench.receiver.next_action(&bench.config) + late;
        if at > ASKED + Span::from_ms(1_000) {
            return count;
        }
        // As the endpoint does: until nothing more is due.
        while bench.receiver.next_action(&bench.config) <= at {
            count += usize::from(bench.cx(at, |receiver, cx, config| {
                receiver.overdue(at, config);
                receiver.token(cx, catch_up, config).is_some()
            }));
        }
    }
}

#[test]
fn late_timers_neither_cost_nor_add_rate() {
    // Half of 100 Mbit/s in slots of 1622 B: a token every 259.52 us, 3854 in 1 s.
    let exact = tokens_with_late_timers(Span::ZERO, Span::ZERO);
    assert!((3_840..=3_870).contains(&exact), "{exact}");
    let catch_up = Span::from_ms(5);
    for late in [Span::from_us(20), Span::from_us(500), Span::from_ms(4)] {
        let tokens = tokens_with_late_timers(late, catch_up);
        assert!((exact - 40..=exact + 5).contains(&tokens), "{tokens} when {late:?} late, else {exact}");
    }
    // Counted from the time each is sent, timers that are 4 ms late yield one token per 4.26 ms.
    assert!(tokens_with_late_timers(Span::from_ms(4), Span::ZERO) < 240);
    // Beyond the bound only what was due in 5 ms is sent together: 20 tokens every 20.26 ms.
    assert!((960..=1_020).contains(&tokens_with_late_timers(Span::from_ms(20), catch_up)));
}

#[test]
fn new_packets_are_counted_and_those_below_the_highest_are_reordered() {
    let mut bench = Bench::new();
    let mut stats = PayloadStats::default();
    // 2 and 3 arrive after 4, 8 after 9; the second 2, the second 4 and packets beyond the flow's end are not new.
    for packet in [0, 1, 4, 2, 2, 4, 3, 5, 9, 8, 10, 1_000] {
        let arrived = DataArrival { packet, token: None };
        bench.cx(ASKED, |receiver, cx, config| receiver.arrive(arrived, cx, config, &mut stats, |_| ()));
    }
    assert_eq!(stats, PayloadStats { packets: 9, reordered: 3 });
}

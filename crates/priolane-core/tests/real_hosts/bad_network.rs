//! A network that loses, repeats, marks and reorders, hosts that wake up late, clocks that differ.

use std::cell::RefCell;
use std::fmt::Debug;

use priolane_core::endpoint::{Endpoint, LocalHost, RealHost};
use priolane_core::units::{Rate, Span, Time};
use priolane_core::wire::WireBody;

use crate::kept::{Digest, assert_kept};
use crate::network::{Clock, Late, Net, Network, SECRET};
use crate::transports::{Trial, every_transport};

const BAD: Network = Network {
    line: Rate::from_gbps(1),
    delay: Span::from_us(30),
    lost: 0.02,
    twice: 0.02,
    held_up: (0.03, Span::from_us(150)),
    marked: 0.05,
};

const LATE: Late = Late { mostly: Span::from_us(40), rarely: Span::from_ms(4) };

/// 7 s and 11 s ahead of true time, 200 ppm apart.
const CLOCKS: [Clock; 2] =
    [Clock { ahead: Span::from_ms(7_000), ppm: 100.0 }, Clock { ahead: Span::from_ms(11_000), ppm: -100.0 }];

const REAL: RealHost = RealHost { time_wait: Span::from_ms(50), outbox: 64, ..RealHost::new(SECRET) };

const SIZES: [u64; 6] = [1, 1_000, 1_448, 20_000, 150_000, 40_001];

/// Both hosts send flows of the same names; the same names again once their time is over, and again.
struct Everything;

impl Everything {
    /// Opens flows from both hosts and runs until all are done.
    fn round<E: Endpoint<Body: WireBody>>(net: &mut Net<E>) {
        let limit = net.now + Span::from_ms(4_000);
        for (id, size) in SIZES.into_iter().enumerate() {
            for from in 0..2 {
                net.open(from, id as u32, size, (id % 2) as u8);
            }
            net.run(net.now + Span::from_us(200));
        }
        while !net.is_done() && net.now < limit {
            net.run(net.now + Span::from_ms(1));
        }
        assert!(net.is_done(), "{}", net.unfinished());
    }
}

impl Trial for Everything {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let mut net = Net::new(name, make, REAL, (BAD, LATE), CLOCKS);
        let mut sizes = Vec::new();
        for _ in 0..4 {
            Self::round(&mut net);
            // All recently sent packets arrive again: they carry nothing new, and no host opens a flow for them.
            for (sent, from, datagram) in std::mem::take(&mut net.log) {
                if net.now.since(sent) < REAL.time_wait {
                    net.receive(1 - from, &datagram);
                }
            }
            net.log.clear();
            net.run(net.now + REAL.time_wait.times(3));
            net.forget_flows();
            net.log.clear();
            for host in &net.hosts {
                assert_eq!(host.endpoint.next_timeout(), None, "{name}: nothing is left to be done");
            }
            sizes.push(net.hosts.each_ref().map(|host| format!("{:?}", host.endpoint).len()));
        }
        // What is written of an endpoint is as long as its state: after three more rounds hardly longer than after the first.
        for host in 0..2 {
            let (first, last) = (sizes[0][host], sizes[3][host]);
            assert!(last < first + first / 4 + 500, "{name}: {sizes:?}");
        }
    }
}

#[test]
fn all_bytes_arrive_in_order_and_ended_flows_are_forgotten() {
    every_transport(&Everything);
}

/// Hosts of which each timer is 4 ms late, on a good network: how long a long flow takes.
struct Stalled;

impl Trial for Stalled {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let good = Network { lost: 0.0, twice: 0.0, held_up: (0.0, Span::ZERO), marked: 0.0, ..BAD };
        let took = |late| {
            let mut net = Net::new(name, &make, REAL, (good, Late { mostly: late, rarely: late }), CLOCKS);
            let began = net.now;
            net.open(0, 1, 2_000_000, 0);
            net.run(began + Span::from_ms(3_000));
            let ended: Option<Time> = net.completed(0, 1);
            ended.unwrap_or_else(|| panic!("{}", net.unfinished())).since(began)
        };
        let (exact, late) = (took(Span::ZERO), took(Span::from_ms(4)));
        // 2 MB at 1 Gbit/s are 16 ms. Some wake-ups are waited for: nine by pHost, whose pauses end by a timer. A packet for each
        // would take 5.5 s.
        let most = Span(exact.0 + exact.0 / 4) + Span::from_ms(37);
        assert!(late < most, "{name}: {late:?}, on time {exact:?}");
    }
}

#[test]
fn timers_that_are_4_ms_late_cost_little_rate() {
    every_transport(&Stalled);
}

/// Two rounds of everything, and by transport the digest of each datagram, when it was sent and by whom.
#[derive(Default)]
struct DatagramDigests(RefCell<Vec<String>>);

impl Trial for DatagramDigests {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let mut net = Net::new(name, make, REAL, (BAD, LATE), CLOCKS);
        let mut digest = Digest::EMPTY;
        for _ in 0..2 {
            Everything::round(&mut net);
            net.run(net.now + REAL.time_wait.times(3));
            net.forget_flows();
        }
        for (at, from, datagram) in &net.log {
            digest.add(format!("{at:?} {from} {datagram:?}").as_bytes());
        }
        self.0.borrow_mut().push(digest.line(name));
    }
}

#[test]
fn hosts_send_the_datagrams_that_they_always_have() {
    let digests = DatagramDigests::default();
    every_transport(&digests);
    assert_kept("datagrams.csv", &digests.0.into_inner());
}

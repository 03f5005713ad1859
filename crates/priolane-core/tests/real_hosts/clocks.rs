//! Clocks that differ and drift: what a transport does is the same.

use std::fmt::Debug;

use priolane_core::endpoint::{Clocks, Endpoint, LocalHost, RealHost};
use priolane_core::units::Span;
use priolane_core::wire::WireBody;

use crate::network::{Clock, Late, Net, Network, SECRET};
use crate::transports::{Trial, every_transport, top_with_expiry};

const GOOD: Network = Network::without_faults(Span::from_us(50));

/// Returns the time that a flow of 4 MB takes, if it ends within 3 s.
fn took<E: Endpoint<Body: WireBody>>(
    name: &str,
    make: impl Fn(LocalHost) -> E,
    (clocks, ahead): (Clocks, [Clock; 2]),
) -> Option<Span> {
    let real = RealHost { clocks, ..RealHost::new(SECRET) };
    let mut net = Net::new(name, make, real, (GOOD, Late::NEVER), ahead);
    let began = net.now;
    net.open(0, 1, 4_000_000, 0);
    net.run(began + Span::from_ms(3_000));
    net.completed(0, 1).map(|ended| ended.since(began))
}

fn clocks(sender: u64, receiver: u64, ppm: f64) -> [Clock; 2] {
    [Clock { ahead: Span::from_us(sender), ppm }, Clock { ahead: Span::from_us(receiver), ppm: -ppm }]
}

struct Differing;

impl Trial for Differing {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let exact = took(name, &make, (Clocks::Synchronised, clocks(0, 0, 0.0)));
        let exact = exact.unwrap_or_else(|| panic!("{name} does not end"));
        for (sender, receiver) in [(0, 0), (300, 0), (0, 300), (7_000_000, 0), (0, 2_500_000)] {
            for ppm in [0.0, 100.0, -100.0] {
                let took = took(name, &make, (Clocks::Independent, clocks(sender, receiver, ppm)));
                let ends = took.is_some_and(|took| took.0.abs_diff(exact.0) < exact.0 / 5);
                let ahead = format!("clocks {sender} and {receiver} us ahead, {ppm} ppm");
                assert!(ends, "{name}: {took:?} with {ahead}, exact {exact:?}");
            }
        }
    }
}

#[test]
fn clocks_that_differ_or_drift_change_little() {
    every_transport(&Differing);
}

/// Shows the purpose of the estimate of offsets.
struct Uncorrected;

impl Trial for Uncorrected {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        // The receiver's clock is 300 us behind: as they are, all tokens are too old, and the flow never ends.
        assert_eq!(took(name, &make, (Clocks::Synchronised, clocks(300, 0, 0.0))), None);
    }
}

#[test]
fn compared_as_they_are_such_clocks_stop_tokens_that_expire() {
    top_with_expiry(&Uncorrected);
}

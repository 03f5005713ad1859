//! A host that is not served: what waits in its endpoint is bounded, and once it is served again everything arrives.

use std::fmt::Debug;

use priolane_core::endpoint::{Endpoint, LocalHost, RealHost};
use priolane_core::units::Span;
use priolane_core::wire::WireBody;

use crate::network::{Clock, Late, Net, Network, SECRET};
use crate::transports::{Trial, every_transport};

const NETWORK: Network = Network::without_faults(Span::from_us(30));

const REAL: RealHost = RealHost { outbox: 64, ..RealHost::new(SECRET) };

/// The largest number of packets that may wait: the outbox, and the slots of 12.3 us in 5 ms that are made up for.
const MOST: usize = 64 + 410;

struct Unserved;

impl Trial for Unserved {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let clock = Clock { ahead: Span::from_ms(1_000), ppm: 0.0 };
        let mut net = Net::new(name, make, REAL, (NETWORK, Late::NEVER), [clock; 2]);
        for id in 0..300 {
            net.open(0, id, 3_000, 0);
        }
        net.sending[1] = false;
        net.run(net.now + Span::from_ms(100));
        // What was sent meanwhile comes again and again, and calls for answers.
        let log = net.log.clone();
        for (_, from, datagram) in log.iter().take(3_000) {
            net.receive(1 - from, datagram);
        }
        net.sending = [false, true];
        let (before, began) = (net.log.len(), net.now);
        // All at once: on a line that takes no time.
        let sent = net.drain(1);
        assert!(sent <= MOST, "{name}: {sent} packets waited");
        assert_eq!((net.log.len() - before, net.now), (sent, began));
        net.sending = [true; 2];
        net.run(net.now + Span::from_ms(3_000));
        assert!(net.is_done(), "{}", net.unfinished());
    }
}

#[test]
fn what_waits_in_a_host_that_does_not_send_is_bounded() {
    every_transport(&Unserved);
}

//! A host that has too many flows to another: what the other keeps of them is bounded, and no flow waits for ever.

use std::fmt::Debug;

use priolane_core::endpoint::{Endpoint, LocalHost, RealHost};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::Span;
use priolane_core::wire::WireBody;

use crate::network::{Clock, Late, Net, Network, SECRET};
use crate::transports::{Trial, every_transport};

const NETWORK: Network = Network::without_faults(Span::from_us(30));

const MOST: u32 = 8;

const REAL: RealHost = RealHost { flows_per_peer: MOST, idle: Span::from_ms(300), ..RealHost::new(SECRET) };

const CLOCKS: [Clock; 2] = [Clock { ahead: Span::from_ms(1_000), ppm: 0.0 }; 2];

/// Five times as many flows as may be unfinished.
struct Crowd;

impl Trial for Crowd {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let mut net = Net::new(name, make, REAL, (NETWORK, Late::NEVER), CLOCKS);
        for id in 0..5 * MOST {
            net.open(0, id, 20_000, 0);
        }
        let limit = net.now + Span::from_ms(20_000);
        while !net.is_done() && net.now < limit {
            net.run(net.now + Span::from_ms(1));
            assert_eq!(net.forgotten(1), [], "{name}: a flow that is not idle is forgotten");
        }
        assert!(net.is_done(), "{}", net.unfinished());
    }
}

#[test]
fn flows_beyond_the_limit_wait_and_arrive() {
    every_transport(&Crowd);
}

/// A host that starts again and again, with as many unfinished flows as it may have.
struct Restarts;

impl Trial for Restarts {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let mut net = Net::new(name, &make, REAL, (NETWORK, Late::NEVER), CLOCKS);
        let mut sizes = Vec::new();
        for start in 0..5 {
            for id in 0..MOST {
                net.open(0, 100 * start + id, 3_000_000, 0);
            }
            net.run(net.now + Span::from_ms(20));
            let read: u64 = (0..MOST).map(|id| net.readable(1, 100 * start + id)).sum();
            assert!(read > 0, "{name}: nothing of start {start} arrives");
            let state = format!("{:?}", net.hosts[1].endpoint);
            sizes.push(state.len());
            net.restart(0, &make, REAL);
            net.run(net.now + REAL.idle.times(2));
        }
        // Flows that are idle end, and so do those that the host that started does not know.
        assert!(net.forgotten(1).len() <= 5 * MOST as usize, "{name}: {:?}", net.forgotten(1));
        for (start, id) in (0..5).flat_map(|start| (0..MOST).map(move |id| (start, id))) {
            let is_receiving = net.hosts[1].endpoint.is_receiving(HostId(0), FlowId(100 * start + id));
            assert!(!is_receiving, "{name}: flow {id} of start {start} does not end");
        }
        let (first, last) = (sizes[0], sizes[4]);
        assert!(last < first + first / 2 + 2_000, "{name}: {sizes:?}");
    }
}

#[test]
fn flows_of_a_host_that_started_again_make_room() {
    every_transport(&Restarts);
}

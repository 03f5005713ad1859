//! Tests over a network that loses, duplicates and reorders datagrams.

use priolane_net::Host;
use priolane_rounds::rounds;

use crate::proxy::{Faults, Proxy};
use crate::transports::every_transport;
use crate::whole::{Path, carry, pair};

const BAD: Faults = Faults { lost: 0.05, twice: 0.02, held_up: 0.02, changed: 0.0 };

fn through(hosts: &[Host; 2], seed: u64, lengths: impl IntoIterator<Item = usize>, name: &str) {
    let proxy = Proxy::new(hosts[1].address(), BAD, seed);
    carry(name, Path { from: &hosts[0], to: &hosts[1], address: proxy.second }, lengths);
}

#[test]
fn messages_arrive_whole_and_once_over_a_network_that_loses_repeats_and_reorders() {
    for (seed, (name, config)) in (1..).zip(every_transport()) {
        let began = std::time::Instant::now();
        let hosts = pair(&config);
        through(&hosts, seed, [1, 1_448, 300_000, 2, 40_001], name);
        let single = began.elapsed();
        through(&hosts, 100 + seed, (0..rounds(100, 1_000) as usize).map(|n| 1 + n * 15), name);
        println!("{name}: {single:?}, then {:?}", began.elapsed());
    }
}

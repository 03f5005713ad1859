//! Tests with many connections.

use priolane_net::{Config, Host, Limits};
use priolane_rounds::rounds;

use crate::by_hand::ByHand;
use crate::transports::config;

/// Returns the address of peer `n` on this machine, from 127.1.0.0 on.
fn address(n: u32) -> String {
    format!("127.{}.{}.{}:7300", 1 + n / 65_536, n / 256 % 256, n % 256)
}

#[test]
fn ten_thousand_peers_are_known_at_once_and_the_next_takes_the_place_of_one_that_is_idle() {
    let count = rounds(10_000, 60_000).min(60_000);
    let limits = Limits { peers: count as u16, ..Limits::default() };
    let host = Host::bind(Config { limits, ..config("dctcp") }).unwrap();
    let greet = |n: u32, run: u64| {
        let peer = ByHand::new(&address(n));
        let answer = peer.greet(&host, run, "window", 1_500);
        if answer == 2 {
            peer.deliver(&host, 1, &n.to_le_bytes());
        }
        answer
    };
    for n in 0..count as u32 {
        assert_eq!(greet(n, 1), 2, "peer {n}");
        assert_eq!(host.recv().unwrap().bytes, n.to_le_bytes());
    }
    assert_eq!(host.stats().peers, count);
    // One that is known still is: the same flow has ended.
    let first = ByHand::new(&address(count as u32 - 1));
    first.deliver(&host, 1, b"the same flow");
    assert_eq!(host.try_recv().unwrap(), None);
    // The first was not heard for 2 s, unless all of this took less.
    let answer = greet(count as u32, 1);
    assert!(answer == 2 || answer == 3, "{answer}");
    assert_eq!(host.stats().peers, count);
}

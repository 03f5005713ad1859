//! Datagrams that the kernel cuts from others.

use priolane_net::{Config, Host, Key, Segmentation};

use crate::transports::every_transport;
use crate::whole::{Path, carry, pair};

/// Sends short and long messages both ways; whether anything left in groups, of which none was refused.
fn carry_both_ways(name: &str, config: Config) -> bool {
    let [a, b] = pair(&Config { segmentation: Segmentation::Kernel, ..config });
    carry(name, Path::direct([&a, &b]), [1, 1_456, 1_457, 700_000, 5_000]);
    carry(name, Path::direct([&b, &a]), (0..50).map(|n| 1 + 100 * n));
    let counts = [&a, &b].map(Host::stats);
    assert_eq!(counts.map(|stats| stats.segmentation_refused), [0; 2], "{name}");
    counts.iter().any(|stats| stats.segments > 0)
}

#[test]
fn messages_arrive_with_every_transport_as_segments_plain_and_sealed() {
    for (name, config) in every_transport() {
        let sealed = config.clone().key(Key::new(&[1; 32]).unwrap());
        let grouped = carry_both_ways(name, config) & carry_both_ways(name, sealed);
        // Windows open by more than a packet at a time.
        assert!(grouped || name != "newreno", "{name}: no datagram left in a group");
    }
}

#[test]
fn without_segmentation_each_datagram_leaves_on_its_own() {
    let [a, b] = pair(&crate::transports::config("newreno"));
    carry("newreno", Path::direct([&a, &b]), [700_000]);
    assert_eq!((a.stats().segments, b.stats().segments), (0, 0));
}

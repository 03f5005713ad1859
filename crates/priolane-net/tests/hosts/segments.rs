//! Tests of datagrams that the kernel cuts from larger buffers, and of groups that it passes as one.

use priolane_net::{Config, Host, Key, ReceiveOffload, Segmentation};

use crate::transports::{config, every_transport};
use crate::whole::{Path, carry, pair};

/// Sends short and long messages in both directions, and returns whether groups were sent and none was refused.
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
    let [a, b] = pair(&config("newreno"));
    carry("newreno", Path::direct([&a, &b]), [700_000]);
    assert_eq!((a.stats().segments, b.stats().segments), (0, 0));
}

#[test]
fn messages_arrive_with_every_transport_in_groups_plain_and_sealed() {
    for (name, config) in every_transport() {
        for key in [None, Some(Key::new(&[1; 32]).unwrap())] {
            let offloads = (Segmentation::Kernel, ReceiveOffload::Kernel);
            let config =
                Config { key, segmentation: offloads.0, receive_offload: offloads.1, ..config.clone() };
            let [a, b] = pair(&config);
            carry(name, Path::direct([&a, &b]), [1, 1_456, 1_457, 700_000, 5_000]);
            carry(name, Path::direct([&b, &a]), (0..50).map(|n| 1 + 100 * n));
            let counts = [&a, &b].map(Host::stats);
            assert_eq!(counts.map(|stats| stats.receive_offload_refused), [0; 2], "{name}");
            let groups: u64 = counts.iter().map(|stats| stats.groups_received).sum();
            let segments: u64 = counts.iter().map(|stats| stats.segments).sum();
            // A group has two datagrams or more.
            assert!(2 * groups <= segments, "{name}: {groups} groups of {segments} datagrams");
            assert!(groups > 0 || name != "newreno", "{name}: no group");
        }
    }
}

#[test]
fn hosts_with_and_without_groups_understand_each_other() {
    let offloading = Config { receive_offload: ReceiveOffload::Kernel, ..config("newreno") };
    let cutting = Config { segmentation: Segmentation::Kernel, ..config("newreno") };
    let (a, b) = (Host::bind(offloading).unwrap(), Host::bind(cutting).unwrap());
    carry("newreno", Path::direct([&b, &a]), [700_000, 1, 3_000]);
    carry("newreno", Path::direct([&a, &b]), [700_000, 1, 3_000]);
    let (grouped, single) = (a.stats(), b.stats());
    assert!(grouped.groups_received > 0 && single.groups_received == 0, "{grouped:?} {single:?}");
    // All that left one side is counted at the other, one by one.
    assert_eq!(single.lost_in_socket + grouped.lost_in_socket, 0);
    assert!(grouped.datagrams_received > 700_000 / 1_456, "{grouped:?}");
}

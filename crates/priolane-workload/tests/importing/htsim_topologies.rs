//! Topologies of htsim, against numbers of nodes, links and hops counted by hand.

use std::collections::BTreeMap;

use priolane_core::ids::HostId;
use priolane_core::units::Span;
use priolane_sim::topology::{Topology, file};
use priolane_workload::import::{self, Bond, Format, Network, Options, Source};

/// The values of a file in `sim/datacenter/topologies` of csg-htsim: by tier speed, radices, latency, and other keys.
struct Sizes {
    header: [u64; 3],
    tiers: &'static [(u64, [u64; 2], &'static str)],
}

/// `fat_tree_1024.topo`.
const FAT_TREE: Sizes = Sizes {
    header: [1024, 3, 64],
    tiers: &[(100, [8, 8], "Oversubscribed 1"), (100, [8, 8], "Bundle 1"), (100, [16, 0], "Bundle 1")],
};
/// `leaf_spine_tiny.topo`.
const LEAF_SPINE: Sizes = Sizes {
    header: [32, 2, 32],
    tiers: &[(100, [8, 2], "Switch_Latency_ns 0\nOversubscribed 4"), (100, [4, 0], "")],
};
/// `test.topo`.
const MIXED: Sizes = Sizes {
    header: [8, 3, 4],
    tiers: &[(200, [2, 2], ""), (200, [2, 4], "Bundle 1"), (100, [4, 0], "Bundle 2")],
};

impl Sizes {
    fn text(&self) -> String {
        let [nodes, tiers, pod] = self.header;
        let mut text = format!("# By tiers.\nNodes {nodes}\nTiers {tiers}\nPodsize {pod}\n");
        for (tier, (speed, [down, up], more)) in self.tiers.iter().enumerate() {
            text += &format!("\nTier {tier}\nDownlink_speed_Gbps {speed}\nRadix_Down {down}\n");
            if *up > 0 {
                text += &format!("Radix_Up {up}\n");
            }
            text += &format!("Downlink_Latency_ns 1000\n{more}\n");
        }
        text
    }
}

fn read(text: &str) -> Network {
    import::read_topology(&mut text.as_bytes(), "t.topo", None).unwrap()
}

fn refused(text: &str) -> String {
    import::read_topology(&mut text.as_bytes(), "t.topo", None).unwrap_err().to_string()
}

/// Hosts, switches, and links in both directions as one.
fn counted(topology: &Topology) -> [usize; 3] {
    let hosts = topology.hosts as usize;
    [hosts, topology.nodes() - hosts, topology.links.len() / 2]
}

/// Numbers of pairs of hosts by the links of their path.
fn hops(topology: &Topology) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    for dst in 1..topology.hosts as u16 {
        *found.entry(topology.path(HostId(0), HostId(dst), 0).len()).or_default() += 1;
    }
    found
}

#[test]
fn the_public_fat_tree_of_1024_hosts_has_its_nodes_links_and_hops() {
    let topology = file::parse(&read(&FAT_TREE.text()).text).unwrap();
    // 16 pods of 8 leaves and 8 aggregation switches, and 1024 / 16 cores; 1024 links in each of three tiers.
    assert_eq!(counted(&topology), [1024, 128 + 128 + 64, 3072]);
    assert_eq!(hops(&topology), BTreeMap::from([(2, 7), (4, 56), (6, 960)]));
    // Eight aggregation switches, with eight cores each.
    assert_eq!(topology.equal_paths(HostId(0), HostId(1023)), 64);
}

#[test]
fn the_public_leaf_and_spine_has_its_nodes_links_and_hops() {
    let network = read(&LEAF_SPINE.text());
    let topology = file::parse(&network.text).unwrap();
    // 4 leaves of 8 hosts, whose 8 uplinks lead to 2 switches.
    assert_eq!(counted(&topology), [32, 4 + 2, 32 + 8]);
    assert_eq!(hops(&topology), BTreeMap::from([(2, 7), (4, 24)]));
    assert_eq!(network.hosts, (0..32).collect::<Vec<_>>());
    assert!(network.notes.is_empty(), "{:?}", network.notes);
    assert!(network.text.contains("link,h31,leaf3,100Gbps,1000000ps\n"), "{}", network.text);
}

#[test]
fn the_public_test_file_has_two_links_for_each_pair_at_its_top() {
    let topology = file::parse(&read(&MIXED.text()).text).unwrap();
    // 2 pods of 2 leaves and 2 aggregation switches; 16 links to 4 cores, two from each aggregation switch to two of them.
    assert_eq!(counted(&topology), [8, 4 + 4 + 4, 8 + 8 + 16]);
    assert_eq!(hops(&topology), BTreeMap::from([(2, 1), (4, 2), (6, 4)]));
    assert_eq!(topology.links_between("agg0", "core0").len(), 2);
    assert_eq!(topology.links_between("agg0", "core1").len(), 0);
    assert_eq!(topology.links_between("agg3", "core3").len(), 2);
    let rate = |a: &str, b: &str| topology.links[topology.links_between(a, b)[0].index()].rate.bps();
    assert_eq!([rate("leaf0", "agg1"), rate("agg1", "core3")], [200_000_000_000, 100_000_000_000]);
}

#[test]
fn a_path_has_the_whole_latency_of_each_switch_on_it() {
    let text =
        MIXED.text().replace("Radix_Down 2\nRadix_Up 2", "Switch_Latency_ns 301\nRadix_Down 2\nRadix_Up 2");
    let text = text.replace("Bundle 2", "Bundle 2\nSwitch_Latency_ns 70");
    let network = read(&text);
    assert_eq!(network.notes, ["half the latency of a switch is added to each of its links"]);
    let topology = file::parse(&network.text).unwrap();
    let delay = |dst: u16| {
        let path = topology.path(HostId(0), HostId(dst), 0);
        path.iter().map(|link| topology.links[link.index()].delay.0).sum::<u64>()
    };
    let ns = 1_000;
    // One leaf; two leaves and an aggregation switch without latency; the core, too.
    assert_eq!(delay(1), (2 * 1000 + 301) * ns);
    assert_eq!(delay(2), (4 * 1000 + 2 * 301) * ns);
    assert_eq!(delay(7), (6 * 1000 + 2 * 301 + 70) * ns);
    assert_eq!(topology.links[0].delay, Span(1_000 * ns + 301 * ns / 2));
}

#[test]
fn a_matrix_and_its_topology_are_one_import() {
    let network = read(&MIXED.text());
    let source = Source { file: "x.cm", format: None, network: Some(&network) };
    let matrix = "Nodes 8\nConnections 1\n0->7 id 1 start 0 size 5000\n";
    let (imported, guess) = import::read(matrix.as_bytes(), source, &Options::default()).unwrap();
    assert_eq!((guess.format, imported.rows.len(), imported.hosts), (Format::Htsim, 1, 8));
    let other = matrix.replace("Nodes 8", "Nodes 16");
    let error = import::read(other.as_bytes(), source, &Options::default()).unwrap_err().to_string();
    assert_eq!(error, "x.cm: the matrix has 16 nodes, and the topology 8. Use the topology of this matrix.");
}

#[test]
fn queues_and_unknown_lines_are_told() {
    let text = LEAF_SPINE.text().replace("Radix_Up 2", "RADIX_UP 2\nQueue_Up 15000\nColour 7")
        + "Tier 2\nQueue_Down 1\n";
    assert_eq!(
        read(&text).notes,
        [
            "sizes of queues are not in a topology; state them in [switch]: queue_up of tier 0: 15000",
            "tier 2 was ignored, as Tiers is 2",
            "1 lines with other names were ignored, as by htsim",
        ]
    );
}

#[test]
fn mistakes_are_told_at_their_lines() {
    let of = |sizes: &Sizes, from: &str, to: &str| refused(&sizes.text().replacen(from, to, 1));
    for (from, to, says) in [
        ("Nodes 8", "Nodes 0", "t.topo: Nodes is missing before the first tier, or 0"),
        ("Tiers 3", "Tiers 4", "t.topo:3: there are 4 tiers"),
        ("Tier 2", "Tier 3", "t.topo:20: tier 3 does not exist"),
        ("Podsize 4", "Podsize 3", "t.topo:8: the pods are Nodes / Podsize: 8 / 3 is not a whole number"),
        ("Radix_Up 2", "Radix_Up 4", "t.topo:9: Radix_Down / Radix_Up of tier 0 is 0, and Oversubscribed 1"),
        (
            "Radix_Up 4",
            "Radix_Up 2",
            "t.topo:16: an aggregation switch has 2 cores and 2 links to each, but Radix_Up is 2",
        ),
        ("Bundle 2", "Bundle 3", "t.topo:22: radix_down of tier 2 is 4, no multiple of 3 (Bundle of tier 2)"),
        ("Bundle 2", "Radix_Up 2", "t.topo:24: tier 2 is the highest, which has no radix_up"),
        ("Downlink_Latency_ns 1000\n", "", "t.topo:6: downlink_latency_ns of tier 0 is missing, or 0"),
        ("Radix_Down 2\n", "Radix_Down 2\nRadix_Down 2\n", "t.topo:9: radix_down of tier 0 appears twice"),
        ("Radix_Down 2\n", "Radix_Down two\n", "t.topo:8: "),
        ("Radix_Down 2\n", "Radix_Down\n", "t.topo:8: Radix_Down has no number"),
        ("Radix_Down 2\n", "Radix_Down 99999999999999\n", "t.topo:8: 99999999999999 is too large"),
        (
            "Latency_ns 1000",
            "Latency_ns 250000001",
            "t.topo:10: downlink_latency_ns of tier 0: the delay is 250000001000 ps: use at most 250 ms",
        ),
        (
            "Bundle 1",
            "Bundle 1\nSwitch_Latency_ns 600000000",
            "t.topo:19: switch_latency_ns of tier 1: the delay is 300001000000 ps: use at most 250 ms",
        ),
    ] {
        let error = of(&MIXED, from, to);
        assert!(error.starts_with(says), "{from} {to}: {error}");
    }
    let fast = refused(
        &MIXED.text().replace("Gbps 200", "Gbps 20000000000").replace("Gbps 100", "Gbps 10000000000"),
    );
    assert!(
        fast.starts_with("t.topo:7: downlink_speed_gbps of tier 0: the rate '20000000000Gbps'"),
        "{fast}"
    );
    let error = of(&LEAF_SPINE, "Oversubscribed 4", "Oversubscribed 4\nBundle 2");
    assert!(error.starts_with("t.topo:13: hosts have 2 links to their switch"), "{error}");
    // The first tier alone, as of a file that was cut off.
    let (head, _) =
        MIXED.text().split_once("\nTier 1").map(|(head, rest)| (head.to_owned(), rest.to_owned())).unwrap();
    assert!(refused(&head).starts_with("t.topo: Tiers is 3, but there is no tier 1"), "{}", refused(&head));
    let bonded = import::read_topology(&mut MIXED.text().as_bytes(), "t.topo", Some(Bond::Sum)).unwrap_err();
    assert!(bonded.to_string().contains("--bond has no meaning"), "{bonded}");
    let large = MIXED.text().replace("Nodes 8", "Nodes 60000").replace("Podsize 4", "Podsize 30000");
    assert!(
        refused(&large).contains("Radix_Up") || refused(&large).contains("too large"),
        "{}",
        refused(&large)
    );
}

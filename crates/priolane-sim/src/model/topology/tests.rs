use std::collections::BTreeSet;

use priolane_core::ids::{HostId, LinkId, NodeId};
use priolane_core::packet::Frame;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Rate, Span};

use super::graph::Graph;
use super::network::{NodeKind, spread};
use super::*;

mod symmetry;
mod three_tier;

const HOST: LinkSpec = LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(1));
const FABRIC: LinkSpec = LinkSpec::lossless(Rate::from_gbps(40), Span::from_us(2));

fn leaf_spine() -> LeafSpine {
    LeafSpine {
        leaves: 4,
        spines: 3,
        hosts_per_leaf: 5,
        host_link: HOST,
        fabric_link: FABRIC,
        links_per_pair: 1,
    }
}

fn fat_tree(k: u32) -> FatTree {
    FatTree { k, host_link: HOST, fabric_link: FABRIC }
}

fn dumbbell() -> Dumbbell {
    Dumbbell { left: 3, right: 2, host_link: HOST, bottleneck: FABRIC }
}

fn hosts(topology: &Topology) -> impl Iterator<Item = HostId> + use<> {
    (0..topology.hosts).map(|h| HostId(h as u16))
}

/// Asserts that the path is a chain from `src` to `dst` without repeated nodes; returns its number of links.
fn links_on_path(topology: &Topology, src: HostId, dst: HostId, entropy: u16) -> usize {
    let path = topology.path(src, dst, entropy);
    let mut at = topology.node_of(src);
    let mut seen = vec![at];
    for id in &path {
        let link = topology.links[id.index()];
        assert_eq!(link.from, at);
        at = link.to;
        assert!(!seen.contains(&at));
        seen.push(at);
    }
    assert_eq!(at, topology.node_of(dst));
    path.len()
}

/// Asserts that every ordered pair of different hosts is `expected` links apart.
fn assert_lengths(topology: &Topology, expected: impl Fn(u32, u32) -> usize) {
    for src in hosts(topology) {
        for dst in hosts(topology).filter(|&dst| dst != src) {
            let entropy = src.0.wrapping_mul(31) ^ dst.0;
            let found = links_on_path(topology, src, dst, entropy);
            assert_eq!(found, expected(src.0.into(), dst.0.into()), "{src:?} {dst:?}");
        }
    }
}

/// Asserts the guarantees of all topologies about the order of nodes and links.
fn assert_promises(topology: &Topology) {
    assert_eq!(topology.names.len(), topology.nodes());
    for host in hosts(topology) {
        let (up, down) = (topology.links[topology.uplink(host).index()], topology.downlink(host));
        assert_eq!(up.from, topology.node_of(host));
        assert_eq!(up.to.0 - topology.hosts, topology.rack[host.index()]);
        assert_eq!(topology.links[down.index()].to, up.from);
        assert!(topology.rack[host.index()] < topology.racks);
    }
    for rack in 0..topology.racks {
        assert!(topology.rack.contains(&rack));
    }
    for (id, link) in topology.links.iter().enumerate() {
        let back = topology.links[topology.reverse(LinkId(id as u32)).index()];
        assert_eq!((back.from, back.to, back.rate, back.delay), (link.to, link.from, link.rate, link.delay));
        assert!(id < 2 * topology.hosts as usize || link.from.0.min(link.to.0) >= topology.hosts);
    }
}

#[test]
fn a_single_switch_joins_all_hosts_by_two_links() {
    let topology = SingleSwitch { hosts: 7, host_link: HOST }.build().unwrap();
    assert_eq!((topology.hosts, topology.switches, topology.links.len()), (7, 1, 14));
    assert_eq!(topology.names[7], "s0");
    assert_eq!(topology.core_capacity(), 0);
    assert_promises(&topology);
    assert_lengths(&topology, |_, _| 2);
}

#[test]
fn a_dumbbell_joins_its_sides_by_the_bottleneck() {
    let topology = dumbbell().build().unwrap();
    assert_eq!((topology.hosts, topology.switches, topology.links.len()), (5, 2, 12));
    assert_eq!(topology.rack, [0, 0, 0, 1, 1]);
    assert_promises(&topology);
    assert_lengths(&topology, |src, dst| if (src < 3) == (dst < 3) { 2 } else { 3 });
    // Left to right and right to left, 40 Gbps each.
    assert_eq!(topology.core_capacity(), 80_000_000_000);
    let across = topology.link_between("left", "right").unwrap();
    assert_eq!(topology.path(HostId(0), HostId(4), 9)[1], across);
    assert_eq!(topology.link_between("right", "left"), Some(topology.reverse(across)));
}

#[test]
fn a_leaf_spine_has_two_or_four_links_between_hosts() {
    let topology = leaf_spine().build().unwrap();
    // Cables: 20 of hosts and 4 x 3 of the fabric.
    assert_eq!((topology.hosts, topology.switches, topology.links.len()), (20, 7, 64));
    assert_eq!((topology.racks, topology.rack[4], topology.rack[5]), (4, 0, 1));
    assert_promises(&topology);
    assert_lengths(&topology, |src, dst| if src / 5 == dst / 5 { 2 } else { 4 });
    assert_eq!(topology.host_capacity(HostId(3)), Rate::from_gbps(10));
    // 4 leaves x 3 spines x 40 Gbps.
    assert_eq!(topology.core_capacity(), 480_000_000_000);
}

#[test]
fn parallel_links_are_choices_of_their_own() {
    let topology = LeafSpine { links_per_pair: 2, ..leaf_spine() }.build().unwrap();
    let leaf = topology.find_node("leaf0").unwrap();
    assert_eq!(topology.next_links(leaf, HostId(19)).len(), 6);
    let spine = topology.find_node("spine1").unwrap();
    assert_eq!(topology.next_links(spine, HostId(19)), topology.links_between("spine1", "leaf3"));
    assert_eq!(topology.links_between("spine1", "leaf3").len(), 2);
    assert_promises(&topology);
    assert_lengths(&topology, |src, dst| if src / 5 == dst / 5 { 2 } else { 4 });
    assert_eq!(topology.core_capacity(), 960_000_000_000);
}

#[test]
fn a_fat_tree_has_two_four_or_six_links_between_hosts() {
    for k in [2, 4, 6, 8] {
        let topology = fat_tree(k).build().unwrap();
        assert_eq!((topology.hosts, topology.switches), (k * k * k / 4, 5 * k * k / 4));
        // Three tiers of k^3/4 cables, two directions each.
        assert_eq!(topology.links.len() as u32, 2 * 3 * k * k * k / 4);
        assert_promises(&topology);
        let (rack, pod) = (k / 2, k * k / 4);
        assert_lengths(&topology, |src, dst| match (src / rack == dst / rack, src / pod == dst / pod) {
            (true, _) => 2,
            (false, true) => 4,
            (false, false) => 6,
        });
        assert_eq!(topology.core_capacity(), u64::from(k * k * k / 4) * 40_000_000_000);
    }
}

#[test]
fn a_fat_trees_switches_have_the_ports_they_should() {
    let topology = fat_tree(6).build().unwrap();
    for switch in topology.hosts..topology.nodes() as u32 {
        assert_eq!(topology.links.iter().filter(|l| l.from.0 == switch).count(), 6);
    }
    // Aggregation switch 1 of each pod of 3 has cores 3, 4, 5.
    for agg in ["agg1", "agg4", "agg16"] {
        let joined = |c: u32| topology.link_between(agg, &format!("core{c}")).is_some();
        assert_eq!((0..9).filter(|&c| joined(c)).collect::<Vec<_>>(), [3, 4, 5]);
    }
    assert_eq!(topology.link_between("edge0", "core0"), None);
}

#[test]
fn every_equal_path_is_used_and_no_other() {
    let topology = fat_tree(4).build().unwrap();
    let (src, dst) = (HostId(0), HostId(15));
    let mut cores: Vec<NodeId> =
        (0..1000).map(|e| topology.links[topology.path(src, dst, e)[2].index()].to).collect();
    cores.sort_unstable();
    cores.dedup();
    let expected: Vec<_> =
        ["core0", "core1", "core2", "core3"].map(|c| topology.find_node(c).unwrap()).to_vec();
    assert_eq!(cores, expected);
}

#[test]
fn tables_of_a_fat_tree_of_8192_hosts_stay_small() {
    let topology = fat_tree(32).build().unwrap();
    assert_eq!((topology.hosts, topology.switches, topology.racks), (8192, 1280, 512));
    // 1280 switches x 512 racks x 8 B = 5.2 MB; one run of 16 uplinks for each edge and aggregation switch.
    assert_eq!(topology.next_hops.len() * size_of::<NextHops>(), 5_242_880);
    assert_eq!(topology.choices.len(), 2 * 512 * 16);
    let mut rng = Stream::new(7, Purpose::Pairs, 0);
    let mut draw = |n| rng.below(n) as u16;
    for _ in 0..20_000 {
        let (src, dst, entropy) = (HostId(draw(8192)), HostId(draw(8192)), draw(65_536));
        let same = |size: u16| src.0 / size == dst.0 / size;
        let expected = if same(1) {
            0
        } else if same(16) {
            2
        } else if same(256) {
            4
        } else {
            6
        };
        assert_eq!(links_on_path(&topology, src, dst, entropy), expected);
    }
}

#[test]
fn the_largest_fat_tree_uses_all_host_ids() {
    let topology = fat_tree(64).build().unwrap();
    assert_eq!(topology.hosts, 65_536);
    assert_eq!(links_on_path(&topology, HostId(0), HostId(65_535), 12_345), 6);
}

#[test]
fn a_pinned_path_takes_entropy_mod_choices() {
    let mut topology = leaf_spine().build().unwrap();
    topology.path_choice = PathChoice::Pinned;
    for entropy in 0..100 {
        let up = topology.path(HostId(0), HostId(19), entropy)[1];
        assert_eq!(Some(up), topology.link_between("leaf0", &format!("spine{}", entropy % 3)));
    }
}

/// Returns the links of each equal path, by its number.
fn numbered(topology: &mut Topology, (src, dst): (u16, u16)) -> Vec<Vec<LinkId>> {
    topology.path_choice = PathChoice::Pinned;
    let paths = topology.equal_paths(HostId(src), HostId(dst));
    (0..paths).map(|path| topology.path(HostId(src), HostId(dst), path as u16)).collect()
}

#[test]
fn numbers_of_paths_name_each_equal_path_once() {
    let distinct = |paths: &[Vec<LinkId>]| paths.iter().collect::<BTreeSet<_>>().len();
    // k = 8: 4 aggregation switches and 4 core links of each between pods, 4 aggregation switches within.
    let mut tree = fat_tree(8).build().unwrap();
    for (pair, count) in [((0, 127), 16), ((0, 5), 4), ((0, 1), 1)] {
        let paths = numbered(&mut tree, pair);
        assert_eq!((paths.len(), distinct(&paths)), (count, count), "{pair:?}");
    }
    let across = numbered(&mut tree, (0, 127));
    // By aggregation switch p mod 4, and that switch's core link p / 4.
    let via = |path: usize, hop: usize| &*tree.names[tree.links[across[path][hop].index()].to.index()];
    assert_eq!([0, 3, 4, 7].map(|path| via(path, 1)), ["agg0", "agg3", "agg0", "agg3"]);
    assert_eq!([0, 3, 4, 7].map(|path| via(path, 2)), ["core0", "core12", "core1", "core13"]);
    let mut spines = LeafSpine { links_per_pair: 2, ..leaf_spine() }.build().unwrap();
    let paths = numbered(&mut spines, (0, 19));
    // Three spines by two links up, and two links down.
    assert_eq!((paths.len(), distinct(&paths)), (12, 12));
    // Replies with the same number take the same switches in a fat-tree.
    assert!((0..16).all(|path| tree.is_symmetric((HostId(0), HostId(127)), path)));
}

#[test]
fn a_number_beyond_the_last_path_begins_again() {
    let mut tree = fat_tree(6).build().unwrap();
    let paths = numbered(&mut tree, (0, 53));
    assert_eq!(paths.len(), 9);
    for number in (0..=u16::MAX).step_by(7) {
        assert_eq!(tree.path(HostId(0), HostId(53), number), paths[usize::from(number % 9)], "{number}");
    }
}

#[test]
fn bare_time_over_a_leaf_spine_by_hand() {
    let topology = leaf_spine().build().unwrap();
    let time = |payload| topology.bare_fct(&Frame::ETHERNET, HostId(0), HostId(19), 5, payload);
    // 1538 B: 1.2304 us at 10 Gbps, 0.3076 us at 40 Gbps; delays 1 + 2 + 2 + 1 us.
    let one = 2 * 1_230_400 + 2 * 307_600 + 6_000_000;
    assert_eq!(time(1460), Span(one));
    assert_eq!(time(1460 * 11), Span(one + 10 * 1_230_400));
    let same = topology.bare_fct(&Frame::ETHERNET, HostId(0), HostId(0), 5, 1460);
    assert_eq!((time(0), same), (Span::ZERO, Span::ZERO));
}

#[test]
fn lookahead_is_that_of_the_quickest_link() {
    // 64 B: 51.2 ns at 10 Gbps + 1 us; 12.8 ns at 40 Gbps + 2 us.
    assert_eq!(leaf_spine().build().unwrap().lookahead(&Frame::ETHERNET), Span(1_051_200));
    let quick = LeafSpine { fabric_link: LinkSpec { delay: Span(1), ..FABRIC }, ..leaf_spine() };
    assert_eq!(quick.build().unwrap().lookahead(&Frame::ETHERNET), Span(12_801));
}

#[test]
fn unknown_names_are_not_found() {
    let topology = leaf_spine().build().unwrap();
    assert_eq!(topology.find_node("h19"), Some(NodeId(19)));
    assert_eq!(topology.find_node("spine2"), Some(NodeId(26)));
    assert_eq!((topology.find_node("spine3"), topology.find_node("")), (None, None));
    assert_eq!(topology.link_between("h0", "leaf1"), None);
    assert_eq!(topology.link_between("h0", "nobody"), None);
    assert_eq!(topology.link_between("h0", "leaf0"), Some(topology.uplink(HostId(0))));
}

#[test]
fn specs_out_of_range_are_refused() {
    let refused = |result: Result<Topology, TopologyError>| match result.unwrap_err() {
        TopologyError::Network(problem) => problem,
        line => panic!("{line}"),
    };
    let spec = leaf_spine();
    let zero = |field| Problem::Zero { field };
    assert_eq!(refused(LeafSpine { leaves: 0, ..spec }.build()), zero("leaves"));
    assert_eq!(refused(LeafSpine { spines: 0, ..spec }.build()), zero("spines"));
    assert_eq!(refused(LeafSpine { hosts_per_leaf: 0, ..spec }.build()), zero("hosts_per_leaf"));
    assert_eq!(refused(LeafSpine { links_per_pair: 0, ..spec }.build()), zero("links_per_pair"));
    assert_eq!(refused(Dumbbell { left: 0, ..dumbbell() }.build()), zero("left"));
    assert_eq!(refused(Dumbbell { right: 0, ..dumbbell() }.build()), zero("right"));
    assert_eq!(refused(SingleSwitch { hosts: 0, host_link: HOST }.build()), Problem::NoHosts);
    for k in [0, 1, 3, 7, 65, 66, u32::MAX] {
        assert_eq!(refused(fat_tree(k).build()), Problem::FatTreeArity { k });
    }
    let still = LinkSpec { delay: Span::ZERO, ..HOST };
    assert_eq!(refused(SingleSwitch { hosts: 2, host_link: still }.build()), Problem::ZeroDelay);
    assert_eq!(refused(Dumbbell { bottleneck: still, ..dumbbell() }.build()), Problem::ZeroDelay);
    let long = LinkSpec { delay: Span(u64::MAX), ..HOST };
    assert_eq!(
        refused(SingleSwitch { hosts: 2, host_link: long }.build()),
        Problem::LongDelay { ps: u64::MAX }
    );
    for loss in [1.0, -0.1, f64::NAN, f64::INFINITY] {
        let lossy = LinkSpec { loss, ..HOST };
        let problem = refused(LeafSpine { fabric_link: lossy, ..spec }.build());
        assert_eq!(problem, Problem::Loss { found: loss.to_string() });
    }
}

#[test]
fn sizes_beyond_the_limits_are_refused_before_anything_is_made() {
    let message = |result: Result<Topology, TopologyError>| result.unwrap_err().to_string();
    let most = u32::MAX;
    assert_eq!(
        message(SingleSwitch { hosts: 65_537, host_link: HOST }.build()),
        "there are 65537 hosts: use at most 65536"
    );
    assert_eq!(
        message(Dumbbell { left: most, right: most, ..dumbbell() }.build()),
        "there are 8589934590 hosts: use at most 65536"
    );
    let spec = leaf_spine();
    let huge = LeafSpine { leaves: most, spines: most, hosts_per_leaf: most, links_per_pair: most, ..spec };
    assert_eq!(message(huge.build()), "there are 18446744065119617025 hosts: use at most 65536");
    let spines = LeafSpine { spines: most, ..spec };
    assert_eq!(message(spines.build()), "there are 4294967299 switches: use at most 65536");
    let parallel = LeafSpine { links_per_pair: most, ..spec };
    assert_eq!(message(parallel.build()), "there are 51539607560 links: use at most 1048576");
    // 5000 leaves x 5001 switches is more than 2^24.
    let table = LeafSpine { leaves: 5000, spines: 1, hosts_per_leaf: 1, ..spec };
    assert!(message(table.build()).starts_with("there are 5001 switches, 5000 of them with hosts"));
}

#[test]
fn a_network_can_be_put_together_by_hand() {
    let mut graph = Graph::new();
    let switch = graph.node(NodeKind::Switch, "middle").unwrap();
    let ends = ["x", "y"].map(|name| graph.node(NodeKind::Host, name).unwrap());
    graph.link(switch, ends[0], HOST).unwrap();
    assert_eq!(graph.link(ends[0], switch, HOST), Err(Problem::SecondLink { name: "'x'".to_owned() }));
    assert_eq!(
        graph.clone().build().unwrap_err(),
        graph::Fault {
            place: graph::Place::Node(ends[1]),
            problem: Problem::NoLink { name: "'y'".to_owned() }
        }
    );
    graph.link(ends[1], switch, FABRIC).unwrap();
    let topology = graph.build().unwrap();
    assert_promises(&topology);
    assert_lengths(&topology, |_, _| 2);
    assert_eq!(topology.host_capacity(HostId(1)), Rate::from_gbps(40));
}

/// Counts (first choice, second choice) over `entropies` for an edge switch of a fat-tree with k = 8.
fn tier_counts(topology: &Topology, edge: u32, entropies: impl Iterator<Item = u16>) -> [[u32; 4]; 4] {
    let src = HostId((edge * 4) as u16);
    let dst = HostId(((edge * 4 + 64) % 128) as u16);
    let edge = NodeId(topology.hosts + edge);
    let ups = topology.next_links(edge, dst);
    let mut counts = [[0; 4]; 4];
    for entropy in entropies {
        let path = topology.path(src, dst, entropy);
        let first = ups.iter().position(|up| *up == path[1]).unwrap();
        let agg = topology.links[path[1].index()].to;
        let second = topology.next_links(agg, dst).iter().position(|up| *up == path[2]).unwrap();
        counts[first][second] += 1;
    }
    counts
}

/// Asserts that each first choice has a quarter of all, and each second choice a quarter of those, within 2 in 100.
fn assert_even(counts: &[[u32; 4]; 4]) {
    let all: u32 = counts.iter().flatten().sum();
    for row in counts {
        let part: u32 = row.iter().sum();
        assert!((f64::from(part) / f64::from(all) - 0.25).abs() < 0.02, "{counts:?}");
        for &cell in row {
            assert!((f64::from(cell) / f64::from(part) - 0.25).abs() < 0.02, "{counts:?}");
        }
    }
}

#[test]
fn tiers_do_not_polarise_over_random_and_over_sequential_entropies() {
    let topology = fat_tree(8).build().unwrap();
    let mut chi2 = 0.0;
    for edge in 0..32 {
        let mut rng = Stream::new(11, Purpose::Paths, edge.into());
        let random: Vec<u16> = (0..100_000).map(|_| rng.bits() as u16).collect();
        assert_even(&tier_counts(&topology, edge, random.into_iter()));
        let all = tier_counts(&topology, edge, 0..=u16::MAX);
        assert_even(&all);
        // 65,536 / 16 in each of 16 cells.
        chi2 += all
            .iter()
            .flatten()
            .map(|&c| (f64::from(c) - 4096.0) * (f64::from(c) - 4096.0) / 4096.0)
            .sum::<f64>();
    }
    // 32 edges x 15 degrees of freedom: 480, standard deviation sqrt(2 x 480) = 31.
    assert!(chi2 < 480.0 + 4.0 * 31.0, "{chi2}");
}

#[test]
fn choices_of_any_two_switches_are_independent() {
    let mut rng = Stream::new(13, Purpose::Paths, 0);
    for round in 0..600 {
        let n = [2, 3, 4, 5, 6, 8, 16][round % 7];
        let a = rng.below(70_000) as u32;
        let b = match round % 3 {
            0 => a + 1 + rng.below(8) as u32,
            1 => a ^ (1 << rng.below(17)),
            _ => 70_000 + rng.below(70_000) as u32,
        };
        let mut counts = vec![0u32; (n * n) as usize];
        for entropy in 0..=u16::MAX {
            let (x, y) = (spread(entropy, a, n), spread(entropy, b, n));
            counts[(x * n + y) as usize] += 1;
        }
        let expected = 65_536.0 / f64::from(n * n);
        let chi2: f64 =
            counts.iter().map(|&c| (f64::from(c) - expected) * (f64::from(c) - expected) / expected).sum();
        // About 6 standard deviations above the n^2 - 1 degrees of freedom.
        let freedom = f64::from(n * n - 1);
        assert!(chi2 < freedom + 6.0 * (2.0 * freedom).sqrt() + 6.0, "switches {a}, {b}, n {n}: {chi2}");
    }
}

#[test]
fn entropy_zero_and_short_runs_of_entropies_spread_too() {
    // The first 256 entropies at each of 64 switches, 4 choices: 4096 per choice, standard deviation 55.
    let mut counts = [0u32; 4];
    let mut first = [0u32; 4];
    for switch in 128..192 {
        first[spread(0, switch, 4) as usize] += 1;
        for entropy in 0..256 {
            counts[spread(entropy, switch, 4) as usize] += 1;
        }
    }
    assert!(counts.iter().all(|c| c.abs_diff(4096) < 220), "{counts:?}");
    assert!(first.iter().all(|&c| c > 4), "{first:?}");
}

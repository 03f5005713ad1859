use super::*;

/// Three pods of four leaves and two aggregation switches, six cores, five hosts per leaf.
fn shape() -> ThreeTier {
    ThreeTier {
        pods: 3,
        leaves_per_pod: 4,
        aggs_per_pod: 2,
        cores: 6,
        hosts_per_leaf: 5,
        host_link: HOST,
        pod_link: LinkSpec::lossless(Rate::from_gbps(20), Span::from_us(2)),
        core_link: FABRIC,
    }
}

#[test]
fn hosts_are_two_four_or_six_links_apart() {
    let topology = shape().build().unwrap();
    // Switches: 12 leaves, 6 aggregation, 6 core. Cables: 60 hosts, 12 x 2, 6 x 3.
    assert_eq!((topology.hosts, topology.switches, topology.racks), (60, 24, 12));
    assert_eq!(topology.links.len(), 2 * (60 + 24 + 18));
    assert_promises(&topology);
    assert_lengths(&topology, |src, dst| match (src / 5 == dst / 5, src / 20 == dst / 20) {
        (true, _) => 2,
        (false, true) => 4,
        (false, false) => 6,
    });
    // 12 leaves x 2 x 20 Gbps.
    assert_eq!(topology.core_capacity(), 480_000_000_000);
}

#[test]
fn names_say_pod_and_place_and_planes_join_their_cores() {
    let topology = shape().build().unwrap();
    assert!(topology.link_between("h59", "leaf2-3").is_some());
    assert!(topology.link_between("leaf1-0", "agg1-1").is_some());
    assert_eq!(topology.link_between("leaf1-0", "agg0-1"), None);
    for pod in 0..3 {
        let joined = |c: u32| topology.link_between(&format!("agg{pod}-1"), &format!("core{c}"));
        assert_eq!((0..6).filter(|&c| joined(c).is_some()).collect::<Vec<_>>(), [3, 4, 5]);
    }
}

#[test]
fn rates_and_delays_are_those_of_their_tier() {
    let topology = shape().build().unwrap();
    let path = topology.path(HostId(0), HostId(59), 7);
    let tiers: Vec<_> = path.iter().map(|l| topology.links[l.index()].rate.bps() / 1_000_000_000).collect();
    assert_eq!(tiers, [10, 20, 40, 40, 20, 10]);
    // 1538 B: 1.2304 us at 10 Gbps, half at 20, a quarter at 40; delays 1 + 2 + 2 + 2 + 2 + 1 us.
    let bare = topology.bare_fct(&Frame::ETHERNET, HostId(0), HostId(59), 7, 1460);
    assert_eq!(bare, Span(2 * (1_230_400 + 615_200 + 307_600) + 10_000_000));
}

#[test]
fn with_the_counts_of_a_fat_tree_it_is_the_fat_tree() {
    for k in [2, 4, 6, 8] {
        let r = k / 2;
        let tiers = ThreeTier {
            pods: k,
            leaves_per_pod: r,
            aggs_per_pod: r,
            cores: r * r,
            hosts_per_leaf: r,
            host_link: HOST,
            pod_link: FABRIC,
            core_link: FABRIC,
        };
        let (tiers, tree) = (tiers.build().unwrap(), fat_tree(k).build().unwrap());
        assert_eq!(tiers.links, tree.links);
        assert_eq!((tiers.next_hops, tiers.choices), (tree.next_hops, tree.choices));
        assert_eq!(tiers.rack, tree.rack);
    }
}

#[test]
fn choices_of_leaf_and_aggregation_switch_are_even_and_independent() {
    let topology = ThreeTier { leaves_per_pod: 8, aggs_per_pod: 4, cores: 12, ..shape() }.build().unwrap();
    let mut chi2 = 0.0;
    for leaf in 0..24u16 {
        let (src, dst) = (HostId(leaf * 5), HostId((leaf * 5 + 40) % 120));
        let place = |link: &LinkId, of: &[LinkId]| of.iter().position(|l| l == link).unwrap();
        let mut counts = [[0u32; 3]; 4];
        for entropy in 0..=u16::MAX {
            let path = topology.path(src, dst, entropy);
            let [leaf, agg] = [1, 2].map(|i| topology.links[path[i].index()].from);
            let up = place(&path[1], &topology.next_links(leaf, dst));
            counts[up][place(&path[2], &topology.next_links(agg, dst))] += 1;
        }
        let expected = 65_536.0 / 12.0;
        let off = |c: u32| f64::from(c) - expected;
        chi2 += counts.iter().flatten().map(|&c| off(c) * off(c) / expected).sum::<f64>();
    }
    // 24 leaves x 11 degrees of freedom: 264, standard deviation sqrt(2 x 264) = 23. Polarised tiers leave cells
    // empty: 65,536 and more for each leaf.
    assert!(chi2 < 264.0 + 4.0 * 23.0, "{chi2}");
}

#[test]
fn counts_out_of_range_are_refused_by_name() {
    let refused = |spec: ThreeTier| match spec.build().unwrap_err() {
        TopologyError::Network(problem) => problem,
        line => panic!("{line}"),
    };
    let zero = |field| Problem::Zero { field };
    assert_eq!(refused(ThreeTier { pods: 0, ..shape() }), zero("pods"));
    assert_eq!(refused(ThreeTier { leaves_per_pod: 0, ..shape() }), zero("leaves_per_pod"));
    assert_eq!(refused(ThreeTier { aggs_per_pod: 0, ..shape() }), zero("aggs_per_pod"));
    assert_eq!(refused(ThreeTier { cores: 0, ..shape() }), zero("cores"));
    assert_eq!(refused(ThreeTier { hosts_per_leaf: 0, ..shape() }), zero("hosts_per_leaf"));
    let uneven = refused(ThreeTier { cores: 7, ..shape() });
    assert_eq!(uneven, Problem::CorePlanes { cores: 7, aggs: 2 });
    assert!(uneven.to_string().contains("a multiple of aggs_per_pod, such as 8"), "{uneven}");
    let few = refused(ThreeTier { cores: 1, ..shape() });
    assert!(few.to_string().contains("such as 2"), "{few}");
    let most = u32::MAX;
    let huge = ThreeTier { pods: most, leaves_per_pod: most, aggs_per_pod: most, cores: most, ..shape() };
    assert!(refused(huge).to_string().ends_with("hosts: use at most 65536"));
    let switches = refused(ThreeTier { cores: 4_000_000_000, ..shape() });
    assert_eq!(switches.to_string(), "there are 4000000018 switches: use at most 65536");
}

use super::*;
use crate::model::topology::TokenTraffic;
use priolane_core::port::TokenGroupSpec;

fn mirrored(mut topology: Topology) -> (usize, usize) {
    topology.path_choice = PathChoice::Symmetric;
    let (mut mirrored, mut all) = (0, 0);
    for a in hosts(&topology) {
        for b in hosts(&topology).filter(|&b| b != a) {
            for entropy in [0, 1, 77, 40_503, 65_535] {
                all += 1;
                mirrored += usize::from(topology.is_symmetric((a, b), entropy));
            }
        }
    }
    (mirrored, all)
}

#[test]
fn symmetric_paths_are_retraced_and_hashed_ones_are_not() {
    let three = ThreeTier {
        pods: 2,
        leaves_per_pod: 2,
        aggs_per_pod: 2,
        cores: 4,
        hosts_per_leaf: 2,
        host_link: HOST,
        pod_link: FABRIC,
        core_link: FABRIC,
    };
    let all = [leaf_spine().build(), fat_tree(4).build(), three.build(), dumbbell().build()];
    for topology in all.map(Result::unwrap) {
        let (mirrored, all) = mirrored(topology);
        assert_eq!(mirrored, all);
    }
    // With parallel links each end selects its own: `check` rejects token transports there.
    let (mirrored, all) = mirrored(LeafSpine { links_per_pair: 2, ..leaf_spine() }.build().unwrap());
    assert!(mirrored < all);
    let hashed = leaf_spine().build().unwrap();
    assert!(hosts(&hashed).any(|b| !hashed.is_symmetric((HostId(0), HostId(19)), b.0)));
}

#[test]
fn a_symmetric_choice_uses_all_paths() {
    let mut topology = fat_tree(4).build().unwrap();
    topology.path_choice = PathChoice::Symmetric;
    let mut cores: Vec<LinkId> =
        (0..200).map(|entropy| topology.path(HostId(0), HostId(15), entropy)[2]).collect();
    cores.sort_unstable();
    cores.dedup();
    assert_eq!(cores.len(), 4);
}

#[test]
fn buffers_of_a_dumbbell_by_hand() {
    // 40 hosts of 10 Gbps on each side of 100 Gbps, 4 us per link: a token waits 8 slots of 1622 B, 10.3808 us at a
    // host's link and 1.03808 us at the core; frames take 1.2304 us and 0.12304 us.
    let host = LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(4));
    let core = LinkSpec::lossless(Rate::from_gbps(100), Span::from_us(4));
    let topology = Dumbbell { left: 40, right: 40, host_link: host, bottleneck: core }.build().unwrap();
    let traffic = TokenTraffic {
        ports: TokenGroupSpec::TOP,
        frame: Frame::ETHERNET,
        host_jitter: Span::ZERO,
        signals: 0,
    };
    let buffers = topology.token_buffers(&traffic);
    // The core port's data comes from hosts below, within 10.3808 us plus five frames of 1.2304 us.
    let ahead = 5 * 1_538;
    let spread = 10_380_800 + 5 * 1_230_400;
    let at_core = (Rate::from_gbps(100).bytes_in(Span(spread)) as u128 * 1_538 / 1_622) as u64 + ahead;
    let across = topology.core_links().next().unwrap();
    assert_eq!(buffers[across.index()], at_core);
    // 196 kB + 7.7 kB.
    assert_eq!(at_core, 203_647);
    // A downlink's data comes from its own rack at the earliest and from across at the latest: two more links of 4 us,
    // the waits of a token, 1.03808 and 10.3808 us, the core's buffer, 16.3 us, frames of 6.2 and 0.6 us. 42.5 us at
    // 0.948 of 10 Gbps are 50 kB, plus 7.7 kB.
    let down = topology.downlink(HostId(3));
    assert!((56_000..59_000).contains(&buffers[down.index()]), "{}", buffers[down.index()]);
    assert_eq!(buffers[topology.uplink(HostId(3)).index()], 0);
}

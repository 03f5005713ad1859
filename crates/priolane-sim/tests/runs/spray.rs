//! Packets that each choose their way: evenly, alike on both engines, out of order, and still all of every flow.

use crate::support::{agreed, fifo, flow, link, new_reno, scenario};
use crate::tokens::{top, with};
use priolane_core::endpoint::PayloadStats;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::tokens::{DATA_CLASS, MAX_CLASSES, SIGNAL_CLASS};
use priolane_core::transport::{Transport, homa, ndp, phost, window};
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::{FatTree, LeafSpine, PathChoice, Spray, Topology};

/// Two leaves of four hosts and four spines; links between switches are as fast as those of hosts.
fn leaf_spine() -> Topology {
    let (host_link, fabric_link) = (link(10, Span::from_us(1)), link(10, Span::from_us(1)));
    let shape =
        LeafSpine { leaves: 2, spines: 4, hosts_per_leaf: 4, host_link, fabric_link, links_per_pair: 1 };
    shape.build().unwrap()
}

/// Every host of the left sends to one of the right; segments above a hole that mean loss: `dup_threshold`.
fn across(path_choice: PathChoice, dup_threshold: u32) -> ScenarioSpec {
    let mut topology = leaf_spine();
    topology.path_choice = path_choice;
    let flows = (0..4).map(|i| flow(i, (i as u16, 4 + i as u16), 3_000_000, Time::ZERO)).collect();
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let config = window::Config { dup_threshold, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), config);
    scenario
}

/// Packets on each link from `switch` to the switches above it.
fn upward(outcome: &Outcome, topology: &Topology, switch: &str, above: &str) -> Vec<u64> {
    let links = (0..).map_while(|i| topology.link_between(switch, &format!("{above}{i}")));
    links.map(|l| outcome.ports.iter().filter(|p| p.link == l).map(|p| p.packets).sum()).collect()
}

/// Each of the counts is within 4 standard deviations of its part of the whole.
fn assert_even(counts: &[u64]) {
    let (all, n) = (counts.iter().sum::<u64>() as f64, counts.len() as f64);
    let sigma = (all / n * (1.0 - 1.0 / n)).sqrt();
    assert!(all > 1_000.0 && n > 1.0, "{counts:?}");
    assert!(counts.iter().all(|&c| (c as f64 - all / n).abs() < 4.0 * sigma), "{counts:?}");
}

#[test]
fn load_is_even_over_all_equal_paths() {
    let scenario = across(PathChoice::Sprayed(Spray::Random), 1_000_000);
    let outcome = agreed(&scenario);
    // 4 x 2055 packets to the right, an ACK for each to the left.
    for leaf in ["leaf0", "leaf1"] {
        assert_even(&upward(&outcome, &scenario.topology, leaf, "spine"));
    }
    // Four flows on four paths by a hash of the flow: some path has none or two of them.
    let hashed = agreed(&across(PathChoice::Hashed, 1_000_000));
    let counts = upward(&hashed, &scenario.topology, "leaf0", "spine");
    assert!(counts.iter().any(|&c| c == 0 || c > 4_000), "{counts:?}");
}

/// The largest difference of the counts.
fn spread(counts: &[u64]) -> u64 {
    counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0)
}

#[test]
fn turns_are_even_to_one_packet() {
    let scenario = across(PathChoice::Sprayed(Spray::RoundRobin), 1_000_000);
    let outcome = agreed(&scenario);
    for leaf in ["leaf0", "leaf1"] {
        let counts = upward(&outcome, &scenario.topology, leaf, "spine");
        assert!(spread(&counts) <= 1 && counts.iter().all(|&count| count > 2_000), "{leaf} {counts:?}");
    }
}

#[test]
fn payload_tokens_and_signals_take_turns_apart() {
    // Flows both ways, so that each leaf sends all three up, in any order.
    let flows = (0..8).map(|i| flow(i, (i as u16, (i as u16 + 4) % 8), 1_500_000, Time::ZERO)).collect();
    let mut scenario = with(&top(), leaf_spine(), flows);
    scenario.topology.path_choice = PathChoice::Sprayed(Spray::RoundRobin);
    let outcome = agreed(&scenario);
    assert!(outcome.flows.iter().all(|f| f.fct.is_some()));
    for (leaf, is) in ["leaf0", "leaf1"].into_iter().flat_map(|leaf| {
        let kinds: [fn(u8) -> bool; 3] =
            [|class| class == DATA_CLASS, |class| class == SIGNAL_CLASS, |class| class < MAX_CLASSES];
        kinds.map(|kind| (leaf, kind))
    }) {
        let links = (0..4).map(|i| scenario.topology.link_between(leaf, &format!("spine{i}")).unwrap());
        // Tokens that find no room, or wait too long, had their turn as well.
        let arrived = |link| -> u64 {
            let of_kind = outcome.ports.iter().filter(|p| p.link == link && is(p.class));
            of_kind.map(|p| p.packets + p.dropped + p.expired).sum()
        };
        let counts: Vec<u64> = links.map(arrived).collect();
        assert!(spread(&counts) <= 1 && counts[0] > 1, "{leaf} {counts:?}");
    }
}

#[test]
fn drill_keeps_queues_far_shorter_than_dice_at_the_same_load() {
    // Four lines to four spines, four hosts at line rate: what queues is what is spread unevenly.
    let peak = |spray| {
        let scenario = across(PathChoice::Sprayed(spray), 1_000_000);
        let outcome = agreed(&scenario);
        assert!(outcome.flows.iter().all(|f| f.fct.is_some()));
        let links = (0..4).map(|i| scenario.topology.link_between("leaf0", &format!("spine{i}")).unwrap());
        let of = |link| outcome.queues.iter().find(|queue| queue.link == link).map_or(0, |q| q.peak_bytes);
        links.map(of).max().unwrap()
    };
    let [random, turns, drill] = [Spray::Random, Spray::RoundRobin, Spray::Drill].map(peak);
    // At full load dice let queues walk, two looks and the best of the last time do not; turns fit packets of one size.
    assert!(10 * drill < random && turns < drill, "{random} {turns} {drill}");
}

#[test]
fn every_way_to_spray_outlives_failures() {
    use priolane_core::ids::NodeId;
    use priolane_sim::outage::{FailedElement, Failure, Outages};
    for spray in [Spray::Random, Spray::RoundRobin, Spray::Drill] {
        let mut scenario = across(PathChoice::Sprayed(spray), 1_000_000);
        let cut = FailedElement::Switch(NodeId(scenario.topology.hosts + 2));
        let (from, until) = (Time(300_000_000), Some(Time(1_500_000_000)));
        let failure = Failure { cut, from, until, reconvergence: Span::from_us(100) };
        scenario.outages = Outages::new(&scenario.topology, &[failure]).unwrap();
        let outcome = agreed(&scenario);
        assert!(outcome.flows.iter().all(|f| f.fct.is_some()), "{spray:?}");
        assert!(outcome.flows.iter().any(|f| f.retransmits > 0), "{spray:?}");
    }
}

#[test]
fn every_tier_of_a_fat_tree_chooses_by_itself() {
    let (host_link, fabric_link) = (link(10, Span::from_us(1)), link(10, Span::from_us(1)));
    let mut topology = FatTree { k: 4, host_link, fabric_link }.build().unwrap();
    topology.path_choice = PathChoice::Sprayed(Spray::Random);
    let flows = vec![flow(0, (0, 15), 15_000_000, Time::ZERO)];
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let config = window::Config { dup_threshold: 1_000_000, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), config);
    let outcome = agreed(&scenario);
    let count = |from: &str, to: &str| -> u64 {
        let link = scenario.topology.link_between(from, to).unwrap();
        outcome.ports.iter().filter(|p| p.link == link).map(|p| p.packets).sum()
    };
    // 10,274 packets: a quarter by each core.
    let by_core = [("agg0", "core0"), ("agg0", "core1"), ("agg1", "core2"), ("agg1", "core3")];
    assert_even(&by_core.map(|(from, to)| count(from, to)));
}

#[test]
fn sprayed_packets_overtake_each_other_and_three_of_them_pass_for_a_loss() {
    let retransmits = |outcome: &Outcome| outcome.flows.iter().map(|f| f.retransmits).sum::<u32>();
    for (path_choice, dup_threshold) in [
        (PathChoice::Hashed, 3),
        (PathChoice::Sprayed(Spray::Random), 3),
        (PathChoice::Sprayed(Spray::Random), 1_000_000),
    ] {
        let outcome = agreed(&across(path_choice, dup_threshold));
        // Nothing is dropped or lost: what is sent again is sent in vain.
        assert_eq!(outcome.ports.iter().map(|p| p.dropped + p.lost).sum::<u64>(), 0);
        assert!(outcome.flows.iter().all(|f| f.fct.is_some() && f.fct_acked.is_some()));
        let spurious = path_choice.sprays() && dup_threshold == 3;
        assert_eq!(retransmits(&outcome) > 0, spurious, "{path_choice:?} {dup_threshold}");
    }
}

#[test]
fn another_seed_takes_other_ways_and_pinned_paths_do_not_care() {
    let with_seed = |path_choice, seed| agreed(&ScenarioSpec { seed, ..across(path_choice, 1_000_000) });
    assert_ne!(
        with_seed(PathChoice::Sprayed(Spray::Random), 1),
        with_seed(PathChoice::Sprayed(Spray::Random), 2)
    );
    assert_eq!(with_seed(PathChoice::Pinned, 1), with_seed(PathChoice::Pinned, 2));
}

#[test]
fn switches_that_see_the_same_do_not_choose_the_same() {
    let mut scenario = across(PathChoice::Sprayed(Spray::Random), 1_000_000);
    // Two flows that mirror each other: what arrives at one leaf arrives at the other at the same time.
    scenario.flows =
        [(0, 4), (4, 0)].into_iter().zip(0..).map(|(pair, i)| flow(i, pair, 3_000_000, Time::ZERO)).collect();
    let outcome = agreed(&scenario);
    let [left, right] = ["leaf0", "leaf1"].map(|leaf| upward(&outcome, &scenario.topology, leaf, "spine"));
    assert_eq!(left.iter().sum::<u64>(), right.iter().sum::<u64>());
    assert_ne!(left, right);
}

#[test]
fn sprayed_packets_are_reordered_under_every_transport_and_those_of_one_path_are_not() {
    let frame = Frame::ETHERNET;
    let of = |transport: &Option<Transport>, path_choice| {
        let mut scenario = match transport {
            Some(transport) => {
                ScenarioSpec { transport: transport.clone(), ..across(path_choice, 1_000_000) }
            }
            None => with(&top(), leaf_spine(), across(path_choice, 1).flows.iter().collect()),
        };
        if transport.is_some() || path_choice != PathChoice::Hashed {
            scenario.topology.path_choice = path_choice;
        }
        let received = agreed(&scenario).received;
        assert_eq!(received.stats.packets, 4 * 3_000_000_u64.div_ceil(1_460));
        received.stats
    };
    let receiver_driven = [
        Transport::PHost(phost::Config::new(frame)),
        Transport::Ndp(ndp::Config::new(frame)),
        Transport::Homa(homa::Config::new(frame)),
    ];
    let window = across(PathChoice::Hashed, 1_000_000).transport;
    for transport in receiver_driven.into_iter().chain([window]).map(Some).chain([None]) {
        let PayloadStats { packets, reordered } = of(&transport, PathChoice::Sprayed(Spray::Random));
        assert!(reordered > 10 && reordered < packets, "{reordered} of {packets}: {transport:?}");
        assert_eq!(of(&transport, PathChoice::Hashed).reordered, 0, "{transport:?}");
    }
}

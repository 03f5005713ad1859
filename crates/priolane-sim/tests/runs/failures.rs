//! Links and switches that fail: what is lost, when routes change, and that flows end all the same.

use crate::support::{agreed, dctcp, fifo, flow, link, new_reno, scenario};
use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{LinkId, NodeId};
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Span, Time};
use priolane_sim::outage::{FailedElement, Failure, Outages};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::{FatTree, LeafSpine, SingleSwitch, Topology};

fn leaf_spine() -> Topology {
    LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 2,
        host_link: link(10, Span::from_us(1)),
        fabric_link: link(40, Span::from_us(1)),
        links_per_pair: 1,
    }
    .build()
    .unwrap()
}

fn fat_tree() -> Topology {
    let link = link(10, Span::from_us(1));
    FatTree { k: 4, host_link: link, fabric_link: link }.build().unwrap()
}

fn failing(topology: Topology, flows: Vec<FlowSpec>, failures: &[Failure]) -> ScenarioSpec {
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), window);
    scenario.outages = Outages::new(&scenario.topology, failures).unwrap();
    scenario
}

fn lost(outcome: &Outcome, link: LinkId) -> u64 {
    outcome.ports.iter().filter(|p| p.link == link).map(|p| p.lost).sum()
}

fn down(cut: FailedElement, from: u64, until: u64) -> Failure {
    Failure { cut, from: Time(from), until: Some(Time(until)), reconvergence: Span::from_us(10) }
}

#[test]
fn a_packet_is_lost_if_its_link_is_down_at_any_picosecond_of_its_flight() {
    // On the last link, packet k of 1538 B is in flight from 2 230 400 + 1 230 400 k for 2 230 400 ps. Packet 2 arrives
    // at 6 921 600, when packet 3, of 5 921 600, is on its way and packet 4 starts at 7 152 000.
    for (from, until, takes) in [
        (6_921_600, 6_921_601, 1),
        (6_921_600, 7_152_000, 1),
        (6_921_599, 6_921_600, 2),
        (6_921_600, 7_152_001, 2),
        (6_921_599, 7_152_001, 3),
        (0, 2_230_400, 0),
        (0, 2_230_401, 1),
        (14_533_600 + 1_000_000, 20_000_000, 1),
        (14_533_600 + 1_000_000 + 1_230_400, 20_000_000, 0),
    ] {
        let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_us(1)) }.build().unwrap();
        let last = LinkId(3);
        let flows = vec![flow(0, (0, 1), 14_600, Time::ZERO)];
        let outcome = agreed(&failing(topology, flows, &[down(FailedElement::Link(last), from, until)]));
        let when = format!("{from}..{until}");
        assert_eq!(lost(&outcome, last), takes, "{when}");
        assert_eq!(u64::from(outcome.flows.at(0).retransmits), takes, "{when}");
        assert!(outcome.flows.at(0).fct_acked.is_some(), "{when}");
    }
}

#[test]
fn routes_change_at_the_stated_instant_and_change_back_after_the_repair() {
    // A packet reaches its leaf 1 230 400 + 1 000 000 ps after its start, and goes on at once.
    let at_leaf = 2_230_400;
    let topology = leaf_spine();
    let path = topology.path(priolane_core::ids::HostId(0), priolane_core::ids::HostId(4), 0);
    let cut = FailedElement::Link(path[1]);
    let lost_first = |start: u64, failure: Failure| {
        let flows = vec![FlowSpec { entropy: 0, ..flow(0, (0, 4), 1460, Time(start)) }];
        let outcome = agreed(&failing(topology.clone(), flows, &[failure]));
        (lost(&outcome, path[1]), outcome.ports.iter().any(|port| port.link == path[1]))
    };
    let failure = Failure { reconvergence: Span(at_leaf), ..down(cut, 0, 40_000_000_000) };
    // Routed around at that very picosecond, and lost one before.
    assert_eq!(lost_first(0, failure), (0, false));
    let late = Failure { reconvergence: Span(at_leaf + 1), ..failure };
    assert_eq!(lost_first(0, late), (1, true));
    // Repaired at 40 ms: avoided until the reconvergence after that, to the picosecond.
    assert_eq!(lost_first(40_000_000_000 - 1, failure), (0, false));
    assert_eq!(lost_first(40_000_000_000, failure), (0, true));
}

#[test]
fn every_flow_ends_whatever_link_between_switches_or_switch_without_hosts_fails_for_ever() {
    for topology in [leaf_spine(), fat_tree()] {
        let between =
            (2 * topology.hosts..topology.links.len() as u32).step_by(2).map(LinkId).map(FailedElement::Link);
        let switches = topology.racks..topology.switches;
        let bare = switches.map(|switch| FailedElement::Switch(NodeId(topology.hosts + switch)));
        for cut in between.chain(bare) {
            let failure = Failure { until: None, ..down(cut, 30_000_000, 0) };
            let outcome = ends(&topology, &[failure]);
            assert!(
                outcome.ledger.lost.iter().any(|t| t.packets > 0)
                    || outcome.flows.iter().all(|f| f.timeouts == 0)
            );
        }
    }
}

#[test]
fn every_flow_ends_whatever_link_or_switch_fails_for_a_while() {
    let topology = leaf_spine();
    let links = (0..topology.links.len() as u32).map(LinkId).map(FailedElement::Link);
    let switches =
        (0..topology.switches).map(|switch| FailedElement::Switch(NodeId(topology.hosts + switch)));
    for cut in links.chain(switches) {
        let outcome = ends(&topology, &[down(cut, 30_000_000, 2_000_000_000)]);
        let lost: u64 = outcome.ledger.lost.iter().map(|t| t.packets).sum();
        let traffic_there = match cut {
            FailedElement::Link(link) => [link, topology.reverse(link)]
                .iter()
                .any(|l| outcome.ports.iter().any(|p| p.link == *l && p.packets > 50)),
            FailedElement::Switch(_) => true,
        };
        assert!(lost > 0 || !traffic_there, "{cut:?}");
    }
}

/// All hosts send to the next rack with DCTCP; every flow ends and no packet is unaccounted for, or left.
fn ends(topology: &Topology, failures: &[Failure]) -> Outcome {
    let hosts = topology.hosts as u16;
    let flows =
        (0..hosts).map(|h| flow(u32::from(h), (h, (h + hosts / 2) % hosts), 150_000, Time(0))).collect();
    let mut scenario = failing(topology.clone(), flows, failures);
    scenario.transport = crate::support::window(dctcp(), window::Config::new(Frame::ETHERNET));
    let outcome = agreed(&scenario);
    assert!(outcome.flows.iter().all(|f| f.fct_acked.is_some()), "{failures:?}");
    let sum = |tallies: &[priolane_sim::outcome::PacketCount]| tallies.iter().map(|t| t.packets).sum::<u64>();
    let ledger = &outcome.ledger;
    let ended = sum(&ledger.delivered) + sum(&ledger.dropped) + sum(&ledger.lost) + sum(&ledger.unrouted);
    assert_eq!(sum(&ledger.made), ended);
    assert_eq!(sum(&ledger.resident), 0);
    assert_eq!(sum(&ledger.lost), outcome.ports.iter().map(|p| p.lost).sum::<u64>());
    outcome
}

#[test]
fn packets_to_a_rack_that_nobody_reaches_are_dropped_where_there_is_no_way_and_counted() {
    let topology = leaf_spine();
    let leaf2 = topology.find_node("leaf2").unwrap();
    let outcome = ends(&topology, &[down(FailedElement::Switch(leaf2), 30_000_000, 30_000_000_000)]);
    let unrouted: u64 = outcome.ledger.unrouted.iter().map(|t| t.packets).sum();
    // Routes are gone 10 us after the failure, and senders have some packets under way or try again later.
    assert!(unrouted > 10, "{unrouted}");
}

#[test]
fn a_failure_of_both_spines_cuts_racks_off_and_of_one_none() {
    let topology = leaf_spine();
    let spine = |name| FailedElement::Switch(topology.find_node(name).unwrap());
    let for_ever = |cut| Failure { until: None, ..down(cut, 5, 0) };
    let cut_off = |failures: &[Failure]| {
        let outages = Outages::new(&topology, failures).unwrap();
        outages.unreachable_node(&topology).map(str::to_owned)
    };
    assert_eq!(cut_off(&[for_ever(spine("spine0"))]), None);
    assert_eq!(cut_off(&[for_ever(spine("spine0")), for_ever(spine("spine1"))]).as_deref(), Some("leaf1"));
    assert_eq!(cut_off(&[for_ever(spine("spine0")), down(spine("spine1"), 7, 9)]), None);
    // What counts is how the routes are in the end.
    let later = Failure { until: None, ..down(spine("spine1"), 50_000_000, 0) };
    assert_eq!(cut_off(&[for_ever(spine("spine0")), later]).as_deref(), Some("leaf1"));
    let first_both = [down(spine("spine0"), 5, 50_000_000), for_ever(spine("spine1"))];
    assert_eq!(cut_off(&first_both), None);
    assert_eq!(cut_off(&[for_ever(FailedElement::Link(LinkId(5)))]).as_deref(), Some("h2"));
    assert_eq!(
        cut_off(&[for_ever(FailedElement::Switch(topology.find_node("leaf2").unwrap()))]).as_deref(),
        Some("h4")
    );
}

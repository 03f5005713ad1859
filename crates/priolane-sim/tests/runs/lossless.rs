//! Lossless classes (PFC): nothing is lost at any load, pauses last as long as reckoned, deadlocks are named; both engines.

use crate::support::blaster::{Blaster, Mix};
use crate::support::{Draw, agreed_with, fifo, flow, link, scenario, strict};
use priolane_core::ids::{ClassSet, HostId};
use priolane_core::port::pfc::{HeadroomFrom, PfcSpec, Xoff};
use priolane_core::port::{Alpha, Buffer, SharedBuffer, SortBy};
use priolane_core::units::{Span, Time};
use priolane_rounds::rounds;
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Nic, ScenarioSpec, SendJitter, Stop};
use priolane_sim::topology::{Dumbbell, FatTree, LeafSpine, Topology, file};

/// The outcome on which both engines and shuffled nodes agree, of hosts that send without any control.
pub(crate) fn agreed(scenario: &ScenarioSpec) -> Outcome {
    agreed_with(scenario, &|host| Blaster::new(host, scenario.frame, Mix::Payload))
}

pub(crate) fn spec(size: u64, xoff: Xoff, classes: u16) -> PfcSpec {
    PfcSpec {
        memory: SharedBuffer { size, alpha: Alpha::new((1, 1)).unwrap() },
        lossless: ClassSet(classes),
        xoff,
        xon_below: 2 * 1538,
        headroom: HeadroomFrom::Memory,
        headroom_least: 0,
        headroom_round_trips: 0,
        watchdog: None,
    }
}

/// Packets of a class that were dropped.
pub(crate) fn dropped(outcome: &Outcome, class: usize) -> u64 {
    outcome.ledger.dropped[class].packets
}

#[test]
fn a_lossless_class_loses_nothing_whatever_the_network_the_buffer_and_the_load() {
    let (mut paused, mut lossy) = (0, 0);
    for seed in 0..rounds(60, 1_500) {
        let mut draw = Draw::new(9_000 + seed);
        let topology = draw.topology(&[0.0]);
        let flows = draw.flows(topology.hosts, 5 + (seed % 40) as u32);
        let port = draw.pausable_port();
        let mut scenario = scenario(topology, port, flows);
        if seed % 3 == 0 {
            // Everyone to one host.
            let hosts = scenario.topology.hosts as u16;
            scenario.flows.edit_all(|f| {
                (f.src, f.dst) = (HostId(1 + f.src.0 % (hosts - 1)), HostId(0));
            });
        }
        scenario.switch.lossless = Some(draw.lossless());
        scenario.nic = match draw.pick(&[0, 1, 2]) {
            0 => Nic::Pull,
            1 => Nic::Queue { port: fifo(Buffer::UNLIMITED), sort_by: SortBy::HostLevel },
            _ => Nic::Queue { port: strict(4, Buffer::UNLIMITED), sort_by: SortBy::Class },
        };
        scenario.host_delay = draw.pick(&[Span::ZERO, Span::from_ns(700)]);
        scenario.sample_every = draw.pick(&[None, Some(Span(3_333_333))]);
        scenario.send_jitter =
            draw.pick(&[SendJitter::NONE, SendJitter::PACKET, SendJitter::Span(Span(777))]);
        scenario.stop = Stop::At(draw.pick(&[Time(500_000_000_000), Time(333_333_333)]));
        let outcome = agreed(&scenario);
        assert_eq!((dropped(&outcome, 0), dropped(&outcome, 1)), (0, 0), "seed {seed}");
        assert!(outcome.deadlock.is_empty(), "no cycle in these networks, seed {seed}");
        lossy += dropped(&outcome, 2);
        paused += outcome.ports.iter().filter(|p| p.paused > Span::ZERO).count();
        if scenario.stop == Stop::At(Time(500_000_000_000)) {
            let lossless = scenario.flows.iter().zip(&outcome.flows).filter(|(f, _)| f.class < 2);
            assert!(lossless.into_iter().all(|(_, record)| record.fct.is_some()), "seed {seed}");
        }
    }
    assert!(paused > 500 && lossy > 2_000, "{paused} {lossy}");
}

/// `senders` hosts send to host 0 at once, all in class 0.
fn incast(topology: Topology, senders: u16, spec: PfcSpec) -> Outcome {
    let flows = (1..=senders).map(|h| flow(u32::from(h) - 1, (h, 0), 200_000, Time::ZERO)).collect();
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    scenario.switch.lossless = Some(spec);
    scenario.stop = Stop::At(Time(20_000_000_000));
    agreed(&scenario)
}

#[test]
fn an_incast_loses_nothing_with_the_smallest_buffer_that_holds_the_headroom() {
    let up = link(40, Span::from_us(1));
    let leaf_spine = LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 4,
        host_link: link(10, Span::from_us(1)),
        fabric_link: up,
        links_per_pair: 1,
    };
    let fat_tree =
        FatTree { k: 4, host_link: link(10, Span::from_us(1)), fabric_link: link(10, Span::from_us(1)) };
    for (topology, senders) in [(leaf_spine.build().unwrap(), 11), (fat_tree.build().unwrap(), 15)] {
        // A leaf: 4 ports of 10 Gbps and 2 of 40. (1538 + 84) + 2,500 + 3,076 + 1 = 7,199 and 14,699 B of headroom.
        for size in [0, 58_200, 80_000, 1_000_000] {
            for xoff in [Xoff::Bytes(0), Xoff::Bytes(15_380), Xoff::OfFree(Alpha::new((1, 8)).unwrap())] {
                let outcome = incast(topology.clone(), senders, spec(size, xoff, 1));
                assert_eq!(dropped(&outcome, 0), 0);
                assert!(outcome.flows.iter().all(|f| f.fct.is_some()), "{size} {xoff:?}");
                assert!(outcome.ports.iter().any(|p| p.paused > Span::ZERO));
            }
        }
        // The same incast loses packets where nothing is lossless.
        let lossy = incast(topology, senders, spec(80_000, Xoff::Bytes(0), 0));
        assert!(dropped(&lossy, 0) > 100);
    }
}

/// A host with 10 Gbps, then 1 Gbps: 17 packets of class 0, ten of which make the account full.
fn one_sender(nic: Nic) -> (ScenarioSpec, Outcome) {
    let shape = Dumbbell {
        left: 1,
        right: 1,
        host_link: link(10, Span::from_us(1)),
        bottleneck: link(1, Span::from_us(1)),
    };
    let flows = vec![flow(0, (0, 1), 17 * 1_460, Time::ZERO)];
    let mut scenario = scenario(shape.build().unwrap(), fifo(Buffer::UNLIMITED), flows);
    scenario.switch.lossless = Some(spec(1_000_000, Xoff::Bytes(10 * 1538), 1));
    scenario.nic = nic;
    scenario.stop = Stop::At(Time(1_000_000_000));
    let outcome = agreed(&scenario);
    (scenario, outcome)
}

#[test]
fn a_pause_lasts_to_the_picosecond_as_reckoned_by_hand() {
    // Packet k arrives at 1 us + k x 1.2304 us; the switch sends one each 12.304 us from 2.2304 us on. The 13th, at
    // 16.9952 us, finds ten: pause, 0.0672 us on the line, 1 us on the way: the host holds from 18.0624 us, as its 15th
    // packet is under way. 13 packets are left; the 7th departure, at 76.0544 us, leaves 8: resume, at the host at
    // 77.1216 us. Two more packets make ten: no second pause.
    let queue = |port| Nic::Queue { port, sort_by: SortBy::HostLevel };
    for nic in [Nic::Pull, queue(fifo(Buffer::UNLIMITED)), queue(strict(2, Buffer::UNLIMITED))] {
        let (scenario, outcome) = one_sender(nic.clone());
        let of_host = outcome.ports.iter().find(|p| p.link == scenario.topology.uplink(HostId(0))).unwrap();
        assert_eq!(of_host.paused, Span(77_121_600 - 18_062_400), "{nic:?}");
        assert_eq!((of_host.packets, dropped(&outcome, 0)), (17, 0));
        // The line of 1 Gbps never idles: 17 x 12.304 us from 2.2304 us on, 1 us, 1.2304 us and 1 us more.
        assert_eq!(outcome.flows.at(0).fct, Some(Span(2_230_400 + 17 * 12_304_000 + 1_000_000 + 2_230_400)));
    }
}

#[test]
fn a_paused_class_holds_no_other_class_back() {
    // Class 1 is paused at host 0, whose class 2 goes elsewhere: with a queue for each class it is not delayed.
    let shape = LeafSpine {
        leaves: 2,
        spines: 1,
        hosts_per_leaf: 3,
        host_link: link(10, Span::from_us(1)),
        fabric_link: link(40, Span::from_us(1)),
        links_per_pair: 1,
    };
    let run = |queues| {
        let mut flows: Vec<_> = [0, 1, 2].map(|h| flow(u32::from(h), (h, 3), 300_000, Time::ZERO)).into();
        flows.iter_mut().for_each(|f| f.class = 1);
        flows.push(flow(3, (0, 4), 30_000, Time(100_000_000)));
        flows[3].class = 2;
        let mut scenario = scenario(shape.build().unwrap(), strict(queues, Buffer::UNLIMITED), flows);
        scenario.switch.lossless = Some(spec(200_000, Xoff::Bytes(10_000), 0b10));
        scenario.nic = Nic::Queue { port: strict(queues, Buffer::UNLIMITED), sort_by: SortBy::Class };
        scenario.stop = Stop::At(Time(5_000_000_000));
        agreed(&scenario).flows.at(3).fct.unwrap()
    };
    // 21 packets of 1.2304 us and three hops more; behind class 1, most of 900 kB at 10 Gbps: 700 us.
    let (apart, together) = (run(3), run(1));
    assert!(apart < Span::from_us(60), "{apart:?}");
    assert!(together > Span::from_us(150), "{together:?}");
}

/// Five switches in a ring, two hosts each; flows from each to the next but one, all the same way round.
pub(crate) fn ring(flows_from: usize) -> ScenarioSpec {
    let mut text = String::new();
    for s in 0..5 {
        text += &format!("node,a{s},host\nnode,b{s},host\nnode,s{s},switch\n");
        text += &format!("link,a{s},s{s},10Gbps,1us\nlink,b{s},s{s},10Gbps,1us\n");
    }
    (0..5).for_each(|s| text += &format!("link,s{s},s{},10Gbps,1us\n", (s + 1) % 5));
    let topology = file::parse(&text).unwrap();
    let host = |name: String| topology.find_node(&name).unwrap().0 as u16;
    let pair = |s: usize, h: &str| (host(format!("{h}{s}")), host(format!("{h}{}", (s + 2) % 5)));
    let pairs = (0..flows_from).flat_map(|s| [pair(s, "a"), pair(s, "b")]);
    let flows = pairs.enumerate().map(|(i, pair)| flow(i as u32, pair, 2_000_000, Time::ZERO)).collect();
    let mut scenario = scenario(topology.clone(), fifo(Buffer::UNLIMITED), flows);
    scenario.switch.lossless = Some(spec(100_000, Xoff::Bytes(10_000), 1));
    scenario.stop = Stop::At(Time(20_000_000_000));
    scenario
}

#[test]
fn a_ring_of_pauses_is_a_deadlock_and_each_of_its_links_is_named() {
    let scenario = ring(5);
    let outcome = agreed(&scenario);
    let name = |node: priolane_core::ids::NodeId| scenario.topology.names[node.index()].clone();
    let ends = outcome.deadlock.iter().map(|(link, class)| {
        let link = scenario.topology.links[link.index()];
        (name(link.from), name(link.to), *class)
    });
    let next = |s: usize| (format!("s{s}"), format!("s{}", (s + 1) % 5), 0);
    let mut found: Vec<_> = ends.collect();
    // Each waits for the next.
    assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].0), "{found:?}");
    found.sort();
    assert_eq!(found, (0..5).map(next).collect::<Vec<_>>());
    assert!(outcome.flows.iter().all(|f| f.fct.is_none()) && dropped(&outcome, 0) == 0);
}

#[test]
fn a_ring_with_a_gap_is_no_deadlock() {
    // No flow starts at the last switch: its link to the first carries one pair only, and that goes no further.
    let outcome = agreed(&ring(4));
    assert!(outcome.deadlock.is_empty(), "{:?}", outcome.deadlock);
    assert!(outcome.flows.iter().all(|f| f.fct.is_some()) && dropped(&outcome, 0) == 0);
}

//! Properties that must hold over whole runs: strict priority, order, equivalences of schemes, DCTCP's queue.

use crate::support::{Draw, agreed, dctcp, drive, fifo, flow, link, new_reno, run, scenario, strict, window};
use priolane_core::assign::{Count, DemotionThresholds};
use priolane_core::endpoint::PayloadStats;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, Scope, SortBy};
use priolane_core::transport::window::{self, Handshake};
use priolane_core::transport::{Controller, Transport, dctcp as dctcp_, new_reno};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::outcome::{Outcome, PortQueue, ReceivedPayload};
use priolane_sim::scenario::{Engine, Nic, PortSpec, ScenarioSpec};
use priolane_sim::topology::{Dumbbell, LeafSpine, SingleSwitch};

const FRAME: Frame = Frame::ETHERNET;

fn outcome(scenario: &ScenarioSpec) -> Outcome {
    run(scenario, drive(Engine::Window))
}

/// Random flows over a small leaf-spine with `port` everywhere.
fn leaf_spine(seed: u64, port: PortSpec, transport: Transport) -> ScenarioSpec {
    let shape = LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 3,
        host_link: link(10, Span::from_us(1)),
        fabric_link: link(10, Span::from_us(1)),
        links_per_pair: 1,
    };
    let mut draw = Draw::new(seed);
    let flows = draw.flows(9, 60);
    let mut scenario = scenario(shape.build().unwrap(), port, flows);
    scenario.flows.edit_all(|flow| flow.class = 0);
    scenario.transport = transport;
    scenario
}

fn ladder(thresholds: &[u64]) -> DemotionThresholds {
    DemotionThresholds::new(thresholds, Count::StreamOffset).unwrap()
}

fn tagged(controller: Controller, class: DemotionThresholds, host_level: DemotionThresholds) -> Transport {
    let config = window::Config { class, host_level, ..window::Config::new(FRAME) };
    match window(controller, config) {
        Transport::Window { window, controller, .. } => {
            Transport::Window { window, controller, scheduler: SchedulerKind::Mlfq }
        }
        other => other,
    }
}

const MARKING: Buffer = Buffer {
    limit: Limit::Packets(60),
    limit_scope: Scope::Port,
    mark_above: Limit::Packets(12),
    mark_scope: Scope::Port,
    ramp: None,
};

#[test]
fn a_class_per_queue_is_served_without_one_inversion() {
    for seed in 0..10 {
        let levels = ladder(&[3_000, 9_000, 20_000, 40_000, 60_000, 80_000, 100_000]);
        let scenario = leaf_spine(seed, strict(8, MARKING), tagged(dctcp(), levels, levels));
        let outcome = outcome(&scenario);
        assert!(outcome.ports.iter().any(|p| p.class > 4 && p.waited > 0), "nothing waited");
        assert_eq!(outcome.ports.iter().map(|p| p.inversions).sum::<u64>(), 0);
        // Levels of packets never improve: the last class is not better than the first.
        assert!(outcome.flows.iter().all(|f| f.class.first <= f.class.last));
    }
}

#[test]
fn fewer_queues_than_classes_do_invert() {
    let levels = ladder(&[3_000, 9_000, 20_000, 40_000, 60_000, 80_000, 100_000]);
    let inverted = (0..10).map(|seed| {
        let scenario = leaf_spine(seed, strict(2, MARKING), tagged(dctcp(), levels, levels));
        outcome(&scenario).ports.iter().map(|p| p.inversions).sum::<u64>()
    });
    assert!(inverted.sum::<u64>() > 0, "the counter sees nothing");
}

#[test]
fn demotion_alone_reorders_nothing_and_repairs_nothing() {
    for seed in 0..20 {
        let levels = ladder(&[3_000, 9_000, 20_000, 40_000, 60_000, 80_000, 100_000]);
        let buffer = Buffer { limit: Limit::Unlimited, ..MARKING };
        let scenario = leaf_spine(seed, strict(8, buffer), tagged(dctcp(), levels, levels));
        let outcome = outcome(&scenario);
        // A packet of a worse level leaves a port after all earlier ones of its flow: no duplicate ACK, no timer.
        assert!(outcome.flows.iter().all(|f| f.fct.is_some()));
        assert_eq!(outcome.flows.iter().map(|f| f.retransmits + f.timeouts).sum::<u32>(), 0, "seed {seed}");
        assert_eq!(outcome.received.stats.reordered, 0, "seed {seed}");
    }
}

#[test]
fn payload_that_waits_is_counted_to_the_picosecond() {
    // Two packets of 1538 B meet at a line of 10 Gbps: the second waits 1230.4 ns. A third comes alone, a millisecond
    // later, by when the payload of two has arrived. ACKs wait nowhere.
    let topology = SingleSwitch { hosts: 3, host_link: link(10, Span::from_us(4)) }.build().unwrap();
    let down = topology.downlink(HostId(2));
    let flows = [Time::ZERO, Time::ZERO, Time(1_000_000_000)];
    let flows = (0..3).map(|i| flow(i, (i as u16 % 2, 2), 1_460, flows[i as usize])).collect();
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let config = window::Config { handshake: Handshake::None, ..window::Config::new(FRAME) };
    scenario.transport = window(new_reno(), config);
    let outcome = agreed(&scenario);
    assert_eq!(outcome.queues, [PortQueue { link: down, peak_bytes: 1_538, waited: 1_230_400 }]);
    assert_eq!(
        outcome.received,
        ReceivedPayload { packets: 3, early_bytes: 2_920, stats: PayloadStats { packets: 3, reordered: 0 } }
    );
    assert_eq!(outcome.tokens, None);
}

/// Without the names of queues, which two ports may give differently.
fn without_queues(mut outcome: Outcome) -> Outcome {
    outcome.ports.iter_mut().for_each(|p| p.queue = 0);
    outcome
}

#[test]
fn one_strict_queue_is_fifo_to_the_bit() {
    for seed in 0..20 {
        let transport = || window(dctcp(), window::Config::new(FRAME));
        let fifo = outcome(&leaf_spine(seed, fifo(MARKING), transport()));
        let strict = outcome(&leaf_spine(seed, strict(1, MARKING), transport()));
        assert_eq!(fifo, strict, "seed {seed}");
    }
}

#[test]
fn thresholds_beyond_every_flow_are_fifo_to_the_bit() {
    for seed in 0..20 {
        let transport = window(dctcp(), window::Config::new(FRAME));
        let fifo = outcome(&leaf_spine(seed, fifo(MARKING), transport));
        let far = ladder(&[u64::MAX - 1; 7]);
        let tagged = outcome(&leaf_spine(seed, strict(8, MARKING), tagged(dctcp(), far, far)));
        assert_eq!(fifo, without_queues(tagged), "seed {seed}");
    }
}

#[test]
fn nos2_without_thresholds_is_dctcp_to_the_bit() {
    for seed in 0..20 {
        let queue = |port| Nic::Queue { port, sort_by: SortBy::HostLevel };
        let mut plain = leaf_spine(seed, fifo(MARKING), window(dctcp(), window::Config::new(FRAME)));
        plain.nic = queue(fifo(Buffer::UNLIMITED));
        // NOS2: w_1 at infinity, one level inside the host.
        let mut nos2 = leaf_spine(
            seed,
            strict(2, MARKING),
            tagged(dctcp(), ladder(&[u64::MAX - 1]), DemotionThresholds::FLAT),
        );
        nos2.nic = queue(strict(1, Buffer::UNLIMITED));
        assert_eq!(outcome(&plain), without_queues(outcome(&nos2)), "seed {seed}");
    }
}

#[test]
fn dctcp_that_is_never_marked_is_new_reno_to_the_bit() {
    let mut repaired = 0;
    for seed in 0..20 {
        let buffer = Buffer { limit: Limit::Packets(15), ..Buffer::UNLIMITED };
        let with = |controller| {
            let config = window::Config { min_rto: Span::from_us(500), ..window::Config::new(FRAME) };
            outcome(&leaf_spine(seed, fifo(buffer), window(controller, config)))
        };
        let reno = with(new_reno());
        repaired += reno.flows.iter().map(|f| f.retransmits).sum::<u32>();
        assert_eq!(reno, with(dctcp()), "seed {seed}");
    }
    assert!(repaired > 100, "the runs lose too little to compare recoveries: {repaired}");
}

/// `n` endless flows, 100G hosts, one 10G bottleneck of 20 us propagation, marks above `k`; the bottleneck's
/// queue in packets each 5 us of the last 60 %.
fn queue_of(n: u16, k: u32) -> Vec<f64> {
    let shape = Dumbbell {
        left: u32::from(n),
        right: u32::from(n),
        host_link: link(100, Span::from_us(1)),
        bottleneck: link(10, Span::from_us(20)),
    };
    let buffer = Buffer { mark_above: Limit::Packets(k), ..Buffer::UNLIMITED };
    let flows = (0..n).map(|i| flow(u32::from(i), (i, n + i), 40_000_000 / u64::from(n), Time::ZERO));
    let mut scenario = scenario(shape.build().unwrap(), fifo(buffer), flows.collect());
    let reno = new_reno::Config { init_window: None };
    let config = dctcp_::Config {
        reno,
        g: 1.0 / 16.0,
        alpha_0: 0.0,
        min_window: 2,
        reduction: dctcp_::Reduction::AtOnce,
    };
    let window_config = window::Config { handshake: Handshake::None, ..window::Config::new(FRAME) };
    scenario.transport = window(Controller::Dctcp(config), window_config);
    scenario.sample_every = Some(Span::from_us(5));
    let outcome = outcome(&scenario);
    let slow = |link: usize| scenario.topology.links[link].rate == Rate::from_gbps(10);
    let end = outcome.flows.iter().filter_map(|f| f.fct).min().unwrap();
    let steady = |s: &&priolane_sim::outcome::Sample| {
        slow(s.link.index()) && s.at.0 > end.0 * 2 / 5 && s.at.0 < end.0 * 19 / 20
    };
    let forward = outcome.samples.ports.iter().filter(steady).max_by_key(|s| s.queued_bytes).unwrap().link;
    let of_forward = outcome.samples.ports.iter().filter(steady).filter(|s| s.link == forward);
    let queue: Vec<f64> = of_forward.map(|s| f64::from(s.queued_packets)).collect();
    let instants = (end.0 * 11 / 20) / Span::from_us(5).0;
    // An empty port leaves no sample.
    let idle = (instants as usize).saturating_sub(queue.len());
    queue.into_iter().chain(std::iter::repeat_n(0.0, idle)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn dctcp_keeps_its_queue_around_k_and_the_line_busy() {
    for k in [40, 65, 120] {
        let queue = queue_of(1, k);
        let (least, most) = queue.iter().fold((f64::MAX, 0.0f64), |(a, b), &q| (a.min(q), b.max(q)));
        let mean = mean(&queue);
        // The queue overshoots K by what one flow adds in a round trip: a segment or two. (DCTCP §3.3)
        assert!(least > 0.0, "K = {k}: the line was idle");
        assert!((f64::from(k)..f64::from(k) + 5.0).contains(&most), "K = {k}: up to {most}");
        assert!((0.6..1.05).contains(&(mean / f64::from(k))), "K = {k}: mean {mean}");
    }
}

#[test]
fn the_amplitude_of_one_flow_is_of_the_order_dctcp_says() {
    // A = (1/2) sqrt(2 (C RTT + K)) packets for one flow (DCTCP §3.3 eq. 8): C RTT = 45 us / 1.23 us = 36.6.
    let (k, rtt) = (65, 36.6);
    let queue = queue_of(1, k);
    let least = queue.iter().copied().fold(f64::MAX, f64::min);
    let amplitude = f64::from(k) + 1.0 - least;
    let predicted = 0.5 * (2.0 * (rtt + f64::from(k))).sqrt();
    assert!((0.4..2.5).contains(&(amplitude / predicted)), "{amplitude} against {predicted}");
}

#[test]
fn many_flows_keep_the_queue_near_k_too() {
    let queue = queue_of(4, 65);
    assert!((0.5..1.4).contains(&(mean(&queue) / 65.0)), "{}", mean(&queue));
}

#[test]
fn a_limit_per_flow_keeps_the_transmit_queue_short_and_the_line_busy() {
    let run_with = |queue_limit, limit| {
        let shape = Dumbbell {
            left: 1,
            right: 3,
            host_link: link(10, Span::from_us(1)),
            bottleneck: link(100, Span::from_us(1)),
        };
        let flows = (0..3).map(|i| flow(i, (0, 1 + i as u16), 3_000_000, Time::ZERO)).collect();
        let mut scenario = scenario(shape.build().unwrap(), fifo(Buffer::UNLIMITED), flows);
        let config = window::Config { queue_limit, ..window::Config::new(FRAME) };
        scenario.transport = window(new_reno(), config);
        let port = fifo(Buffer { limit, ..Buffer::UNLIMITED });
        scenario.nic = Nic::Queue { port, sort_by: SortBy::HostLevel };
        scenario.sample_every = Some(Span::from_us(3));
        let outcome = outcome(&scenario);
        let uplink = scenario.topology.uplink(priolane_core::ids::HostId(0));
        let at_nic = outcome.samples.ports.iter().filter(|s| s.link == uplink);
        let deepest = at_nic.map(|s| s.queued_packets).max().unwrap();
        (deepest, outcome.flows.iter().map(|f| f.fct.unwrap()).max().unwrap(), outcome)
    };
    let (free, free_end, _) = run_with(None, Limit::Unlimited);
    let (limited, limited_end, _) = run_with(Some(2 * 1460), Limit::Unlimited);
    assert!(free > 100, "windows do not fill the queue: {free}");
    // Two segments of each of three flows, and the ends of their handshakes.
    assert!((2..=9).contains(&limited), "{limited}");
    // Not a packet time longer: the line does not idle.
    assert!(limited_end < free_end + Span::from_ns(1_231), "{limited_end:?} against {free_end:?}");
    // A full queue gives what it refuses back: nothing is stuck.
    let (_, _, tight) = run_with(Some(2 * 1460), Limit::Packets(3));
    assert!(tight.ports.iter().any(|p| p.dropped > 0));
}

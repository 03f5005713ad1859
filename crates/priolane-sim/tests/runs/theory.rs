//! Queueing theory at one line: what a server must do whatever simulates it.

use crate::support::{drive, fifo, flow, link, run, scenario, strict};
use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::window::{self, Handshake};
use priolane_core::transport::{Controller, Transport, new_reno};
use priolane_core::units::{Rate, Span, Time};
use priolane_sim::outcome::{Outcome, PortClassRecord};
use priolane_sim::scenario::{Engine, PortSpec, ScenarioSpec};
use priolane_sim::topology::{Dumbbell, SingleSwitch};

/// Nothing but payload (and one byte) takes time, and a packet may be large: sizes are all but continuous.
const FRAME: Frame = Frame { mtu: 60_001, header: 1, link: 0, minimum: 0, gap: 0, ack: 1, syn: 1 };
const SOURCES: u16 = 20;
const PACKETS: u32 = 40_000;
const SEEDS: u64 = 6;

/// A transport whose window never holds it back: the line is the only limit.
fn unlimited(frame: Frame, scheduler: SchedulerKind) -> Transport {
    let controller = Controller::NewReno(new_reno::Config { init_window: Some(1 << 40) });
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(frame) };
    Transport::Window { window, controller, scheduler }
}

/// Poisson arrivals of one-packet flows from 20 fast lines to one slow one, 10 Gbps, at load `rho`.
fn many_to_one(rho: f64, seed: u64, port: PortSpec) -> ScenarioSpec {
    let shape = Dumbbell {
        left: u32::from(SOURCES),
        right: 1,
        host_link: link(400, Span::from_ns(1)),
        bottleneck: link(10, Span::from_ns(1)),
    };
    let mut draw = Stream::new(seed, Purpose::Arrivals, 0);
    let mean_gap = mean_service() / rho;
    let mut at = 0.0;
    let flows = (0..PACKETS).map(|id| {
        at += draw.exponential(mean_gap);
        let src = draw.below(u64::from(SOURCES)) as u16;
        let bytes = 1 + draw.below(60_000);
        let class = draw.below(3) as u8;
        FlowSpec { class, ..flow(id, (src, SOURCES), bytes, Time((at * 1e12) as u64)) }
    });
    let flows = flows.collect();
    let mut scenario = scenario(shape.build().unwrap(), port, flows);
    scenario.frame = FRAME;
    scenario.transport = unlimited(FRAME, SchedulerKind::RoundRobin);
    scenario
}

/// Mean service time in seconds of payloads 1 .. 60,000 and a byte of header at 10 Gbps.
fn mean_service() -> f64 {
    (30_000.5 + 1.0) * 8.0 / 10e9
}

/// Returns the counters of the slow line, by class.
fn bottleneck(scenario: &ScenarioSpec, outcome: &Outcome) -> Vec<PortClassRecord> {
    let slow = |p: &&PortClassRecord| {
        let link = scenario.topology.links[p.link.index()];
        link.rate == Rate::from_gbps(10) && p.bytes > u64::from(PACKETS) * 1_000
    };
    outcome.ports.iter().filter(slow).copied().collect()
}

fn mean_wait(records: &[PortClassRecord]) -> f64 {
    let waited: u64 = records.iter().map(|p| p.waited).sum();
    let packets: u64 = records.iter().map(|p| p.packets).sum();
    waited as f64 * 1e-12 / packets as f64
}

/// Arrival rate, load and residual work of the packets that `keep`, from the list itself.
struct OfferedLoad {
    rho: f64,
    /// lambda E[S^2] / 2, seconds.
    residual: f64,
}

fn offered(scenario: &ScenarioSpec, keep: impl Fn(&FlowSpec) -> bool) -> OfferedLoad {
    let span = scenario.flows.last().unwrap().start.as_secs_f64();
    let service = |f: FlowSpec| (f.size.unwrap() + 1) as f64 * 8.0 / 10e9;
    let kept: Vec<f64> = scenario.flows.iter().filter(|f| keep(f)).map(service).collect();
    OfferedLoad {
        rho: kept.iter().sum::<f64>() / span,
        residual: kept.iter().map(|s| s * s).sum::<f64>() / span / 2.0,
    }
}

/// The mean of `ratios` and the half width of its 99 % interval (Student t, 5 degrees of freedom: 4.032).
fn interval(ratios: &[f64]) -> (f64, f64) {
    let n = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / n;
    let variance = ratios.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / (n - 1.0);
    (mean, 4.032 * (variance / n).sqrt())
}

/// Measured over predicted must be 1 within its interval, and the interval narrow enough to mean something.
fn assert_one(what: &str, ratios: &[f64], widest: f64) {
    let (mean, half) = interval(ratios);
    assert!((mean - 1.0).abs() <= half.max(0.004), "{what}: {mean} +- {half}, {ratios:?}");
    assert!(half < widest, "{what}: the interval is too wide: {mean} +- {half}");
}

#[test]
fn m_g_1_fifo_waits_as_pollaczek_and_khinchine_say() {
    for (rho, widest) in [(0.5, 0.05), (0.8, 0.15)] {
        let ratio = |seed| {
            let scenario = many_to_one(rho, seed, fifo(Buffer::UNLIMITED));
            let outcome = run(&scenario, drive(Engine::Window));
            let all = offered(&scenario, |_| true);
            // W = lambda E[S^2] / (2 (1 - rho))
            mean_wait(&bottleneck(&scenario, &outcome)) / (all.residual / (1.0 - all.rho))
        };
        let ratios: Vec<f64> = (1..=SEEDS).map(ratio).collect();
        assert_one(&format!("load {rho}"), &ratios, widest);
    }
}

#[test]
fn m_g_1_with_priorities_waits_as_cobham_says() {
    let mut ratios = [vec![], vec![], vec![]];
    for seed in 1..=SEEDS {
        let scenario = many_to_one(0.7, seed, strict(3, Buffer::UNLIMITED));
        let outcome = run(&scenario, drive(Engine::Window));
        let all = offered(&scenario, |_| true);
        let mut better = 0.0;
        for class in 0..3u8 {
            let sigma = better + offered(&scenario, |f| f.class == class).rho;
            // W_k = W_0 / ((1 - sigma_{k-1}) (1 - sigma_k))
            let predicted = all.residual / ((1.0 - better) * (1.0 - sigma));
            let of_class: Vec<_> =
                bottleneck(&scenario, &outcome).into_iter().filter(|p| p.class == class).collect();
            assert_eq!(of_class[0].inversions, 0, "a packet overtook a better one");
            ratios[usize::from(class)].push(mean_wait(&of_class) / predicted);
            better = sigma;
        }
    }
    for (class, ratios) in ratios.iter().enumerate() {
        assert_one(&format!("class {class}"), ratios, 0.12);
    }
}

/// Poisson flows of whole packets from one host to another, both lines 10 Gbps: the sender's line is the server.
fn one_line(rho: f64, seed: u64, packets: impl Fn(&mut Stream) -> u64) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_ns(1)) }.build().unwrap();
    let frame = Frame { mtu: 1_001, ..FRAME };
    let mut draw = Stream::new(seed, Purpose::Arrivals, 1);
    let sizes: Vec<u64> = (0..30_000).map(|_| packets(&mut draw)).collect();
    let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
    let gap = mean * packet_time() / rho;
    let mut at = 0.0;
    let flows = sizes.iter().enumerate().map(|(id, &n)| {
        at += draw.exponential(gap);
        flow(id as u32, (0, 1), n * 1_000, Time((at * 1e12) as u64))
    });
    let flows = flows.collect();
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    scenario.frame = frame;
    scenario
}

fn packet_time() -> f64 {
    1_001.0 * 8.0 / 10e9
}

/// Mean time from start to the last packet having left the sender's line.
fn mean_sojourn(scenario: &mut ScenarioSpec, scheduler: SchedulerKind) -> f64 {
    scenario.transport = unlimited(scenario.frame, scheduler);
    let outcome = run(scenario, drive(Engine::Window));
    let beyond = packet_time() + 2e-9;
    let total: f64 = outcome.flows.iter().map(|f| f.fct.unwrap().as_secs_f64() - beyond).sum();
    total / outcome.flows.len() as f64
}

#[test]
fn turns_of_a_packet_are_processor_sharing_within_a_quantum_and_insensitive() {
    let geometric = |draw: &mut Stream| 1 + draw.exponential(19.0) as u64;
    let two_point = |draw: &mut Stream| if draw.chance(0.9) { 10 } else { 105 };
    let laws: [&dyn Fn(&mut Stream) -> u64; 2] = [&geometric, &two_point];
    for (law, packets) in laws.iter().enumerate() {
        let mut differences = Vec::new();
        for seed in 1..=SEEDS {
            let mut scenario = one_line(0.6, seed, packets);
            let span = scenario.flows.last().unwrap().start.as_secs_f64();
            let work: f64 =
                scenario.flows.iter().map(|f| f.size.unwrap() as f64 / 1_000.0 * packet_time()).sum();
            // E[T] = E[S] / (1 - rho)
            let predicted = work / scenario.flows.len() as f64 / (1.0 - work / span);
            differences
                .push((mean_sojourn(&mut scenario, SchedulerKind::RoundRobin) - predicted) / predicted + 1.0);
        }
        let (mean, half) = interval(&differences);
        // One packet for each of the rho / (1 - rho) flows that are there, over 20 / (1 - rho) packets.
        let quantum = 0.6 / 20.0;
        assert!((mean - 1.0).abs() <= half + quantum, "law {law}: {mean} +- {half}");
        assert!(half < 0.1, "law {law}: {half}");
    }
}

#[test]
fn srpt_beats_las_beats_sharing_where_sizes_are_heavy_tailed() {
    let heavy = |draw: &mut Stream| {
        let mean = if draw.chance(0.95) { 4.0 } else { 300.0 };
        1 + draw.exponential(mean) as u64
    };
    for seed in 1..=priolane_rounds::rounds(1, 3) {
        let mut scenario = one_line(0.7, seed, heavy);
        let mut mean = |scheduler| mean_sojourn(&mut scenario, scheduler);
        let (srpt, las, sharing) =
            (mean(SchedulerKind::Srpt), mean(SchedulerKind::Las), mean(SchedulerKind::RoundRobin));
        assert!(srpt < las && las < sharing, "seed {seed}: {srpt} {las} {sharing}");
    }
}

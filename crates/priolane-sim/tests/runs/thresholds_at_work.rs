//! Tests of the promises of thresholds over whole runs: the optimum of two levels beats an equal split, and neither
//! thresholds nor completion times depend on the unit of time.

use crate::support::{dctcp, drive, flow, link, run, scenario, strict};
use priolane_core::assign::{Count, DemotionThresholds, byte_share, equal_split};
use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, Scope};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::{Interpolation, Point, SizeDistribution};
use priolane_core::transport::Transport;
use priolane_core::transport::window;
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::scenario::{Engine, ScenarioSpec};
use priolane_sim::topology::SingleSwitch;

const HOSTS: u64 = 16;
const LOAD: f64 = 0.8;

/// Web search as with PIAS, a twentieth as long: 83 kB on average.
fn sizes() -> SizeDistribution {
    let packets = [
        (6.0, 0.0),
        (6.0, 0.15),
        (13.0, 0.2),
        (19.0, 0.3),
        (33.0, 0.4),
        (53.0, 0.53),
        (133.0, 0.6),
        (667.0, 0.7),
        (1_333.0, 0.8),
        (3_333.0, 0.9),
        (6_667.0, 0.97),
        (20_000.0, 1.0),
    ];
    let points = packets.map(|(packets, cdf)| Point { bytes: packets * 1_460.0 / 20.0, cdf });
    SizeDistribution::new(points.to_vec(), Interpolation::Linear).unwrap()
}

/// Poisson arrivals at load .8 of links of `gbps`, times in whole tens of picoseconds at 1 Gbps.
fn flows(gbps: u64, seed: u64, count: u32) -> Vec<FlowSpec> {
    let mut draw = Stream::new(seed, Purpose::Sizes, 0);
    let law = sizes();
    let mean_gap = law.mean() * 8.0 / (LOAD * HOSTS as f64 * 1e9);
    let mut at = 0u64;
    let one = |id: u32| {
        // A tenth of the start at 1 Gbps, so that it is whole at 10 Gbps.
        at += (draw.exponential(mean_gap) * 1e11).round() as u64;
        let src = draw.below(HOSTS);
        let dst = (src + 1 + draw.below(HOSTS - 1)) % HOSTS;
        flow(id, (src as u16, dst as u16), law.sample(&mut draw), Time(at * (10 / gbps)))
    };
    (0..count).map(one).collect()
}

/// DCTCP with two levels split at `threshold`, at hosts and switch, all times as `gbps` has them.
fn two_levels(gbps: u64, threshold: u64, flows: Vec<FlowSpec>) -> ScenarioSpec {
    let slow = 10 / gbps;
    let topology =
        SingleSwitch { hosts: HOSTS as u32, host_link: link(gbps, Span(500_000 * slow)) }.build().unwrap();
    let port = Buffer {
        limit: Limit::Packets(240),
        limit_scope: Scope::Port,
        mark_above: Limit::Packets(20),
        mark_scope: Scope::Port,
        ramp: None,
    };
    let ladder = DemotionThresholds::new(&[threshold], Count::StreamOffset).unwrap();
    let base = window::Config::new(Frame::ETHERNET);
    let tenfold = |span: Span| Span(span.0 / 10 * slow);
    let config = window::Config {
        class: ladder,
        host_level: ladder,
        min_rto: tenfold(base.min_rto),
        initial_rto: tenfold(base.initial_rto),
        max_rto: tenfold(base.max_rto),
        ack_delay: tenfold(base.ack_delay),
        ..base
    };
    let mut scenario = scenario(topology, strict(2, port), flows);
    let Transport::Window { window, controller, .. } = crate::support::window(dctcp(), config) else {
        unreachable!("the window machine")
    };
    scenario.transport = Transport::Window { window, controller, scheduler: SchedulerKind::Mlfq };
    scenario
}

/// Completion times in picoseconds, by flow.
fn fcts(scenario: &ScenarioSpec) -> Vec<u64> {
    let outcome = run(scenario, drive(Engine::Window));
    outcome.flows.iter().map(|flow| flow.fct.expect("every flow completes").0).collect()
}

#[test]
fn the_optimum_of_two_levels_has_a_lower_mean_completion_time_than_an_equal_split() {
    let law = sizes();
    let (best, even) = (byte_share::opt2(&law, LOAD), equal_split(&law, 2)[0]);
    // Kink F = .8, and the median: 97 kB and 3.5 kB.
    assert!(best > 20 * even, "{best} {even}");
    for seed in 1..=3 {
        let mean = |threshold: u64| {
            let fcts = fcts(&two_levels(10, threshold, flows(10, seed, 6_000)));
            fcts.iter().sum::<u64>() as f64 / fcts.len() as f64
        };
        let (best, even, fifo) = (mean(best), mean(even), mean(1 << 40));
        assert!(best < even && best < 0.95 * fifo, "{seed}: {best} {even} {fifo}");
    }
}

#[test]
fn ten_times_the_rate_at_a_tenth_of_all_times_takes_a_tenth_of_the_time() {
    let law = sizes();
    let threshold = byte_share::opt2(&law, LOAD);
    let fast = fcts(&two_levels(10, threshold, flows(10, 7, 1_500)));
    let slow = fcts(&two_levels(1, threshold, flows(1, 7, 1_500)));
    let tenths: Vec<u64> = slow.iter().map(|fct| fct / 10).collect();
    assert!(slow.iter().all(|fct| fct.is_multiple_of(10)));
    assert_eq!(fast, tenths);
}

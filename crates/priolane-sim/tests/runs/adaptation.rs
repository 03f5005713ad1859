//! Thresholds that follow the workload, over whole runs: they find the workload's, follow it when it shifts, and
//! reach hosts when they should.

use crate::support::{drive, fifo, flow, link, new_reno, physics, run, scenario};
use priolane_core::assign::control::{self, AdaptiveThresholds, ThresholdRange};
use priolane_core::assign::{Count, DemotionThresholds, EqualSplit, Solver, equal_split};
use priolane_core::endpoint::{FlowSpec, ThresholdSet};
use priolane_core::host::SchedulerKind;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::{Interpolation, Point, SizeDistribution};
use priolane_core::transport::Transport;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Adaptation, Engine, ScenarioSpec, Stop};
use priolane_sim::topology::SingleSwitch;

const HOSTS: u16 = 8;
const PERIOD: Span = Span::from_ms(1);
const DELAY: Span = Span::from_us(100);

fn law(smallest: f64, largest: f64) -> SizeDistribution {
    let points = [(smallest, 0.0), (largest, 1.0)].map(|(bytes, cdf)| Point { bytes, cdf });
    SizeDistribution::new(points.to_vec(), Interpolation::Linear).unwrap()
}

/// Flows with even gaps from `start` on, a fifth of each link: 20 a millisecond and host of 12.5 kB on average.
fn flows(law: &SizeDistribution, start: Time, count: u32, first: u32) -> Vec<FlowSpec> {
    let mut stream = Stream::new(11, Purpose::Sizes, u64::from(first));
    let one = |i: u32| {
        let (src, hop) = ((i % u32::from(HOSTS)) as u16, 1 + (i / 8 % 7) as u16);
        let at = start + Span(6_250_000).times(u64::from(i));
        flow(first + i, (src, (src + hop) % HOSTS), law.sample(&mut stream), at)
    };
    (0..count).map(one).collect()
}

fn adaptation(global: &[AdaptiveThresholds], local: &[AdaptiveThresholds]) -> Adaptation {
    let config = control::Config {
        period: PERIOD,
        delay: DELAY,
        window: 40,
        min_samples: 40,
        max_age: 3,
        bounds: ThresholdRange { min: 1_000, max: 1_000_000 },
        report_loss: 0.0,
        report_jitter: Span::ZERO,
        load: None,
    };
    Adaptation { config, global: global.to_vec(), local: local.to_vec() }
}

const HALVES: AdaptiveThresholds = AdaptiveThresholds {
    of: ThresholdSet::Class,
    solver: Solver::EqualSplit(EqualSplit),
    levels: 2,
    load: 0.5,
};

/// Starts with one threshold that every flow stays below.
fn adapting(flows: Vec<FlowSpec>, adaptation: Adaptation) -> ScenarioSpec {
    let topology =
        SingleSwitch { hosts: u32::from(HOSTS), host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let ladder = DemotionThresholds::new(&[500_000], Count::StreamOffset).unwrap();
    let window = window::Config {
        handshake: Handshake::None,
        class: ladder,
        host_level: ladder,
        ..window::Config::new(Frame::ETHERNET)
    };
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let Transport::Window { controller, .. } = crate::support::window(new_reno(), window) else {
        unreachable!("the window machine")
    };
    scenario.transport = Transport::Window { window, controller, scheduler: SchedulerKind::Mlfq };
    scenario.adaptation = Some(adaptation);
    scenario
}

/// On both engines alike.
fn outcome(scenario: &ScenarioSpec) -> Outcome {
    let outcome = |engine| physics(run(scenario, drive(engine)));
    let window = outcome(Engine::Window);
    assert_eq!(window, outcome(Engine::Wheel));
    window
}

/// Whether one threshold is `law`'s median, within bins of 1/16 and the error of `flows` draws.
fn is_median(bytes: &[u64], law: &SizeDistribution) -> bool {
    let [found] = bytes else { return false };
    let want = equal_split(law, 2)[0] as f64;
    (0.8..1.25).contains(&(*found as f64 / want))
}

#[test]
fn thresholds_go_to_the_workloads_and_reach_hosts_two_delays_after_a_period() {
    let law = law(1_000.0, 24_000.0);
    let outcome = outcome(&adapting(flows(&law, Time::ZERO, 1_600, 0), adaptation(&[HALVES], &[])));
    let changes = &outcome.thresholds;
    // 160 flows start in a millisecond: more than the 40 asked for, so the first period already tells.
    assert_eq!(changes[0].at, Time::ZERO + PERIOD + DELAY + DELAY);
    assert!(changes.len() >= 8 && changes.iter().all(|c| is_median(&c.bytes, &law)), "{changes:?}");
    // Before, nobody is demoted; after, every flow above the threshold is.
    let spec = adapting(flows(&law, Time::ZERO, 1_600, 0), adaptation(&[HALVES], &[])).flows;
    for (flow, record) in spec.iter().zip(&outcome.flows) {
        let size = flow.size.unwrap();
        if flow.start + Span::from_us(100) < changes[0].at {
            assert_eq!(record.class.last, 0);
        } else if flow.start > changes[0].at && size > 18_000 {
            assert_eq!(record.class.last, 1, "{flow:?}");
        }
    }
}

#[test]
fn a_shift_of_the_workload_is_followed_within_three_periods() {
    let (before, after) = (law(1_000.0, 24_000.0), law(20_000.0, 60_000.0));
    let shift = Time::ZERO + PERIOD.times(5);
    let mut all = flows(&before, Time::ZERO, 800, 0);
    all.extend(flows(&after, shift, 800, 800));
    let changes = outcome(&adapting(all, adaptation(&[HALVES], &[]))).thresholds;
    // A host remembers its last 40 flows and completes 20 in a period: two periods after the shift it has forgotten
    // what was before. The next thresholds are made from that and take two delays more.
    let (old, new): (Vec<_>, Vec<_>) = changes.iter().partition(|c| c.at <= shift + DELAY + DELAY);
    assert!(old.iter().all(|c| is_median(&c.bytes, &before)), "{old:?}");
    let settled = new.iter().filter(|c| c.at > shift + PERIOD.times(3) + DELAY + DELAY);
    assert!(settled.clone().count() >= 1 && settled.clone().all(|c| is_median(&c.bytes, &after)), "{new:?}");
}

#[test]
fn hosts_follow_their_own_flows_without_a_controller() {
    // Even hosts send small flows, odd ones large: the level of a 20 kB offset differs between them.
    let levels = AdaptiveThresholds {
        of: ThresholdSet::Class,
        solver: Solver::EqualSplit(EqualSplit),
        levels: 2,
        load: 0.5,
    };
    let (small, large) = (law(1_000.0, 24_000.0), law(30_000.0, 60_000.0));
    let mut all = flows(&small, Time::ZERO, 1_600, 0);
    for (one, other) in all.iter_mut().zip(flows(&large, Time::ZERO, 1_600, 0)) {
        if one.src.0 % 2 == 1 {
            one.size = other.size;
        }
    }
    let scenario = adapting(all, adaptation(&[], &[levels]));
    let outcome = outcome(&scenario);
    assert!(outcome.thresholds.is_empty());
    let late = |i: &usize| scenario.flows.at(*i).start > Time::ZERO + PERIOD.times(4);
    for i in (0..scenario.flows.len()).filter(late) {
        let (size, class) = (scenario.flows.at(i).size.unwrap(), outcome.flows.at(i).class.last);
        // Medians: 12.5 kB and 45 kB.
        let median = if scenario.flows.at(i).src.0.is_multiple_of(2) { 12_500 } else { 45_000 };
        if size < median * 3 / 4 {
            assert_eq!(class, 0, "{size}");
        } else if size > median * 5 / 4 + 1_460 {
            assert_eq!(class, 1, "{size}");
        }
    }
}

#[test]
fn reports_that_are_all_lost_leave_everything_as_it_was() {
    let law = law(1_000.0, 24_000.0);
    let mut lost = adaptation(&[HALVES], &[]);
    lost.config.report_loss = 1.0;
    let outcome = outcome(&adapting(flows(&law, Time::ZERO, 800, 0), lost));
    assert!(outcome.thresholds.is_empty() && outcome.flows.iter().all(|f| f.class.last == 0));
}

#[test]
fn changes_are_told_of_up_to_the_end_of_the_run_and_no_further() {
    let law = law(1_000.0, 24_000.0);
    let mut scenario = adapting(flows(&law, Time::ZERO, 800, 0), adaptation(&[HALVES], &[]));
    let first = Time::ZERO + PERIOD + DELAY + DELAY;
    for (stop, changes) in [(first, 0), (Time(first.0 + 1), 1)] {
        scenario.stop = Stop::At(stop);
        assert_eq!(outcome(&scenario).thresholds.len(), changes);
    }
}

//! Random graphs of flows and steps on an idle network, against the longest path through the graph.
//!
//! Each flow has two hosts of its own and one packet, so that its completion time is known in closed form.

use std::num::NonZeroU8;

use crate::support::{Draw, agreed, fifo, flow, link, new_reno, physics, run, scenario};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Span, Time};
use priolane_rounds::rounds;
use priolane_sim::dependencies::{FlowDependency, Predecessor, Step, StepId, Work};
use priolane_sim::outcome::StartTime;
use priolane_sim::scenario::{Engine, ScenarioSpec, Stop};
use priolane_sim::topology::{LeafSpine, SingleSwitch};
use priolane_sim::{Drive, Fallback, NodeOrder, Threads};

/// The completion time of a packet of `bytes` over two links of 10 Gbps and 1 us, in picoseconds: 78 bytes of headers,
/// 0.8 ns a byte.
fn alone(bytes: u64) -> u64 {
    2 * (1_000_000 + 800 * (bytes + 78))
}

fn host(work: Work, steps: &[Step]) -> (HostId, HostId) {
    match work {
        Work::Flow(flow) => (HostId(2 * flow.0 as u16), HostId(2 * flow.0 as u16 + 1)),
        Work::Step(step) => (steps[step.index()].host, steps[step.index()].host),
    }
}

/// Flow `i` goes from host `2 i` to host `2 i + 1`. Work waits for a random part of the work before it in a random order.
fn random(draw: &mut Draw) -> ScenarioSpec {
    let flows = 1 + draw.0.below(6) as u32;
    let count = draw.0.below(8) as u32;
    let mut steps: Vec<Step> = (0..count)
        .map(|_| Step {
            group: 0,
            host: HostId(draw.0.below(2 * u64::from(flows)) as u16),
            start: Time(draw.0.below(20) * 1_000_000),
            takes: Span(draw.0.below(3) * 1_234_567),
            after: Vec::new(),
        })
        .collect();
    let mut order: Vec<Work> = (0..flows).map(|flow| Work::Flow(FlowId(flow))).collect();
    for step in 0..count {
        order.insert(1 + draw.0.below(order.len() as u64) as usize, Work::Step(StepId(step)));
    }
    let mut waits = Vec::new();
    for (place, &work) in order.iter().enumerate() {
        let mut after = Vec::new();
        for &first in &order[..place] {
            if draw.0.chance(0.5) {
                continue;
            }
            let (from, to) = (host(first, &steps).1, host(work, &steps).0);
            let known = matches!(first, Work::Step(step) if steps[step.index()].after.is_empty());
            if known || (from != to && matches!(first, Work::Step(_))) {
                continue;
            }
            let least = u64::from(from != to);
            let delay = Span(least + draw.pick(&[0, 399_999, 2_000_000, 70_000_000]));
            after.push(Predecessor { work: first, delay });
        }
        match work {
            Work::Flow(_) if after.is_empty() => {}
            Work::Flow(flow) => waits.push(FlowDependency { flow, after, until: None }),
            Work::Step(step) => steps[step.index()].after = after,
        }
    }
    let topology = SingleSwitch { hosts: 2 * flows, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let mut starts: Vec<u64> = (0..flows).map(|_| draw.0.below(50) * 1_000_000).collect();
    starts.sort_unstable();
    let flow = |(id, start): (u32, u64)| {
        let pair = (2 * id as u16, 2 * id as u16 + 1);
        flow(id, pair, 100 + draw.0.below(1_361), Time(start))
    };
    let flows = (0..).zip(starts).map(flow).collect();
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), window);
    (scenario.waits, scenario.steps) = (waits, steps);
    scenario
}

/// Starts of the flows: the longest path through the graph, relaxed until nothing changes.
fn starts(scenario: &ScenarioSpec) -> Vec<u64> {
    let mut flows: Vec<u64> = scenario.flows.iter().map(|flow| flow.start.0).collect();
    let mut steps: Vec<u64> = scenario.steps.iter().map(|step| step.start.0).collect();
    loop {
        let before = (flows.clone(), steps.clone());
        let end = |first: &Predecessor| {
            first.delay.0
                + match first.work {
                    Work::Flow(flow) => {
                        before.0[flow.index()] + alone(scenario.flows.size(flow.index()).unwrap())
                    }
                    Work::Step(step) => before.1[step.index()] + scenario.steps[step.index()].takes.0,
                }
        };
        for wait in &scenario.waits {
            let start = &mut flows[wait.flow.index()];
            *start = wait.after.iter().map(end).fold(*start, u64::max);
        }
        for (start, step) in steps.iter_mut().zip(&scenario.steps) {
            *start = step.after.iter().map(end).fold(*start, u64::max);
        }
        if (&flows, &steps) == (&before.0, &before.1) {
            return flows;
        }
    }
}

#[test]
fn flows_start_at_the_longest_path_to_them() {
    let (mut through_steps, mut waiting) = (0, 0);
    for seed in 0..rounds(2_000, 20_000) {
        let mut scenario = random(&mut Draw::new(seed));
        if seed % 5 == 0 {
            scenario.stop = Stop::At(Time(500_000_000));
        }
        let outcome = agreed(&scenario);
        let waits = |flow: FlowId| scenario.waits.iter().find(|wait| wait.flow == flow);
        for (flow, (record, start)) in scenario.flows.iter().zip(outcome.flows.iter().zip(starts(&scenario)))
        {
            let expected = match waits(flow.id) {
                None => StartTime::AsPlanned,
                Some(_) if Time(start) >= outcome.stopped_at => StartTime::Never,
                Some(_) => StartTime::At(Time(start)),
            };
            assert_eq!(record.began, expected, "{flow:?}, seed {seed}");
            let ends = Time(start + alone(flow.size.unwrap())) < outcome.stopped_at;
            assert!(!ends || record.fct == Some(Span(alone(flow.size.unwrap()))), "{flow:?}, seed {seed}");
            // Without a limit the run waits for all of them.
            assert!(ends || seed % 5 == 0, "{flow:?}, seed {seed}");
        }
        waiting += scenario.waits.len();
        let of_step =
            |wait: &&FlowDependency| wait.after.iter().any(|first| matches!(first.work, Work::Step(_)));
        through_steps += scenario.waits.iter().filter(of_step).count();
    }
    assert!(through_steps > 300 && waiting > 2 * through_steps, "{through_steps} of {waiting}");
}

/// The same flows and steps between the hosts of racks with long cables.
#[test]
fn threads_agree_on_steps() {
    let mut started = 0;
    for seed in 0..rounds(20, 1_000) {
        let ScenarioSpec { flows, waits, steps, topology, .. } = random(&mut Draw::new(seed));
        let far = LeafSpine {
            leaves: 4,
            spines: 2,
            hosts_per_leaf: topology.hosts.div_ceil(4),
            host_link: link(10, Span::from_us(1)),
            fabric_link: link(10, Span::from_ms(1)),
            links_per_pair: 1,
        };
        let mut scenario = scenario(far.build().unwrap(), fifo(Buffer::UNLIMITED), flows.iter().collect());
        (scenario.waits, scenario.steps) = (waits, steps);
        let alone = agreed(&scenario);
        let threads = Threads { most: NonZeroU8::new(3).unwrap(), fallback: Fallback::Never };
        let shared = Drive { engine: Engine::Window, order: NodeOrder::Natural, threads };
        assert_eq!(alone, physics(run(&scenario, shared)), "seed {seed}");
        assert!(alone.flows.iter().all(|flow| flow.fct.is_some()), "seed {seed}");
        started += alone.flows.iter().filter(|flow| matches!(flow.began, StartTime::At(_))).count();
    }
    assert!(started > 20, "{started}");
}

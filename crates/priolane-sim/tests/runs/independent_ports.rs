//! Switches whose ports are independent take arrivals port by port, all others in order of time; the wheel engine takes
//! all events in order of time. Here links are alike and flows start together, so that many packets meet at one instant.

use std::num::NonZeroU8;

use priolane_core::port::{
    AifoSpec, Buffer, DisciplineSpec, FifoSpec, Overflow, PFabricSpec, QueueWeights, Scope, StrictSpec,
    TrimmingSpec, WfqSpec,
};
use priolane_core::units::{Limit, Span, Time};
use priolane_rounds::rounds;
use priolane_sim::scenario::{Engine, PortSpec, ScenarioSpec, Stop};
use priolane_sim::topology::{LeafSpine, PathChoice, Spray};
use priolane_sim::{Drive, Fallback, NodeOrder, Threads};

use crate::support::{Draw, IDENTITY, agreed, dctcp, fifo, flow, link, physics, run, scenario, window};

/// Ports that only drop and mark, and last those that send headers back.
fn disciplines() -> [DisciplineSpec; 7] {
    let weights = QueueWeights::new(&[4, 2, 1]).unwrap();
    let trimming = |overflow| TrimmingSpec { headers: Limit::Packets(4), overflow };
    [
        FifoSpec.into(),
        StrictSpec { queues: 3, map: IDENTITY }.into(),
        WfqSpec { weights, map: IDENTITY }.into(),
        PFabricSpec.into(),
        AifoSpec::default().into(),
        trimming(Overflow::Drop).into(),
        trimming(Overflow::Return).into(),
    ]
}

fn meeting(seed: u64) -> ScenarioSpec {
    let mut draw = Draw::new(seed);
    let alike = link(10, Span::from_us(draw.pick(&[1, 2])));
    let topology = LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 4,
        host_link: alike,
        fabric_link: alike,
        links_per_pair: draw.pick(&[1, 2]),
    };
    let bytes = draw.pick(&[30_000, 90_000]);
    let ends = |i: u32, to: u32| ((i % 12) as u16, ((i * 5 + to) % 12) as u16);
    let to = draw.pick(&[1, 4, 7]);
    let flows = (0..36).map(|i| ends(i, to + i / 12)).filter(|(src, dst)| src != dst);
    let mut flows: Vec<_> = flows.zip(0..).map(|(ends, id)| flow(id, ends, bytes, Time::ZERO)).collect();
    flows.iter_mut().for_each(|flow| flow.class = (flow.id.0 % 3) as u8);
    let buffer = Buffer { limit: Limit::Packets(9), mark_above: Limit::Packets(3), ..Buffer::UNLIMITED };
    let mut spec = scenario(topology.build().unwrap(), fifo(buffer), flows);
    spec.transport = window(dctcp(), draw.window_config());
    let of = disciplines();
    let discipline = of[(seed % of.len() as u64) as usize].clone();
    let mark_scope = draw.pick(&[Scope::Port, Scope::Queue]);
    let port = PortSpec { discipline, buffer: Buffer { mark_scope, ..buffer } };
    spec.ports.iter_mut().for_each(|own| *own = port.clone());
    spec.topology.path_choice =
        draw.pick(&[PathChoice::Hashed, PathChoice::Pinned, PathChoice::Sprayed(Spray::Random)]);
    if draw.pick(&[false, false, true]) {
        spec.outages = draw.outages(&spec.topology);
    }
    spec.stop = Stop::At(Time(draw.pick(&[700_000_000, 733_333_333])));
    spec
}

#[test]
fn packets_that_meet_at_one_instant_leave_the_same_on_both_engines_and_any_number_of_threads() {
    let two = Threads { most: NonZeroU8::new(2).unwrap(), fallback: Fallback::Never };
    let two = Drive { engine: Engine::Window, order: NodeOrder::Natural, threads: two };
    let of = disciplines().len();
    let (mut dropped, mut marked) = (vec![0; of], vec![0; of]);
    for seed in 0..rounds(14, 1_000) {
        let scenario = meeting(seed);
        let outcome = agreed(&scenario);
        assert_eq!(outcome, physics(run(&scenario, two)), "two threads, seed {seed}");
        let kind = (seed % of as u64) as usize;
        dropped[kind] += outcome.ports.iter().map(|port| port.dropped + port.trimmed).sum::<u64>();
        marked[kind] += outcome.ports.iter().map(|port| port.marked).sum::<u64>();
    }
    assert!(dropped.iter().all(|&count| count > 20), "{dropped:?}");
    assert!(marked.iter().filter(|&&count| count > 20).count() >= 4, "{marked:?}");
}

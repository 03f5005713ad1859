//! One run on several threads: the same outcome to the bit, whoever drives which node.

use std::num::NonZeroU8;
use std::ops::ControlFlow;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::FlowId;
use priolane_core::port::Buffer;
use priolane_core::units::{Span, Time};
use priolane_sim::dependencies::{FlowDependency, Predecessor};
use priolane_sim::outcome::{RunError, StartTime};
use priolane_sim::scenario::{Engine, ScenarioSpec};
use priolane_sim::topology::LeafSpine;
use priolane_sim::{Drive, Fallback, NodeOrder, Simulation, Threads};

use crate::engines::random;
use crate::support::{SHUFFLED, built, drive, fifo, flow, link, physics, run, scenario};

fn on(most: u8, fallback: Fallback) -> Drive {
    let threads = Threads { most: NonZeroU8::new(most).unwrap(), fallback };
    Drive { engine: Engine::Window, order: NodeOrder::Natural, threads }
}

/// Losses, failures, pauses, flows that wait for others, controllers, samples: all that the random experiments have.
#[test]
fn any_number_of_threads_leaves_the_same() {
    let mut shared = 0;
    let rounds = priolane_rounds::rounds(8, 1_200);
    for seed in 0..rounds {
        let scenario = random(seed);
        if scenario.topology.racks < 2 {
            continue;
        }
        let alone = run(&scenario, drive(Engine::Window));
        for most in if seed % 8 == 0 { vec![2, 3, 8] } else { vec![2] } {
            let several = run(&scenario, on(most, Fallback::Never));
            assert_eq!(alone, several, "{most} threads, seed {seed}");
        }
        // The first thread takes over somewhere on the way.
        let handed_over = run(&scenario, on(2, Fallback::After(1 + seed % 300)));
        assert_eq!(alone, handed_over, "handed over, seed {seed}");
        shared += 1;
    }
    assert!(shared > rounds / 3, "{shared}");
}

/// Six racks, all to all.
fn busy() -> ScenarioSpec {
    let topology = LeafSpine {
        leaves: 6,
        spines: 3,
        hosts_per_leaf: 4,
        host_link: link(10, Span::from_us(1)),
        fabric_link: link(40, Span::from_us(1)),
        links_per_pair: 1,
    };
    let ends = |i: u32| ((i % 24) as u16, ((i * 7 + 5 + i / 24) % 24) as u16);
    let flows = (0..240).filter(|&i| ends(i).0 != ends(i).1);
    let flows = flows.zip(0..).map(|(i, id)| {
        let bytes = 20_000 + 9_000 * u64::from(i % 11);
        flow(id, ends(i), bytes, Time(u64::from(i) * 1_700_001))
    });
    scenario(topology.build().unwrap(), fifo(Buffer::UNLIMITED), flows.collect())
}

#[test]
fn neither_the_order_of_nodes_nor_the_number_of_threads_matters() {
    let scenario = busy();
    let alone = physics(run(&scenario, drive(Engine::Wheel)));
    assert!(alone.flows.iter().all(|flow| flow.fct.is_some()));
    for most in [2, 3, 5, 6, 8, 200] {
        let drive = Drive { order: SHUFFLED.order, ..on(most, Fallback::WhenSlower) };
        assert_eq!(alone, physics(run(&scenario, drive)), "{most} threads");
    }
}

/// Long cables between racks, over which packets arrive many windows after they are sent, and flows that wait for flows
/// of other racks; the last flow to end starts another one that waits for it.
fn far_apart() -> ScenarioSpec {
    let far = LeafSpine {
        leaves: 4,
        spines: 2,
        hosts_per_leaf: 2,
        host_link: link(10, Span::from_us(1)),
        fabric_link: link(10, Span::from_ms(3)),
        links_per_pair: 1,
    };
    let flows = (0..30).map(|i| flow(i, ((i % 8) as u16, ((i * 3 + 2) % 8) as u16), 3_000, Time::ZERO));
    let flows = flows.filter(|flow| flow.src != flow.dst).zip(0..);
    let flows = flows.map(|(flow, id)| FlowSpec { id: FlowId(id), ..flow }).collect();
    let mut far = scenario(far.build().unwrap(), fifo(Buffer::UNLIMITED), flows);
    far.waits = (6..far.flows.len() as u32)
        .map(|id| FlowDependency {
            flow: FlowId(id),
            after: Predecessor::flows([FlowId(id - 6), FlowId(id - 5)], Span::from_us(7)),
            until: None,
        })
        .collect();
    far
}

#[test]
fn packets_and_signals_of_distant_parts_are_awaited_by_all_threads() {
    let scenario = far_apart();
    let alone = run(&scenario, drive(Engine::Window));
    assert_eq!(physics(alone.clone()), physics(run(&scenario, drive(Engine::Wheel))));
    assert!(alone.flows.iter().all(|flow| flow.fct_acked.is_some()), "{:?}", alone.flows);
    let started = alone.flows.iter().filter(|flow| matches!(flow.began, StartTime::At(_))).count();
    assert_eq!(started, scenario.waits.len());
    for most in [2, 3, 4] {
        assert_eq!(alone, run(&scenario, on(most, Fallback::Never)), "{most} threads");
    }
    assert_eq!(alone, run(&scenario, on(3, Fallback::After(50))));
}

#[test]
fn whoever_asks_to_stop_is_heard_by_all_threads() {
    let mut asked = 0;
    let mut stop = |_| {
        asked += 1;
        ControlFlow::Break(())
    };
    let scenario = built(&busy());
    let stopped = Simulation::of(&scenario).reporting_to(&mut stop).run(on(3, Fallback::Never));
    assert!(matches!(stopped, Err(RunError::Interrupted)) && asked == 1, "{stopped:?}");
}

#[test]
fn parts_that_one_thread_runs_in_turn_leave_the_same_and_are_measured() {
    let scenario = busy();
    let alone = run(&scenario, drive(Engine::Window));
    for (most, parts) in [(1, 1), (2, 2), (3, 3), (6, 6), (200, 6)] {
        let most = NonZeroU8::new(most).unwrap();
        let in_turn = Simulation::of(&built(&scenario)).run_in_turn(most);
        let (outcome, times) = in_turn.unwrap();
        let times = times.unwrap();
        assert_eq!(alone, outcome, "{parts} parts");
        assert!(times.parts == parts && times.windows > 100, "{times:?}");
        // The slowest part of each window takes between a share of the window's work and all of it.
        assert!(times.longest <= times.work && times.work <= times.longest * parts as u32, "{times:?}");
    }
}

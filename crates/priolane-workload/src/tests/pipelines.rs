//! Pipelines of stages against the closed forms of GPipe and 1F1B, with messages of a fixed time.

use std::collections::BTreeMap;

use priolane_core::ids::CoflowId;
use priolane_sim::dependencies::{Step, Work};

use super::*;
use crate::pipeline::Pass;

/// Microseconds of a computation forward and backward.
const F: u64 = 30;
const B: u64 = 50;

fn pipeline(schedule: Schedule, micro_batches: u32) -> Pipeline {
    Pipeline {
        stages: None,
        micro_batches,
        schedule,
        activations: 1_000,
        gradients: Some(400),
        forward: Span::from_us(F),
        backward: Some(Span::from_us(B)),
        iterations: 1,
        start: Span::ZERO,
        connections: MessageConnections::PerMessage,
    }
}

fn of(keys: Pipeline, hosts: u16) -> Traffic {
    let network = Network::new();
    let hosts: Vec<HostId> = (0..hosts).map(HostId).collect();
    let site = WorkloadContext { hosts: &hosts, ..network.site() };
    traffic(&App::Pipeline(keys), &site).unwrap()
}

/// Begin and end of each step in microseconds if each message takes `flight`: relaxed until nothing changes.
fn played(Traffic { flows, waits, steps, .. }: &Traffic, flight: u64) -> Vec<[u64; 2]> {
    let us = |ps: u64| ps / 1_000_000;
    let mut arrivals: BTreeMap<FlowId, u64> =
        flows.iter().map(|flow| (flow.id, us(flow.start.0) + flight)).collect();
    let mut computed = vec![[0; 2]; steps.len()];
    loop {
        let before = (arrivals.clone(), computed.clone());
        let end = |work: &Work| match work {
            Work::Flow(id) => before.0[id],
            Work::Step(id) => before.1[id.index()][1],
        };
        for wait in waits {
            arrivals
                .insert(wait.flow, wait.after.iter().map(|first| end(&first.work)).max().unwrap() + flight);
        }
        for (step, computed) in steps.iter().zip(&mut computed) {
            let start = step.after.iter().map(|first| end(&first.work)).max().unwrap_or(0);
            let start = start.max(us(step.start.0));
            *computed = [start, start + us(step.takes.0)];
        }
        if (&arrivals, &computed) == (&before.0, &before.1) {
            return computed;
        }
    }
}

fn last(computed: &[[u64; 2]]) -> u64 {
    computed.iter().map(|[_, end]| *end).max().unwrap()
}

#[test]
fn both_schedules_have_the_bubble_of_p_minus_1_of_m_plus_p_minus_1() {
    for schedule in [Schedule::Gpipe, Schedule::OneForwardOneBackward] {
        for (p, m) in [(2, 1), (2, 8), (4, 4), (4, 32), (7, 3), (8, 8)] {
            let traffic = of(pipeline(schedule, m), p);
            let (stages, m) = (u64::from(p), u64::from(m));
            assert_eq!(traffic.flows.len() as u64, 2 * m * (stages - 1));
            assert_eq!(traffic.steps.len() as u64, 2 * m * stages);
            let time = last(&played(&traffic, 0));
            assert_eq!(time, (m + stages - 1) * (F + B), "{schedule:?} of {p} stages");
            // Each rank computes for m (F + B).
            let bubble = 1.0 - (m * (F + B)) as f64 / time as f64;
            assert!((bubble - (stages - 1) as f64 / (m + stages - 1) as f64).abs() < 1e-12);
        }
    }
}

#[test]
fn with_transfers_gpipe_waits_for_one_of_each_boundary_each_way_and_1f1b_for_no_fewer() {
    let flight = 12;
    for (p, m) in [(2_u16, 1_u32), (4, 4), (4, 16), (6, 3)] {
        let (stages, batches) = (u64::from(p), u64::from(m));
        let of = |schedule| last(&played(&of(pipeline(schedule, m), p), flight));
        let gpipe = (batches + stages - 1) * (F + B) + 2 * (stages - 1) * flight;
        assert_eq!(of(Schedule::Gpipe), gpipe);
        assert!(of(Schedule::OneForwardOneBackward) >= gpipe);
    }
}

#[test]
fn in_two_stages_1f1b_waits_for_a_transfer_each_way_in_every_other_period() {
    // B k of the first stage needs F k of the second stage, and so F k+1 of the first behind B k-1: by hand, the wait of two
    // transfers comes at B 0, B 2, B 4, ...
    let flight = 12;
    for m in 1..=16_u32 {
        let found = last(&played(&of(pipeline(Schedule::OneForwardOneBackward, m), 2), flight));
        let batches = u64::from(m);
        assert_eq!(found, (batches + 1) * (F + B) + 2 * flight * batches.div_ceil(2));
    }
}

#[test]
fn one_forward_one_backward_keeps_fewer_activations_in_flight() {
    for (p, m) in [(4, 8), (4, 2), (2, 5), (8, 8)] {
        for stage in 0..p {
            let most = |schedule: Schedule| {
                let passes = schedule.passes((stage, p), m);
                let (mut open, mut most, mut seen) = (0_i64, 0, BTreeMap::new());
                for pass in &passes {
                    let (batch, change) = match *pass {
                        Pass::Forward(k) => (k, 1),
                        Pass::Backward(k) => (k, -1),
                    };
                    *seen.entry((batch, change)).or_insert(0) += 1;
                    open += change;
                    most = most.max(open);
                    assert!(open >= 0);
                }
                // Each micro-batch passes once each way.
                assert_eq!((open, passes.len(), seen.len()), (0, 2 * m, 2 * m));
                most as usize
            };
            assert_eq!(most(Schedule::Gpipe), m);
            assert_eq!(most(Schedule::OneForwardOneBackward), m.min(p - stage));
        }
    }
}

#[test]
fn messages_go_to_the_rank_of_their_place_and_iterations_follow_each_other() {
    // Six hosts in three stages of two: 0 1 | 2 3 | 4 5.
    let keys = Pipeline { stages: Some(3), iterations: 2, ..pipeline(Schedule::OneForwardOneBackward, 4) };
    let traffic = of(keys, 6);
    let mut pairs: BTreeMap<(u16, u16, u64, Option<CoflowId>), u32> = BTreeMap::new();
    for flow in traffic.flows.iter() {
        *pairs.entry((flow.src.0, flow.dst.0, flow.size.unwrap(), flow.coflow)).or_default() += 1;
    }
    let mut expected = BTreeMap::new();
    for coflow in [0, 1].map(CoflowId::new) {
        for low in 0..4 {
            expected.insert((low, low + 2, 1_000, coflow), 4);
            expected.insert((low + 2, low, 400, coflow), 4);
        }
    }
    assert_eq!(pairs, expected);
    let computed = played(&traffic, 0);
    assert_eq!(last(&computed), 2 * (4 + 3 - 1) * (F + B));
    // No host computes twice at a time.
    let mut of_host: BTreeMap<u16, Vec<[u64; 2]>> = BTreeMap::new();
    for (Step { host, .. }, own) in traffic.steps.iter().zip(computed) {
        of_host.entry(host.0).or_default().push(own);
    }
    for own in of_host.values_mut() {
        own.sort_unstable();
        assert!(own.windows(2).all(|pair| pair[0][1] <= pair[1][0]));
        assert_eq!(own.len(), 16);
    }
}

#[test]
fn a_pipeline_needs_two_ranks_and_equal_stages() {
    let network = Network::new();
    let refused = |keys: Pipeline, hosts: &[u16]| {
        let hosts: Vec<HostId> = hosts.iter().copied().map(HostId).collect();
        let site = WorkloadContext { hosts: &hosts, ..network.site() };
        traffic(&App::Pipeline(keys), &site).unwrap_err()
    };
    let keys = pipeline(Schedule::Gpipe, 8);
    let found = refused(Pipeline { stages: Some(4), ..keys }, &[0, 1, 2, 3, 4, 5]);
    assert_eq!(found, AppError::Stages { ranks: 6, stages: 4 });
    assert_eq!(found.key(), "stages");
    assert_eq!(
        refused(Pipeline { stages: Some(8), ..keys }, &[0, 1]),
        AppError::Stages { ranks: 2, stages: 8 }
    );
    assert_eq!(refused(keys, &[3]), AppError::PipelineRanks(1));
    assert_eq!(refused(keys, &[3, 4, 3]), AppError::PipelineRanks(3));
    assert_eq!(refused(Pipeline { activations: 1 << 48, ..keys }, &[0, 1]), AppError::Size(1 << 48));
    let many = Pipeline { iterations: 1_000_000, ..keys };
    assert_eq!(refused(many, &[0, 1, 2, 3]), AppError::TooMany);
}

//! The first flows of lists whose flows and steps depend on each other.

use priolane_core::units::Span;
use priolane_sim::dependencies::{FlowDependency, Predecessor, Step, StepId, Work};

use super::*;

/// Up to three flows below `flows` and steps below `steps`, each once.
fn drawn(random: &mut Stream, flows: u32, steps: u32) -> Vec<Predecessor> {
    let work = |random: &mut Stream| match random.below(u64::from(flows + steps)) as u32 {
        flow if flow < flows => Work::Flow(FlowId(flow)),
        step => Work::Step(StepId(step - flows)),
    };
    let mut after: Vec<Work> = (0..random.below(4)).map(|_| work(random)).collect();
    after.sort_unstable();
    after.dedup();
    after.into_iter().map(|work| Predecessor { work, delay: Span(7) }).collect()
}

/// A random list in which flows depend on any others and on steps, and steps on flows and on earlier steps.
fn random_traffic(random: &mut Stream) -> Traffic {
    let len = 1 + random.below(12) as u32;
    let steps = random.below(6) as u32;
    let flow = |id| FlowSpec::new(FlowId(id), (HostId(0), HostId(1)), Some(1));
    let mut waits = Vec::new();
    for id in 0..len {
        let mut after = drawn(random, len, steps);
        after.retain(|other| other.work != Work::Flow(FlowId(id)));
        if !after.is_empty() {
            waits.push(FlowDependency { flow: FlowId(id), after, until: None });
        }
    }
    let step = |number| {
        let mut after = drawn(random, len, number);
        if after.is_empty() {
            after = Predecessor::flows([FlowId(0)], Span(7));
        }
        Step { group: 0, host: HostId(0), start: Time::ZERO, takes: Span(1), after }
    };
    let steps = (0..steps).map(step).collect();
    Traffic { flows: (0..len).map(flow).collect(), waits, steps, paths: Vec::new() }
}

/// Whether any of the first `count` flows leads to `work` through steps alone.
fn is_bound(traffic: &Traffic, count: usize, work: Work) -> bool {
    match work {
        Work::Flow(flow) => flow.index() < count,
        Work::Step(step) => {
            traffic.steps[step.index()].after.iter().any(|first| is_bound(traffic, count, first.work))
        }
    }
}

#[test]
fn a_prefix_keeps_the_dependencies_within_it_and_no_others() {
    let mut random = Stream::new(1, Purpose::Endpoint, 0);
    for _ in 0..priolane_rounds::rounds(2_000, 100_000) {
        let whole = random_traffic(&mut random);
        let count = random.below(whole.flows.len() as u64 + 3) as usize;
        let mut part = whole.clone();
        part.truncate(count);
        assert_eq!(part.flows.len(), count.min(whole.flows.len()));
        let kept = |after: &[Predecessor]| -> Vec<Predecessor> {
            after.iter().filter(|first| is_bound(&whole, count, first.work)).copied().collect()
        };
        let mut expected = Vec::new();
        for wait in whole.waits.iter().filter(|wait| wait.flow.index() < count) {
            let after = kept(&wait.after);
            if !after.is_empty() {
                expected.push(FlowDependency { after, ..wait.clone() });
            }
        }
        assert_eq!(part.waits, expected);
        let steps: Vec<Step> =
            whole.steps.iter().map(|step| Step { after: kept(&step.after), ..step.clone() }).collect();
        assert_eq!(part.steps, steps);
    }
}

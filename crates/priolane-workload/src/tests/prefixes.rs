//! The first flows of lists whose flows depend on each other.

use priolane_core::units::Span;
use priolane_sim::dependencies::FlowDependency;

use super::*;

/// A random list in which flows depend on any earlier or later ones.
fn random_traffic(random: &mut Stream) -> Traffic {
    let len = 1 + random.below(12) as u32;
    let flow = |id| FlowSpec::new(FlowId(id), (HostId(0), HostId(1)), Some(1));
    let mut waits = Vec::new();
    for id in 0..len {
        let mut after: Vec<FlowId> =
            (0..random.below(4)).map(|_| FlowId(random.below(u64::from(len)) as u32)).collect();
        after.sort_unstable();
        after.dedup();
        after.retain(|&other| other != FlowId(id));
        if !after.is_empty() {
            waits.push(FlowDependency { flow: FlowId(id), after, delay: Span(7), until: None });
        }
    }
    Traffic { flows: (0..len).map(flow).collect(), waits, paths: Vec::new() }
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
        let pairs = |traffic: &Traffic| -> Vec<(FlowId, FlowId)> {
            let of = |wait: &FlowDependency| -> Vec<_> {
                wait.after.iter().map(|&first| (wait.flow, first)).collect()
            };
            traffic.waits.iter().flat_map(of).collect()
        };
        let inside = |&(flow, first): &(FlowId, FlowId)| flow.index() < count && first.index() < count;
        assert_eq!(pairs(&part), pairs(&whole).into_iter().filter(inside).collect::<Vec<_>>());
        assert!(part.waits.iter().all(|wait| !wait.after.is_empty() && wait.delay == Span(7)));
    }
}

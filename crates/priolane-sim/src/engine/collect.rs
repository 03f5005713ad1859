//! Collects the outcome of a run from its nodes, for both engines.

use priolane_core::ids::NodeId;
use priolane_core::packet::Body;
use priolane_core::units::Time;

use super::network::Network;
use crate::device::fabric::Fabric;
use crate::observe::collector::Collector;
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::{Outcome, RunError};

/// Returns the outcome of a run that ended `at` an instant, from the nodes and logs of all parts and the additions of
/// `engine`.
pub(crate) fn collect<B: Body>(
    parts: &mut [&mut Network<B>],
    fabric: &Fabric,
    at: Time,
    logs: Vec<FlowLog>,
    engine: &mut dyn FnMut(&mut Collector),
) -> Result<Outcome, RunError> {
    let mut collector = Collector::new(fabric.scenario, logs);
    for node in (0..fabric.scenario.topology.nodes() as u32).map(NodeId) {
        let (group, i) = parts[fabric.partition.part_of(node)].at(node);
        group.finish(i, fabric, at, &mut collector);
    }
    engine(&mut collector);
    let mut outcome = collector.into_outcome();
    outcome.stopped_at = at;
    outcome.ledger.check(at)?;
    Ok(outcome)
}

//! The outcome of a run, gathered from its nodes: the same for both engines.

use priolane_core::ids::NodeId;
use priolane_core::packet::Body;
use priolane_core::units::Time;

use super::network::Network;
use crate::node::collector::Collector;
use crate::node::fabric::Fabric;
use crate::outcome::{Outcome, RunError};

/// Asks the nodes of all parts for what they leave and adds what was on links.
pub(crate) fn collect<B: Body>(
    parts: &mut [&mut Network<B>],
    fabric: &mut Fabric,
    at: Time,
    engine: &mut dyn FnMut(&mut Collector),
) -> Result<Outcome, RunError> {
    let fates = std::mem::take(&mut fabric.fates);
    let mut collector = Collector::new(fabric.scenario, fates);
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

//! The network of a scenario as a testbed.

use std::collections::BTreeSet;

use priolane_core::ids::{LinkId, NodeId};
use priolane_lab::plan::Run;
use priolane_linux::network::{Cable, Network, Node};
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::Topology;
use priolane_source::InputError;

use super::refusals::error;
use super::scale::ns;
use super::switch_port::Ports;

/// The network at this scale, what its switches are, and in what its ports differ. Without `ports` its switches are not made here.
///
/// # Errors
/// A port that the switches cannot be.
pub(super) fn network(
    run: &Run,
    scenario: &ScenarioSpec,
    (scale, ports): (u64, Option<&Ports<'_>>),
) -> Result<(Network, Vec<String>), InputError> {
    let topology = &scenario.topology;
    let mut differences = BTreeSet::new();
    let mut cables = Vec::with_capacity(topology.links.len() / 2);
    // Both directions of a cable are neighbours.
    for (cable, pair) in topology.links.chunks_exact(2).enumerate() {
        let [there, back] = [&pair[0], &pair[1]];
        if (there.rate, there.delay) != (back.rate, back.delay) {
            let what = "a line has another rate or delay in one direction than in the other";
            return Err(error(run, "topology", what, "the same in both"));
        }
        let ends = [there.from, there.to].map(|node| node_of(topology, node));
        let mut made = [None, None];
        for (end, node) in ends.iter().enumerate() {
            if let (Node::Switch(_), Some(ports)) = (node, ports) {
                made[end] = Some(ports.port(LinkId((2 * cable + end) as u32), &mut differences)?);
            }
        }
        let rate_bps = there.rate.bps() / scale;
        cables.push(Cable { ends, rate_bps, delay_ns: ns(there.delay, scale), ports: made });
    }
    let count = |nodes: u32| u16::try_from(nodes).unwrap_or(u16::MAX);
    let network = Network { hosts: count(topology.hosts), switches: count(topology.switches), cables };
    Ok((network, ports.map(Ports::note).into_iter().chain(differences).collect()))
}

fn node_of(topology: &Topology, node: NodeId) -> Node {
    match node.0.checked_sub(topology.hosts) {
        Some(switch) => Node::Switch(switch as u16),
        None => Node::Host(node.0 as u16),
    }
}

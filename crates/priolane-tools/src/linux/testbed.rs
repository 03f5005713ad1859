//! The network of a scenario as a testbed.

use std::collections::BTreeSet;

use priolane_core::ids::NodeId;
use priolane_core::port::{Buffer, Scope, SharedBuffer};
use priolane_core::units::Limit;
use priolane_lab::plan::Run;
use priolane_linux::network::{Cable, Network, Node};
use priolane_linux::port::Port;
use priolane_sim::scenario::{PortSpec, ScenarioSpec};
use priolane_sim::topology::Topology;
use priolane_source::InputError;

use super::refusals::error;
use super::scale::ns;

/// The network at this scale, and in what its ports differ.
///
/// # Errors
/// A port that the kernel switch cannot be.
pub(super) fn network(
    run: &Run,
    scenario: &ScenarioSpec,
    scale: u64,
) -> Result<(Network, Vec<String>), InputError> {
    let topology = &scenario.topology;
    let mut differences = BTreeSet::new();
    let mut cables = Vec::with_capacity(topology.links.len() / 2);
    // Both directions of a cable are neighbours.
    for (pair, ports) in topology.links.chunks_exact(2).zip(scenario.ports.chunks_exact(2)) {
        let [there, back] = [&pair[0], &pair[1]];
        if (there.rate, there.delay) != (back.rate, back.delay) {
            let what = "a line has another rate or delay in one direction than in the other";
            return Err(error(run, "topology", what, "the same in both"));
        }
        let ends = [there.from, there.to].map(|node| node_of(topology, node));
        let mut made = [None, None];
        for (end, (node, spec)) in ends.iter().zip(ports).enumerate() {
            if matches!(node, Node::Switch(_)) {
                made[end] = Some(port(run, (spec, scenario.switch.memory), &mut differences)?);
            }
        }
        let rate_bps = there.rate.bps() / scale;
        cables.push(Cable { ends, rate_bps, delay_ns: ns(there.delay, scale), ports: made });
    }
    let count = |nodes: u32| u16::try_from(nodes).unwrap_or(u16::MAX);
    let network = Network { hosts: count(topology.hosts), switches: count(topology.switches), cables };
    Ok((network, differences.into_iter().collect()))
}

fn port(
    run: &Run,
    (spec, memory): (&PortSpec, Option<SharedBuffer>),
    differences: &mut BTreeSet<String>,
) -> Result<Port, InputError> {
    let own = own_room(&spec.buffer, memory);
    let port = Port::of(&spec.discipline, &own).map_err(|unfit| {
        let key = format!("scheme.{}.port", run.scheme);
        error(
            run,
            &key,
            unfit.what,
            "a scheme whose ports are fifo, strict or wfq (--scheme), or `priolane run`",
        )
    })?;
    differences.extend(port.differences(&own));
    if let Some(SharedBuffer { size, .. }) = memory {
        differences.insert(format!(
            "a buffer of {size} B that the ports of a switch share in the simulator; here each queue has what one queue may \
             hold alone"
        ));
    }
    Ok(port)
}

/// The buffer of a port whose switch has no memory that ports share: each queue has what it may hold if it is the only one,
/// alpha B / (1 + alpha).
fn own_room(buffer: &Buffer, memory: Option<SharedBuffer>) -> Buffer {
    let Some(SharedBuffer { size, alpha }) = memory else { return *buffer };
    let (alpha, one) = alpha.parts();
    let alone = u128::from(size) * u128::from(alpha) / (u128::from(alpha) + u128::from(one));
    let limit = Limit::Bytes(u64::try_from(alone).unwrap_or(u64::MAX));
    Buffer { limit, limit_scope: Scope::Queue, ..*buffer }
}

fn node_of(topology: &Topology, node: NodeId) -> Node {
    match node.0.checked_sub(topology.hosts) {
        Some(switch) => Node::Switch(switch as u16),
        None => Node::Host(node.0 as u16),
    }
}

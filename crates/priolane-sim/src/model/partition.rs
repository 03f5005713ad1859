//! Partition of a network among the threads of a run.
//!
//! ```text
//! weight   of a host: packets that its flows send and receive; of a switch: packets that pass it, as if flows were
//!          spread evenly over equal paths
//! racks    in their order, so that pods stay together, cut where the cumulative weight passes k / parts
//! others   a switch whose neighbours are all in one part belongs to it; the rest, heaviest first, each to the part
//!          with the least weight
//! ```
//!
//! The outcome of a run does not depend on the partition.

use priolane_core::ids::{HostId, NodeId};

use crate::model::scenario::Scenario;
use crate::model::topology::Topology;

/// Maximum number of parts.
pub(crate) const MOST: usize = 64;

/// The part of each node.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    parts: usize,
    /// Part by node; empty if there is only one part.
    of_node: Vec<u8>,
}

impl Partition {
    /// All nodes in one part.
    pub(crate) const WHOLE: Self = Self { parts: 1, of_node: Vec::new() };

    /// Creates at most `parts` parts of about equal weight; fewer if there are fewer racks.
    pub(crate) fn of(scenario: &Scenario, parts: usize) -> Self {
        let topology = &scenario.topology;
        let parts = parts.min(topology.racks as usize).min(MOST);
        if parts < 2 {
            return Self::WHOLE;
        }
        let weights = weights(scenario);
        let mut of_node = vec![0; topology.nodes()];
        let mut sums = vec![0.0; parts];
        racks(topology, &weights, &mut of_node, &mut sums);
        upper(topology, &weights, &mut of_node, &mut sums);
        Self { parts, of_node }
    }

    /// Returns the number of parts, at least one.
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// Returns the part of `node`.
    pub(crate) fn part_of(&self, node: NodeId) -> usize {
        self.of_node.get(node.index()).map_or(0, |&part| usize::from(part))
    }
}

/// Returns the approximate number of packets that pass each node.
fn weights(scenario: &Scenario) -> Vec<f64> {
    let topology = &scenario.topology;
    // Endless flows and flows without bytes have a weight too.
    let mut weights = vec![1.0; topology.nodes()];
    let mut climbing = 0.0;
    for flow in &scenario.flows {
        let bytes = flow.size.unwrap_or(1_000_000).max(1) as f64;
        for host in [flow.src, flow.dst] {
            weights[topology.node_of(host).index()] += bytes;
            weights[rack_node(topology, host)] += bytes / 2.0;
        }
        if topology.rack[flow.src.index()] != topology.rack[flow.dst.index()] {
            climbing += bytes;
        }
    }
    let first_upper = (topology.hosts + topology.racks) as usize;
    let uppers = (topology.nodes() - first_upper).max(1) as f64;
    weights[first_upper..].iter_mut().for_each(|weight| *weight += climbing / uppers);
    weights
}

fn rack_node(topology: &Topology, host: HostId) -> usize {
    (topology.hosts + topology.rack[host.index()]) as usize
}

/// Divides the sequence of racks into parts with at least one rack each.
fn racks(topology: &Topology, weights: &[f64], of_node: &mut [u8], sums: &mut [f64]) {
    let first = topology.hosts as usize;
    let racks = topology.racks as usize;
    let mut of_rack: Vec<f64> = weights[first..first + racks].to_vec();
    for (host, &rack) in topology.rack.iter().enumerate() {
        of_rack[rack as usize] += weights[host];
    }
    let total: f64 = of_rack.iter().sum();
    let parts = sums.len();
    let mut before = 0.0;
    let mut least = 0;
    let mut part_of_rack = vec![0; racks];
    for (rack, &weight) in of_rack.iter().enumerate() {
        // By the middle of its weight, but no part stays without a rack.
        let fair = ((before + weight / 2.0) / total * parts as f64) as usize;
        let left = racks - rack;
        let part = fair.clamp(least, (least + 1).min(parts - 1)).max(parts.saturating_sub(left));
        let part = if rack == 0 { 0 } else { part };
        least = part;
        before += weight;
        sums[part] += weight;
        part_of_rack[rack] = part as u8;
        of_node[first + rack] = part as u8;
    }
    for (host, &rack) in topology.rack.iter().enumerate() {
        of_node[host] = part_of_rack[rack as usize];
    }
}

/// Assigns the switches above racks to parts.
fn upper(topology: &Topology, weights: &[f64], of_node: &mut [u8], sums: &mut [f64]) {
    let first = (topology.hosts + topology.racks) as usize;
    // Bit p is set if a neighbouring rack is in part p.
    let mut beside = vec![0_u64; topology.nodes()];
    for link in &topology.links {
        let (from, to) = (link.from.index(), link.to.index());
        if from < first && to >= first {
            beside[to] |= 1 << of_node[from];
        }
    }
    let mut rest = Vec::new();
    for node in first..topology.nodes() {
        if beside[node].count_ones() == 1 {
            let part = beside[node].trailing_zeros() as usize;
            of_node[node] = part as u8;
            sums[part] += weights[node];
        } else {
            rest.push(node);
        }
    }
    rest.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    for node in rest {
        let lightest = (0..sums.len()).min_by(|&a, &b| sums[a].total_cmp(&sums[b])).unwrap_or(0);
        of_node[node] = lightest as u8;
        sums[lightest] += weights[node];
    }
}

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

#[cfg(test)]
mod tests {
    use priolane_core::endpoint::FlowSpec;
    use priolane_core::ids::FlowId;
    use priolane_core::packet::Frame;
    use priolane_core::port::{Buffer, DisciplineSpec, FifoSpec};
    use priolane_core::rng::{Purpose, Stream};
    use priolane_core::transport::{Controller, Transport, new_reno, window};
    use priolane_core::units::{Rate, Span, Time};

    use super::*;
    use crate::model::scenario::{PortSpec, ScenarioSpec, Stop};
    use crate::model::topology::{FatTree, LeafSpine, LinkSpec};

    fn scenario(topology: Topology, pairs: &[(u16, u16, u64)]) -> Scenario {
        let flow = |(id, &(src, dst, bytes)): (usize, &(u16, u16, u64))| {
            FlowSpec::new(FlowId(id as u32), (HostId(src), HostId(dst)), Some(bytes))
        };
        let flows: Vec<FlowSpec> = pairs.iter().enumerate().map(flow).collect();
        let port = PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer: Buffer::UNLIMITED };
        let ports = vec![port; topology.links.len()];
        let transport = Transport::Window {
            window: window::Config::new(Frame::ETHERNET),
            controller: Controller::NewReno(new_reno::Config { init_window: None }),
            scheduler: priolane_core::host::SchedulerKind::RoundRobin,
        };
        let spec = ScenarioSpec::new(topology, ports, transport, flows.into(), Stop::At(Time(1)));
        spec.build().expect("the invariants hold")
    }

    fn link() -> LinkSpec {
        LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(1))
    }

    fn leaf_spine(leaves: u32) -> Topology {
        LeafSpine {
            leaves,
            spines: 3,
            hosts_per_leaf: 2,
            host_link: link(),
            fabric_link: link(),
            links_per_pair: 1,
        }
        .build()
        .unwrap()
    }

    /// The parts of racks by the rule at the top: the part in which the middle of a rack's weight lies, but none without a
    /// rack.
    fn parts_of_racks(weights: &[f64], parts: usize) -> Vec<usize> {
        let total: f64 = weights.iter().sum();
        let mut found: Vec<usize> = Vec::new();
        for (rack, &weight) in weights.iter().enumerate() {
            let middle = weights[..rack].iter().sum::<f64>() + weight / 2.0;
            let mut part = (middle / total * parts as f64) as usize;
            let last = found.last().copied();
            part = part.min(last.map_or(0, |last| last + 1)).min(parts - 1);
            part = part.max(last.unwrap_or(0));
            // The racks that are left suffice for the parts that are left.
            part = part.max(parts.saturating_sub(weights.len() - rack));
            found.push(part);
        }
        found
    }

    #[test]
    fn racks_are_cut_where_their_bytes_say_and_no_part_is_without_one() {
        let mut draw = Stream::new(5, Purpose::Ties, 0);
        for _ in 0..60 {
            let leaves = 2 + draw.below(7) as u32;
            let hosts = u64::from(2 * leaves);
            let mut pairs = Vec::new();
            for _ in 0..1 + draw.below(30) {
                let src = draw.below(hosts);
                let dst = (src + 1 + draw.below(hosts - 1)) % hosts;
                pairs.push((src as u16, dst as u16, 1_000_000 * (1 + draw.below(50))));
            }
            let scenario = scenario(leaf_spine(leaves), &pairs);
            // A rack has its hosts' bytes and half of them again for its switch; a byte or so for each node itself.
            let mut weights = vec![3.0; leaves as usize];
            for &(src, dst, bytes) in &pairs {
                weights[usize::from(src / 2)] += 1.5 * bytes as f64;
                weights[usize::from(dst / 2)] += 1.5 * bytes as f64;
            }
            for parts in 2..=leaves as usize {
                let partition = Partition::of(&scenario, parts);
                assert_eq!(partition.parts(), parts);
                let rack = |rack: u32| partition.part_of(NodeId(2 * leaves + rack));
                let found: Vec<usize> = (0..leaves).map(rack).collect();
                assert_eq!(found, parts_of_racks(&weights, parts), "{pairs:?}");
                for host in 0..2 * leaves {
                    assert_eq!(partition.part_of(NodeId(host)), rack(host / 2));
                }
                assert!((0..parts).all(|part| found.contains(&part)), "{found:?}");
            }
        }
    }

    #[test]
    fn spines_go_to_the_part_that_has_least_to_do() {
        // The first rack sends 9 MB to its own host: its part has 27 MB of hosts and switch. The two flows between racks
        // give each of three spines (1 + 1) / 3 MB, and the part of the others 6 MB in all.
        let mb = 1_000_000;
        let scenario = scenario(leaf_spine(2), &[(0, 1, 9 * mb), (2, 0, mb), (0, 3, mb)]);
        let partition = Partition::of(&scenario, 2);
        let spines = (0..3).map(|spine| partition.part_of(NodeId(4 + 2 + spine)));
        assert_eq!(spines.collect::<Vec<_>>(), [1, 1, 1]);
        let even = self::scenario(leaf_spine(2), &[(0, 2, mb)]);
        let partition = Partition::of(&even, 2);
        let spines = (0..3).map(|spine| partition.part_of(NodeId(4 + 2 + spine)));
        assert_eq!(spines.collect::<Vec<_>>(), [0, 1, 0]);
    }

    #[test]
    fn a_switch_whose_racks_are_in_one_part_is_there_too() {
        let tree = FatTree { k: 4, host_link: link(), fabric_link: link() }.build().unwrap();
        let pairs: Vec<(u16, u16, u64)> = (0..16).map(|i| (i, (i + 5) % 16, 1_000_000)).collect();
        let scenario = scenario(tree, &pairs);
        let partition = Partition::of(&scenario, 4);
        let topology = &scenario.topology;
        let mut sizes = [0; 4];
        for node in 16..topology.nodes() as u32 {
            let node = NodeId(node);
            sizes[partition.part_of(node)] += 1;
            let neighbours: Vec<NodeId> =
                topology.links.iter().filter(|l| l.to == node && l.from.0 < 24).map(|l| l.from).collect();
            // Aggregation switches are beside the two edge switches of their pod only.
            if node.0 >= 24 && !neighbours.is_empty() {
                assert!(neighbours.iter().all(|&n| partition.part_of(n) == partition.part_of(node)));
            }
        }
        // Two edge and two aggregation switches of a pod, and one of the four cores.
        assert_eq!(sizes, [5; 4]);
    }

    #[test]
    fn there_are_no_more_parts_than_racks_and_one_part_has_all() {
        let scenario = scenario(leaf_spine(3), &[(0, 5, 1)]);
        assert_eq!(Partition::of(&scenario, 9).parts(), 3);
        for parts in [0, 1] {
            let partition = Partition::of(&scenario, parts);
            assert_eq!((partition.parts(), partition.part_of(NodeId(7))), (1, 0));
        }
    }
}

//! Two tiers: leaf and spine switches; each leaf is linked to each spine.

use priolane_core::keys::{InTable, Keys};
use priolane_core::part::Part;

use super::error::{Problem, TopologyError};
use super::graph::{Graph, LinkSpec, Size};
use super::network::NodeKind;
use super::network::Topology;

/// A leaf-spine network: hosts `h0..`, host `h` on `leaf(h / hosts_per_leaf)`; switches `leaf0..`, `spine0..`.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "leaf_spine")]
#[part(
    name = "leaf_spine",
    summary = "leaf and spine switches; each leaf is linked to each spine",
    source = "docs/experiments.md"
)]
pub struct LeafSpine {
    /// Number of leaf switches, at least 1.
    #[key(required = "leaves = 4", range = "[1, 4294967295]")]
    pub leaves: u32,
    /// Number of spine switches, at least 1.
    #[key(required = "spines = 3", range = "[1, 4294967295]")]
    pub spines: u32,
    /// Hosts on each leaf, at least 1.
    #[key(required = "hosts_per_leaf = 30", range = "[1, 4294967295]", group = "hosts_per_leaf")]
    pub hosts_per_leaf: u32,
    /// Parallel links between each leaf and each spine, at least 1; usually 1.
    #[key(default = 1, range = "[1, 1000]")]
    pub links_per_pair: u32,
    /// The link of each host.
    #[key(required = "host_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable, group = "host_link")]
    pub host_link: LinkSpec,
    /// Each link between a leaf and a spine.
    #[key(required = "fabric_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable, group = "fabric_link")]
    pub fabric_link: LinkSpec,
}

impl LeafSpine {
    /// Builds the topology; fails if a number is out of range.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let mut graph = Graph::sized(self.size()?)?;
        let hosts = graph.row(NodeKind::Host, "h", self.leaves * self.hosts_per_leaf)?;
        let leaves = graph.row(NodeKind::Switch, "leaf", self.leaves)?;
        let spines = graph.row(NodeKind::Switch, "spine", self.spines)?;
        for (rack, &leaf) in hosts.chunks(self.hosts_per_leaf as usize).zip(&leaves) {
            for &host in rack {
                graph.link(host, leaf, self.host_link)?;
            }
        }
        for &leaf in &leaves {
            for &spine in &spines {
                for _ in 0..self.links_per_pair {
                    graph.link(leaf, spine, self.fabric_link)?;
                }
            }
        }
        Ok(graph.build()?)
    }

    fn size(&self) -> Result<Size, Problem> {
        let named = [
            ("leaves", self.leaves),
            ("spines", self.spines),
            ("hosts_per_leaf", self.hosts_per_leaf),
            ("links_per_pair", self.links_per_pair),
        ];
        if let Some((field, _)) = named.into_iter().find(|(_, value)| *value == 0) {
            return Err(Problem::Zero { field });
        }
        let [leaves, spines, hosts_per_leaf, parallel] = named.map(|(_, value)| u64::from(value));
        let hosts = leaves * hosts_per_leaf;
        let fabric = (leaves * spines).saturating_mul(parallel);
        Ok(Size { hosts, switches: leaves + spines, links: fabric.saturating_add(hosts) })
    }
}

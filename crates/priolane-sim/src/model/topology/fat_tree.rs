//! Three tiers of switches with `k` ports each (Al-Fares et al., SIGCOMM 2008, §3.1).
//!
//! With `r = k / 2`: `k` pods of `r` edge and `r` aggregation switches, `r` hosts per edge switch, `r^2` core
//! switches. Aggregation switch `j` of each pod is linked to cores `j r .. j r + r`.

use priolane_core::keys::{InTable, Keys};
use priolane_core::part::Part;

use super::error::{Problem, TopologyError};
use super::graph::{Graph, LinkSpec, Size};
use super::network::NodeKind;
use super::network::Topology;

/// A fat-tree: hosts `h0..`, host `h` on `edge(h / (k/2))`; switches `edge0..`, `agg0..`, `core0..`.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "fat_tree")]
#[part(
    name = "fat_tree",
    summary = "three tiers of switches with k ports",
    source = "Al-Fares et al. (SIGCOMM 2008) §3.1"
)]
pub struct FatTree {
    /// Number of ports per switch, even, 2 to 64; there are `k^3 / 4` hosts.
    #[key(required = "k = 4", range = "[1, 4294967295]")]
    pub k: u32,
    /// The link of each host.
    #[key(required = "host_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable, group = "host_link")]
    pub host_link: LinkSpec,
    /// Each link between switches.
    #[key(required = "fabric_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable, group = "fabric_link")]
    pub fabric_link: LinkSpec,
}

impl FatTree {
    /// Builds the topology; fails if a number is out of range.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        if !(2..=64).contains(&self.k) || !self.k.is_multiple_of(2) {
            return Err(Problem::FatTreeArity { k: self.k }.into());
        }
        let (k, r) = (u64::from(self.k), self.k as usize / 2);
        let hosts = k * k * k / 4;
        let mut graph = Graph::sized(Size { hosts, switches: 5 * k * k / 4, links: 3 * hosts })?;
        let hosts = graph.row(NodeKind::Host, "h", hosts as u32)?;
        let edges = graph.row(NodeKind::Switch, "edge", self.k * self.k / 2)?;
        let aggs = graph.row(NodeKind::Switch, "agg", self.k * self.k / 2)?;
        let cores = graph.row(NodeKind::Switch, "core", self.k * self.k / 4)?;
        for (rack, &edge) in hosts.chunks(r).zip(&edges) {
            for &host in rack {
                graph.link(host, edge, self.host_link)?;
            }
        }
        for (edges, aggs) in edges.chunks(r).zip(aggs.chunks(r)) {
            for &edge in edges {
                for &agg in aggs {
                    graph.link(edge, agg, self.fabric_link)?;
                }
            }
        }
        for pod in aggs.chunks(r) {
            for (&agg, cores) in pod.iter().zip(cores.chunks(r)) {
                for &core in cores {
                    graph.link(agg, core, self.fabric_link)?;
                }
            }
        }
        Ok(graph.build()?)
    }
}

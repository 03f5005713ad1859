//! Three tiers of configurable sizes: pods of leaf and aggregation switches, connected by core switches in planes.
//!
//! Every leaf is linked to every aggregation switch of its pod. With `c = cores / aggs_per_pod`, aggregation switch
//! `j` of each pod is linked to the `c` cores of plane `j`: `j c .. j c + c`. With `k` pods of `k / 2` leaves and as
//! many aggregation switches, `k / 2` hosts on each leaf and `k^2 / 4` cores it is the fat-tree. With other numbers
//! and rates, a tier may be oversubscribed (docs/assumptions.md#core-planes).

use priolane_core::keys::{InTable, Keys};
use priolane_core::part::Part;

use super::error::{Problem, TopologyError};
use super::graph::{Graph, LinkSpec, Size};
use super::network::NodeKind;
use super::network::Topology;

/// A three-tier network with hosts `h0..`, those of a leaf in sequence, and switches `leafP-I` and `aggP-I`, the
/// `I`-th of pod `P`, and `core0..`, all numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "three_tier")]
#[part(
    name = "three_tier",
    summary = "pods of leaf and aggregation switches, connected by core switches",
    source = "docs/assumptions.md#core-planes"
)]
pub struct ThreeTier {
    /// Number of pods, at least 1.
    #[key(required = "pods = 4", range = "[1, 4294967295]")]
    pub pods: u32,
    /// Leaf switches of each pod, at least 1.
    #[key(required = "leaves_per_pod = 4", range = "[1, 4294967295]")]
    pub leaves_per_pod: u32,
    /// Aggregation switches of each pod, at least 1.
    #[key(required = "aggs_per_pod = 2", range = "[1, 4294967295]")]
    pub aggs_per_pod: u32,
    /// Number of core switches, a multiple of `aggs_per_pod`.
    #[key(required = "cores = 8", range = "[1, 4294967295]")]
    pub cores: u32,
    /// Hosts on each leaf, at least 1.
    #[key(required = "hosts_per_leaf = 16", range = "[1, 4294967295]", group = "hosts_per_leaf")]
    pub hosts_per_leaf: u32,
    /// The link of each host.
    #[key(required = "host_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable, group = "host_link")]
    pub host_link: LinkSpec,
    /// Each link between a leaf and an aggregation switch.
    #[key(required = "pod_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable)]
    pub pod_link: LinkSpec,
    /// Each link between an aggregation and a core switch.
    #[key(required = "core_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable)]
    pub core_link: LinkSpec,
}

impl ThreeTier {
    /// Builds the topology; fails if a number is out of range.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let mut graph = Graph::sized(self.size()?)?;
        let leaves = self.pods * self.leaves_per_pod;
        let hosts = graph.row(NodeKind::Host, "h", leaves * self.hosts_per_leaf)?;
        let mut pods = |tier: &str, count: u32| -> Result<Vec<_>, Problem> {
            (0..self.pods).map(|p| graph.row(NodeKind::Switch, &format!("{tier}{p}-"), count)).collect()
        };
        let leaves = pods("leaf", self.leaves_per_pod)?;
        let aggs = pods("agg", self.aggs_per_pod)?;
        let cores = graph.row(NodeKind::Switch, "core", self.cores)?;
        for (rack, &leaf) in hosts.chunks(self.hosts_per_leaf as usize).zip(leaves.iter().flatten()) {
            for &host in rack {
                graph.link(host, leaf, self.host_link)?;
            }
        }
        for (leaves, aggs) in leaves.iter().zip(&aggs) {
            for &leaf in leaves {
                for &agg in aggs {
                    graph.link(leaf, agg, self.pod_link)?;
                }
            }
        }
        let planes = (self.cores / self.aggs_per_pod) as usize;
        for pod in &aggs {
            for (&agg, plane) in pod.iter().zip(cores.chunks(planes)) {
                for &core in plane {
                    graph.link(agg, core, self.core_link)?;
                }
            }
        }
        Ok(graph.build()?)
    }

    fn size(&self) -> Result<Size, Problem> {
        let named = [
            ("pods", self.pods),
            ("leaves_per_pod", self.leaves_per_pod),
            ("aggs_per_pod", self.aggs_per_pod),
            ("cores", self.cores),
            ("hosts_per_leaf", self.hosts_per_leaf),
        ];
        if let Some((field, _)) = named.into_iter().find(|(_, value)| *value == 0) {
            return Err(Problem::Zero { field });
        }
        if !self.cores.is_multiple_of(self.aggs_per_pod) {
            return Err(Problem::CorePlanes { cores: self.cores, aggs: self.aggs_per_pod });
        }
        let [pods, leaves, aggs, cores, hosts] = named.map(|(_, value)| u64::from(value));
        let of_pods = |per_pod: u64| pods.saturating_mul(per_pod);
        let hosts = of_pods(leaves).saturating_mul(hosts);
        let links = of_pods(leaves).saturating_mul(aggs).saturating_add(of_pods(cores));
        let switches = of_pods(leaves).saturating_add(of_pods(aggs)).saturating_add(cores);
        Ok(Size { hosts, switches, links: links.saturating_add(hosts) })
    }
}

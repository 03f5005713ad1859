//! One switch with all hosts.

use priolane_core::keys::{InTable, Keys};
use priolane_core::part::Part;

use super::error::{Problem, TopologyError};
use super::graph::{Graph, LinkSpec, Size};
use super::network::NodeKind;
use super::network::Topology;

/// A star: hosts `h0..` on one switch `s0`.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "single_switch")]
#[part(
    name = "single_switch",
    summary = "one switch that connects all hosts",
    source = "docs/experiments.md"
)]
pub struct SingleSwitch {
    /// Number of hosts, 1 to 65,536.
    #[key(required = "hosts = 16", range = "[1, 4294967295]")]
    pub hosts: u32,
    /// The link of each host.
    #[key(required = "host_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable, group = "host_link")]
    pub host_link: LinkSpec,
}

impl SingleSwitch {
    /// Builds the topology; fails if a number is out of range.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        if self.hosts == 0 {
            return Err(Problem::NoHosts.into());
        }
        let hosts = u64::from(self.hosts);
        let mut graph = Graph::sized(Size { hosts, switches: 1, links: hosts })?;
        let hosts = graph.row(NodeKind::Host, "h", self.hosts)?;
        let switch = graph.node(NodeKind::Switch, "s0")?;
        for host in hosts {
            graph.link(host, switch, self.host_link)?;
        }
        Ok(graph.build()?)
    }
}

//! Two switches with hosts on each side and one bottleneck between them.

use priolane_core::keys::{InTable, Keys};
use priolane_core::part::Part;

use super::error::{Problem, TopologyError};
use super::graph::{Graph, LinkSpec, Size};
use super::network::NodeKind;
use super::network::Topology;

/// A dumbbell: switch `left` with hosts `h0..`, switch `right` with the hosts after them.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "dumbbell")]
#[part(
    name = "dumbbell",
    summary = "two switches with one bottleneck between them",
    source = "docs/experiments.md"
)]
pub struct Dumbbell {
    /// Number of hosts on the left, at least 1.
    #[key(required = "left = 8", range = "[1, 4294967295]")]
    pub left: u32,
    /// Number of hosts on the right, at least 1.
    #[key(required = "right = 8", range = "[1, 4294967295]")]
    pub right: u32,
    /// The link of each host.
    #[key(required = "host_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable, group = "host_link")]
    pub host_link: LinkSpec,
    /// The link between the switches.
    #[key(required = "bottleneck = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable)]
    pub bottleneck: LinkSpec,
}

impl Dumbbell {
    /// Builds the topology; fails if a number is out of range.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        for (field, value) in [("left", self.left), ("right", self.right)] {
            if value == 0 {
                return Err(Problem::Zero { field }.into());
            }
        }
        let hosts = u64::from(self.left) + u64::from(self.right);
        let mut graph = Graph::sized(Size { hosts, switches: 2, links: hosts + 1 })?;
        let hosts = graph.row(NodeKind::Host, "h", self.left + self.right)?;
        let left = graph.node(NodeKind::Switch, "left")?;
        let right = graph.node(NodeKind::Switch, "right")?;
        for (i, host) in hosts.into_iter().enumerate() {
            let switch = if i < self.left as usize { left } else { right };
            graph.link(host, switch, self.host_link)?;
        }
        graph.link(left, right, self.bottleneck)?;
        Ok(graph.build()?)
    }
}

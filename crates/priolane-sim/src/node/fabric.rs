//! What all nodes of a run share and none changes.

use priolane_core::ids::{LinkId, NodeId};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Span;

use super::line::Line;
use crate::scenario::Scenario;
use crate::wire::Ingress;

/// The scenario, and where each link leaves and enters.
#[derive(Debug)]
pub(crate) struct Fabric<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Place of each link among the egress links of the node it leaves.
    egress_of: Vec<u32>,
    ingress_of: Vec<Ingress>,
    /// Egress links of each node.
    pub(crate) egress_links: Vec<Vec<LinkId>>,
    /// Largest number of links that enter one node.
    pub(crate) most_ingress: u32,
}

impl<'a> Fabric<'a> {
    pub(crate) fn new(scenario: &'a Scenario) -> Self {
        let topology = &scenario.topology;
        let mut egress_links = vec![Vec::new(); topology.nodes()];
        let mut ingress_links = vec![Vec::new(); topology.nodes()];
        let mut egress_of = Vec::with_capacity(topology.links.len());
        for (i, link) in topology.links.iter().enumerate() {
            let id = LinkId(i as u32);
            egress_of.push(egress_links[link.from.index()].len() as u32);
            egress_links[link.from.index()].push(id);
            ingress_links[link.to.index()].push(id);
        }
        let mut ingress_of = vec![Ingress { node: NodeId(0), rank: 0 }; topology.links.len()];
        for (node, links) in ingress_links.iter_mut().enumerate() {
            if let Some(seed) = scenario.tie_shuffle {
                Stream::new(seed, Purpose::Ties, node as u64).shuffle(links);
            }
            for (rank, link) in links.iter().enumerate() {
                ingress_of[link.index()] = Ingress { node: NodeId(node as u32), rank: rank as u32 };
            }
        }
        let most_ingress = ingress_links.iter().map(Vec::len).max().unwrap_or(0) as u32;
        Self { scenario, egress_of, ingress_of, egress_links, most_ingress }
    }

    /// The place of `link` among the egress ports of the node it leaves.
    #[inline]
    pub(crate) fn egress_of(&self, link: LinkId) -> usize {
        self.egress_of[link.index()] as usize
    }

    /// The transmitter of `link`.
    pub(crate) fn line(&self, link: LinkId) -> Line {
        let spec = &self.scenario.topology.links[link.index()];
        let ends_at_host = spec.to.0 < self.scenario.topology.hosts;
        let extra = if ends_at_host { self.scenario.host_delay } else { Span::ZERO };
        Line::new(link, spec, self.ingress_of[link.index()], extra, self.scenario.seed)
    }
}

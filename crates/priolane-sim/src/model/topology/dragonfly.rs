//! A dragonfly (Kim et al., ISCA 2008, §3): groups of routers. Each router is linked to every other router of its
//! group, and each group to every other group.
//!
//! ```text
//! group     a routers, each linked to the a - 1 others; p hosts and h global links on each router
//! network   g <= a h + 1 groups, each pair of which has floor(a h / (g - 1)) links; balanced if a = 2 p = 2 h
//! global    link k of group G to the group d further on leaves from router (k (g - 1) + d - 1) / h
//! ```
//!
//! If `a h` is not a multiple of `g - 1`, some global ports stay free. Routes are all shortest paths in links, as in
//! every topology here. They are the paper's minimal routes (local, global, local), except where a path with two
//! global links through a third group is equally short. The paper's non-minimal routes (VAL, UGAL) are not supported.

use priolane_core::keys::{InTable, KeyConflict, Keys};
use priolane_core::part::Part;

use super::error::TopologyError;
use super::graph::{Graph, LinkSpec, Size};
use super::network::{NodeKind, Topology};

/// A dragonfly with hosts `h0..`, those of a router in sequence, and switches `rG-R`, router `R` of group `G`. It is
/// created only from keys, which are checked.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "dragonfly", check = Self::check)]
#[part(
    name = "dragonfly",
    summary = "groups of routers; each group is linked to each other group",
    source = "Kim et al. (ISCA 2008) §3"
)]
pub struct Dragonfly {
    /// Routers per group.
    #[key(required = "a = 4", range = "[1, 65536]")]
    a: u32,
    /// Hosts per router.
    #[key(required = "p = 2", range = "[1, 65536]")]
    p: u32,
    /// Global links per router.
    #[key(required = "h = 2", range = "[1, 65536]")]
    h: u32,
    /// Number of groups, at most a h + 1.
    #[key(default = a.saturating_mul(h).saturating_add(1), shown = "a h + 1", range = "[2, 4294967295]")]
    g: u32,
    /// The link of each host.
    #[key(required = "host_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable, group = "host_link")]
    host_link: LinkSpec,
    /// Each link between routers of a group.
    #[key(required = "local_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable)]
    local_link: LinkSpec,
    /// Each link between groups.
    #[key(required = "global_link = { rate = \"10Gbps\", delay = \"1us\" }", form = InTable)]
    global_link: LinkSpec,
}

impl Dragonfly {
    /// Builds the topology.
    ///
    /// # Errors
    /// More nodes or links than a topology can have.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let &Self { a, p, h, g, .. } = self;
        let mut graph = Graph::sized(self.size())?;
        let hosts = graph.row(NodeKind::Host, "h", g * a * p)?;
        let groups: Vec<Vec<_>> = (0..g)
            .map(|group| graph.row(NodeKind::Switch, &format!("r{group}-"), a))
            .collect::<Result<_, _>>()?;
        for (on_router, &router) in hosts.chunks(p as usize).zip(groups.iter().flatten()) {
            for &host in on_router {
                graph.link(host, router, self.host_link)?;
            }
        }
        for routers in &groups {
            for (i, &router) in routers.iter().enumerate() {
                for &other in &routers[i + 1..] {
                    graph.link(router, other, self.local_link)?;
                }
            }
        }
        let router = |k: u32, distance: u32| ((k * (g - 1) + distance - 1) / h) as usize;
        for k in 0..self.links_per_pair() {
            for from in 0..g {
                for to in from + 1..g {
                    let (there, back) = (router(k, to - from), router(k, g - (to - from)));
                    graph.link(groups[from as usize][there], groups[to as usize][back], self.global_link)?;
                }
            }
        }
        Ok(graph.build()?)
    }

    fn links_per_pair(&self) -> u32 {
        (self.a * self.h) / (self.g - 1)
    }

    fn size(&self) -> Size {
        let [a, p, h, g] = [self.a, self.p, self.h, self.g].map(u64::from);
        let routers = a.saturating_mul(g);
        let hosts = routers.saturating_mul(p);
        let local = routers.saturating_mul(a - 1) / 2;
        let global = (a * h / (g - 1)).saturating_mul(g.saturating_mul(g - 1) / 2);
        Size { hosts, switches: routers, links: hosts.saturating_add(local).saturating_add(global) }
    }

    fn check(&mut self) -> Result<(), KeyConflict> {
        let most = u64::from(self.a) * u64::from(self.h) + 1;
        if u64::from(self.g) <= most {
            return Ok(());
        }
        let what = format!("there are {} groups, but a group has only {} global links", self.g, most - 1);
        Err(KeyConflict::of("g", what, format!("at most {most} groups, or more routers or global links")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use priolane_core::ids::{HostId, NodeId};
    use priolane_core::units::{Rate, Span};

    use super::*;

    const LINK: LinkSpec = LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(1));

    fn dragonfly([a, p, h, g]: [u32; 4]) -> Dragonfly {
        Dragonfly { a, p, h, g, host_link: LINK, local_link: LINK, global_link: LINK }
    }

    fn group(topology: &Topology, node: NodeId) -> &str {
        topology.names[node.index()].split('-').next().unwrap()
    }

    /// Returns the number of global links by pair of groups, and of links by router.
    fn counts(topology: &Topology) -> (BTreeMap<(&str, &str), u32>, Vec<u32>) {
        let (mut pairs, mut ports) = (BTreeMap::new(), vec![0; topology.nodes()]);
        for link in &topology.links {
            ports[link.from.index()] += 1;
            let (from, to) = (group(topology, link.from), group(topology, link.to));
            if from.starts_with('r') && to.starts_with('r') && from != to {
                *pairs.entry((from, to)).or_insert(0) += 1;
            }
        }
        ports.drain(..topology.hosts as usize);
        (pairs, ports)
    }

    #[test]
    fn the_papers_example_has_72_hosts_on_routers_of_7_ports() {
        // Fig. 5: p = h = 2, a = 4, 9 groups; k = p + h + a - 1 = 7.
        let topology = dragonfly([4, 2, 2, 9]).build().unwrap();
        let (pairs, ports) = counts(&topology);
        assert_eq!((topology.hosts, topology.switches, topology.racks), (72, 36, 36));
        assert!(ports.iter().all(|&ports| ports == 7), "{ports:?}");
        // Both directions of each pair of 9 groups.
        assert_eq!((pairs.len(), pairs.values().max()), (9 * 8, Some(&1)));
    }

    #[test]
    fn routes_are_at_most_local_global_local() {
        let topology = dragonfly([4, 2, 2, 9]).build().unwrap();
        let mut longest = 0;
        for src in (0..72).map(HostId) {
            for dst in (0..72).map(HostId).filter(|&dst| dst != src) {
                let (mut at, mut links) = (topology.links[topology.uplink(src).index()].to, 0);
                while at != topology.node_of(dst) {
                    let link = topology.next_link(at, dst, 5).unwrap();
                    at = topology.links[link.index()].to;
                    links += 1;
                }
                // The last link leads to the host.
                longest = longest.max(links - 1);
            }
        }
        assert_eq!(longest, 3);
    }

    #[test]
    fn fewer_groups_share_the_global_links_evenly() {
        // 8 global links per group, 2 for each of 4 others; with 3 others 2 each, and two ports stay free.
        for (g, free) in [(5, 0), (4, 2)] {
            let topology = dragonfly([4, 1, 2, g]).build().unwrap();
            let (pairs, ports) = counts(&topology);
            assert!(pairs.values().all(|&links| links == 2) && pairs.len() as u32 == g * (g - 1));
            assert_eq!(ports.iter().sum::<u32>(), g * (4 * (1 + 2 + 3) - free));
        }
    }

    #[test]
    fn what_is_too_large_is_refused() {
        assert!(dragonfly([4, 2, 2, 9]).check().is_ok());
        let misfit = dragonfly([4, 2, 2, 10]).check().unwrap_err();
        assert_eq!(
            (misfit.key, misfit.what.as_str()),
            (Some("g"), "there are 10 groups, but a group has only 8 global links")
        );
        assert!(dragonfly([65_536, 65_536, 65_536, u32::MAX]).build().is_err());
    }
}

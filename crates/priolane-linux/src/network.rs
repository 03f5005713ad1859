//! A network as pure data: hosts, switches, and the cables between them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::port::Port;
use crate::user_port::UserPort;

/// The largest number of hosts. Each host is a process.
pub const MOST_HOSTS: u16 = 64;
/// The largest number of switches.
pub const MOST_SWITCHES: u16 = 64;

/// A host or a switch. Hosts come first in the order of nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// A host with this number, from 0.
    Host(u16),
    /// A switch with this number, from 0.
    Switch(u16),
}

/// A port of a switch. All ports of a switch are of one kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchPort {
    /// A port of a switch of the kernel.
    Kernel(Port),
    /// A port of a switch in user space.
    User(Box<UserPort>),
}

impl From<Port> for SwitchPort {
    fn from(port: Port) -> Self {
        Self::Kernel(port)
    }
}

impl From<UserPort> for SwitchPort {
    fn from(port: UserPort) -> Self {
        Self::User(Box::new(port))
    }
}

/// A cable with the ports at its ends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cable {
    /// The two nodes that the cable joins, which must differ.
    pub ends: [Node; 2],
    /// The rate in bit/s, above 0, the same in both directions.
    pub rate_bps: u64,
    /// The propagation delay in nanoseconds, the same in both directions.
    pub delay_ns: u64,
    /// The port at each end, which sends towards the other end. `None` at a host, which limits its rate itself.
    pub ports: [Option<SwitchPort>; 2],
}

/// Hosts, switches and cables.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The number of hosts, 2 to [`MOST_HOSTS`].
    pub hosts: u16,
    /// The number of switches, 1 to [`MOST_SWITCHES`].
    pub switches: u16,
    /// The cables. Each host has exactly one, to a switch.
    pub cables: Vec<Cable>,
}

/// A line from which the networks of this module are built: its rate, its delay, and the port of switches on the line.
#[derive(Clone, Debug)]
pub struct Line {
    /// The rate in bit/s.
    pub rate_bps: u64,
    /// The propagation delay in nanoseconds.
    pub delay_ns: u64,
    /// The port of a switch at an end of the line.
    pub port: SwitchPort,
}

impl Line {
    fn to_host(&self, host: u16, switch: u16) -> Cable {
        let Self { rate_bps, delay_ns, ref port } = *self;
        let ends = [Node::Host(host), Node::Switch(switch)];
        Cable { ends, rate_bps, delay_ns, ports: [None, Some(port.clone())] }
    }

    fn between(&self, a: u16, b: u16) -> Cable {
        let Self { rate_bps, delay_ns, ref port } = *self;
        let ends = [Node::Switch(a), Node::Switch(b)];
        Cable { ends, rate_bps, delay_ns, ports: [Some(port.clone()), Some(port.clone())] }
    }
}

/// The reason why a network cannot be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkError {
    /// A number of nodes is out of range.
    #[error("the network has {count} {what}; a testbed has {least} to {most}")]
    Count {
        /// The kind of nodes: hosts or switches.
        what: &'static str,
        /// The number of nodes.
        count: u16,
        /// The least permitted number.
        least: u16,
        /// The largest permitted number.
        most: u16,
    },
    /// A host has no cable, or several.
    #[error("host {host} has {cables} cables; each host has one, to a switch")]
    Host {
        /// The number of the host.
        host: u16,
        /// The number of its cables.
        cables: usize,
    },
    /// A cable is not valid.
    #[error("cable {cable} {what}")]
    Cable {
        /// The index of the cable in the list, from 0.
        cable: usize,
        /// The mistake, to follow the index of the cable in a message.
        what: &'static str,
    },
    /// A switch has ports of both kinds.
    #[error("switch {0} has ports of the kernel and ports in user space; a switch has ports of one kind")]
    Mixed(u16),
    /// Two hosts are not joined. The host with this number cannot be reached from host 0.
    #[error("host {0} cannot be reached from host 0")]
    Apart(u16),
}

impl Network {
    /// Returns a network of `hosts` hosts at one switch.
    pub fn star(hosts: u16, line: &Line) -> Self {
        Self { hosts, switches: 1, cables: (0..hosts).map(|host| line.to_host(host, 0)).collect() }
    }

    /// Returns a network of two switches with `left` and `right` hosts, joined by one bottleneck. The hosts of the left
    /// switch come first.
    pub fn dumbbell([left, right]: [u16; 2], line: &Line, bottleneck: &Line) -> Self {
        let hosts = left.saturating_add(right);
        let mut cables: Vec<Cable> =
            (0..hosts).map(|host| line.to_host(host, u16::from(host >= left))).collect();
        cables.push(bottleneck.between(0, 1));
        Self { hosts, switches: 2, cables }
    }

    /// Returns a network of `leaves` switches with `hosts_per_leaf` hosts each, where each leaf is joined to each of
    /// `spines` switches.
    pub fn leaf_spine([leaves, spines, hosts_per_leaf]: [u16; 3], line: &Line, fabric: &Line) -> Self {
        let hosts = leaves.saturating_mul(hosts_per_leaf);
        let mut cables: Vec<Cable> =
            (0..hosts).map(|host| line.to_host(host, host / hosts_per_leaf)).collect();
        for leaf in 0..leaves {
            cables.extend((0..spines).map(|spine| fabric.between(leaf, leaves.saturating_add(spine))));
        }
        Self { hosts, switches: leaves.saturating_add(spines), cables }
    }

    /// Returns all nodes, hosts first.
    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        (0..self.hosts).map(Node::Host).chain((0..self.switches).map(Node::Switch))
    }

    fn place(&self, node: Node) -> usize {
        match node {
            Node::Host(host) => usize::from(host),
            Node::Switch(switch) => usize::from(self.hosts) + usize::from(switch),
        }
    }

    fn has(&self, node: Node) -> bool {
        match node {
            Node::Host(host) => host < self.hosts,
            Node::Switch(switch) => switch < self.switches,
        }
    }

    /// Checks that the network can be built.
    ///
    /// # Errors
    /// Returns the first mistake.
    pub fn check(&self) -> Result<(), NetworkError> {
        for (what, count, least, most) in
            [("hosts", self.hosts, 2, MOST_HOSTS), ("switches", self.switches, 1, MOST_SWITCHES)]
        {
            if !(least..=most).contains(&count) {
                return Err(NetworkError::Count { what, count, least, most });
            }
        }
        for (cable, Cable { ends, rate_bps, ports, .. }) in self.cables.iter().enumerate() {
            let wrong = |what| Err(NetworkError::Cable { cable, what });
            if ends[0] == ends[1] || !ends.iter().all(|&end| self.has(end)) {
                return wrong("does not join two nodes of the network");
            }
            if *rate_bps == 0 {
                return wrong("has a rate of 0");
            }
            if ends.iter().zip(ports).any(|(end, port)| matches!(end, Node::Host(_)) == port.is_some()) {
                return wrong("has a port at a host, or none at a switch");
            }
            if ends.iter().all(|end| matches!(end, Node::Host(_))) {
                return wrong("joins two hosts");
            }
        }
        for host in 0..self.hosts {
            let cables = self.cables.iter().filter(|cable| cable.ends.contains(&Node::Host(host))).count();
            if cables != 1 {
                return Err(NetworkError::Host { host, cables });
            }
        }
        if let Some(mixed) = (0..self.switches).find(|&switch| self.is_mixed(switch)) {
            return Err(NetworkError::Mixed(mixed));
        }
        let far = self.distances(Node::Host(0));
        match (0..self.hosts).find(|&host| far[usize::from(host)].is_none()) {
            Some(host) => Err(NetworkError::Apart(host)),
            None => Ok(()),
        }
    }

    /// Returns the ports of a switch.
    fn ports_of(&self, switch: u16) -> impl Iterator<Item = &SwitchPort> {
        let ends = self.cables.iter().flat_map(|cable| cable.ends.iter().zip(&cable.ports));
        ends.filter(move |(end, _)| **end == Node::Switch(switch)).filter_map(|(_, port)| port.as_ref())
    }

    /// Returns whether a switch is a process in user space.
    pub fn is_user(&self, switch: u16) -> bool {
        self.ports_of(switch).any(|port| matches!(port, SwitchPort::User(_)))
    }

    fn is_mixed(&self, switch: u16) -> bool {
        self.is_user(switch) && self.ports_of(switch).any(|port| matches!(port, SwitchPort::Kernel(_)))
    }

    /// Returns the switches that are processes in user space.
    pub fn user_switches(&self) -> impl Iterator<Item = u16> {
        (0..self.switches).filter(|&switch| self.is_user(switch))
    }

    /// Returns the other end of each cable of `node`, with the index of the cable in the list.
    pub fn neighbours(&self, node: Node) -> impl Iterator<Item = (usize, Node)> {
        self.cables.iter().enumerate().filter_map(move |(place, Cable { ends, .. })| match ends {
            [a, b] if *a == node => Some((place, *b)),
            [a, b] if *b == node => Some((place, *a)),
            _ => None,
        })
    }

    /// Returns the number of cables from each node to `from`, in the order of [`Self::nodes`]. Hosts do not forward.
    fn distances(&self, from: Node) -> Vec<Option<u32>> {
        let mut far = vec![None; usize::from(self.hosts) + usize::from(self.switches)];
        far[self.place(from)] = Some(0);
        let mut next = VecDeque::from([(from, 0)]);
        while let Some((node, steps)) = next.pop_front() {
            if matches!(node, Node::Host(_)) && node != from {
                continue;
            }
            for (_, there) in self.neighbours(node) {
                let place = self.place(there);
                if far[place].is_none() {
                    far[place] = Some(steps + 1);
                    next.push_back((there, steps + 1));
                }
            }
        }
        far
    }

    /// Returns, for each switch, the cable on a shortest path to each host. If there are several, the number of the
    /// host selects one, so that all packets to a host take one path.
    pub fn routes(&self) -> Vec<Vec<usize>> {
        let mut routes = vec![Vec::with_capacity(usize::from(self.hosts)); usize::from(self.switches)];
        for host in 0..self.hosts {
            let far = self.distances(Node::Host(host));
            for switch in 0..self.switches {
                let here = far[self.place(Node::Switch(switch))];
                let nearer: Vec<usize> = self
                    .neighbours(Node::Switch(switch))
                    .filter(|&(_, there)| {
                        matches!((far[self.place(there)], here), (Some(there), Some(here)) if there < here)
                    })
                    .map(|(cable, _)| cable)
                    .collect();
                if let Some(&cable) = nearer.get(usize::from(host) % nearer.len().max(1)) {
                    routes[usize::from(switch)].push(cable);
                }
            }
        }
        routes
    }

    /// Returns the cables from one host to another, in order.
    pub fn path(&self, from: u16, to: u16) -> Vec<usize> {
        self.path_along(&self.routes(), from, to)
    }

    fn path_along(&self, routes: &[Vec<usize>], from: u16, to: u16) -> Vec<usize> {
        let mut path = Vec::new();
        let mut here = Node::Host(from);
        while here != Node::Host(to) && path.len() <= self.cables.len() {
            let cable = match here {
                Node::Host(_) => self.neighbours(here).next().map(|(cable, _)| cable),
                Node::Switch(switch) => routes[usize::from(switch)].get(usize::from(to)).copied(),
            };
            let Some(cable) = cable else { break };
            path.push(cable);
            let [a, b] = self.cables[cable].ends;
            here = if a == here { b } else { a };
        }
        path
    }

    /// Returns the propagation delay from each host to each other host, in nanoseconds: `delays[from][to]`.
    pub fn delays(&self) -> Vec<Vec<u64>> {
        let routes = self.routes();
        let delay = |from, to| {
            self.path_along(&routes, from, to).iter().map(|&cable| self.cables[cable].delay_ns).sum()
        };
        (0..self.hosts).map(|from| (0..self.hosts).map(|to| delay(from, to)).collect()).collect()
    }

    /// Returns the rate of a host's cable in bit/s.
    pub fn line_rate(&self, host: u16) -> u64 {
        let cable = self.neighbours(Node::Host(host)).next();
        cable.map_or(0, |(cable, _)| self.cables[cable].rate_bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(rate_bps: u64, delay_ns: u64) -> Line {
        Line { rate_bps, delay_ns, port: Port::fifo().into() }
    }

    #[test]
    fn a_star_has_a_cable_for_each_host_and_routes_over_it() {
        let star = Network::star(3, &line(1_000, 5));
        assert_eq!(star.check(), Ok(()));
        assert_eq!(star.routes(), [[0, 1, 2]]);
        assert_eq!(star.path(0, 2), [0, 2]);
        assert_eq!(star.delays()[1], [10, 0, 10]);
    }

    #[test]
    fn hosts_of_both_sides_of_a_dumbbell_meet_at_the_bottleneck() {
        let net = Network::dumbbell([2, 1], &line(1_000, 5), &line(100, 70));
        assert_eq!(net.check(), Ok(()));
        // Hosts 0 and 1 are left, 2 is right; cable 3 is the bottleneck.
        assert_eq!(net.routes(), [[0, 1, 3], [3, 3, 2]]);
        assert_eq!((net.path(0, 2), net.path(0, 1)), (vec![0, 3, 2], vec![0, 1]));
        assert_eq!((net.delays()[0][2], net.delays()[0][1]), (80, 10));
    }

    #[test]
    fn packets_to_hosts_of_another_leaf_take_the_spines_in_turn() {
        let net = Network::leaf_spine([2, 2, 2], &line(1_000, 1), &line(4_000, 2));
        assert_eq!(net.check(), Ok(()));
        // Cables 4 and 5 lead from leaf 0 to spines 0 and 1, 6 and 7 from leaf 1.
        assert_eq!(net.routes()[0], [0, 1, 4, 5]);
        assert_eq!(net.routes()[1], [6, 7, 2, 3]);
        assert_eq!(net.path(0, 3), [0, 5, 7, 3]);
        assert_eq!(net.delays()[0], [0, 2, 6, 6]);
        assert_eq!(net.line_rate(3), 1_000);
    }

    #[test]
    fn mistakes_are_found() {
        let star = Network::star(3, &line(1_000, 5));
        let error = |change: &dyn Fn(&mut Network)| {
            let mut network = star.clone();
            change(&mut network);
            network.check().unwrap_err().to_string()
        };
        assert_eq!(error(&|net| net.hosts = 1), "the network has 1 hosts; a testbed has 2 to 64");
        assert_eq!(
            error(&|net| net.cables.truncate(2)),
            "host 2 has 0 cables; each host has one, to a switch"
        );
        assert_eq!(error(&|net| net.cables[1].rate_bps = 0), "cable 1 has a rate of 0");
        assert_eq!(
            error(&|net| net.cables[1].ports = [None, None]),
            "cable 1 has a port at a host, or none at a switch"
        );
        assert_eq!(
            error(&|net| net.cables[1].ends[1] = Node::Switch(7)),
            "cable 1 does not join two nodes of the network"
        );
        assert_eq!(
            error(&|net| {
                net.switches = 2;
                net.cables[2].ends[1] = Node::Switch(1);
            }),
            "host 2 cannot be reached from host 0"
        );
        assert_eq!(
            error(&|net| net.cables[1].ports[1] = Some(UserPort::fifo().into())),
            "switch 0 has ports of the kernel and ports in user space; a switch has ports of one kind"
        );
    }
}

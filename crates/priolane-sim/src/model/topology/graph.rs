//! Builder of a network: named nodes, links in both directions, and the checks of all topologies.
//!
//! [`Graph::build`] orders nodes and links as [`Topology`] guarantees: hosts, switches with hosts, other switches; the
//! links of hosts in order of hosts, then those between switches, each in the order they were added.

use std::collections::BTreeMap;

use priolane_core::ids::NodeId;
use priolane_core::keys::{KeyConflict, Keys};
use priolane_core::name::{Alphabet, is_name};
use priolane_core::units::{Rate, Span};

use super::error::{Problem, TopologyError, quote};
use super::limits::{MAX_DELAY, MAX_HOSTS, MAX_LINKS, MAX_NAME, MAX_SWITCHES};
use super::network::{Link, NodeKind, PathChoice, Topology, choices_below};
use super::routes::{Routes, SwitchLinks};

/// Properties of a link, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(group = "link", check = Self::check_keys)]
pub struct LinkSpec {
    /// Its rate.
    #[key(required = "rate = \"10Gbps\"")]
    pub rate: Rate,
    /// Its propagation delay, above zero and at most 250 ms.
    #[key(required = "delay = \"1us\"")]
    pub delay: Span,
    /// Probability that a packet is lost on the link, in [0, 1).
    #[key(default = 0.0, skip_default, range = "[0, 1]")]
    pub loss: f64,
}

impl LinkSpec {
    /// Creates a link of `rate` and `delay` without loss.
    pub const fn lossless(rate: Rate, delay: Span) -> Self {
        Self { rate, delay, loss: 0.0 }
    }

    fn check_keys(&mut self) -> Result<(), KeyConflict> {
        if self.delay == Span::ZERO {
            let fix = "a propagation delay above zero, such as \"1us\"";
            return Err(KeyConflict::of("delay", "the delay is zero", fix));
        }
        if self.loss == 1.0 {
            return Err(KeyConflict::of(
                "loss",
                "every packet would be lost",
                "a probability from 0 to below 1",
            ));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Problem> {
        if self.delay == Span::ZERO {
            return Err(Problem::ZeroDelay);
        }
        if self.delay > MAX_DELAY {
            return Err(Problem::LongDelay { ps: self.delay.0 });
        }
        if (0.0..1.0).contains(&self.loss) {
            Ok(())
        } else {
            Err(Problem::Loss { found: self.loss.to_string() })
        }
    }
}

/// A node of a [`Graph`], by order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Vertex(u32);

impl Vertex {
    /// Returns the number of nodes added before it.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The numbers of nodes and links of a regular topology.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) hosts: u64,
    pub(crate) switches: u64,
    pub(crate) links: u64,
}

/// The location of a problem in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At a node.
    Node(Vertex),
    /// In the whole graph.
    Whole,
}

/// The reason why a graph is not a valid topology.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// The location.
    pub place: Place,
    /// The mistake, and the remedy.
    pub problem: Problem,
}

impl From<Fault> for TopologyError {
    fn from(fault: Fault) -> Self {
        Self::Network(fault.problem)
    }
}

#[derive(Clone, Debug)]
struct Node {
    name: String,
    kind: NodeKind,
    /// The link of a host.
    link: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Cable {
    a: Vertex,
    b: Vertex,
    spec: LinkSpec,
}

/// Nodes and links that become a [`Topology`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    by_name: BTreeMap<String, Vertex>,
    hosts: u64,
    cables: Vec<Cable>,
}

impl Graph {
    /// Creates an empty graph.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Creates an empty graph with capacity for `size`; fails if that is too large.
    pub(crate) fn sized(size: Size) -> Result<Self, Problem> {
        check_nodes(NodeKind::Host, size.hosts)?;
        check_nodes(NodeKind::Switch, size.switches)?;
        check_links(size.links)?;
        Ok(Self {
            nodes: Vec::with_capacity((size.hosts + size.switches) as usize),
            cables: Vec::with_capacity(size.links as usize),
            ..Self::default()
        })
    }

    /// Adds a node; fails if the name is in use or invalid, or if there are too many nodes of its kind.
    pub(crate) fn node(&mut self, kind: NodeKind, name: &str) -> Result<Vertex, Problem> {
        check_name(name)?;
        let count = match kind {
            NodeKind::Host => self.hosts,
            NodeKind::Switch => self.nodes.len() as u64 - self.hosts,
        };
        check_nodes(kind, count + 1)?;
        let vertex = Vertex(self.nodes.len() as u32);
        if self.by_name.contains_key(name) {
            return Err(Problem::DuplicateName { name: quote(name) });
        }
        self.by_name.insert(name.to_owned(), vertex);
        self.hosts += u64::from(kind == NodeKind::Host);
        self.nodes.push(Node { name: name.to_owned(), kind, link: None });
        Ok(vertex)
    }

    /// Adds `count` nodes named `prefix0`, `prefix1`, ...
    pub(crate) fn row(&mut self, kind: NodeKind, prefix: &str, count: u32) -> Result<Vec<Vertex>, Problem> {
        (0..count).map(|i| self.node(kind, &format!("{prefix}{i}"))).collect()
    }

    /// Returns the node with this name.
    pub(crate) fn find(&self, name: &str) -> Option<Vertex> {
        self.by_name.get(name).copied()
    }

    /// Adds a link in both directions. Fails for a link from a node to itself, between hosts, of a host that already
    /// has one, and if `spec` is out of range. Both nodes must belong to this graph.
    pub(crate) fn link(&mut self, a: Vertex, b: Vertex, spec: LinkSpec) -> Result<(), Problem> {
        spec.check()?;
        check_links(self.cables.len() as u64 + 1)?;
        let name = |v: Vertex| quote(&self.nodes[v.index()].name);
        let kind = |v: Vertex| self.nodes[v.index()].kind;
        if a == b {
            return Err(Problem::SelfLink { name: name(a) });
        }
        if (kind(a), kind(b)) == (NodeKind::Host, NodeKind::Host) {
            return Err(Problem::HostToHost { a: name(a), b: name(b) });
        }
        for end in [a, b] {
            if kind(end) == NodeKind::Host && self.nodes[end.index()].link.is_some() {
                return Err(Problem::SecondLink { name: name(end) });
            }
        }
        for end in [a, b] {
            self.nodes[end.index()].link.get_or_insert(self.cables.len());
        }
        self.cables.push(Cable { a, b, spec });
        Ok(())
    }

    /// Builds the topology; fails if there is no host, a host without a link, an unreachable part, or if forwarding
    /// tables exceed the limits of this module.
    pub(crate) fn build(self) -> Result<Topology, Fault> {
        if self.hosts == 0 {
            return Err(Fault { place: Place::Whole, problem: Problem::NoHosts });
        }
        let order = Order::of(&self)?;
        let links = self.directed_links(&order);
        let hosts = self.hosts as u32;
        let switches = self.nodes.len() as u32 - hosts;
        let rack: Vec<u32> = (0..hosts as usize).map(|h| links[2 * h].to.0 - hosts).collect();
        let graph = SwitchLinks::new(hosts, switches, &links);
        self.check_reach(&order, &graph)?;
        let whole = |problem| Fault { place: Place::Whole, problem };
        let routes = Routes::compute(&graph, order.racks).map_err(whole)?;
        let mut names = vec![String::new(); self.nodes.len()];
        for (node, id) in self.nodes.into_iter().zip(&order.id) {
            names[id.index()] = node.name;
        }
        let tier = graph.tiers(order.racks);
        let choices_below = choices_below(&tier, &routes.next_hops, order.racks);
        Ok(Topology {
            hosts,
            switches,
            racks: order.racks,
            links,
            names,
            next_hops: routes.next_hops,
            choices: routes.choices,
            path_choice: PathChoice::default(),
            rack,
            choices_below,
            tier,
        })
    }

    /// Returns the directed links: `2 i` and `2 i + 1` are the two directions of cable `i` of `order`, for a host its
    /// uplink first.
    fn directed_links(&self, order: &Order) -> Vec<Link> {
        let mut links = Vec::with_capacity(2 * self.cables.len());
        for &index in &order.cables {
            let Cable { a, b, spec: LinkSpec { rate, delay, loss } } = self.cables[index];
            let (mut from, mut to) = (order.id[a.index()], order.id[b.index()]);
            if self.nodes[b.index()].kind == NodeKind::Host {
                (from, to) = (to, from);
            }
            links.push(Link { from, to, rate, delay, loss });
            links.push(Link { from: to, to: from, rate, delay, loss });
        }
        links
    }

    fn check_reach(&self, order: &Order, graph: &SwitchLinks) -> Result<(), Fault> {
        let Some(lost) = graph.unreachable_from(0) else { return Ok(()) };
        let lost = NodeId(self.hosts as u32 + lost);
        let is = |id: &NodeId| *id == lost;
        let vertex = Vertex(order.id.iter().position(is).expect("invariant: every node has an id") as u32);
        let first = order.host_of_first_rack;
        let problem = Problem::Disconnected {
            name: quote(&self.nodes[vertex.index()].name),
            from: quote(&self.nodes[first.index()].name),
        };
        Err(Fault { place: Place::Node(vertex), problem })
    }
}

/// The final order of a graph's nodes and cables.
struct Order {
    id: Vec<NodeId>,
    racks: u32,
    host_of_first_rack: Vertex,
    cables: Vec<usize>,
}

impl Order {
    fn of(graph: &Graph) -> Result<Self, Fault> {
        let mut cables = Vec::with_capacity(graph.cables.len());
        let mut host_on: Vec<Option<Vertex>> = vec![None; graph.nodes.len()];
        for (i, node) in graph.nodes.iter().enumerate().filter(|(_, n)| n.kind == NodeKind::Host) {
            let vertex = Vertex(i as u32);
            let Some(index) = node.link else {
                let problem = Problem::NoLink { name: quote(&node.name) };
                return Err(Fault { place: Place::Node(vertex), problem });
            };
            let Cable { a, b, .. } = graph.cables[index];
            host_on[if a == vertex { b } else { a }.index()].get_or_insert(vertex);
            cables.push(index);
        }
        let is_host = |v: Vertex| graph.nodes[v.index()].kind == NodeKind::Host;
        cables.extend((0..graph.cables.len()).filter(|&i| {
            let Cable { a, b, .. } = graph.cables[i];
            !is_host(a) && !is_host(b)
        }));
        let racks = host_on.iter().flatten().count() as u32;
        let mut next = [0, graph.hosts as u32, graph.hosts as u32 + racks];
        let mut host_of_first_rack = None;
        let id = std::iter::zip(&graph.nodes, &host_on).map(|(node, host)| {
            let group = match (node.kind, host) {
                (NodeKind::Host, _) => 0,
                (NodeKind::Switch, Some(_)) => 1,
                (NodeKind::Switch, None) => 2,
            };
            host_of_first_rack = host_of_first_rack.or(*host);
            next[group] += 1;
            NodeId(next[group] - 1)
        });
        let id = id.collect();
        let host_of_first_rack = host_of_first_rack.expect("invariant: there is a host, and all are linked");
        Ok(Self { id, racks, host_of_first_rack, cables })
    }
}

fn check_name(name: &str) -> Result<(), Problem> {
    if is_name(name, Alphabet::HyphenAndDot, MAX_NAME) {
        Ok(())
    } else {
        Err(Problem::BadName { found: quote(name) })
    }
}

fn check_nodes(kind: NodeKind, found: u64) -> Result<(), Problem> {
    let most = match kind {
        NodeKind::Host => MAX_HOSTS,
        NodeKind::Switch => MAX_SWITCHES,
    };
    if found > most { Err(Problem::TooManyNodes { kind, found }) } else { Ok(()) }
}

fn check_links(found: u64) -> Result<(), Problem> {
    if found > MAX_LINKS { Err(Problem::TooManyLinks { found }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_of_the_largest_size_is_begun_and_one_larger_in_any_number_is_not() {
        let largest = Size { hosts: MAX_HOSTS, switches: MAX_SWITCHES, links: MAX_LINKS };
        let graph = Graph::sized(largest).unwrap();
        assert!(graph.nodes.capacity() as u64 >= MAX_HOSTS + MAX_SWITCHES);
        assert!(graph.cables.capacity() as u64 >= MAX_LINKS);
        let refused = |size| Graph::sized(size).unwrap_err();
        let nodes = |kind, found| Problem::TooManyNodes { kind, found };
        let hosts = Size { hosts: MAX_HOSTS + 1, ..largest };
        assert_eq!(refused(hosts), nodes(NodeKind::Host, MAX_HOSTS + 1));
        let switches = Size { switches: MAX_SWITCHES + 1, ..largest };
        assert_eq!(refused(switches), nodes(NodeKind::Switch, MAX_SWITCHES + 1));
        let links = Size { links: MAX_LINKS + 1, ..largest };
        assert_eq!(refused(links), Problem::TooManyLinks { found: MAX_LINKS + 1 });
    }

    #[test]
    fn a_link_is_as_long_and_loses_as_much_as_it_may_and_no_more() {
        let link = |delay, loss| LinkSpec { rate: Rate::from_gbps(10), delay, loss };
        let between = |spec: LinkSpec| {
            let mut graph = Graph::new();
            let host = graph.node(NodeKind::Host, "h").unwrap();
            let switch = graph.node(NodeKind::Switch, "s").unwrap();
            graph.link(host, switch, spec)
        };
        let almost_all = 1.0 - f64::EPSILON;
        for valid in [link(Span(1), 0.0), link(MAX_DELAY, 0.0), link(Span(1), almost_all)] {
            assert!(between(valid).is_ok(), "{valid:?}");
        }
        for invalid in
            [link(Span::ZERO, 0.0), link(Span(MAX_DELAY.0 + 1), 0.0), link(Span(1), 1.0), link(Span(1), -0.1)]
        {
            assert!(between(invalid).is_err(), "{invalid:?}");
        }
    }

    #[test]
    fn a_name_is_as_long_as_it_may_be_and_no_longer() {
        let named = |length: usize| Graph::new().node(NodeKind::Host, &"a".repeat(length));
        assert!(named(1).is_ok() && named(MAX_NAME).is_ok());
        assert!(named(0).is_err() && named(MAX_NAME + 1).is_err());
    }
}

//! From a scenario to nodes: hosts with their transport and agenda, switches with their ports.

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::{HostId, NodeId};
use priolane_core::packet::{Body, Packet};
use priolane_core::port::{DisciplineKind, DisciplineSpec, KindVisitor};
use priolane_core::units::Time;

use super::mail::LazyWire;
use super::sheaf::Inboxes;
use super::window::Span;
use crate::node::fabric::Fabric;
use crate::node::group::{NodeGroup, Visits};
use crate::node::host::Host;
use crate::node::lossless::LosslessSwitch;
use crate::node::switch::Switch;
use crate::waits::News;
use crate::wire::Wire;

/// Where a node lives: its group and its place there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    group: u32,
    pub(crate) index: u32,
}

impl Place {
    /// The group of hosts.
    const HOSTS: u32 = 0;

    /// In another part.
    const ELSEWHERE: Self = Self { group: u32::MAX, index: u32::MAX };
}

/// The nodes of a run, or of a part of it.
pub(crate) struct Network<B> {
    /// Nodes of one type each, hosts first.
    groups: Vec<Box<dyn NodeGroup<B>>>,
    /// By node, of all parts.
    places: Vec<Place>,
    part: usize,
}

impl<B: Body> Network<B> {
    /// The network of `fabric`, which has one part.
    pub(crate) fn whole<E>(fabric: &Fabric, make: &dyn Fn(HostId) -> E) -> Self
    where
        E: Endpoint<Body = B> + 'static,
    {
        Self::parts(fabric, make).swap_remove(0)
    }

    /// The network of `fabric`, part by part, with the transports that `make` makes.
    pub(crate) fn parts<E>(fabric: &Fabric, make: &dyn Fn(HostId) -> E) -> Vec<Self>
    where
        E: Endpoint<Body = B> + 'static,
    {
        let parts = fabric.partition.parts();
        let mut by_part: Vec<Vec<Host<E>>> = (0..parts).map(|_| Vec::new()).collect();
        let mut places = Vec::with_capacity(fabric.scenario.topology.nodes());
        for (host, node) in hosts(fabric, make).into_iter().zip((0..).map(NodeId)) {
            let index = push(&mut by_part[fabric.partition.part_of(node)], host);
            places.push(Place { group: Place::HOSTS, index });
        }
        let network = |(part, hosts): (usize, Vec<Host<E>>)| {
            let groups: Vec<Box<dyn NodeGroup<B>>> = vec![Box::new(hosts)];
            let mut network = Self { groups, places: places.clone(), part };
            network.add_switches(fabric);
            network
        };
        by_part.into_iter().enumerate().map(network).collect()
    }

    /// Its own nodes among those from `first` up to `end`.
    pub(crate) fn own(&self, fabric: &Fabric, first: u32, end: u32) -> impl Iterator<Item = NodeId> + use<B> {
        let part = self.part;
        let own: Vec<NodeId> =
            (first..end).map(NodeId).filter(|&node| fabric.partition.part_of(node) == part).collect();
        own.into_iter()
    }

    fn add_switches(&mut self, fabric: &Fabric) {
        let topology = &fabric.scenario.topology;
        self.places.resize(topology.nodes(), Place::ELSEWHERE);
        let nodes: Vec<NodeId> = self.own(fabric, topology.hosts, topology.nodes() as u32).collect();
        if let Some(spec) = fabric.scenario.switch.lossless {
            let switches = nodes.iter().map(|&node| LosslessSwitch::new(fabric, node, spec)).collect();
            return self.add_group::<LosslessSwitch<B>>(&nodes, switches);
        }
        let mut groups = SwitchGroups { network: self, fabric, left: nodes };
        DisciplineSpec::visit_kinds(&mut groups);
        // Those whose ports differ.
        groups.visit::<DisciplineSpec>();
    }

    /// Adds `group`, which consists of `nodes`.
    fn add_group<N>(&mut self, nodes: &[NodeId], group: Vec<N>)
    where
        Vec<N>: NodeGroup<B> + 'static,
    {
        for (&node, index) in nodes.iter().zip(0..) {
            self.places[node.index()] = Place { group: self.groups.len() as u32, index };
        }
        self.groups.push(Box::new(group));
    }

    /// A host hears news; when the flow that waited for it starts, if that is known now.
    pub(crate) fn hear<W: Wire<B>>(&mut self, fabric: &Fabric, news: &News, wire: &mut W) -> Option<Time> {
        let (group, i) = self.at(fabric.scenario.topology.node_of(news.to));
        let start = group.hear(i, news)?;
        if fabric.scenario.flows.size(news.flow.index()).is_some() {
            wire.flow_awaited();
        }
        Some(start)
    }

    /// How many nodes there are, of all parts.
    pub(crate) fn nodes(&self) -> u32 {
        self.places.len() as u32
    }

    /// `nodes` live through a window, in this order: as many of one group at once as stand together.
    pub(super) fn live(
        &mut self,
        nodes: &[NodeId],
        (fabric, span): (&Fabric, &Span),
        inboxes: &mut Inboxes<B>,
        wire: &mut LazyWire<B>,
    ) {
        let Self { groups, places, .. } = self;
        let group_of = |node: NodeId| places[node.index()].group;
        for nodes in nodes.chunk_by(|&a, &b| group_of(a) == group_of(b)) {
            let group = group_of(nodes[0]) as usize;
            groups[group].run_window(&Visits { nodes, places, fabric, span }, inboxes, wire);
        }
    }

    /// The group of `node` and its place there.
    #[inline]
    pub(crate) fn at(&mut self, node: NodeId) -> (&mut dyn NodeGroup<B>, usize) {
        let place = self.places[node.index()];
        (&mut *self.groups[place.group as usize], place.index as usize)
    }
}

fn push<T>(all: &mut Vec<T>, one: T) -> u32 {
    all.push(one);
    all.len() as u32 - 1
}

fn hosts<E: Endpoint>(fabric: &Fabric, make: &dyn Fn(HostId) -> E) -> Vec<Host<E>> {
    let scenario = fabric.scenario;
    let host = |h: u32| Host::new(fabric, HostId(h as u16), make(HostId(h as u16)));
    let mut hosts: Vec<Host<E>> = (0..scenario.topology.hosts).map(host).collect();
    let mut opens = vec![0; hosts.len()];
    scenario.flows.iter().for_each(|flow| opens[flow.src.index()] += 1);
    hosts.iter_mut().zip(opens).for_each(|(host, opens)| host.expect_opens(opens));
    let mut waits = scenario.waits.iter().peekable();
    for (i, flow) in scenario.flows.iter().enumerate() {
        match waits.next_if(|wait| wait.flow == flow.id) {
            Some(wait) => hosts[flow.src.index()].reactions().plan(wait, flow.start),
            None => hosts[flow.src.index()].plan_open(flow.start, i as u32),
        }
    }
    for wait in &scenario.waits {
        let source = scenario.flows.at(wait.flow.index()).src;
        for &first in &wait.after {
            hosts[scenario.flows.at(first.index()).dst.index()].reactions().follow(first, wait, source);
        }
    }
    if !scenario.waits.is_empty() {
        hosts.iter_mut().for_each(|host| host.reactions().prepare());
    }
    for control in &scenario.controls {
        hosts[scenario.flows.at(control.flow.index()).src.index()].plan_control(*control);
    }
    hosts
}

/// Adds the switches of a network, those with ports of one kind as a group.
struct SwitchGroups<'a, B> {
    network: &'a mut Network<B>,
    fabric: &'a Fabric<'a>,
    /// Switches without a group yet.
    left: Vec<NodeId>,
}

impl<B: Body> KindVisitor for SwitchGroups<'_, B> {
    fn visit<S: DisciplineKind>(&mut self) {
        let (mut nodes, mut switches) = (Vec::new(), Vec::new());
        self.left.retain(|&node| match Switch::<S::Port<Packet<B>>>::new::<B, S>(self.fabric, node) {
            Some(switch) => {
                nodes.push(node);
                switches.push(switch);
                false
            }
            None => true,
        });
        if !nodes.is_empty() {
            self.network.add_group(&nodes, switches);
        }
    }
}

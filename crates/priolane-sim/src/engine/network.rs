//! Creates the nodes of a scenario: hosts with transports and schedules, switches with ports.

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
#[cfg(debug_assertions)]
use priolane_core::port::FifoSpec;
use priolane_core::port::{DisciplineKind, DisciplineSpec, KindVisitor};
use priolane_core::units::Time;

use super::nodes::NodeGroup;
use super::window::calendar::ArrivalBatches;
use super::window::look_ahead::LookAhead;
use super::window::nodes::WindowContext;
use super::window::scheduler::WindowScheduler;
use super::window::span::WindowSpan;
use crate::device::event_sink::EventSink;
use crate::device::fabric::Fabric;
use crate::device::features::HostMessage;
use crate::device::host::Host;
use crate::device::hosts::hosts;
use crate::device::lossless::LosslessSwitch;
use crate::device::messages::DependencySignal;
use crate::device::switch::Switch;
use crate::observe::phase::Phase;

/// Index of the group of hosts.
const HOSTS: u32 = 0;

/// Marks switches of other parts.
const ELSEWHERE: u32 = u32::MAX;

/// The nodes of a run, or of one part of it.
pub(crate) struct Network<B> {
    /// Groups of nodes of one type each, hosts first.
    groups: Vec<Box<dyn NodeGroup<B>>>,
    /// The group of each node of the whole network, [`ELSEWHERE`] for switches of other parts.
    group_of: Vec<u32>,
    /// The index of each node of the whole network in its group.
    index_of: Vec<u32>,
    part: usize,
}

impl<B: Body> Network<B> {
    /// Creates the network of `fabric`, which has only one part.
    pub(crate) fn whole<E>(fabric: &Fabric, make: &dyn Fn(LocalHost) -> E) -> Self
    where
        E: Endpoint<Body = B> + 'static,
    {
        Self::parts(fabric, make).swap_remove(0)
    }

    /// Creates the network of `fabric`, part by part, with the transports that `make` creates.
    pub(crate) fn parts<E>(fabric: &Fabric, make: &dyn Fn(LocalHost) -> E) -> Vec<Self>
    where
        E: Endpoint<Body = B> + 'static,
    {
        let parts = fabric.partition.parts();
        let mut by_part: Vec<Vec<Host<E>>> = (0..parts).map(|_| Vec::new()).collect();
        let mut index_of = Vec::with_capacity(fabric.scenario.topology.nodes());
        for (host, node) in hosts(fabric, make).into_iter().zip((0..).map(NodeId)) {
            index_of.push(push(&mut by_part[fabric.partition.part_of(node)], host));
        }
        let network = |(part, hosts): (usize, Vec<Host<E>>)| {
            let groups: Vec<Box<dyn NodeGroup<B>>> = vec![Box::new(hosts)];
            let group_of = vec![HOSTS; index_of.len()];
            let mut network = Self { groups, group_of, index_of: index_of.clone(), part };
            network.add_switches(fabric);
            network
        };
        by_part.into_iter().enumerate().map(network).collect()
    }

    /// Iterates over its own nodes among those from `first` to `end`, exclusive.
    pub(crate) fn own(&self, fabric: &Fabric, first: u32, end: u32) -> impl Iterator<Item = NodeId> + use<B> {
        let part = self.part;
        let own: Vec<NodeId> =
            (first..end).map(NodeId).filter(|&node| fabric.partition.part_of(node) == part).collect();
        own.into_iter()
    }

    fn add_switches(&mut self, fabric: &Fabric) {
        let topology = &fabric.scenario.topology;
        self.group_of.resize(topology.nodes(), ELSEWHERE);
        self.index_of.resize(topology.nodes(), u32::MAX);
        let nodes: Vec<NodeId> = self.own(fabric, topology.hosts, topology.nodes() as u32).collect();
        if let Some(spec) = fabric.scenario.switch.lossless {
            let switches = nodes.iter().map(|&node| LosslessSwitch::new(fabric, node, spec)).collect();
            return self.add_group::<LosslessSwitch<B>>(&nodes, switches);
        }
        let mut groups = SwitchGroups { network: self, fabric, left: nodes };
        // One copy of the switch per kind of port and body is half of this crate's code. A build for tests has those of
        // FIFO ports, so that both ways are tested.
        #[cfg(not(debug_assertions))]
        DisciplineSpec::visit_kinds(&mut groups);
        #[cfg(debug_assertions)]
        groups.visit::<FifoSpec>();
        // Switches with different kinds of ports.
        groups.visit::<DisciplineSpec>();
    }

    /// Adds `group`, which consists of `nodes`.
    fn add_group<N>(&mut self, nodes: &[NodeId], group: Vec<N>)
    where
        Vec<N>: NodeGroup<B> + 'static,
    {
        for (&node, index) in nodes.iter().zip(0..) {
            self.group_of[node.index()] = self.groups.len() as u32;
            self.index_of[node.index()] = index;
        }
        self.groups.push(Box::new(group));
    }

    /// Sends a signal to a host. Returns the earliest start of the dependent flows whose starts are now known.
    pub(crate) fn signal<W: EventSink<B>>(
        &mut self,
        fabric: &Fabric,
        signal: &DependencySignal,
        sink: &mut W,
    ) -> Option<Time> {
        let (group, i) = self.at(fabric.scenario.topology.node_of(signal.to));
        let mut earliest: Option<Time> = None;
        group.on_message(i, HostMessage::Signal(signal), &mut |flow, start| {
            if fabric.scenario.flows.size(flow.index()).is_some() {
                sink.dependent_scheduled(flow, start);
            }
            earliest = Some(earliest.map_or(start, |earliest| earliest.min(start)));
        });
        earliest
    }

    /// Returns the index of its part, from 0.
    pub(super) fn part(&self) -> usize {
        self.part
    }

    /// Returns the number of nodes of all parts.
    pub(crate) fn nodes(&self) -> u32 {
        self.group_of.len() as u32
    }

    /// Runs `nodes` through a window in this order. Adjacent nodes of one group share a call.
    pub(super) fn live(
        &mut self,
        nodes: &[NodeId],
        (fabric, window): (&Fabric, &WindowSpan),
        batches: &mut ArrivalBatches<B>,
        sink: &mut WindowScheduler<B>,
    ) {
        let Self { groups, group_of, index_of, .. } = self;
        let mut left = nodes;
        while let Some(&first) = left.first() {
            let group = group_of[first.index()];
            let other = left.iter().position(|&node| group_of[node.index()] != group);
            let (nodes, others) = left.split_at(other.unwrap_or(left.len()));
            let cx = WindowContext { nodes, index_of, fabric, window };
            fabric.enter(if group == HOSTS { Phase::Hosts } else { Phase::Switches });
            let group = &mut *groups[group as usize];
            if batches.looks_ahead {
                run_looking_ahead(group, &cx, batches, sink);
            } else {
                group.run_window(&cx, batches, sink);
            }
            left = others;
        }
        fabric.enter(Phase::Engine);
    }

    /// Returns the group of `node` and its index there.
    #[inline]
    pub(crate) fn at(&mut self, node: NodeId) -> (&mut dyn NodeGroup<B>, usize) {
        let group = self.group_of[node.index()] as usize;
        (&mut *self.groups[group], self.index_of[node.index()] as usize)
    }
}

/// Runs the nodes of `cx`, which belong to one group, while the data of those after them is prefetched.
fn run_looking_ahead<B: Body>(
    group: &mut dyn NodeGroup<B>,
    cx: &WindowContext,
    batches: &mut ArrivalBatches<B>,
    sink: &mut WindowScheduler<B>,
) {
    let mut progress = LookAhead::START;
    for (i, node) in cx.nodes.iter().enumerate() {
        group.look_ahead((cx, i), batches, &mut progress);
        group.run_window(&WindowContext { nodes: std::slice::from_ref(node), ..*cx }, batches, sink);
    }
}

fn push<T>(all: &mut Vec<T>, one: T) -> u32 {
    all.push(one);
    all.len() as u32 - 1
}

/// Adds the switches of a network, one group per kind of ports.
struct SwitchGroups<'a, B> {
    network: &'a mut Network<B>,
    fabric: &'a Fabric<'a>,
    /// Switches without a group.
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

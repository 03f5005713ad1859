//! From a scenario to nodes: hosts with their transport and agenda, switches with their ports.

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::{HostId, NodeId};
use priolane_core::packet::{Body, Packet};
use priolane_core::port::{
    Aifo, AifoSpec, Discipline, Fifo, Limit, Overflow, PFabric, PushOut, QueueWeights, Ranked, RateLimited,
    RealTimeWfq, SortBy, Strict, TokenGroup, TokenGroupSpec, Trimming, TrimmingSpec, Wfq,
};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Time;

use super::mail::LazyWire;
use super::nodes::NodeGroup;
use super::sheaf::Inboxes;
use super::window_nodes::WindowContext;
use super::window_span::WindowSpan;
use crate::node::fabric::Fabric;
use crate::node::features::HostMessage;
use crate::node::host::Host;
use crate::node::hosts::hosts;
use crate::node::lossless::LosslessSwitch;
use crate::node::messages::DependencySignal;
use crate::node::switch::{Seat, Switch};
use crate::scenario::Queues;
use crate::wire::Wire;

/// The groups of a network, in their order: nodes of one type each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Hosts,
    /// Switches, by the queues of all their ports.
    Fifo,
    Strict,
    Ranked,
    PushOut,
    Wfq,
    Trimming,
    Tokens,
    PFabric,
    Aifo,
    /// Switches whose ports differ.
    Mixed,
    /// Switches with lossless classes, whatever their queues.
    Lossless,
    /// Of other parts.
    Elsewhere,
}

/// The nodes of a run, or of a part of it.
pub(crate) struct Network<B> {
    groups: Vec<Box<dyn NodeGroup<B>>>,
    /// By node of the whole network: its group.
    group_of: Vec<Group>,
    /// By node of the whole network: its index in its group.
    index_of: Vec<u32>,
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
        let mut index_of = Vec::with_capacity(fabric.scenario.topology.nodes());
        for (host, node) in hosts(fabric, make).into_iter().zip((0..).map(NodeId)) {
            index_of.push(push(&mut by_part[fabric.partition.part_of(node)], host));
        }
        let network = |(part, hosts): (usize, Vec<Host<E>>)| {
            let groups: Vec<Box<dyn NodeGroup<B>>> = vec![Box::new(hosts)];
            let group_of = vec![Group::Hosts; index_of.len()];
            let mut network = Self { groups, group_of, index_of: index_of.clone(), part };
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
        let mut fifo = Vec::new();
        let mut strict = Vec::new();
        let mut ranked = Vec::new();
        let mut push_out = Vec::new();
        let mut wfq = Vec::new();
        let mut trimming = Vec::new();
        let mut tokens = Vec::new();
        let mut pfabric = Vec::new();
        let mut aifo = Vec::new();
        let mut mixed = Vec::new();
        let mut lossless = Vec::new();
        for s in 0..topology.switches {
            let node = NodeId(topology.hosts + s);
            if fabric.partition.part_of(node) != self.part {
                self.add(Group::Elsewhere, u32::MAX);
                continue;
            }
            if let Some(spec) = fabric.scenario.switch.lossless {
                let index = push(&mut lossless, LosslessSwitch::new(fabric, node, spec));
                self.add(Group::Lossless, index);
                continue;
            }
            let (group, index) = match common_kind(fabric, node) {
                Some(Queues::Fifo) => {
                    (Group::Fifo, push(&mut fifo, Switch::new(fabric, node, &make_fifo::<B>)))
                }
                Some(Queues::Strict { .. }) => {
                    (Group::Strict, push(&mut strict, Switch::new(fabric, node, &make_strict::<B>)))
                }
                Some(Queues::PushOut { .. }) => {
                    (Group::PushOut, push(&mut push_out, Switch::new(fabric, node, &make_push_out::<B>)))
                }
                Some(Queues::Wfq { .. }) => {
                    (Group::Wfq, push(&mut wfq, Switch::new(fabric, node, &make_wfq::<B>)))
                }
                Some(Queues::Ranked) => {
                    (Group::Ranked, push(&mut ranked, Switch::new(fabric, node, &make_ranked::<B>)))
                }
                Some(Queues::Trimming { .. }) => {
                    (Group::Trimming, push(&mut trimming, Switch::new(fabric, node, &make_trimming::<B>)))
                }
                Some(Queues::Tokens(_)) => {
                    (Group::Tokens, push(&mut tokens, Switch::new(fabric, node, &make_tokens::<B>)))
                }
                Some(Queues::PFabric) => {
                    (Group::PFabric, push(&mut pfabric, Switch::new(fabric, node, &make_pfabric::<B>)))
                }
                Some(Queues::Aifo { .. }) => {
                    (Group::Aifo, push(&mut aifo, Switch::new(fabric, node, &make_aifo::<B>)))
                }
                _ => (Group::Mixed, push(&mut mixed, Switch::new(fabric, node, &make_any::<B>))),
            };
            self.add(group, index);
        }
        let mut groups: [(Group, Box<dyn NodeGroup<B>>); 11] = [
            (Group::Fifo, Box::new(fifo)),
            (Group::Strict, Box::new(strict)),
            (Group::Ranked, Box::new(ranked)),
            (Group::PushOut, Box::new(push_out)),
            (Group::Wfq, Box::new(wfq)),
            (Group::Trimming, Box::new(trimming)),
            (Group::Tokens, Box::new(tokens)),
            (Group::PFabric, Box::new(pfabric)),
            (Group::Aifo, Box::new(aifo)),
            (Group::Mixed, Box::new(mixed)),
            (Group::Lossless, Box::new(lossless)),
        ];
        groups.sort_by_key(|&(group, _)| group);
        self.groups.extend(groups.into_iter().map(|(_, nodes)| nodes));
    }

    /// The next node is at this `index` of its `group`.
    fn add(&mut self, group: Group, index: u32) {
        self.group_of.push(group);
        self.index_of.push(index);
    }

    /// A signal is on its way to a host; the start of the flow that depended on it, if it is known now.
    pub(crate) fn signal<W: Wire<B>>(
        &mut self,
        fabric: &Fabric,
        signal: &DependencySignal,
        wire: &mut W,
    ) -> Option<Time> {
        let (group, i) = self.at(fabric.scenario.topology.node_of(signal.to));
        let start = group.on_message(i, HostMessage::Signal(signal))?;
        if fabric.scenario.flows.size(signal.flow.index()).is_some() {
            wire.dependent_scheduled();
        }
        Some(start)
    }

    /// Which part it is, from 0.
    pub(super) fn part(&self) -> usize {
        self.part
    }

    /// How many nodes there are, of all parts.
    pub(crate) fn nodes(&self) -> u32 {
        self.group_of.len() as u32
    }

    /// `nodes` live through a window, in this order: as many of one group at once as stand together.
    pub(super) fn live(
        &mut self,
        nodes: &[NodeId],
        (fabric, window): (&Fabric, &WindowSpan),
        inboxes: &mut Inboxes<B>,
        wire: &mut LazyWire<B>,
    ) {
        let Self { groups, group_of, index_of, .. } = self;
        let group_of = |node: NodeId| group_of[node.index()];
        for nodes in nodes.chunk_by(|&a, &b| group_of(a) == group_of(b)) {
            let group = group_of(nodes[0]) as usize;
            groups[group].run_window(&WindowContext { nodes, index_of, fabric, window }, inboxes, wire);
        }
    }

    /// The group of `node` and its place there.
    #[inline]
    pub(crate) fn at(&mut self, node: NodeId) -> (&mut dyn NodeGroup<B>, usize) {
        let group = self.group_of[node.index()] as usize;
        (&mut *self.groups[group], self.index_of[node.index()] as usize)
    }
}

fn push<T>(all: &mut Vec<T>, one: T) -> u32 {
    all.push(one);
    all.len() as u32 - 1
}

/// The queues all ports of a switch have, parameters aside; `None` where they differ.
fn common_kind(fabric: &Fabric, node: NodeId) -> Option<Queues> {
    let mut kinds = fabric.egress_links[node.index()].iter().map(|l| fabric.scenario.ports[l.index()].queues);
    let first = kinds.next()?;
    kinds.all(|k| std::mem::discriminant(&k) == std::mem::discriminant(&first)).then_some(first)
}

fn make_fifo<B: Body>(seat: &Seat) -> Fifo<Packet<B>> {
    Fifo::new(seat.spec.buffer)
}

fn make_ranked<B: Body>(seat: &Seat) -> Ranked<Packet<B>> {
    Ranked::new(seat.spec.buffer)
}

fn make_pfabric<B: Body>(seat: &Seat) -> PFabric<Packet<B>> {
    PFabric::new(seat.spec.buffer)
}

fn make_aifo<B: Body>(seat: &Seat) -> Aifo<Packet<B>> {
    match seat.spec.queues {
        Queues::Aifo { spec, map } => Aifo::new(spec, map, seat.spec.buffer),
        _ => Aifo::new(AifoSpec::PAPER, [0; priolane_core::ids::CLASSES], seat.spec.buffer),
    }
}

fn make_strict<B: Body>(seat: &Seat) -> Strict<Packet<B>> {
    match seat.spec.queues {
        Queues::Strict { queues, map } => Strict::new(queues, map, SortBy::Class, seat.spec.buffer),
        _ => Strict::new(1, [0; priolane_core::ids::CLASSES], SortBy::Class, seat.spec.buffer),
    }
}

fn make_push_out<B: Body>(seat: &Seat) -> PushOut<Packet<B>> {
    match seat.spec.queues {
        Queues::PushOut { queues, map } => PushOut::new(queues, map, SortBy::Class, seat.spec.buffer),
        _ => PushOut::new(1, [0; priolane_core::ids::CLASSES], SortBy::Class, seat.spec.buffer),
    }
}

fn make_wfq<B: Body>(seat: &Seat) -> Wfq<Packet<B>> {
    match seat.spec.queues {
        Queues::Wfq { weights, map } => Wfq::new(&weights, map, SortBy::Class, seat.spec.buffer),
        _ => {
            Wfq::new(&QueueWeights::EQUAL, [0; priolane_core::ids::CLASSES], SortBy::Class, seat.spec.buffer)
        }
    }
}

fn make_trimming<B: Body>(seat: &Seat) -> Trimming<Packet<B>> {
    let (headers, overflow) = match seat.spec.queues {
        Queues::Trimming { headers, overflow } => (headers, overflow),
        _ => (Limit::Unlimited, Overflow::Drop),
    };
    let coin = Stream::new(seat.seed, Purpose::Port, u64::from(seat.link.0));
    let spec = TrimmingSpec { headers, trimmed_wire: seat.frame.trimmed_wire(), overflow };
    Trimming::new(spec, seat.spec.buffer, coin)
}

fn make_tokens<B: Body>(seat: &Seat) -> TokenGroup<Packet<B>> {
    let spec = match seat.spec.queues {
        Queues::Tokens(spec) => spec,
        _ => TokenGroupSpec::TOP,
    };
    TokenGroup::new(&spec, seat.rate, seat.spec.buffer)
}

fn make_any<B: Body>(seat: &Seat) -> Box<dyn Discipline<Packet<B>>> {
    match seat.spec.queues {
        Queues::Fifo => Box::new(make_fifo(seat)),
        Queues::Strict { .. } => Box::new(make_strict(seat)),
        Queues::PushOut { .. } => Box::new(make_push_out(seat)),
        Queues::Wfq { .. } => Box::new(make_wfq(seat)),
        Queues::RealTimeWfq { weights, map } => {
            Box::new(RealTimeWfq::new(&weights, map, (SortBy::Class, seat.rate), seat.spec.buffer))
        }
        Queues::Trimming { .. } => Box::new(make_trimming(seat)),
        Queues::Ranked => Box::new(make_ranked(seat)),
        Queues::PFabric => Box::new(make_pfabric(seat)),
        Queues::Aifo { .. } => Box::new(make_aifo(seat)),
        Queues::Tokens(_) => Box::new(make_tokens(seat)),
        Queues::Limited { rate, burst } => {
            Box::new(RateLimited::new(Fifo::new(seat.spec.buffer), rate, burst))
        }
    }
}

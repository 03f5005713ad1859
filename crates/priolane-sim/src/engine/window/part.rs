//! A part of the network and all that one thread needs to drive it.

use priolane_core::ids::NodeId;
use priolane_core::packet::Body;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Time;

use super::calendar::ArrivalBatches;
use super::scheduler::WindowScheduler;
use super::span::WindowSpan;
use crate::device::fabric::Fabric;
use crate::device::features::HostMessage;
use crate::device::messages::DependencySignal;
use crate::engine::network::Network;
use crate::observe::completion_log::FlowLog;

/// The order in which nodes live through a window; results must not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeOrder {
    /// By node.
    #[default]
    Natural,
    /// A new random order in each window, from this seed: a check that nodes are independent.
    Shuffled(u64),
}

/// Windows between two reports of progress.
pub(super) const REPORT_EVERY: u64 = 256;

/// Nodes that one thread drives, with all that is theirs.
pub(super) struct Part<B> {
    pub(super) network: Network<B>,
    pub(super) wire: WindowScheduler<B>,
    runner: NodeRunner<B>,
    /// Its hosts.
    hosts: Vec<NodeId>,
}

/// How a part lived through a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowOutcome {
    /// All of it.
    Whole,
    /// As far as the run goes, which ends in it. A controller that is due later in it will never work.
    UpToTheEnd,
}

impl<B: Body> Part<B> {
    /// The part of `fabric` that has the nodes of `network`; windows take `length` picoseconds, and flows are recorded in
    /// `log`.
    pub(super) fn new(
        mut network: Network<B>,
        fabric: &Fabric,
        length: u64,
        log: FlowLog,
        order: NodeOrder,
    ) -> Self {
        let topology = &fabric.scenario.topology;
        let mut wire = WindowScheduler::new(fabric, length, network.part(), log);
        for node in network.own(fabric, 0, topology.nodes() as u32) {
            let (group, i) = network.at(node);
            wire.wake(node, group.first_event(i).at());
        }
        let hosts = network.own(fabric, 0, topology.hosts).collect();
        Self { network, wire, runner: NodeRunner::new(order), hosts }
    }

    /// Its nodes live through `window`, of which what lies at or beyond `stop` is not to be.
    pub(super) fn live(&mut self, fabric: &Fabric, window: u64, stop: Time) -> WindowOutcome {
        self.wire.enter(window);
        let (start, end) = (Time(window * self.wire.length()), self.wire.end);
        let span = WindowSpan { start, end: end.min(stop), sample_every: fabric.scenario.sample_every };
        self.deliver_thresholds(&span);
        self.runner.live(&mut self.network, fabric, &span, &mut self.wire);
        if span.end < end { WindowOutcome::UpToTheEnd } else { WindowOutcome::Whole }
    }

    /// The controller runs through `span`: its updates reach hosts after it.
    fn deliver_thresholds(&mut self, span: &WindowSpan) {
        while let Some(updates) = self.wire.control_plane.run_before(span.end) {
            for update in updates {
                for &host in &self.hosts {
                    let (group, i) = self.network.at(host);
                    group.on_message(i, HostMessage::Thresholds(&update));
                    self.wire.wake(host, update.at);
                }
            }
        }
    }

    /// A signal of the window just run through, which arrives after it, is on its way to one of the hosts.
    pub(super) fn signal(&mut self, fabric: &Fabric, signal: &DependencySignal) {
        if let Some(start) = self.network.signal(fabric, signal, &mut self.wire) {
            self.wire.wake(fabric.scenario.topology.node_of(signal.to), start);
        }
    }
}

/// Lets the nodes of a window live, one after the other.
#[derive(Debug)]
struct NodeRunner<B> {
    nodes: Vec<NodeId>,
    batches: ArrivalBatches<B>,
    shuffle: Option<Stream>,
}

impl<B: Body> NodeRunner<B> {
    fn new(order: NodeOrder) -> Self {
        let shuffle = match order {
            NodeOrder::Natural => None,
            NodeOrder::Shuffled(seed) => Some(Stream::new(seed, Purpose::Ties, u64::MAX)),
        };
        Self { nodes: Vec::new(), batches: ArrivalBatches::default(), shuffle }
    }

    fn live(
        &mut self,
        network: &mut Network<B>,
        fabric: &Fabric,
        span: &WindowSpan,
        wire: &mut WindowScheduler<B>,
    ) {
        let Self { nodes, batches, shuffle } = self;
        wire.distribute(batches, nodes, |nodes| {
            if let Some(stream) = shuffle {
                stream.shuffle(nodes);
            }
        });
        network.live(nodes, (fabric, span), batches, wire);
        wire.restore(batches, span.end);
    }
}

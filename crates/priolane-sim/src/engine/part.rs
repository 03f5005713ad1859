//! A part of the network and all that one thread needs to drive it.

use priolane_core::ids::NodeId;
use priolane_core::packet::Body;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Time;

use super::mail::LazyWire;
use super::network::Network;
use super::sheaf::Inboxes;
use super::window_span::WindowSpan;
use crate::node::completion_log::FlowLog;
use crate::node::fabric::Fabric;
use crate::node::features::HostMessage;
use crate::node::messages::DependencySignal;

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
    pub(super) wire: LazyWire<B>,
    worker: Worker<B>,
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
        let mut wire = LazyWire::new(fabric, length, network.part(), log);
        for node in network.own(fabric, 0, topology.nodes() as u32) {
            let (group, i) = network.at(node);
            wire.wake(node, group.first_event(i).at());
        }
        let hosts = network.own(fabric, 0, topology.hosts).collect();
        Self { network, wire, worker: Worker::new(order), hosts }
    }

    /// Its nodes live through `window`, of which what lies at or beyond `stop` is not to be.
    pub(super) fn live(&mut self, fabric: &Fabric, window: u64, stop: Time) -> WindowOutcome {
        self.wire.enter(window);
        let (start, end) = (Time(window * self.wire.length()), self.wire.end);
        let span = WindowSpan { start, end: end.min(stop), sample_every: fabric.scenario.sample_every };
        self.tell_hosts(&span);
        self.worker.live(&mut self.network, fabric, &span, &mut self.wire);
        if span.end < end { WindowOutcome::UpToTheEnd } else { WindowOutcome::Whole }
    }

    /// The controller runs through `span`: its updates reach hosts after it.
    fn tell_hosts(&mut self, span: &WindowSpan) {
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
struct Worker<B> {
    nodes: Vec<NodeId>,
    inboxes: Inboxes<B>,
    shuffle: Option<Stream>,
}

impl<B: Body> Worker<B> {
    fn new(order: NodeOrder) -> Self {
        let shuffle = match order {
            NodeOrder::Natural => None,
            NodeOrder::Shuffled(seed) => Some(Stream::new(seed, Purpose::Ties, u64::MAX)),
        };
        Self { nodes: Vec::new(), inboxes: Inboxes::default(), shuffle }
    }

    fn live(&mut self, network: &mut Network<B>, fabric: &Fabric, span: &WindowSpan, wire: &mut LazyWire<B>) {
        let Self { nodes, inboxes, shuffle } = self;
        wire.deal(inboxes, nodes, |nodes| {
            if let Some(stream) = shuffle {
                stream.shuffle(nodes);
            }
        });
        network.live(nodes, (fabric, span), inboxes, wire);
        wire.put_back(inboxes, span.end);
    }
}

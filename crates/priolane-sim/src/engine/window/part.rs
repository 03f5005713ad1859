//! A part of the network, with everything that one thread needs to run it.

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
use crate::device::tie_order::TieOrder;
use crate::engine::network::Network;
use crate::observe::completion_log::FlowLog;

/// The order in which nodes run through a window; results must not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeOrder {
    /// In order of nodes.
    #[default]
    Natural,
    /// In a new random order in each window, from this seed: a test that nodes are independent.
    Shuffled(u64),
}

/// Windows between two progress reports.
pub(super) const REPORT_EVERY: u64 = 256;

/// The number of nodes that run in a window from which their data is prefetched. The data of fewer nodes is in the
/// caches: with 128 hosts and 80 switches, prefetches take a tenth to a third more time.
const MANY: usize = 600;

/// The nodes of one thread, with their state.
pub(super) struct Part<B> {
    pub(super) network: Network<B>,
    pub(super) sink: WindowScheduler<B>,
    runner: NodeRunner<B>,
    /// Its hosts.
    hosts: Vec<NodeId>,
}

/// The progress of a part through a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowOutcome {
    /// To the end of the window.
    Whole,
    /// To the end of the run, which is in this window. A controller that is due later in it never runs.
    UpToTheEnd,
}

impl<B: Body> Part<B> {
    /// Creates the part of `fabric` with the nodes of `network`. Windows take `length` picoseconds; `log` records
    /// flows.
    pub(super) fn new(
        mut network: Network<B>,
        fabric: &Fabric,
        length: u64,
        log: FlowLog,
        order: NodeOrder,
    ) -> Self {
        let topology = &fabric.scenario.topology;
        let mut sink = WindowScheduler::new(fabric, length, network.part(), log);
        for node in network.own(fabric, 0, topology.nodes() as u32) {
            let (group, i) = network.at(node);
            sink.wake(node, group.first_event(i).at());
        }
        let hosts = network.own(fabric, 0, topology.hosts).collect();
        Self { network, sink, runner: NodeRunner::new(order, TieOrder::new(fabric.scenario.seed)), hosts }
    }

    /// Runs its nodes through `window`, up to `stop`, exclusive.
    pub(super) fn live(&mut self, fabric: &Fabric, window: u64, stop: Time) -> WindowOutcome {
        self.sink.enter(window);
        let (start, end) = (Time(window * self.sink.length()), self.sink.end);
        let span = WindowSpan { start, end: end.min(stop), sample_every: fabric.scenario.sample_every };
        self.deliver_thresholds(&span);
        self.runner.live(&mut self.network, fabric, &span, &mut self.sink);
        if span.end < end { WindowOutcome::UpToTheEnd } else { WindowOutcome::Whole }
    }

    /// Runs the controller through `span`: its updates reach hosts after it.
    fn deliver_thresholds(&mut self, span: &WindowSpan) {
        while let Some(updates) = self.sink.control_plane.run_before(span.end) {
            for update in updates {
                for &host in &self.hosts {
                    let (group, i) = self.network.at(host);
                    group.on_message(i, HostMessage::Thresholds(&update), &mut |_, _| ());
                    self.sink.wake(host, update.at);
                }
            }
        }
    }

    /// Sends a signal of the window just run, which arrives after it, to one of the hosts.
    pub(super) fn signal(&mut self, fabric: &Fabric, signal: &DependencySignal) {
        if let Some(start) = self.network.signal(fabric, signal, &mut self.sink) {
            self.sink.wake(fabric.scenario.topology.node_of(signal.to), start);
        }
    }
}

/// Runs the nodes of a window one after the other.
#[derive(Debug)]
struct NodeRunner<B> {
    nodes: Vec<NodeId>,
    batches: ArrivalBatches<B>,
    shuffle: Option<Stream>,
}

impl<B: Body> NodeRunner<B> {
    fn new(order: NodeOrder, ties: TieOrder) -> Self {
        let shuffle = match order {
            NodeOrder::Natural => None,
            NodeOrder::Shuffled(seed) => Some(Stream::new(seed, Purpose::Ties, u64::MAX)),
        };
        Self { nodes: Vec::new(), batches: ArrivalBatches::new(ties), shuffle }
    }

    fn live(
        &mut self,
        network: &mut Network<B>,
        fabric: &Fabric,
        span: &WindowSpan,
        sink: &mut WindowScheduler<B>,
    ) {
        let Self { nodes, batches, shuffle } = self;
        sink.distribute(batches, nodes, |nodes| {
            if let Some(stream) = shuffle {
                stream.shuffle(nodes);
            }
        });
        batches.looks_ahead = nodes.len() >= MANY;
        network.live(nodes, (fabric, span), batches, sink);
        sink.restore(batches, span.end);
    }
}

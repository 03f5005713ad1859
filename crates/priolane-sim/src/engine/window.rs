//! The window engine: no global event queue.
//!
//! Nothing crosses nodes faster than the lookahead L = min(propagation + smallest serialization), so each
//! node lives through a window of length L alone: its arrivals are sorted, merged with its own instants, and
//! worked through; whatever it sends arrives at others in a later window. Messages wait in a ring of windows,
//! by value; those beyond the ring wait in a heap. Windows in which nobody lives are skipped.

use std::ops::ControlFlow;

use priolane_core::ids::NodeId;
use priolane_core::packet::Body;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span as Length, Time};

use super::drive::{OnProgress, collect};
use super::mail::{Dimensions, LazyWire};
use super::network::Network;
use super::sheaf::{Inboxes, MAX_LENGTH};
use crate::node::fabric::Fabric;
use crate::outcome::{Outcome, RunError};

/// The order in which nodes live through a window; results must not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeOrder {
    /// By node.
    #[default]
    Natural,
    /// A new random order in each window, from this seed: a check that nodes are independent.
    Shuffled(u64),
}

/// Windows kept in the ring; messages further ahead wait in a heap.
const MAX_SLOTS: u64 = 64;
/// Windows between two reports of progress.
const REPORT_EVERY: u64 = 256;

/// Part of a run that nodes live through alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) sample_every: Option<Length>,
}

/// The sample instants of a window, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    next: Time,
    every: Length,
}

impl Span {
    /// The sample instants at or after the start of the window.
    #[inline]
    pub(crate) fn samples(&self) -> Ticks {
        match self.sample_every {
            None => Ticks { next: Time::NEVER, every: Length::ZERO },
            Some(every) => Ticks { next: Time(self.start.0.next_multiple_of(every.0)), every },
        }
    }

    /// When a node must live again that wants to at `next`: by the next sample instant, if that finds something there.
    #[inline]
    pub(crate) fn keep_alive(&self, next: Time, has_reading: impl FnOnce() -> bool) -> Time {
        match self.sample_every {
            Some(every) if has_reading() => next.min(Time(self.end.0.next_multiple_of(every.0))),
            _ => next,
        }
    }
}

impl Ticks {
    /// The next sample instant, if it lies before `t`.
    #[inline]
    pub(crate) fn next_before(&mut self, t: Time) -> Option<Time> {
        let instant = self.next;
        if instant >= t {
            return None;
        }
        self.next = instant + self.every;
        Some(instant)
    }
}

/// Window length and ring size for a scenario.
fn dimensions(fabric: &Fabric) -> Dimensions {
    let scenario = fabric.scenario;
    let lookahead = scenario.lookahead().0.max(1);
    let length = lookahead.min(MAX_LENGTH);
    let longest = scenario.longest_hop().0;
    let slots = (longest / length + 2).next_power_of_two().clamp(4, MAX_SLOTS);
    Dimensions { length, slots }
}

/// Runs the scenario of `fabric` to its end.
pub(crate) fn run<B: Body>(
    network: &mut Network<B>,
    fabric: &Fabric,
    order: NodeOrder,
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    let dimensions = dimensions(fabric);
    let length = dimensions.length;
    let mut wire = LazyWire::new(fabric, dimensions);
    for node in 0..network.places.len() as u32 {
        let (group, i) = network.at(NodeId(node));
        let first = group.first(i);
        wire.wake(NodeId(node), first.at());
    }
    let mut worker = Worker::new(order, Inboxes::new(network.places.len(), fabric.most_ingress));
    let mut next = 0;
    let mut windows = 0u64;
    while let Some(window) = wire.next_window(next) {
        let start = Time(window * length);
        let stop = wire.ending.stop_at();
        if start >= stop {
            break;
        }
        wire.enter(window);
        let span = Span { start, end: wire.end.min(stop), sample_every: fabric.scenario.sample_every };
        tell_hosts(network, fabric, &span, &mut wire);
        worker.live(network, fabric, &span, &mut wire);
        spread_news(network, fabric, &mut wire);
        if let Some(error) = wire.error.take() {
            return Err(error);
        }
        if span.end < wire.end {
            // The run stops within this window: a controller that is due later in it will never work.
            break;
        }
        windows += 1;
        if windows.is_multiple_of(REPORT_EVERY)
            && progress(wire.ending.progress(start)) == ControlFlow::Break(())
        {
            return Err(RunError::Interrupted);
        }
        next = window + 1;
    }
    let stop = wire.ending.stop_at();
    let _ = progress(wire.ending.progress(stop));
    collect(network, fabric, stop, &mut |out| {
        wire.on_links().for_each(|packet| out.resident(&packet.header));
        out.outcome().samples = std::mem::take(&mut wire.samples);
        out.outcome().thresholds = wire.control_plane.history(stop);
        out.outcome().work.events = wire.handled;
    })
}

/// The controller lives through `span`: hosts will be told, after it.
fn tell_hosts<B: Body>(network: &mut Network<B>, fabric: &Fabric, span: &Span, wire: &mut LazyWire<B>) {
    while let Some(news) = wire.control_plane.run_before(span.end) {
        for told in news {
            for host in 0..fabric.scenario.topology.hosts {
                let (group, i) = network.at(NodeId(host));
                group.tell(i, &told);
                wire.wake(NodeId(host), told.at);
            }
        }
    }
}

/// Hosts hear the news of the window, which arrives after it.
fn spread_news<B: Body>(network: &mut Network<B>, fabric: &Fabric, wire: &mut LazyWire<B>) {
    let mut sent = std::mem::take(&mut wire.news);
    for news in sent.drain(..) {
        if let Some(start) = network.hear(fabric, &news, wire) {
            wire.wake(fabric.scenario.topology.node_of(news.to), start);
        }
    }
    wire.news = sent;
}

/// Lets the nodes of a window live, one after the other.
#[derive(Debug)]
struct Worker<B> {
    nodes: Vec<NodeId>,
    inboxes: Inboxes<B>,
    shuffle: Option<Stream>,
}

impl<B: Body> Worker<B> {
    fn new(order: NodeOrder, inboxes: Inboxes<B>) -> Self {
        let shuffle = match order {
            NodeOrder::Natural => None,
            NodeOrder::Shuffled(seed) => Some(Stream::new(seed, Purpose::Ties, u64::MAX)),
        };
        Self { nodes: Vec::new(), inboxes, shuffle }
    }

    fn live(&mut self, network: &mut Network<B>, fabric: &Fabric, span: &Span, wire: &mut LazyWire<B>) {
        let Self { nodes, inboxes, shuffle } = self;
        wire.deal(inboxes, nodes, |nodes| {
            if let Some(stream) = shuffle {
                stream.shuffle(nodes);
            }
        });
        for &node in &*nodes {
            let (group, i) = network.at(node);
            let next = group.run_window(i, fabric, inboxes.take(node, span.end), span, wire);
            wire.wake(node, next);
        }
        wire.put_back(inboxes, span.end);
    }
}

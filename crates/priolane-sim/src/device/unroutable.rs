//! Packets without a route at a switch.

use priolane_core::ids::{CLASSES, NodeId};
use priolane_core::packet::{Body, Header};
use priolane_core::units::Time;

use super::fabric::Fabric;
use crate::device::event_sink::EventSink;
use crate::observe::collector::Collector;
use crate::observe::outcome::{PacketCount, RunError};

/// Packets of one switch without a route, by class. Without link failures they violate an invariant of the run.
#[derive(Debug)]
pub(crate) struct UnroutablePackets {
    node: NodeId,
    by_class: Option<Box<[PacketCount; CLASSES]>>,
}

impl UnroutablePackets {
    /// Creates the empty counters of the switch at `node`.
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, by_class: None }
    }

    /// Counts a packet without a route: links have failed, or the topology was not checked.
    #[cold]
    pub(crate) fn add<B: Body, W: EventSink<B>>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        header: &Header,
        sink: &mut W,
    ) {
        if fabric.links_fail() {
            self.by_class.get_or_insert_default()[usize::from(header.class) % CLASSES].add(header.wire);
            return;
        }
        sink.violated(RunError::Violation {
            what: format!("no route to {:?}", header.dst),
            at: now,
            place: fabric.scenario.topology.names[self.node.index()].clone(),
        });
    }

    /// Reports the counters.
    pub(crate) fn finish(&self, out: &mut Collector) {
        self.by_class.iter().for_each(|tallies| out.unrouted(tallies));
    }
}

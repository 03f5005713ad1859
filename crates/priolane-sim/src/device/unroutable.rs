//! Packets that find no way out of a switch.

use priolane_core::ids::{CLASSES, NodeId};
use priolane_core::packet::{Body, Header};
use priolane_core::units::Time;

use super::fabric::Fabric;
use crate::device::event_sink::EventSink;
use crate::observe::collector::Collector;
use crate::observe::outcome::{PacketCount, RunError};

/// Those of one switch, by class: none where no link fails, and then a run has broken an invariant.
#[derive(Debug)]
pub(crate) struct UnroutablePackets {
    node: NodeId,
    by_class: Option<Box<[PacketCount; CLASSES]>>,
}

impl UnroutablePackets {
    /// None yet, of the switch at `node`.
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, by_class: None }
    }

    /// A packet has no way out: links have failed, or the topology was not checked.
    #[cold]
    pub(crate) fn add<B: Body, W: EventSink<B>>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        header: &Header,
        wire: &mut W,
    ) {
        if fabric.links_fail() {
            self.by_class.get_or_insert_default()[usize::from(header.class) % CLASSES].add(header.wire);
            return;
        }
        wire.violated(RunError::Violation {
            what: format!("no route to {:?}", header.dst),
            at: now,
            place: fabric.scenario.topology.names[self.node.index()].clone(),
        });
    }

    /// Hands over what the run leaves.
    pub(crate) fn finish(&self, out: &mut Collector) {
        self.by_class.iter().for_each(|tallies| out.unrouted(tallies));
    }
}

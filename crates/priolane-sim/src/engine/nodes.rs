//! Nodes of one kind behind one dynamic call per group and window, so that any transport meets any port.

use priolane_core::endpoint::Endpoint;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::wheel_nodes::EventNodes;
use super::window_nodes::WindowNodes;
use crate::node::collector::Collector;
use crate::node::fabric::Fabric;
use crate::node::features::HostMessage;
use crate::node::host::Host;
use crate::node::lossless::LosslessSwitch;
use crate::node::switch::Switch;
use crate::wire::Due;

/// Nodes of one type, which both engines drive; `i` is the index of a node in its group.
pub(crate) trait NodeGroup<B: Body>: WindowNodes<B> + EventNodes<B> + Send {
    /// The first event that node `i` schedules for itself, before anything arrives.
    fn first_event(&self, i: usize) -> Due {
        let _ = i;
        Due::NEVER
    }

    /// A message is on its way to host `i`; the start of the flow that depended on it, if it is known now. Switches get
    /// none.
    fn on_message(&mut self, i: usize, message: HostMessage) -> Option<Time> {
        let _ = (i, message);
        None
    }

    /// The run ends at `at`: node `i` hands over its results.
    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector);
}

impl<E: Endpoint> NodeGroup<E::Body> for Vec<Host<E>> {
    fn first_event(&self, i: usize) -> Due {
        self[i].next_local()
    }

    fn on_message(&mut self, i: usize, message: HostMessage) -> Option<Time> {
        self[i].on_message(message)
    }

    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector) {
        self[i].finish(fabric, at, out);
    }
}

impl<B: Body, D: Discipline<Packet<B>>> NodeGroup<B> for Vec<Switch<D>> {
    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector) {
        self[i].finish(fabric, at, out);
    }
}

impl<B: Body> NodeGroup<B> for Vec<LosslessSwitch<B>> {
    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector) {
        self[i].finish(fabric, at, out);
    }
}

//! Node groups: nodes of one type behind one dynamic call per group and window, so that any transport meets any port.

use priolane_core::endpoint::Endpoint;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::wheel::nodes::EventNodes;
use super::window::nodes::WindowNodes;
use crate::device::event_sink::EventKey;
use crate::device::fabric::Fabric;
use crate::device::features::{HostMessage, OnScheduled};
use crate::device::host::Host;
use crate::device::lossless::LosslessSwitch;
use crate::device::switch::Switch;
use crate::observe::collector::Collector;

/// Nodes of one type, for both engines; `i` is the index of a node in its group.
pub(crate) trait NodeGroup<B: Body>: WindowNodes<B> + EventNodes<B> + Send {
    /// Returns the first event that node `i` schedules for itself before any arrival.
    fn first_event(&self, i: usize) -> EventKey {
        let _ = i;
        EventKey::NEVER
    }

    /// Sends a message to host `i`, and calls `scheduled` with each dependent flow whose start is now known. Switches
    /// get no messages.
    fn on_message(&mut self, i: usize, message: HostMessage, scheduled: OnScheduled) {
        let _ = (i, message, scheduled);
    }

    /// Ends the run at `at`: node `i` reports its results.
    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector);
}

impl<E: Endpoint> NodeGroup<E::Body> for Vec<Host<E>> {
    fn first_event(&self, i: usize) -> EventKey {
        self[i].next_event()
    }

    fn on_message(&mut self, i: usize, message: HostMessage, scheduled: OnScheduled) {
        self[i].on_message(message, scheduled);
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

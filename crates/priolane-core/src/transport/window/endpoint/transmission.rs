//! Transmission of a flow's next packet, and its departure from the host's transmit queue.

use std::num::NonZeroU64;

use super::Window;
use crate::endpoint::{Cx, SendId, Tx};
use crate::host::HostScheduler;
use crate::ids::HostId;
use crate::transport::common::Sending;
use crate::transport::window::body::Segment;
use crate::transport::window::config::Config;
use crate::transport::window::controller::CongestionControl;
use crate::transport::window::sender::{PlannedSegment, Sender};

/// Identifies a segment in the host's transmit queue.
#[derive(Clone, Copy, Debug)]
struct QueuedSegment {
    slot: u32,
    generation: u16,
    /// Above zero, so that the id is nonzero.
    len: u16,
}

impl QueuedSegment {
    fn name(self) -> Option<SendId> {
        let bits = u64::from(self.slot) << 32 | u64::from(self.generation) << 16 | u64::from(self.len);
        NonZeroU64::new(bits).map(SendId)
    }

    fn named(id: SendId) -> Self {
        let bits = id.0.get();
        Self { slot: (bits >> 32) as u32, generation: (bits >> 16) as u16, len: bits as u16 }
    }
}

impl<C: CongestionControl, S: HostScheduler, const FAST: bool> Window<C, S, FAST> {
    /// Sends one packet of the flow at `slot`, which the scheduler picked; `Idle` if it has nothing to send.
    #[inline(never)]
    pub(super) fn transmit_next(&mut self, slot: u32, cx: &Cx) -> Tx<Segment<C::Telemetry>> {
        let Self { flows, scheduler, config, .. } = self;
        let Some(sending) = flows.sending(slot) else {
            self.flows.senders.release(slot);
            return Tx::Idle;
        };
        let sender = &mut *sending.flow;
        let offered = sender.offered.take();
        debug_assert_eq!(sender.planned, sender.plan(config), "a change without a new plan");
        let Some(plan) = sender.planned else { return Tx::Idle };
        let level = sender.host_level(plan, config);
        if offered.is_some_and(|held| level > held) {
            sender.offered = Some(level);
            scheduler.offer(sender.candidate(slot, level));
            return Tx::Idle;
        }
        transmit(sending, plan, self.host, cx, config, scheduler)
    }

    /// Handles the departure of a packet from the host's transmit queue.
    pub(super) fn left_queue(&mut self, id: SendId) {
        let QueuedSegment { slot, generation, len } = QueuedSegment::named(id);
        if self.flows.senders.generation(slot) as u16 != generation {
            return;
        }
        if let Some(sender) = self.flows.senders.get_mut(slot) {
            sender.queued -= u64::from(len);
            self.refresh(slot);
        }
    }
}

/// Sends `plan` of the flow `sending`, plans its next segment and sets its timer.
#[inline(always)]
pub(in crate::transport::window) fn transmit<C: CongestionControl>(
    sending: Sending<'_, Sender<C>>,
    plan: PlannedSegment,
    host: HostId,
    cx: &Cx,
    config: &Config,
    scheduler: &mut impl HostScheduler,
) -> Tx<Segment<C::Telemetry>> {
    let (slot, generation, sender) = (sending.slot, sending.generation as u16, &mut *sending.flow);
    let packet = sender.emit(plan, host, cx, config);
    if C::PACED {
        sender.controller.on_sent(cx.now);
        sender.refresh_pacing(cx.now);
    }
    let id = config.queue_limit.and_then(|_| {
        sender.queued += plan.bytes();
        QueuedSegment { slot, generation, len: plan.len.get() }.name()
    });
    sender.streamed(cx.now, config);
    sender.refresh(slot, config, scheduler);
    sending.arm();
    Tx::Send { packet, id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_queued_segment_has_all_of_its_parts() {
        let mut names = std::collections::HashSet::new();
        for slot in [0, 1, 0x3fff_ffff] {
            for (generation, len) in [(0, 1), (1, 1), (0x8001, 0x7ffe), (u16::MAX, u16::MAX)] {
                let name = QueuedSegment { slot, generation, len }.name().unwrap();
                let read = QueuedSegment::named(name);
                assert_eq!((read.slot, read.generation, read.len), (slot, generation, len));
                assert!(names.insert(name.0));
            }
        }
    }
}

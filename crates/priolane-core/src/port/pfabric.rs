//! pFabric's port (SIGCOMM 2013 §4.2): a small buffer that keeps and serves the packets with the best rank.
//!
//! ```text
//! full       drop the packet with the worst rank, the latest of equals: the arriving packet itself if no queued packet
//!            is worse, or if evicting all worse packets does not make enough room
//! service    of the flow of the packet with the best rank, the earliest of equals, the packet that arrived first
//! ```
//!
//! The second half of the service rule keeps the packets of a flow in order although later ones have better ranks.

use std::collections::VecDeque;

use super::backlog::{Backlog, Bounds};
use super::{
    Admission, Buffer, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup, PortSink,
};
use crate::ids::FlowId;
use crate::keys::Keys;
use crate::packet::{Header, QueueItem};
use crate::part::Part;
use crate::units::Time;

/// The properties on which the order of service depends, and the place of the packet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    rank: u64,
    arrival: u64,
    flow: FlowId,
    slot: u32,
}

/// pFabric's port; it has no parameters but the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "pfabric",
    summary = "serves the flow with the smallest rank, its earliest packet first; drops the packet with the \
               largest rank",
    source = "pFabric (SIGCOMM 2013) §4.2",
    requires = [Ranks],
    deploy = [RankQueues],
    serves = "serve and drop by the rank of a flow",
    lacks = "queues that serve and drop by a rank in each packet",
    example = r#"buffer = { shared = "24pkt" }"#
)]
pub struct PFabricSpec;

impl OfKind for PFabricSpec {
    type Spec = Self;

    fn discipline(&self, _: &PortSetup<'_>) -> Self::Spec {
        *self
    }
}

impl KindRules for PFabricSpec {
    fn is_by_class(&self) -> bool {
        false
    }
}

impl PortFactory for PFabricSpec {
    type Port<P: QueueItem> = PFabric<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> PFabric<P> {
        PFabric::new(context.buffer)
    }

    fn reads_ranks(&self) -> bool {
        true
    }

    fn without_qdisc(&self) -> &'static str {
        "ports that sort packets by the remaining bytes of a flow: no qdisc does"
    }
}

/// Serves the flow with the best rank and drops the packet with the worst.
///
/// Buffers are small, some 24 packets: they are searched from end to end.
#[derive(Debug)]
pub struct PFabric<P> {
    /// By rank, then in order of arrival.
    queue: VecDeque<Waiting>,
    slots: Vec<P>,
    free: Vec<u32>,
    arrivals: u64,
    backlog: Backlog,
    bounds: Bounds,
}

impl<P: QueueItem> PFabric<P> {
    /// Creates an empty port; the limit of `buffer` applies to the whole port.
    pub fn new(buffer: Buffer) -> Self {
        Self {
            queue: VecDeque::new(),
            slots: Vec::new(),
            free: Vec::new(),
            arrivals: 0,
            backlog: Backlog::default(),
            bounds: buffer.into(),
        }
    }

    /// Evicts the worst packets if those worse than the packet of `header` make enough room for it.
    #[cold]
    fn make_room(&mut self, header: &Header, out: &mut dyn PortSink<P>) {
        let mut left = self.backlog;
        let mut staying = self.queue.len();
        for worst in self.queue.iter().rev().take_while(|waiting| waiting.rank > header.rank) {
            let bytes = u64::from(self.slots[worst.slot as usize].header().wire);
            left = left.without(Backlog { packets: 1, bytes });
            staying -= 1;
            if !left.exceeds_with(header.wire, self.bounds.drop) {
                break;
            }
        }
        if left.exceeds_with(header.wire, self.bounds.drop) {
            return;
        }
        for evicted in self.queue.drain(staying..).rev() {
            out.evicted(&self.slots[evicted.slot as usize]);
            self.free.push(evicted.slot);
        }
        self.backlog = left;
    }

    /// Returns the slot of a copy of `item`.
    fn store(&mut self, item: &P) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = *item;
            return slot;
        }
        self.slots.push(*item);
        (self.slots.len() - 1) as u32
    }
}

impl<P: QueueItem> Discipline<P> for PFabric<P> {
    fn enqueue(&mut self, _now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let header = item.header();
        if self.backlog.exceeds_with(header.wire, self.bounds.drop) {
            self.make_room(header, out);
        }
        let admission = self.bounds.admit(self.backlog, self.backlog, header);
        if admission == Admission::Dropped {
            return admission;
        }
        self.backlog.add(header.wire);
        self.arrivals += 1;
        let slot = self.store(item);
        admission.mark(&mut self.slots[slot as usize]);
        let waiting = Waiting { rank: header.rank, arrival: self.arrivals, flow: header.flow, slot };
        let place = self.queue.partition_point(|other| other.rank <= waiting.rank);
        self.queue.insert(place, waiting);
        admission
    }

    #[inline]
    fn try_bypass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        Some(self.bounds.admit_alone(header))
    }

    fn next_eligible_time(&self) -> Option<Time> {
        if self.queue.is_empty() { None } else { Some(Time::ZERO) }
    }

    fn dequeue(&mut self, _t: Time, _out: &mut dyn PortSink<P>) -> Option<&P> {
        let flow = self.queue.front()?.flow;
        let of_flow = self.queue.iter().enumerate().filter(|(_, waiting)| waiting.flow == flow);
        let (place, _) = of_flow.min_by_key(|(_, waiting)| waiting.arrival)?;
        let Waiting { slot, .. } = self.queue.remove(place)?;
        self.free.push(slot);
        let item = &self.slots[slot as usize];
        self.backlog.remove(item.header().wire);
        Some(item)
    }

    fn packets(&self) -> u32 {
        self.backlog.packets
    }

    fn bytes(&self) -> u64 {
        self.backlog.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use crate::port::tests::Log;
    use crate::units::Limit;

    fn packet(flow: u32, rank: u64, offset: u64) -> Packet<()> {
        let offset = crate::packet::Offset::new(offset);
        let header = Header { flow: FlowId(flow), rank, offset, wire: 1_000, ..Header::default() };
        Packet { header, body: () }
    }

    fn port(limit: Limit) -> PFabric<Packet<()>> {
        PFabric::new(Buffer { limit, ..Buffer::UNLIMITED })
    }

    /// Offers a packet; returns the outcome and the flows whose packets were evicted.
    fn offer(port: &mut PFabric<Packet<()>>, packet: &Packet<()>) -> (Admission, Vec<FlowId>) {
        let mut log = Log::default();
        let admission = port.enqueue(Time::ZERO, packet, &mut log);
        (admission, log.evicted.iter().map(|header| header.flow).collect())
    }

    fn drain(port: &mut PFabric<Packet<()>>) -> Vec<(u32, u64)> {
        let next = |_| port.dequeue(Time::ZERO, &mut ()).map(|p| (p.header.flow.0, p.header.offset.get()));
        (0..).map_while(next).collect()
    }

    #[test]
    fn the_flow_of_the_best_rank_goes_first_with_its_earliest_packet() {
        let mut port = port(Limit::Unlimited);
        for (flow, rank, offset) in [(1, 30, 0), (2, 20, 0), (1, 10, 1), (2, 20, 1), (3, 20, 0)] {
            assert_eq!(port.enqueue(Time::ZERO, &packet(flow, rank, offset), &mut ()), Admission::Queued);
        }
        // Rank 10 is of flow 1: its packet of rank 30 is served first, then rank 10; of rank 20 the earlier
        // arrivals first.
        assert_eq!(drain(&mut port), [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]);
        assert_eq!((port.packets(), port.bytes(), port.next_eligible_time()), (0, 0, None));
    }

    #[test]
    fn the_worst_rank_makes_way_of_equals_the_latest() {
        let mut port = port(Limit::Packets(3));
        for (flow, rank) in [(1, 30), (2, 20), (3, 30)] {
            port.enqueue(Time::ZERO, &packet(flow, rank, 0), &mut ());
        }
        assert_eq!(offer(&mut port, &packet(4, 10, 0)), (Admission::Queued, vec![FlowId(3)]));
        // No queued packet is worse than 30: the arriving packet is dropped.
        assert_eq!(offer(&mut port, &packet(5, 30, 0)), (Admission::Dropped, vec![]));
        assert_eq!(drain(&mut port), [(4, 0), (2, 0), (1, 0)]);
    }

    #[test]
    fn nothing_is_evicted_where_that_would_not_make_room() {
        let mut port = port(Limit::Bytes(2_000));
        let mut small = packet(1, 50, 0);
        small.header.wire = 84;
        port.enqueue(Time::ZERO, &packet(2, 5, 0), &mut ());
        port.enqueue(Time::ZERO, &small, &mut ());
        // 1000 + 84 + 1000 > 2000; without the 84 it fits.
        assert_eq!(offer(&mut port, &packet(3, 20, 0)), (Admission::Queued, vec![FlowId(1)]));
        // All packets of rank above 10 have 1000 B: room for 1000, not for 1500.
        let mut large = packet(4, 10, 0);
        large.header.wire = 1_500;
        assert_eq!(offer(&mut port, &large), (Admission::Dropped, vec![]));
        assert_eq!(port.packets(), 2);
    }
}

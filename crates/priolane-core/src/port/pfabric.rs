//! pFabric's port (SIGCOMM 2013 §4.2): a small buffer that keeps and serves the packets with the best rank.
//!
//! ```text
//! full       drop the packet with the worst rank, the latest of equals: the arriving packet itself if no queued packet
//!            is worse, or if evicting all worse packets does not make enough room
//! service    of the flow of the packet with the best rank, the earliest of equals, the packet that arrived first
//! ```
//!
//! The second half of the service rule keeps the packets of a flow in order although later ones have better ranks.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::backlog::{Backlog, Bounds};
use super::{
    Admission, Buffer, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup, PortSink,
};
use crate::ids::FlowId;
use crate::keys::Keys;
use crate::packet::{Header, QueueItem};
use crate::part::Part;
use crate::units::Time;

/// Order of service: rank, then order of arrival.
type Key = (u64, u64);

/// A queued packet and its arrival number.
#[derive(Debug)]
struct Waiting<P> {
    arrival: u64,
    item: P,
}

/// pFabric's port; it has no parameters but the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "pfabric",
    summary = "serves the flow with the smallest rank, its earliest packet first; drops the packet with the \
               largest rank",
    source = "pFabric (SIGCOMM 2013) §4.2",
    requires = [Ranks]
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
}

/// Serves the flow with the best rank and drops the packet with the worst.
#[derive(Debug)]
pub struct PFabric<P> {
    order: BTreeMap<Key, FlowId>,
    /// By flow, in order of arrival; flows without packets are removed.
    flows: FxHashMap<FlowId, VecDeque<Waiting<P>>>,
    /// Empty lists kept for reuse.
    spare: Vec<VecDeque<Waiting<P>>>,
    /// The packet dequeued last.
    started: P,
    arrivals: u64,
    backlog: Backlog,
    bounds: Bounds,
}

impl<P: QueueItem> PFabric<P> {
    /// Creates an empty port; the limit of `buffer` applies to the whole port.
    pub fn new(buffer: Buffer) -> Self {
        Self {
            order: BTreeMap::new(),
            flows: FxHashMap::default(),
            spare: Vec::new(),
            started: P::default(),
            arrivals: 0,
            backlog: Backlog::default(),
            bounds: buffer.into(),
        }
    }

    fn wire(&self, (_, arrival): Key, flow: FlowId) -> u16 {
        let queued = self.flows.get(&flow).and_then(|list| Some(&list[place(list, arrival)?]));
        queued.map_or(0, |waiting| waiting.item.header().wire)
    }

    /// Evicts the worst packets if those worse than the packet of `header` make enough room for it.
    #[cold]
    fn make_room(&mut self, header: &Header, out: &mut dyn PortSink<P>) {
        let mut left = self.backlog;
        let worse = |key: &Key| key.0 > header.rank;
        let mut leaving = 0;
        for (&key, &flow) in self.order.iter().rev().take_while(|(key, _)| worse(key)) {
            left = left.without(Backlog { packets: 1, bytes: u64::from(self.wire(key, flow)) });
            leaving += 1;
            if !left.exceeds_with(header.wire, self.bounds.drop) {
                break;
            }
        }
        if left.exceeds_with(header.wire, self.bounds.drop) {
            return;
        }
        for _ in 0..leaving {
            let Some((key, flow)) = self.order.pop_last() else { break };
            if let Some(item) = self.take(flow, |list| place(list, key.1)) {
                out.evicted(&item);
            }
        }
    }

    /// Removes the packet that `pick` selects from the list of `flow`.
    fn take(&mut self, flow: FlowId, pick: impl FnOnce(&VecDeque<Waiting<P>>) -> Option<usize>) -> Option<P> {
        let list = self.flows.get_mut(&flow)?;
        let item = list.remove(pick(list)?)?.item;
        if list.is_empty() {
            self.spare.extend(self.flows.remove(&flow));
        }
        self.backlog.remove(item.header().wire);
        Some(item)
    }
}

/// Returns the index of the packet with this arrival number in a list.
fn place<P>(list: &VecDeque<Waiting<P>>, arrival: u64) -> Option<usize> {
    list.binary_search_by_key(&arrival, |waiting| waiting.arrival).ok()
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
        self.order.insert((header.rank, self.arrivals), header.flow);
        let mut waiting = Waiting { arrival: self.arrivals, item: *item };
        admission.mark(&mut waiting.item);
        let spare = &mut self.spare;
        let list = self.flows.entry(header.flow).or_insert_with(|| spare.pop().unwrap_or_default());
        list.push_back(waiting);
        admission
    }

    #[inline]
    fn try_bypass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        Some(self.bounds.admit_alone(header))
    }

    fn next_eligible_time(&self) -> Option<Time> {
        if self.order.is_empty() { None } else { Some(Time::ZERO) }
    }

    fn dequeue(&mut self, _t: Time, _out: &mut dyn PortSink<P>) -> Option<&P> {
        let (_, &flow) = self.order.first_key_value()?;
        let first = self.flows.get(&flow)?.front()?;
        self.order.remove(&(first.item.header().rank, first.arrival));
        self.started = self.take(flow, |_| Some(0))?;
        Some(&self.started)
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

//! One queue sorted by the header's rank: the ideal port to compare schemes with.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::backlog::{Backlog, Bounds};
use super::{
    Admission, Buffer, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup, PortSink,
};
use crate::keys::Keys;
use crate::packet::{Header, QueueItem};
use crate::part::Part;
use crate::units::Time;

#[derive(Debug)]
struct Entry<P> {
    rank: u64,
    arrival: u64,
    item: P,
}

impl<P> PartialEq for Entry<P> {
    fn eq(&self, other: &Self) -> bool {
        (self.rank, self.arrival) == (other.rank, other.arrival)
    }
}

impl<P> Eq for Entry<P> {}

impl<P> PartialOrd for Entry<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for Entry<P> {
    /// Reversed: the maximum of the heap is the smallest rank, the earliest of equals.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.rank, other.arrival).cmp(&(self.rank, self.arrival))
    }
}

/// One queue sorted by the header's rank; it has no parameters but the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "ranked",
    summary = "one queue sorted by the rank in the packet, smallest first; window transports use the \
               remaining bytes as rank",
    source = "pFabric (SIGCOMM 2013) §4.1",
    requires = [Ranks],
    deploy = [RankQueues],
    serves = "sort packets by a rank",
    lacks = "queues sorted by a rank in each packet",
    example = r#"buffer = { shared = "240pkt" }"#
)]
pub struct RankedSpec;

impl OfKind for RankedSpec {
    type Spec = Self;

    fn discipline(&self, _: &PortSetup<'_>) -> Self::Spec {
        *self
    }
}

impl KindRules for RankedSpec {
    fn is_by_class(&self) -> bool {
        false
    }
}

impl PortFactory for RankedSpec {
    type Port<P: QueueItem> = Ranked<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> Ranked<P> {
        Ranked::new(context.buffer)
    }

    fn reads_ranks(&self) -> bool {
        true
    }

    fn without_qdisc(&self) -> &'static str {
        "ports that sort packets by the remaining bytes of a flow: no qdisc does"
    }
}

/// Serves the smallest rank first, equal ranks in order of arrival; tail drop.
#[derive(Debug)]
pub struct Ranked<P> {
    heap: BinaryHeap<Entry<P>>,
    /// The packet dequeued last.
    started: P,
    arrivals: u64,
    backlog: Backlog,
    bounds: Bounds,
}

impl<P: QueueItem> Ranked<P> {
    /// Creates an empty queue with this buffer.
    pub fn new(buffer: Buffer) -> Self {
        Self {
            heap: BinaryHeap::new(),
            started: P::default(),
            arrivals: 0,
            backlog: Backlog::default(),
            bounds: buffer.into(),
        }
    }
}

impl<P: QueueItem> Discipline<P> for Ranked<P> {
    fn enqueue(&mut self, _now: Time, item: &P, _out: &mut dyn PortSink<P>) -> Admission {
        let header = item.header();
        let admission = self.bounds.admit(self.backlog, self.backlog, header);
        if admission != Admission::Dropped {
            self.backlog.add(header.wire);
            self.arrivals += 1;
            let mut entry = Entry { rank: header.rank, arrival: self.arrivals, item: *item };
            admission.mark(&mut entry.item);
            self.heap.push(entry);
        }
        admission
    }

    #[inline]
    fn try_bypass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        Some(self.bounds.admit_alone(header))
    }

    fn next_eligible_time(&self) -> Option<Time> {
        if self.heap.is_empty() { None } else { Some(Time::ZERO) }
    }

    fn dequeue(&mut self, _t: Time, _out: &mut dyn PortSink<P>) -> Option<&P> {
        self.started = self.heap.pop()?.item;
        self.backlog.remove(self.started.header().wire);
        Some(&self.started)
    }

    fn packets(&self) -> u32 {
        self.backlog.packets
    }

    fn bytes(&self) -> u64 {
        self.backlog.bytes
    }
}

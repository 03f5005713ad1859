//! SP-PIFO: strict queues with adaptive rank bounds that approximate a sorted queue (Alcoz et al., NSDI 2020).
//!
//! ```text
//! q_1 ... q_n   bound of each queue, initially 0; queue 1 is served first
//! queue         the last i with q_i <= r; queue 1 if there is none                     (r: rank of the packet)
//! push-up       q_i = r
//! push-down     if r < q_1, an inversion: all bounds are lowered by q_1 - r
//! ```
//!
//! Bounds stay in order, and none falls below 0, because push-down subtracts q_1 - r from bounds of at least q_1. A
//! dropped packet changes no bound, as in the authors' simulator.

use super::backlog::{Backlog, Bounds};
use super::{
    Admission, Buffer, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup, PortSink, Scope,
};
use crate::chunked_queue::ChunkedQueue;
use crate::keys::{KeyConflict, Keys};
use crate::packet::{Header, QueueItem};
use crate::part::Part;
use crate::units::Time;

/// The parameters of SP-PIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "sp_pifo")]
#[part(
    name = "sp_pifo",
    summary = "strict-priority queues whose bounds follow the ranks of packets: approximates one sorted \
               queue",
    source = "SP-PIFO (NSDI 2020)",
    requires = [Ranks],
    deploy = [RankQueues],
    serves = "have {queues} strict priorities whose bounds follow ranks",
    lacks = "queue bounds that follow the ranks of packets (SP-PIFO)",
    example = r#"buffer = { shared = "240pkt" }"#
)]
pub struct SpPifoSpec {
    /// Number of queues, 1 to 16.
    #[key(default = 8, group = "queues", range = "[1, 16]", source = "SP-PIFO (NSDI 2020)")]
    pub queues: u8,
}

impl OfKind for SpPifoSpec {
    type Spec = Self;

    fn discipline(&self, _: &PortSetup<'_>) -> Self::Spec {
        *self
    }
}

impl KindRules for SpPifoSpec {
    fn is_by_class(&self) -> bool {
        false
    }

    fn check_average(&self, name: &str, per: Scope) -> Result<(), KeyConflict> {
        if per == Scope::Port {
            return Ok(());
        }
        let what = format!("at a port of kind {name} ranks move between queues, so no queue has an average");
        Err(KeyConflict::of("ecn.average", what, "ecn.per = \"port\", or no average"))
    }
}

impl PortFactory for SpPifoSpec {
    type Port<P: QueueItem> = SpPifo<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> SpPifo<P> {
        SpPifo::new(self.queues, context.buffer)
    }

    fn reads_ranks(&self) -> bool {
        true
    }

    fn without_qdisc(&self) -> &'static str {
        "ports that sort packets by a rank: no qdisc reads the rank of a packet"
    }
}

/// A queue and the smallest rank that it accepts.
#[derive(Debug)]
struct Queue<P> {
    bound: u64,
    items: ChunkedQueue<P>,
    backlog: Backlog,
}

/// Strict queues with bounds that adapt to the ranks; tail drop.
#[derive(Debug)]
pub struct SpPifo<P> {
    /// In order of service.
    queues: Vec<Queue<P>>,
    total: Backlog,
    limits: Bounds,
}

impl<P: QueueItem> SpPifo<P> {
    /// Creates `queues` empty queues, at least one.
    pub fn new(queues: u8, buffer: Buffer) -> Self {
        let empty = || Queue { bound: 0, items: ChunkedQueue::default(), backlog: Backlog::default() };
        Self {
            queues: (0..queues.max(1)).map(|_| empty()).collect(),
            total: Backlog::default(),
            limits: buffer.into(),
        }
    }

    /// Returns the queue that a packet of this rank joins.
    #[inline]
    fn queue_of(&self, rank: u64) -> usize {
        self.queues.iter().rposition(|queue| queue.bound <= rank).unwrap_or(0)
    }

    /// Adapts the bounds after a packet of this rank joined queue `q`.
    #[inline]
    fn adapt(&mut self, q: usize, rank: u64) {
        let inversion = self.queues[q].bound.saturating_sub(rank);
        self.queues[q].bound = rank;
        if inversion > 0 {
            self.queues[q + 1..].iter_mut().for_each(|queue| queue.bound -= inversion);
        }
    }
}

impl<P: QueueItem> Discipline<P> for SpPifo<P> {
    fn enqueue(&mut self, _now: Time, item: &P, _out: &mut dyn PortSink<P>) -> Admission {
        let header = item.header();
        let q = self.queue_of(header.rank);
        let queue = &mut self.queues[q];
        let admission = self.limits.admit(self.total, queue.backlog, header);
        if admission != Admission::Dropped {
            queue.backlog.add(header.wire);
            self.total.add(header.wire);
            admission.mark(queue.items.push(item));
            self.adapt(q, header.rank);
        }
        admission
    }

    fn try_bypass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        let admission = self.limits.admit_alone(header);
        if admission != Admission::Dropped {
            self.adapt(self.queue_of(header.rank), header.rank);
        }
        Some(admission)
    }

    fn next_eligible_time(&self) -> Option<Time> {
        (self.total.packets > 0).then_some(Time::ZERO)
    }

    fn dequeue(&mut self, _t: Time, _out: &mut dyn PortSink<P>) -> Option<&P> {
        let queue = self.queues.iter_mut().find(|queue| queue.backlog.packets > 0)?;
        let item = queue.items.pop()?;
        queue.backlog.remove(item.header().wire);
        self.total.remove(item.header().wire);
        Some(item)
    }

    fn packets(&self) -> u32 {
        self.total.packets
    }

    fn bytes(&self) -> u64 {
        self.total.bytes
    }

    fn bytes_before(&self, header: &Header) -> u64 {
        self.queues[self.queue_of(header.rank)].backlog.bytes
    }

    fn packets_before(&self, header: &Header) -> u32 {
        self.queues[self.queue_of(header.rank)].backlog.packets
    }
}

#[cfg(test)]
mod tests;

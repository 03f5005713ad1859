//! AIFO: a single FIFO queue that admits the packets that a sorted queue would keep (Yu et al., SIGCOMM 2021).
//!
//! ```text
//! C, c       capacity of the queue; its backlog
//! W          ranks of recently arrived packets (one sample per `sample` packets), whether admitted or not
//! quantile   fraction of W with a better rank than the packet
//! admit      c <= k C,  or  quantile <= (C - c) / ((1 - k) C)                           (Algorithm 1)
//! ```
//!
//! The rank of a packet is the value that its class maps to, 0 the best: virtual priority within the switch.
//! Admitted packets are never reordered.

use super::class_map::CLASS_IS_QUEUE;
use super::kind_rules::one_sorted_queue;
use super::{
    Admission, Buffer, BufferSpec, Discipline, Fifo, KindRules, OfKind, PortContext, PortFactory, PortSetup,
    PortSink,
};
use crate::ids::CLASSES;
use crate::keys::{KeyConflict, Keys, Thousandths};
use crate::packet::{Header, QueueItem};
use crate::part::Part;
use crate::units::{Limit, Time};

/// One whole, in thousandths.
const WHOLE: u128 = 1_000;

/// The parameters of AIFO; the default is that of the paper, with the class as the rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Keys, Part)]
#[part(
    name = "aifo",
    summary = "one first-in first-out queue that drops what a sorted queue would drop, by quantiles of \
               recent ranks",
    source = "AIFO (SIGCOMM 2021) Algorithm 1; docs/assumptions.md#switch-side",
    deploy = [RankQueues],
    serves = "admit packets by quantiles of recent ranks",
    lacks = "admission by quantiles of recent ranks (AIFO)",
    example = r#"buffer = { shared = "240pkt" }"#
)]
pub struct AifoSpec {
    /// Number of ranks in the window W, from which quantiles are computed.
    #[key(default = 20, range = "[1, 1000]", unit = "pkt", source = "AIFO §6")]
    pub window: u16,
    /// Sampling interval: one of this many packets enters W.
    #[key(default = 1, range = "[1, 1000]", unit = "pkt", source = "docs/assumptions.md#switch-side")]
    pub sample: u16,
    /// Fraction of the buffer up to which every packet is admitted, in thousandths.
    #[key(name = "k", default = 100, form = Thousandths, range = "[0, 0.999]", source = "AIFO §6")]
    pub k_thousandths: u32,
    /// The rank of each class, below 16, 0 the best.
    #[keys(skip = CLASS_IS_QUEUE)]
    pub map: [u8; CLASSES],
}

impl OfKind for AifoSpec {
    type Spec = Self;

    fn discipline(&self, setup: &PortSetup<'_>) -> Self::Spec {
        Self { map: setup.map, ..*self }
    }
}

impl KindRules for AifoSpec {
    fn queues(&self) -> u8 {
        CLASSES as u8
    }

    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), KeyConflict> {
        one_sorted_queue(name, buffer)?;
        if !matches!(buffer, BufferSpec::Unbounded) {
            return Ok(());
        }
        let what = "admission depends on the occupancy of the buffer, which is unbounded";
        Err(KeyConflict::of("buffer", what, "buffer = { shared = \"240pkt\" }"))
    }
}

impl PortFactory for AifoSpec {
    type Port<P: QueueItem> = Aifo<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> Aifo<P> {
        Aifo::new(*self, context.buffer)
    }

    fn without_qdisc(&self) -> &'static str {
        "ports that sort packets by a rank: no qdisc reads the rank of a packet"
    }
}

/// The window W of recent ranks.
#[derive(Debug)]
struct Recent {
    ranks: Vec<u8>,
    /// Number of entries per rank.
    of: [u16; CLASSES],
    next: usize,
    length: usize,
}

impl Recent {
    fn new(length: u16) -> Self {
        let length = usize::from(length.max(1));
        Self { ranks: Vec::with_capacity(length), of: [0; CLASSES], next: 0, length }
    }

    fn enter(&mut self, rank: u8) {
        if self.ranks.len() < self.length {
            self.ranks.push(rank);
        } else {
            let oldest = std::mem::replace(&mut self.ranks[self.next], rank);
            self.of[usize::from(oldest)] -= 1;
            self.next = (self.next + 1) % self.length;
        }
        self.of[usize::from(rank)] += 1;
    }

    /// Returns how many entries have a better rank than `rank`, and the number of entries.
    fn better(&self, rank: u8) -> (u128, u128) {
        let better: u32 = self.of[..usize::from(rank)].iter().map(|&n| u32::from(n)).sum();
        (u128::from(better), self.ranks.len() as u128)
    }
}

/// A FIFO queue with admission by rank.
#[derive(Debug)]
pub struct Aifo<P> {
    queue: Fifo<P>,
    limit: Limit,
    spec: AifoSpec,
    recent: Recent,
    /// Number of packets until the next sample.
    until_sample: u16,
}

impl<P: QueueItem> Aifo<P> {
    /// Creates an empty port. An unlimited buffer admits everything.
    pub fn new(spec: AifoSpec, buffer: Buffer) -> Self {
        let map = spec.map.map(|rank| rank.min(CLASSES as u8 - 1));
        let spec = AifoSpec { map, ..spec };
        let recent = Recent::new(spec.window);
        Self { queue: Fifo::new(buffer), limit: buffer.limit, spec, recent, until_sample: 0 }
    }

    /// Adds the rank of an arriving packet to W if it is sampled.
    fn see(&mut self, rank: u8) {
        if self.until_sample == 0 {
            self.until_sample = self.spec.sample.max(1);
            self.recent.enter(rank);
        }
        self.until_sample -= 1;
    }

    /// Applies the admission rule to the backlog before the packet.
    fn admits(&self, rank: u8) -> bool {
        let (room, used) = match self.limit {
            Limit::Packets(room) => (u128::from(room), u128::from(self.queue.packets())),
            Limit::Bytes(room) => (u128::from(room), u128::from(self.queue.bytes())),
            Limit::Unlimited => return true,
        };
        let k = u128::from(self.spec.k_thousandths);
        let (better, of) = self.recent.better(rank);
        WHOLE * used <= k * room || better * (WHOLE - k) * room <= room.saturating_sub(used) * WHOLE * of
    }

    fn rank(&self, header: &Header) -> u8 {
        self.spec.map[usize::from(header.class) % CLASSES]
    }
}

impl<P: QueueItem> Discipline<P> for Aifo<P> {
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let rank = self.rank(item.header());
        self.see(rank);
        if self.admits(rank) { self.queue.enqueue(now, item, out) } else { Admission::Dropped }
    }

    #[inline]
    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        self.see(self.rank(header));
        self.queue.try_bypass(now, header)
    }

    #[inline]
    fn next_eligible_time(&self) -> Option<Time> {
        self.queue.next_eligible_time()
    }

    #[inline]
    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        self.queue.dequeue(t, out)
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.queue.packets()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;

    fn packet(class: u8) -> Packet<()> {
        Packet { header: Header { class, wire: 1_000, ..Header::default() }, body: () }
    }

    fn port(room: u32, window: u16) -> Aifo<Packet<()>> {
        let buffer = Buffer { limit: Limit::Packets(room), ..Buffer::UNLIMITED };
        Aifo::new(AifoSpec { window, ..AifoSpec::default() }, buffer)
    }

    fn offer(port: &mut Aifo<Packet<()>>, classes: &[u8]) -> Vec<bool> {
        classes
            .iter()
            .map(|&class| port.enqueue(Time::ZERO, &packet(class), &mut ()) == Admission::Queued)
            .collect()
    }

    #[test]
    fn worse_ranks_are_refused_as_the_queue_fills() {
        let mut port = port(10, 4);
        // Up to k C = 1 queued packet everything is admitted. Rank 0 fills six slots: nothing in W is better.
        assert_eq!(offer(&mut port, &[0, 0, 0, 0, 0, 0]), [true; 6]);
        // W = 0 0 0 5: three quarters are better; 4 of the 9 packets in 0.9 C are free.
        assert_eq!(offer(&mut port, &[5]), [false]);
        // W = 0 0 5 5: one half is better, above 4 / 9; then 0 5 5 5: a quarter.
        assert_eq!(offer(&mut port, &[5, 5]), [false, true]);
        // The best rank is admitted until the buffer is full: 7 are queued, 3 more are admitted.
        assert_eq!(offer(&mut port, &[0, 0, 0, 0]), [true, true, true, false]);
    }

    #[test]
    fn what_is_admitted_leaves_in_the_order_in_which_it_came() {
        let mut port = port(100, 20);
        offer(&mut port, &[3, 1, 2, 0]);
        let classes: Vec<u8> =
            std::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ()).map(|p| p.header.class)).collect();
        assert_eq!(classes, [3, 1, 2, 0]);
        assert_eq!((port.packets(), port.bytes(), port.next_eligible_time()), (0, 0, None));
    }

    #[test]
    fn one_rank_is_tail_drop_and_no_limit_admits_all() {
        let mut same = port(3, 20);
        assert_eq!(offer(&mut same, &[7, 7, 7, 7]), [true, true, true, false]);
        let mut free = Aifo::new(AifoSpec { map: [0; CLASSES], ..AifoSpec::default() }, Buffer::UNLIMITED);
        assert!(offer(&mut free, &[9; 500]).iter().all(|&in_queue| in_queue));
    }

    #[test]
    fn of_so_many_packets_one_enters_the_window() {
        let mut port = port(10, 2);
        port.spec.sample = 3;
        offer(&mut port, &[0, 9, 9, 1, 9, 9]);
        assert_eq!(port.recent.ranks, [0, 1]);
        offer(&mut port, &[2]);
        assert_eq!(port.recent.ranks, [2, 1]);
        assert_eq!(port.recent.better(3), (2, 2));
    }

    #[test]
    fn a_packet_that_passes_an_empty_queue_is_seen_too() {
        let mut port = port(10, 4);
        assert_eq!(port.try_bypass(Time::ZERO, &packet(0).header), Some(Admission::Queued));
        assert_eq!(port.recent.ranks, [0]);
    }
}

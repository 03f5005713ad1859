//! Strict priority: serves the first non-empty queue at each packet boundary (NOS2 §III-A).

use super::class_map::CLASS_IS_QUEUE;
use super::kind_rules::ordinary;
use super::multi_queue::{self, MultiQueue, Order, Sorting, mapped};
use super::{Buffer, BufferSpec, KindRules, PortContext, PortFactory, SortBy};
use crate::ids::{CLASSES, Class};
use crate::keys::{KeyConflict, Keys};
use crate::packet::{Header, QueueItem};
use crate::part::Part;

/// Strict priority over several queues, 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "strict")]
#[part(
    name = "strict",
    summary = "strict priority: the first non-empty queue is served, never preempting a packet",
    source = "NOS2 (GLOBECOM 2019) §III-A",
    provides = [ClassPause],
    serves = "have {queues} strict priorities",
    example = r#"queues = 8, buffer = { shared = "240pkt" }"#
)]
pub struct StrictSpec {
    /// Number of queues, 1 to 16.
    #[key(required = "queues = 8", group = "queues", range = "[1, 16]", source = "NOS2 §III-A")]
    pub queues: u8,
    /// The queue of each class, or of each level at a host; larger values mean the last queue.
    #[keys(skip = CLASS_IS_QUEUE)]
    pub map: [u8; CLASSES],
}

impl KindRules for StrictSpec {
    fn queues(&self) -> u8 {
        self.queues
    }

    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), KeyConflict> {
        if matches!(buffer, BufferSpec::PushOut { .. }) { Ok(()) } else { ordinary(name, buffer) }
    }
}

impl PortFactory for StrictSpec {
    type Port<P: QueueItem> = Strict<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> Strict<P> {
        Strict::new(self.queues, self.map, context.sort_by, context.buffer)
    }

    fn queue_of(&self, class: Class) -> u8 {
        mapped(&self.map, self.queues, class)
    }

    fn cost(&self) -> f64 {
        multi_queue::COST
    }

    fn is_pausable(&self) -> bool {
        true
    }
}

/// N queues served in strict order, 0 first, without preemption.
pub type Strict<P> = MultiQueue<P, StrictOrder>;

/// Serves the first non-empty queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrictOrder;

impl Order for StrictOrder {
    #[inline]
    fn begin(&mut self, _q: usize, _wire: u16) {}

    #[inline]
    fn pick(&mut self, occupied: u32) -> usize {
        occupied.trailing_zeros() as usize
    }

    #[inline]
    fn served(&mut self, _q: usize, _next: Option<u16>) {}
}

impl<P: QueueItem> Strict<P> {
    /// Creates `queues` empty queues (1 to 16). `map` gives the queue of each class; larger values mean the last
    /// queue.
    pub fn new(queues: u8, map: [u8; CLASSES], sort_by: SortBy, buffer: Buffer) -> Self {
        Self::in_order(Sorting { queues, map, by: sort_by }, buffer, StrictOrder)
    }

    /// Returns true if the port has room for a packet.
    #[inline]
    pub(super) fn fits(&self, header: &Header) -> bool {
        !self.total.exceeds_with(header.wire, self.bounds.drop)
    }

    /// Returns true if the port would have room for a packet if all queues worse than the packet's were empty.
    pub(super) fn fits_without_worse(&self, header: &Header) -> bool {
        let worse = &self.queues[self.queue_of(header) + 1..];
        let rest = worse.iter().fold(self.total, |rest, queue| rest.without(queue.backlog));
        !rest.exceeds_with(header.wire, self.bounds.drop)
    }

    /// Evicts the last packet of the worst non-empty queue, if that queue is worse than that of the packet with
    /// `header`.
    pub(super) fn evict_worse_than(&mut self, header: &Header) -> Option<&P> {
        let q = self.occupied.checked_ilog2()? as usize;
        if q <= self.queue_of(header) {
            return None;
        }
        let queue = &mut self.queues[q];
        let item = queue.items.pop_last()?;
        queue.backlog.remove(item.header().wire);
        self.total.remove(item.header().wire);
        if queue.backlog.packets == 0 {
            self.occupied &= !(1 << q);
        }
        Some(item)
    }
}

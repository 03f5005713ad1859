//! From parameters to ports: what a discipline is built from.

use super::{Buffer, Discipline, SortBy};
use crate::ids::{Class, LinkId};
use crate::packet::{Frame, QueueItem};
use crate::rng::{Purpose, Stream};
use crate::units::Rate;

/// The place of a port, and what all disciplines have in common.
#[derive(Clone, Copy, Debug)]
pub struct PortContext {
    /// The link that the port leads to.
    pub link: LinkId,
    /// The rate of the link.
    pub rate: Rate,
    /// Buffer and marking.
    pub buffer: Buffer,
    /// What a discipline with several queues sorts by.
    pub sort_by: SortBy,
    /// Packet sizes on the wire.
    pub frame: Frame,
    /// Whether headers can go back to their senders from here.
    pub returns: Returns,
    /// Seed of the run.
    pub seed: u64,
}

impl PortContext {
    /// A random stream of the port's own.
    pub fn rng(&self) -> Stream {
        Stream::new(self.seed, Purpose::Port, u64::from(self.link.0))
    }
}

/// Whether a port can send headers back to their senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Yes: a switch port.
    Forwarded,
    /// No: a host's own queue, where such a packet is dropped instead.
    Dropped,
}

/// The parameters of a discipline, of which its ports are built.
pub trait PortFactory: Clone + std::fmt::Debug {
    /// The discipline, over packets or what stands for them in a node.
    type Port<P: QueueItem>: Discipline<P>;

    /// An empty port.
    fn build<P: QueueItem>(&self, context: &PortContext) -> Self::Port<P>;

    /// The number of the queue that packets of `class` join, as results name it. Default: 0, the only queue.
    fn queue_of(&self, class: Class) -> u8 {
        let _ = class;
        0
    }

    /// Whether single classes can be paused (PFC). Default: no.
    fn is_pausable(&self) -> bool {
        false
    }

    /// Whether a port may hold packets back although the line is free. Default: no.
    fn is_limited(&self) -> bool {
        false
    }
}

//! Builds ports from their parameters.

use super::{Buffer, Discipline, SortBy};
use crate::ids::{Class, LinkId};
use crate::packet::{Frame, QueueItem};
use crate::rng::{CounterRng, Purpose};
use crate::units::Rate;

/// The context of a port: its location, and what all disciplines have in common.
#[derive(Clone, Copy, Debug)]
pub struct PortContext {
    /// The link that the port transmits on.
    pub link: LinkId,
    /// The rate of the link.
    pub rate: Rate,
    /// Buffer limit and marking threshold.
    pub buffer: Buffer,
    /// The header field by which a multi-queue discipline selects the queue.
    pub sort_by: SortBy,
    /// Packet sizes on the wire.
    pub frame: Frame,
    /// Whether this port can send headers back to their senders.
    pub returns: Returns,
    /// Seed of the run.
    pub seed: u64,
}

impl PortContext {
    /// Returns the generator from which this port's random choices are drawn.
    pub fn rng(&self) -> CounterRng {
        CounterRng::new(self.seed, Purpose::Port, u64::from(self.link.0))
    }
}

/// Whether a port can send headers back to their senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// It can: a switch port.
    Forwarded,
    /// It cannot: a host's own queue, which drops such a packet instead.
    Dropped,
}

/// The parameters of a discipline; builds its ports.
pub trait PortFactory: Clone + std::fmt::Debug {
    /// The discipline, over packets or the items that represent them in a node.
    type Port<P: QueueItem>: Discipline<P>;

    /// Creates an empty port.
    fn build<P: QueueItem>(&self, context: &PortContext) -> Self::Port<P>;

    /// Returns the number of the queue that packets of `class` join, as shown in results. Default: 0, the only
    /// queue.
    fn queue_of(&self, class: Class) -> u8 {
        let _ = class;
        0
    }

    /// Returns true if single classes can be paused (PFC). Default: false.
    fn is_pausable(&self) -> bool {
        false
    }

    /// Returns true if a port may hold packets back while the link is free. Default: false.
    fn is_limited(&self) -> bool {
        false
    }

    /// Returns true if a switch port may send headers back to their senders ([`PortSink::returned`](super::PortSink::returned)).
    /// An engine then takes the arrivals of all ports of a switch in order of time. Default: false.
    fn sends_back(&self) -> bool {
        false
    }

    /// Returns true if a port reads the rank of packets ([`Header::rank`](crate::packet::Header::rank)), so that real
    /// packets must carry it. Default: false.
    fn reads_ranks(&self) -> bool {
        false
    }

    /// Returns the time of a packet-hop through such a port, divided by that through a FIFO port; `check` predicts the run
    /// time from it (docs/performance.md). Default: 1.
    fn cost(&self) -> f64 {
        1.0
    }

    /// Returns the reason why no qdisc of Linux is such a port, for messages. Default: one that says nothing of the
    /// kind.
    fn without_qdisc(&self) -> &'static str {
        "ports of this kind: no qdisc is one"
    }
}

//! Prefetches of a switch that runs soon.

use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::prefetch::prefetch;

use super::Switch;

/// Elements of the list of ports with a backlog on a cache line.
const ON_A_LINE: usize = 4;

impl<D> Switch<D> {
    /// Prefetches the list of ports with a backlog.
    #[inline]
    pub(crate) fn prefetch_backlog(&self) {
        self.busy.iter().step_by(ON_A_LINE).for_each(prefetch);
    }

    /// Prefetches the ports with a backlog, whose list is in the cache.
    #[inline]
    pub(crate) fn prefetch_busy(&self) {
        self.busy.iter().for_each(|busy| self.prefetch_port(busy.port as usize));
    }

    /// Prefetches the queues of the ports with a backlog, which are in the cache.
    #[inline]
    pub(crate) fn prefetch_queues<B: Body>(&self)
    where
        D: Discipline<Packet<B>>,
    {
        self.busy.iter().for_each(|busy| self.ports[busy.port as usize].queue.prefetch());
    }

    /// Prefetches a port; nothing if there is none.
    #[inline]
    pub(crate) fn prefetch_port(&self, port: usize) {
        if let Some(port) = self.ports.get(port) {
            prefetch(port);
        }
    }
}

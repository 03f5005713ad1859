//! Prefetches the data of the nodes that run next.
//!
//! In a large network the data of a node is no longer in the caches when its turn comes, and nearly all the time of a hop
//! is waiting for it. The engine knows the next nodes. It prefetches their data while others run, in stages, each of
//! which reads only what an earlier stage asked for.
//!
//! ```text
//! 4 nodes ahead   its state; the heads of its lists of arrivals
//! 3               the first arrivals; the list of its ports with a backlog
//! 2               the next arrivals, and what the first ones need: routes, flows; its ports with a backlog
//! 1               the arrivals after those, and what these need; the ends of its queues
//! 0               once all routes are known, the ports of its arrivals (`nodes`)
//! ```

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::prefetch::prefetch;

use super::calendar::{ArrivalBatches, Walk};
use crate::device::fabric::Fabric;
use crate::device::host::Host;
use crate::device::switch::Switch;

/// A node whose data is prefetched in stages.
pub(super) trait Prefetched<B> {
    /// The number of arrivals that are prefetched at a stage.
    const STEPS: usize;

    /// Prefetches its state.
    fn prefetch_state(&self);

    /// Prefetches its list of ports with a backlog.
    fn prefetch_backlog(&self) {}

    /// Prefetches its ports with a backlog.
    fn prefetch_ports(&self) {}

    /// Prefetches the first packets of its queues, and the slots for those that join them.
    fn prefetch_queues(&self);

    /// Prefetches what it needs for a packet.
    fn prefetch_for(&self, fabric: &Fabric, packet: &Packet<B>);
}

impl<B: Body, D: Discipline<Packet<B>>> Prefetched<B> for Switch<D> {
    /// A full link of 100 Gbps brings one or two packets of 9,000 bytes in a window, and a switch has some 20 links.
    const STEPS: usize = 6;

    #[inline]
    fn prefetch_state(&self) {
        prefetch(self);
    }

    #[inline]
    fn prefetch_backlog(&self) {
        Self::prefetch_backlog(self);
    }

    #[inline]
    fn prefetch_ports(&self) {
        self.prefetch_busy();
    }

    #[inline]
    fn prefetch_queues(&self) {
        Self::prefetch_queues(self);
    }

    #[inline]
    fn prefetch_for(&self, fabric: &Fabric, packet: &Packet<B>) {
        if let Some((table, _)) = self.simple_routes(fabric) {
            table.prefetch(&packet.header);
        }
    }
}

impl<E: Endpoint> Prefetched<E::Body> for Host<E> {
    const STEPS: usize = 1;

    #[inline]
    fn prefetch_state(&self) {
        self.prefetch_hot();
    }

    #[inline]
    fn prefetch_queues(&self) {
        self.prefetch_queue();
    }

    #[inline]
    fn prefetch_for(&self, _: &Fabric, packet: &Packet<E::Body>) {
        self.prefetch_flow(packet);
    }
}

/// The progress of prefetches: walks along the arrivals of the next two nodes.
#[derive(Debug)]
pub(crate) struct LookAhead([Walk; 2]);

impl LookAhead {
    /// Before the first node.
    pub(crate) const START: Self = Self([Walk::END; 2]);

    /// Prefetches the data of the nodes after the `i`th of `nodes`; `member` returns each of them.
    pub(super) fn prefetch_after<'n, B: Body, N: Prefetched<B> + 'n>(
        &mut self,
        (nodes, i): (&[NodeId], usize),
        member: impl Fn(NodeId) -> &'n N,
        fabric: &Fabric,
        batches: &ArrivalBatches<B>,
    ) {
        let Self(walks) = self;
        let ahead = |count: usize| nodes.get(i + count).map(|&node| (node, member(node)));
        if let Some((node, member)) = ahead(4) {
            batches.prefetch_lists(node);
            member.prefetch_state();
        }
        if let Some((_, member)) = ahead(1) {
            member.prefetch_queues();
            batches.walk(&mut walks[(i + 1) % 2], N::STEPS, |packet| member.prefetch_for(fabric, packet));
        }
        if let Some((node, member)) = ahead(2) {
            member.prefetch_ports();
            walks[i % 2] = batches.walk_of(node);
            batches.walk(&mut walks[i % 2], N::STEPS, |packet| member.prefetch_for(fabric, packet));
        }
        if let Some((node, member)) = ahead(3) {
            batches.prefetch_packets(node);
            member.prefetch_backlog();
        }
    }
}

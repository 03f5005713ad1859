//! Limits the number of unfinished flows per peer for which a real host keeps state.
//!
//! ```text
//! first packet of a flow   its sender has fewer than `flows_per_peer` flows   ──▶ Admit::Yes
//!                          its least recent flow is idle for `idle` or more   ──▶ Admit::InPlaceOf that flow
//!                          none is idle                                       ──▶ Admit::No: the packet is dropped
//! ```

use rustc_hash::FxHashMap;

use super::flow_key::FlowKey;
use crate::endpoint::RealHost;
use crate::ids::HostId;
use crate::units::{Span, Time};

/// Whether a new flow may get a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Admit {
    /// A receiver may be created.
    Yes,
    /// A receiver may be created after this idle flow is removed.
    InPlaceOf(FlowKey),
    /// No receiver may be created.
    No,
}

/// The unfinished flows of a peer.
#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    flows: u32,
    /// None of the flows is idle before this time.
    busy_until: Time,
}

/// The limit on unfinished flows that a real host receives.
#[derive(Debug)]
pub(in crate::transport) struct FlowLimit {
    most: u32,
    idle: Span,
    peers: FxHashMap<HostId, Peer>,
    /// Indexed by receiver slot: the flow, and the time of its last packet.
    heard: Vec<Option<(FlowKey, Time)>>,
}

impl FlowLimit {
    pub(super) fn new(real: &RealHost) -> Self {
        Self {
            most: real.flows_per_peer.max(1),
            idle: real.idle,
            peers: FxHashMap::default(),
            heard: Vec::new(),
        }
    }

    /// Decides whether a flow of `src` may get a receiver at `now`. Scans all flows only when one of this peer may
    /// have become idle.
    pub(super) fn admit(&mut self, src: HostId, now: Time) -> Admit {
        let Some(peer) = self.peers.get_mut(&src).filter(|peer| peer.flows >= self.most) else {
            return Admit::Yes;
        };
        if now < peer.busy_until {
            return Admit::No;
        }
        let of_peer = self.heard.iter().flatten().filter(|(key, _)| key.src() == src);
        let Some(&(key, heard)) = of_peer.min_by_key(|(_, heard)| *heard) else { return Admit::Yes };
        peer.busy_until = heard + self.idle;
        if now < peer.busy_until { Admit::No } else { Admit::InPlaceOf(key) }
    }

    /// Records that a receiver was created at `slot`.
    pub(super) fn opened(&mut self, slot: u32, key: FlowKey, now: Time) {
        let slot = slot as usize;
        if slot >= self.heard.len() {
            self.heard.resize(slot + 1, None);
        }
        self.heard[slot] = Some((key, now));
        self.peers.entry(key.src()).or_default().flows += 1;
    }

    /// Records a packet of the flow at `slot`.
    pub(in crate::transport) fn heard(&mut self, slot: u32, now: Time) {
        if let Some(Some((_, heard))) = self.heard.get_mut(slot as usize) {
            *heard = now;
        }
    }

    /// Records that the receiver at `slot` was removed.
    pub(super) fn closed(&mut self, slot: u32) {
        let Some((key, _)) = self.heard.get_mut(slot as usize).and_then(Option::take) else { return };
        if let Some(peer) = self.peers.get_mut(&key.src()) {
            peer.flows -= 1;
            if peer.flows == 0 {
                self.peers.remove(&key.src());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;

    #[test]
    fn an_idle_flow_makes_room_and_a_busy_one_does_not() {
        let real = RealHost { flows_per_peer: 2, idle: Span(100), ..RealHost::new(1) };
        let mut limit = FlowLimit::new(&real);
        let key = |flow| FlowKey::new(HostId(1), FlowId(flow));
        (0..2).for_each(|flow| limit.opened(flow, key(flow), Time(10)));
        assert_eq!(limit.admit(HostId(2), Time(20)), Admit::Yes, "another host has room of its own");
        limit.heard(0, Time(50));
        assert_eq!(limit.admit(HostId(1), Time(109)), Admit::No);
        assert_eq!(limit.admit(HostId(1), Time(110)), Admit::InPlaceOf(key(1)));
        limit.closed(1);
        assert_eq!(limit.admit(HostId(1), Time(110)), Admit::Yes);
        limit.opened(1, key(2), Time(110));
        assert_eq!(
            [149, 150].map(|at| limit.admit(HostId(1), Time(at))),
            [Admit::No, Admit::InPlaceOf(key(0))]
        );
        (0..2).for_each(|slot| limit.closed(slot));
        assert!(limit.peers.is_empty());
    }
}

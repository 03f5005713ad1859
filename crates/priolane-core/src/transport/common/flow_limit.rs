//! How many unfinished flows of each other host a real host keeps state of.
//!
//! ```text
//! first packet of a flow   fewer than `flows_per_peer` of its sender         ──▶ Admit::Yes
//!                          the one heard of longest ago, `idle` ago or more  ──▶ Admit::InPlaceOf that one
//!                          none idle                                         ──▶ Admit::No: the packet is lost
//! ```

use rustc_hash::FxHashMap;

use super::flow_key::FlowKey;
use crate::endpoint::RealHost;
use crate::ids::HostId;
use crate::units::{Span, Time};

/// Whether a new flow may have a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Admit {
    /// It may.
    Yes,
    /// It may once this flow, which is idle, is forgotten.
    InPlaceOf(FlowKey),
    /// It may not.
    No,
}

/// The unfinished flows of one other host.
#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    flows: u32,
    /// Before this instant none of them is idle.
    busy_until: Time,
}

/// The unfinished flows that a real host receives.
#[derive(Debug)]
pub(in crate::transport) struct FlowLimit {
    most: u32,
    idle: Span,
    peers: FxHashMap<HostId, Peer>,
    /// By the place of the receiver: the flow, and when a packet of it came last.
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

    /// Whether a flow of `src` may have a receiver at `now`. Looks at all flows at most once in the time after which the next
    /// can be idle.
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

    /// A receiver was made at `slot`.
    pub(super) fn opened(&mut self, slot: u32, key: FlowKey, now: Time) {
        let slot = slot as usize;
        if slot >= self.heard.len() {
            self.heard.resize(slot + 1, None);
        }
        self.heard[slot] = Some((key, now));
        self.peers.entry(key.src()).or_default().flows += 1;
    }

    /// A packet of the flow at `slot` came.
    pub(in crate::transport) fn heard(&mut self, slot: u32, now: Time) {
        if let Some(Some((_, heard))) = self.heard.get_mut(slot as usize) {
            *heard = now;
        }
    }

    /// The receiver at `slot` is no more.
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

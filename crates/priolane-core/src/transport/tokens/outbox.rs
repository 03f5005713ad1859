//! The queue of packets that are to leave a host.
//!
//! A simulated host dequeues all packets immediately, in FIFO order. A real host may poll no faster than its link.
//! There, signals and data have priority over tokens, so that no DONE or MISS is queued behind tokens, and the
//! number of queued packets of both kinds is limited. If the queue is full, a token is dropped, as by a port.

use std::collections::VecDeque;

use super::body::TokenMessage;
use crate::endpoint::LocalHost;
use crate::ids::HostId;
use crate::packet::Packet;
use crate::transport::common::room;

/// Minimum capacity for tokens on a real host; a token that is queued for long is useless.
const MIN_ROOM: u64 = 128;

/// Whether a token was queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Queued {
    Yes,
    /// The queue was full.
    Dropped,
}

/// The queued packets of a host.
#[derive(Debug)]
pub(super) struct Outbox {
    packets: VecDeque<Packet<TokenMessage>>,
    /// The queued tokens of a real host.
    tokens: VecDeque<Packet<TokenMessage>>,
    /// Capacity for other packets; `usize::MAX` in a simulator.
    room: usize,
    /// Capacity for tokens: as many as are sent at the same time when lateness is made up.
    token_room: usize,
}

impl Outbox {
    /// Creates the empty outbox of `host`, whose tokens request packets of `full` bytes on the wire.
    pub(super) fn new(host: &LocalHost, full: u16) -> Self {
        let room = if host.real.is_some() { room(host) as usize } else { usize::MAX };
        let made_up = host.line.bytes_in(host.catch_up()) / u64::from(full.max(1));
        let token_room = made_up.max(MIN_ROOM) as usize;
        Self { packets: VecDeque::new(), tokens: VecDeque::new(), room, token_room }
    }

    /// Queues a signal or data packet; drops it if the queue is full.
    pub(super) fn push(&mut self, packet: Packet<TokenMessage>) {
        if self.packets.len() < self.room {
            self.packets.push_back(packet);
        }
    }

    /// Queues a token; drops it if the queue is full.
    pub(super) fn push_token(&mut self, packet: Packet<TokenMessage>) -> Queued {
        if self.room == usize::MAX {
            self.packets.push_back(packet);
            return Queued::Yes;
        }
        if self.tokens.len() >= self.token_room {
            return Queued::Dropped;
        }
        self.tokens.push_back(packet);
        Queued::Yes
    }

    /// Drops the packets queued for a host.
    pub(super) fn forget(&mut self, host: HostId) {
        self.packets.retain(|packet| packet.header.dst != host);
        self.tokens.retain(|packet| packet.header.dst != host);
    }

    /// Dequeues the next packet.
    pub(super) fn pop(&mut self) -> Option<Packet<TokenMessage>> {
        self.packets.pop_front().or_else(|| self.tokens.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::RealHost;
    use crate::packet::Header;
    use crate::transport::Stamp;
    use crate::units::Rate;

    const REAL: LocalHost = LocalHost::real(HostId(0), Rate::from_gbps(10), 1);

    fn packet(body: TokenMessage) -> Packet<TokenMessage> {
        Packet { header: Header::default(), body }
    }

    fn token(seq: u32) -> Packet<TokenMessage> {
        packet(TokenMessage::Token { seq, stamp: Stamp(0) })
    }

    #[test]
    fn on_a_real_host_signals_pass_tokens_and_all_are_bounded() {
        let mut outbox = Outbox::new(&REAL, 1_538);
        // In 5 ms a link of 10 Gbps takes 4063 full packets.
        let queued = (0..9_000).filter(|&seq| outbox.push_token(token(seq)) == Queued::Yes).count();
        assert_eq!(queued, 4_063);
        (0..10_000).for_each(|_| outbox.push(packet(TokenMessage::Done)));
        let left: Vec<TokenMessage> = std::iter::from_fn(|| outbox.pop()).map(|packet| packet.body).collect();
        let signals = RealHost::new(1).outbox as usize;
        assert_eq!((left.len(), left[signals - 1]), (signals + queued, TokenMessage::Done));
        assert_eq!(left[signals], token(0).body, "the oldest first, the newest dropped");
    }

    #[test]
    fn in_a_simulator_all_wait_in_order() {
        let mut outbox = Outbox::new(&LocalHost::simulated(HostId(0), Rate::from_gbps(10)), 1_538);
        assert!((0..10_000).all(|seq| outbox.push_token(token(seq)) == Queued::Yes));
        outbox.push(packet(TokenMessage::Done));
        assert_eq!(outbox.pop().map(|packet| packet.body), Some(token(0).body));
        let last = std::iter::from_fn(|| outbox.pop()).last();
        assert_eq!(last.map(|packet| packet.body), Some(TokenMessage::Done));
    }
}

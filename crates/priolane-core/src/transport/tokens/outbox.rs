//! The queue of packets that are to leave a host.
//!
//! A simulated host dequeues all packets immediately, in FIFO order. A real host may poll no faster than its link.
//! There, signals and data have priority over tokens, so that no DONE or MISS is queued behind tokens, and the
//! number of queued packets of both kinds is limited. Tokens leave by class. If the queue is full, a token of the
//! worst class is dropped, as by a port.

use std::collections::VecDeque;

use super::body::TokenMessage;
use crate::endpoint::LocalHost;
use crate::ids::{CLASSES, HostId};
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
    /// The queued tokens of a real host, by class, and how many there are.
    tokens: [VecDeque<Packet<TokenMessage>>; CLASSES],
    queued: usize,
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
        Self { packets: VecDeque::new(), tokens: Default::default(), queued: 0, room, token_room }
    }

    /// Returns true if the next token is dropped, or drops one of a worse class.
    pub(super) fn is_full(&self) -> bool {
        self.queued >= self.token_room
    }

    /// Queues a signal or data packet; drops it if the queue is full.
    pub(super) fn push(&mut self, packet: Packet<TokenMessage>) {
        if self.packets.len() < self.room {
            self.packets.push_back(packet);
        }
    }

    /// Queues a token. If the queue is full, drops it or the newest of a worse class.
    pub(super) fn push_token(&mut self, packet: Packet<TokenMessage>) -> Queued {
        if self.room == usize::MAX {
            self.packets.push_back(packet);
            return Queued::Yes;
        }
        let class = usize::from(packet.header.class).min(CLASSES - 1);
        if self.is_full() {
            let worse = self.tokens[class + 1..].iter_mut().rev().find(|tokens| !tokens.is_empty());
            let Some(worse) = worse else { return Queued::Dropped };
            worse.pop_back();
            self.queued -= 1;
        }
        self.tokens[class].push_back(packet);
        self.queued += 1;
        Queued::Yes
    }

    /// Drops the packets queued for a host.
    pub(super) fn forget(&mut self, host: HostId) {
        self.packets.retain(|packet| packet.header.dst != host);
        self.tokens.iter_mut().for_each(|tokens| tokens.retain(|packet| packet.header.dst != host));
        self.queued = self.tokens.iter().map(VecDeque::len).sum();
    }

    /// Dequeues the next packet.
    pub(super) fn pop(&mut self) -> Option<Packet<TokenMessage>> {
        if let Some(packet) = self.packets.pop_front() {
            return Some(packet);
        }
        if self.queued == 0 {
            return None;
        }
        self.queued -= 1;
        self.tokens.iter_mut().find_map(VecDeque::pop_front)
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
    fn on_a_real_host_tokens_leave_by_class_and_push_out_those_of_the_worst() {
        let of = |class: u8, seq| Packet { header: Header { class, ..Header::default() }, ..token(seq) };
        let mut outbox = Outbox::new(&LocalHost { line: Rate::from_gbps(1), ..REAL }, 1_538);
        // 5 ms of 1 Gbps: 406 full packets.
        let room: u32 = 406;
        (0..room).for_each(|seq| assert_eq!(outbox.push_token(of(3, seq)), Queued::Yes));
        assert!(outbox.is_full());
        assert_eq!(
            [5, 3, 1].map(|class| outbox.push_token(of(class, room))),
            [Queued::Dropped, Queued::Dropped, Queued::Yes]
        );
        let left: Vec<(u8, TokenMessage)> =
            std::iter::from_fn(|| outbox.pop()).map(|packet| (packet.header.class, packet.body)).collect();
        assert_eq!((left.len(), left[0].0), (room as usize, 1), "the best class first");
        assert_eq!(left[room as usize - 1], (3, token(room - 2).body), "the newest of the worst made room");
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

//! Outgoing datagrams.

use priolane_core::endpoint::{Cx, Endpoint, LocalClock};
use priolane_core::packet::Packet;
use priolane_core::units::Time;
use priolane_core::wire::EcnCodepoint;

use super::driver::{Driver, Turn};
use crate::nic::Next;
use crate::scheme::Sealed;
use crate::socket::SendOutcome;

/// The number of batches that are sent before anything is read.
const BATCHES: usize = 4;

impl<E: Endpoint> Driver<E> {
    /// Sends all packets that may be sent now.
    pub(super) fn transmit(&mut self) -> Turn {
        let mut turn = Turn::Idle;
        for _ in 0..BATCHES {
            if !self.blocked {
                self.fill_batch();
            }
            if self.leaving.is_empty() {
                break;
            }
            match self.leaving.send(&self.socket) {
                SendOutcome::All => self.blocked = false,
                SendOutcome::Blocked => {
                    // What waits stays, and nothing more is taken from the endpoint until there is room.
                    self.stats.blocked += u64::from(!self.blocked);
                    self.blocked = true;
                    return turn;
                }
                SendOutcome::Refused => {
                    self.blocked = false;
                    self.stats.refused += 1;
                }
            }
            turn = Turn::Busy;
        }
        turn
    }

    /// Fills the batch with the packets that may be sent now.
    fn fill_batch(&mut self) {
        self.line_at = Time::NEVER;
        while !self.leaving.is_full() {
            if let Some((to, bytes, len)) = self.peers.pop() {
                let tos = self.setup.dscp.of(0) << 2;
                let is_added = self.leaving.push(&self.socket, (to, tos), |out| {
                    out.get_mut(..len)?.copy_from_slice(&bytes[..len]);
                    Some(len)
                });
                self.stats.datagrams_sent += u64::from(is_added);
                continue;
            }
            let now = self.now();
            let Self { nic, endpoint, rng, .. } = self;
            let mut cx = Cx { now, clock: LocalClock::default(), rng };
            match nic.next(now, || endpoint.poll_transmit(&mut cx)) {
                Next::Send(packet) => self.push(&packet, now),
                Next::NotBefore(at) => {
                    self.line_at = at;
                    break;
                }
                Next::Idle => break,
            }
        }
        self.tell();
    }

    /// Adds a packet to the batch. A packet whose receiver or message is no longer known is dropped.
    fn push(&mut self, packet: &Packet<E::Body>, now: Time) {
        let header = &packet.header;
        let Some(to) = self.peers.address(header.dst) else { return };
        let tos = self.setup.dscp.of(header.class) << 2 | EcnCodepoint::of(header.marks) as u8;
        let payload = match usize::from(header.payload) {
            0 => &[],
            len => {
                let content = self.flows.get(&header.flow).map(|flow| &flow.content);
                let Some(payload) = content.and_then(|content| content.get(header.offset.get(), len)) else {
                    return;
                };
                payload
            }
        };
        let Self { codec, leaving, peers, socket, setup, scratch, .. } = self;
        let write = |out: &mut [u8]| {
            let start = codec.encode(packet, now, out).ok()?;
            let end = start + payload.len();
            out.get_mut(start..end)?.copy_from_slice(payload);
            Some(end)
        };
        let is_added = leaving.push(socket, (to, tos), |out| match setup.sealed {
            Sealed::No => write(out),
            Sealed::Yes => {
                let len = write(scratch)?;
                peers.seal(header.dst, &scratch[..len], out, now)
            }
        });
        self.stats.datagrams_sent += u64::from(is_added);
    }
}

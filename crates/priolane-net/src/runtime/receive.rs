//! Incoming datagrams.

use priolane_core::endpoint::{Command, Endpoint, Rejection, RxMeta};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::Marks;
use priolane_core::units::{Span, Time};
use priolane_core::wire::{EcnCodepoint, RecvMeta};

use super::driver::{Driver, Turn};
use super::held::{Datagram, Hold};
use crate::assembly::{StoreOutcome, TakenMessage};
use crate::datagram::DatagramKind;
use crate::peers::{Opened, Question, SELF};
use crate::scheme::Sealed;
use crate::shared::ArrivedMessage;
use crate::socket::RecvBatch;

/// The number of batches that are read before anything is sent.
const BATCHES: usize = 4;

/// The circumstances of a datagram's arrival.
#[derive(Clone, Copy, Debug)]
struct Came {
    tos: u8,
    at: Time,
}

impl<E: Endpoint> Driver<E> {
    /// Handles the datagrams that have arrived.
    pub(super) fn receive(&mut self) -> Turn {
        let mut turn = Turn::Idle;
        for _ in 0..BATCHES {
            if self.arriving.receive(&self.socket).is_err() || self.arriving.is_empty() {
                break;
            }
            turn = Turn::Busy;
            // Its place is taken by an empty one meanwhile.
            let batch = std::mem::replace(&mut self.arriving, RecvBatch::EMPTY);
            self.take_batch(&batch);
            self.arriving = batch;
            if !self.arriving.is_full() {
                break;
            }
        }
        turn.or(self.release())
    }

    /// Handles the datagrams that were held back until now.
    fn release(&mut self) -> Turn {
        let now = self.now();
        let mut turn = Turn::Idle;
        while let Some(Datagram { bytes, from, tos, due }) = self.held.pop(now) {
            self.take(&bytes, from, Came { tos, at: due });
            turn = Turn::Busy;
        }
        turn
    }

    fn take_batch(&mut self, batch: &RecvBatch) {
        let arrivals = self.clock.arrivals();
        self.stats.datagrams_received += batch.count() as u64;
        self.stats.groups_received += batch.groups() as u64;
        for received in batch.datagrams() {
            if let Some(lost) = received.lost {
                let before = self.stats.lost_in_socket;
                self.stats.lost_in_socket = before + u64::from(lost.wrapping_sub(before as u32));
            }
            let came = Came { tos: received.tos, at: arrivals.at(received.real_ns) };
            match self.held.hold(received.bytes, received.from, (came.tos, came.at)) {
                Hold::No => self.take(received.bytes, received.from, came),
                Hold::Yes => {}
                Hold::NoRoom => self.stats.no_room += 1,
            }
        }
    }

    fn take(&mut self, bytes: &[u8], from: std::net::SocketAddr, came: Came) {
        let now = self.given.max(came.at);
        let question = Question { from, len: bytes.len(), now };
        match (DatagramKind::of(bytes), self.setup.sealed) {
            (DatagramKind::Control, _) => {
                self.stats.malformed += u64::from(!self.peers.take(question, bytes));
                self.apply_changes();
            }
            (DatagramKind::Packet, Sealed::No) => match self.peers.from(question) {
                Some(host) => self.take_packet(host, bytes, came),
                None => self.stats.strangers += 1,
            },
            (DatagramKind::Sealed, Sealed::Yes) => {
                let mut scratch = std::mem::take(&mut self.scratch);
                let opened = self.peers.open(question, bytes, &mut scratch);
                // The first sealed datagram may say that the other was started again, and a message that a flow ends.
                self.apply_changes();
                match opened {
                    Opened::Packet(host, packet) => self.take_packet(host, packet, came),
                    Opened::Message | Opened::Postponed => {}
                    Opened::Nothing => self.stats.malformed += 1,
                }
                self.scratch = scratch;
            }
            _ => self.stats.malformed += 1,
        }
    }

    /// Handles a packet of a known host.
    fn take_packet(&mut self, src: HostId, bytes: &[u8], came: Came) {
        let Came { tos, at } = came;
        let class = self.setup.dscp.class(tos);
        let meta = RecvMeta { src, dst: SELF, class, ecn: EcnCodepoint::from_bits(tos), at };
        let Ok((packet, payload)) = self.codec.decode(bytes, &meta) else {
            self.stats.malformed += 1;
            return;
        };
        self.stats.marked += u64::from(packet.header.marks.has(Marks::CONGESTED));
        // When it came, as far as time does not go back: so the delay of this host is not part of round-trip times.
        let now = self.given.max(at);
        self.given = now;
        let flow = packet.header.flow;
        let stored = self.store((src, flow), packet.header.offset.get(), payload, now);
        let Some(stored) = stored else { return };
        let counted = self.counted(src, flow);
        let seen = counted.map_or(0, |_| self.endpoint.stats().payload.packets);
        self.call(now, |endpoint, cx| {
            endpoint.on_packet(cx, RxMeta { stamp: at.min(now), noise: Span::ZERO }, &packet);
        });
        if let (Some(place), Some(meter)) = (counted, &self.meter)
            && self.endpoint.stats().payload.packets > seen
        {
            meter.count(place, payload.len() as u64, self.clock.instant(at));
        }
        if stored == StoreOutcome::First {
            if !self.endpoint.is_receiving(src, flow) {
                // One of a message that has ended, or that the endpoint does not take.
                self.assembly.discard((src, flow), now);
            }
            self.note_under_way(src, now);
        }
    }

    /// Returns the place at which a message is counted, if it is counted.
    fn counted(&self, src: HostId, flow: FlowId) -> Option<u32> {
        self.meter.as_ref().and_then(|_| self.assembly.counted(src, flow))
    }

    /// Stores payload. Returns `None` if there is no room; the payload then counts as lost.
    fn store(
        &mut self,
        of: (HostId, FlowId),
        offset: u64,
        payload: &[u8],
        now: Time,
    ) -> Option<StoreOutcome> {
        if payload.is_empty() {
            return Some(StoreOutcome::Yes);
        }
        if self.shared.arrived_bytes() >= self.setup.limits.arrived {
            self.no_room(of);
            return None;
        }
        let Self { assembly, meter, peers, .. } = self;
        let counted = || meter.as_ref()?.place(peers.address(of.0)?, offset, payload);
        match assembly.store(of, offset, payload, now, counted) {
            StoreOutcome::NoRoom => self.no_room(of),
            StoreOutcome::TooLong => {
                self.stats.too_long += 1;
                self.give_up(of, Rejection::TooLong);
            }
            stored => return Some(stored),
        }
        None
    }

    /// Handles payload that found no room. The endpoint learns that the message is not idle, and messages that were
    /// dropped in its favour are given up.
    fn no_room(&mut self, (src, flow): (HostId, FlowId)) {
        self.stats.no_room += 1;
        let now = self.given;
        self.call(now, |endpoint, cx| endpoint.control(cx, Command::NoRoom { src, flow }));
        while let Some(dropped) = self.assembly.next_dropped() {
            self.stats.dropped += 1;
            self.give_up(dropped, Rejection::GivenUp);
        }
    }

    /// Delivers a message that has arrived completely.
    pub(super) fn deliver(&mut self, (src, flow): (HostId, FlowId), missing: u64) {
        let now = self.given;
        let (taken, from) = (self.assembly.take(src, flow, now), self.peers.address(src));
        self.note_under_way(src, now);
        let (Some(TakenMessage { parts, readable, counted }), Some(from)) = (taken, from) else { return };
        if missing > 0 && !self.setup.unreliable || readable > self.setup.limits.message {
            self.stats.dropped += 1;
            return;
        }
        self.peers.note_exchanged(src, now);
        if counted.is_some() {
            self.stats.arrived += 1;
            self.stats.arrived_bytes += readable;
            return self.publish();
        }
        self.stats.arrived += 1;
        self.stats.arrived_bytes += readable;
        self.publish();
        // What was given up at its end is not here; what came beyond an end that was told later is none of it.
        let (len, arrived) = (readable as usize, self.clock.instant(now));
        self.shared.deliver(ArrivedMessage { from, parts, len, missing, arrived });
    }

    /// Drops the part of a message that has arrived.
    pub(super) fn drop_partial(&mut self, src: HostId, flow: FlowId) {
        let now = self.given;
        if self.assembly.discard((src, flow), now) {
            self.stats.dropped += 1;
            self.note_under_way(src, now);
        }
    }
}

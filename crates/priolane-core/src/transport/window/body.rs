//! What the window machine writes in its packets: 24 bytes after the header.

use crate::packet::{Body, Header, Kind, Packet};
use crate::telemetry::{HopReading, Telemetry};
use crate::transport::common::Stamp;

/// Body of a packet of the window machine, with telemetry of the kind `T`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment<T = ()> {
    /// When the packet was sent, by its sender's clock; an ACK or SYN/ACK echoes the stamp of the packet
    /// that it answers (RFC 7323 §3).
    pub stamp: Stamp,
    /// Of an ACK: ticks of 1024 ps from that packet's stamp to its arrival by the receiver's clock. Holds the
    /// difference of the two clocks, so only its changes mean anything where clocks are not in step.
    pub one_way: u32,
    /// Of an ACK: blocks received above the cumulative ACK, as (start, end) offsets from it, the most recent
    /// first (RFC 2018 §4); (0, 0) is none. Of a signal: the bytes that will not come, as offsets from the
    /// header's.
    pub sack: [(u32, u32); 2],
    /// What switches told the packet; of an ACK: told the packet that it answers.
    pub telemetry: T,
}

impl<T: Telemetry> Body for Segment<T> {
    const STAMPED: bool = T::STAMPED;

    fn blocks(&self) -> [(u32, u32); 2] {
        self.sack
    }

    #[inline]
    fn stamp(&mut self, header: &Header, reading: HopReading) {
        if header.kind == Kind::Data {
            self.telemetry.take(reading);
        }
    }
}

const _: () = assert!(size_of::<Segment>() == 24);
const _: () = assert!(size_of::<Packet<Segment>>() == 56);

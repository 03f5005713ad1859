//! The body of packets of the window transport: 24 bytes after the header.

use crate::packet::{Body, Header, Kind, Packet};
use crate::telemetry::{HopReading, Telemetry};
use crate::transport::common::Stamp;

/// Body of a packet of the window transport, with telemetry of type `T`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment<T = ()> {
    /// The time at which the packet was sent, by its sender's clock. An ACK or SYN/ACK echoes the stamp of the packet
    /// that it answers (RFC 7323 §3).
    pub stamp: Stamp,
    /// In an ACK: ticks of 1024 ps from that packet's stamp to its arrival by the receiver's clock. It includes the
    /// difference of the two clocks; unless the clocks are synchronized, only its changes are meaningful. In data of a
    /// connection with CNPs: the flow's number above that of the first flow; real hosts, without connections, send none.
    pub one_way: u32,
    /// In an ACK: blocks received above the cumulative ACK, as (start, end) offsets from it, the most recent first
    /// (RFC 2018 §4); (0, 0) is none. In a signal: the bytes that will not be sent, as offsets from the header's. A signal
    /// with the mark `ECHO` is a CNP, and has none. In the report of a trimmed segment: (0, 1), the segment's first byte.
    pub sack: [(u32, u32); 2],
    /// Telemetry that switches wrote to the packet; an ACK carries that of the packet it answers.
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

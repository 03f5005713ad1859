//! What a driver knows of the path between two hosts.

use crate::units::{Rate, Span};

/// The way between the two ends of a flow, while nothing else is on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Links from the source to the destination.
    pub hops: u32,
    /// The rate of the slowest of them: how fast a flow alone can be.
    pub rate: Rate,
    /// What a full data packet and its answer take.
    pub data: BaseDelay,
    /// What a control packet, such as a probe, and its answer take.
    pub control: BaseDelay,
}

/// What a driver knows of a path: all of it in a simulator. A part that it does not know is measured, as far as a transport
/// needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathInfo {
    /// As [`Path::hops`]. Unknown: 2, a switch between two hosts.
    pub hops: Option<u32>,
    /// As [`Path::rate`]. Unknown: what the path delivers while packets queue on it, before that the host's line.
    pub rate: Option<Rate>,
    /// As [`Path::data`]. Unknown: the least round-trip time seen, before that [`super::RealHost::first_rtt`].
    pub data: Option<BaseDelay>,
    /// As [`Path::control`]. Unknown: as `data`.
    pub control: Option<BaseDelay>,
}

impl PathInfo {
    /// Nothing.
    pub const UNKNOWN: Self = Self { hops: None, rate: None, data: None, control: None };
}

impl From<Path> for PathInfo {
    fn from(path: Path) -> Self {
        let Path { hops, rate, data, control } = path;
        Self { hops: Some(hops), rate: Some(rate), data: Some(data), control: Some(control) }
    }
}

/// What a packet takes on an empty network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseDelay {
    /// From the start of its transmission to the arrival of its last bit at the other end.
    pub one_way: Span,
    /// From the start of its transmission until its sender has processed the answer, a control packet.
    pub round_trip: Span,
}

impl Path {
    /// Two links of 10 Gbps and 10 us there and back, whatever the packet: for tests, and what a controller has before
    /// its flow opens.
    pub const NOMINAL: Self = {
        let delay = BaseDelay { one_way: Span::from_us(5), round_trip: Span::from_us(10) };
        Self { hops: 2, rate: Rate::from_gbps(10), data: delay, control: delay }
    };

    /// Bytes that fill the path: its rate times its round-trip time, at least 1.
    pub fn bdp(&self) -> u64 {
        self.rate.bytes_in(self.data.round_trip).max(1)
    }
}

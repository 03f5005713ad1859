//! The properties of the path between two hosts that a driver knows.

use crate::units::{Rate, Span};

/// The path between the two ends of a flow on an idle network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Links from the source to the destination.
    pub hops: u32,
    /// The rate of the slowest link: the highest rate of a flow without competition.
    pub rate: Rate,
    /// Base delays of a full data packet.
    pub data: BaseDelay,
    /// Base delays of a control packet, such as a probe.
    pub control: BaseDelay,
    /// The longest random time that sender and receiver together add to a round trip before their packets leave
    /// (`send_jitter`). Base delays do not contain it: they are the least that a transport can measure.
    pub send_jitter: Span,
}

/// The properties of a path that a driver knows: all of them in a simulator. Transports measure the unknown parts that
/// they need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathInfo {
    /// As [`Path::hops`]. If unknown: 2, a switch between two hosts.
    pub hops: Option<u32>,
    /// As [`Path::rate`]. If unknown: the delivery rate while packets queue on the path; before that, the rate of the
    /// host's link.
    pub rate: Option<Rate>,
    /// As [`Path::data`]. If unknown: the minimum round-trip time seen; before that, [`super::RealHost::first_rtt`].
    pub data: Option<BaseDelay>,
    /// As [`Path::control`]. If unknown: as `data`.
    pub control: Option<BaseDelay>,
    /// As [`Path::send_jitter`]; zero if unknown.
    pub send_jitter: Span,
}

impl PathInfo {
    /// All parts unknown.
    pub const UNKNOWN: Self =
        Self { hops: None, rate: None, data: None, control: None, send_jitter: Span::ZERO };
}

impl From<Path> for PathInfo {
    fn from(path: Path) -> Self {
        let Path { hops, rate, data, control, send_jitter } = path;
        Self { hops: Some(hops), rate: Some(rate), data: Some(data), control: Some(control), send_jitter }
    }
}

/// Delays of a packet on an idle network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseDelay {
    /// From the start of its transmission to the arrival of its last bit at the other end.
    pub one_way: Span,
    /// From the start of its transmission until its sender has processed the reply, a control packet.
    pub round_trip: Span,
}

impl Path {
    /// Two links of 10 Gbps with a round-trip time of 10 us for any packet: for tests, and for controllers before
    /// their flow opens.
    pub const NOMINAL: Self = {
        let delay = BaseDelay { one_way: Span::from_us(5), round_trip: Span::from_us(10) };
        Self { hops: 2, rate: Rate::from_gbps(10), data: delay, control: delay, send_jitter: Span::ZERO }
    };

    /// Returns the longest round trip of a full data packet on the idle network: a window that covers it never makes a
    /// lone flow wait.
    pub fn longest_round_trip(&self) -> Span {
        self.data.round_trip + self.send_jitter
    }

    /// Returns the bandwidth-delay product: rate times longest round-trip time, in bytes, at least 1.
    pub fn bdp(&self) -> u64 {
        self.rate.bytes_in(self.longest_round_trip()).max(1)
    }
}

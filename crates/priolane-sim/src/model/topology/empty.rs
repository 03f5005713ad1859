//! Delays of a packet and its reply on an empty network: the base delays of delay-based transports.

use priolane_core::endpoint::{BaseDelay, Path};
use priolane_core::ids::{HostId, LinkId};
use priolane_core::packet::Frame;
use priolane_core::units::{Rate, Span};

use super::network::Topology;

impl Topology {
    /// Returns the empty path of flows with this entropy from `src` to `dst`, and of their replies. A host takes
    /// `host_delay` to process a packet; round trips include it at both ends, and no random time before packets leave.
    pub fn empty_path(
        &self,
        frame: &Frame,
        (src, dst): (HostId, HostId),
        entropy: u16,
        host_delay: Span,
    ) -> Path {
        let there = self.path(src, dst, entropy);
        let back = self.path(dst, src, entropy);
        let answer = self.time_of(&back, frame.ack_wire());
        let base = |wire| {
            let one_way = self.time_of(&there, wire);
            BaseDelay { one_way, round_trip: one_way + answer + host_delay.times(2) }
        };
        let rate = there.iter().map(|&link| self.links[link.index()].rate).min();
        Path {
            hops: there.len() as u32,
            rate: rate.unwrap_or(Rate::from_gbps(1)),
            data: base(frame.data_wire(frame.mss())),
            control: base(frame.ack_wire()),
            send_jitter: Span::ZERO,
        }
    }

    /// Returns the time from the start of a packet of `wire` bytes to its arrival at the end of `path`.
    fn time_of(&self, path: &[LinkId], wire: u16) -> Span {
        path.iter().map(|link| &self.links[link.index()]).fold(Span::ZERO, |sum, link| {
            Span(sum.0.saturating_add(link.delay.0).saturating_add(link.rate.serialize(wire.into()).0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::topology::{Dumbbell, LinkSpec};

    #[test]
    fn a_path_through_a_slower_link_by_hand() {
        let link = |gbps, us| LinkSpec::lossless(Rate::from_gbps(gbps), Span::from_us(us));
        let topology =
            Dumbbell { left: 2, right: 2, host_link: link(100, 1), bottleneck: link(10, 3) }.build();
        let path =
            topology.unwrap().empty_path(&Frame::ETHERNET, (HostId(0), HostId(3)), 7, Span::from_ns(500));
        assert_eq!((path.hops, path.rate), (3, Rate::from_gbps(10)));
        // 1538 B: twice 123.04 ns and 1230.4 ns; 84 B: twice 6.72 ns and 67.2 ns; 5 us of propagation delay.
        let (full, small) = (5_000_000 + 2 * 123_040 + 1_230_400, 5_000_000 + 2 * 6_720 + 67_200);
        assert_eq!(path.data.one_way, Span(full));
        assert_eq!(path.data.round_trip, Span(full + small + 1_000_000));
        assert_eq!(path.control.round_trip, Span(2 * small + 1_000_000));
        // 12.557 us at 10 Gbps.
        assert_eq!(path.bdp(), (full + small + 1_000_000) / 800);
    }
}

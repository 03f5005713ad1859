//! The bare completion time: one flow alone on its path, back to back, no handshake.
//!
//! `n - 1` full packets, then the tail. With `s_k` a full packet's time on link `k` and `d_k` its delay, the last
//! full packet leaves link `k` at `D_k = sum(s_i, i <= k) + sum(d_i, i < k) + (n - 2) max(s_i, i <= k)`; the tail
//! leaves at `F_k = max(D_k, F_(k-1) + d_(k-1)) + t_k`, with `t_k` its own time on the link, and the last byte
//! arrives at `F_K + d_K`. Switches store and forward; nothing is lost.

use priolane_core::ids::{HostId, LinkId};
use priolane_core::packet::Frame;
use priolane_core::units::Span;

use super::{Link, Topology};

/// No transport makes a packet that is both below this many bytes on the wire and below the frame's smallest.
const SMALLEST_WIRE: u64 = 64;

impl Topology {
    /// The links a packet with `entropy` takes from `src` to `dst`, in order; none if they are one host.
    pub fn path(&self, src: HostId, dst: HostId, entropy: u16) -> Vec<LinkId> {
        let mut path = Vec::new();
        let mut next = if src == dst { None } else { Some(self.uplink(src)) };
        while let Some(link) = next {
            path.push(link);
            let node = self.links[link.index()].to;
            next = if node.0 < self.hosts { None } else { self.next_link(node, dst, entropy) };
        }
        path
    }

    /// The exact time from the start of the first packet to the arrival of the last of `payload` bytes on the
    /// path of `entropy`, with no other traffic and no handshake; zero for no payload or if `src` is `dst`.
    ///
    /// `frame` must have room for payload (`mtu > header`). What the receiving host adds
    /// (`Scenario::host_delay`) is not in it (docs/assumptions.md#bare-fct).
    pub fn bare_fct(&self, frame: &Frame, src: HostId, dst: HostId, entropy: u16, payload: u64) -> Span {
        let links = self.path(src, dst, entropy);
        stream_time(links.iter().map(|link| &self.links[link.index()]), frame, payload)
    }

    /// The least time between a packet's start on any link and its arrival, the engines' window: the shortest
    /// of delay plus serialization of the smallest packet, `frame`'s or 64 bytes.
    pub fn lookahead(&self, frame: &Frame) -> Span {
        let wire = smallest(frame);
        let time = |link: &Link| Span(link.delay.0.saturating_add(link.rate.serialize(wire).0));
        self.links.iter().map(time).min().unwrap_or(Span::ZERO)
    }
}

/// Bytes on the wire of the smallest packet, `frame`'s or 64.
pub(crate) fn smallest(frame: &Frame) -> u64 {
    u64::from(frame.min_wire()).min(SMALLEST_WIRE)
}

/// The time `payload` bytes take over `path`; saturates at the longest span.
fn stream_time<'a>(path: impl Iterator<Item = &'a Link>, frame: &Frame, payload: u64) -> Span {
    if payload == 0 {
        return Span::ZERO;
    }
    let mss = u64::from(frame.mss());
    let full = (payload - 1) / mss;
    let tail_wire = u64::from(frame.data_wire((payload - full * mss) as u16));
    let full_wire = u64::from(frame.data_wire(frame.mss()));
    // When the first full packet and the tail reach the link, and the slowest link so far.
    let (mut head, mut tail, mut slowest) = (0u128, 0u128, 0u128);
    for link in path {
        let time = u128::from(link.rate.serialize(full_wire).0);
        let delay = u128::from(link.delay.0);
        slowest = slowest.max(time);
        if full > 0 {
            tail = tail.max(head + time + u128::from(full - 1) * slowest);
        }
        tail += u128::from(link.rate.serialize(tail_wire).0) + delay;
        head += time + delay;
    }
    Span(u64::try_from(tail).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use priolane_core::ids::NodeId;
    use priolane_core::rng::{Purpose, Stream};
    use priolane_core::units::Rate;

    use super::*;

    fn link(rate: Rate, delay: Span) -> Link {
        Link { from: NodeId(0), to: NodeId(1), rate, delay, loss: 0.0 }
    }

    /// Packet by packet: a link starts a packet when it has arrived and its predecessor has left.
    fn by_packets(path: &[Link], frame: &Frame, payload: u64) -> Span {
        let mss = u64::from(frame.mss());
        let mut free = vec![0u64; path.len()];
        let (mut left, mut arrival) = (payload, 0);
        while left > 0 {
            let size = left.min(mss);
            left -= size;
            arrival = 0;
            for (link, free) in path.iter().zip(&mut free) {
                *free = arrival.max(*free) + link.rate.serialize(u64::from(frame.data_wire(size as u16))).0;
                arrival = *free + link.delay.0;
            }
        }
        Span(arrival)
    }

    #[test]
    fn closed_form_equals_packet_by_packet_on_random_paths() {
        let mut rng = Stream::new(1, Purpose::Paths, 0);
        let rates = [1, 10, 15, 25, 40, 100, 400];
        for _ in 0..20_000 {
            let length = 1 + rng.below(8);
            let mut random = || {
                let rate =
                    Rate::from_bps(rates[rng.below(7) as usize] * 1_000_000_000 - rng.below(3)).unwrap();
                link(rate, Span(1 + rng.below(20_000_000)))
            };
            let path: Vec<Link> = (0..length).map(|_| random()).collect();
            let payload = 1 + rng.below(60_000);
            let expected = by_packets(&path, &Frame::ETHERNET, payload);
            assert_eq!(stream_time(path.iter(), &Frame::ETHERNET, payload), expected, "{payload} {path:?}");
        }
    }

    #[test]
    fn whole_and_short_last_packets_by_hand() {
        let path = [link(Rate::from_gbps(10), Span::from_us(1)), link(Rate::from_gbps(10), Span::from_us(2))];
        let time = |payload| stream_time(path.iter(), &Frame::ETHERNET, payload);
        // 1538 B at 10 Gbps: 1.2304 us. One packet: 2 x 1.2304 + 3; two: one more 1.2304.
        assert_eq!(time(1460), Span(2 * 1_230_400 + 3_000_000));
        assert_eq!(time(2920), Span(3 * 1_230_400 + 3_000_000));
        // A tail of 1 B (84 B: 0.0672 us) waits at link 2 until the full packet before it has left.
        assert_eq!(time(1461), Span(2 * 1_230_400 + 67_200 + 3_000_000));
        assert_eq!(time(0), Span::ZERO);
    }

    #[test]
    fn long_flows_are_cheap_and_saturate_instead_of_wrapping() {
        let path = [link(Rate::from_gbps(10), Span::from_us(1))];
        // 10^9 full packets: 10^9 x 1.2304 us + 1 us.
        let payload = 1460 * 1_000_000_000;
        assert_eq!(
            stream_time(path.iter(), &Frame::ETHERNET, payload),
            Span(1_230_400_000_000_000 + 1_000_000)
        );
        let slow = [link(Rate::from_bps(1).unwrap(), Span::from_us(1))];
        assert_eq!(stream_time(slow.iter(), &Frame::ETHERNET, u64::MAX), Span(u64::MAX));
    }
}

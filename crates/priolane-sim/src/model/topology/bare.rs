//! The ideal completion time: one flow alone on its path, back to back, without a handshake.
//!
//! The flow has `n - 1` full packets, then the tail. With `s_k` the serialization delay of a full packet on link `k`
//! and `d_k` the propagation delay, the last full packet leaves link `k` at
//! `D_k = sum(s_i, i <= k) + sum(d_i, i < k) + (n - 2) max(s_i, i <= k)`. The tail leaves at
//! `F_k = max(D_k, F_(k-1) + d_(k-1)) + t_k`, with `t_k` its own serialization delay, and the last byte arrives at
//! `F_K + d_K`. Switches store and forward, without loss.
//!
//! With packet spraying, where each packet takes any of several equal paths, it is the bound that `sprayed.rs` states
//! and proves.

use priolane_core::ids::{HostId, LinkId};
use priolane_core::packet::Frame;
use priolane_core::units::{Rate, Span};
use rustc_hash::FxHashMap;

use super::network::{Link, Topology};
use super::sprayed::EqualPathStages;

impl Topology {
    /// Returns the links that a packet with `entropy` takes from `src` to `dst`, in order; empty if they are the same
    /// host.
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

    /// Returns the time from the start of the first packet to the arrival of the last of `payload` bytes, without
    /// other traffic and without a handshake; zero without payload or if `src` is `dst`. It is exact on the path of
    /// `entropy`. With packet spraying it is a lower bound over all paths and orders of packets ([module
    /// documentation](self)).
    ///
    /// `frame` must have room for payload (`mtu > header`). The delay of the receiving host (`Scenario::host_delay`)
    /// is not included (docs/assumptions.md#bare-fct).
    pub fn bare_fct(&self, frame: &Frame, src: HostId, dst: HostId, entropy: u16, payload: u64) -> Span {
        BareTimes::new(self, frame).of((src, dst), entropy, payload)
    }

    /// Returns the minimum time between a packet's start on any link and its arrival, the engines' lookahead window:
    /// the minimum of propagation delay plus serialization delay of the smallest packet, `frame`'s or 64 bytes.
    pub fn lookahead(&self, frame: &Frame) -> Span {
        let wire = u64::from(frame.least_wire());
        let time = |link: &Link| Span(link.delay.0.saturating_add(link.rate.serialize(wire).0));
        self.links.iter().map(time).min().unwrap_or(Span::ZERO)
    }
}

/// Ideal completion times of many flows; caches the paths between racks.
#[derive(Debug)]
pub struct BareTimes<'a> {
    topology: &'a Topology,
    frame: &'a Frame,
    /// Paths by the racks of source and destination; only used with packet spraying.
    fans: FxHashMap<(u32, u32), EqualPathStages>,
}

impl<'a> BareTimes<'a> {
    /// Creates the cache for `topology` with packets of `frame`.
    pub fn new(topology: &'a Topology, frame: &'a Frame) -> Self {
        Self { topology, frame, fans: FxHashMap::default() }
    }

    /// Returns the ideal completion time with a handshake. A request and a token (control packets) each go one way and
    /// take `host_delay` at their ends. Then `n` data packets follow as in [`Self::of`], each after the first behind
    /// the serialization delay of a token on the slowest link, or on the stage with the least total rate.
    ///
    /// ```text
    /// request + host_delay + token + host_delay + bare + (n - 1) control / rate      n = ceil(payload / mss)
    /// ```
    ///
    /// Full packets then get the fraction F / (F + control) of the link: 94.8 % for 1538 and 84 B (TOP, footnote 1).
    /// Zero without payload or if both ends are the same host; saturates at the longest span.
    pub fn with_handshake(
        &mut self,
        (src, dst): (HostId, HostId),
        entropy: u16,
        (payload, host_delay): (u64, Span),
    ) -> Span {
        if payload == 0 || src == dst {
            return Span::ZERO;
        }
        let bare = self.of((src, dst), entropy, payload);
        let (control, packets) =
            (u64::from(self.frame.ack_wire()), payload.div_ceil(u64::from(self.frame.mss())));
        let request = self.control((src, dst), entropy);
        let token = self.control((dst, src), entropy);
        let slot = self.slowest((src, dst), entropy).serialize(control).0;
        let slots = u128::from(slot) * u128::from(packets - 1);
        let once: u128 =
            [bare, request, token, host_delay, host_delay].map(|span| u128::from(span.0)).iter().sum();
        Span(u64::try_from(once + slots).unwrap_or(u64::MAX))
    }

    /// Returns the time of a control packet from one host to another, over the fastest path with packet spraying.
    fn control(&mut self, (src, dst): (HostId, HostId), entropy: u16) -> Span {
        let (topology, wire) = (self.topology, u64::from(self.frame.ack_wire()));
        if let Some(fan) = self.fan(src, dst) {
            return fan.quickest(topology, (src, dst), wire);
        }
        let links = topology.path(src, dst, entropy);
        let takes = |id: &LinkId| {
            let link = &topology.links[id.index()];
            link.delay.0.saturating_add(link.rate.serialize(wire).0)
        };
        Span(links.iter().map(takes).fold(0, u64::saturating_add))
    }

    /// Returns the rate of the slowest link, or of the stage with the least total rate.
    fn slowest(&mut self, (src, dst): (HostId, HostId), entropy: u16) -> Rate {
        let topology = self.topology;
        let rate = |link: LinkId| topology.links[link.index()].rate;
        let own = rate(topology.uplink(src)).min(rate(topology.downlink(dst)));
        if let Some(fan) = self.fan(src, dst) {
            return own.min(fan.slowest(topology).unwrap_or(own));
        }
        topology.path(src, dst, entropy).into_iter().map(rate).fold(own, Rate::min)
    }

    /// Returns the paths between two hosts if packets take several.
    fn fan(&mut self, src: HostId, dst: HostId) -> Option<&EqualPathStages> {
        let Self { topology, fans, .. } = self;
        let racks = (topology.rack[src.index()], topology.rack[dst.index()]);
        if !topology.path_choice.sprays() || racks.0 == racks.1 {
            return None;
        }
        let fan = fans.entry(racks).or_insert_with(|| EqualPathStages::between(topology, src, dst));
        Some(&*fan).filter(|fan| !fan.is_one_path())
    }

    /// [`Topology::bare_fct`].
    pub fn of(&mut self, (src, dst): (HostId, HostId), entropy: u16, payload: u64) -> Span {
        let (topology, frame) = (self.topology, self.frame);
        if payload == 0 || src == dst {
            return Span::ZERO;
        }
        if let Some(fan) = self.fan(src, dst) {
            return fan.bound((topology, frame), (src, dst), payload);
        }
        let links = topology.path(src, dst, entropy);
        stream_time(links.iter().map(|link| &topology.links[link.index()]), frame, payload)
    }
}

/// Returns the time that `payload` bytes take over `path`; saturates at the longest span.
pub(super) fn stream_time<'a>(path: impl Iterator<Item = &'a Link>, frame: &Frame, payload: u64) -> Span {
    if payload == 0 {
        return Span::ZERO;
    }
    let mss = u64::from(frame.mss());
    let full = (payload - 1) / mss;
    let tail_wire = u64::from(frame.data_wire((payload - full * mss) as u16));
    let full_wire = u64::from(frame.data_wire(frame.mss()));
    // Arrival times of the first full packet and of the tail at the link, and the slowest link so far.
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

    /// Simulates packet by packet: a link starts a packet when it has arrived and its predecessor has left.
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
    fn with_a_handshake_by_hand() {
        use crate::model::topology::{LeafSpine, LinkSpec, PathChoice, SingleSwitch, Spray};
        let link = |gbps, us| LinkSpec::lossless(Rate::from_gbps(gbps), Span::from_us(us));
        let (frame, ends) = (Frame::ETHERNET, (HostId(0), HostId(1)));
        let star = SingleSwitch { hosts: 2, host_link: link(10, 4) }.build().unwrap();
        let mut times = BareTimes::new(&star, &frame);
        let mut of = |bytes, host_delay| times.with_handshake(ends, 0, (bytes, Span::from_us(host_delay)));
        // Request and token: 2 x (67.2 ns + 4 us) and 1 us at each end. Data: 2 x (1230.4 ns + 4 us), then 99 slots of
        // 84 + 1538 B, 1297.6 ns each.
        let control = 2 * (67_200 + 4_000_000) + 1_000_000;
        assert_eq!(of(1_460, 1), Span(2 * control + 2 * (1_230_400 + 4_000_000)));
        assert_eq!(of(146_000, 1), Span(2 * control + 2 * (1_230_400 + 4_000_000) + 99 * 1_297_600));
        assert_eq!((of(0, 1), of(1_460, 0)), (Span::ZERO, of(1_460, 1) - Span::from_us(2)));
        // Sprayed over three spines of 1 Gbps, with 3 Gbps in total: 84 B take 224 ns there, 67.2 ns at hosts.
        let shape = LeafSpine {
            leaves: 2,
            spines: 3,
            hosts_per_leaf: 1,
            host_link: link(10, 1),
            fabric_link: link(1, 1),
            links_per_pair: 1,
        };
        let mut fabric = shape.build().unwrap();
        fabric.path_choice = PathChoice::Sprayed(Spray::Random);
        let mut times = BareTimes::new(&fabric, &frame);
        let control = 2 * (67_200 + 672_000) + 4_000_000;
        let bare = times.of(ends, 0, 14_600);
        assert_eq!(
            times.with_handshake(ends, 0, (14_600, Span::ZERO)),
            Span(bare.0 + 2 * control + 9 * 224_000)
        );
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

//! Lower bounds on the times of a flow that hold for every scheme.
//!
//! A packet of `b` bytes on the wire takes `serialize(b)` plus the propagation delay on each link of its path, and no
//! packet of a flow is shorter than its last one, the tail. The tail's minimum time to a link, over all shortest
//! paths, is therefore the earliest arrival of any packet of the flow there (`head`). Its minimum time from the end of
//! its transmission on the link to its destination (`tail`) is the minimum time that passes after the flow's last bit
//! has left the link, whichever packet is last.

use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::units::Span;
use rustc_hash::FxHashMap;

use super::legs::FlowLinkBounds;
use super::network::Topology;
use super::sprayed::EqualPathStages;

/// The paths that packets may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedPaths {
    /// Shortest paths, in links.
    Shortest,
    /// Any path, as with link failures: only the links of hosts are certain.
    Any,
}

/// Lower bounds of many flows; caches the paths between racks.
#[derive(Debug)]
pub struct LeastTimes<'a> {
    topology: &'a Topology,
    frame: &'a Frame,
    ways: AllowedPaths,
    fans: FxHashMap<(u32, u32), EqualPathStages>,
}

impl<'a> LeastTimes<'a> {
    /// Creates the cache for `topology` with packets of `frame`.
    pub fn new(topology: &'a Topology, frame: &'a Frame, ways: AllowedPaths) -> Self {
        Self { topology, frame, ways, fans: FxHashMap::default() }
    }

    fn fan(&mut self, (src, dst): (HostId, HostId)) -> &EqualPathStages {
        let racks = (self.topology.rack[src.index()], self.topology.rack[dst.index()]);
        let (topology, ways) = (self.topology, self.ways);
        self.fans.entry(racks).or_insert_with(|| match ways {
            AllowedPaths::Shortest => EqualPathStages::between(topology, src, dst),
            AllowedPaths::Any => EqualPathStages::default(),
        })
    }

    /// Returns the minimum completion time of `payload` bytes, at least 1, between two hosts, over all paths and
    /// orders of packets.
    pub fn alone(&mut self, pair: (HostId, HostId), payload: u64) -> Span {
        let network = (self.topology, self.frame);
        self.fan(pair).bound(network, pair, payload)
    }

    /// Returns the minimum times before and after a flow of `payload` bytes, at least 1, is on its links.
    pub fn legs(&mut self, pair: (HostId, HostId), payload: u64) -> FlowLinkBounds {
        let (topology, frame) = (self.topology, self.frame);
        let mss = u64::from(frame.mss());
        let wire = frame.data_wire((payload - (payload - 1) / mss * mss) as u16);
        let leaves = topology.rack[pair.0.index()] != topology.rack[pair.1.index()];
        let legs = self.fan(pair).legs(topology, pair, wire.into());
        if leaves { legs } else { FlowLinkBounds { racks: None, ..legs } }
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::units::Rate;

    use super::*;
    use crate::model::topology::legs::LinkBounds;
    use crate::model::topology::{LeafSpine, LinkSpec, file};

    #[test]
    fn legs_over_a_leaf_spine_by_hand() {
        let link = |gbps, us| LinkSpec::lossless(Rate::from_gbps(gbps), Span::from_us(us));
        let shape = LeafSpine {
            leaves: 2,
            spines: 3,
            hosts_per_leaf: 2,
            host_link: link(10, 1),
            fabric_link: link(40, 2),
            links_per_pair: 1,
        };
        let (topology, frame) = (shape.build().unwrap(), Frame::ETHERNET);
        let mut times = LeastTimes::new(&topology, &frame, AllowedPaths::Shortest);
        // A tail of 1 B: 84 B, 67.2 ns at 10 Gbps and 16.8 at 40. To the last link 67.2 + 2 x 16.8 ns and 1 + 2 + 2
        // us.
        let legs = times.legs((HostId(0), HostId(3)), 1_461);
        let leg = |head, tail| LinkBounds { head: Span(head), tail: Span(tail) };
        assert_eq!(legs.source, leg(0, 6_000_000 + 2 * 16_800 + 67_200));
        let [out, into] = legs.racks.unwrap();
        assert_eq!(out, leg(1_067_200, 5_000_000 + 16_800 + 67_200));
        assert_eq!(into, leg(3_084_000, 3_000_000 + 67_200));
        assert_eq!(legs.destination, leg(5_100_800, 1_000_000));
        // Within the rack, and if any path is allowed: only the links of hosts.
        let near = times.legs((HostId(0), HostId(1)), 1_460);
        assert_eq!((near.racks, near.source), (None, leg(0, 2_000_000 + 1_230_400)));
        let any = LeastTimes::new(&topology, &frame, AllowedPaths::Any).legs((HostId(0), HostId(3)), 1_460);
        assert_eq!((any.source, any.destination), (near.source, near.destination));
        assert_eq!(any.racks, Some([leg(2_230_400, 2_230_400), leg(2_230_400, 2_230_400)]));
    }

    #[test]
    fn of_unlike_paths_the_least_of_each_way_counts() {
        // Over `fast` 84 B take 0.84 ns and 1 us per link, over `near` 672 ns and 100 ns.
        let text = "node,a,host\nnode,b,host\nnode,l,switch\nnode,r,switch\nnode,fast,switch\nnode,near,switch\n\
                    link,a,l,10Gbps,1us\nlink,b,r,10Gbps,1us\nlink,l,fast,800Gbps,1us\nlink,fast,r,800Gbps,1us\n\
                    link,l,near,1Gbps,100ns\nlink,near,r,1Gbps,100ns\n";
        let (topology, frame) = (file::parse(text).unwrap(), Frame::ETHERNET);
        let mut times = LeastTimes::new(&topology, &frame, AllowedPaths::Shortest);
        let legs = times.legs((HostId(0), HostId(1)), 1);
        assert_eq!(legs.destination.head, Span(67_200 + 1_000_000 + 2 * 772_000));
        // From the end of the transmission: 100 ns over `near`, then its second link.
        assert_eq!(legs.racks.unwrap()[0].tail, Span(100_000 + 772_000 + 67_200 + 1_000_000));
        let full = times.legs((HostId(0), HostId(1)), 1_460);
        assert_eq!(full.destination.head, Span(1_230_400 + 1_000_000 + 2 * 1_015_380));
    }
}

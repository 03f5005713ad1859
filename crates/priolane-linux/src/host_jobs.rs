//! The jobs of the hosts of a run, wherever they are.

use std::net::SocketAddr;

use priolane_core::packet::Frame;
use priolane_core::units::{Rate, Span};

use crate::job::{Flow, HostJob, PathJob, SchemeJob};
use crate::network::Network;

/// What the wake-up of the process at the end of a cable takes, in nanoseconds: what is usual with real-time threads.
const WAKE_UP_NS: u64 = 50_000;

/// What the hosts of a run do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    /// Their network.
    pub(crate) network: &'a Network,
    /// Bytes of the largest IP packet.
    pub(crate) mtu: u16,
    /// What hosts speak.
    pub(crate) scheme: &'a SchemeJob,
    /// Whether hosts know the delay and the rate of paths.
    pub(crate) knows_paths: bool,
    /// The messages.
    pub(crate) flows: &'a [Flow],
    /// The real-time priority of hosts, if the system permits one.
    pub(crate) real_time: Option<u8>,
}

impl Work<'_> {
    /// The first flow that is none of the network.
    pub(crate) fn wrong_flow(&self) -> Option<u32> {
        let hosts = self.network.hosts;
        let fits = |flow: &&Flow| {
            let Flow { src, dst, bytes, class, w_milli, .. } = **flow;
            src < hosts && dst < hosts && src != dst && bytes > 0 && class < 16 && w_milli > 0
        };
        self.flows.iter().find(|flow| !fits(flow)).map(|flow| flow.id)
    }

    /// The part that concerns host `host`, with where each host is bound and, by host, for how long its datagrams are held back.
    pub(crate) fn of(&self, host: u16, addresses: Vec<SocketAddr>, delays_ns: Vec<u64>) -> HostJob {
        let own = |flow: &&Flow| flow.src == host || flow.dst == host;
        HostJob {
            host,
            addresses,
            delays_ns,
            scheme: self.scheme.clone(),
            line_bps: self.network.line_rate(host),
            path: self.knows_paths.then(|| self.path(host)),
            mtu: self.mtu,
            real_time: self.real_time,
            flows: self.flows.iter().filter(own).copied().collect(),
        }
    }

    /// Returns the path from `host` to the farthest other.
    fn path(&self, host: u16) -> PathJob {
        let network = self.network;
        let of = |to: u16| {
            let cables = network.path(host, to).into_iter().map(|cable| &network.cables[cable]);
            let empty = PathJob { hops: 0, rate_bps: network.line_rate(host), data_ns: 0, control_ns: 0 };
            cables.fold(empty, |path, cable| {
                let hop = |wire: u16| {
                    let line = Rate::from_bps(cable.rate_bps)
                        .map_or(Span::ZERO, |rate| rate.serialize(u64::from(wire)));
                    line.0 / 1_000 + cable.delay_ns + WAKE_UP_NS
                };
                PathJob {
                    hops: path.hops + 1,
                    rate_bps: path.rate_bps.min(cable.rate_bps),
                    data_ns: path.data_ns + hop(Frame::ETHERNET.on_wire(self.mtu)),
                    control_ns: path.control_ns + hop(Frame::ETHERNET.ack_wire()),
                }
            })
        };
        let others = (0..network.hosts).filter(|&to| to != host).map(of);
        others.max_by_key(|path| path.data_ns).unwrap_or_else(|| of(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Ladder, Order};
    use crate::plan::tests::star;
    use crate::port::Port;

    #[test]
    fn a_path_is_as_long_as_packets_take_over_idle_cables_and_processes_to_wake_up() {
        let mut plan = star(3, Port::fifo());
        plan.network.cables.iter_mut().for_each(|cable| cable.delay_ns = 100_000);
        plan.network.cables[2].delay_ns = 200_000;
        let class = Ladder::default();
        let scheme = SchemeJob {
            transport: serde_json::Map::new(),
            order: Order::RoundRobin,
            host_level: class.clone(),
            class,
            ranks: false,
        };
        let (network, mtu) = (&plan.network, plan.mtu);
        let work = Work { network, mtu, scheme: &scheme, knows_paths: true, flows: &[], real_time: None };
        // Two lines of 100 Mbit/s: 1538 bytes take 123.04 us on each, 84 bytes 6.72 us; 50 us at the end of each.
        let expected = PathJob { hops: 2, rate_bps: 100_000_000, data_ns: 646_080, control_ns: 413_440 };
        assert_eq!(work.path(0), expected);
        let info = expected.info();
        assert_eq!(info.data.unwrap().round_trip, Span::from_ns(1_059_520));
        assert_eq!(info.control.unwrap().round_trip, Span::from_ns(826_880));
    }
}

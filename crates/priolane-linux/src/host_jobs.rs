//! The jobs of the hosts of a run, on one machine or on several.

use std::collections::HashSet;
use std::net::SocketAddr;

use priolane_core::packet::Frame;
use priolane_core::units::{Rate, Span};

use crate::job::{Bins, Change, Flow, FlowChange, HostJob, PathJob, SchemeJob};
use crate::network::Network;

/// The time that the process at the end of a cable takes to wake up, in nanoseconds: the usual value with real-time
/// threads.
const WAKE_UP_NS: u64 = 50_000;

/// The description of a run that the jobs of its hosts are derived from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    /// The network of the hosts.
    pub(crate) network: &'a Network,
    /// The size of the largest IP packet in bytes.
    pub(crate) mtu: u16,
    /// The scheme of all hosts.
    pub(crate) scheme: &'a SchemeJob,
    /// Whether hosts are given the delay and the rate of paths.
    pub(crate) knows_paths: bool,
    /// All messages of the run.
    pub(crate) flows: &'a [Flow],
    /// The changes of messages during the run.
    pub(crate) changes: &'a [FlowChange],
    /// The time bins in which endless messages are counted; `None` to count none.
    pub(crate) bins: Option<Bins>,
    /// The real-time priority of hosts, if the system permits one.
    pub(crate) real_time: Option<u8>,
}

impl Work<'_> {
    /// Returns the first flow whose hosts are not in the network, or whose change is not valid.
    pub(crate) fn wrong_flow(&self) -> Option<u32> {
        let hosts = self.network.hosts;
        let fits = |flow: &&Flow| {
            let Flow { src, dst, bytes, class, w_milli, .. } = **flow;
            src < hosts && dst < hosts && src != dst && bytes > 0 && class < 16 && w_milli > 0
        };
        let wrong = self.flows.iter().find(|flow| !fits(flow)).map(|flow| flow.id);
        let known: HashSet<u32> = self.flows.iter().map(|flow| flow.id).collect();
        let is_change = |change: &&FlowChange| {
            let is_in_range = match change.change {
                Change::Class(class) => class < 16,
                Change::Weights { w_milli, .. } => w_milli > 0,
                Change::Abort => true,
            };
            is_in_range && known.contains(&change.flow)
        };
        wrong.or_else(|| self.changes.iter().find(|change| !is_change(change)).map(|change| change.flow))
    }

    /// Returns the job of host `host`, given the address of each host and, by host, the time for which its datagrams
    /// are held back.
    pub(crate) fn of(&self, host: u16, addresses: Vec<SocketAddr>, delays_ns: Vec<u64>) -> HostJob {
        let own = |flow: &&Flow| flow.src == host || flow.dst == host;
        let sent: HashSet<u32> =
            self.flows.iter().filter(|flow| flow.src == host).map(|flow| flow.id).collect();
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
            changes: self.changes.iter().filter(|change| sent.contains(&change.flow)).copied().collect(),
            bins: self.bins,
        }
    }

    /// Returns the path from `host` to the farthest other host.
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
pub(crate) mod tests {
    use super::*;
    use crate::job::{FlowKind, Ladder, Order};
    use crate::plan::tests::star;
    use crate::port::Port;

    /// Returns a scheme without a transport.
    fn no_scheme() -> SchemeJob {
        let class = Ladder::default();
        let transport = serde_json::Map::new();
        SchemeJob {
            transport,
            order: Order::RoundRobin,
            host_level: class.clone(),
            class,
            ranks: false,
            admission: None,
        }
    }

    /// Returns a message of a kilobyte from host 0 to host 1.
    pub(crate) fn plain(id: u32) -> Flow {
        Flow {
            id,
            src: 0,
            dst: 1,
            bytes: 1_000,
            kind: FlowKind::Message,
            start_ns: 0,
            class: 0,
            deadline_ns: None,
            group: 0,
            theta_bps: None,
            w_milli: 1_000,
        }
    }

    /// Returns the job of one of three hosts with these flows.
    pub(crate) fn host_job(host: u16, flows: Vec<Flow>) -> HostJob {
        HostJob {
            host,
            addresses: (0..3).map(HostJob::testbed_address).collect(),
            delays_ns: vec![0; 3],
            scheme: no_scheme(),
            line_bps: 100_000_000,
            path: None,
            mtu: 1_500,
            real_time: None,
            flows,
            changes: Vec::new(),
            bins: None,
        }
    }

    #[test]
    fn a_path_is_as_long_as_packets_take_over_idle_cables_and_processes_to_wake_up() {
        let mut plan = star(3, Port::fifo());
        plan.network.cables.iter_mut().for_each(|cable| cable.delay_ns = 100_000);
        plan.network.cables[2].delay_ns = 200_000;
        let scheme = no_scheme();
        let (network, mtu) = (&plan.network, plan.mtu);
        let work = Work {
            network,
            mtu,
            scheme: &scheme,
            knows_paths: true,
            flows: &[],
            changes: &[],
            bins: None,
            real_time: None,
        };
        // Two lines of 100 Mbit/s: 1538 bytes take 123.04 us on each, 84 bytes 6.72 us; 50 us at the end of each.
        let expected = PathJob { hops: 2, rate_bps: 100_000_000, data_ns: 646_080, control_ns: 413_440 };
        assert_eq!(work.path(0), expected);
        let info = expected.info();
        assert_eq!(info.data.unwrap().round_trip, Span::from_ns(1_059_520));
        assert_eq!(info.control.unwrap().round_trip, Span::from_ns(826_880));
    }

    #[test]
    fn a_host_gets_the_changes_of_what_it_sends_and_a_wrong_one_is_found() {
        let plan = star(3, Port::fifo());
        let flows = [plain(4), Flow { src: 1, dst: 0, ..plain(9) }];
        let change = |flow, change| FlowChange { at_ns: 7, flow, change };
        let changes = [change(4, Change::Abort), change(9, Change::Class(3))];
        let (network, scheme) = (&plan.network, &no_scheme());
        let work = |changes| Work {
            network,
            mtu: 1_500,
            scheme,
            knows_paths: false,
            flows: &flows,
            changes,
            bins: None,
            real_time: None,
        };
        let of = |host| work(&changes).of(host, Vec::new(), Vec::new());
        assert_eq!((of(0).changes, of(1).changes), (vec![changes[0]], vec![changes[1]]));
        assert_eq!((of(0).flows.len(), of(2).flows.len()), (2, 0));
        assert_eq!(work(&changes).wrong_flow(), None);
        let wrong = [
            (8, Change::Abort),
            (4, Change::Class(16)),
            (4, Change::Weights { theta_bps: None, w_milli: 0 }),
        ];
        for (flow, wrong) in wrong {
            let changes = [change(flow, wrong)];
            let work = Work { changes: &changes, ..work(&[]) };
            assert_eq!(work.wrong_flow(), Some(flow), "{wrong:?}");
        }
    }

    #[test]
    fn a_path_leads_to_the_farthest_host_and_has_the_rate_of_its_slowest_cable() {
        let mut plan = star(3, Port::fifo());
        plan.network.cables[1].delay_ns = 7_000_000;
        plan.network.cables[2].rate_bps = 50_000_000;
        let (network, scheme) = (&plan.network, &no_scheme());
        let work = |knows_paths| Work {
            network,
            mtu: 1_500,
            scheme,
            knows_paths,
            flows: &[],
            changes: &[],
            bins: None,
            real_time: None,
        };
        // Host 1 is far, and host 2 slow.
        let path = |host| work(true).of(host, Vec::new(), Vec::new()).path.unwrap();
        assert_eq!((path(0).rate_bps, path(2).rate_bps, path(2).hops), (100_000_000, 50_000_000, 2));
        assert!(path(0).data_ns > 7_000_000 && path(1).rate_bps == 50_000_000);
        assert_eq!(work(false).of(0, Vec::new(), Vec::new()).path, None);
    }

    #[test]
    fn a_flow_that_is_none_of_the_network_is_found() {
        let plan = star(2, Port::fifo());
        let (network, scheme) = (&plan.network, &no_scheme());
        let wrong = |change: &dyn Fn(&mut Flow)| {
            let mut flow = plain(4);
            change(&mut flow);
            let flows = [flow];
            let work = Work {
                network,
                mtu: 1_500,
                scheme,
                knows_paths: false,
                flows: &flows,
                changes: &[],
                bins: None,
                real_time: None,
            };
            work.wrong_flow()
        };
        assert_eq!(wrong(&|_| {}), None);
        assert_eq!(wrong(&|flow| flow.class = 15), None);
        for change in [
            &|flow: &mut Flow| flow.class = 16,
            &|flow: &mut Flow| flow.dst = 2,
            &|flow: &mut Flow| flow.src = 1,
            &|flow: &mut Flow| flow.bytes = 0,
            &|flow: &mut Flow| flow.w_milli = 0,
        ] as [&dyn Fn(&mut Flow); 5]
        {
            assert_eq!(wrong(change), Some(4));
        }
    }
}

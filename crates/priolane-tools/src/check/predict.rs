//! What a run will be, from its flows and the network, without running it.
//!
//! ```text
//! hops(flow)    = links x sent x packets x (1 + control) + per_flow, of the transport's `Cost`
//! packets       = ceil(size / mss); of an endless flow what its line carries until the run ends
//! sent          = min over links of the path of (what the link carries while flows want it / what they want)
//! bytes         = links x LINK + flows x KEPT + open x OPEN + in flight x PACKET + samples x SAMPLE
//! in flight     = 2 x hops x mean time on a link / duration
//! open          = the most flows at once, if each took SLOWDOWN times as long as it would alone
//! instructions  = factor of the transport's `Cost` x (hops x HOP + ends x END + visits x VISIT + windows x WINDOW)
//! ends          = packets that hosts make, ACKs and handshakes too: each is made by one and taken by another
//! windows       = duration / length of a window, but no more than hops
//! visits        = for hosts and for switches, n of them with so many events: n x windows x (1 - e^(-events / (n x windows)))
//! ```
//!
//! Retransmissions are not in it, nor flows that wait for flows that do not end.

use priolane_core::endpoint::FlowSpec;
use priolane_core::transport::Transport;
use priolane_core::units::{Span, Time};
use priolane_sim::scenario::{Scenario, Stop};
use priolane_sim::window_length;

/// Bytes that a link with its queue, its counters and its place in tables of routes takes.
const LINK: f64 = 4_000.0;
/// Bytes that a flow takes in the list, in the records and while these are summed up: 67, and some 20 where few things
/// happen to it that do not to all.
const KEPT: f64 = 90.0;
/// Bytes of both ends of an open flow (docs/performance.md).
const OPEN: f64 = 480.0;
/// Bytes of a packet on a link or in a queue.
const PACKET: f64 = 64.0;
/// Bytes of a reading of a queue, in the outcome and in the table that is written.
const SAMPLE: f64 = 80.0;
/// Bytes before there is anything: Python with what reads results and draws them.
const BASE: f64 = 110e6;
/// Instructions of a packet-hop: it is sorted, routed, queued and sent (docs/performance.md).
const HOP: f64 = 300.0;
/// Instructions of a packet at its two hosts.
const END: f64 = 900.0;
/// Instructions of a node that lives through a window, besides those of what happens there.
const VISIT: f64 = 350.0;
/// Instructions of a window in which anything happens.
const WINDOW: f64 = 1_000.0;
/// How much longer a flow is taken to be open than it would be alone.
const SLOWDOWN: f64 = 3.0;

/// What a run is predicted to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prediction {
    /// Packets put on links.
    pub(super) packet_hops: u64,
    /// Instructions, more or less: what runs take of time relative to each other.
    pub(super) instructions: f64,
    /// Bytes of memory.
    pub(super) bytes: u64,
}

/// What a flow sends, in the worst case for the network.
struct Demand {
    path: Vec<usize>,
    packets: f64,
    from: Time,
    /// Alone.
    lasts: Span,
}

/// The most flows that a forecast reads. Of a longer list it reads every k-th.
const LOOKED_AT: usize = 500_000;

/// What the flows of a scenario want of its network, whatever carries them.
pub(super) struct Forecast<'a> {
    scenario: &'a Scenario,
    /// Of the flows that are looked at.
    demands: Vec<Demand>,
    /// How many flows each of them stands for.
    each: f64,
    /// The share of its packets that each flow can send.
    sent: Vec<f64>,
    /// The most flows that are open at once.
    open: i64,
    end: Time,
    /// How many times as long the run is as the scenario, which is its first part.
    times: f64,
}

/// What is put on links, and how often.
struct Traffic {
    hops: f64,
    /// Packets, each of which hosts make and take once.
    ends: f64,
    duration: f64,
}

impl<'a> Forecast<'a> {
    /// Of the flows of `scenario`, which goes on in the same way until it is `times` as long.
    pub(super) fn of(scenario: &'a Scenario, times: f64) -> Self {
        Self::looking_at(scenario, times, LOOKED_AT)
    }

    /// The same from `most` flows at most.
    pub(super) fn looking_at(scenario: &'a Scenario, times: f64, most: usize) -> Self {
        let end = end(scenario);
        let every = scenario.flows.len().div_ceil(most).max(1);
        let flows = scenario.flows.iter().step_by(every).filter(|flow| flow.start < end);
        let demands: Vec<Demand> = flows.map(|flow| demand(scenario, &flow, end)).collect();
        let each = every as f64;
        let sent = sent(scenario, (&demands, each), end);
        let open = most_open(&demands) * every as i64;
        Self { scenario, demands, each, sent, open, end, times }
    }

    /// The run with this transport.
    pub(super) fn under(&self, transport: &Transport) -> Prediction {
        let traffic = self.traffic(transport);
        Prediction {
            packet_hops: traffic.hops as u64,
            instructions: transport.cost().instructions * self.instructions(&traffic),
            bytes: self.bytes(&traffic) as u64,
        }
    }

    fn traffic(&self, transport: &Transport) -> Traffic {
        let cost = transport.cost();
        let per_packet = 1.0 + cost.control;
        let duration = last_end(&self.demands, self.end).0.max(1) as f64;
        let mut traffic = Traffic { hops: 0.0, ends: 0.0, duration };
        for (demand, sent) in self.demands.iter().zip(&self.sent) {
            let ends = sent * demand.packets * per_packet + cost.per_flow;
            traffic.ends += ends;
            traffic.hops += demand.path.len() as f64 * ends;
        }
        let Traffic { hops, ends, duration } = traffic;
        let flows = self.each * self.times;
        Traffic { hops: hops * flows, ends: ends * flows, duration: duration * self.times }
    }

    fn instructions(&self, &Traffic { hops, ends, duration }: &Traffic) -> f64 {
        let topology = &self.scenario.topology;
        let hosts = f64::from(topology.hosts);
        let switches = topology.nodes() as f64 - hosts;
        let windows = (duration / window_length(self.scenario).0 as f64).min(hops);
        let visits = |nodes: f64, events: f64| {
            let lives = (nodes * windows).max(1.0);
            lives * -f64::exp_m1(-events / lives)
        };
        let visits = visits(hosts, ends) + visits(switches, hops - ends);
        hops * HOP + ends * END + visits * VISIT + windows * WINDOW
    }

    fn bytes(&self, &Traffic { hops, duration, .. }: &Traffic) -> f64 {
        let scenario = self.scenario;
        let links = scenario.topology.links.len() as f64;
        let on_link = scenario.longest_hop().0 as f64;
        let samples = scenario.sample_every.map_or(0.0, |every| duration / every.0.max(1) as f64 * links);
        BASE + links * LINK
            + scenario.flows.len() as f64 * self.times * KEPT
            + self.open as f64 * OPEN
            + 2.0 * hops * on_link / duration * PACKET
            + samples * SAMPLE
    }
}

/// The last instant at which flows send: the stated one, or where a run drains the end of its last flow alone.
fn end(scenario: &Scenario) -> Time {
    match scenario.stop {
        Stop::At(end) => end,
        Stop::WhenDone { not_before, limit, .. } => {
            // What is finite is sent to its end however long that takes.
            if scenario.flows.iter().all(|flow| flow.size.is_some()) {
                return limit;
            }
            let hop = scenario.longest_hop();
            let alone = |flow: FlowSpec| {
                let line = scenario.topology.host_capacity(flow.src);
                flow.size.map(|size| flow.start + line.serialize(size) + hop)
            };
            let last = scenario.flows.iter().filter_map(alone).max().unwrap_or(Time::ZERO);
            last.max(not_before).min(limit)
        }
    }
}

fn demand(scenario: &Scenario, flow: &FlowSpec, end: Time) -> Demand {
    let topology = &scenario.topology;
    let line = topology.host_capacity(flow.src);
    let until_end = line.bytes_in(end.since(flow.start));
    let bytes = flow.size.map_or(until_end, |size| size.min(until_end));
    let path: Vec<usize> =
        topology.path(flow.src, flow.dst, flow.entropy).into_iter().map(|link| link.index()).collect();
    let delays = Span(path.iter().map(|&link| 2 * topology.links[link].delay.0).sum());
    let packets = bytes.div_ceil(u64::from(scenario.frame.mss())) as f64;
    Demand { path, packets, from: flow.start, lasts: line.serialize(bytes) + delays }
}

/// The share of its packets that each flow can send before `end`.
fn sent(scenario: &Scenario, (demands, each): (&[Demand], f64), end: Time) -> Vec<f64> {
    let wire = u64::from(scenario.frame.max_wire());
    let mut wanted = vec![0.0; scenario.topology.links.len()];
    let mut first = vec![end; wanted.len()];
    for demand in demands {
        for &link in &demand.path {
            wanted[link] += demand.packets * each;
            first[link] = first[link].min(demand.from);
        }
    }
    let share = |&link: &usize| {
        let packet = scenario.topology.links[link].rate.serialize(wire).0.max(1) as f64;
        let carried = end.since(first[link]).0 as f64 / packet;
        (carried / wanted[link]).min(1.0)
    };
    demands.iter().map(|demand| demand.path.iter().map(share).fold(1.0, f64::min)).collect()
}

/// When the last flow ends, alone, `end` at the latest.
fn last_end(demands: &[Demand], end: Time) -> Time {
    demands.iter().map(|demand| demand.from + demand.lasts).max().unwrap_or(Time::ZERO).min(end)
}

/// The most flows that are open at once.
fn most_open(demands: &[Demand]) -> i64 {
    let lasts = |demand: &Demand| (demand.lasts.0 as f64 * SLOWDOWN) as u64;
    let mut steps: Vec<(u64, i64)> =
        demands.iter().flat_map(|d| [(d.from.0, 1), (d.from.0.saturating_add(lasts(d)), -1)]).collect();
    steps.sort_unstable();
    let open = steps.iter().scan(0, |open, (_, step)| {
        *open += step;
        Some(*open)
    });
    open.max().unwrap_or(0)
}

//! What a run will be, from its flows and the network, without running it.
//!
//! ```text
//! hops(flow)    = links x sent x (packets + packets / ack_every) + handshake
//! packets       = ceil(size / mss); of an endless flow what its line carries until the run ends
//! sent          = min over links of the path of (what the link carries while flows want it / what they want)
//! bytes         = links x LINK + flows x KEPT + open x OPEN + in flight x PACKET + samples x SAMPLE
//! in flight     = 2 x hops x mean time on a link / duration
//! open          = the most flows at once, if each took SLOWDOWN times as long as it would alone
//! ```
//!
//! Retransmissions are not in it, nor flows that wait for flows that do not end.

use priolane_core::endpoint::FlowSpec;
use priolane_core::transport::Transport;
use priolane_core::transport::window::Handshake;
use priolane_core::units::{Span, Time};
use priolane_sim::scenario::{Scenario, Stop};

/// Bytes that a link with its queue, its counters and its place in tables of routes takes.
const LINK: f64 = 4_000.0;
/// Bytes that a flow takes in the list, in the records and while these are summed up.
const KEPT: f64 = 400.0;
/// Bytes of both ends of an open flow (docs/performance.md).
const OPEN: f64 = 1_100.0;
/// Bytes of a packet on a link or in a queue.
const PACKET: f64 = 120.0;
/// Bytes of a reading of a queue, in the outcome and in the table that is written.
const SAMPLE: f64 = 80.0;
/// Bytes before there is anything.
const BASE: f64 = 20e6;
/// How much longer a flow is taken to be open than it would be alone.
const SLOWDOWN: f64 = 3.0;

/// What a run is predicted to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prediction {
    /// Packets put on links.
    pub(super) packet_hops: u64,
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

/// Predicts the run of `scenario`.
pub(super) fn predict(scenario: &Scenario) -> Prediction {
    let end = end(scenario);
    let demands: Vec<Demand> = scenario
        .flows
        .iter()
        .filter(|flow| flow.start < end)
        .map(|flow| demand(scenario, flow, end))
        .collect();
    let sent = sent(scenario, &demands, end);
    let per_packet = 1.0 + 1.0 / acks(scenario);
    let handshake = handshake(scenario);
    let hops_of = |(demand, sent): (&Demand, f64)| {
        demand.path.len() as f64 * (sent * demand.packets * per_packet + handshake)
    };
    let packet_hops: f64 = demands.iter().zip(sent).map(hops_of).sum();
    let links = scenario.topology.links.len() as f64;
    let duration = last_end(&demands, end).0.max(1) as f64;
    let on_link = scenario.longest_hop().0 as f64;
    let samples = scenario.sample_every.map_or(0.0, |every| duration / every.0.max(1) as f64 * links);
    let bytes = BASE
        + links * LINK
        + scenario.flows.len() as f64 * KEPT
        + most_open(&demands) as f64 * OPEN
        + 2.0 * packet_hops * on_link / duration * PACKET
        + samples * SAMPLE;
    Prediction { packet_hops: packet_hops as u64, bytes: bytes as u64 }
}

/// The last instant at which flows send: the stated one, or where a run drains the end of its last flow alone.
fn end(scenario: &Scenario) -> Time {
    match scenario.stop {
        Stop::At(end) => end,
        Stop::WhenDone { not_before, limit, .. } => {
            let finite = scenario.flows.iter().filter(|flow| flow.size.is_some());
            let ends = finite.map(|flow| {
                let line = scenario.topology.host_capacity(flow.src);
                flow.start + line.serialize(flow.size.unwrap_or(0)) + scenario.longest_hop()
            });
            // What is finite is sent to its end however long that takes.
            let all_finite = scenario.flows.iter().all(|flow| flow.size.is_some());
            let last = ends.max().unwrap_or(Time::ZERO).max(not_before);
            if all_finite { limit } else { last.min(limit) }
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
fn sent(scenario: &Scenario, demands: &[Demand], end: Time) -> Vec<f64> {
    let wire = u64::from(scenario.frame.max_wire());
    let mut wanted = vec![0.0; scenario.topology.links.len()];
    let mut first = vec![end; wanted.len()];
    for demand in demands {
        for &link in &demand.path {
            wanted[link] += demand.packets;
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

/// Payload packets per ACK.
fn acks(scenario: &Scenario) -> f64 {
    match &scenario.transport {
        Transport::Window { window, .. } => f64::from(window.ack_every.max(1)),
        // A token for each packet.
        Transport::Tokens(_) => 1.0,
        // A token for each.
        Transport::PHost(_) => 1.0,
        // An ACK and a pull for each.
        Transport::Ndp(_) => 0.5,
        // A grant for each.
        Transport::Homa(_) => 1.0,
    }
}

/// Packets of a flow besides payload and its ACKs or tokens: SYN, SYN/ACK, ACK, or SYNC, STOP, DONE.
fn handshake(scenario: &Scenario) -> f64 {
    match &scenario.transport {
        Transport::Window { window, .. } => match window.handshake {
            Handshake::OneRtt => 3.0,
            Handshake::None | Handshake::Reuse => 0.0,
        },
        Transport::Tokens(_) => 3.0,
        // A request and an ACK.
        Transport::PHost(_) => 2.0,
        Transport::Ndp(_) => 0.0,
        Transport::Homa(_) => 1.0,
    }
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

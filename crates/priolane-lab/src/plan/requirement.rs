//! R_base: the least deadlines at which what all flows require fits the lines they go to (Firapam §V-D).
//!
//! ```text
//! line      of a host: takes the bytes on the wire of each flow to it, from the flow's start on; what else of the empty
//!           network's completion time a flow takes comes on top
//! fits(s)   each flow that has a deadline has w s from its start, w its part's `r_base`: earliest deadline first, flows
//!           interrupted, meets all; no other order meets what it does not
//! R_base    the least s that fits at every line, by bisection: what fits at s fits at more
//! ```
//!
//! Beside it stands the least s at which lines that share evenly among their flows (processor sharing) meet all.
//! docs/assumptions.md#r-base.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::units::Span;
use priolane_sim::topology::{BareTimes, Topology};
use serde::Serialize;

/// The least deadlines of flows with w = 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// R_base: where some order of flows meets all.
    #[serde(serialize_with = "priolane_source::quantity::as_text::span")]
    pub fits: Span,
    /// Where even sharing meets all.
    #[serde(serialize_with = "priolane_source::quantity::as_text::span")]
    pub shared: Span,
}

/// What a flow takes of a line, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Demand {
    start: u64,
    /// Its transmission on the line alone.
    takes: u64,
    /// What its way takes besides.
    beyond: u64,
    /// w; none of flows without a deadline.
    weight: Option<f64>,
}

/// The requirement of `flows`, in order of start and all with an end; `weights` has the w of each.
pub(super) fn requirement(
    flows: &FlowList,
    weights: &[Option<f64>],
    (topology, frame): (&Topology, &Frame),
) -> Requirement {
    let mut lines: BTreeMap<HostId, Vec<Demand>> = BTreeMap::new();
    let mut times = BareTimes::new(topology, frame);
    for (flow, &weight) in flows.iter().zip(weights) {
        let bytes = flow.size.unwrap_or(0);
        let takes = topology.host_capacity(flow.dst).serialize(frame.stream_wire(bytes)).0;
        let bare = times.of((flow.src, flow.dst), flow.entropy, bytes).0;
        let demand = Demand { start: flow.start.0, takes, beyond: bare.saturating_sub(takes), weight };
        lines.entry(flow.dst).or_default().push(demand);
    }
    let shared = lines.values().map(|line| sharing(line)).fold(0.0, f64::max);
    let lines: Vec<&Vec<Demand>> = lines.values().collect();
    Requirement { fits: Span(bisect(&lines, shared).ceil() as u64), shared: Span(shared.ceil() as u64) }
}

/// R_base is found to this part of itself.
const PRECISION: f64 = 1e-6;

/// The least s at which all lines meet all deadlines, at most `high`, at which they do.
fn bisect(lines: &[&Vec<Demand>], mut high: f64) -> f64 {
    let mut low = 0.0;
    while high - low > PRECISION * high {
        let middle = f64::midpoint(low, high);
        match lines.iter().all(|line| fits(line, middle)) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// Whether earliest deadline first meets all deadlines of a line.
fn fits(line: &[Demand], s: f64) -> bool {
    let due = |flow: &Demand| {
        let at = |w: f64| flow.start.saturating_add((w * s) as u64).checked_sub(flow.beyond);
        flow.weight.map_or(Some(u64::MAX), at)
    };
    let mut waiting: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let mut now = 0;
    let mut next = line.iter().peekable();
    loop {
        let until = next.peek().map_or(u64::MAX, |flow| flow.start);
        while now < until
            && let Some(Reverse((due, left))) = waiting.pop()
        {
            let sent = left.min(until - now);
            now += sent;
            if sent < left {
                waiting.push(Reverse((due, left - sent)));
            } else if now > due {
                return false;
            }
        }
        let Some(flow) = next.next() else { return true };
        now = now.max(flow.start);
        let Some(due) = due(flow) else { return false };
        waiting.push(Reverse((due, flow.takes)));
    }
}

/// The least s at which a line that its flows share evenly meets all deadlines.
fn sharing(line: &[Demand]) -> f64 {
    // Each flow is done when the service that every one of them has had since the beginning reaches a mark of its own;
    // bits of numbers that are not below zero are in their order.
    let mut marks: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let (mut served, mut now, mut worst) = (0.0f64, 0.0f64, 0.0f64);
    for i in 0..=line.len() {
        let until = line.get(i).map_or(f64::INFINITY, |flow| flow.start as f64);
        while let Some(&Reverse((mark, done))) = marks.peek() {
            let takes = (f64::from_bits(mark) - served) * marks.len() as f64;
            if now + takes > until {
                served += (until - now) / marks.len() as f64;
                break;
            }
            (now, served) = (now + takes, f64::from_bits(mark));
            marks.pop();
            let flow = &line[done];
            let took = now - flow.start as f64 + flow.beyond as f64;
            worst = flow.weight.map_or(worst, |w| worst.max(took / w));
        }
        now = until;
        if let Some(flow) = line.get(i) {
            marks.push(Reverse(((served + flow.takes as f64).to_bits(), i)));
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use priolane_core::rng::{Purpose, Stream};

    use super::*;

    fn flow(start: u64, takes: u64, weight: f64) -> Demand {
        Demand { start, takes, beyond: 0, weight: Some(weight) }
    }

    fn r_base(line: &[Demand]) -> f64 {
        bisect(&[&line.to_vec()], sharing(line))
    }

    fn near(found: f64, stated: f64) {
        assert!((found - stated).abs() <= 2e-6 * stated + 1.0, "{found}, not {stated}");
    }

    #[test]
    fn two_flows_at_once_need_the_time_of_both() {
        // One ends at 1000 at best, the other at 2000, and sharing ends both at 2000.
        let line = [flow(0, 1_000_000, 1.0), flow(0, 1_000_000, 1.0)];
        near(r_base(&line), 2e6);
        near(sharing(&line), 2e6);
        // Where the second may take twice as long, it waits: 1000 and 2000 both fit s = 1000.
        let line = [flow(0, 1_000_000, 1.0), flow(0, 1_000_000, 2.0)];
        near(r_base(&line), 1e6);
        near(sharing(&line), 2e6);
    }

    #[test]
    fn an_urgent_flow_interrupts_and_the_rest_of_the_way_comes_on_top() {
        // The second starts at 500 and has s: it ends at 600 if it goes first, the first at 1100, so s = 1100 / 10 = 110.
        let line = [flow(0, 1_000_000, 10.0), flow(500_000, 100_000, 1.0)];
        near(r_base(&line), 110_000.0);
        let late = Demand { beyond: 50_000, ..line[1] };
        near(r_base(&[line[0], late]), 150_000.0);
        // Sharing: the second is done after 200, at 700.
        near(sharing(&line), 200_000.0);
        // Without a deadline the first does not count, but is in the way of those who share.
        let free = Demand { weight: None, ..line[0] };
        near(r_base(&[free, line[1]]), 100_000.0);
        near(sharing(&[free, line[1]]), 200_000.0);
    }

    #[test]
    fn an_idle_line_begins_anew() {
        let line = [flow(0, 1_000, 1.0), flow(1_000_000_000, 3_000, 1.0), flow(5_000_000_000, 2_000, 1.0)];
        near(r_base(&line), 3_000.0);
        near(sharing(&line), 3_000.0);
    }

    #[test]
    fn no_order_of_few_flows_meets_less() {
        let mut draw = Stream::new(7, Purpose::Ties, 0);
        for _ in 0..200 {
            let mut line: Vec<Demand> = (0..5)
                .map(|_| flow(draw.below(4), 1 + draw.below(4), [1.0, 2.0, 4.0][draw.below(3) as usize]))
                .collect();
            line.sort_by_key(|flow| flow.start);
            for s in 1..=16 {
                assert_eq!(fits(&line, s as f64), schedulable(&line, s), "{line:?}: {s}");
            }
        }
    }

    /// Whether any choice, unit by unit of time, meets all deadlines.
    fn schedulable(line: &[Demand], s: u64) -> bool {
        fn go(line: &[Demand], left: &mut [u64], (now, s): (u64, u64)) -> bool {
            let late = |i: usize| left[i] > 0 && now >= line[i].start + line[i].weight.unwrap() as u64 * s;
            if (0..line.len()).any(late) {
                return false;
            }
            if left.iter().all(|&left| left == 0) {
                return true;
            }
            let mut idle = true;
            for i in 0..line.len() {
                if left[i] > 0 && line[i].start <= now {
                    idle = false;
                    left[i] -= 1;
                    let met = go(line, left, (now + 1, s));
                    left[i] += 1;
                    if met {
                        return true;
                    }
                }
            }
            idle && go(line, left, (now + 1, s))
        }
        let mut left: Vec<u64> = line.iter().map(|flow| flow.takes).collect();
        go(line, &mut left, (0, s))
    }
}

//! Computes R_base: the shortest deadlines at which all flows fit their destination links (Firapam §V-D).
//!
//! ```text
//! link      downlink of a host: transmits the wire bytes of each flow to the host, from the flow's start; the rest of
//!           the completion time in an idle network is added
//! fits(s)   each flow with a deadline has the deadline w s, w its part's `r_base`: preemptive earliest deadline first
//!           meets all deadlines; if it does not, no other schedule does
//! R_base    the smallest s that fits at every link, by bisection: if s fits, so does any larger s
//! ```
//!
//! The second result is the smallest s at which processor sharing on each link meets all deadlines. See
//! docs/assumptions.md#r-base.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::units::Span;
use priolane_sim::topology::{BareTimes, Topology};
use serde::Serialize;

/// The shortest feasible deadlines of flows with w = 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// R_base: some schedule meets all deadlines.
    #[serde(serialize_with = "priolane_source::quantity::as_text::span")]
    pub fits: Span,
    /// Processor sharing meets all deadlines.
    #[serde(serialize_with = "priolane_source::quantity::as_text::span")]
    pub shared: Span,
}

/// The demand of a flow on a link, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Demand {
    start: u64,
    /// Transmission time on the idle link.
    takes: u64,
    /// Remaining delay of its path.
    beyond: u64,
    /// w; `None` for flows without a deadline.
    weight: Option<f64>,
}

/// Returns the requirement of `flows`, sorted by start and all finite; `weights` has the w of each.
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

/// Relative precision of R_base.
const PRECISION: f64 = 1e-6;

/// Returns the smallest s at which all links meet all deadlines; `high` is an s at which they do.
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

/// Whether earliest deadline first meets all deadlines of a link.
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

/// Returns the smallest s at which processor sharing on a link meets all deadlines.
fn sharing(line: &[Demand]) -> f64 {
    // A flow completes when the cumulative service per flow reaches a mark of its own. Bit patterns of non-negative
    // floats have the same order as the floats.
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
        // At best one ends at 1000 and the other at 2000; sharing ends both at 2000.
        let line = [flow(0, 1_000_000, 1.0), flow(0, 1_000_000, 1.0)];
        near(r_base(&line), 2e6);
        near(sharing(&line), 2e6);
        // If the second may take twice as long, it waits: 1000 and 2000 both fit s = 1000.
        let line = [flow(0, 1_000_000, 1.0), flow(0, 1_000_000, 2.0)];
        near(r_base(&line), 1e6);
        near(sharing(&line), 2e6);
    }

    #[test]
    fn an_urgent_flow_interrupts_and_the_rest_of_the_way_comes_on_top() {
        // The second starts at 500 and has s: it ends at 600 if it goes first, the first at 1100, so s = 1100 / 10 =
        // 110.
        let line = [flow(0, 1_000_000, 10.0), flow(500_000, 100_000, 1.0)];
        near(r_base(&line), 110_000.0);
        let late = Demand { beyond: 50_000, ..line[1] };
        near(r_base(&[line[0], late]), 150_000.0);
        // With sharing, the second takes 200 and ends at 700.
        near(sharing(&line), 200_000.0);
        // Without a deadline, the first does not count, but still shares the link.
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

    /// Whether any schedule, by unit of time, meets all deadlines.
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

//! Rows of flow lists as flows, steps and dependencies, against the definition of a list.

use priolane_core::units::Span;
use priolane_sim::dependencies::{Predecessor, Work};

use super::*;
use crate::flow_list::{After, Row, read_rows};
use crate::row_graph::RowGraph;

/// The duration of each flow, and the app's delay of notifications, in picoseconds.
const FLOW: u64 = 900;
const NOTIFICATION: u64 = 50;

/// The text of a list of flows and steps between four hosts in a random order, and its rows as they were drawn.
fn drawn(random: &mut Stream) -> String {
    let count = 2 + random.below(12) as usize;
    let mut order: Vec<usize> = (0..count).collect();
    for place in (1..count).rev() {
        order.swap(place, random.below(place as u64 + 1) as usize);
    }
    // Row `order[k]` may wait for rows `order[..k]`.
    let hosts: Vec<(u64, u64)> = (0..count)
        .map(|_| {
            let src = random.below(4);
            if random.chance(0.5) { (src, src) } else { (src, (src + 1 + random.below(3)) % 4) }
        })
        .collect();
    let mut lines = vec![String::new(); count];
    for (k, &row) in order.iter().enumerate() {
        let (src, dst) = hosts[row];
        let mut after = Vec::new();
        for &first in &order[..k] {
            if random.chance(0.6) {
                continue;
            }
            let (of_step, end) = (hosts[first].0 == hosts[first].1, hosts[first].1);
            let delay = match (end == src, random.below(3)) {
                (false, _) if of_step => continue,
                (_, 0) => String::new(),
                (true, _) => format!("@0.{:03}", random.below(40)),
                (false, _) => format!("@0.{:03}", 1 + random.below(40)),
            };
            after.push(format!("{first}{delay}"));
        }
        let delay = match random.below(2) {
            1 if src == dst || !after.is_empty() => format!("0.{:03}", 1 + random.below(300)),
            _ => String::new(),
        };
        let bytes = u64::from(src != dst);
        lines[row] = format!("0.{:03},{src},{dst},{bytes},{},{delay}\n", random.below(500), after.join("+"));
    }
    format!("start_ns,src,dst,bytes,after,delay_ns\n{}", lines.concat())
}

/// The end of each row if a flow takes [`FLOW`], by the text of `docs/experiments.md`: relaxed until nothing changes.
fn ends_of_rows(rows: &[Row]) -> Vec<u64> {
    let mut ends = vec![0; rows.len()];
    loop {
        let before = ends.clone();
        for (place, row) in rows.iter().enumerate() {
            let own = row.delay.map(|delay| delay.0);
            let signal = |first: &After| {
                let other = &rows[first.row.index()];
                let within = other.flow.dst == row.flow.src && (other.is_step() || row.is_step());
                let delay = match (first.delay, own.filter(|_| !row.is_step())) {
                    (Some(first), own) => first.0 + own.unwrap_or(0),
                    (None, Some(own)) => own,
                    (None, None) => {
                        if within {
                            0
                        } else {
                            NOTIFICATION
                        }
                    }
                };
                before[first.row.index()] + delay
            };
            let start = row.after.iter().map(signal).max().unwrap_or(0).max(row.flow.start.0);
            ends[place] = start + if row.is_step() { own.unwrap_or(0) } else { FLOW };
        }
        if ends == before {
            return ends;
        }
    }
}

/// The ends of the flows and of the steps of `graph`, likewise.
fn ends_of_graph(graph: &RowGraph) -> (Vec<u64>, Vec<u64>) {
    let mut ends = (vec![0; graph.list.len()], vec![0; graph.steps.len()]);
    loop {
        let before = ends.clone();
        let start = |after: &[Predecessor], earliest: u64| {
            let signal = |first: &Predecessor| match first.work {
                Work::Flow(flow) => before.0[flow.index()] + first.delay.0,
                Work::Step(step) => before.1[step.index()] + first.delay.0,
            };
            after.iter().map(signal).max().unwrap_or(0).max(earliest)
        };
        for (place, flow) in graph.list.iter().enumerate() {
            let wait = graph.waits.iter().find(|wait| wait.flow.index() == place);
            ends.0[place] = start(wait.map_or(&[], |wait| &wait.after), flow.start.0) + FLOW;
        }
        for (place, step) in graph.steps.iter().enumerate() {
            ends.1[place] = start(&step.after, step.start.0) + step.takes.0;
        }
        if ends == before {
            return ends;
        }
    }
}

#[test]
fn flows_and_steps_end_when_their_rows_do() {
    let mut random = Stream::new(1, Purpose::Endpoint, 0);
    let (mut steps, mut known) = (0, 0);
    for _ in 0..priolane_rounds::rounds(3_000, 100_000) {
        let text = drawn(&mut random);
        let rows = read_rows(text.as_bytes(), "f.csv", 4).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let graph = RowGraph::of(&rows, Span(NOTIFICATION));
        let ends = ends_of_rows(&rows);
        let of = |is_step: bool| -> Vec<u64> {
            rows.iter().zip(&ends).filter(|(row, _)| row.is_step() == is_step).map(|(_, &end)| end).collect()
        };
        assert_eq!(ends_of_graph(&graph), (of(false), of(true)), "{text}");
        // Nothing waits for a step whose end is known before the run.
        let waited =
            graph.waits.iter().map(|wait| &wait.after).chain(graph.steps.iter().map(|step| &step.after));
        for first in waited.flatten() {
            if let Work::Step(step) = first.work {
                assert!(!graph.steps[step.index()].after.is_empty(), "{text}");
            }
        }
        steps += graph.steps.len();
        known += graph.steps.iter().filter(|step| step.after.is_empty()).count();
    }
    assert!(known > 1_000 && steps > 2 * known, "{known} of {steps}");
}

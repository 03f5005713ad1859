//! Turns the rows of a flow list into flows, steps and their dependencies.
//!
//! A step that waits for nothing ends at a known time. What waits for it starts no earlier than that, and need not wait for
//! it, and so on through all steps that then wait for nothing.

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_core::units::{Span, Time};
use priolane_sim::dependencies::{FlowDependency, Predecessor, Step, StepId, Work};

use super::flow_list::{After, Row};

/// The flows of a list in the order of their rows, with their dependencies by index, and its steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowGraph {
    /// The flows; ids are the numbers of their rows.
    pub(crate) list: FlowList,
    pub(crate) waits: Vec<FlowDependency>,
    pub(crate) steps: Vec<Step>,
}

impl RowGraph {
    /// Creates the graph of `rows`, which have no cycle; `delay` is the default delay of notifications.
    pub(crate) fn of(rows: &[Row], delay: Span) -> Self {
        let work = numbered(rows);
        let mut starts: Vec<Time> = rows.iter().map(|row| row.flow.start).collect();
        let is_known =
            if rows.iter().any(Row::is_step) { known(rows, delay, &mut starts) } else { Vec::new() };
        let is_known = |row: FlowId| is_known.get(row.index()).copied().unwrap_or(false);
        let mut graph = Self { list: FlowList::default(), waits: Vec::new(), steps: Vec::new() };
        for (place, row) in rows.iter().enumerate() {
            let open = row.after.iter().filter(|first| !is_known(first.row));
            let after: Vec<Predecessor> = open
                .map(|first| Predecessor {
                    work: work[first.row.index()],
                    delay: delay_between(rows, row, first).unwrap_or(delay),
                })
                .collect();
            let start = starts[place];
            match work[place] {
                Work::Flow(id) => {
                    graph.list.push(FlowSpec { id: FlowId(place as u32), start, ..row.flow });
                    if !after.is_empty() {
                        graph.waits.push(FlowDependency { flow: id, after, until: None });
                    }
                }
                Work::Step(_) => {
                    let (host, takes) = (row.flow.src, row.delay.unwrap_or(Span::ZERO));
                    graph.steps.push(Step { group: 0, host, start, takes, after });
                }
            }
        }
        graph
    }
}

/// Numbers flows and steps, each from 0.
fn numbered(rows: &[Row]) -> Vec<Work> {
    let (mut flows, mut steps) = (0, 0);
    let number = |row: &Row| {
        let next = if row.is_step() { &mut steps } else { &mut flows };
        *next += 1;
        if row.is_step() { Work::Step(StepId(*next - 1)) } else { Work::Flow(FlowId(*next - 1)) }
    };
    rows.iter().map(number).collect()
}

fn delay_between(rows: &[Row], row: &Row, first: &After) -> Option<Span> {
    row.stated_delay(first, &rows[first.row.index()])
}

/// Returns which rows are steps whose ends are known, and moves the starts of all rows that wait for them.
fn known(rows: &[Row], delay: Span, starts: &mut [Time]) -> Vec<bool> {
    let mut is_known = vec![false; rows.len()];
    let mut open: Vec<usize> = rows.iter().map(|row| row.after.len()).collect();
    let mut waiters: Vec<(u32, u32)> = Vec::new();
    for (row, place) in rows.iter().zip(0..) {
        let steps = row.after.iter().filter(|first| rows[first.row.index()].is_step());
        waiters.extend(steps.map(|first| (first.row.0, place)));
    }
    waiters.sort_unstable();
    let mut ready: Vec<usize> =
        (0..rows.len()).filter(|&place| rows[place].is_step() && open[place] == 0).collect();
    while let Some(place) = ready.pop() {
        is_known[place] = true;
        let end = starts[place] + rows[place].delay.unwrap_or(Span::ZERO);
        let from = waiters.partition_point(|&(first, _)| (first as usize) < place);
        let of_row = waiters[from..].iter().take_while(|&&(first, _)| first as usize == place);
        for &(_, waiter) in of_row {
            let waiter = waiter as usize;
            let first = rows[waiter].after.iter().find(|first| first.row.index() == place);
            let own = first.and_then(|first| delay_between(rows, &rows[waiter], first)).unwrap_or(delay);
            starts[waiter] = starts[waiter].max(end + own);
            open[waiter] -= 1;
            if open[waiter] == 0 && rows[waiter].is_step() {
                ready.push(waiter);
            }
        }
    }
    is_known
}

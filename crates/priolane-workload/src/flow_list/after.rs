//! Dependencies between rows: the cell `after`, and the check that a list of them can be executed.

use std::fmt;

use priolane_core::ids::FlowId;
use priolane_core::units::{Span, Time};

use super::row::{After, Nanoseconds, Row, digits, picoseconds};
use crate::context::LATEST_START;

/// Parses the rows that a cell such as `3@500+7` names, ascending. A row that is named twice has the longer of its
/// delays.
///
/// # Errors
/// Returns the item that is invalid.
pub(super) fn rows(cell: &str) -> Result<Vec<After>, &str> {
    if cell.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = cell.split('+').map(|item| row(item).ok_or(item)).collect::<Result<Vec<After>, _>>()?;
    rows.sort_unstable_by_key(|after| (after.row, std::cmp::Reverse(after.delay)));
    rows.dedup_by_key(|after| after.row);
    Ok(rows)
}

fn row(item: &str) -> Option<After> {
    let (number, delay) = match item.split_once('@') {
        Some((number, delay)) => (number, Some(picoseconds(delay).filter(|&delay| delay <= LATEST_START)?)),
        None => (item, None),
    };
    let row = FlowId(u32::try_from(digits(number)?).ok()?);
    Some(After { row, delay: delay.map(|delay| Span(delay.0)) })
}

/// Formats rows as in a cell.
pub(super) struct JoinedRows<'a>(pub(super) &'a [After]);

impl fmt::Display for JoinedRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, after) in self.0.iter().enumerate() {
            let joint = if place == 0 { "" } else { "+" };
            write!(f, "{joint}{}", after.row.0)?;
            after.delay.iter().try_for_each(|delay| write!(f, "@{}", Nanoseconds(Time(delay.0))))?;
        }
        Ok(())
    }
}

/// A row that can never start.
pub(super) struct Fault {
    pub(super) row: usize,
    pub(super) what: String,
    pub(super) fix: &'static str,
}

const OF_LIST: &str = "rows of the list, counted from 0 after the header";

/// Checks that all dependencies are in the list, that signals between hosts take time, that there is no cycle, and that no
/// row starts too late even if flows take no time.
pub(super) fn check(rows: &[Row]) -> Result<(), Fault> {
    if rows.iter().all(|row| row.after.is_empty()) {
        return Ok(());
    }
    let mut waiters = vec![Vec::new(); rows.len()];
    let mut open = vec![0; rows.len()];
    for (place, row) in rows.iter().enumerate() {
        for first in &row.after {
            signal(rows, row, first).map_err(|(what, fix)| Fault { row: place, what, fix })?;
            waiters[first.row.index()].push(place);
            open[place] += 1;
        }
    }
    let mut starts: Vec<Time> = rows.iter().map(|row| row.flow.start).collect();
    let mut ready: Vec<usize> = (0..rows.len()).filter(|&place| open[place] == 0).collect();
    while let Some(place) = ready.pop() {
        let takes = if rows[place].is_step() { rows[place].delay.unwrap_or(Span::ZERO) } else { Span::ZERO };
        let end = starts[place] + takes;
        if end > LATEST_START {
            let what = "ends more than 26 days after the begin, even if flows take no time".into();
            return Err(Fault { row: place, what, fix: "shorter delays" });
        }
        for waiter in std::mem::take(&mut waiters[place]) {
            let first = rows[waiter].after.iter().find(|first| first.row.index() == place);
            let delay = first.and_then(|first| stated(rows, &rows[waiter], first)).unwrap_or(Span::ZERO);
            starts[waiter] = starts[waiter].max(end + delay);
            open[waiter] -= 1;
            if open[waiter] == 0 {
                ready.push(waiter);
            }
        }
    }
    match open.iter().position(|&open| open > 0) {
        Some(row) => Err(Fault { row, what: "depends on rows that depend on it".into(), fix: OF_LIST }),
        None => Ok(()),
    }
}

/// Checks the signal from `first` to `row`; an error is what is wrong, and what to write.
fn signal(rows: &[Row], row: &Row, first: &After) -> Result<(), (String, &'static str)> {
    let number = first.row.0;
    let Some(before) = rows.get(first.row.index()) else {
        return Err((format!("depends on row {number}, which does not exist"), OF_LIST));
    };
    if before.flow.size.is_none() {
        return Err((format!("depends on row {number}, whose flow never ends"), OF_LIST));
    }
    let (from, to) = (before.flow.dst, row.flow.src);
    if before.is_step() && from != to {
        let what = format!("begins at host {}, but row {number} is a step of host {}", to.0, from.0);
        return Err((what, "a flow between the two hosts: only flows connect hosts"));
    }
    if stated(rows, row, first) == Some(Span::ZERO) && from != to {
        let what = format!(
            "begins at host {} at once when row {number} ends at host {}, but a notification takes time",
            to.0, from.0
        );
        return Err((what, "a delay above zero, or an empty cell for the app's after_delay"));
    }
    Ok(())
}

/// Returns the delay that the list states between the end of `first` and the start of `row`.
fn stated(rows: &[Row], row: &Row, first: &After) -> Option<Span> {
    row.stated_delay(first, &rows[first.row.index()])
}

//! Dependencies between flows: the cell `after`, and the check that a list of them can be executed.

use std::fmt;

use priolane_core::ids::FlowId;

use super::row::{Row, digits};

/// Parses the rows that a cell such as `3+7` names, ascending and without duplicates; `None` if the cell is
/// invalid.
pub(super) fn rows(cell: &str) -> Option<Vec<FlowId>> {
    if cell.is_empty() {
        return Some(Vec::new());
    }
    let row = |text: &str| u32::try_from(digits(text)?).ok().map(FlowId);
    let mut rows = cell.split('+').map(row).collect::<Option<Vec<FlowId>>>()?;
    rows.sort_unstable();
    rows.dedup();
    Some(rows)
}

/// Formats rows as in a cell.
pub(super) struct JoinedRows<'a>(pub(super) &'a [FlowId]);

impl fmt::Display for JoinedRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, row) in self.0.iter().enumerate() {
            let joint = if place == 0 { "" } else { "+" };
            write!(f, "{joint}{}", row.0)?;
        }
        Ok(())
    }
}

/// A row that can never start.
pub(super) struct Fault {
    pub(super) row: usize,
    pub(super) what: String,
}

/// Checks that all dependencies are in the list and that there is no cycle.
pub(super) fn check(rows: &[Row]) -> Result<(), Fault> {
    let mut waiters = vec![Vec::new(); rows.len()];
    let mut open = vec![0; rows.len()];
    for (place, row) in rows.iter().enumerate() {
        for first in &row.after {
            let Some(list) = waiters.get_mut(first.index()) else {
                return Err(Fault {
                    row: place,
                    what: format!("depends on row {}, which does not exist", first.0),
                });
            };
            if rows[first.index()].flow.size.is_none() {
                let what = format!("depends on row {}, whose flow never ends", first.0);
                return Err(Fault { row: place, what });
            }
            list.push(place);
            open[place] += 1;
        }
    }
    let mut ready: Vec<usize> = (0..rows.len()).filter(|&place| open[place] == 0).collect();
    while let Some(place) = ready.pop() {
        for waiter in std::mem::take(&mut waiters[place]) {
            open[waiter] -= 1;
            if open[waiter] == 0 {
                ready.push(waiter);
            }
        }
    }
    match open.iter().position(|&open| open > 0) {
        Some(row) => Err(Fault { row, what: "depends on flows that depend on it".into() }),
        None => Ok(()),
    }
}

//! Self-checks of the runs, shown to the reader of a report.

use std::collections::BTreeMap;

use serde::Serialize;

use super::grid::Grid;
use super::steady;
use super::unfit::LOAD_TOLERANCE;
use crate::metrics::ALL;
use priolane_results::record::{LedgerRow, RunRecord};
use priolane_results::summary::Summary;

/// One line of the self-check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Name of the check.
    pub name: &'static str,
    /// Its state.
    pub state: State,
    /// Explanation, with numbers.
    pub says: String,
}

/// The state of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Passed.
    Ok,
    /// Not checked.
    Open,
    /// The reader should look at it before trusting the results.
    Warn,
    /// The results are wrong or incomplete.
    Fail,
}

/// Returns all checks over the available runs.
pub(super) fn all(grid: &Grid) -> Vec<Check> {
    let records: Vec<&RunRecord> = grid.records.iter().flatten().collect();
    let mut checks = vec![completeness(grid, records.len())];
    if !records.is_empty() {
        checks.push(conservation(&records));
        checks.push(engines(grid, &records));
        checks.push(unfinished(&records));
        checks.extend(steady::check(grid, &records).map(|found| {
            let (state, says) = match found {
                Ok(says) => (State::Ok, says),
                Err(says) => (State::Warn, says),
            };
            Check { name: "steady state", state, says }
        }));
        checks.extend(load(&records));
        checks.push(priorities(&records));
    }
    checks
}

fn completeness(grid: &Grid, there: usize) -> Check {
    let (runs, alone) = (grid.plan.runs.len(), grid.plan.alone.runs.len());
    let there_alone = grid.alone.len();
    let state = if (there, there_alone) == (runs, alone) { State::Ok } else { State::Fail };
    let mut says = format!("{there} of {runs} runs are present and complete");
    if alone > 0 {
        says += &format!(", and {there_alone} of {alone} runs of groups alone");
    }
    Check { name: "runs", state, says }
}

fn conservation(records: &[&RunRecord]) -> Check {
    let leaks: Vec<&str> = records
        .iter()
        .filter(|record| !record.ledger.iter().all(LedgerRow::is_conserved))
        .map(|record| record.run.as_str())
        .collect();
    let (state, says) = if leaks.is_empty() {
        let says =
            "packets and bytes created = delivered + dropped + lost + resident, for every class of every run";
        (State::Ok, says.to_owned())
    } else {
        (State::Fail, format!("packets or bytes are not conserved in {}", leaks.join(", ")))
    };
    Check { name: "conservation", state, says }
}

fn engines(grid: &Grid, records: &[&RunRecord]) -> Check {
    let verified = records.iter().filter(|record| grid.is_verified(record)).count();
    let (state, says) = if verified == 0 {
        (State::Open, "no run was executed on both engines; --verify does so".to_owned())
    } else {
        let of = records.len();
        (
            State::Ok,
            format!("{verified} of {of} runs were executed on both engines, which agreed in every row"),
        )
    };
    Check { name: "engines", state, says }
}

fn unfinished(records: &[&RunRecord]) -> Check {
    let mut by_scheme: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for record in records {
        let Some(all) = record.summary.get(ALL) else { continue };
        let counts = by_scheme.entry(&record.scheme).or_default();
        counts.0 += all.unfinished;
        counts.1 += all.flows;
    }
    let left: Vec<String> = by_scheme
        .iter()
        .filter(|(_, (unfinished, _))| *unfinished > 0)
        .map(|(scheme, (unfinished, flows))| format!("{scheme} {unfinished} of {flows}"))
        .collect();
    // A run with only long-lived flows is measured by their rates.
    let finite: Vec<&RunRecord> = records.iter().filter(|record| record.rates.is_none()).copied().collect();
    let empty = by_run(&finite).filter(|all| all.flows == 0).count();
    let by_little: Vec<bool> = records
        .iter()
        .filter(|record| record.summary.get(ALL).is_some_and(|all| all.unfinished > 0))
        .map(|record| record.steady.contains_key(ALL))
        .collect();
    let consequence = match (by_little.contains(&true), by_little.contains(&false)) {
        (true, false) => "and left out of percentiles, but counted in means, which come from Little's law",
        (true, true) => "and left out of percentiles and of means that do not come from Little's law",
        (false, _) => "and left out of means and percentiles",
    };
    let (state, says) = if empty > 0 {
        (State::Warn, format!("{empty} of {} runs measured no flow: use a longer measurement", records.len()))
    } else if left.is_empty() {
        (State::Ok, "all measured flows finished".to_owned())
    } else {
        (State::Warn, format!("some measured flows are unfinished {consequence}: {}", left.join(", ")))
    };
    Check { name: "unfinished", state, says }
}

/// Returns the summary of all measured flows of each run.
fn by_run<'a>(records: &[&'a RunRecord]) -> impl Iterator<Item = &'a Summary> {
    records.iter().filter_map(|record| record.summary.get(ALL))
}

/// Compares requested and offered load, one line per requested load.
fn load(records: &[&RunRecord]) -> Vec<Check> {
    let mut by_asked: BTreeMap<u64, Vec<&RunRecord>> = BTreeMap::new();
    for record in records {
        if let Some(asked) = record.load.asked {
            by_asked.entry(asked.to_bits()).or_default().push(record);
        }
    }
    let line = |(asked, records): (u64, Vec<&RunRecord>)| {
        let asked = f64::from_bits(asked);
        let host = range(records.iter().filter_map(|r| r.load.offered_host));
        let core = range(records.iter().filter_map(|r| r.load.offered_core));
        let near = |x: f64| (x - asked).abs() <= LOAD_TOLERANCE * asked;
        let near = |range: Option<(f64, f64)>| range.is_some_and(|(low, high)| near(low) && near(high));
        // Measured as the group requests it, if recorded.
        let demands = || records.iter().flat_map(|r| &r.load.demands).map(|demand| demand.offered);
        let ok = if demands().next().is_some() { near(range(demands())) } else { near(host) || near(core) };
        let state = if ok { State::Ok } else { State::Warn };
        let says =
            format!("requested {asked:.3}, offered to hosts {}, to the core {}", show(host), show(core));
        Check { name: "load", state, says }
    };
    by_asked.into_iter().map(line).collect()
}

/// Returns the least and the largest value.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, x| match range {
        None => Some((x, x)),
        Some((low, high)) => Some((low.min(x), high.max(x))),
    })
}

fn show(range: Option<(f64, f64)>) -> String {
    match range {
        None => "unknown".to_owned(),
        Some((low, high)) if high - low < 5e-4 => format!("{low:.3}"),
        Some((low, high)) => format!("{low:.3} to {high:.3}"),
    }
}

/// Counts priority inversions by scheme.
fn priorities(records: &[&RunRecord]) -> Check {
    let mut by_scheme: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for record in records {
        let counts = by_scheme.entry(&record.scheme).or_default();
        for row in &record.priorities {
            counts.0 += row.inversions;
            counts.1 += row.packets;
        }
    }
    let broken: Vec<String> = by_scheme
        .iter()
        .filter(|(_, (inversions, _))| *inversions > 0)
        .map(|(scheme, (inversions, packets))| {
            let percent = *inversions as f64 / *packets as f64 * 100.0;
            format!("{scheme} {percent:.2} % of packets")
        })
        .collect();
    let (state, says) = if broken.is_empty() {
        (
            State::Ok,
            "no packet was served while a packet of a higher-priority class was queued in the same port"
                .to_owned(),
        )
    } else {
        (
            State::Warn,
            format!(
                "packets were served while a packet of a higher-priority class was queued: {}",
                broken.join(", ")
            ),
        )
    };
    Check { name: "priorities", state, says }
}

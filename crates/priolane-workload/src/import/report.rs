//! What an import says about itself, as JSON.

use serde::Serialize;

use super::guess::Guess;
use super::imported::{Dropped, HostFolding, Imported};

/// A size table that was made of the list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizesReport {
    /// Its rows.
    pub rows: usize,
    /// Different sizes in the list.
    pub distinct: usize,
    /// Mean size of the list, in bytes.
    pub mean_of_list: f64,
    /// Mean size of the table read as steps, in bytes.
    pub mean_of_table: f64,
}

/// The files that an import left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outputs {
    /// The flow list.
    pub flows: String,
    /// Outside names and their hosts.
    pub hosts: String,
    /// This report.
    pub report: String,
    /// The topology, where one was given.
    pub topology: Option<String>,
    /// The size table, where one was asked for.
    pub sizes: Option<String>,
}

/// What was read, what became of it and where it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The file, as the user named it.
    pub file: String,
    /// The format's name.
    pub format: &'static str,
    /// What the format was guessed from, if it was.
    pub guessed_from: Option<&'static str>,
    /// Rows with content: headers and comments do not count.
    pub rows: u64,
    /// Flows listed.
    pub flows: u64,
    /// Records that became part of another record's flow.
    pub merged: u64,
    /// Flows that were not listed.
    pub dropped: Vec<Dropped>,
    /// Bytes of the flows listed.
    pub bytes: u128,
    /// First start on the file's own clock, in seconds, exactly.
    pub first_start_s: String,
    /// From the first to the last start of the list, in picoseconds.
    pub span_ps: u64,
    /// Different starts among the flows that wait for none.
    pub instants: u64,
    /// Flows that wait for others.
    pub waiting: u64,
    /// Hosts that the network must have.
    pub hosts: u32,
    /// Outside names.
    pub names: u64,
    /// How names were folded, if they were.
    pub fold: Option<HostFolding>,
    /// Times that were finer than a picosecond, and rounded.
    pub rounded_times: u64,
    /// What else to know.
    pub notes: Vec<String>,
    /// The size table, if one was asked for.
    pub sizes: Option<SizesReport>,
    /// The files written.
    pub outputs: Outputs,
}

impl Report {
    pub(super) fn new(file: &str, guess: &Guess, imported: &Imported) -> Self {
        let flows = imported.rows.iter().map(|row| &row.flow);
        let free = imported.rows.iter().filter(|row| row.after.is_empty()).map(|row| row.flow.start);
        let ends = (free.clone().min(), free.clone().max());
        let span_ps = if let (Some(first), Some(last)) = ends { last.0 - first.0 } else { 0 };
        let mut starts: Vec<_> = free.collect();
        starts.dedup();
        Self {
            file: file.to_owned(),
            format: guess.format.name(),
            guessed_from: guess.from,
            rows: imported.read,
            flows: imported.rows.len() as u64,
            merged: imported.merged,
            dropped: imported.dropped.clone(),
            bytes: flows.map(|flow| u128::from(flow.size.unwrap_or(0))).sum(),
            first_start_s: seconds(imported.first_start_ps),
            span_ps,
            instants: starts.len() as u64,
            waiting: imported.rows.iter().filter(|row| !row.after.is_empty()).count() as u64,
            hosts: imported.hosts,
            names: imported.names.len() as u64,
            fold: imported.fold,
            rounded_times: imported.rounded,
            notes: imported.notes.clone(),
            sizes: None,
            outputs: Outputs::default(),
        }
    }
}

/// Picoseconds as seconds: digits, and as many decimals as it takes.
fn seconds(ps: u128) -> String {
    const SECOND: u128 = 1_000_000_000_000;
    let text = format!("{}.{:012}", ps / SECOND, ps % SECOND);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

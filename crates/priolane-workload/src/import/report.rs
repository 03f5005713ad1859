//! The report of an import, as JSON.

use serde::Serialize;

use super::guess::Guess;
use super::imported::{DroppedFlows, HostFolding, ImportedFlows};
use super::job_report::JobReport;
use super::replaced::Digests;

/// A size table generated from the list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizesReport {
    /// Number of rows.
    pub rows: usize,
    /// Number of different sizes in the list.
    pub distinct: usize,
    /// Mean size of the list, in bytes.
    pub mean_of_list: f64,
    /// Mean size of the table with step interpolation, in bytes.
    pub mean_of_table: f64,
}

/// The files that an import wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outputs {
    /// The flow list.
    pub flows: String,
    /// External names and their hosts.
    pub hosts: String,
    /// This report.
    pub report: String,
    /// The topology, if one was given.
    pub topology: Option<String>,
    /// The size table, if one was requested.
    pub sizes: Option<String>,
}

/// The result of an import: what was read, converted and dropped, and the files written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The file, as named by the user.
    pub file: String,
    /// The format's name.
    pub format: &'static str,
    /// The evidence for the detected format, if it was detected.
    pub guessed_from: Option<&'static str>,
    /// Number of rows with content, without headers and comments.
    pub rows: u64,
    /// Number of flows listed.
    pub flows: u64,
    /// Number of records merged into the flow of another record.
    pub merged: u64,
    /// Flows that were not listed, by reason.
    pub dropped: Vec<DroppedFlows>,
    /// Total bytes of the flows listed.
    pub bytes: u128,
    /// First start on the file's clock, in seconds, exactly.
    pub first_start_s: String,
    /// Time from the first to the last start of the list, in picoseconds.
    pub span_ps: u64,
    /// Number of different starts among the independent flows.
    pub instants: u64,
    /// Number of dependent flows.
    pub waiting: u64,
    /// Number of hosts that the network must have.
    pub hosts: u32,
    /// Number of external names.
    pub names: u64,
    /// The way in which names were folded, if they were.
    pub fold: Option<HostFolding>,
    /// Number of times that were finer than a picosecond and were rounded.
    pub rounded_times: u64,
    /// Packet sampling that bytes were scaled up by: one in this many packets; `None` if none was stated.
    pub sampling: Option<u32>,
    /// Number of flows listed whose TCP connection began before the file; `None` if no record shows beginnings.
    pub midstream: Option<u64>,
    /// The largest delay of a flow's start in the file, compared with the network, in picoseconds.
    pub late_ps: u64,
    /// The coarsest power of ten of which all starts on the file's clock are multiples, at most a second, in
    /// picoseconds.
    pub tick_ps: u64,
    /// Time over which flows of one instant were spread, in picoseconds; 0 if they were not.
    pub spread_ps: u64,
    /// Other notes.
    pub notes: Vec<String>,
    /// The counts of a job; absent for other flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<JobReport>,
    /// The size table, if one was requested.
    pub sizes: Option<SizesReport>,
    /// The files written.
    pub outputs: Outputs,
    /// SHA-256 of the files written, by which a later import recognises them.
    pub sha256: Digests,
}

impl Report {
    pub(super) fn new(file: &str, guess: &Guess, imported: &ImportedFlows) -> Self {
        let flows = || imported.rows.iter().filter(|row| !row.is_step());
        let free = flows().filter(|row| row.after.is_empty()).map(|row| row.flow.start);
        let ends = (free.clone().min(), free.clone().max());
        let span_ps = if let (Some(first), Some(last)) = ends { last.0 - first.0 } else { 0 };
        let mut starts: Vec<_> = free.collect();
        starts.dedup();
        Self {
            file: file.to_owned(),
            format: guess.format.name(),
            guessed_from: guess.from,
            rows: imported.read,
            flows: flows().count() as u64,
            merged: imported.merged,
            dropped: imported.dropped.clone(),
            bytes: flows().map(|row| u128::from(row.flow.size.unwrap_or(0))).sum(),
            first_start_s: seconds(imported.first_start_ps),
            span_ps,
            instants: starts.len() as u64,
            waiting: flows().filter(|row| !row.after.is_empty()).count() as u64,
            hosts: imported.hosts,
            names: imported.names.len() as u64,
            fold: imported.fold,
            rounded_times: imported.rounded,
            sampling: imported.recording.sampling,
            midstream: imported.recording.midstream,
            late_ps: imported.recording.late_ps,
            tick_ps: imported.tick_ps,
            spread_ps: imported.spread_ps,
            notes: imported.notes.clone(),
            job: imported.job.clone(),
            sizes: None,
            outputs: Outputs::default(),
            sha256: Digests::default(),
        }
    }
}

/// Formats picoseconds as seconds, with as many decimals as needed.
fn seconds(ps: u128) -> String {
    const SECOND: u128 = 1_000_000_000_000;
    let text = format!("{}.{:012}", ps / SECOND, ps % SECOND);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

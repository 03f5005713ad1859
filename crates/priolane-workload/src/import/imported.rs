//! An imported list and its statistics.

use priolane_core::ids::HostId;
use serde::Serialize;

use super::job_report::JobReport;
use crate::flow_list::Row;

/// Maximum number of hosts in a network.
pub(super) const MAX_HOSTS: u64 = 1 << 16;

/// An imported list and its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFlows {
    /// Its rows, in order of start, then of position in the file.
    pub rows: Vec<Row>,
    /// External name and host, in order of names.
    pub names: Vec<(String, HostId)>,
    /// Number of hosts that the network must have.
    pub hosts: u32,
    /// The way in which names were folded onto fewer hosts, if they were.
    pub fold: Option<HostFolding>,
    /// Number of rows of the file with content.
    pub read: u64,
    /// Number of records merged into the flow of another record.
    pub merged: u64,
    /// Dropped flows, by reason.
    pub dropped: Vec<DroppedFlows>,
    /// The first start on the file's clock, in picoseconds.
    pub first_start_ps: u128,
    /// Number of times that were rounded to a picosecond.
    pub rounded: u64,
    /// The properties of the file as a recording.
    pub recording: Recording,
    /// The coarsest power of ten of which all starts on the file's clock are multiples, at most a second, in
    /// picoseconds.
    pub tick_ps: u64,
    /// Time over which flows of one instant were spread, in picoseconds; 0 if they were not.
    pub spread_ps: u64,
    /// Other notes for the user.
    pub notes: Vec<String>,
    /// The counts of a job; `None` for other flows.
    pub job: Option<JobReport>,
}

/// The properties of a recording that are less exact than in the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Packet sampling that bytes were scaled up by: one in this many packets, the highest number if there are
    /// several; `None` if none was stated.
    pub sampling: Option<u32>,
    /// Number of flows listed whose TCP connection began before the file; `None` if no record shows beginnings.
    pub midstream: Option<u64>,
    /// The largest delay of a flow's start in the file, compared with the network, in picoseconds.
    pub late_ps: u64,
}

/// Whether a record contains the first packet of its TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// The record does not say.
    Unstated,
    /// It contains a SYN.
    Seen,
    /// It contains no SYN.
    Missing,
}

/// Flows that were not listed for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DroppedFlows {
    /// The reason.
    pub reason: &'static str,
    /// Number of flows.
    pub count: u64,
    /// Total bytes, if they were read.
    pub bytes: u128,
}

/// The folding of external hosts: number k (by index or rank) becomes host k mod `to`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HostFolding {
    /// Number of external hosts.
    pub from: u64,
    /// Number of hosts.
    pub to: u32,
    /// External hosts per host.
    pub factor: f64,
}

impl HostFolding {
    pub(super) fn new(from: u64, to: u32) -> Self {
        Self { from, to, factor: from as f64 / f64::from(to) }
    }
}

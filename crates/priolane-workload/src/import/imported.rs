//! A list that was imported, and how it came to be.

use priolane_core::ids::HostId;
use serde::Serialize;

use crate::flow_list::Row;

/// A list, and how it came to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Its rows, in order of start, then of the file.
    pub rows: Vec<Row>,
    /// Outside name and host, in order of names.
    pub names: Vec<(String, HostId)>,
    /// Hosts that the network must have.
    pub hosts: u32,
    /// Whether names were folded onto fewer hosts.
    pub fold: Option<HostFolding>,
    /// Rows of the file with content.
    pub read: u64,
    /// Records that became part of another's flow.
    pub merged: u64,
    /// Flows that were dropped, by reason.
    pub dropped: Vec<Dropped>,
    /// The first start on the file's clock, in picoseconds.
    pub first_start_ps: u128,
    /// Times that were rounded to a picosecond.
    pub rounded: u64,
    /// What else the user ought to know.
    pub notes: Vec<String>,
}

/// Flows that were not listed, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Why.
    pub reason: &'static str,
    /// How many.
    pub count: u64,
    /// Their bytes, as far as they were read.
    pub bytes: u128,
}

/// Outside hosts that share hosts: number k (by place or rank) is host k mod `to`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HostFolding {
    /// Outside hosts.
    pub from: u64,
    /// Hosts.
    pub to: u32,
    /// Outside hosts for each host.
    pub factor: f64,
}

impl HostFolding {
    pub(super) fn new(from: u64, to: u32) -> Self {
        Self { from, to, factor: from as f64 / f64::from(to) }
    }
}

//! The results of a run on disk: tables, `run.json`, and their directory.

pub mod admission;
pub mod answer;
pub mod bills;
pub mod cell;
pub mod checksum;
pub mod coflows;
pub mod column;
pub mod compare;
pub mod digest;
pub mod draft;
pub mod flows;
pub mod jobs;
pub mod ports;
pub mod record;
pub mod regular;
pub mod rows;
pub mod run_id;
pub mod series;
pub mod source;
pub mod steady;
pub mod store;
pub mod store_error;
pub mod summary;
pub mod tables;
pub mod tokens;

// Used by the expansion of `row!`.
#[doc(hidden)]
pub use arrow_array;
pub use arrow_array::RecordBatch;

/// `RESULTS` as a literal.
macro_rules! results {
    () => {
        6
    };
}

/// The version of results, raised by every change after which the same experiment yields other rows. The fingerprints
/// in priolane-lab's `tests/runs/fingerprints.rs` check it. Runs of another version are not reused.
pub const RESULTS: u32 = results!();

/// The version in records: the crate's version and that of results.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+results.", results!());

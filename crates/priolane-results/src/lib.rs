//! What a run leaves on disk: tables, `run.json`, and the directory that holds them.

pub mod admission;
pub mod answer;
pub mod bills;
pub mod cell;
pub mod checksum;
pub mod coflows;
pub mod column;
pub mod compare;
pub mod digest;
pub mod flows;
pub mod ports;
pub mod record;
pub mod rows;
pub mod series;
pub mod source;
pub mod store;
pub mod summary;
pub mod tables;
pub mod tokens;

// What the expansion of `row!` names.
#[doc(hidden)]
pub use arrow_array;
pub use arrow_array::RecordBatch;

/// `RESULTS` as a literal.
macro_rules! results {
    () => {
        3
    };
}

/// The version of results: raised by every change after which the same experiment gives other rows, held by the kept
/// fingerprints of priolane-lab's `tests/runs/fingerprints.rs`. Runs of another version are not taken for those of this one.
pub const RESULTS: u32 = results!();

/// The version that records state: the crate's, and that of results.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+results.", results!());

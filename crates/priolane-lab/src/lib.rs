//! Experiments: from a file to a grid of runs, tables and verdicts.

#[cfg(test)]
extern crate self as priolane_lab;

pub mod assumptions;
pub mod catalogue;
pub mod execute;
pub mod experiment;
pub mod interrupt;
pub mod metrics;
pub mod optimum;
pub mod panels;
pub mod plan;
pub mod results;
pub mod scheme;
pub mod trace;
pub mod verdict;

/// `RESULTS` as a literal.
macro_rules! results {
    () => {
        2
    };
}

/// The version of results: raised by every change after which the same experiment gives other rows, held by the kept
/// fingerprints of `tests/runs/fingerprints.rs`. Runs of another version are not taken for those of this one.
pub const RESULTS: u32 = results!();

/// The version that records state: the crate's, and that of results.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+results.", results!());

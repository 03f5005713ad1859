//! Experiments: from a file to a grid of runs, tables and verdicts.

#[cfg(test)]
extern crate self as priolane_lab;

pub mod analyze;
pub mod assumptions;
pub mod bench;
pub mod catalogue;
pub mod channels;
pub mod check;
pub mod deploy;
pub mod execute;
pub mod experiment;
pub mod import;
pub mod interrupt;
pub mod metrics;
pub mod optimum;
pub mod plan;
pub mod promised;
pub mod quantity;
pub mod requirement;
pub mod results;
pub mod scheme;
pub mod source;
pub mod thresholds;
pub mod trace;
pub mod verdict;
pub mod workload;

/// The version of priolane's results: the crate's, and a hash of the sources of core, sim and lab.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("PRIOLANE_SOURCES"));

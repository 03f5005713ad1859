//! Experiments: from a file to a grid of runs, tables and verdicts.

pub mod assumptions;
pub mod catalogue;
pub mod execute;
pub mod experiment;
pub mod interrupt;
pub mod metrics;
pub mod optimum;
pub mod panels;
pub mod plan;
pub mod scheme;
pub mod trace;
pub mod verdict;

//! Experiments: from a file to a grid of runs, tables and verdicts.

pub mod assumptions;
pub mod catalogue;
pub mod execute;
pub mod experiment;
pub mod interrupt;
pub mod metrics;
pub mod optimum;
pub mod panels;
pub mod parts;
pub mod plan;
pub mod reference;
pub mod scheme;
pub mod trace;
pub mod unit;
pub mod verdict;

/// The code of docs/adding-a-scheme.md is compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../data/adding-a-scheme.md")]
mod adding_a_scheme {}

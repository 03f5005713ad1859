//! The interface of threshold solvers.

use std::fmt::Debug;

use crate::sizes::SizeDistribution;

/// The input of a solver.
#[derive(Clone, Copy, Debug)]
pub struct SolverInput<'a> {
    /// The distribution of flow sizes.
    pub sizes: &'a SizeDistribution,
    /// Its name in messages.
    pub name: &'a str,
    /// The name of the shipped table, if the distribution is one, unchanged and with linear interpolation.
    pub published: Option<&'a str>,
    /// The load, relative to the link's capacity.
    pub load: f64,
    /// The number of levels, 1 to 16.
    pub levels: u8,
}

/// The reason why a solver has no thresholds for an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverError {
    /// The mistake.
    pub what: String,
    /// The values to use instead.
    pub fix: String,
    /// Whether no thresholds exist because the load is 1 or more, whatever the other keys are.
    pub overloaded: bool,
}

impl SolverError {
    pub(super) fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into(), overloaded: false }
    }
}

/// A solver that computes thresholds from sizes and load, as written in files.
pub trait ThresholdSolver: Debug {
    /// Returns the thresholds in bytes, one fewer than levels, non-decreasing. `question` has a number of levels and a
    /// load that the solver supports.
    ///
    /// # Errors
    /// There are none for these sizes or this load.
    fn solve(&self, question: &SolverInput<'_>) -> Result<Vec<u64>, SolverError>;

    /// Returns the only number of levels that it supports. Default: any.
    fn levels(&self) -> Option<u8> {
        None
    }

    /// Returns whether it needs a load above 0 and below 1. Default: yes.
    fn needs_load(&self) -> bool {
        true
    }

    /// Returns whether its thresholds depend on sizes, so that they can follow a workload. Default: yes.
    fn uses_sizes(&self) -> bool {
        true
    }
}

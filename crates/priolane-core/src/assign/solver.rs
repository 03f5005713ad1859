//! The contract with a solver of thresholds.

use std::fmt::Debug;

use crate::sizes::SizeDistribution;

/// What thresholds are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The law of flow sizes.
    pub sizes: &'a SizeDistribution,
    /// What messages call it.
    pub name: &'a str,
    /// The shipped table it is, unchanged and linear, if it is one.
    pub published: Option<&'a str>,
    /// The load, 1 for as many bytes as the link carries.
    pub load: f64,
    /// The number of levels, 1 to 16.
    pub levels: u8,
}

/// Why a solver has no thresholds for a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What stands in the way.
    pub what: String,
    /// What would do.
    pub fix: String,
}

impl Refusal {
    pub(super) fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

/// A way to find thresholds from sizes and load, as files state it.
pub trait ThresholdSolver: Debug {
    /// The thresholds in bytes, one fewer than levels, non-decreasing. `question` has a number of levels and a load that
    /// fit the solver.
    ///
    /// # Errors
    /// There are none for these sizes or this load.
    fn solve(&self, question: &Question<'_>) -> Result<Vec<u64>, Refusal>;

    /// The one number of levels that it is for. Default: any.
    fn levels(&self) -> Option<u8> {
        None
    }

    /// Whether it needs a load above 0 and below 1. Default: it does.
    fn needs_load(&self) -> bool {
        true
    }

    /// Whether other sizes lead to other thresholds, so that these can follow a workload. Default: they do.
    fn uses_sizes(&self) -> bool {
        true
    }
}

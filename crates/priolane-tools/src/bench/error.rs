//! Why there is nothing to tell.

use priolane_sim::outcome::{RunError, Work};

use super::dctcp::Broken;
use super::scenarios::ALL;

/// Why there is nothing to tell.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No scenario has this name.
    #[error("there is no scenario {name:?}; there are {}", names())]
    Unknown {
        /// The name.
        name: String,
    },
    /// A scenario cannot be built.
    #[error("{scenario} cannot be built: {source}")]
    Broken {
        /// The scenario.
        scenario: &'static str,
        /// What is wrong with it.
        source: Box<Broken>,
    },
    /// The sizes that thresholds are made from cannot be had, or a solver has none for them.
    #[error("there are no thresholds for {name}")]
    Sizes {
        /// The table.
        name: &'static str,
    },
    /// A run failed.
    #[error("{scenario}: {source}")]
    Run {
        /// The scenario.
        scenario: &'static str,
        /// Why.
        source: RunError,
    },
    /// Flows did not complete, so that the run was not what its name says.
    #[error("{scenario}: {unfinished} flows did not complete")]
    Unfinished {
        /// The scenario.
        scenario: &'static str,
        /// How many.
        unfinished: usize,
    },
    /// Two runs of one scenario did different work.
    #[error("{scenario}: one run did {first:?}, the next {again:?}")]
    Unsteady {
        /// The scenario.
        scenario: &'static str,
        /// Work of the first run.
        first: Work,
        /// Work of a later run.
        again: Work,
    },
}

fn names() -> String {
    ALL.map(|named| named.name).join(", ")
}

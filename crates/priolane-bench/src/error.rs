//! Errors of benchmarks.

use priolane_sim::outcome::{RunError, Work};

use super::dctcp::ScenarioBuildError;
use super::scenarios::ALL;

/// An error of a benchmark.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No scenario has this name.
    #[error("unknown scenario {name:?}; scenarios are {}", names())]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// A built-in scenario cannot be built.
    #[error("{scenario} cannot be built: {source}")]
    ScenarioBuildError {
        /// Name of the scenario.
        scenario: &'static str,
        /// The cause.
        source: Box<ScenarioBuildError>,
    },
    /// The size distribution cannot be read, or a solver has no thresholds for it.
    #[error("there are no thresholds for {name}")]
    Sizes {
        /// Name of the size table.
        name: &'static str,
    },
    /// A run failed.
    #[error("{scenario}: {source}")]
    Run {
        /// Name of the scenario.
        scenario: &'static str,
        /// The cause.
        source: RunError,
    },
    /// Flows did not complete, so the measured work is not that of the scenario.
    #[error("{scenario}: {unfinished} flows did not complete")]
    Unfinished {
        /// Name of the scenario.
        scenario: &'static str,
        /// Number of incomplete flows.
        unfinished: usize,
    },
    /// Two runs of one scenario did different work.
    #[error("{scenario}: one run did {first:?}, a later one {again:?}")]
    Unsteady {
        /// Name of the scenario.
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

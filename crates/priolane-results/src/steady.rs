//! Steady state in `run.json`: means of flows by the time that they spend in the measured window.

use serde::{Deserialize, Serialize};

/// The flows of a class in the measured window of a run whose arrivals continue.
///
/// By Little's law, the mean time of a flow in a steady state is the time that all flows spend in a window over the
/// number of flows that start in it. Flows that started before the window count with their time in it, and no flow has
/// to complete (docs/assumptions.md#steady-state).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadySummary {
    /// Flows that started in the window.
    pub arrivals: u64,
    /// Mean completion time by Little's law, in seconds; null if no flow started in the window.
    pub mean_fct_s: Option<f64>,
    /// Standard deviation of completion times by the same law: flows spend their age, twice, integrated over the window.
    /// In seconds.
    pub std_fct_s: Option<f64>,
    /// Mean slowdown by Little's law.
    pub mean_slowdown: Option<f64>,
    /// Mean completion time of the flows that started in the window and completed, in seconds.
    pub direct_fct_s: Option<f64>,
    /// `mean_fct_s` of the halves of the window.
    pub halves_fct_s: [Option<f64>; 2],
    /// Flows that started in the second half of the window.
    #[serde(default)]
    pub second_half_arrivals: u64,
    /// Flows that completed in the second half of the window, whenever they started.
    #[serde(default)]
    pub second_half_completions: u64,
    /// Mean number of flows under way in the first and in the last quarter of the window.
    #[serde(default)]
    pub quarters_under_way: [f64; 2],
}

impl SteadySummary {
    /// The members of a class's summary in `run.json` that are means over `arrivals` by Little's law. Over several runs,
    /// the mean of the steady state is a ratio of sums.
    pub const PER_ARRIVAL: [&'static str; 2] = ["mean_fct_s", "mean_slowdown"];

    /// Returns the direct mean over that by Little's law: 1 in a steady state, above it while flows accumulate.
    #[must_use]
    pub fn direct_over_little(&self) -> Option<f64> {
        self.direct_fct_s
            .zip(self.mean_fct_s)
            .filter(|&(_, little)| little > 0.0)
            .map(|(direct, little)| direct / little)
    }
}

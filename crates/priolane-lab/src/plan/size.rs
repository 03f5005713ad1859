//! Estimates the number of flows of a run from the first flows of each group.

use priolane_core::units::{Span, Time};
use priolane_source::InputError;
use priolane_workload::MAX_FLOWS;

use crate::experiment::{Active, Experiment, Group, Timing};

/// Total number of flows to generate in all groups for the estimate.
const LOOKED_AT: u64 = 100_000;

/// Maximum number of them per group.
const OF_A_GROUP: u64 = 300;

/// Required ratio of the estimate to the limit: 300 flows determine a rate to about 6 %.
const MARGIN: f64 = 1.2;

/// The first flows of a group; of its longest list, if each seed has its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstFlows {
    /// Number of flows.
    pub(super) count: usize,
    /// Start of the last one, relative to the activation of the group.
    pub(super) last: Span,
}

/// Returns the number of flows to generate per group.
pub(super) fn flows_to_probe(groups: usize) -> u64 {
    (LOOKED_AT / groups.max(1) as u64).clamp(1, OF_A_GROUP)
}

/// Returns the approximate number of flows of a group that starts with `first`.
pub(super) fn flows(experiment: &Experiment, group: &Group, first: FirstFlows) -> f64 {
    let made = first.count as f64;
    let runs_until_end = group.app.part().runs_until_end();
    match experiment.time {
        Timing::Count { flows, .. } if runs_until_end => flows as f64,
        time @ Timing::Window { .. } if runs_until_end && first.last.0 > 0 => {
            let end = time.last_arrival().since(Time::ZERO);
            let Active { from, until } =
                group.flows.active.unwrap_or(Active { from: Default::default(), until: None });
            let until = until.map_or(end, |until| until.min(end));
            made * until.0.saturating_sub(from.0) as f64 / first.last.0 as f64
        }
        _ => made,
    }
}

/// Rejects a run with many more flows than fit in memory; `by_group` has the approximate number of flows of each group.
///
/// # Errors
/// Returns an error if there are too many, with the keys that determine the number.
pub(super) fn check(experiment: &Experiment, by_group: &[f64]) -> Result<u64, InputError> {
    let all: f64 = by_group.iter().sum();
    if all <= f64::from(MAX_FLOWS) * MARGIN {
        return Ok(match experiment.time {
            Timing::Count { flows, .. } => flows,
            Timing::Window { .. } => all as u64,
        });
    }
    let most = by_group.iter().zip(&experiment.groups).max_by(|a, b| a.0.total_cmp(b.0));
    let of =
        most.map_or(String::new(), |(flows, group)| format!(", {flows:.1e} of them of {:?}", group.name));
    let what = format!("about {all:.1e} flows would start{of}, above {MAX_FLOWS}");
    let (key, fix) = match experiment.time {
        Timing::Count { .. } => ("time.flows", "fewer flows; each group starts this number".to_owned()),
        Timing::Window { .. } => {
            let name = most.map_or("NAME", |(_, group)| group.name.as_str());
            ("time.measure", format!("a shorter time, or a lower group.{name}.load.value"))
        }
    };
    Err(InputError::new(experiment.sources.experiment(), None, key, what, fix))
}

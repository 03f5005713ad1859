//! How many flows a run has, before they are made: from the first ones of each group.

use priolane_core::units::Span;
use priolane_source::InputError;
use priolane_workload::MAX_FLOWS;

use crate::experiment::{Active, Experiment, Group, Timing};

/// Flows that are made of all groups together to see how fast they come.
const LOOKED_AT: u64 = 100_000;

/// Most of them of one group.
const OF_A_GROUP: u64 = 300;

/// How far above the limit a prediction must be: the first 300 flows tell a rate to some 6 %.
const MARGIN: f64 = 1.2;

/// The first flows of a group: of the longest of its lists, where each seed has its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstFlows {
    /// How many there are.
    pub(super) count: usize,
    /// When the last of them starts, by the group's own clock.
    pub(super) last: Span,
}

/// Flows to make of each of this many groups.
pub(super) fn looked_at(groups: usize) -> u64 {
    (LOOKED_AT / groups.max(1) as u64).clamp(1, OF_A_GROUP)
}

/// About how many flows a group has, of which `first` are the first ones.
pub(super) fn flows(experiment: &Experiment, group: &Group, first: FirstFlows) -> f64 {
    let made = first.count as f64;
    let goes_on = group.app.part().goes_on();
    match experiment.time {
        Timing::Count { flows, .. } if goes_on => flows as f64,
        Timing::Window { warmup, measure, .. } if goes_on && first.last.0 > 0 => {
            let end = warmup + measure;
            let Active { from, until } =
                group.active.unwrap_or(Active { from: Default::default(), until: None });
            let until = until.map_or(end, |until| until.min(end));
            made * until.0.saturating_sub(from.0) as f64 / first.last.0 as f64
        }
        _ => made,
    }
}

/// Refuses a run of many more flows than are kept in memory; `by_group` has about how many each group has.
///
/// # Errors
/// If there are too many, with the keys that say how many.
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
    let what = format!("about {all:.1e} flows would be made{of}: at most {MAX_FLOWS}");
    let (key, fix) = match experiment.time {
        Timing::Count { .. } => ("time.flows", "fewer flows; each group makes this many".to_owned()),
        Timing::Window { .. } => {
            let name = most.map_or("NAME", |(_, group)| group.name.as_str());
            ("time.measure", format!("a shorter time, or a lower group.{name}.load.value"))
        }
    };
    Err(InputError::new(experiment.sources.experiment(), None, key, what, fix))
}

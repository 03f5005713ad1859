//! Draws the deadlines of groups for the whole flow list; some are multiples of the list's requirement (R_base).

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Span;
use priolane_sim::topology::{BareTimes, Topology};
use priolane_source::InputError;
use priolane_workload::Traffic;

use super::requirement::{Requirement, requirement};
use crate::experiment::{AllowedTime, Deadline, Deadlines, Experiment, Group};

/// Draws the deadlines of `flows`, the run's list of a seed, by the rules of their groups.
pub(super) fn set(experiment: &Experiment, topology: &Topology, (flows, seed): (&mut FlowList, u64)) {
    let base = r_base(experiment, topology, (flows, seed)).map_or(Span::ZERO, |found| found.fits);
    let mut allowed = draw(experiment, flows, seed).into_iter();
    let mut times = BareTimes::new(topology, &experiment.frame);
    flows.edit_all(|flow| {
        let within = match allowed.next().flatten() {
            Some(AllowedTime::Within { within }) => within,
            // A deadline is after its flow's start.
            Some(AllowedTime::OfBase { r_base, over }) => {
                Span(((base.0 as f64 * r_base / over) as u64).max(1))
            }
            Some(AllowedTime::Ever {}) | None => return,
        };
        flow.deadline = Some(flow.start + within.max(least(experiment, &mut times, flow)));
    });
}

/// Returns the minimum deadline of a flow under its group's exponential rule; zero under other rules.
fn least(experiment: &Experiment, times: &mut BareTimes<'_>, flow: &FlowSpec) -> Span {
    let group = experiment.groups.get(usize::from(flow.group));
    match (group.and_then(|group| group.flows.deadline.as_ref()), flow.size) {
        (Some(Deadline::Drawn(Deadlines::Exponential(law))), Some(bytes)) => {
            law.least(times.of((flow.src, flow.dst), flow.entropy, bytes))
        }
        _ => Span::ZERO,
    }
}

/// Draws a deadline for each flow, in the order of its group's flows; none for groups without drawn deadlines.
fn draw(experiment: &Experiment, flows: &FlowList, seed: u64) -> Vec<Option<AllowedTime>> {
    let drawn = |(number, group): (usize, &Group)| match &group.flows.deadline {
        Some(Deadline::Drawn(deadlines)) => {
            Some((deadlines.clone(), Stream::new(seed, Purpose::Deadlines, number as u64)))
        }
        _ => None,
    };
    let mut groups: Vec<_> = experiment.groups.iter().enumerate().map(drawn).collect();
    let draw = |flow: FlowSpec| {
        let (deadlines, stream) = groups.get_mut(usize::from(flow.group))?.as_mut()?;
        Some(deadlines.draw(stream.uniform()))
    };
    flows.iter().map(draw).collect()
}

/// Returns the requirement of a seed's flows; `None` if no deadline depends on it.
pub(super) fn r_base(
    experiment: &Experiment,
    topology: &Topology,
    (flows, seed): (&FlowList, u64),
) -> Option<Requirement> {
    experiment.groups.iter().find(|group| hangs_on_base(group))?;
    let weight = |allowed: Option<AllowedTime>| match allowed {
        Some(AllowedTime::OfBase { r_base, .. }) => Some(r_base),
        _ => None,
    };
    let weights: Vec<Option<f64>> = draw(experiment, flows, seed).into_iter().map(weight).collect();
    Some(requirement(flows, &weights, (topology, &experiment.frame)))
}

fn hangs_on_base(group: &Group) -> bool {
    matches!(&group.flows.deadline, Some(Deadline::Drawn(drawn)) if drawn.of_base())
}

/// Checks that the requirement can be computed before the run: it cannot with long-lived or dependent flows.
///
/// # Errors
/// Returns an [`InputError`] if `traffic` has such flows and deadlines depend on the requirement; without a line
/// number.
pub(super) fn countable(experiment: &Experiment, traffic: &Traffic) -> Result<(), InputError> {
    let Some(group) = experiment.groups.iter().find(|group| hangs_on_base(group)) else { return Ok(()) };
    let what = match (traffic.waits.is_empty(), traffic.flows.iter().all(|flow| flow.size.is_some())) {
        (true, true) => return Ok(()),
        (false, _) => "some flows depend on others",
        (true, false) => "some flows are endless",
    };
    let key = format!("group.{}.deadline", group.name);
    let fix = "`within` instead of `r_base`, or only finite flows with a start time";
    let what = format!("{what}, so R_base is not known before the run");
    Err(InputError::new(experiment.sources.experiment(), None, key, what, fix))
}

//! Deadlines that groups draw, for the whole flow list at once: some are multiples of what the list requires.

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Span;
use priolane_sim::topology::{BareTimes, Topology};
use priolane_source::InputError;
use priolane_workload::Traffic;

use super::requirement::{Requirement, requirement};
use crate::experiment::{AllowedTime, Deadline, Deadlines, Experiment, Group};

/// Gives `flows`, the run's list of a seed, the deadlines that their groups draw.
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

/// The least time that its group's exponential law leaves a flow; zero under other rules.
fn least(experiment: &Experiment, times: &mut BareTimes<'_>, flow: &FlowSpec) -> Span {
    let group = experiment.groups.get(usize::from(flow.group));
    match (group.and_then(|group| group.deadline.as_ref()), flow.size) {
        (Some(Deadline::Drawn(Deadlines::Exponential(law))), Some(bytes)) => {
            law.least(times.of((flow.src, flow.dst), flow.entropy, bytes))
        }
        _ => Span::ZERO,
    }
}

/// What each flow draws, in the order of its group's flows; none of groups that draw nothing.
fn draw(experiment: &Experiment, flows: &FlowList, seed: u64) -> Vec<Option<AllowedTime>> {
    let drawn = |(number, group): (usize, &Group)| match &group.deadline {
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

/// What the flows of a seed require; `None` where no deadline hangs on it.
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
    matches!(&group.deadline, Some(Deadline::Drawn(drawn)) if drawn.of_base())
}

/// What does not end, or starts when others have ended, requires nothing that can be reckoned before the run.
///
/// # Errors
/// An [`InputError`] where such flows are in `traffic` and deadlines hang on what is required; not yet with its line.
pub(super) fn countable(experiment: &Experiment, traffic: &Traffic) -> Result<(), InputError> {
    let Some(group) = experiment.groups.iter().find(|group| hangs_on_base(group)) else { return Ok(()) };
    let what = match (traffic.waits.is_empty(), traffic.flows.iter().all(|flow| flow.size.is_some())) {
        (true, true) => return Ok(()),
        (false, _) => "flows of the experiment wait for others",
        (true, false) => "flows of the experiment have no end",
    };
    let key = format!("group.{}.deadline", group.name);
    let fix = "`within` in place of `r_base`, or only flows that start at a time and end";
    let what = format!("{what}, so that R_base is not known before the run");
    Err(InputError::new(experiment.sources.experiment(), None, key, what, fix))
}

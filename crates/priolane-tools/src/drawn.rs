//! Draws the flows that an experiment would run, as a flow list, without running it.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::CoflowId;
use priolane_core::units::Span;
use priolane_source::InputError;
use priolane_workload::flow_list::{OptionalColumn, Row, Writer};

use priolane_lab::plan::{self, Definition, Options, ResolvedRun};

/// Returns the flows of the first run of `experiment`, as the text of a flow list with a column `group`:
/// starts, hosts, bytes and the number of the group, and where there are any, deadlines, coflows, and flows that others
/// wait for. Coflows are numbered from 0 through all groups; a flow that waits for one that its own host received has no
/// stated delay.
///
/// # Errors
/// Returns an [`InputError`] with the first mistake.
pub fn drawn(experiment: &Definition, options: &Options) -> Result<String, InputError> {
    let plan = experiment.plan(options)?;
    let Some(run) = plan.runs.first() else { return Ok(String::new()) };
    let built = plan::build(run)?;
    write(&built).map_err(|error| {
        InputError::new(experiment.name(), None, "group", error.to_string(), "a smaller list")
    })
}

fn write(built: &ResolvedRun) -> std::io::Result<String> {
    let scenario = &built.scenario;
    let mut extras = vec![OptionalColumn::Group];
    if scenario.flows.iter().any(|flow| flow.deadline.is_some()) {
        extras.push(OptionalColumn::Deadline);
    }
    if scenario.flows.iter().any(|flow| flow.coflow.is_some()) {
        extras.push(OptionalColumn::Coflow);
    }
    if !scenario.waits.is_empty() {
        extras.push(OptionalColumn::After);
    }
    let mut waits = scenario.waits.iter().peekable();
    let mut coflows = BTreeMap::new();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &extras)?;
    for flow in scenario.flows.iter() {
        let wait = waits.next_if(|wait| wait.flow == flow.id);
        writer.row(&Row {
            after: wait.map(|wait| wait.after.clone()).unwrap_or_default(),
            // A list has no delay of zero: within a host it is left out, and the list's app has its own.
            delay: wait.map(|wait| wait.delay).filter(|&delay| delay > Span::ZERO),
            path: None,
            flow: FlowSpec { coflow: renumbered(&flow, &mut coflows), ..flow },
        })?;
    }
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

/// Returns the number of a flow's coflow among those of all groups.
fn renumbered(flow: &FlowSpec, known: &mut BTreeMap<(u16, u32), u32>) -> Option<CoflowId> {
    let coflow = flow.coflow?;
    let next = known.len() as u32;
    CoflowId::new(*known.entry((flow.group, coflow.number())).or_insert(next))
}

#[cfg(test)]
mod tests;

//! Draws the flows that an experiment would run, as a flow list, without running it.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{CoflowId, FlowId};
use priolane_sim::dependencies::{Predecessor, Work};
use priolane_source::InputError;
use priolane_workload::flow_list::{After, OptionalColumn, Row, Writer};

use priolane_lab::plan::{self, Definition, Options, ResolvedRun};

/// Returns the flows of the first run of `experiment`, as the text of a flow list with a column `group`:
/// starts, hosts, bytes and the number of the group, and where there are any, deadlines, coflows, and flows that others
/// wait for. Coflows are numbered from 0 through all groups; steps of hosts are the last rows, and have group 0.
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
    if !scenario.waits.is_empty() || !scenario.steps.is_empty() {
        extras.push(OptionalColumn::After);
    }
    let mut waits = scenario.waits.iter().peekable();
    let mut coflows = BTreeMap::new();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &extras)?;
    for flow in scenario.flows.iter() {
        let wait = waits.next_if(|wait| wait.flow == flow.id);
        writer.row(&Row {
            path: None,
            flow: FlowSpec { coflow: renumbered(&flow, &mut coflows), ..flow },
            ..waiting(wait.map_or(&[][..], |wait| &wait.after[..]), &flow, scenario.flows.len())
        })?;
    }
    for step in &scenario.steps {
        let host = FlowSpec::new(FlowId(0), (step.host, step.host), Some(0));
        let flow = FlowSpec { start: step.start, ..host };
        let after = waiting(&step.after, &flow, scenario.flows.len()).after;
        writer.row(&Row { flow, after, delay: Some(step.takes), path: None })?;
    }
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

/// Returns a row that waits for `after`. Steps are the rows behind the `flows` flows. A delay that is the same for all is
/// that of the row.
fn waiting(after: &[Predecessor], flow: &FlowSpec, flows: usize) -> Row {
    let number = |work: Work| match work {
        Work::Flow(flow) => flow,
        Work::Step(step) => FlowId(flows as u32 + step.0),
    };
    let common = after.first().map(|first| first.delay).filter(|_| flow.size != Some(0));
    let common = common.filter(|&delay| after.iter().all(|first| first.delay == delay));
    let row = |first: &Predecessor| After {
        row: number(first.work),
        delay: if common.is_some() { None } else { Some(first.delay) },
    };
    let mut after: Vec<After> = after.iter().map(row).collect();
    after.sort_unstable_by_key(|first| first.row);
    Row { flow: *flow, after, delay: common, path: None }
}

/// Returns the number of a flow's coflow among those of all groups.
fn renumbered(flow: &FlowSpec, known: &mut BTreeMap<(u16, u32), u32>) -> Option<CoflowId> {
    let coflow = flow.coflow?;
    let next = known.len() as u32;
    CoflowId::new(*known.entry((flow.group, coflow.number())).or_insert(next))
}

#[cfg(test)]
mod tests;

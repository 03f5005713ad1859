//! The actions of a host in a run, in order of time.

use std::collections::HashSet;

use crate::job::{Flow, FlowChange, HostJob};

/// An action of a host at an instant of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action<'a> {
    /// The host changes a flow that it sends.
    Change(&'a FlowChange),
    /// The host sends a flow.
    Send(&'a Flow),
}

impl Action<'_> {
    /// Returns the time of the action, in nanoseconds since the start of the run.
    pub(crate) fn at_ns(&self) -> u64 {
        match self {
            Self::Change(change) => change.at_ns,
            Self::Send(flow) => flow.start_ns,
        }
    }
}

/// Returns the actions of the host of `job`. At equal times, changes come before starts, as in the simulator.
pub(crate) fn timeline(job: &HostJob) -> Vec<Action<'_>> {
    let mut sends: Vec<&Flow> = job.flows.iter().filter(|flow| flow.src == job.host).collect();
    sends.sort_by_key(|flow| (flow.start_ns, flow.id));
    let own: HashSet<u32> = sends.iter().map(|flow| flow.id).collect();
    let changes = job.changes.iter().filter(|change| own.contains(&change.flow)).map(Action::Change);
    let mut actions: Vec<Action<'_>> = changes.chain(sends.into_iter().map(Action::Send)).collect();
    actions.sort_by_key(Action::at_ns);
    actions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_jobs::tests::{host_job, plain};
    use crate::job::Change;

    #[test]
    fn flows_start_and_change_in_order_and_changes_are_first_at_equal_times() {
        let flow = |id, src, start_ns| Flow { src, dst: 1 - src, start_ns, ..plain(id) };
        let abort = |flow, at_ns| FlowChange { flow, at_ns, change: Change::Abort };
        let flows = vec![flow(2, 0, 50), flow(1, 0, 50), flow(0, 0, 10), flow(7, 1, 0)];
        let job = HostJob { changes: vec![abort(0, 50), abort(7, 20), abort(1, 60)], ..host_job(0, flows) };
        let found: Vec<(u64, Result<u32, u32>)> = timeline(&job)
            .iter()
            .map(|action| match action {
                Action::Change(change) => (change.at_ns, Err(change.flow)),
                Action::Send(flow) => (flow.start_ns, Ok(flow.id)),
            })
            .collect();
        assert_eq!(found, [(10, Ok(0)), (50, Err(0)), (50, Ok(1)), (50, Ok(2)), (60, Err(1))]);
    }
}

//! Determines which flows of an experiment have deadlines.

use priolane_workload::Deadlines as ReadSchemes;

use super::deadlines::Deadline;
use super::{Experiment, Group};
use crate::scheme::Coverage;

impl Experiment {
    /// Returns whether all, some or no flows have deadlines.
    pub fn deadlines(&self) -> Coverage {
        let of_group = |group: &Group| match (&group.flows.deadline, group.app.part().listed()) {
            (Some(Deadline::Drawn(deadlines)), _) if deadlines.of_all() => Coverage::All,
            (Some(Deadline::Drawn(_)), _) => Coverage::Some,
            (None, Some(list)) if list.deadlines == ReadSchemes::Some => Coverage::Some,
            (Some(Deadline::AtRate(_)) | None, _) => Coverage::None,
        };
        let senders = self.groups.iter().filter(|group| group.app.part().sends());
        let all: Vec<Coverage> = senders.map(of_group).collect();
        match all.first() {
            Some(&first) if all.iter().all(|&one| one == first) => first,
            Some(_) => Coverage::Some,
            None => Coverage::None,
        }
    }
}

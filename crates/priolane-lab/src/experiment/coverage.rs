//! Which flows of an experiment have deadlines.

use super::app::{AppText, ListText};
use super::deadlines::Deadline;
use super::{Experiment, Group};
use crate::scheme::Coverage;

impl Experiment {
    /// Which flows have deadlines.
    pub fn deadlines(&self) -> Coverage {
        let of_group = |group: &Group| match (&group.deadline, &group.app) {
            (Some(Deadline::Drawn(deadlines)), _) if deadlines.of_all() => Coverage::All,
            (Some(Deadline::Drawn(_)), _) => Coverage::Some,
            (None, AppText::Flows { list: ListText::Path(path), .. })
                if self.sources.paths(path).iter().any(|path| {
                    let head = self.sources.known(path).lines().next();
                    head.is_some_and(|head| head.contains("deadline_ns"))
                }) =>
            {
                Coverage::Some
            }
            (Some(Deadline::AtRate(_)) | None, _) => Coverage::None,
        };
        let senders = self.groups.iter().filter(|group| group.app != AppText::Nothing);
        let all: Vec<Coverage> = senders.map(of_group).collect();
        match all.first() {
            Some(&first) if all.iter().all(|&one| one == first) => first,
            Some(_) => Coverage::Some,
            None => Coverage::None,
        }
    }
}

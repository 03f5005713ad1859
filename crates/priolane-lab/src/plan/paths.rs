//! Checks paths that an experiment gives for flows: the network must pin paths, and the paths must exist.

use priolane_sim::topology::Topology;
use priolane_source::InputError;
use priolane_workload::StatedPath;

use crate::experiment::{Experiment, Group, Paths};

/// Checks the paths that the app of a group gives in a run of `seed`.
pub(super) fn check(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
    (paths, seed): (&[StatedPath], u64),
) -> Result<(), InputError> {
    paths.iter().try_for_each(|stated| one(experiment, topology, group, (stated, seed)))
}

fn one(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
    (stated, seed): (&StatedPath, u64),
) -> Result<(), InputError> {
    let &StatedPath { src, dst, path, place } = stated;
    let fault = |what: &dyn Fn(&str) -> String, fix: String| {
        let (key, place) = group.app.part().path_place(place, seed);
        let key = format!("group.{}.{key}", group.name);
        Err(InputError::new(experiment.sources.experiment(), None, key, what(&place), fix))
    };
    if experiment.topology.paths != Paths::Pinned {
        let name = experiment.topology.paths.word();
        let what =
            |place: &str| format!("{place} has a path, but paths = {name:?} chooses the paths of all flows");
        return fault(&what, "topology.paths = \"pinned\", or remove the paths".to_owned());
    }
    let paths = topology.equal_paths(src, dst);
    if u32::from(path) < paths {
        return Ok(());
    }
    let what = |place: &str| {
        format!("{place} has path {path}, but host {} has only {paths} paths to host {}", src.0, dst.0)
    };
    fault(&what, format!("a path from 0 to {}", paths - 1))
}

/// Whether any flow has a given path.
pub(super) fn are_stated(experiment: &Experiment) -> bool {
    experiment.groups.iter().any(|group| group.app.part().states_paths())
}

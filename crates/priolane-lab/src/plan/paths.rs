//! Paths that an experiment states flow by flow: only where paths are pinned, and only ones that there are.

use priolane_core::ids::HostId;
use priolane_sim::topology::Topology;
use priolane_source::InputError;
use priolane_workload::flow_list::{self, Row};

use crate::experiment::{AppText, Experiment, Group, ListText, PairsText, Paths};

/// A path that is stated.
struct Stated<'a> {
    src: HostId,
    dst: HostId,
    path: u16,
    /// Where it stands, for messages.
    place: &'a dyn Fn() -> String,
}

/// Checks the paths of the rows of a group's list; `place` says where a row stands.
pub(super) fn check(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
    (rows, place): (&[Row], &dyn Fn(usize) -> String),
) -> Result<(), InputError> {
    for (number, row) in rows.iter().enumerate() {
        let Some(path) = row.path else { continue };
        let place = &|| place(number);
        let stated = Stated { src: row.flow.src, dst: row.flow.dst, path, place };
        one(experiment, topology, (group, "list"), &stated)?;
    }
    Ok(())
}

/// Checks the paths of listed pairs.
pub(super) fn check_pairs(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
    pairs: &PairsText,
) -> Result<(), InputError> {
    let PairsText::Listed(pairs) = pairs else { return Ok(()) };
    for (number, pair) in pairs.iter().enumerate() {
        let [src, dst] = [pair.src, pair.dst];
        let known = [src, dst].iter().all(|&host| u32::from(host) < topology.hosts);
        let Some(path) = pair.path.filter(|_| known && src != dst) else { continue };
        let place = &|| format!("pair {number}");
        let stated = Stated { src: HostId(src), dst: HostId(dst), path, place };
        one(experiment, topology, (group, "pairs"), &stated)?;
    }
    Ok(())
}

fn one(
    experiment: &Experiment,
    topology: &Topology,
    (group, key): (&Group, &str),
    stated: &Stated<'_>,
) -> Result<(), InputError> {
    let fault = |what: String, fix: String| {
        let key = format!("group.{}.{key}", group.name);
        Err(InputError::new(experiment.sources.experiment(), None, key, what, fix))
    };
    let Stated { src, dst, path, place } = *stated;
    if experiment.topology.paths != Paths::Pinned {
        let name = experiment.topology.paths.word();
        let what = format!("{} states a path, and paths = {name:?} chooses the paths of all flows", place());
        return fault(what, "topology.paths = \"pinned\", or no paths".to_owned());
    }
    let paths = topology.equal_paths(src, dst);
    if u32::from(path) < paths {
        return Ok(());
    }
    let what = format!("{} states path {path}, and host {} has {paths} to host {}", place(), src.0, dst.0);
    fault(what, format!("a path from 0 to {}", paths - 1))
}

/// Whether any flow has a path of its own.
pub(super) fn are_stated(experiment: &Experiment) -> bool {
    experiment.groups.iter().any(|group| match &group.app {
        AppText::LongLived { pairs: PairsText::Listed(pairs), .. } => {
            pairs.iter().any(|pair| pair.path.is_some())
        }
        AppText::Flows { list: ListText::Inline(rows), .. } => rows.iter().any(|row| row.path.is_some()),
        AppText::Flows { list: ListText::Path(path), .. } => {
            experiment.sources.paths(path).iter().any(|path| {
                let text = experiment.sources.known(path).as_bytes();
                flow_list::Reader::new(text, path, 1).is_ok_and(|list| list.has_paths())
            })
        }
        _ => false,
    })
}

//! The empty paths between hosts that may exchange flows, on which settings of schemes are checked.

use std::collections::BTreeSet;

use priolane_core::endpoint::Path;
use priolane_core::ids::HostId;
use priolane_core::units::Rate;
use priolane_sim::topology::{Link, Topology};

use super::traffic;
use crate::experiment::Experiment;
use crate::scheme::EmptyPath;

/// Maximum number of senders, and of receivers, of a group between which paths are looked at.
const LOOKED_AT: usize = 16;

/// Returns paths between senders and receivers of each group, distinct in rates and delays, from the shortest to the
/// longest empty round trip. Of hosts that are alike, in different racks, only some are looked at.
pub(super) fn empty_paths(experiment: &Experiment, topology: &Topology) -> Vec<EmptyPath> {
    let mut found: Vec<EmptyPath> = Vec::new();
    let mut known = BTreeSet::new();
    for group in experiment.groups.iter().filter(|group| group.app.part().sends()) {
        let ends = traffic::hosts(experiment, topology, group)
            .and_then(|hosts| Ok((hosts, traffic::targets(experiment, topology, group)?)));
        // A group whose hosts are unknown is an error that is reported elsewhere.
        let Ok((hosts, targets)) = ends else { continue };
        for &src in &some(&hosts, topology) {
            for &dst in some(&targets, topology).iter().filter(|&&dst| dst != src) {
                let path = between(experiment, topology, (src, dst));
                let Path { hops, rate, data, .. } = path.path;
                if known.insert((data.round_trip, data.one_way, hops, rate, path.line, path.bottleneck)) {
                    found.push(path);
                }
            }
        }
    }
    found.sort_by_key(|path| path.path.data.round_trip);
    found
}

fn between(experiment: &Experiment, topology: &Topology, (src, dst): (HostId, HostId)) -> EmptyPath {
    let frame = &experiment.frame;
    let jitter = |host| experiment.host.send_jitter.at(topology.host_capacity(host), frame);
    let path = topology.empty_path(frame, (src, dst), 0, experiment.host_delay);
    let path = Path { send_jitter: jitter(src) + jitter(dst), ..path };
    let slowest =
        topology.path(src, dst, 0).into_iter().skip(1).map(|link| topology.links[link.index()].rate).min();
    EmptyPath {
        between: (src, dst),
        path,
        line: topology.host_capacity(src),
        bottleneck: slowest.filter(|&rate| rate <= path.rate),
    }
}

/// Returns hosts of each kind of rack and link, the first of each kind first, and then others, evenly spread.
fn some(hosts: &[HostId], topology: &Topology) -> Vec<HostId> {
    let link = |link: &Link| (link.rate, link.delay);
    let kind = |host: HostId| -> ((Rate, _), (Rate, _), u32) {
        let [up, down] = [topology.uplink(host), topology.downlink(host)];
        let [up, down] = [up, down].map(|id| link(&topology.links[id.index()]));
        (up, down, topology.rack[host.index()])
    };
    let mut kinds = BTreeSet::new();
    let mut distinct: Vec<HostId> = hosts.iter().copied().filter(|&host| kinds.insert(kind(host))).collect();
    // The second host of a rack gives paths inside it.
    let second = hosts.iter().copied().find(|host| !distinct.contains(host));
    if distinct.len() > LOOKED_AT {
        let step = distinct.len().div_ceil(LOOKED_AT - 1);
        let last = distinct.last().copied();
        distinct = distinct.into_iter().step_by(step).chain(last).collect();
    }
    distinct.extend(second);
    distinct
}

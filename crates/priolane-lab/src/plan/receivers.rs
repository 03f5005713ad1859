//! Checks that no receiver is offered more than its link carries.

use std::collections::BTreeMap;

use priolane_core::ids::HostId;
use priolane_sim::topology::Topology;
use priolane_source::InputError;
use priolane_workload::{Counts, LoadOf};

use super::traffic;
use crate::experiment::{Experiment, Group};

/// What the groups with a load offer to a receiver.
#[derive(Clone, Debug, Default)]
struct Offered {
    /// Bits per second on the wire, if all packets are full.
    bps: f64,
    /// The groups that offer it.
    by: Vec<String>,
}

/// The loads of the links of receivers.
pub(super) struct ReceiverLoads {
    /// By group: the largest load of the links of its receivers on the wire, from 0; of the group alone if it is active
    /// in a part of the run only, otherwise with all groups that are always active.
    pub(super) by_group: Vec<f64>,
    /// The receiver that is offered most, if that is more than its link carries, and its senders are offered no more
    /// than theirs.
    pub(super) warning: Option<String>,
}

/// Returns what groups with a stated load offer to receivers.
///
/// # Errors
/// Returns an error if a group names a host that does not exist.
pub(super) fn loads(experiment: &Experiment, topology: &Topology) -> Result<ReceiverLoads, InputError> {
    let groups = &experiment.groups;
    let own = groups.iter().map(|group| by_receiver(experiment, topology, group));
    let own = own.collect::<Result<Vec<_>, InputError>>()?;
    let mut always: BTreeMap<HostId, Offered> = BTreeMap::new();
    for (group, own) in groups.iter().zip(&own).filter(|(group, _)| group.active.is_none()) {
        for &(host, bps) in own {
            let offered = always.entry(host).or_default();
            offered.bps += bps;
            offered.by.push(group.name.clone());
        }
    }
    let mut worst: Option<(f64, HostId, Offered)> = None;
    let mut by_group = vec![0.0; groups.len()];
    for ((group, own), most) in groups.iter().zip(&own).zip(&mut by_group) {
        for &(host, bps) in own {
            let together = always.get(&host).filter(|_| group.active.is_none());
            let offered = together.map_or(bps, |offered| offered.bps);
            let load = offered / topology.host_capacity(host).bps() as f64;
            *most = load.max(*most);
            if worst.as_ref().is_none_or(|(most, ..)| load > *most) {
                let alone = || Offered { bps, by: vec![group.name.clone()] };
                worst = Some((load, host, together.cloned().unwrap_or_else(alone)));
            }
        }
    }
    let warning = worst.filter(|(load, ..)| *load > 1.0).map(|(load, host, offered)| {
        let groups = if offered.by.len() == 1 { "group" } else { "groups" };
        format!(
            "{groups} {}: host {} is offered {load:.3} of what its link carries on the wire: its flows wait longer the \
             longer the run is; a lower load.value or more receivers end that",
            offered.by.join(", "),
            host.0
        )
    });
    Ok(ReceiverLoads { by_group, warning })
}

/// Returns the bits per second on the wire that a group with a load offers to each of its receivers in the mean; none
/// if its senders offer more than their links carry, which is reported of them.
fn by_receiver(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<Vec<(HostId, f64)>, InputError> {
    let Some((load, _)) = group.app.part().load() else { return Ok(Vec::new()) };
    let (hosts, to) =
        (traffic::hosts(experiment, topology, group)?, traffic::targets(experiment, topology, group)?);
    let frame = &experiment.frame;
    let wire = match load.counts {
        Counts::Wire => 1.0,
        Counts::Payload => f64::from(frame.data_wire(frame.mss())) / f64::from(frame.mss()),
    };
    let senders = topology.hosts_capacity(hosts.iter().copied());
    let total = match load.of {
        LoadOf::Host => load.value * wire * senders,
        LoadOf::Core => load.value * wire * topology.core_capacity() as f64,
    };
    if total > senders {
        return Ok(Vec::new());
    }
    // A sender chooses among the receivers other than itself.
    let mut shares: BTreeMap<HostId, f64> = to.iter().map(|&host| (host, 0.0)).collect();
    let (each, all) = (total / hosts.len().max(1) as f64, shares.len() as f64);
    let inside: Vec<HostId> = hosts.iter().copied().filter(|host| shares.contains_key(host)).collect();
    let outside = (hosts.len() - inside.len()) as f64 * each / all.max(1.0);
    let from_inside = if all > 1.0 { each / (all - 1.0) } else { 0.0 };
    for (host, share) in &mut shares {
        let others = inside.len() as f64 - f64::from(u8::from(inside.contains(host)));
        *share = outside + others * from_inside;
    }
    Ok(shares.into_iter().collect())
}

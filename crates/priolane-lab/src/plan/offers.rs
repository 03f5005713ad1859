//! What groups with a stated load offer to the links of a network, on the wire.

use std::fmt;

use priolane_core::ids::HostId;
use priolane_core::units::{Rate, Span};
use priolane_sim::topology::Topology;
use priolane_source::InputError;
use priolane_workload::{Counts, DestinationScope, Load, LoadOf, OpenLoop, mean_bytes};

use super::steady::SteadyNeeds;
use super::traffic;
use crate::experiment::{Active, Experiment, Group};

/// What a group with a stated load offers at a sweep point, before any flow is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupOffer {
    /// Name of the group.
    pub group: String,
    /// The capacity that its load relates to.
    pub of: LoadOf,
    /// The bytes that its load counts.
    pub counts: Counts,
    /// The most loaded tier of links that its flows use.
    pub tier: Tier,
    /// The load of that tier on the wire, with the other groups that are active at the same time; at least 0.
    pub load: f64,
    /// Whether its sizes are drawn independently and may be drawn by strata.
    pub may_use_strata: bool,
}

/// A tier of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The links of senders.
    Senders,
    /// The links out of racks.
    Core,
    /// The link of the receiver that is offered most.
    Receiver,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Senders => "the links of senders",
            Self::Core => "the links out of racks",
            Self::Receiver => "the link of a receiver",
        })
    }
}

impl GroupOffer {
    /// Returns what `own` of the groups `all` offers; `receiver` is the largest load of the links of its receivers.
    ///
    /// # Errors
    /// Returns an error if the group names a host that does not exist.
    pub(super) fn of(
        experiment: &Experiment,
        topology: &Topology,
        (all, own): (&[GroupShares], &GroupShares),
        receiver: f64,
    ) -> Result<Self, InputError> {
        let group = &experiment.groups[own.number];
        let (of, counts) = own.measure;
        let [host, core] = own.tiers(experiment, all);
        let tiers = [(Tier::Senders, host), (Tier::Core, core), (Tier::Receiver, receiver)];
        let (tier, load) =
            tiers.into_iter().fold(tiers[0], |most, own| if own.1 > most.1 { own } else { most });
        let may_use_strata = may_use_strata(experiment, topology, group)?;
        Ok(Self { group: group.name.clone(), of, counts, tier, load, may_use_strata })
    }
}

/// Whether the sizes of a group are drawn independently, and its flows share enough links to draw them by strata.
///
/// # Errors
/// Returns an error if the group names a host that does not exist.
pub(super) fn may_use_strata(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<bool, InputError> {
    let Some(draw) = group.app.part().size_draw() else { return Ok(false) };
    let hosts = traffic::hosts(experiment, topology, group)?;
    Ok(draw.may_become_strata(&hosts, &traffic::targets(experiment, topology, group)?))
}

/// The load of a group on the wire.
pub(super) struct GroupShares {
    /// Number of the group in the experiment.
    pub(super) number: usize,
    pub(super) hosts: Vec<HostId>,
    /// The capacity and the bytes of its stated load.
    pub(super) measure: (LoadOf, Counts),
    /// Load of the links of its hosts.
    pub(super) host: f64,
    /// Its load on the links out of racks.
    pub(super) core: f64,
}

impl GroupShares {
    /// Returns the load of the links of the group's hosts, and that of the links out of racks if its flows use them, both
    /// with the other groups that are active at the same time.
    fn tiers(&self, experiment: &Experiment, all: &[Self]) -> [f64; 2] {
        let groups = &experiment.groups;
        let together = |other: &&Self| overlap(groups[self.number].active, groups[other.number].active);
        let shares_host = |other: &&Self| other.hosts.iter().any(|host| self.hosts.contains(host));
        let host = all.iter().filter(together).filter(shares_host).map(|other| other.host).sum();
        let core = all.iter().filter(together).map(|other| other.core).sum();
        [host, if self.core > 0.0 { core } else { 0.0 }]
    }
}

/// Whether two groups are active at the same time.
fn overlap(one: Option<Active>, other: Option<Active>) -> bool {
    let ends = |active: Option<Active>| {
        let until = active.and_then(|active| active.until).unwrap_or(Span(u64::MAX));
        (active.map_or(Span::ZERO, |active| active.from), until)
    };
    let ((from, until), (other_from, other_until)) = (ends(one), ends(other));
    from < other_until && other_from < until
}

/// Returns what the steady state of a group takes, beside the load of the other groups on the same links.
pub(super) fn needs(
    experiment: &Experiment,
    topology: &Topology,
    all: &[GroupShares],
    own: &GroupShares,
) -> Option<SteadyNeeds> {
    let group = &experiment.groups[own.number];
    let open_loop = group.app.part().open_loop()?;
    let [host, core] = own.tiers(experiment, all);
    let rate = topology.host_capacity(*own.hosts.first()?).bps() as f64;
    SteadyNeeds::of(&experiment.time, &group.name, open_loop, (host.max(core), rate))
}

/// Returns the bytes on the wire of a byte of payload: of flows of known sizes their mean, else that of full packets, a
/// lower bound.
pub(super) fn on_wire(experiment: &Experiment, open_loop: Option<&OpenLoop>) -> f64 {
    let frame = &experiment.frame;
    match open_loop.map(|open_loop| &open_loop.sizes.law) {
        Some(law) => mean_bytes(law, Counts::Wire, frame) / mean_bytes(law, Counts::Payload, frame),
        None => f64::from(frame.data_wire(frame.mss())) / f64::from(frame.mss()),
    }
}

/// A group's senders and their destinations.
pub(super) struct GroupHosts {
    pub(super) hosts: Vec<HostId>,
    /// Mean probability that a flow leaves its rack.
    leaves_rack: f64,
}

impl GroupHosts {
    pub(super) fn of(
        experiment: &Experiment,
        topology: &Topology,
        group: &Group,
        reach: DestinationScope,
    ) -> Result<Self, InputError> {
        let hosts = traffic::hosts(experiment, topology, group)?;
        let to = traffic::targets(experiment, topology, group)?;
        let mut in_rack = vec![0u32; topology.hosts as usize];
        let mut is_target = vec![false; topology.hosts as usize];
        for host in &to {
            if !std::mem::replace(&mut is_target[host.index()], true) {
                in_rack[topology.rack[host.index()] as usize] += 1;
            }
        }
        let targets: u32 = in_rack.iter().sum();
        let leaving = |host: &HostId| {
            let own_rack = in_rack[topology.rack[host.index()] as usize];
            let all = targets - u32::from(is_target[host.index()]);
            if all == 0 { 0.0 } else { f64::from(targets - own_rack) / f64::from(all) }
        };
        let leaves_rack = match reach {
            DestinationScope::OtherRacks => 1.0,
            DestinationScope::AnyHost => hosts.iter().map(leaving).sum::<f64>() / hosts.len().max(1) as f64,
        };
        Ok(Self { hosts, leaves_rack })
    }

    /// Returns the link rate of all senders, if it is the same.
    pub(super) fn one_rate(&self, topology: &Topology) -> Option<Rate> {
        let mut rates = self.hosts.iter().map(|&host| topology.host_capacity(host));
        let first = rates.next()?;
        if rates.all(|rate| rate == first) { Some(first) } else { None }
    }

    /// Returns the load of host links and of links out of racks on the wire; `on_wire` is the bytes of a byte of
    /// payload.
    pub(super) fn shares(&self, topology: &Topology, load: Load, on_wire: f64) -> [f64; 2] {
        let wire = match load.counts {
            Counts::Wire => 1.0,
            Counts::Payload => on_wire,
        };
        let hosts = topology.hosts_capacity(self.hosts.iter().copied());
        let core = topology.core_capacity() as f64;
        let ratio = |over: f64, under: f64| if under > 0.0 { over / under } else { 0.0 };
        match load.of {
            LoadOf::Host => [load.value * wire, load.value * wire * self.leaves_rack * ratio(hosts, core)],
            LoadOf::Core => {
                let demand = load.value * wire * core;
                [ratio(demand, hosts * self.leaves_rack), load.value * wire]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_share_links_while_both_are_active() {
        let active = |from, until| Some(Active { from: Span(from), until });
        let (early, late) = (active(0, Some(Span(10))), active(10, None));
        assert!(!overlap(early, late) && !overlap(late, early));
        assert!(overlap(early, active(9, None)) && overlap(early, active(0, Some(Span(1)))));
        assert!(overlap(None, late) && overlap(None, None));
    }
}

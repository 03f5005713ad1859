//! The load that groups with a stated load offer to the links of a network, on the wire.

use priolane_sim::topology::Topology;
use priolane_source::{InputError, Mistakes};
use priolane_workload::{Counts, Load, LoadOf};

use super::links::{LinkLoads, MostLoaded};
use super::steady::{Bottleneck, Bottlenecks, SteadyNeeds};
use super::tier::Tier;
use super::traffic;
use super::under_way::Waits;
use crate::experiment::{Experiment, Group};

/// The load that a group with a stated load offers at a sweep point, before any flow is drawn.
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
    /// Whether `start = "warm_path"` draws flows under way at the loads of all links of the network.
    pub may_draw_path: bool,
}

impl GroupOffer {
    /// Returns what a group with the stated `load` offers, given the most loaded links of its flows.
    fn of(
        (experiment, topology): (&Experiment, &Topology),
        (group, load): (&Group, Load),
        (most, may_draw_path): (&[MostLoaded], bool),
    ) -> Result<Self, InputError> {
        let worst = worst(most);
        let may_use_strata = may_use_strata(experiment, topology, group)?;
        Ok(Self {
            group: group.name.clone(),
            of: load.of,
            counts: load.counts,
            tier: worst.map_or(Tier::Senders, |most| most.link.tier),
            load: worst.map_or(0.0, |most| most.load),
            may_use_strata,
            may_draw_path,
        })
    }
}

/// Returns the most loaded link of all tiers.
fn worst(most: &[MostLoaded]) -> Option<&MostLoaded> {
    most.iter().reduce(|worst, other| if other.load > worst.load { other } else { worst })
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

/// The load that all groups with a load offer.
pub(super) struct Offered {
    /// Links that are offered as much as they carry, or more.
    pub(super) warnings: Vec<String>,
    /// The needs of the steady state of each open-loop group.
    pub(super) steady: Vec<SteadyNeeds>,
    /// The load that each group offers to its most loaded link.
    pub(super) offers: Vec<GroupOffer>,
}

/// Returns what the groups of an experiment offer to the links of a network.
///
/// # Errors
/// Returns an error if a group names a host that does not exist, or if the experiment starts with the flows of a steady
/// state that does not exist.
pub(super) fn offered(experiment: &Experiment, topology: &Topology) -> Result<Offered, InputError> {
    let loads = LinkLoads::of(experiment, topology)?;
    let waits = Waits::of(experiment, topology, &loads);
    let may_draw_path = waits.too_loaded().is_none();
    let mut found = Offered { warnings: Vec::new(), steady: Vec::new(), offers: Vec::new() };
    let mut mistakes = Mistakes::new(experiment.sources.experiment());
    for (number, group) in experiment.groups.iter().enumerate() {
        let Some((load, _)) = group.app.part().load() else { continue };
        let most = loads.most_loaded(number);
        for full in full_links(experiment, &most) {
            if !found.warnings.contains(&full) {
                mistakes.keep(traffic::refuse_warm(experiment, &full));
                found.warnings.push(full);
            }
        }
        let path = (waits.over_longest(experiment, group)?, may_draw_path);
        found.steady.extend(needs((experiment, group), &most, path));
        found.offers.push(GroupOffer::of((experiment, topology), (group, load), (&most, may_draw_path))?);
    }
    mistakes.finish()?;
    Ok(found)
}

/// Returns a warning for each of these links that is offered as much as it carries, or more. What receivers are offered is
/// less where senders have more than their links carry.
fn full_links(experiment: &Experiment, most: &[MostLoaded]) -> Vec<String> {
    let of = |tier: Tier| most.iter().find(|most| most.link.tier == tier && most.load >= 1.0);
    let receiver = of(Tier::Receiver).filter(|_| of(Tier::Senders).is_none());
    let full = of(Tier::Senders).into_iter().chain(of(Tier::Core)).chain(receiver);
    full.map(|most| {
        let names: Vec<&str> = most.by.iter().map(|&by| experiment.groups[by].name.as_str()).collect();
        let groups = if names.len() == 1 { "group" } else { "groups" };
        let (names, number, load) = (names.join(", "), most.link.number, most.load);
        let no_steady_state = "there is no steady state, and the number of flows is part of the result";
        match most.link.tier {
            Tier::Senders => format!(
                "{groups} {names}: the load of host {number} is {load:.3} on the wire, where 1 is what its link carries: \
                 {no_steady_state}"
            ),
            Tier::Core => format!(
                "{groups} {names}: the load of the links out of rack {number} is {load:.3} on the wire, where 1 is what \
                 they carry: {no_steady_state}"
            ),
            Tier::IntoRack => format!(
                "{groups} {names}: the load of the links into rack {number} is {load:.3} on the wire, where 1 is what \
                 they carry: {no_steady_state}"
            ),
            Tier::Receiver => format!(
                "{groups} {names}: host {number} is offered {load:.3} of what its link carries on the wire: its flows \
                 wait longer the longer the run is; a lower load.value or more receivers end that"
            ),
        }
    })
    .collect()
}

/// The waits at all links of a path over those at one of them, above which flows wait at several links.
const SEVERAL: f64 = 1.5;

/// Returns what the steady state of a group takes, by the loaded links of its flows. `over_longest` has the waits at all links
/// of their path over those at one.
fn needs(
    (experiment, group): (&Experiment, &Group),
    most: &[MostLoaded],
    (over_longest, may_draw_path): (Option<f64>, bool),
) -> Option<SteadyNeeds> {
    let open_loop = group.app.part().open_loop()?;
    let own = |tier: Tier| most.iter().find(|most| most.link.tier == tier);
    let sender = own(Tier::Senders)?;
    let worst = worst(most)?;
    // Flows on the links out of racks are as fast as the links of their senders.
    let rate_bps = if worst.link.tier == Tier::Core { sender.rate_bps } else { worst.rate_bps };
    // The draw of a warm start knows the load of the group alone, on the links of its senders and out of racks.
    let drawn = sender.own.max(own(Tier::Core).map_or(0.0, |core| core.own));
    let is_drawn = worst.load <= drawn * (1.0 + 1e-6);
    let several = over_longest.is_some_and(|ratio| ratio > SEVERAL);
    let links = if several { Bottlenecks::Several } else { Bottlenecks::One };
    let bottleneck = Bottleneck { load: worst.load, rate_bps, is_drawn, links, may_draw_path };
    SteadyNeeds::of(experiment, &group.name, open_loop, bottleneck)
}

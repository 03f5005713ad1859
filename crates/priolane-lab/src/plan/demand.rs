//! Compares the load that groups request with that offered by their flows, measured in the same way.
//!
//! ```text
//! asked   = sum over groups of value * capacity * time active in the window / (capacity of all * window)
//! offered = sum over groups of the bits of their flows that count          / (capacity of all * window)
//! ```
//!
//! The capacity for a load of hosts is that of the links of the group's hosts; for all groups together, that of the
//! links of the union of their hosts. The capacity for a load of the core is the core's.

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::units::{PS_PER_S, Rate, Time};
use priolane_sim::topology::Topology;
use priolane_source::InputError;
use priolane_workload::offered::{Fabric, Volume, Window};
use priolane_workload::{Counts, LoadOf, NewValue};

use super::{offers, traffic};
use crate::experiment::{EventKind, Experiment};
use priolane_results::record::Demand;

/// The load that a group requests.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupLoad {
    /// Number of the group in the experiment.
    group: u16,
    of: LoadOf,
    counts: Counts,
    value: f64,
    /// Its distinct hosts, and the rate of their links.
    hosts: Vec<HostId>,
    rate: Rate,
    /// The interval in which it starts flows.
    active: Window,
    /// Whether its sizes may be drawn by strata, and are not.
    may_use_strata: bool,
}

/// Returns the requested load of each group that requests a constant one.
pub(super) fn groups(experiment: &Experiment, topology: &Topology) -> Result<Vec<GroupLoad>, InputError> {
    let changes = |name: &str| {
        let sets = experiment.events.iter().filter_map(|event| match &event.what {
            EventKind::Set(set) => Some(set),
            _ => None,
        });
        sets.flatten().any(|setting| setting.group == name && matches!(setting.value, NewValue::Load(_)))
    };
    let mut all = Vec::new();
    for (number, group) in experiment.groups.iter().enumerate() {
        let Some((load, _)) = group.app.part().load().filter(|_| !changes(&group.name)) else { continue };
        let mut hosts = traffic::hosts(experiment, topology, group)?;
        let rate = topology.host_capacity(hosts.first().copied().unwrap_or_default());
        hosts.sort_unstable();
        hosts.dedup();
        let from = group.flows.active.map_or(Time::ZERO, |active| Time(active.from.0));
        let until =
            group.flows.active.and_then(|active| active.until).map_or(Time(u64::MAX), |until| Time(until.0));
        all.push(GroupLoad {
            group: number as u16,
            of: load.of,
            counts: load.counts,
            value: load.value,
            hosts,
            rate,
            active: Window { from, until },
            may_use_strata: offers::may_use_strata(experiment, topology, group)?,
        });
    }
    Ok(all)
}

/// Returns the requested and offered load of `groups` in `window`, one entry per way of measuring, in the order of the
/// groups.
pub(super) fn demands(
    groups: &[GroupLoad],
    flows: &FlowList,
    fabric: &Fabric,
    window: Window,
) -> Vec<Demand> {
    let mut ways: Vec<(LoadOf, Counts)> = Vec::new();
    for group in groups {
        if !ways.contains(&(group.of, group.counts)) {
            ways.push((group.of, group.counts));
        }
    }
    let sent = sent(groups, flows, fabric, window);
    let demand = |way: &(LoadOf, Counts)| {
        let own = || groups.iter().zip(&sent).filter(|(group, _)| (group.of, group.counts) == *way);
        let capacity = capacity(own().map(|(group, _)| group), *way, fabric) * seconds(window);
        let asked: f64 = own().map(|(group, _)| group.asked_bits(fabric, window)).sum();
        let offered: u128 = own().map(|(_, volume)| volume.of(way.1) * 8).sum();
        let (of, counts) = *way;
        (capacity > 0.0 && asked > 0.0).then(|| Demand {
            of,
            counts,
            asked: asked / capacity,
            offered: offered as f64 / capacity,
        })
    };
    ways.iter().filter_map(demand).collect()
}

/// Fraction of a requested load below which the flows of a run are not what was asked for.
const HALF: f64 = 0.5;

/// Warns about loads of `groups` of which the flows offer less than half.
pub(super) fn too_low(groups: &[GroupLoad], demands: &[Demand]) -> Vec<String> {
    let low = demands.iter().filter(|demand| demand.offered < HALF * demand.asked);
    let text = |demand: &Demand| {
        let of = match demand.of {
            LoadOf::Host => "hosts",
            LoadOf::Core => "the core",
        };
        let mut own = groups.iter().filter(|group| (group.of, group.counts) == (demand.of, demand.counts));
        let strata = match own.any(|group| group.may_use_strata) {
            true => ", and draw = \"strata\" spreads their sizes evenly",
            false => "",
        };
        format!(
            "the flows of this seed offer {of} a load of {:.3}, less than half of the {:.3} that is asked: a longer \
             `measure` has more flows{strata}",
            demand.offered, demand.asked
        )
    };
    low.map(text).collect()
}

impl GroupLoad {
    /// Returns the requested bits in `window`.
    fn asked_bits(&self, fabric: &Fabric, window: Window) -> f64 {
        let from = self.active.from.max(window.from);
        let until = self.active.until.min(window.until).max(from);
        let capacity = match self.of {
            LoadOf::Host => self.rate.bps() as f64 * self.hosts.len() as f64,
            LoadOf::Core => fabric.core_rate_bps as f64,
        };
        self.value * capacity * seconds(Window { from, until })
    }
}

/// Returns the volume of each group's flows in `window`; if the group requests a load of the core, only flows between
/// racks.
fn sent(groups: &[GroupLoad], flows: &FlowList, fabric: &Fabric, window: Window) -> Vec<Volume> {
    let mut sent = vec![Volume::default(); groups.len()];
    for flow in flows {
        let place = groups.iter().position(|group| group.group == flow.group);
        let (Some(place), Some(bytes)) = (place, flow.size) else { continue };
        let [from, to] = [flow.src, flow.dst].map(|host| fabric.rack.get(host.index()));
        let crosses = from != to;
        if (window.from..window.until).contains(&flow.start) && (groups[place].of == LoadOf::Host || crosses)
        {
            sent[place].add(Volume::of_flow(bytes, &fabric.frame));
        }
    }
    sent
}

/// Returns the capacity to which the load refers, in bits per second.
fn capacity<'g>(
    groups: impl Iterator<Item = &'g GroupLoad>,
    (of, _): (LoadOf, Counts),
    fabric: &Fabric,
) -> f64 {
    if of == LoadOf::Core {
        return fabric.core_rate_bps as f64;
    }
    let mut links: Vec<(HostId, u64)> =
        groups.flat_map(|group| group.hosts.iter().map(|&host| (host, group.rate.bps()))).collect();
    links.sort_unstable();
    links.dedup();
    links.iter().map(|&(_, bps)| bps as f64).sum()
}

fn seconds(window: Window) -> f64 {
    window.until.since(window.from).0 as f64 / PS_PER_S as f64
}

#[cfg(test)]
mod tests {
    use priolane_core::endpoint::{FlowSpec, Weights};
    use priolane_core::ids::FlowId;
    use priolane_core::packet::Frame;

    use super::*;

    const WINDOW: Window = Window { from: Time(1_000_000_000), until: Time(2_000_000_000) };

    fn group(number: u16, value: f64, hosts: &[u16]) -> GroupLoad {
        GroupLoad {
            group: number,
            of: LoadOf::Host,
            counts: Counts::Payload,
            value,
            hosts: hosts.iter().map(|&host| HostId(host)).collect(),
            rate: Rate::from_gbps(10),
            active: Window { from: Time::ZERO, until: Time(u64::MAX) },
            may_use_strata: false,
        }
    }

    fn flow(group: u16, dst: u16, bytes: u64, start: Time) -> FlowSpec {
        FlowSpec {
            id: FlowId(0),
            src: HostId(0),
            dst: HostId(dst),
            size: Some(bytes),
            start,
            class: 0,
            deadline: None,
            group,
            entropy: 0,
            coflow: None,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
            attained: 0,
            connection: None,
        }
    }

    fn fabric() -> Fabric<'static> {
        Fabric {
            rack: &[0, 0, 1, 1],
            host_rate: Rate::from_gbps(10),
            core_rate_bps: 20_000_000_000,
            frame: Frame::ETHERNET,
        }
    }

    #[test]
    fn groups_that_ask_for_the_same_add_up() {
        // Two hosts of 10 Gbps carry 2.5 MB in 1 ms, of which groups of the same hosts request 0.3 and 0.1.
        let groups = [group(0, 0.3, &[0, 1]), group(2, 0.1, &[0, 1])];
        let inside = Time(1_500_000_000);
        let flows: FlowList = [
            flow(0, 1, 500_000, inside),
            flow(2, 3, 250_000, inside),
            // One of a group without a requested load, one before and one after the window.
            flow(1, 3, 1_000_000, inside),
            flow(0, 3, 1_000_000, Time(999_999_999)),
            flow(0, 3, 1_000_000, WINDOW.until),
        ]
        .into_iter()
        .collect();
        let [demand] = demands(&groups, &flows, &fabric(), WINDOW)[..] else {
            panic!("one way of measuring")
        };
        assert!((demand.asked - 0.4).abs() < 1e-12 && (demand.offered - 0.3).abs() < 1e-12, "{demand:?}");
    }

    #[test]
    fn a_load_is_measured_as_it_is_asked_for() {
        let inside = Time(1_500_000_000);
        let core = GroupLoad { of: LoadOf::Core, counts: Counts::Wire, ..group(0, 0.5, &[0]) };
        let flows: FlowList =
            [flow(0, 1, 1_000_000, inside), flow(0, 2, 146_000, inside)].into_iter().collect();
        let [demand] = demands(&[core], &flows, &fabric(), WINDOW)[..] else {
            panic!("one way of measuring")
        };
        // 100 full packets between racks, 1,538 B each on the wire; the core carries 2.5 MB in 1 ms.
        assert_eq!((demand.of, demand.counts, demand.asked), (LoadOf::Core, Counts::Wire, 0.5));
        let wire = Frame::ETHERNET.stream_wire(146_000) as f64;
        assert!((demand.offered - wire / 2.5e6).abs() < 1e-12 && wire > 150_000.0, "{demand:?}");
    }

    #[test]
    fn strata_are_advised_to_groups_that_may_use_them() {
        let demand = Demand { of: LoadOf::Host, counts: Counts::Payload, asked: 0.5, offered: 0.2 };
        let advised = |groups: &[GroupLoad]| {
            let texts = too_low(groups, &[demand]);
            assert_eq!(texts.len(), 1, "{texts:?}");
            texts[0].contains("strata")
        };
        let may = GroupLoad { may_use_strata: true, ..group(0, 0.5, &[0]) };
        // A group whose load is measured otherwise has no part in this one.
        let other = GroupLoad { of: LoadOf::Core, ..may.clone() };
        assert!(advised(&[group(1, 0.1, &[0]), may]));
        assert!(!advised(&[group(1, 0.1, &[0]), other]));
    }

    #[test]
    fn a_group_asks_only_while_it_is_active() {
        let half = GroupLoad {
            active: Window { from: Time(1_500_000_000), until: Time(u64::MAX) },
            ..group(0, 0.8, &[0])
        };
        let flows: FlowList = [flow(0, 1, 500_000, Time(1_600_000_000))].into_iter().collect();
        let [demand] = demands(&[half], &flows, &fabric(), WINDOW)[..] else {
            panic!("one way of measuring")
        };
        // One host carries 1.25 MB in 1 ms.
        assert!((demand.asked - 0.4).abs() < 1e-12 && (demand.offered - 0.4).abs() < 1e-12, "{demand:?}");
    }
}

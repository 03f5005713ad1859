//! Failures of links and switches: a static schedule.
//!
//! ```text
//! down:     a link is down in [from, until); a failed switch takes all its links down
//! packets:  a packet on the link during that interval is lost: sent before `until`, due to arrive after `from`
//! routes:   switches avoid the link in [from + reconvergence, until + reconvergence)
//! ```
//!
//! Both ends know the schedule, so a transmitter knows a packet's fate when it sends it, and no event is needed. A
//! port does not know that its link is down: until routes change, it sends at the link's rate, and all packets are
//! lost (docs/assumptions.md#dead-ports). Routes are computed before the run, one set for each instant at which they
//! change.

use std::collections::BTreeSet;

use priolane_core::ids::{LinkId, NodeId};
use priolane_core::units::{Span, Time};

use crate::model::topology::{Detour, Link, Problem, Topology};

/// The element that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedElement {
    /// A link, in both directions; either direction names it.
    Link(LinkId),
    /// A switch, with all its links.
    Switch(NodeId),
}

/// A failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The element that fails.
    pub cut: FailedElement,
    /// The time at which the element fails.
    pub from: Time,
    /// The time at which the element is repaired, after `from`; `None` for never.
    pub until: Option<Time>,
    /// Delay from failure or repair to the change of routes, above zero.
    pub reconvergence: Span,
}

/// A time interval in which a link is down: `from` included, `until` excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Down {
    /// The directed link.
    pub link: LinkId,
    /// The first instant.
    pub from: Time,
    /// The first instant after the interval; `Time::NEVER` if there is none.
    pub until: Time,
}

/// All failures of a run, and the routes around them.
#[derive(Clone, Debug, Default)]
pub struct Outages {
    /// Intervals by link, then time; those of a link do not touch.
    down: Vec<Down>,
    /// The times at which routes change, in order, with the new routes.
    routes: Vec<(Time, Detour)>,
}

impl Outages {
    /// Computes the outages that `failures` of links and switches of `topology` cause.
    ///
    /// # Errors
    /// If the routes around them would be too large to store.
    pub fn new(topology: &Topology, failures: &[Failure]) -> Result<Self, Problem> {
        let down = failures.iter().flat_map(|failure| {
            let until = failure.until.unwrap_or(Time::NEVER);
            links(topology, failure.cut).into_iter().map(move |link| Down { link, from: failure.from, until })
        });
        Ok(Self { down: merged(down.collect()), routes: routes(topology, failures)? })
    }

    /// Returns whether there are no failures.
    pub fn is_empty(&self) -> bool {
        self.down.is_empty()
    }

    /// Returns the intervals in which `link` is down, in order of time.
    pub(crate) fn of(&self, link: LinkId) -> &[Down] {
        let from = self.down.partition_point(|down| down.link < link);
        let count = self.down[from..].partition_point(|down| down.link == link);
        &self.down[from..from + count]
    }

    /// Returns when routes change, in order, with the new routes.
    pub(crate) fn routes(&self) -> &[(Time, Detour)] {
        &self.routes
    }

    /// Returns the name of an unreachable node, if a rack or host is cut off from the others forever.
    pub fn unreachable_node<'t>(&self, topology: &'t Topology) -> Option<&'t str> {
        let name = |node: NodeId| topology.names[node.index()].as_str();
        let for_ever = |down: &&Down| down.until == Time::NEVER;
        let of_host = |down: &Down| {
            let link = &topology.links[down.link.index()];
            [link.from, link.to].into_iter().find(|node| node.0 < topology.hosts)
        };
        if let Some(host) = self.down.iter().filter(for_ever).find_map(of_host) {
            return Some(name(host));
        }
        let (_, last) = self.routes.last()?;
        let rack = last.unreachable_rack(topology)?;
        Some(name(NodeId(topology.hosts + rack)))
    }
}

fn after(at: Time, span: Span) -> Time {
    Time(at.0.saturating_add(span.0))
}

/// Returns the directed links that `cut` takes down.
fn links(topology: &Topology, cut: FailedElement) -> Vec<LinkId> {
    match cut {
        FailedElement::Link(link) => vec![link, topology.reverse(link)],
        FailedElement::Switch(node) => {
            let ends_there = |(_, link): &(usize, &Link)| link.from == node || link.to == node;
            topology.links.iter().enumerate().filter(ends_there).map(|(id, _)| LinkId(id as u32)).collect()
        }
    }
}

/// Merges intervals of one link that overlap or touch.
fn merged(mut down: Vec<Down>) -> Vec<Down> {
    down.sort_unstable();
    let mut merged: Vec<Down> = Vec::with_capacity(down.len());
    for next in down {
        match merged.last_mut() {
            Some(last) if last.link == next.link && next.from <= last.until => {
                last.until = last.until.max(next.until);
            }
            _ => merged.push(next),
        }
    }
    merged
}

/// Computes the routes from each instant at which the set of avoided links changes.
fn routes(topology: &Topology, failures: &[Failure]) -> Result<Vec<(Time, Detour)>, Problem> {
    let span = |failure: &Failure| {
        let until = failure.until.map_or(Time::NEVER, |until| after(until, failure.reconvergence));
        (after(failure.from, failure.reconvergence), until)
    };
    let instants: BTreeSet<Time> =
        failures.iter().map(span).flat_map(|(from, until)| [from, until]).collect();
    let mut avoided = vec![false; topology.links.len()];
    let mut changes = Vec::new();
    for at in instants.into_iter().filter(|&at| at != Time::NEVER) {
        let mut now = vec![false; topology.links.len()];
        for failure in failures {
            let (from, until) = span(failure);
            if (from..until).contains(&at) {
                links(topology, failure.cut).iter().for_each(|link| now[link.index()] = true);
            }
        }
        if now != avoided {
            changes.push((at, topology.detour(&now)?));
            topology.check_detours(changes.len())?;
            avoided = now;
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use priolane_core::units::Rate;

    use super::*;
    use crate::model::topology::{LeafSpine, LinkSpec};

    fn leaf_spine() -> Topology {
        let link = LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(1));
        LeafSpine {
            leaves: 3,
            spines: 2,
            hosts_per_leaf: 2,
            host_link: link,
            fabric_link: link,
            links_per_pair: 1,
        }
        .build()
        .unwrap()
    }

    fn down(cut: FailedElement, from: u64, until: u64) -> Failure {
        Failure { cut, from: Time(from), until: Some(Time(until)), reconvergence: Span::from_us(10) }
    }

    #[test]
    fn outages_of_one_link_that_overlap_are_one_and_do_not_end_with_the_first_repair() {
        let topology = leaf_spine();
        let uplink = topology.link_between("leaf0", "spine1").unwrap();
        let spine = topology.find_node("spine1").unwrap();
        let failures = [
            down(FailedElement::Link(uplink), 10, 50),
            down(FailedElement::Link(uplink), 12, 20),
            down(FailedElement::Switch(spine), 30, 90),
            down(FailedElement::Link(uplink), 95, 99),
        ];
        let outages = Outages::new(&topology, &failures).unwrap();
        let times = |link| outages.of(link).iter().map(|d| (d.from.0, d.until.0)).collect::<Vec<_>>();
        assert_eq!(times(uplink), [(10, 90), (95, 99)]);
        assert_eq!(times(topology.reverse(uplink)), [(10, 90), (95, 99)]);
        assert_eq!(times(topology.link_between("leaf1", "spine1").unwrap()), [(30, 90)]);
        assert_eq!(times(LinkId(0)), []);
        // 10 us after each relevant change: one link, the whole spine, only the link, none; and again.
        let changes: Vec<u64> = outages.routes().iter().map(|(at, _)| at.0 - 10_000_000).collect();
        assert_eq!(changes, [10, 30, 90, 95, 99]);
    }
}

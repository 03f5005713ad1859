//! Immutable state shared by all nodes of a run.

use std::hint::select_unpredictable;
use std::sync::Arc;

use priolane_core::ids::{HostId, LinkId, NodeId};
use priolane_core::packet::Header;
use priolane_core::prefetch::prefetch;
use priolane_core::rng::{CounterRng, Purpose, Stream};
use priolane_core::units::{Span, Time};

use super::path_selector::{Drill, EqualCostPorts, PathSelector, RoundRobinState, Visit};
use super::transmitter::Transmitter;
use crate::device::event_sink::Ingress;
use crate::model::partition::Partition;
use crate::model::scenario::Scenario;
use crate::model::topology::{NextHops, PathChoice, Pick, Spray, Topology};
use crate::observe::phase::{Phase, PhaseMarker};

/// The scenario, with forwarding tables and the ends of all links.
#[derive(Debug)]
pub(crate) struct Fabric<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) partition: Partition,
    /// The times at which forwarding changes, in order, starting at time zero.
    changes: Vec<Time>,
    /// Forwarding tables from each of `changes`.
    forwarding: Vec<Forwarding>,
    ingress_of: Vec<Ingress>,
    /// Egress links of each node.
    pub(crate) egress_links: Vec<Vec<LinkId>>,
    /// Shows a profiler what the run is doing.
    pub(crate) phase: Option<Arc<PhaseMarker>>,
}

impl<'a> Fabric<'a> {
    pub(crate) fn new(scenario: &'a Scenario, partition: Partition) -> Self {
        let topology = &scenario.topology;
        let mut egress_links = vec![Vec::new(); topology.nodes()];
        let mut ingress_links = vec![Vec::new(); topology.nodes()];
        let mut egress_of = Vec::with_capacity(topology.links.len());
        for (i, link) in topology.links.iter().enumerate() {
            let id = LinkId(i as u32);
            egress_of.push(egress_links[link.from.index()].len() as u32);
            egress_links[link.from.index()].push(id);
            ingress_links[link.to.index()].push(id);
        }
        let mut ingress_of = vec![Ingress::new(NodeId(0), 0, 0); topology.links.len()];
        for (node, links) in ingress_links.iter().enumerate() {
            for (rank, link) in links.iter().enumerate() {
                let node = NodeId(node as u32);
                ingress_of[link.index()] = Ingress::new(node, rank as u32, partition.part_of(node));
            }
        }
        let mut changes = vec![Time::ZERO];
        let mut forwarding =
            vec![Forwarding::new(topology, (&topology.next_hops, &topology.choices), &egress_of)];
        for (at, detour) in scenario.outages.routes() {
            changes.push(*at);
            forwarding.push(Forwarding::new(topology, (&detour.next_hops, &detour.choices), &egress_of));
        }
        Self { scenario, partition, changes, forwarding, ingress_of, egress_links, phase: None }
    }

    /// Shows a profiler what the run does from now on.
    #[inline]
    pub(crate) fn enter(&self, phase: Phase) {
        if let Some(marker) = &self.phase {
            marker.enter(phase);
        }
    }

    /// Returns the forwarding tables if they never change.
    #[inline]
    pub(crate) fn only_forwarding(&self) -> Option<&Forwarding> {
        if let [only] = &self.forwarding[..] { Some(only) } else { None }
    }

    /// Returns the forwarding tables at `now`, and when they change next.
    #[inline]
    pub(crate) fn forwarding(&self, now: Time) -> (&Forwarding, Time) {
        if let [only] = &self.forwarding[..] {
            return (only, Time::NEVER);
        }
        let after = self.changes.partition_point(|&change| change <= now);
        (&self.forwarding[after - 1], self.changes.get(after).copied().unwrap_or(Time::NEVER))
    }

    /// Returns whether links may fail, so that a packet may have no route.
    pub(crate) fn links_fail(&self) -> bool {
        !self.scenario.outages.is_empty()
    }

    /// Returns the index of a packet's port among the egress ports of `switch`; [`NO_ROUTE`] if its destination is
    /// unreachable. A switch that sprays round robin calls this once per packet, in order of arrival. One that selects
    /// by backlog (DRILL) uses [`Self::equal_cost_ports`] instead.
    ///
    /// No processor can predict whether the destination host is attached to this switch, or whether the switch has a
    /// choice. The lookup therefore has no branch on either.
    // Inlined as measured: a switch looks up all arrivals of a window in one loop.
    #[inline(always)]
    pub(crate) fn next_port(
        &self,
        forwarding: &Forwarding,
        switch: NodeId,
        (visit, header): (Visit, &Header),
        chooser: &mut PathSelector,
    ) -> u32 {
        let route_lookup = self.route_lookup(forwarding, switch);
        let &NextHops { first, count } = route_lookup.hops(header);
        let pick = match chooser {
            PathSelector::ByEntropy(pick) => pick.of(header.entropy, count),
            PathSelector::Random(rng) => drawn(*rng, visit, count),
            PathSelector::RoundRobin(turns) if count > 1 => {
                turns.next(NextHops { first, count }, header.kind)
            }
            PathSelector::RoundRobin(_) | PathSelector::Drill(_) => 0,
        };
        forwarding.choices[(first + pick) as usize]
    }

    /// Returns the tables that `switch` uses to look up routes.
    #[inline]
    pub(crate) fn route_lookup<'f>(&'f self, forwarding: &'f Forwarding, switch: NodeId) -> RouteLookup<'f> {
        let topology = &self.scenario.topology;
        let here = switch.0 - topology.hosts;
        let Forwarding { equal_cost_ports, to_hosts, choices } = forwarding;
        RouteLookup {
            rack: &topology.rack,
            here,
            across: here * topology.racks,
            to_hosts: *to_hosts,
            equal_cost_ports,
            choices,
        }
    }

    /// Returns the ports of `switch`, at least one, among which a packet's port is selected at `now`.
    pub(crate) fn equal_cost_ports(&self, now: Time, switch: NodeId, header: &Header) -> EqualCostPorts<'_> {
        let (forwarding, _) = self.forwarding(now);
        let &NextHops { first, count } = self.route_lookup(forwarding, switch).hops(header);
        EqualCostPorts { run: first, ports: &forwarding.choices[first as usize..(first + count) as usize] }
    }

    /// Returns the path selector of `switch`.
    pub(crate) fn chooser(&self, switch: NodeId) -> PathSelector {
        let spray = match self.scenario.topology.path_choice {
            PathChoice::Hashed | PathChoice::Pinned | PathChoice::Symmetric => {
                return PathSelector::ByEntropy(self.scenario.topology.pick(switch));
            }
            PathChoice::Sprayed(spray) => spray,
        };
        let (seed, entity) = (self.scenario.seed, u64::from(switch.0));
        let mut rng = Stream::new(seed, Purpose::Paths, entity);
        match spray {
            Spray::Random => PathSelector::Random(CounterRng::new(seed, Purpose::Paths, entity)),
            Spray::RoundRobin => {
                PathSelector::RoundRobin(Box::new(RoundRobinState::new(self.runs(switch), &mut rng)))
            }
            Spray::Drill => {
                let runs = self.runs(switch).into_iter().map(|hops| hops.first).collect();
                PathSelector::Drill(Box::new(Drill::new(runs, rng)))
            }
        }
    }

    /// Returns the sets of equal-cost ports of `switch` at any time, without duplicates.
    fn runs(&self, switch: NodeId) -> Vec<NextHops> {
        let Topology { hosts, racks, .. } = self.scenario.topology;
        let row = ((switch.0 - hosts) * racks) as usize..((switch.0 - hosts + 1) * racks) as usize;
        let mut runs: Vec<NextHops> = Vec::new();
        for hops in self.forwarding.iter().flat_map(|forwarding| &forwarding.equal_cost_ports[row.clone()]) {
            if hops.count > 1 && runs.iter().all(|run| run.first != hops.first) {
                runs.push(*hops);
            }
        }
        runs
    }

    /// Returns the ingress of `link`.
    pub(crate) fn ingress(&self, link: LinkId) -> Ingress {
        self.ingress_of[link.index()]
    }

    /// Returns the transmitter of `link`.
    pub(crate) fn transmitter(&self, link: LinkId) -> Transmitter {
        let spec = &self.scenario.topology.links[link.index()];
        let ends_at_host = spec.to.0 < self.scenario.topology.hosts;
        let extra = if ends_at_host { self.scenario.host_delay } else { Span::ZERO };
        Transmitter::new(self.scenario, link, self.ingress_of[link.index()], extra)
    }
}

/// Returns the path, one of `count`, of a packet that is sprayed at random.
#[inline]
fn drawn(rng: CounterRng, visit: Visit, count: u32) -> u32 {
    rng.below(visit.counter(), u64::from(count)) as u32
}

/// The tables of a switch for route lookups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteLookup<'f> {
    /// The rack of each host.
    rack: &'f [u32],
    here: u32,
    /// Start of the routes to racks; `to_hosts` is the start of the routes to the hosts of this switch.
    across: u32,
    to_hosts: u32,
    equal_cost_ports: &'f [NextHops],
    choices: &'f [u32],
}

impl RouteLookup<'_> {
    /// Returns the range in `choices` of the ports of a packet's route.
    ///
    /// No processor can predict whether the destination host is attached to this switch, so both candidates are
    /// computed before the selection.
    #[inline(always)]
    fn hops(&self, header: &Header) -> &NextHops {
        let rack = self.rack[header.dst.index()];
        let (down, across) = (self.to_hosts + u32::from(header.dst.0), self.across + rack);
        &self.equal_cost_ports[select_unpredictable(rack == self.here, down, across) as usize]
    }

    /// Prefetches the route of a packet.
    #[inline]
    pub(crate) fn prefetch(&self, header: &Header) {
        prefetch(self.hops(header));
    }

    /// Returns the port of a packet, selected by entropy.
    #[inline(always)]
    pub(crate) fn port(&self, header: &Header, pick: Pick) -> u32 {
        let &NextHops { first, count } = self.hops(header);
        self.choices[(first + pick.of(header.entropy, count)) as usize]
    }

    /// Returns the port of a packet that is sprayed at random.
    #[inline(always)]
    pub(crate) fn sprayed_port(&self, header: &Header, rng: CounterRng, visit: Visit) -> u32 {
        let &NextHops { first, count } = self.hops(header);
        self.choices[(first + drawn(rng, visit, count)) as usize]
    }
}

/// The index that means no port.
pub(crate) const NO_ROUTE: u32 = u32::MAX;

/// The topology's next hops, as indices of the egress ports of each switch.
#[derive(Debug)]
pub(crate) struct Forwarding {
    /// Ranges in `choices` of the ports of each route, at least one: by switch and rack, then by host for the switch
    /// of the host.
    equal_cost_ports: Vec<NextHops>,
    /// Start of the routes to hosts.
    to_hosts: u32,
    /// [`NO_ROUTE`], then each single port for routes without a choice, then the ports of routes with a choice.
    choices: Vec<u32>,
}

impl Forwarding {
    /// Creates the tables; `egress_of` is the index of each link among those of the node it leaves.
    fn new(topology: &Topology, routes: (&[NextHops], &[LinkId]), egress_of: &[u32]) -> Self {
        let (next_hops, with_choice) = routes;
        let port = |link: LinkId| egress_of[link.index()];
        let ports = egress_of.iter().max().map_or(0, |&last| last + 1);
        let mut choices: Vec<u32> = std::iter::once(NO_ROUTE).chain(0..ports).collect();
        let only = |link: LinkId| NextHops { first: 1 + port(link), count: 1 };
        let resolve = |&NextHops { first, count }: &NextHops| match count {
            0 => NextHops { first: 0, count: 1 },
            1 => only(LinkId(first)),
            _ => NextHops { first: 1 + ports + first, count },
        };
        let to_host = |host: u32| only(topology.downlink(HostId(host as u16)));
        let equal_cost_ports =
            next_hops.iter().map(resolve).chain((0..topology.hosts).map(to_host)).collect();
        choices.extend(with_choice.iter().map(|&link| port(link)));
        Self { equal_cost_ports, to_hosts: next_hops.len() as u32, choices }
    }
}

//! Failures that leave every two hosts a path: single links between switches, and single switches without hosts.
//!
//! Switches are of tiers: those with hosts are of tier 0, and others are one tier above the lowest of their neighbours.
//! Links are of one kind if their tiers and rates are the same. One link of each kind fails, and some switches of each
//! tier: others of the kind differ by the traffic alone.

use std::collections::{BTreeMap, VecDeque};

use priolane_sim::topology::Topology;

/// The most switches that fail, of all tiers together.
const MOST_SWITCHES: usize = 6;
/// The links of a kind that are looked at until the loss of one leaves every two hosts a path.
const MOST_TRIED: usize = 8;

/// The switches of a network and the links between them.
struct Fabric {
    /// By switch, the switch at the other end of each of its links.
    neighbours: Vec<Vec<usize>>,
    /// By switch, its tier. A switch that hosts cannot reach has the largest number.
    tiers: Vec<usize>,
}

impl Fabric {
    fn of(topology: &Topology) -> Self {
        let count = topology.switches as usize;
        let mut neighbours = vec![Vec::new(); count];
        for (from, to, _) in joins(topology) {
            neighbours[from].push(to);
        }
        let mut tiers = vec![usize::MAX; count];
        for &rack in &topology.rack {
            tiers[rack as usize] = 0;
        }
        let mut waiting: VecDeque<usize> = (0..count).filter(|&switch| tiers[switch] == 0).collect();
        while let Some(switch) = waiting.pop_front() {
            for &next in &neighbours[switch] {
                if tiers[next] == usize::MAX {
                    tiers[next] = tiers[switch] + 1;
                    waiting.push_back(next);
                }
            }
        }
        Self { neighbours, tiers }
    }

    /// Returns whether every two switches with hosts have a path on which `is_lost` is false for each link.
    fn is_connected(&self, is_lost: impl Fn(usize, usize) -> bool) -> bool {
        let Some(first) = self.tiers.iter().position(|&tier| tier == 0) else { return true };
        let mut reached = vec![false; self.tiers.len()];
        reached[first] = true;
        let mut waiting = vec![first];
        while let Some(switch) = waiting.pop() {
            for &next in &self.neighbours[switch] {
                if !reached[next] && !is_lost(switch, next) {
                    reached[next] = true;
                    waiting.push(next);
                }
            }
        }
        self.tiers.iter().zip(reached).all(|(&tier, reached)| tier > 0 || reached)
    }

    fn survives_link(&self, one: usize, other: usize) -> bool {
        // A link beside a parallel one is no loss of a connection.
        let is_parallel = self.neighbours[one].iter().filter(|&&next| next == other).count() > 1;
        is_parallel || self.is_connected(|from, to| (from, to) == (one, other) || (from, to) == (other, one))
    }

    fn survives_switch(&self, lost: usize) -> bool {
        self.is_connected(|_, to| to == lost)
    }
}

/// Returns the links between switches: both ends as numbers of switches, and the rate in bits per second.
pub(super) fn joins(topology: &Topology) -> impl Iterator<Item = (usize, usize, u64)> {
    let hosts = topology.hosts;
    let ends = topology.links.iter().filter(move |link| link.from.0 >= hosts && link.to.0 >= hosts);
    ends.map(move |link| ((link.from.0 - hosts) as usize, (link.to.0 - hosts) as usize, link.rate.bps()))
}

/// Returns the failures that leave every two hosts a path, as events name them: a link of each kind, then switches of
/// each tier.
pub(super) fn survived(topology: &Topology) -> Vec<String> {
    let fabric = Fabric::of(topology);
    let name = |switch: usize| topology.names[topology.hosts as usize + switch].as_str();
    let mut kinds: BTreeMap<(usize, usize, u64), Vec<(usize, usize)>> = BTreeMap::new();
    for (from, to, rate) in joins(topology) {
        let (low, high) = (fabric.tiers[from], fabric.tiers[to]);
        if (low, from) < (high, to) {
            kinds.entry((low, high, rate)).or_default().push((from, to));
        }
    }
    let first = |links: &Vec<(usize, usize)>| {
        links.iter().take(MOST_TRIED).find(|&&(from, to)| fabric.survives_link(from, to)).copied()
    };
    let links = kinds.values().filter_map(first);
    let mut found: Vec<String> =
        links.map(|(from, to)| format!("link:{}-{}", name(from), name(to))).collect();
    let above = fabric.tiers.iter().copied().filter(|&tier| tier != usize::MAX).max().unwrap_or(0);
    for tier in 1..=above {
        let of = fabric.tiers.iter().enumerate().filter(|&(_, &own)| own == tier).map(|(switch, _)| switch);
        let kept = of.take(MOST_TRIED).filter(|&switch| fabric.survives_switch(switch));
        found.extend(kept.take(MOST_SWITCHES / above).map(|switch| format!("switch:{}", name(switch))));
    }
    found
}

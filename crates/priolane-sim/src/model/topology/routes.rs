//! Equal-cost shortest paths between switches, for any graph.
//!
//! For each rack (a switch with hosts) `r`, a breadth-first search gives every switch its distance `d(s)` in links.
//! The next hops of `s` towards `r` are its links to neighbours at `d(s) - 1`, in order of link ids, parallel links
//! individually. A single next hop is stored in the entry; several are stored as a run of `choices`, and equal runs
//! are stored once. Length is counted in links, whatever their rates and delays (docs/assumptions.md#equal-cost).

use std::collections::VecDeque;

use priolane_core::ids::LinkId;
use rustc_hash::FxHashMap;

use super::error::Problem;
use super::limits::{MAX_CHOICES, MAX_ROUTING_WORK, MAX_TABLE};
use super::network::{Link, NextHops, Topology};

const FAR: u32 = u32::MAX;

/// The links between switches, by the switch they leave.
#[derive(Debug)]
pub(crate) struct SwitchLinks {
    /// The start of each switch's links in `out`, with one more entry at the end.
    start: Vec<u32>,
    /// Links with the switch they enter, by switch, then by link.
    out: Vec<(LinkId, u32)>,
}

impl SwitchLinks {
    /// Collects those of `links` that neither leave nor enter a node below `hosts`.
    pub(crate) fn new(hosts: u32, switches: u32, links: &[Link]) -> Self {
        Self::without(hosts, switches, links, &[])
    }

    /// As [`Self::new`], without the links for which `avoided` is true.
    fn without(hosts: u32, switches: u32, links: &[Link], avoided: &[bool]) -> Self {
        let is_avoided = |id: usize| avoided.get(id).copied().unwrap_or(false);
        let inner = || {
            let all = links.iter().enumerate();
            all.filter(|&(id, l)| l.from.0 >= hosts && l.to.0 >= hosts && !is_avoided(id))
        };
        let mut start = vec![0u32; switches as usize + 1];
        for (_, link) in inner() {
            start[(link.from.0 - hosts) as usize + 1] += 1;
        }
        for s in 1..start.len() {
            start[s] += start[s - 1];
        }
        let mut next = start.clone();
        let mut out = vec![(LinkId(0), 0); *start.last().unwrap_or(&0) as usize];
        for (id, link) in inner() {
            let slot = &mut next[(link.from.0 - hosts) as usize];
            out[*slot as usize] = (LinkId(id as u32), link.to.0 - hosts);
            *slot += 1;
        }
        Self { start, out }
    }

    fn switches(&self) -> usize {
        self.start.len() - 1
    }

    fn of(&self, switch: usize) -> &[(LinkId, u32)] {
        &self.out[self.start[switch] as usize..self.start[switch + 1] as usize]
    }

    /// Computes the number of links between `root` and each switch.
    fn distances(&self, root: u32, distance: &mut [u32], queue: &mut VecDeque<u32>) {
        distance.fill(FAR);
        distance[root as usize] = 0;
        queue.push_back(root);
        while let Some(switch) = queue.pop_front() {
            let beyond = distance[switch as usize] + 1;
            for &(_, neighbour) in self.of(switch as usize) {
                if distance[neighbour as usize] == FAR {
                    distance[neighbour as usize] = beyond;
                    queue.push_back(neighbour);
                }
            }
        }
    }

    /// Returns, by switch, the number of links to the nearest of switches `0..racks`, at most 255.
    pub(crate) fn tiers(&self, racks: u32) -> Vec<u8> {
        let mut tiers = vec![u8::MAX; self.switches()];
        tiers[..racks as usize].fill(0);
        let mut queue: VecDeque<u32> = (0..racks).collect();
        while let Some(switch) = queue.pop_front() {
            let beyond = tiers[switch as usize].saturating_add(1);
            for &(_, neighbour) in self.of(switch as usize) {
                if beyond < tiers[neighbour as usize] {
                    tiers[neighbour as usize] = beyond;
                    queue.push_back(neighbour);
                }
            }
        }
        tiers
    }

    /// Returns the first switch that is unreachable from switch `root`.
    pub(crate) fn unreachable_from(&self, root: u32) -> Option<u32> {
        let mut distance = vec![FAR; self.switches()];
        self.distances(root, &mut distance, &mut VecDeque::new());
        distance.iter().position(|&d| d == FAR).map(|s| s as u32)
    }
}

/// The forwarding tables of all switches.
#[derive(Debug)]
pub(crate) struct Routes {
    /// `next_hops[switch * racks + rack]`.
    pub(crate) next_hops: Vec<NextHops>,
    /// The runs of entries with several choices.
    pub(crate) choices: Vec<LinkId>,
}

impl Routes {
    /// Computes the shortest paths to switches `0..racks`; fails if the tables or the search would be too large.
    pub(crate) fn compute(graph: &SwitchLinks, racks: u32) -> Result<Self, Problem> {
        let switches = graph.switches();
        let (table, work) =
            (switches as u64 * u64::from(racks), graph.out.len() as u64 / 2 * u64::from(racks));
        if table > MAX_TABLE || work > MAX_ROUTING_WORK {
            let links = graph.out.len() as u64 / 2;
            return Err(Problem::TooLarge { switches: switches as u64, racks: u64::from(racks), links });
        }
        let mut next_hops = vec![NextHops::default(); table as usize];
        let mut runs = Runs::default();
        let mut distance = vec![FAR; switches];
        let (mut queue, mut run) = (VecDeque::new(), Vec::new());
        for rack in 0..racks {
            graph.distances(rack, &mut distance, &mut queue);
            for (switch, &here) in distance.iter().enumerate().filter(|&(_, &d)| d != FAR) {
                run.clear();
                let nearer = |&&(_, n): &&(LinkId, u32)| here > 0 && distance[n as usize] == here - 1;
                run.extend(graph.of(switch).iter().filter(nearer).map(|&(link, _)| link));
                next_hops[switch * racks as usize + rack as usize] = runs.entry(&run)?;
            }
        }
        Ok(Self { next_hops, choices: runs.choices })
    }
}

/// Forwarding tables that avoid some links, in the format of [`Topology`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Detour {
    /// Next hops by switch (from 0) and rack.
    pub next_hops: Vec<NextHops>,
    /// Egress links that `next_hops` refers to.
    pub choices: Vec<LinkId>,
}

impl Detour {
    /// Returns the first rack that is unreachable from another rack.
    pub(crate) fn unreachable_rack(&self, topology: &Topology) -> Option<u32> {
        (1..topology.racks).find(|&rack| self.next_hops[rack as usize].count == 0)
    }
}

impl Topology {
    /// Computes the routes that avoid the links for which `avoided`, by `LinkId`, is true. Unreachable racks have no
    /// next hops.
    ///
    /// # Errors
    /// If the tables would be too large.
    pub(crate) fn detour(&self, avoided: &[bool]) -> Result<Detour, Problem> {
        let graph = SwitchLinks::without(self.hosts, self.switches, &self.links, avoided);
        let Routes { next_hops, choices } = Routes::compute(&graph, self.racks)?;
        Ok(Detour { next_hops, choices })
    }

    /// Checks that this number of detours can be stored.
    pub(crate) fn check_detours(&self, count: usize) -> Result<(), Problem> {
        let table = u64::from(self.switches) * u64::from(self.racks);
        if table * count as u64 <= MAX_DETOUR_ENTRIES {
            return Ok(());
        }
        let links = self.links.len() as u64 / 2;
        Err(Problem::TooLarge { switches: self.switches.into(), racks: self.racks.into(), links })
    }
}

/// Maximum entries of the forwarding tables of all detours together (8 B each).
const MAX_DETOUR_ENTRIES: u64 = 1 << 26;

/// Interned runs of choices.
#[derive(Default)]
struct Runs {
    choices: Vec<LinkId>,
    first: FxHashMap<Box<[LinkId]>, u32>,
}

impl Runs {
    fn entry(&mut self, run: &[LinkId]) -> Result<NextHops, Problem> {
        let count = run.len() as u32;
        let first = match *run {
            [] => 0,
            [link] => link.0,
            _ => self.start(run)?,
        };
        Ok(NextHops { first, count })
    }

    fn start(&mut self, run: &[LinkId]) -> Result<u32, Problem> {
        if let Some(&first) = self.first.get(run) {
            return Ok(first);
        }
        if self.choices.len() + run.len() > MAX_CHOICES {
            return Err(Problem::TooManyChoices);
        }
        let first = self.choices.len() as u32;
        self.choices.extend_from_slice(run);
        self.first.insert(run.into(), first);
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::rng::{Purpose, Stream};
    use priolane_core::units::{Rate, Span};

    use super::*;
    use crate::model::topology::{FatTree, LinkSpec};

    fn ids(ids: &[u32]) -> Vec<LinkId> {
        ids.iter().copied().map(LinkId).collect()
    }

    #[test]
    fn equal_runs_are_stored_once_and_single_choices_not_at_all() {
        let mut runs = Runs::default();
        let mut entry = |run: &[u32]| runs.entry(&ids(run)).unwrap();
        assert_eq!(entry(&[]), NextHops { first: 0, count: 0 });
        assert_eq!(entry(&[9]), NextHops { first: 9, count: 1 });
        assert_eq!(entry(&[4, 6]), NextHops { first: 0, count: 2 });
        assert_eq!(entry(&[4, 6, 8]), NextHops { first: 2, count: 3 });
        assert_eq!(entry(&[4, 6]), NextHops { first: 0, count: 2 });
        assert_eq!(runs.choices, ids(&[4, 6, 4, 6, 8]));
    }

    /// The links of `switch` that begin a shortest path to `rack`, by definition: relaxing all links until nothing changes.
    fn shortest(topology: &Topology, avoided: &[bool], rack: u32) -> Vec<Vec<LinkId>> {
        let (hosts, switches) = (topology.hosts, topology.switches as usize);
        let usable: Vec<(LinkId, usize, usize)> = (0..topology.links.len())
            .filter(|&id| !avoided[id])
            .map(|id| (id, &topology.links[id]))
            .filter(|(_, link)| link.from.0 >= hosts && link.to.0 >= hosts)
            .map(|(id, l)| (LinkId(id as u32), (l.from.0 - hosts) as usize, (l.to.0 - hosts) as usize))
            .collect();
        let mut distance: Vec<Option<u32>> = vec![None; switches];
        distance[rack as usize] = Some(0);
        for _ in 0..switches {
            for &(_, from, to) in &usable {
                let over = distance[to].map(|d| d + 1);
                distance[from] = distance[from].into_iter().chain(over).min();
            }
        }
        let first = |switch: usize| {
            let nearer =
                |to: usize| distance[switch].is_some() && distance[to].map(|d| d + 1) == distance[switch];
            usable.iter().filter(|&&(_, from, to)| from == switch && nearer(to)).map(|l| l.0).collect()
        };
        (0..switches).map(first).collect()
    }

    #[test]
    fn detours_are_the_shortest_paths_without_the_links_that_are_avoided() {
        let link = LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(1));
        let tree = FatTree { k: 4, host_link: link, fabric_link: link }.build().unwrap();
        let mut draw = Stream::new(9, Purpose::Ties, 0);
        let mut cut_off = 0;
        for round in 0..40 {
            let share = [0.0, 0.1, 0.3, 0.6][round % 4];
            let mut avoided = vec![false; tree.links.len()];
            for link in (0..tree.links.len() as u32).map(LinkId) {
                if draw.chance(share) {
                    avoided[link.index()] = true;
                    avoided[tree.reverse(link).index()] = true;
                }
            }
            let detour = tree.detour(&avoided).unwrap();
            for rack in 0..tree.racks {
                for (switch, expected) in shortest(&tree, &avoided, rack).into_iter().enumerate() {
                    let NextHops { first, count } =
                        detour.next_hops[switch * tree.racks as usize + rack as usize];
                    let found = match count {
                        0 => Vec::new(),
                        1 => vec![LinkId(first)],
                        _ => detour.choices[first as usize..(first + count) as usize].to_vec(),
                    };
                    assert_eq!(found, expected, "switch {switch} to rack {rack}");
                }
            }
            let from_first = |&rack: &u32| shortest(&tree, &avoided, rack)[0].is_empty();
            let unreachable = (1..tree.racks).find(from_first);
            assert_eq!(detour.unreachable_rack(&tree), unreachable);
            cut_off += usize::from(unreachable.is_some());
        }
        assert!((3..30).contains(&cut_off), "{cut_off}");
    }

    #[test]
    fn detours_stop_at_the_limit_of_their_tables() {
        let link = LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(1));
        let tree = FatTree { k: 4, host_link: link, fabric_link: link }.build().unwrap();
        // 20 switches and 8 racks: a table has 160 entries, and 419,430 tables have 67,108,800 of the 67,108,864.
        assert!(tree.check_detours(419_430).is_ok());
        let refused = tree.check_detours(419_431);
        assert_eq!(refused, Err(Problem::TooLarge { switches: 20, racks: 8, links: 48 }));
    }

    #[test]
    fn choices_stop_at_their_limit() {
        let mut runs = Runs { choices: vec![LinkId(0); MAX_CHOICES - 2], ..Runs::default() };
        assert!(runs.entry(&ids(&[1, 2])).is_ok());
        assert_eq!(runs.entry(&ids(&[3, 4])), Err(Problem::TooManyChoices));
        assert!(runs.entry(&ids(&[1, 2])).is_ok() && runs.entry(&ids(&[3])).is_ok());
    }
}

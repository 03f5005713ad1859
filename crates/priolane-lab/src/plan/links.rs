//! The load that groups with a stated load offer to each link, on the wire and before any flow is drawn.
//!
//! ```text
//! link of a sender      what its host sends
//! links out of a rack   what hosts of the rack send to other racks, over all these links together
//! link of a receiver    senders choose with equal probability among the receivers in their reach, other than themselves
//! links into a rack     what its receivers get from other racks, over all these links together
//! ```
//!
//! Loads of groups that are active at the same time add up.

use priolane_core::ids::HostId;
use priolane_core::units::Span;
use priolane_sim::topology::{self, Topology};
use priolane_source::InputError;
use priolane_workload::{Counts, DestinationScope, Load, LoadOf, OpenLoop, mean_bytes};

use super::tier::Tier;
use super::traffic;
use crate::experiment::{Active, Experiment, Group};

/// A link, or the links out of a rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) tier: Tier,
    /// Number of the host, or of the rack.
    pub(super) number: u32,
}

/// The places of the links of a network in lists: senders, receivers, racks, and the links into racks, in order.
#[derive(Clone, Copy, Debug)]
struct Places {
    hosts: usize,
    racks: usize,
}

impl Places {
    fn count(self) -> usize {
        2 * (self.hosts + self.racks)
    }

    fn receiver(self, host: usize) -> usize {
        self.hosts + host
    }

    fn out_of(self, rack: usize) -> usize {
        2 * self.hosts + rack
    }

    fn into(self, rack: usize) -> usize {
        2 * self.hosts + self.racks + rack
    }

    /// Returns the link at a place.
    fn link(self, place: usize) -> Link {
        let (tier, first) = match place {
            place if place < self.receiver(0) => (Tier::Senders, 0),
            place if place < self.out_of(0) => (Tier::Receiver, self.receiver(0)),
            place if place < self.into(0) => (Tier::Core, self.out_of(0)),
            _ => (Tier::IntoRack, self.into(0)),
        };
        Link { tier, number: (place - first) as u32 }
    }

    /// Returns the place of the other direction of a link.
    fn way_back(self, place: usize) -> usize {
        let Link { tier, number } = self.link(place);
        let number = number as usize;
        match tier {
            Tier::Senders => self.receiver(number),
            Tier::Receiver => number,
            Tier::Core => self.into(number),
            Tier::IntoRack => self.out_of(number),
        }
    }
}

/// The load that a group offers to each link.
#[derive(Clone, Debug)]
struct GroupLinks {
    /// Number of the group in the experiment.
    number: usize,
    active: Option<Active>,
    /// Bits per second by place (see [`Places`]).
    bps: Vec<f64>,
}

/// The load that all groups with a load offer to each link.
#[derive(Clone, Debug)]
pub(super) struct LinkLoads {
    groups: Vec<GroupLinks>,
    places: Places,
    /// Bits per second that each link carries, by place.
    capacity: Vec<f64>,
    /// Number of links by place: several out of a rack and into it, else 1.
    count: Vec<u32>,
    /// Whether links out of racks lead to other racks, and not to switches between them.
    pub(super) join_racks: bool,
}

/// The most loaded link of a group's flows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MostLoaded {
    pub(super) link: Link,
    /// Load on the wire of all groups.
    pub(super) load: f64,
    /// Load on the wire of the group alone.
    pub(super) own: f64,
    /// Bits per second that the link carries.
    pub(super) rate_bps: f64,
    /// Numbers of the groups that offer it.
    pub(super) by: Vec<usize>,
}

impl LinkLoads {
    /// Returns what the groups of an experiment offer.
    ///
    /// # Errors
    /// Returns an error if a group names a host that does not exist.
    pub(super) fn of(experiment: &Experiment, topology: &Topology) -> Result<Self, InputError> {
        let hosts = topology.hosts as usize;
        let of_host = |host: usize, receives: usize| topology.links[2 * host + receives].rate.bps() as f64;
        let mut capacity: Vec<f64> = (0..hosts).map(|host| of_host(host, 0)).collect();
        capacity.extend((0..hosts).map(|host| of_host(host, 1)));
        let places = Places { hosts, racks: topology.racks as usize };
        capacity.resize(places.count(), 0.0);
        let mut count = vec![1; 2 * hosts];
        count.resize(places.count(), 0);
        let racks = topology.hosts..topology.hosts + topology.racks;
        let rack = |node: u32| racks.contains(&node).then(|| (node - topology.hosts) as usize);
        let mut add = |place: usize, link: &topology::Link| {
            capacity[place] += link.rate.bps() as f64;
            count[place] += 1;
        };
        let mut join_racks = false;
        let is_of_switches =
            |link: &&topology::Link| link.from.0 >= topology.hosts && link.to.0 >= topology.hosts;
        for link in topology.links.iter().filter(is_of_switches) {
            let (from, to) = (rack(link.from.0), rack(link.to.0));
            if let Some(from) = from {
                add(places.out_of(from), link);
            }
            if let Some(to) = to {
                add(places.into(to), link);
            }
            join_racks |= from.is_some() && to.is_some();
        }
        let mut groups = Vec::new();
        for (number, group) in experiment.groups.iter().enumerate() {
            let Some((load, reach)) = group.app.part().load() else { continue };
            let pairs = Pairs::of(experiment, topology, group, reach)?;
            let on_wire = on_wire(experiment, group.app.part().open_loop());
            let bps = pairs.offer(topology, pairs.by_sender(topology, load, on_wire));
            groups.push(GroupLinks { number, active: group.flows.active, bps });
        }
        Ok(Self { groups, places, capacity, count, join_racks })
    }

    /// Returns what all groups that are active at time 0 offer to each link, in bits per second by place.
    pub(super) fn at_start(&self) -> Vec<f64> {
        let mut bps = vec![0.0; self.capacity.len()];
        for group in self.groups.iter().filter(|group| is_active(group.active, Span::ZERO)) {
            bps.iter_mut().zip(&group.bps).for_each(|(bps, own)| *bps += own);
        }
        bps
    }

    /// Returns the load of each link by place that is offered this many bits per second, and `acks` bits on the way back for
    /// each of them.
    pub(super) fn with_acks(&self, bps: &[f64], acks: f64) -> Vec<f64> {
        let load = |place: usize| {
            let all = bps[place] + acks * bps[self.places.way_back(place)];
            if all == 0.0 { 0.0 } else { all / self.capacity[place] }
        };
        (0..bps.len()).map(load).collect()
    }

    /// Returns the place of the link on which a host receives.
    pub(super) fn receiver(&self, host: usize) -> usize {
        self.places.receiver(host)
    }

    /// Returns the place of the links out of a rack.
    pub(super) fn out_of(&self, rack: usize) -> usize {
        self.places.out_of(rack)
    }

    /// Returns the place of the links into a rack.
    pub(super) fn into(&self, rack: usize) -> usize {
        self.places.into(rack)
    }

    /// Returns the bits per second that one link of a place carries: of the links of a rack, their mean.
    pub(super) fn each_bps(&self, place: usize) -> f64 {
        self.capacity[place] / f64::from(self.count[place].max(1))
    }

    /// Returns the bits per second that the group of this number offers to each link by place.
    pub(super) fn of_group(&self, number: usize) -> &[f64] {
        self.groups.iter().find(|group| group.number == number).map_or(&[], |group| &group.bps)
    }

    /// Returns the numbers of the groups that offer something to the links of a place at time 0.
    pub(super) fn groups_at(&self, place: usize) -> impl Iterator<Item = usize> {
        let offers = move |group: &&GroupLinks| is_active(group.active, Span::ZERO) && group.bps[place] > 0.0;
        self.groups.iter().filter(offers).map(|group| group.number)
    }

    /// Returns the link at a place.
    pub(super) fn link(&self, place: usize) -> Link {
        self.places.link(place)
    }

    /// Returns the most loaded link of each tier that the flows of a group use, while the group is active.
    pub(super) fn most_loaded(&self, number: usize) -> Vec<MostLoaded> {
        let Some(own) = self.groups.iter().find(|group| group.number == number) else { return Vec::new() };
        let mut most: Vec<MostLoaded> = Vec::new();
        for at in self.starts(own) {
            let there: Vec<&GroupLinks> =
                self.groups.iter().filter(|group| is_active(group.active, at)).collect();
            // What links into racks are offered is what the links out of other racks are, or receivers.
            let above = &own.bps[..self.places.into(0)];
            for (place, &bps) in above.iter().enumerate().filter(|(_, bps)| **bps > 0.0) {
                let rate_bps = self.capacity[place];
                let load = there.iter().map(|group| group.bps[place]).sum::<f64>() / rate_bps;
                let link = self.link(place);
                let same = most.iter().position(|found| found.link.tier == link.tier);
                if same.is_some_and(|same| load <= most[same].load) {
                    continue;
                }
                let by = there.iter().filter(|group| group.bps[place] > 0.0).map(|group| group.number);
                let found = MostLoaded { link, load, own: bps / rate_bps, rate_bps, by: by.collect() };
                match same {
                    Some(same) => most[same] = found,
                    None => most.push(found),
                }
            }
        }
        most
    }

    /// Returns when the groups begin while `own` is active, its own begin first.
    fn starts(&self, own: &GroupLinks) -> Vec<Span> {
        let begin = |active: Option<Active>| active.map_or(Span::ZERO, |active| active.from);
        let others = self.groups.iter().map(|group| begin(group.active));
        let mut all: Vec<Span> = std::iter::once(begin(own.active)).chain(others).collect();
        all.retain(|&at| is_active(own.active, at));
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn is_active(active: Option<Active>, at: Span) -> bool {
    active.is_none_or(|active| active.from <= at && active.until.is_none_or(|until| at < until))
}

/// Returns the bytes on the wire of a byte of payload: of flows of known sizes their mean, else that of full packets, a
/// lower bound.
fn on_wire(experiment: &Experiment, open_loop: Option<&OpenLoop>) -> f64 {
    let frame = &experiment.frame;
    match open_loop.map(|open_loop| &open_loop.sizes.law) {
        Some(law) => mean_bytes(law, Counts::Wire, frame) / mean_bytes(law, Counts::Payload, frame),
        None => f64::from(frame.data_wire(frame.mss())) / f64::from(frame.mss()),
    }
}

/// A group's senders and their destinations.
pub(super) struct Pairs {
    hosts: Vec<HostId>,
    reach: DestinationScope,
    is_target: Vec<bool>,
    /// Receivers by rack, and all of them.
    in_rack: Vec<u32>,
    targets: u32,
}

impl Pairs {
    /// Returns those of a group.
    ///
    /// # Errors
    /// Returns an error if the group names a host that does not exist.
    pub(super) fn of(
        experiment: &Experiment,
        topology: &Topology,
        group: &Group,
        reach: DestinationScope,
    ) -> Result<Self, InputError> {
        let mut hosts = traffic::hosts(experiment, topology, group)?;
        let mut is_named = vec![false; topology.hosts as usize];
        hosts.retain(|host| !std::mem::replace(&mut is_named[host.index()], true));
        let mut in_rack = vec![0; topology.racks as usize];
        let mut is_target = vec![false; topology.hosts as usize];
        for host in traffic::targets(experiment, topology, group)? {
            if !std::mem::replace(&mut is_target[host.index()], true) {
                in_rack[topology.rack[host.index()] as usize] += 1;
            }
        }
        let targets = in_rack.iter().sum();
        Ok(Self { hosts, reach, is_target, in_rack, targets })
    }

    /// Returns the numbers of the senders.
    pub(super) fn senders(&self) -> impl Iterator<Item = usize> {
        self.hosts.iter().map(|host| host.index())
    }

    /// Returns the numbers of the receivers.
    pub(super) fn receivers(&self) -> impl Iterator<Item = usize> {
        self.is_target.iter().enumerate().filter_map(|(host, &is_target)| is_target.then_some(host))
    }

    /// Returns the number of receivers by rack.
    pub(super) fn in_rack(&self) -> &[u32] {
        &self.in_rack
    }

    /// Returns the probability that a flow of a sender leaves its rack.
    pub(super) fn leaves(&self, topology: &Topology, host: HostId) -> f64 {
        let away = self.targets - self.in_rack[topology.rack[host.index()] as usize];
        let all = self.targets - u32::from(self.is_target[host.index()]);
        match self.reach {
            DestinationScope::OtherRacks => 1.0,
            DestinationScope::AnyHost if all == 0 => 0.0,
            DestinationScope::AnyHost => f64::from(away) / f64::from(all),
        }
    }

    /// Returns the bits per second on the wire of each sender.
    fn by_sender(&self, topology: &Topology, load: Load, on_wire: f64) -> f64 {
        let wire = match load.counts {
            Counts::Wire => load.value,
            Counts::Payload => load.value * on_wire,
        };
        let crossing: f64 = self.hosts.iter().map(|&host| self.leaves(topology, host)).sum();
        match load.of {
            LoadOf::Host => {
                self.hosts.first().map_or(0.0, |&host| wire * topology.host_capacity(host).bps() as f64)
            }
            LoadOf::Core if crossing > 0.0 => wire * topology.core_capacity() as f64 / crossing,
            LoadOf::Core => 0.0,
        }
    }

    /// Returns what senders of this rate offer to each link, by place.
    fn offer(&self, topology: &Topology, each: f64) -> Vec<f64> {
        let hosts = topology.hosts as usize;
        let racks = topology.racks as usize;
        let places = Places { hosts, racks };
        let mut bps = vec![0.0; places.count()];
        let mut in_rack = vec![0.0; racks];
        // What the senders of each rack send to each receiver in other racks.
        let mut to_each = vec![0.0; racks];
        let (mut outside, mut inside) = (0.0, 0.0);
        let mut sends = vec![false; hosts];
        for &host in &self.hosts {
            let rack = topology.rack[host.index()] as usize;
            bps[host.index()] += each;
            bps[places.out_of(rack)] += each * self.leaves(topology, host);
            in_rack[rack] += each;
            let reached = match self.reach {
                DestinationScope::AnyHost => self.targets - u32::from(self.is_target[host.index()]),
                DestinationScope::OtherRacks => self.targets - self.in_rack[rack],
            };
            to_each[rack] += if reached > 0 { each / f64::from(reached) } else { 0.0 };
            sends[host.index()] = true;
            *(if self.is_target[host.index()] { &mut inside } else { &mut outside }) += each;
        }
        let from_all: f64 = to_each.iter().sum();
        for rack in 0..racks {
            bps[places.into(rack)] = f64::from(self.in_rack[rack]) * (from_all - to_each[rack]);
        }
        let per = |bps: f64, targets: u32| if targets > 0 { bps / f64::from(targets) } else { 0.0 };
        let away = |rack: usize| per(in_rack[rack], self.targets - self.in_rack[rack]);
        let from_all_racks: f64 = (0..in_rack.len()).map(away).sum();
        for host in (0..hosts).filter(|&host| self.is_target[host]) {
            let own = if sends[host] { each } else { 0.0 };
            bps[places.receiver(host)] = match self.reach {
                DestinationScope::AnyHost => per(outside, self.targets) + per(inside - own, self.targets - 1),
                DestinationScope::OtherRacks => from_all_racks - away(topology.rack[host] as usize),
            };
        }
        bps
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::Options;

    #[test]
    fn groups_share_links_while_both_are_active() {
        let active = |from, until| Some(Active { from: Span(from), until: Some(Span(until)) });
        let of = |active, bps: [f64; 2]| (active, bps.to_vec());
        // Three groups of one sender and receiver: the third begins as the first ends.
        let groups = [of(active(0, 10), [4.0, 4.0]), of(None, [3.0, 3.0]), of(active(10, 20), [5.0, 5.0])];
        let groups = groups.into_iter().enumerate();
        let groups = groups.map(|(number, (active, bps))| GroupLinks {
            number,
            active,
            bps: [bps, vec![0.0; 2]].concat(),
        });
        let loads = LinkLoads {
            groups: groups.collect(),
            places: Places { hosts: 1, racks: 1 },
            capacity: vec![10.0, 20.0, 0.0, 0.0],
            count: vec![1, 1, 0, 0],
            join_racks: false,
        };
        let of = |number| {
            let most = loads.most_loaded(number);
            let tiers: Vec<Tier> = most.iter().map(|most| most.link.tier).collect();
            assert_eq!(tiers, [Tier::Senders, Tier::Receiver]);
            (most[0].load, most[0].own, most[1].load, most[0].by.clone())
        };
        assert_eq!(of(0), (0.7, 0.4, 0.35, vec![0, 1]));
        assert_eq!(of(1), (0.8, 0.3, 0.4, vec![1, 2]));
        assert_eq!(of(2), (0.8, 0.5, 0.4, vec![1, 2]));
    }

    /// Two racks of three hosts and 2 x 2 links of 20 Gbit/s. Hosts of `senders` send to those of `receivers`.
    fn experiment((senders, receivers): (&str, &str), app: &str) -> String {
        format!(
            r#"title = "Two racks"
schemes = ["dctcp"]
seeds = 1
time = {{ warmup = "1ms", measure = "1ms" }}
topology = {{ kind = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 3, host_link = {{ rate = "10Gbps", delay = "1us" }}, fabric_link = {{ rate = "20Gbps", delay = "1us" }} }}
[[group]]
name = "senders"
hosts = "{senders}"
to = "receivers"
sizes = {{ csv = "web_search", interpolation = "linear", max = "1MB" }}
{app}
[[group]]
name = "receivers"
hosts = "{receivers}"
app = "none"
"#
        )
    }

    /// The bits per second of each place if each sender's flows choose among all receivers in reach, one pair at a time.
    fn by_pairs(
        (senders, receivers): (&[usize], &[usize]),
        scope: DestinationScope,
        total: Total,
    ) -> Vec<f64> {
        let rack = |host: usize| host / 3;
        let reach = |from: usize| {
            let is_in_reach = move |&&to: &&usize| {
                to != from && (scope == DestinationScope::AnyHost || rack(to) != rack(from))
            };
            receivers.iter().filter(is_in_reach).copied().collect::<Vec<usize>>()
        };
        let mut bps = vec![0.0; 16];
        for &from in senders {
            let to = reach(from);
            for &host in &to {
                let share = 1.0 / to.len() as f64;
                bps[from] += share;
                bps[6 + host] += share;
                let crossing = if rack(host) == rack(from) { 0.0 } else { share };
                bps[12 + rack(from)] += crossing;
                bps[14 + rack(host)] += crossing;
            }
        }
        let factor = match total {
            Total::Sender(each) => each,
            Total::OutOfRacks(all) => all / (bps[12] + bps[13]),
        };
        bps.into_iter().map(|share| share * factor).collect()
    }

    enum Total {
        Sender(f64),
        OutOfRacks(f64),
    }

    #[test]
    fn each_link_is_offered_what_a_count_over_all_pairs_of_hosts_says() {
        type Hosts = (&'static str, &'static [usize]);
        let senders: [Hosts; 3] = [("0-5", &[0, 1, 2, 3, 4, 5]), ("0-1", &[0, 1]), ("0,2,4", &[0, 2, 4])];
        let receivers: [Hosts; 3] =
            [("0-5", &[0, 1, 2, 3, 4, 5]), ("1-3", &[1, 2, 3]), ("0,4-5", &[0, 4, 5])];
        for (from, to) in senders.into_iter().flat_map(|from| receivers.map(|to| (from, to))) {
            let (any, others) = (DestinationScope::AnyHost, DestinationScope::OtherRacks);
            for (scope, of) in [(any, "host"), (any, "core"), (others, "host")] {
                let reach = if scope == any { "any_host" } else { "other_racks" };
                let app = format!(
                    "app = \"poisson\"\nreach = \"{reach}\"\nload = {{ of = \"{of}\", counts = \"wire\", value = 0.3 }}"
                );
                let text = experiment((from.0, to.0), &app);
                let plan = crate::plan::from_text("x.toml", &text, Path::new("."), &Options::default())
                    .unwrap_or_else(|error| panic!("{error}\n{text}"));
                let built = crate::plan::build(&plan.runs[0]).unwrap();
                let loads = LinkLoads::of(&plan.runs[0].experiment, &built.scenario.topology).unwrap();
                // 0.3 of a host's 10 Gbit/s, or of the 2 x 2 x 20 Gbit/s out of racks.
                let total = if of == "host" { Total::Sender(3e9) } else { Total::OutOfRacks(0.3 * 80e9) };
                let truth = by_pairs((from.1, to.1), scope, total);
                let near = |(found, truth): (&f64, &f64)| (found - truth).abs() < 1.0;
                let found = &loads.groups[0].bps;
                assert!(
                    found.len() == 16 && found.iter().zip(&truth).all(near),
                    "{from:?} to {to:?}, {reach}, {of}: {found:?} is not {truth:?}"
                );
            }
        }
    }
}

//! The flows under way of each sender in the steady state of `start = "warm_path"`: flows wait at every link of their path.
//!
//! ```text
//! flows of a sender   r (1 / C + W(sender's link) + W(receiver's link) + p (W(up) + W(down)))
//! W of a link         E(m, rho) / (K (1 - rho)), seconds that a bit waits: a link of K bit/s that serves its flows in equal
//!                     shares of at most C each, m = K / C rounded down and at least 1 (M/G/m-PS)
//! E(m, rho)           Erlang's probability of waiting; E(1, rho) = rho
//! ```
//!
//! `r` is what the sender's group offers to its link on the wire, in bit/s, `C` the rate of the slower of both hosts' links, `p`
//! the probability that a flow leaves the rack, and `rho` the load of a link with all groups that are active at time 0 and one
//! ACK per packet on the way back. W of the receivers' links is a mean over the group's receivers. A receiver whose link is as
//! fast as the sender's counts but for the sender's own part of what the receivers get: these flows have waited for each other
//! at the sender's link. Up is a link out of the sender's rack, down one into the racks of receivers. Down does not count where
//! it is another rack's link up, as in a dumbbell. Links between switches further up do not count.
//!
//! A sum over links is exact where each link serves whole flows, one link after the other, and an upper bound for balanced
//! fair shares (Bonald and Proutiere, "Insensitive bandwidth sharing in data networks", 2003). Here the time that a flow takes
//! at its line rate counts once. With max-min fair shares twelve hosts that send to each other have 1.04 and 1.06 times as
//! many flows under way at loads of 0.5 and 0.8 (docs/assumptions.md#warm-start).

use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_sim::topology::Topology;
use priolane_source::InputError;

use super::links::{LinkLoads, Pairs};
use super::tier::Tier;
use super::traffic;
use crate::experiment::{Experiment, Group};

/// The highest load of a link, with ACKs, at which flows under way are drawn. Beyond it their number depends on what the load
/// leaves out, such as ACKs for several packets.
const HIGHEST_LOAD: f64 = 0.98;

/// Returns the mean number of flows under way at time 0 by group, and by host in groups with a load.
///
/// # Errors
/// Returns an [`InputError`] for `time.start`, without its line, if a link has too high a load with ACKs. Returns another if a
/// group names a host that does not exist.
pub(super) fn by_group(experiment: &Experiment, topology: &Topology) -> Result<Vec<Vec<f64>>, InputError> {
    let links = LinkLoads::of(experiment, topology)?;
    let waits = Waits::of(experiment, topology, &links);
    if let Some(place) = waits.too_loaded() {
        return Err(refused(experiment, &links, (place, waits.loads[place])));
    }
    let of_group = |(number, group): (usize, &Group)| waits.by_host(experiment, (number, group));
    experiment.groups.iter().enumerate().map(of_group).collect()
}

/// The waits at the links of a network at time 0.
pub(super) struct Waits<'a> {
    topology: &'a Topology,
    links: &'a LinkLoads,
    /// Bits per second by place.
    offered: Vec<f64>,
    /// Loads with ACKs by place.
    loads: Vec<f64>,
}

/// The seconds that a bit of a sender's flows takes, and waits at the links of its path, in the mean.
#[derive(Clone, Copy, Debug)]
struct PathWaits {
    /// At the rate of the slower host, without waits.
    alone: f64,
    at_links: [f64; 4],
}

/// The seconds that a bit takes and waits at a group's receivers, in the mean.
#[derive(Clone, Copy, Debug)]
struct AtReceivers {
    alone: f64,
    /// Waits at receivers that are slower than the sender, and at the others.
    slower: f64,
    others: f64,
    /// Bits per second that all receivers get together, of all groups.
    offered: f64,
}

impl<'a> Waits<'a> {
    /// Returns those of an experiment.
    pub(super) fn of(experiment: &Experiment, topology: &'a Topology, links: &'a LinkLoads) -> Self {
        let offered = links.at_start();
        let loads = links.with_acks(&offered, acks(&experiment.frame));
        Self { topology, links, offered, loads }
    }

    /// Returns the place of the most loaded link, if flows under way are not drawn at its load.
    pub(super) fn too_loaded(&self) -> Option<usize> {
        let places = 0..self.loads.len();
        let most = places.max_by(|&a, &b| self.loads[a].total_cmp(&self.loads[b]));
        most.filter(|&place| self.loads[place] > HIGHEST_LOAD)
    }

    /// Returns the waits of a group's flows at all links of their path over those at the link where they wait longest: of its
    /// first sender. `None` if the group has no load.
    ///
    /// # Errors
    /// Returns an error if the group names a host that does not exist.
    pub(super) fn over_longest(
        &self,
        experiment: &Experiment,
        group: &Group,
    ) -> Result<Option<f64>, InputError> {
        let Some((_, reach)) = group.app.part().load() else { return Ok(None) };
        let pairs = Pairs::of(experiment, self.topology, group, reach)?;
        let Some(sender) = pairs.senders().next() else { return Ok(None) };
        let PathWaits { at_links, .. } = self.of_path(&pairs, sender, self.at_receivers(&pairs, sender));
        let longest = at_links.iter().copied().fold(0.0, f64::max);
        Ok(Some(at_links.iter().sum::<f64>() / longest).filter(|ratio| ratio.is_finite()))
    }

    /// Returns the mean number of flows under way of each sender of a group, by host; empty if the group has no load.
    fn by_host(
        &self,
        experiment: &Experiment,
        (number, group): (usize, &Group),
    ) -> Result<Vec<f64>, InputError> {
        let Some((_, reach)) = group.app.part().load() else { return Ok(Vec::new()) };
        let pairs = Pairs::of(experiment, self.topology, group, reach)?;
        let own = self.links.of_group(number);
        let mut means = vec![0.0; self.topology.hosts as usize];
        let mut last: Option<(f64, AtReceivers)> = None;
        for sender in pairs.senders() {
            let line = self.links.each_bps(sender);
            let at_receivers = match last {
                Some((of, at_receivers)) if of == line => at_receivers,
                _ => self.at_receivers(&pairs, sender),
            };
            last = Some((line, at_receivers));
            let path = self.of_path(&pairs, sender, at_receivers);
            means[sender] = own[sender] * (path.alone + path.at_links.iter().sum::<f64>());
        }
        Ok(means)
    }

    /// Returns the seconds that a bit waits at one link of a place, if flows take at most `line` bit/s.
    fn wait(&self, place: usize, line: f64) -> f64 {
        wait(self.loads[place], self.links.each_bps(place), line)
    }

    fn at_receivers(&self, pairs: &Pairs, sender: usize) -> AtReceivers {
        let line = self.links.each_bps(sender);
        let mut sums = AtReceivers { alone: 0.0, slower: 0.0, others: 0.0, offered: 0.0 };
        let mut count = 0.0;
        for place in pairs.receivers().map(|host| self.links.receiver(host)) {
            let rate = self.links.each_bps(place);
            sums.alone += 1.0 / line.min(rate);
            *(if rate < line { &mut sums.slower } else { &mut sums.others }) +=
                self.wait(place, line.min(rate));
            sums.offered += self.offered[place];
            count += 1.0;
        }
        if count == 0.0 {
            return sums;
        }
        let AtReceivers { alone, slower, others, offered } = sums;
        AtReceivers { alone: alone / count, slower: slower / count, others: others / count, offered }
    }

    fn of_path(&self, pairs: &Pairs, sender: usize, receivers: AtReceivers) -> PathWaits {
        let AtReceivers { alone, slower, others, offered } = receivers;
        let line = if alone > 0.0 { 1.0 / alone } else { self.links.each_bps(sender) };
        let own = if offered > 0.0 { (self.offered[sender] / offered).min(1.0) } else { 0.0 };
        let rack = self.topology.rack[sender] as usize;
        let leaves = pairs.leaves(self.topology, HostId(sender as u16));
        let down = if self.links.join_racks { 0.0 } else { self.down(pairs, rack, line) };
        let at_links = [
            self.wait(sender, line),
            slower + (1.0 - own) * others,
            leaves * self.wait(self.links.out_of(rack), line),
            leaves * down,
        ];
        PathWaits { alone, at_links }
    }

    /// Returns the mean wait of a bit at a link into the rack of a receiver that is in another rack than `from`.
    fn down(&self, pairs: &Pairs, from: usize, line: f64) -> f64 {
        let others = pairs.in_rack().iter().enumerate().filter(|&(rack, &count)| rack != from && count > 0);
        let (mut sum, mut receivers) = (0.0, 0.0);
        for (rack, &count) in others {
            sum += f64::from(count) * self.wait(self.links.into(rack), line);
            receivers += f64::from(count);
        }
        if receivers > 0.0 { sum / receivers } else { 0.0 }
    }
}

/// Returns the bits on the wire of the ACK of a full packet over those of the packet.
fn acks(frame: &Frame) -> f64 {
    f64::from(frame.ack_wire()) / f64::from(frame.data_wire(frame.mss()))
}

/// Returns the seconds that a bit waits at a link of this load and rate, if flows take at most `line` bit/s each.
fn wait(load: f64, rate_bps: f64, line: f64) -> f64 {
    if load == 0.0 {
        return 0.0;
    }
    // A mean of equal rates may be off by its last digits.
    let servers = (rate_bps / line + 1e-9).floor().max(1.0);
    erlang_wait(servers as u32, load) / (rate_bps * (1.0 - load))
}

/// Returns Erlang's probability that all of `servers` are busy at a load of `load` each (Erlang C), by the recursion of
/// Erlang's loss formula.
fn erlang_wait(servers: u32, load: f64) -> f64 {
    let offered = f64::from(servers) * load;
    let loss = (1..=servers).fold(1.0, |loss, busy| offered * loss / (f64::from(busy) + offered * loss));
    loss / (1.0 - load * (1.0 - loss))
}

fn refused(experiment: &Experiment, links: &LinkLoads, (place, load): (usize, f64)) -> InputError {
    let link = links.link(place);
    let number = link.number;
    let what = match link.tier {
        Tier::Senders => format!("the link on which host {number} sends is"),
        Tier::Receiver => format!("the link on which host {number} receives is"),
        Tier::Core => format!("the links out of rack {number} are"),
        Tier::IntoRack => format!("the links into rack {number} are"),
    };
    let names: Vec<&str> =
        links.groups_at(place).map(|group| experiment.groups[group].name.as_str()).collect();
    let groups = if names.len() == 1 { "group" } else { "groups" };
    let what = format!(
        "{what} offered {load:.4} of the capacity by {groups} {} and ACKs, and warm_path draws flows under way up to \
         {HIGHEST_LOAD}",
        names.join(", ")
    );
    traffic::not_startable(experiment, what, "a lower load.value, or start = \"warm\" or \"empty\"")
}

#[cfg(test)]
mod tests;

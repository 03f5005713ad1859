//! How much data waits at most where tokens call for it: the buffers with which nothing is lost.
//!
//! ```text
//! d(l)      from a token's arrival at a switch to that of its data in the queue of link l, the way the token came from:
//!   least   min over q of  2 prop + token + frame + detour + d(q)
//!   most    max over q of  2 prop + token + frame + detour + d(q) + wait of the token at q + wait of the data at q's
//!           far end
//! Q(l)      rate of data x (most - least) + what may go ahead of both rates
//! ```
//!
//! q are the links by which the switch reaches senders: those below it for a link that goes up or across, all others for one
//! that goes down. As in ExpressPass's derivation (SIGCOMM 2017 §3.1), with TOP's expiry as the longest wait of a token
//! (docs/assumptions.md#token-buffer).

use priolane_core::ids::{LinkId, NodeId};
use priolane_core::packet::Frame;
use priolane_core::port::TokenGroupSpec;
use priolane_core::units::{Rate, Span};

use super::network::{Link, Topology};

/// What the buffers are for.
#[derive(Clone, Copy, Debug)]
pub struct TokenTraffic {
    /// The ports, at switches and hosts; without expiry a token waits until its queues are empty.
    pub ports: TokenGroupSpec,
    /// Packet sizes.
    pub frame: Frame,
    /// How much longer some hosts take to answer a token than others.
    pub host_jitter: Span,
    /// Bytes of signals that may come at once on a link.
    pub signals: u64,
}

/// Least and most.
#[derive(Clone, Copy, Debug)]
struct Delay {
    least: u64,
    most: u64,
}

impl TokenTraffic {
    /// How long a token waits at most behind a line of `rate`.
    fn longest_wait(&self, rate: Rate) -> u64 {
        let slot = u64::from(self.ports.token_wire) + u64::from(self.ports.data_wire);
        let queued = u64::from(self.ports.depth) * u64::from(self.ports.classes);
        let slots = self.ports.expiry.map_or(queued + 1, u64::from);
        rate.serialize(slots * slot).0
    }

    /// Frames that may come ahead of their rate: the burst of the tokens that call for them, that of the data before them,
    /// and one on the line.
    fn ahead(&self) -> u64 {
        2 * u64::from(self.ports.burst) + 1
    }

    fn is_up(topology: &Topology, link: &Link) -> bool {
        let tier = |node: NodeId| topology.tier[(node.0 - topology.hosts) as usize];
        link.to.0 >= topology.hosts && tier(link.to) >= tier(link.from)
    }

    /// The delay of what queues for `link`, which leaves a switch; `known` holds what was found before.
    fn delay(&self, topology: &Topology, link: LinkId, known: &mut [Option<Delay>]) -> Delay {
        if let Some(delay) = known[link.index()] {
            return delay;
        }
        let own = topology.links[link.index()];
        let up = Self::is_up(topology, &own);
        let mut found = Delay { least: u64::MAX, most: 0 };
        for (id, q) in topology.links.iter().enumerate().map(|(id, q)| (LinkId(id as u32), q)) {
            let leads_to_senders = q.from == own.from && id != link && !(up && Self::is_up(topology, q));
            if !leads_to_senders {
                continue;
            }
            let back = topology.links[topology.reverse(id).index()];
            let frame = u64::from(self.frame.max_wire());
            let way = q.delay.0
                + back.delay.0
                + q.rate.serialize(u64::from(self.ports.token_wire)).0
                + back.rate.serialize(frame).0
                + self.ports.detour.map_or(0, |detour| detour.0);
            let (beyond, waiting) = if q.to.0 < topology.hosts {
                (Delay { least: 0, most: self.host_jitter.0 }, self.ahead() * frame)
            } else {
                let back = topology.reverse(id);
                let beyond = self.delay(topology, back, known);
                (beyond, self.bytes(topology.links[back.index()].rate, beyond))
            };
            found.least = found.least.min(way + beyond.least);
            let waits = self.longest_wait(q.rate) + back.rate.serialize(waiting).0;
            found.most = found.most.max(way + beyond.most + waits);
        }
        found.least = found.least.min(found.most);
        known[link.index()] = Some(found);
        found
    }

    /// What waits at most behind a line of `rate`.
    fn bytes(&self, rate: Rate, delay: Delay) -> u64 {
        let (token, frame) = (u64::from(self.ports.token_wire), u64::from(self.ports.data_wire));
        let spread = Span(delay.most - delay.least);
        let data = u128::from(rate.bytes_in(spread)) * u128::from(frame) / u128::from(token + frame);
        data as u64 + self.ahead() * frame + self.signals
    }
}

impl Topology {
    /// By link: bytes of data that wait at most at the switch port in front of it, while no packet is lost, no link fails
    /// and tokens retrace their data; 0 for the links of hosts.
    pub fn token_buffers(&self, traffic: &TokenTraffic) -> Vec<u64> {
        let mut known = vec![None; self.links.len()];
        let of_link = |id: usize| {
            let link = &self.links[id];
            if link.from.0 < self.hosts {
                return 0;
            }
            let delay = traffic.delay(self, LinkId(id as u32), &mut known);
            traffic.bytes(link.rate, delay)
        };
        (0..self.links.len()).map(of_link).collect()
    }
}

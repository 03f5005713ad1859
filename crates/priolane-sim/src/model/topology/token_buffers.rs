//! Maximum queue of data triggered by tokens: the buffer sizes with which nothing is lost.
//!
//! ```text
//! d(l)      time from a token's arrival at a switch on link l to the arrival of its data in the queue of link l:
//!   least   min over q of  2 prop + token + frame + detour + d(q)
//!   most    max over q of  2 prop + token + frame + detour + d(q) + wait of the token at q + wait of the data at q's
//!           far end
//! Q(l)      rate of data x (most - least) + bursts of tokens and data
//! ```
//!
//! q are the links by which the switch reaches senders: for a link that leads up or across, those below the switch;
//! for a link that leads down, all others. As in ExpressPass's derivation (SIGCOMM 2017 §3.1), with TOP's expiry as
//! the longest wait of a token (docs/assumptions.md#token-buffer).

use priolane_core::ids::{LinkId, NodeId};
use priolane_core::packet::Frame;
use priolane_core::port::TokenGroupSpec;
use priolane_core::units::{Rate, Span};

use super::network::{Link, Topology};

/// The traffic that the buffers are sized for.
#[derive(Clone, Copy, Debug)]
pub struct TokenTraffic {
    /// The ports at switches and hosts; without expiry a token waits until its queues are empty.
    pub ports: TokenGroupSpec,
    /// Packet sizes.
    pub frame: Frame,
    /// Maximum difference between hosts in the time to answer a token.
    pub host_jitter: Span,
    /// Bytes of signals that may arrive at once on a link.
    pub signals: u64,
}

/// Minimum and maximum delay.
#[derive(Clone, Copy, Debug)]
struct Delay {
    least: u64,
    most: u64,
}

impl TokenTraffic {
    /// Returns the maximum wait of a token in front of a link of `rate`.
    fn longest_wait(&self, rate: Rate) -> u64 {
        let slot = u64::from(self.ports.token_wire) + u64::from(self.ports.data_wire);
        let queued = u64::from(self.ports.depth) * u64::from(self.ports.classes);
        let slots = self.ports.expiry.map_or(queued + 1, u64::from);
        rate.serialize(slots * slot).0
    }

    /// Returns the frames that may arrive ahead of their rate: the burst of the tokens that trigger them, that of the
    /// data before them, and one in transmission.
    fn ahead(&self) -> u64 {
        2 * u64::from(self.ports.burst) + 1
    }

    fn is_up(topology: &Topology, link: &Link) -> bool {
        let tier = |node: NodeId| topology.tier[(node.0 - topology.hosts) as usize];
        link.to.0 >= topology.hosts && tier(link.to) >= tier(link.from)
    }

    /// Returns the delay of data queued for `link`, which leaves a switch; `known` caches the results.
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

    /// Returns the maximum queue in front of a link of `rate`, in bytes.
    fn bytes(&self, rate: Rate, delay: Delay) -> u64 {
        let (token, frame) = (u64::from(self.ports.token_wire), u64::from(self.ports.data_wire));
        let spread = Span(delay.most - delay.least);
        let data = u128::from(rate.bytes_in(spread)) * u128::from(frame) / u128::from(token + frame);
        data as u64 + self.ahead() * frame + self.signals
    }
}

impl Topology {
    /// Returns, by link, the maximum bytes of data queued at its switch port, as long as no packet is lost, no link
    /// fails and tokens take the reverse path of their data; 0 for the links of hosts.
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

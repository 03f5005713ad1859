//! What became of a run's tokens, and what payload that reached hosts adds up to.
//!
//! ```text
//! sent = used + wasted + expired at hosts                      those that reached a sender
//!      + dropped + expired at ports + lost + resident          those that did not
//! ```

use priolane_core::ids::CLASSES;
use priolane_core::transport::tokens::MAX_CLASSES;
use priolane_core::units::PS_PER_S;
use priolane_sim::outcome::{Ledger, Outcome, PacketCount};
use priolane_sim::scenario::ScenarioSpec;
use serde::{Deserialize, Serialize};

/// Tokens of a run, of a transport with tokens that ports limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Given to the network by receivers.
    pub sent: u64,
    /// Those for which a sender sent a packet.
    pub used: u64,
    /// Those for which a sender had nothing to send.
    pub wasted: u64,
    /// Those too old for the sender that they reached.
    pub expired_at_hosts: u64,
    /// Those that found the queue of their class full, at switches and at the receivers' own ports.
    pub dropped: u64,
    /// Those that waited too long at a port.
    pub expired_at_ports: u64,
    /// Those lost on links or for want of a way, as links had failed.
    pub lost: u64,
    /// Those in queues or on links at the end.
    pub resident: u64,
    /// Bytes of tokens over all bytes that switches sent; null if they sent none.
    pub wire_share: Option<f64>,
}

impl TokenRecord {
    /// Those of a run; `None` if its transport has no such tokens.
    pub fn of(outcome: &Outcome) -> Option<Self> {
        let account = outcome.tokens?;
        let ledger = &outcome.ledger;
        let tokens = |tallies: &[PacketCount; CLASSES]| -> u64 {
            tallies[..usize::from(MAX_CLASSES)].iter().map(|tally| tally.packets).sum()
        };
        let (mut of_tokens, mut of_all) = (0, 0);
        for port in &outcome.ports {
            of_all += port.bytes;
            of_tokens += if port.class < MAX_CLASSES { port.bytes } else { 0 };
        }
        Some(Self {
            sent: account.issued,
            used: account.used,
            wasted: account.wasted,
            expired_at_hosts: account.expired,
            dropped: tokens(&ledger.dropped),
            expired_at_ports: tokens(&ledger.expired),
            lost: tokens(&ledger.lost) + tokens(&ledger.unrouted),
            resident: tokens(&ledger.resident),
            wire_share: (of_all > 0).then(|| of_tokens as f64 / of_all as f64),
        })
    }

    /// Whether every token that was sent came to one of the ends.
    pub fn conserved(&self) -> bool {
        let ends = [self.used, self.wasted, self.expired_at_hosts, self.dropped, self.expired_at_ports];
        ends.iter().sum::<u64>() + self.lost + self.resident == self.sent
    }

    /// A number of tokens over those sent; `None` if none were.
    pub fn share(&self, tokens: u64) -> Option<f64> {
        (self.sent > 0).then(|| tokens as f64 / self.sent as f64)
    }
}

/// Payload that reached hosts, duplicates included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReceivedRecord {
    /// Packets of payload, trimmed ones too.
    pub packets: u64,
    /// Time that such a packet waited at switches on its way, mean over `packets`, in seconds; null without packets. The
    /// waits of packets that were dropped are in it.
    pub wait_s: Option<f64>,
    /// Payload that arrived at all hosts together up to the planned start of the last flow, in bits per second; null if all
    /// start at once.
    pub throughput_bps: Option<f64>,
    /// Bytes dropped for want of room at ports, or cut off there, over bytes given to the network, tokens aside; null
    /// without any.
    pub loss: Option<f64>,
    /// Packets that brought new payload to their receiver.
    #[serde(default)]
    pub new_packets: u64,
    /// Those of them that arrived reordered (RFC 4737 §3.3; docs/assumptions.md#reordering).
    #[serde(default)]
    pub reordered: u64,
}

impl ReceivedRecord {
    /// That of a run.
    pub fn of(scenario: &ScenarioSpec, outcome: &Outcome) -> Self {
        let topology = &scenario.topology;
        let at_switches =
            outcome.queues.iter().filter(|q| topology.links[q.link.index()].from.0 >= topology.hosts);
        let waited: u128 = at_switches.map(|q| u128::from(q.waited)).sum();
        let received = outcome.received;
        let seconds = |ps: f64| ps / PS_PER_S as f64;
        let last = scenario.flows.last().map_or(0, |flow| flow.start.0);
        let first = if outcome.tokens.is_some() { usize::from(MAX_CLASSES) } else { 0 };
        let bytes = |tallies: &[PacketCount; CLASSES]| -> u64 {
            tallies[first..].iter().map(|tally| tally.bytes).sum()
        };
        let Ledger { made, dropped, trimmed, .. } = &outcome.ledger;
        let (made, gone) = (bytes(made), bytes(dropped) + bytes(trimmed));
        let rate = |bytes: u64| bytes as f64 * 8.0 / seconds(last as f64);
        Self {
            packets: received.packets,
            wait_s: (received.packets > 0).then(|| seconds(waited as f64) / received.packets as f64),
            loss: (made > 0).then(|| gone as f64 / made as f64),
            throughput_bps: (last > 0).then(|| rate(received.early_bytes)),
            new_packets: received.stats.packets,
            reordered: received.stats.reordered,
        }
    }
}

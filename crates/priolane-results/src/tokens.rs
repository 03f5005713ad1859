//! Outcomes of a run's tokens, and statistics of the payload that reached hosts.
//!
//! ```text
//! sent = used + wasted + expired at hosts                      tokens that reached a sender
//!      + dropped + expired at ports + lost + resident          tokens that did not
//! ```

use priolane_core::ids::CLASSES;
use priolane_core::transport::tokens::MAX_CLASSES;
use priolane_core::units::PS_PER_S;
use priolane_sim::outcome::{Ledger, Outcome, PacketCount};
use priolane_sim::scenario::ScenarioSpec;
use serde::{Deserialize, Serialize};

/// Tokens of a run whose transport has tokens that ports limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Sent by receivers.
    pub sent: u64,
    /// Tokens for which a sender sent a packet.
    pub used: u64,
    /// Tokens for which a sender had nothing to send.
    pub wasted: u64,
    /// Tokens that had expired when they reached a sender.
    pub expired_at_hosts: u64,
    /// Tokens that found the queue of their class full, at switches and at the receivers' own ports.
    pub dropped: u64,
    /// Tokens that expired at a port.
    pub expired_at_ports: u64,
    /// Tokens lost on links, or without a route because links had failed.
    pub lost: u64,
    /// Tokens in queues or on links at the end.
    pub resident: u64,
    /// Bytes of tokens over all bytes that switches sent; null if they sent none.
    pub wire_share: Option<f64>,
}

impl TokenRecord {
    /// Returns the tokens of a run; `None` if its transport has no such tokens.
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

    /// Returns whether every sent token has one of these outcomes.
    pub fn is_conserved(&self) -> bool {
        let ends = [self.used, self.wasted, self.expired_at_hosts, self.dropped, self.expired_at_ports];
        ends.iter().sum::<u64>() + self.lost + self.resident == self.sent
    }

    /// Returns a number of tokens over those sent; `None` if none were sent.
    pub fn share(&self, tokens: u64) -> Option<f64> {
        (self.sent > 0).then(|| tokens as f64 / self.sent as f64)
    }
}

/// Payload that reached hosts, duplicates included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReceivedRecord {
    /// Payload packets, including trimmed ones.
    pub packets: u64,
    /// Total waiting time of such a packet at switches on its path, mean over `packets`, in seconds; null without
    /// packets. It includes the waits of dropped packets.
    pub wait_s: Option<f64>,
    /// Payload that arrived at all hosts together up to the planned start of the last flow, in bits per second; null
    /// if all flows start at once.
    pub throughput_bps: Option<f64>,
    /// Bytes dropped for lack of room or trimmed at ports, over bytes sent, without tokens; null without any.
    pub loss: Option<f64>,
    /// Packets with new payload for their receiver.
    #[serde(default)]
    pub new_packets: u64,
    /// Packets with new payload that arrived reordered (RFC 4737 §3.3; docs/assumptions.md#reordering).
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

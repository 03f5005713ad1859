//! Nodes, links and forwarding. Hosts are nodes `0..hosts`, switches follow.

use priolane_core::ids::{HostId, LinkId, NodeId};
use priolane_core::units::{Rate, Span};

/// A directed link and the egress port it leaves from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The node it leaves.
    pub from: NodeId,
    /// The node it enters.
    pub to: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay, above zero.
    pub delay: Span,
    /// Probability that a packet put on it is lost, in [0, 1).
    pub loss: f64,
}

/// Which of several equal paths a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PathChoice {
    /// By a hash of the packet's entropy, mixed anew at every switch, so that tiers do not polarise.
    #[default]
    Hashed,
    /// Entropy itself names the choice: `entropy mod choices` at every switch with a choice.
    Pinned,
}

/// The equal-cost choices of one switch for one destination: a run of `Topology::choices`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NextHops {
    /// Where the run starts.
    pub first: u32,
    /// How many choices it has; 0 if the destination cannot be reached.
    pub count: u32,
}

/// A network: who is linked to whom, and which way packets go.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of switches.
    pub switches: u32,
    /// All directed links, by `LinkId`. Each host has exactly one out and one in.
    pub links: Vec<Link>,
    /// Names of nodes for tables and messages (`h0`, `leaf1`, `spine0`).
    pub names: Vec<String>,
    /// Next hops by switch (from 0) and destination: `next_hops[switch * hosts + dst]`.
    pub next_hops: Vec<NextHops>,
    /// Egress links that `next_hops` refers to.
    pub choices: Vec<LinkId>,
    /// How one of several choices is taken.
    pub path_choice: PathChoice,
    /// The rack (first switch) of each host, for apps and claims that speak of racks.
    pub rack: Vec<u32>,
}

impl Topology {
    /// The node a host is.
    #[inline]
    pub fn node_of(&self, host: HostId) -> NodeId {
        NodeId(u32::from(host.0))
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        (self.hosts + self.switches) as usize
    }

    /// The egress link a packet for `dst` with `entropy` takes at `switch` (a node at or above `hosts`);
    /// `None` if `dst` cannot be reached from there.
    #[inline]
    pub fn next_link(&self, switch: NodeId, dst: HostId, entropy: u16) -> Option<LinkId> {
        let row = (switch.0 - self.hosts) as usize * self.hosts as usize;
        let hops = self.next_hops[row + dst.index()];
        let pick = match hops.count {
            0 => return None,
            1 => 0,
            n => match self.path_choice {
                PathChoice::Pinned => u32::from(entropy) % n,
                PathChoice::Hashed => spread(entropy, switch, n),
            },
        };
        Some(self.choices[(hops.first + pick) as usize])
    }
}

/// One of `n` choices from a packet's entropy, independent from switch to switch.
#[inline]
fn spread(entropy: u16, switch: NodeId, n: u32) -> u32 {
    let mut x = (u64::from(entropy) << 32 | u64::from(switch.0)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (((x >> 32) * u64::from(n)) >> 32) as u32
}

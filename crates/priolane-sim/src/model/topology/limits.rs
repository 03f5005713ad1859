//! Limits on the size of a topology.

use priolane_core::units::Span;

/// Maximum number of hosts: a packet names a host in 16 bits.
pub(super) const MAX_HOSTS: u64 = 65_536;
/// Maximum number of switches.
pub(super) const MAX_SWITCHES: u64 = 65_536;
/// Maximum number of links, both directions counted as one.
pub(super) const MAX_LINKS: u64 = 1 << 20;
/// Maximum entries of the forwarding table: switches x switches with hosts (8 B each).
pub(super) const MAX_TABLE: u64 = 1 << 24;
/// Maximum steps of the shortest-path search: switches with hosts x links between switches.
pub(super) const MAX_ROUTING_WORK: u64 = 1 << 28;
/// Maximum entries of the list of equal-cost choices (4 B each).
pub(super) const MAX_CHOICES: usize = 1 << 24;
/// Longest propagation delay of a link (docs/assumptions.md#longest-delay).
pub(super) const MAX_DELAY: Span = Span::from_ms(250);
/// Longest name of a node, in bytes.
pub(super) const MAX_NAME: usize = 64;

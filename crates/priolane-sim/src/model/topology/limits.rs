//! How large a topology may be.

use priolane_core::units::Span;

/// Most hosts of a topology: a packet names a host in 16 bits.
pub(super) const MAX_HOSTS: u64 = 65_536;
/// Most switches of a topology.
pub(super) const MAX_SWITCHES: u64 = 65_536;
/// Most links of a topology, both directions counted as one.
pub(super) const MAX_LINKS: u64 = 1 << 20;
/// Most entries of the forwarding table: switches x switches with hosts (8 B each).
pub(super) const MAX_TABLE: u64 = 1 << 24;
/// Most steps of the search for shortest paths: switches with hosts x links between switches.
pub(super) const MAX_ROUTING_WORK: u64 = 1 << 28;
/// Most entries of the list of equal-cost choices (4 B each).
pub(super) const MAX_CHOICES: usize = 1 << 24;
/// Longest propagation delay of a link (docs/assumptions.md#longest-delay).
pub(super) const MAX_DELAY: Span = Span::from_ms(250);
/// Longest name of a node, in bytes.
pub(super) const MAX_NAME: usize = 64;

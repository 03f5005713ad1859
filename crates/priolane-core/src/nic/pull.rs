//! No transmit queue.

use super::HostNic;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the NIC `pull`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "pull",
    notation = Name,
    summary = "no transmit queue: when the link is free, the host's scheduler chooses the next packet",
    source = "docs/assumptions.md#nic-queue",
    provides = [PacketPull, HostOrder]
)]
pub struct Config;

impl HostNic for Config {}

//! No transmit queue.

use super::HostNic;
use crate::keys::Keys;
use crate::part::Part;

/// The NIC `pull`; it has no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "pull",
    notation = Name,
    summary = "no transmit queue: the free line asks the host's scheduler who is next",
    source = "docs/assumptions.md#nic-queue",
    provides = [PacketPull, HostOrder]
)]
pub struct Config;

impl HostNic for Config {}

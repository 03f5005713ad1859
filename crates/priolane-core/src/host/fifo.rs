//! The order of the transmit queue: the transport fills it in turns.

use super::order::HostOrder;
use crate::keys::Keys;
use crate::part::Part;

/// The order `fifo`; it has no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "fifo",
    summary = "packets leave in the order in which the transport made them",
    source = "docs/assumptions.md#nic-queue",
    requires = [TransmitQueue]
)]
pub struct Config;

impl HostOrder for Config {}

//! FIFO order of the transmit queue, which the transport fills round robin.

use super::order::HostOrder;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the order `fifo`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "fifo",
    summary = "packets leave in the order in which the transport created them",
    source = "docs/assumptions.md#nic-queue",
    requires = [TransmitQueue]
)]
pub struct Config;

impl HostOrder for Config {}

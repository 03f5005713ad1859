//! The order of a transport that itself selects the next flow of a host.

use super::order::HostOrder;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the order `own`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "own",
    summary = "the transport decides which flow sends next: pHost, NDP, Homa",
    source = "docs/assumptions.md#receiver-driven",
    requires = [PacketPull]
)]
pub struct Config;

impl HostOrder for Config {}

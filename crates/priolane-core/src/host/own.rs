//! The order of a transport that decides itself which flow of a host goes next.

use super::order::HostOrder;
use crate::keys::Keys;
use crate::part::Part;

/// The order `own`; it has no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "own",
    summary = "the transport decides which flow goes next: pHost, NDP, Homa",
    source = "docs/assumptions.md#receiver-driven",
    requires = [PacketPull]
)]
pub struct Config;

impl HostOrder for Config {}

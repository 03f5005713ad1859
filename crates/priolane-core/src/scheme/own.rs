//! The host row of transports that decide themselves which flow of a host goes next.

use super::stated::Stated;
use crate::part::{Capability, Row};

pub(super) const ORDER: Stated = Stated {
    row: Row::Host,
    name: "own",
    summary: "the transport decides which flow goes next: pHost, NDP, Homa",
    source: "docs/assumptions.md#receiver-driven",
    parameters: &[],
    requires: &[Capability::PacketPull],
    provides: &[],
};

//! What token transports need at hosts and ports.

use super::stated::Stated;
use super::stated::{Parameter, always, parameter};
use crate::part::{Capability, Row};

/// The remedy's key of token ports.
pub(super) const DETOUR: Parameter = parameter(
    "detour",
    "what a token takes through an assistant switch, from the limiter to the line's one queue of tokens; 0 for none",
    ["time", "0", "TOP §4.2; docs/assumptions.md#top-detour"],
);
pub(super) const NIC: Stated = Stated {
    row: Row::Nic,
    name: "tokens",
    summary: "the token discipline of the switch ports as a transmit queue",
    source: "ExpressPass (SIGCOMM 2017) §3.1; docs/assumptions.md#token-nic",
    parameters: &[],
    requires: &[Capability::TokenPorts],
    provides: &[always(Capability::TransmitQueue), always(Capability::TokenQueue)],
};

//! A machine of a run as pure data.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::agent::channel::AgentAddress;

/// A machine and its hosts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineJob {
    /// Its name.
    pub name: String,
    /// How its agent is reached.
    pub agent: AgentAddress,
    /// The address that its hosts bind to.
    pub address: IpAddr,
    /// The UDP port of its first host; the others have those that follow.
    pub port: u16,
    /// Its hosts.
    pub hosts: Vec<u16>,
}

//! A machine of a run as pure data.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::agent::channel::AgentAddress;

/// A machine and its hosts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineJob {
    /// The name of the machine.
    pub name: String,
    /// The way in which the agent of the machine is reached.
    pub agent: AgentAddress,
    /// The address that the hosts of the machine bind to.
    pub address: IpAddr,
    /// The UDP port of the first host. The other hosts use the ports that follow.
    pub port: u16,
    /// The hosts on the machine.
    pub hosts: Vec<u16>,
}

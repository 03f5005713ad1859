//! Why an app cannot run where it is to run.

use priolane_core::ids::HostId;
use priolane_source::InputError;

/// Why an app cannot run at its site.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AppError {
    /// The group has no host.
    #[error("the group has no host")]
    NoHosts,
    /// A host that the network does not have.
    #[error("there is no host {}", .0.0)]
    UnknownHost(HostId),
    /// A host of the group has nobody to send to.
    #[error("host {} has nobody to send to", .0.0)]
    NoDestination(HostId),
    /// A flow would go from a host to itself.
    #[error("a flow would go from host {} to itself", .0.0)]
    ToItself(HostId),
    /// Racks that do not have the same number of hosts of the group, or only one rack.
    #[error("the group does not have the same number of hosts in each of several racks")]
    UnevenRacks,
    /// A load that is not above 0 and at most 20.
    #[error("the load is {0}")]
    Load(f64),
    /// A load within bursts that is below the mean load, or more than 100 times it.
    #[error("the load within bursts is {asked}, and {load} on the mean")]
    BurstLoad {
        /// Load within bursts asked for.
        asked: f64,
        /// The mean load.
        load: f64,
    },
    /// A burst of no flow, or of more than [`MAX_BURST`](crate::MAX_BURST).
    #[error("a burst has {0} flows")]
    BurstFlows(u32),
    /// More pairs of hosts than can have bursts of their own.
    #[error("{0} pairs of hosts would have bursts of their own")]
    TooManyPairs(usize),
    /// A load of the core where no flow crosses it.
    #[error("the load is of the core, but no flow of the group crosses it")]
    NoCore,
    /// Frames without room for payload, or larger than a packet's length field.
    #[error("the frame sizes leave no room for payload")]
    Frame,
    /// More senders than there are.
    #[error("fan_in is {asked}, but {available} hosts can send to one receiver")]
    FanIn {
        /// Senders asked for.
        asked: u32,
        /// Hosts of the group besides the receiver.
        available: u32,
    },
    /// More servers than there are.
    #[error("fan_out is {asked}, but a client can ask {available} hosts")]
    FanOut {
        /// Servers asked for.
        asked: u32,
        /// Hosts that a client can ask.
        available: u32,
    },
    /// Hardly any coflow has hosts for its mappers and reducers and flows within bounds.
    #[error(
        "a part of {0} of the coflows drawn has hosts for its mappers and reducers and flows within flow_bytes"
    )]
    NoCoflow(f64),
    /// A ring of fewer than two workers, or of one that is there twice.
    #[error("a ring of {0} workers, or one of them twice")]
    Ring(usize),
    /// A ring of more workers than bytes.
    #[error("{0} workers, and fewer bytes to reduce")]
    Parts(usize),
    /// Epochs without time between them.
    #[error("the time between epochs is zero")]
    Period,
    /// A flow of no bytes, or of more than 2^47.
    #[error("a flow has {0} bytes")]
    Size(u64),
    /// A list without flows.
    #[error("there are no flows")]
    Empty,
    /// More than [`MAX_FLOWS`](crate::MAX_FLOWS) flows.
    #[error("there would be more than 50 million flows")]
    TooMany,
    /// A flow later than [`LATEST_START`](crate::LATEST_START).
    #[error("a flow would start after more than 26 days")]
    TooLate,
    /// A file that the app names.
    #[error(transparent)]
    File(#[from] Box<InputError>),
}

impl AppError {
    /// The key of the group's table that is to blame; empty for the table itself.
    pub fn key(&self) -> &'static str {
        match self {
            Self::NoHosts | Self::UnknownHost(_) | Self::Ring(_) => "hosts",
            Self::NoDestination(_) => "to",
            Self::Load(_) => "load.value",
            Self::BurstLoad { .. } => "burst_load",
            Self::BurstFlows(_) => "burst_flows",
            Self::TooManyPairs(_) => "per",
            Self::NoCore => "load.of",
            Self::FanIn { .. } => "fan_in",
            Self::Parts(_) => "reduced",
            Self::NoCoflow(_) => "mappers",
            Self::FanOut { .. } => "fan_out",
            Self::Period => "period",
            Self::Size(_) => "size",
            Self::UnevenRacks => "pairs",
            Self::Frame | Self::ToItself(_) | Self::Empty | Self::TooMany | Self::TooLate | Self::File(_) => {
                ""
            }
        }
    }

    /// What would be right.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::File(_) => "",
            Self::NoHosts => "name at least one host of the topology",
            Self::UnknownHost(_) => "name hosts of the topology, numbered from 0",
            Self::NoDestination(_) => "send to at least one other host (in another rack, if only those)",
            Self::ToItself(_) => "give two different hosts",
            Self::UnevenRacks => "name as many hosts in each rack, in at least two racks",
            Self::Load(_) => "give a share above 0 and at most 20, such as 0.8 for 80 %",
            Self::BurstLoad { .. } => {
                "give at least the mean load and at most 100 times that, such as 1.4 for 140 %"
            }
            Self::BurstFlows(_) => "give 1 to 10000 flows",
            Self::TooManyPairs(_) => "let hosts have bursts, per = \"host\", or at most 262144 pairs",
            Self::NoCore => "send between racks of a fabric, or state the load of hosts",
            Self::Frame => "let mtu be above header, and mtu and link sizes below 65536 bytes together",
            Self::FanIn { .. } | Self::FanOut { .. } => "ask for at least 1 and at most that many",
            Self::NoCoflow(_) => "fewer mappers or reducers, more hosts, or wider flow_bytes: at least 0.001",
            Self::Parts(_) => "at least a byte for each worker",
            Self::Ring(_) => "name at least two hosts, each once",
            Self::Period => "give a time above zero",
            Self::Size(_) => "give 1 byte to 2^47 bytes",
            Self::Empty => "give at least one flow",
            Self::TooMany => "shorten the time or lower the load",
            Self::TooLate => "shorten the time or raise the load",
        }
    }

    /// This error as one of the table `group` of an experiment file.
    pub fn in_file(&self, file: &str, group: &str) -> InputError {
        if let Self::File(error) = self {
            return (**error).clone();
        }
        let key = if self.key().is_empty() { group.to_owned() } else { format!("{group}.{}", self.key()) };
        InputError::new(file, None, key, self.to_string(), self.fix())
    }
}

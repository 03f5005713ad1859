//! Reasons why an app cannot run in its context.

use priolane_core::ids::HostId;
use priolane_source::InputError;

/// The reason why an app cannot run in its context.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AppError {
    /// The group has no host.
    #[error("the group has no host")]
    NoHosts,
    /// A host that is not part of the network.
    #[error("unknown host {}", .0.0)]
    UnknownHost(HostId),
    /// A host of the group has no destination.
    #[error("host {} has no destination", .0.0)]
    NoDestination(HostId),
    /// A flow would go from a host to itself.
    #[error("a flow would go from host {} to itself", .0.0)]
    ToItself(HostId),
    /// Racks with different numbers of hosts of the group, or only one rack.
    #[error("the group does not have the same number of hosts in each of several racks")]
    UnevenRacks,
    /// A load that is not above 0 and at most 20.
    #[error("the load {0} is out of range")]
    Load(f64),
    /// A load within bursts that is below the mean load, or more than 100 times the mean load.
    #[error("the load within bursts is {asked}, but the mean load is {load}")]
    BurstLoad {
        /// The load within bursts.
        asked: f64,
        /// The mean load.
        load: f64,
    },
    /// A burst of no flows, or of more than [`MAX_BURST`](crate::MAX_BURST).
    #[error("a burst cannot have {0} flows")]
    BurstFlows(u32),
    /// More pairs of hosts than can have their own bursts.
    #[error("{0} pairs of hosts would have their own bursts")]
    TooManyPairs(usize),
    /// A load relative to the core, which no flow crosses.
    #[error("the load is a share of the core, but no flow of the group crosses it")]
    NoCore,
    /// Frames without room for payload, or larger than a packet's length field.
    #[error("the frame sizes leave no room for payload")]
    Frame,
    /// More senders than hosts.
    #[error("fan_in is {asked}, but {available} hosts can send to one receiver")]
    FanIn {
        /// Number of senders requested.
        asked: u32,
        /// Hosts of the group other than the receiver.
        available: u32,
    },
    /// More servers than hosts.
    #[error("fan_out is {asked}, but a client can query {available} hosts")]
    FanOut {
        /// Number of servers requested.
        asked: u32,
        /// Hosts that a client can query.
        available: u32,
    },
    /// Hardly any drawn coflow has enough hosts and flow sizes within bounds.
    #[error(
        "only a fraction {0} of the drawn coflows has enough hosts for the mappers and reducers \
         and flows within flow_bytes"
    )]
    NoCoflow(f64),
    /// A warm start at a load, on the wire, at which the number of flows grows without bound.
    #[error("the load of a tier is {0:.3} on the wire, so there is no steady state to start from")]
    NoSteadyState(f64),
    /// Stratified sizes of a group of which the flows share few links.
    #[error(
        "the flows of the group share {0} links, and stratified sizes then add up to a total that varies too little"
    )]
    FewLinks(usize),
    /// Scaled arrivals in a run of a given length.
    #[error("arrivals are scaled to the load up to the last one, so the run cannot have a given length")]
    ScaledArrivals,
    /// A ring of fewer than two workers, or with a duplicate worker.
    #[error("the ring has {0} workers, or one of them twice")]
    Ring(usize),
    /// A ring with more workers than bytes.
    #[error("the ring has {0} workers, but fewer bytes to reduce")]
    Parts(usize),
    /// A collective of fewer than two ranks, or with a host that is two of them.
    #[error("the collective has {0} ranks, or one of them twice")]
    Ranks(usize),
    /// A pipeline of fewer than two ranks, or with a host that is two of them.
    #[error("the pipeline has {0} ranks, or one of them twice")]
    PipelineRanks(usize),
    /// Stages of different numbers of ranks.
    #[error("{ranks} hosts cannot be divided into {stages} stages of as many ranks")]
    Stages {
        /// Number of hosts.
        ranks: usize,
        /// Number of stages.
        stages: usize,
    },
    /// An algorithm that needs another number of ranks.
    #[error("halving_doubling needs a power of two, not {0} ranks")]
    NotPowerOfTwo(usize),
    /// A load of a list whose flows all start at the same time.
    #[error("all flows of the list start at once, and a load is over a span of time")]
    NoSpan,
    /// Zero time between epochs.
    #[error("the time between epochs is zero")]
    Period,
    /// A flow of zero bytes, or of more than 2^47.
    #[error("a flow cannot have {0} bytes")]
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
    /// An error in a file that the app names.
    #[error(transparent)]
    File(#[from] Box<InputError>),
}

impl AppError {
    /// Returns the key of the group's table at fault; empty for the table itself.
    pub fn key(&self) -> &'static str {
        match self {
            Self::NoHosts
            | Self::UnknownHost(_)
            | Self::Ring(_)
            | Self::Ranks(_)
            | Self::PipelineRanks(_) => "hosts",
            Self::Stages { .. } => "stages",
            Self::NoDestination(_) => "to",
            Self::Load(_) => "load.value",
            Self::BurstLoad { .. } => "burst_load",
            Self::BurstFlows(_) => "burst_flows",
            Self::TooManyPairs(_) => "per",
            Self::NoCore => "load.of",
            Self::NoSpan => "load",
            Self::FanIn { .. } => "fan_in",
            Self::Parts(_) => "reduced",
            Self::NotPowerOfTwo(_) => "algorithm",
            Self::NoCoflow(_) => "mappers",
            Self::NoSteadyState(_) => "load.value",
            Self::FewLinks(_) => "draw",
            Self::ScaledArrivals => "arrivals",
            Self::FanOut { .. } => "fan_out",
            Self::Period => "period",
            Self::Size(_) => "size",
            Self::UnevenRacks => "pairs",
            Self::Frame | Self::ToItself(_) | Self::Empty | Self::TooMany | Self::TooLate | Self::File(_) => {
                ""
            }
        }
    }

    /// Returns what would be correct.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::File(_) => "",
            Self::NoHosts => "at least one host of the topology",
            Self::UnknownHost(_) => "hosts of the topology, numbered from 0",
            Self::NoDestination(_) => {
                "at least one other host as the destination (in another rack, if flows go only to other \
                 racks)"
            }
            Self::ToItself(_) => "two different hosts",
            Self::UnevenRacks => "the same number of hosts in each of at least two racks",
            Self::Load(_) => "a share above 0 and at most 20, such as 0.8 for 80 %",
            Self::BurstLoad { .. } => {
                "at least the mean load and at most 100 times the mean load, such as 1.4 for 140 %"
            }
            Self::BurstFlows(_) => "1 to 10000 flows",
            Self::TooManyPairs(_) => "per = \"host\", or at most 262144 pairs",
            Self::NoSpan => "a list with flows that start at two instants at least, or no load",
            Self::NoCore => "a group that sends between racks of a fabric, or of = \"host\"",
            Self::Frame => "an mtu above header, with mtu and link sizes below 65536 bytes in total",
            Self::FanIn { .. } | Self::FanOut { .. } => "a number from 1 to that number of hosts",
            Self::NoSteadyState(_) => "a load below 1 on the wire, or time.start = \"empty\"",
            Self::FewLinks(_) => "draw = \"independent\", or at least 16 hosts on both sides",
            Self::NoCoflow(_) => {
                "fewer mappers or reducers, more hosts, or wider flow_bytes, so that a fraction of 0.001 fits"
            }
            Self::ScaledArrivals => {
                "time = { flows = N } in place of warmup and measure, or arrivals = \"poisson\""
            }
            Self::Parts(_) => "at least one byte for each worker",
            Self::Ring(_) | Self::Ranks(_) | Self::PipelineRanks(_) => "at least two hosts, each once",
            Self::Stages { .. } => "a number of stages that divides the number of hosts",
            Self::NotPowerOfTwo(_) => "algorithm = \"ring\", or 2, 4, 8, ... hosts",
            Self::Period => "a time above zero",
            Self::Size(_) => "1 byte to 2^47 bytes",
            Self::Empty => "at least one flow",
            Self::TooMany => "a shorter time or a lower load",
            Self::TooLate => "a shorter time or a higher load",
        }
    }

    /// Returns this error as one of the table `group` of an experiment file.
    pub fn in_file(&self, file: &str, group: &str) -> InputError {
        if let Self::File(error) = self {
            return (**error).clone();
        }
        let key = if self.key().is_empty() { group.to_owned() } else { format!("{group}.{}", self.key()) };
        InputError::new(file, None, key, self.to_string(), self.fix())
    }
}

//! The deployment of a part: its needs of switches, hosts and applications of a real network, beyond FIFO ports and the sockets of a host.

/// Something that switches, hosts or applications must have, or must tell, for a part to be deployed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Need {
    /// Switches mark packets above a threshold.
    Ecn,
    /// Switches write queue lengths and rates into packets.
    Int,
    /// Switches cut payload off packets that do not fit.
    Trimming,
    /// Switches limit the rate of tokens.
    TokenLimiter,
    /// Switches have queues that are sorted by a rank.
    RankQueues,
    /// Hosts write code points into packets.
    Dscp,
    /// Hosts have another congestion control of their kernel.
    CongestionControl,
    /// Hosts load a congestion control as a module.
    CongestionModule,
    /// Hosts load a transport as a module.
    KernelModule,
    /// Hosts run a transport in user space.
    UserStack,
    /// Applications tell the size of each flow when it starts.
    SizesKnown,
    /// Applications tell deadlines.
    Deadlines,
    /// Applications tell which flows belong to a coflow.
    Coflows,
    /// Applications ask for classes.
    Classes,
    /// Flows pay for what they get.
    Prices,
}

impl Need {
    /// Returns the word for it in fabric files and answers.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ecn => "ecn",
            Self::Int => "int",
            Self::Trimming => "trimming",
            Self::TokenLimiter => "token_limiter",
            Self::RankQueues => "rank_queues",
            Self::Dscp => "dscp",
            Self::CongestionControl => "congestion_control",
            Self::CongestionModule => "congestion_module",
            Self::KernelModule => "kernel_module",
            Self::UserStack => "user_stack",
            Self::SizesKnown => "sizes_known",
            Self::Deadlines => "deadlines",
            Self::Coflows => "coflows",
            Self::Classes => "classes",
            Self::Prices => "prices",
        }
    }
}

/// The knowledge of the paths of its flows that a transport needs. A simulator knows all of it, and a real host measures it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathKnowledge {
    /// Nothing.
    #[default]
    Nothing,
    /// The delay of the empty path. A host that measures it while others send takes their queue for part of the path.
    BaseDelay,
    /// Delay and rate: its window is the bandwidth-delay product, or its rate changes once in a round trip.
    Whole,
}

/// The deployment of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deployment {
    /// The things that must be there.
    pub needs: &'static [Need],
    /// Linux's name of the congestion control, if Linux has it.
    pub linux: Option<&'static str>,
    /// The work of switch ports, as the rest of a sentence that begins with "switches"; `{queues}` stands for their number. Empty
    /// for parts of other rows.
    pub serves: &'static str,
    /// The abilities that ports of bought switches lack for it; empty if nothing.
    pub lacks: &'static str,
    /// The knowledge of paths that a transport needs.
    pub paths: PathKnowledge,
    /// Defaults of keys on real hosts, which are late by milliseconds on busy machines: groups of `key = value`, separated by
    /// commas. If a file states one key of a group, none of its defaults applies.
    pub on_hosts: &'static [&'static str],
}

impl Deployment {
    /// A part that takes nothing.
    pub const NONE: Self =
        Self { needs: &[], linux: None, serves: "", lacks: "", paths: PathKnowledge::Nothing, on_hosts: &[] };
}

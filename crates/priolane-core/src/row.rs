//! The rows of a scheme and the tables of an experiment, of which a file chooses one part each.

/// A list of parts of which a file chooses one: a row of a scheme, or a table of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Row {
    /// Transport: congestion control and scheduling of flows.
    Transport,
    /// Assignment of priorities to flows.
    Assign,
    /// Admission control of flows at their priorities.
    Admit,
    /// Send order of a host.
    Host,
    /// NIC: the queue between a host's transport and its link.
    Nic,
    /// Queueing discipline of switch ports.
    Port,
    /// Topology of an experiment.
    Topology,
    /// Application of an experiment group: what starts flows.
    App,
}

impl Row {
    /// The rows of a scheme, in the order of its file.
    pub const OF_SCHEME: [Self; 6] =
        [Self::Transport, Self::Assign, Self::Admit, Self::Host, Self::Nic, Self::Port];

    /// Returns its key in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::Assign => "assign",
            Self::Admit => "admit",
            Self::Host => "host",
            Self::Nic => "nic",
            Self::Port => "port",
            Self::Topology => "topology",
            Self::App => "app",
        }
    }
}

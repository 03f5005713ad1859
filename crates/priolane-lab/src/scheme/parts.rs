//! The rows assign and host.

use priolane_core::assign::by_flow::ByFlow;
use serde::Serialize;

use super::controller::Controller;
use super::thresholds::Thresholds;

/// Who deserves which priority.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Assign {
    /// Packets keep the class their flow asked for.
    None,
    /// A flow is demoted as it sends.
    BytesSent {
        /// Number of levels, 1 to 16.
        levels: u8,
        /// What "sent" counts.
        count: Count,
        /// Where one level ends and the next begins.
        thresholds: Thresholds,
        /// How these, and those inside hosts, follow the workload; static without.
        #[serde(skip_serializing_if = "Option::is_none")]
        controller: Option<Controller>,
    },
    /// A flow gets a class when it starts, by what is known of it.
    #[serde(untagged)]
    Known(ByFlow),
}

impl Assign {
    /// The name in scheme files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::BytesSent { .. } => "bytes_sent",
            Self::Known(known) => known.name(),
        }
    }
}

/// What "bytes sent" counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// The packet's offset in the stream.
    StreamOffset,
    /// Every payload byte sent, retransmissions included.
    BytesSent,
}

/// In what order a host sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Host {
    /// Flows take turns.
    RoundRobin,
    /// Strict levels by bytes sent.
    Mlfq {
        /// Number of levels, 1 to 16.
        levels: u8,
        /// Where one level ends and the next begins.
        thresholds: Thresholds,
    },
    /// Fewest bytes left first.
    Srpt,
    /// Fewest bytes sent first.
    Las,
    /// The order of the transmit queue.
    Fifo,
    /// The transport's own.
    Own,
}

impl Host {
    /// The name in scheme files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::Mlfq { .. } => "mlfq",
            Self::Srpt => "srpt",
            Self::Las => "las",
            Self::Fifo => "fifo",
            Self::Own => "own",
        }
    }
}

//! A scheme: one choice in each row, with its parameters, as a scheme file states it.

mod admit;
mod check;
mod controller;
mod fabric;
mod groups;
mod parts;
mod port;
mod read;
mod shipped;
mod thresholds;
mod transport;

use priolane_core::admit::Policy;
use priolane_core::nic::Nic;
use priolane_core::port::{ClassMap, PortKeys};
use priolane_core::transport::{Spec, phost};
use serde::Serialize;

pub use check::check;
pub use controller::Controller;
pub use fabric::{Coverage, Fabric, Fault, Routing};
pub use parts::{Assign, Count, Host};
pub use read::{MERGE, read};
pub use shipped::{RENAMED, SHIPPED, shipped, shipped_tree};
pub use thresholds::{Solver, Tail, Thresholds};

/// A whole scheme; serialized, it is a scheme file again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scheme {
    /// The paper it stands for, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// Anchors of docs/assumptions.md that it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<&'static str>,
    /// How fast a flow may send.
    pub transport: Spec,
    /// Who deserves which priority.
    pub assign: Assign,
    /// In what order a host sends.
    pub host: Host,
    /// Who is admitted at which priority.
    pub admit: Policy,
    /// What stands between transport and line.
    pub nic: Nic,
    /// What a switch port does.
    pub port: PortKeys,
    /// Which queue of a port a class goes to.
    pub map: ClassMap,
}

impl Scheme {
    /// The number of classes packets of a flow can carry that is given class 0, at least 1.
    pub fn levels(&self) -> u8 {
        match &self.assign {
            Assign::None | Assign::Known(_) => 1,
            Assign::BytesSent { levels, .. } => *levels,
        }
    }

    /// How many classes its packets carry, where flows ask for classes up to `top`: those that flows are given, those that
    /// they are demoted to, or the transport's own.
    pub fn classes_carried(&self, top: u8) -> u32 {
        let given = match &self.assign {
            Assign::Known(known) => known.part().levels(),
            Assign::None | Assign::BytesSent { .. } => top + 1,
        };
        let given = self.admit.part().levels().map_or(given, |levels| levels.max(given));
        let own = match &self.transport {
            Spec::PHost(_) => u32::from(phost::LEVELS),
            Spec::Homa(keys) => u32::from(keys.levels.count()),
            _ => 1,
        };
        (u32::from(given) + u32::from(self.levels()) - 1).max(own)
    }

    /// The thresholds of the assign row, to resolve or read.
    pub fn assign_thresholds(&self) -> Option<&Thresholds> {
        match &self.assign {
            Assign::None | Assign::Known(_) => None,
            Assign::BytesSent { thresholds, .. } => Some(thresholds),
        }
    }

    /// The thresholds of the host row, to resolve or read.
    pub fn host_thresholds(&self) -> Option<&Thresholds> {
        match &self.host {
            Host::Mlfq { thresholds, .. } => Some(thresholds),
            _ => None,
        }
    }
}

//! A scheme: one choice in each row, with its parameters, as a scheme file states it.

mod admit;
mod assign;
mod check;
mod fabric;
mod host;
mod port;
mod read;
mod row;
mod shipped;
mod transport;

use priolane_core::admit::Policy;
use priolane_core::assign::Assign;
use priolane_core::host::Order;
use priolane_core::nic::Nic;
use priolane_core::port::{ClassMap, PortKeys};
use priolane_core::transport::Spec;
use serde::Serialize;

pub use check::check;
pub(crate) use fabric::{Coverage, Routing};
pub use fabric::{Fabric, Fault};
pub(crate) use port::BUFFER;
pub(crate) use read::MERGE;
pub use read::read;
pub(crate) use shipped::{RENAMED, shipped_tree};
pub use shipped::{SHIPPED, shipped};

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
    pub host: Order,
    /// Who is admitted at which priority.
    pub admit: Policy,
    /// What stands between transport and line.
    pub nic: Nic,
    /// What a switch port does.
    pub port: PortKeys,
    /// Which queue of a port a class goes to.
    pub map: ClassMap,
    /// Whether it goes by what flows pay for.
    #[serde(skip_serializing_if = "Pay::is_honoured")]
    pub pay: Pay,
}

/// Whether a scheme goes by what flows pay for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pay {
    /// Its transport or its `assign` row must.
    #[default]
    Honoured,
    /// Neither does: all flows are best effort to it. They are billed all the same.
    Ignored,
}

impl Pay {
    /// The words of files.
    pub(crate) const WORDS: [(&str, Self); 2] = [("honoured", Self::Honoured), ("ignored", Self::Ignored)];

    fn is_honoured(&self) -> bool {
        *self == Self::Honoured
    }
}

impl Scheme {
    /// The number of classes packets of a flow can carry that is given class 0, at least 1.
    pub fn levels(&self) -> u8 {
        self.assign.demotion().map_or(1, |demotion| demotion.levels)
    }

    /// How many classes its packets carry, where flows ask for classes up to `top`: those that flows are given, those that
    /// they are demoted to, or the transport's own.
    pub(crate) fn classes_carried(&self, top: u8) -> u32 {
        let given = match &self.assign {
            Assign::ByFlow(rule) => rule.part().levels(),
            Assign::None(_) | Assign::BytesSent(_) => top + 1,
        };
        let given = self.admit.part().levels().map_or(given, |levels| levels.max(given));
        let own = u32::from(self.transport.classes());
        (u32::from(given) + u32::from(self.levels()) - 1).max(own)
    }
}

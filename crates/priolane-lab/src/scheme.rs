//! A scheme: one choice per row, with its parameters, as given in a scheme file.

mod admit;
mod assign;
mod check;
mod completion;
mod fabric;
mod findings;
mod host;
mod marking;
mod memory;
mod port;
mod read;
mod row;
mod shipped;
mod transport;

use priolane_core::admit::Policy;
use priolane_core::assign::{Assign, FirstClasses};
use priolane_core::file_code::FileCode;
use priolane_core::host::Order;
use priolane_core::nic::Nic;
use priolane_core::port::{ClassMap, PortKeys};
use priolane_core::transport::Spec;
use serde::Serialize;

pub use check::check;
pub(crate) use completion::complete;
pub(crate) use fabric::{Coverage, EmptyPath, Routing};
pub use fabric::{Fabric, Fault};
pub(crate) use findings::findings;
pub(crate) use port::BUFFER;
pub(crate) use read::MERGE;
pub use read::read;
pub(crate) use shipped::shipped_tree;
pub use shipped::{SHIPPED, shipped};
pub(crate) use transport::MERGE as TRANSPORT_MERGE;

/// A complete scheme; it serializes to a scheme file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scheme {
    /// The paper that it implements, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// Anchors of docs/assumptions.md on which it relies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<&'static str>,
    /// Transport, with its congestion control.
    pub transport: Spec,
    /// Assignment of classes to flows.
    pub assign: Assign,
    /// Host scheduler: the order in which a host sends.
    pub host: Order,
    /// Admission policy.
    pub admit: Policy,
    /// NIC between transport and link.
    pub nic: Nic,
    /// Port discipline, buffer and marking of switches.
    pub port: PortKeys,
    /// Map from classes to queues of a port.
    pub map: ClassMap,
    /// Whether the scheme uses what flows pay for.
    #[serde(skip_serializing_if = "Pay::is_honoured")]
    pub pay: Pay,
}

impl Scheme {
    /// Returns the code ids of its parts of other crates, in the order of rows.
    pub fn codes(&self) -> Vec<u64> {
        let of_nic = self.nic.part().port().and_then(|queue| queue.keys.kind.code());
        let rows =
            [self.transport.code(), self.assign.code(), self.admit.code(), of_nic, self.port.kind.code()];
        rows.into_iter().flatten().collect()
    }

    /// Returns each part whose code is in a file, with the name of its row.
    pub fn file_codes(&mut self) -> impl Iterator<Item = (&'static str, &mut dyn FileCode)> {
        let rows = [
            ("transport", self.transport.file_code_mut()),
            ("assign", self.assign.file_code_mut()),
            ("admit", self.admit.file_code_mut()),
        ];
        rows.into_iter().filter_map(|(row, code)| Some((row, code?)))
    }
}

/// Whether a scheme uses what flows pay for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pay {
    /// Its transport or its `assign` row must use it.
    #[default]
    Honoured,
    /// Not used: all flows are treated as best effort, but billed as usual.
    Ignored,
}

impl Pay {
    /// The words in files.
    pub(crate) const WORDS: [(&str, Self); 2] = [("honoured", Self::Honoured), ("ignored", Self::Ignored)];

    fn is_honoured(&self) -> bool {
        *self == Self::Honoured
    }
}

impl Scheme {
    /// Returns the number of classes that packets of a flow with assigned class 0 can carry, at least 1.
    pub fn levels(&self) -> u8 {
        self.assign.demotion().map_or(1, |demotion| demotion.levels)
    }

    /// Returns the number of classes in which flows begin if they request classes up to `top`.
    pub(crate) fn classes_given(&self, top: u8) -> u8 {
        match &self.assign {
            Assign::ByFlow(rule) => rule.part().levels(),
            Assign::BytesSent(bytes_sent) => bytes_sent.first.as_ref().map_or(top, FirstClasses::largest) + 1,
            Assign::None(_) => top + 1,
        }
    }

    /// Returns the number of classes of packets if flows request classes up to `top`: assigned classes, classes by
    /// demotion, or those of the transport.
    pub(crate) fn classes_carried(&self, top: u8) -> u32 {
        let given = self.classes_given(top);
        let given = self.admit.part().levels().map_or(given, |levels| levels.max(given));
        let own = u32::from(self.transport.classes());
        (u32::from(given) + u32::from(self.levels()) - 1).max(own)
    }
}

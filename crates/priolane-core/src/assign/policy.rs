//! The row `assign` of a scheme: assignment of priorities.

use super::by_flow::ByFlow;
use super::bytes_sent::BytesSent;
use super::thresholds::Demotion;
use crate::keys::{KeyInfo, Keys, Pairs, Table};
use crate::part::{Entry, Part, Row, describe, take_name};

/// A priority assignment with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Assign {
    /// Packets keep the class that their flow requested.
    None(NoAssignment),
    /// A flow is demoted as it sends.
    BytesSent(BytesSent),
    /// A rule sets a flow's class when it starts.
    ByFlow(ByFlow),
}

/// Parameters of the policy `none`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "none",
    summary = "packets keep the class that their flow requests",
    source = "docs/assumptions.md#classes"
)]
pub struct NoAssignment;

impl Default for Assign {
    fn default() -> Self {
        Self::None(NoAssignment)
    }
}

impl Assign {
    /// Returns the name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None(_) => NoAssignment::NAME,
            Self::BytesSent(_) => BytesSent::NAME,
            Self::ByFlow(rule) => rule.name(),
        }
    }

    /// Returns the declarations of all policies.
    pub fn entries() -> Vec<Entry> {
        let mut entries = ByFlow::entries();
        entries.extend([Entry::of::<NoAssignment>(Row::Assign), Entry::of::<BytesSent>(Row::Assign)]);
        entries
    }

    /// Returns its levels by bytes sent; `None` if flows are not demoted.
    pub fn demotion(&self) -> Option<&Demotion> {
        match self {
            Self::BytesSent(bytes_sent) => Some(&bytes_sent.demotion),
            Self::None(_) | Self::ByFlow(_) => None,
        }
    }

    /// Returns how thresholds adapt to the workload, if they do.
    pub fn controller(&self) -> Option<&super::control::Config> {
        match self {
            Self::BytesSent(bytes_sent) => bytes_sent.controller.as_ref(),
            Self::None(_) | Self::ByFlow(_) => None,
        }
    }
}

impl Keys for Assign {
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        let names: Vec<&str> =
            [NoAssignment::NAME, BytesSent::NAME].into_iter().chain(ByFlow::NAMES.iter().copied()).collect();
        let name = take_name(table, "kind", &names)?;
        if let Some(rule) = ByFlow::read(name, table)? {
            return Ok(Self::ByFlow(rule));
        }
        match name {
            BytesSent::NAME => BytesSent::read(table).map(Self::BytesSent),
            _ => NoAssignment::read(table).map(Self::None),
        }
    }

    fn write(&self, out: &mut Pairs) {
        match self {
            Self::None(none) => {
                out.push(("kind", self.name().into()));
                none.write(out);
            }
            Self::BytesSent(bytes_sent) => {
                out.push(("kind", self.name().into()));
                bytes_sent.write(out);
            }
            Self::ByFlow(rule) => rule.write(out),
        }
    }

    fn describe(out: &mut Vec<KeyInfo>) {
        describe("kind", Self::entries(), out);
    }
}

impl serde::Serialize for Assign {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        crate::keys::serialize(self, s)
    }
}

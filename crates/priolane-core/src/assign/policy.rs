//! The row `assign` of a scheme: assignment of priorities.

use super::by_flow::{ByFlow, RegisteredRule, Rule};
use super::bytes_sent::BytesSent;
use super::first_class::FirstClasses;
use super::thresholds::Demotion;
use crate::file_code::FileCode;
use crate::keys::{KeyInfo, Keys, Pairs, Table};
use crate::part::{Entry, Part, Row, describe, take_name};
use crate::registry::{RegisterError, Registered};

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

/// Adds the rule `R` of another crate, under the name of the part, to the assignments that files can name.
///
/// `code` identifies the code that computes its results, and is part of the ids of its runs:
/// `priolane_core::code_id!()` of the crate that defines the rule.
///
/// ```
/// use priolane_core::assign::{self, by_flow::Rule};
/// use priolane_core::endpoint::FlowSpec;
/// use priolane_core::keys::Keys;
/// use priolane_core::part::{Part, Row};
///
/// #[derive(Clone, Debug, PartialEq, Keys, Part)]
/// #[part(name = "one_in", summary = "one in some flows goes first", source = "this page")]
/// struct OneIn {
///     /// The number of flows of which one goes first.
///     #[key(default = 4, range = "[1, )", source = "this page")]
///     flows: u32,
/// }
///
/// impl Rule for OneIn {
///     fn levels(&self) -> u8 {
///         2
///     }
///     fn class(&self, flow: &FlowSpec, _: f64) -> Option<u8> {
///         Some(u8::from(flow.id.0 % self.flows != 0))
///     }
/// }
///
/// assign::register::<OneIn>(1)?;
/// assert!(priolane_core::scheme::names(Row::Assign).contains(&"one_in"));
/// assert!(assign::register::<OneIn>(1).is_err());
/// # Ok::<(), priolane_core::registry::RegisterError>(())
/// ```
///
/// # Errors
/// Fails as [`RegisterError`] describes.
pub fn register<R>(code: u64) -> Result<(), RegisterError>
where
    R: Rule + Part + Clone + PartialEq + Send + Sync + 'static,
{
    <dyn RegisteredRule>::register::<R>(code, &Assign::listed())
}

impl Assign {
    /// Returns the names in files of the assignments of this crate.
    fn listed() -> Vec<&'static str> {
        [NoAssignment::NAME, BytesSent::NAME].into_iter().chain(ByFlow::NAMES.iter().copied()).collect()
    }

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
        entries.extend(ByFlow::registered_entries());
        entries
    }

    /// Returns the code hash of a rule of another crate; `None` for one of this crate.
    pub fn code(&self) -> Option<u64> {
        match self {
            Self::ByFlow(rule) => rule.code(),
            Self::None(_) | Self::BytesSent(_) => None,
        }
    }

    /// Returns the code of its rule that is in a file; `None` for compiled code.
    pub fn file_code(&self) -> Option<&dyn FileCode> {
        match self {
            Self::ByFlow(rule) => rule.part().file_code(),
            Self::None(_) | Self::BytesSent(_) => None,
        }
    }

    /// As [`Self::file_code`].
    pub fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        match self {
            Self::ByFlow(rule) => rule.part_mut().file_code_mut(),
            Self::None(_) | Self::BytesSent(_) => None,
        }
    }

    /// Returns its levels by bytes sent; `None` if flows are not demoted.
    pub fn demotion(&self) -> Option<&Demotion> {
        match self {
            Self::BytesSent(bytes_sent) => Some(&bytes_sent.demotion),
            Self::None(_) | Self::ByFlow(_) => None,
        }
    }

    /// Returns the classes in which flows of groups begin and from which they are demoted; `None` if none are stated.
    pub fn first(&self) -> Option<&FirstClasses> {
        match self {
            Self::BytesSent(bytes_sent) => bytes_sent.first.as_ref(),
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
        let registry = <Box<dyn RegisteredRule>>::registry();
        let names: Vec<&str> = Self::listed().into_iter().chain(registry.names()).collect();
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

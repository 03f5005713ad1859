//! Rules of other crates.

use super::rule::Rule;
use crate::keys::DynTable;
use crate::part::{Entry, Part, Row};
use crate::registry::{RegisterError, Registration, Registry, boxed_parts};

boxed_parts! {
    /// A rule of another crate with its parameters.
    pub trait RegisteredRule: Rule;
}

static RULES: Registry<Box<dyn RegisteredRule>> = Registry::new();

/// Adds the rule `R`, under the name of the part, to the rules that files can name.
///
/// `code` identifies the code that computes its results, and is part of the ids of its runs:
/// `priolane_core::code_id!()` of the crate that defines it.
///
/// # Errors
/// Fails as [`RegisterError`] describes. `listed` are the names that are taken.
pub(in crate::assign) fn add<R>(code: u64, listed: &[&str]) -> Result<(), RegisterError>
where
    R: Rule + Part + Clone + PartialEq + Send + Sync + 'static,
{
    let read: crate::registry::ReadKeys<Box<dyn RegisteredRule>> =
        |table| Ok(Box::new(R::read(&mut DynTable(table))?));
    RULES.add(Registration { entry: Entry::of::<R>(Row::Assign), read, code }, listed)
}

/// Returns the rules of other crates. After the first call none can be added.
pub(in crate::assign) fn registered() -> &'static Registry<Box<dyn RegisteredRule>> {
    &RULES
}

//! Admission policies of other crates.

use super::admission::AdmissionPolicy;
use crate::keys::DynTable;
use crate::part::{Entry, Part, Row};
use crate::registry::{ReadKeys, RegisterError, Registration, Registry, boxed_parts};

boxed_parts! {
    /// An admission policy of another crate with its parameters.
    pub trait RegisteredPolicy: AdmissionPolicy;
}

static POLICIES: Registry<Box<dyn RegisteredPolicy>> = Registry::new();

/// Adds the policy `P` to the policies `listed`.
///
/// # Errors
/// Fails as [`RegisterError`] describes.
pub(super) fn add<P>(code: u64, listed: &[&str]) -> Result<(), RegisterError>
where
    P: AdmissionPolicy + Part + Clone + PartialEq + Send + Sync + 'static,
{
    let read: ReadKeys<Box<dyn RegisteredPolicy>> = |table| Ok(Box::new(P::read(&mut DynTable(table))?));
    let entry = Entry::of::<P>(Row::Admit);
    POLICIES.add(Registration { entry, read, code }, listed)
}

/// Returns the policies of other crates. After the first call none can be added.
pub(super) fn registered() -> &'static Registry<Box<dyn RegisteredPolicy>> {
    &POLICIES
}

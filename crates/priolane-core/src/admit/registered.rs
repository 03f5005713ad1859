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

/// Adds the policy `P`, under the name of the part, to the policies that files can name.
///
/// `code` identifies the code that computes its results, and is part of the ids of its runs:
/// `priolane_core::code_id!()` of the crate that defines the policy.
///
/// ```
/// use priolane_core::admit::{self, Admission, AdmissionPolicy, AdmissionState, Source};
/// use priolane_core::endpoint::{FlowReport, FlowSpec};
/// use priolane_core::ids::{Class, FlowId};
/// use priolane_core::keys::Keys;
/// use priolane_core::part::{Part, Row};
/// use priolane_core::rng::Stream;
/// use priolane_core::units::Time;
///
/// /// A host has at most some flows in class 0 at a time.
/// #[derive(Clone, Debug, PartialEq, Keys, Part)]
/// #[part(name = "seats", summary = "some flows of a host go first", source = "this page")]
/// struct Seats {
///     /// The number of flows.
///     #[key(default = 8, range = "[1, ]", source = "this page")]
///     seats: usize,
///     #[keys(skip)]
///     taken: Vec<FlowId>,
/// }
///
/// impl AdmissionPolicy for Seats {
///     fn at_host(&self, _: &Source) -> Option<Box<dyn Admission>> {
///         Some(Box::new(self.clone()))
///     }
///     fn levels(&self) -> Option<u8> {
///         Some(2)
///     }
/// }
///
/// impl Admission for Seats {
///     fn open(&mut self, flow: &FlowSpec, _: Time, _: &mut Stream) -> Class {
///         if flow.class > 0 || self.taken.len() == self.seats {
///             return 1;
///         }
///         self.taken.push(flow.id);
///         0
///     }
///     fn completed(&mut self, report: &FlowReport, _: Time) {
///         self.aborted(report.flow);
///     }
///     fn aborted(&mut self, flow: FlowId) {
///         self.taken.retain(|&other| other != flow);
///     }
///     fn account(&self) -> AdmissionState {
///         AdmissionState::default()
///     }
/// }
///
/// admit::register::<Seats>(1)?;
/// assert!(priolane_core::scheme::names(Row::Admit).contains(&"seats"));
/// # Ok::<(), priolane_core::registry::RegisterError>(())
/// ```
///
/// # Errors
/// Fails as [`RegisterError`] describes.
pub fn register<P>(code: u64) -> Result<(), RegisterError>
where
    P: AdmissionPolicy + Part + Clone + PartialEq + Send + Sync + 'static,
{
    let read: ReadKeys<Box<dyn RegisteredPolicy>> = |table| Ok(Box::new(P::read(&mut DynTable(table))?));
    let entry = Entry::of::<P>(Row::Admit);
    POLICIES.add(Registration { entry, read, code }, super::Policy::NAMES)
}

/// Returns the policies of other crates. After the first call none can be added.
pub(super) fn registered() -> &'static Registry<Box<dyn RegisteredPolicy>> {
    &POLICIES
}

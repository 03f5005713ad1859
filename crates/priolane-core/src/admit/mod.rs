//! Admission policies of a source host. Their only inputs are flow opens and the reports of senders.
//!
//! ```text
//!              open(requested)             report, completed
//!   flow ──────────────────▶ policy ◀────────────────────────── sender
//!              class                          │
//!   sender ◀──────────────── random draw      └─▶ new class (if running flows are moved)
//! ```
//!
//! Class 0 is the highest, `levels - 1` the lowest. A flow that requests a class beyond the lowest is treated as
//! requesting the lowest. Probabilities are kept per source host (one policy each), destination and class.

mod account;
mod active_flow;
mod admission;
pub mod aequitas;
mod applications;
pub mod firapam;
mod host_admission;
mod monitor;
mod none;
pub mod pase;
mod registered;

pub use account::{AdmissionState, ConvergenceTrace, Key, LogHistogram, SettlingTime};
pub use admission::{Admission, AdmissionPolicy, Notice, Source};
pub use applications::{Notices, OnDowngrade};
pub use host_admission::{AdmissionDecision, AdmissionSite, HostAdmission};
pub use monitor::{Interval, Monitoring, Remap};
pub(crate) use none::NoAdmission;
pub use registered::RegisteredPolicy;

use crate::file_code::FileCode;
use crate::part::{Part, parts};
use crate::registry::RegisterError;
use crate::registry::Registered as _;

parts! {
    /// An admission policy with its parameters.
    pub enum Policy: dyn AdmissionPolicy in Admit {
        /// Aequitas (SIGCOMM 2022).
        Aequitas(aequitas::Config);
        /// PASE's mapping (SIGCOMM 2014), arbitrated at the source.
        Pase(pase::Config);
        /// Firapam.
        Firapam(firapam::Config);
        /// No admission control: every flow gets its requested class.
        None(NoAdmission);
    } else {
        /// A policy of another crate.
        Registered(Box<dyn RegisteredPolicy>);
    }
}

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
///     #[key(default = 8, range = "[1, )", source = "this page")]
///     seats: u32,
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
///         if flow.class > 0 || self.taken.len() == self.seats as usize {
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
    <dyn RegisteredPolicy>::register::<P>(code, Policy::NAMES)
}

impl Policy {
    /// Returns the code of the policy that is in a file; `None` for compiled code.
    pub fn file_code(&self) -> Option<&dyn FileCode> {
        self.part().file_code()
    }

    /// As [`Self::file_code`].
    pub fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        self.part_mut().file_code_mut()
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::None(NoAdmission)
    }
}

#[cfg(test)]
mod tests;

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

pub use account::{AdmissionState, ConvergenceTrace, Key, LogHistogram, SettlingTime};
pub(crate) use admission::AdmissionPolicy;
pub use admission::{Admission, Notice, Source};
pub use applications::{Notices, OnDowngrade};
pub use host_admission::{AdmissionDecision, AdmissionSite, HostAdmission};
pub use monitor::{Interval, Monitoring, Remap};
pub(crate) use none::NoAdmission;

use crate::part::parts;

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
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::None(NoAdmission)
    }
}

#[cfg(test)]
mod tests;

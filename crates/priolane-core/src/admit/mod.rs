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
pub use registered::{RegisteredPolicy, register};

use crate::file_code::FileCode;
use crate::keys::{KeyInfo, Keys, Pairs, Table};
use crate::part::{Entry, describe, parts, take_name};
use registered::registered;

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

impl Policy {
    /// Returns the declarations of all policies, with those of other crates.
    pub fn all_entries() -> Vec<Entry> {
        let others = registered().all().iter().map(|policy| policy.entry.clone());
        Self::entries().into_iter().chain(others).collect()
    }

    /// Returns the code hash of a policy of another crate; `None` for one of this crate.
    pub fn code(&self) -> Option<u64> {
        registered().named(self.name()).map(|policy| policy.code)
    }

    /// Returns the code of the policy that is in a file; `None` for compiled code.
    pub fn file_code(&self) -> Option<&dyn FileCode> {
        self.part().file_code()
    }

    /// As [`Self::file_code`].
    pub fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        self.part_mut().file_code_mut()
    }
}

impl Keys for Policy {
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        let names: Vec<&str> = Self::NAMES.iter().copied().chain(registered().names()).collect();
        let name = take_name(table, "kind", &names)?;
        match registered().read(name, table)? {
            Some(policy) => Ok(Self::Registered(policy)),
            None => Self::read(name, table).map(|policy| policy.expect("invariant: the name is on a list")),
        }
    }

    fn write(&self, out: &mut Pairs) {
        self.write(out);
    }

    fn describe(out: &mut Vec<KeyInfo>) {
        describe("kind", Self::all_entries(), out);
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::None(NoAdmission)
    }
}

#[cfg(test)]
mod tests;

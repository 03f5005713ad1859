//! Admission policies of other crates.

use super::admission::AdmissionPolicy;
use crate::registry::registered_parts;

registered_parts! {
    /// An admission policy of another crate with its parameters.
    pub trait RegisteredPolicy: AdmissionPolicy in Admit;
}

//! No admission control: every flow gets its requested class.

use super::admission::{Admission, AdmissionPolicy, Source};
use crate::keys::Keys;
use crate::part::Part;

/// The policy `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "none",
    summary = "admits every flow at its requested class",
    source = "docs/assumptions.md#classes"
)]
pub struct NoAdmission;

impl AdmissionPolicy for NoAdmission {
    fn at_host(&self, _: &Source) -> Option<Box<dyn Admission>> {
        None
    }

    fn levels(&self) -> Option<u8> {
        None
    }
}

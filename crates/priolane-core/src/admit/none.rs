//! No admission: every flow gets the class it asks for.

use super::admission::{Admission, AdmissionPolicy, Source};
use crate::keys::Keys;
use crate::part::Part;

/// The policy `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "none",
    summary = "every flow is admitted at the class it asked for",
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

//! The admit row: what replaces what where one policy is laid over another.

use priolane_core::admit::Policy;
use priolane_core::part::Row;
use priolane_source::{Field, Form, InputError, Merge, Own, Replace, Shared};

use super::groups::same_group;

/// Reads `admit = { kind = "firapam", levels = 3, ... }`.
pub(super) fn read(field: &Field<'_>) -> Result<Policy, InputError> {
    let mut keys = field.table()?;
    let policy = Policy::read_kind(&mut keys)?;
    keys.finish()?;
    Ok(policy)
}

pub(super) const MERGE: Merge = Merge::of(&[
    Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&[]),
        shared: Shared::By(|old, new, key| same_group(Row::Admit, [old, new], key)),
    },
    Replace::OneOf(&[Form { by: &["percentile"], with: &[] }, Form { by: &["window"], with: &[] }]),
    // The steps of the two modes differ in scale.
    Replace::Kind {
        tag: "mode",
        default: Some("analytic"),
        own: Own::Only(&["a", "step"]),
        shared: Shared::Listed(&[]),
    },
]);

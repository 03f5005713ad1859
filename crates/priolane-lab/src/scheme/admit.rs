//! The admit row: which keys are replaced when one policy is merged over another.

use priolane_core::part::Row;
use priolane_source::{Form, Merge, Own, Replace, SharedKeys};

use super::row::same_group;

pub(super) const MERGE: Merge = Merge::of(&[
    Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&[]),
        shared: SharedKeys::By(|old, new, key| same_group(Row::Admit, [old, new], key)),
    },
    Replace::OneOf(&[Form { by: &["percentile"], with: &[] }, Form { by: &["window"], with: &[] }]),
    // The steps of the two modes differ in scale.
    Replace::Kind {
        tag: "mode",
        default: Some("analytic"),
        own: Own::Only(&["a", "step"]),
        shared: SharedKeys::Listed(&[]),
    },
]);

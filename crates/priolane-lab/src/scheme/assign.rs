//! The assign row: which keys are replaced when one rule is merged over another.

use priolane_core::part::Row;
use priolane_source::{Form, Merge, Own, Replace, SharedKeys};

use super::row::same_group;

pub(super) const MERGE: Merge = Merge {
    rules: &[
        Replace::Kind {
            tag: "kind",
            default: None,
            own: Own::AllBut(&[]),
            shared: SharedKeys::By(|old, new, key| same_group(Row::Assign, [old, new], key)),
        },
        // Solved thresholds depend on the keys beside them.
        Replace::Stated(&["fractions", "levels", "from"], &["bytes"]),
        // Sizes and deadlines have different units.
        Replace::Kind {
            tag: "of",
            default: None,
            own: Own::Only(&["scale", "offset"]),
            shared: SharedKeys::Listed(&[]),
        },
    ],
    inner: &[("thresholds", &THRESHOLDS)],
    each: None,
};

/// Solved thresholds depend on the keys beside them, and a tail has two alternative forms. A second solver belongs to the
/// first.
pub(super) const THRESHOLDS: Merge = Merge {
    rules: &[
        Replace::Stated(&["solver", "from", "tail"], &["bytes"]),
        Replace::Stated(&["solver"], &["otherwise"]),
    ],
    inner: &[("tail", &TAIL)],
    each: None,
};

const TAIL: Merge = Merge::of(&[Replace::OneOf(&[
    Form { by: &["max"], with: &[] },
    Form { by: &["from", "times"], with: &[] },
])]);

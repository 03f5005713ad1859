//! The host row: which keys are replaced when one scheduler is merged over another.

use priolane_core::part::Row;
use priolane_source::{Merge, Own, Replace, SharedKeys};

use super::assign::THRESHOLDS;
use super::row::same_group;

pub(super) const MERGE: Merge = Merge {
    rules: &[Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&[]),
        shared: SharedKeys::By(|old, new, key| same_group(Row::Host, [old, new], key)),
    }],
    inner: &[("thresholds", &THRESHOLDS)],
    each: None,
};

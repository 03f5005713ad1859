//! The transport row: which keys are replaced when one transport is merged over another.

use priolane_core::part::Row;
use priolane_source::{Form, Merge, Own, Replace, SharedKeys};

use super::row::same_group;

/// A new kind keeps the keys that it shares with the old kind.
pub(crate) const MERGE: Merge = Merge::of(&[
    Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&[]),
        shared: SharedKeys::By(|old, new, key| same_group(Row::Transport, [old, new], key)),
    },
    EXPIRY,
    PRIORITY,
    CUTS,
    TAIL,
    CUTOFFS,
]);

/// Only tokens that expire at hosts have a lifetime there.
const EXPIRY: Replace = Replace::Kind {
    tag: "expiry",
    default: Some("switch"),
    own: Own::Only(&["lifetime"]),
    shared: SharedKeys::Listed(&[]),
};

/// The keys of each ranking rule.
const PRIORITY: Replace = Replace::Kind {
    tag: "priority",
    default: Some("size"),
    own: Own::Only(&[
        "classes",
        "thresholds",
        "p",
        "tail",
        "mean",
        "a",
        "b",
        "deadline_min",
        "deadline_max",
        "ranks",
    ]),
    shared: SharedKeys::Listed(&[
        (&["asked", "size", "attained", "deadline"], &["classes"]),
        (&["single", "asked", "size", "attained", "deadline"], &["ranks"]),
    ]),
};

/// Thresholds are given, or computed from a size density.
const CUTS: Replace = Replace::OneOf(&[
    Form { by: &["thresholds"], with: &[] },
    Form { by: &["p", "tail", "mean", "a", "b"], with: &[] },
]);

/// The keys of each size density.
const TAIL: Replace = Replace::Kind {
    tag: "tail",
    default: Some("heavy"),
    own: Own::Only(&["mean", "a", "b"]),
    shared: SharedKeys::Listed(&[]),
};

/// Homa's cut-offs are given, or computed from these keys.
const CUTOFFS: Replace = Replace::Stated(&["from", "rtt_bytes", "unscheduled_classes"], &["cutoffs"]);

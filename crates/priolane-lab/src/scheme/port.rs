//! The port and nic rows: which keys are replaced when one is merged over another.

use priolane_core::part::Row;
use priolane_source::{Form, Merge, Own, Replace, SharedKeys};

use super::row::same_group;

/// A new kind keeps the keys of all ports and the keys that it shares with the old kind.
pub(super) const MERGE: Merge = Merge {
    rules: &[Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&["buffer", "ecn", "pfc"]),
        shared: SharedKeys::By(|old, new, key| same_group(Row::Port, [old, new], key)),
    }],
    inner: &[("buffer", &BUFFER), ("pfc", &PFC)],
    each: None,
};

/// Minimum headroom is stated in bytes or by round trips.
const PFC: Merge = Merge::of(&[
    Replace::Stated(&["headroom_least"], &["headroom_round_trips"]),
    Replace::Stated(&["headroom_round_trips"], &["headroom_least"]),
]);

/// Alternative keys of a buffer. A new size also replaces those for ports of particular rates, and the rate or the
/// capacity that the old one is for.
pub(crate) const BUFFER: Merge = Merge::of(&[
    Replace::OneOf(&[
        Form { by: &["shared"], with: &["at", "rate"] },
        Form { by: &["per_queue"], with: &["at", "rate"] },
        Form { by: &["push_out"], with: &["at", "rate"] },
        Form { by: &["dynamic"], with: &["alpha", "capacity"] },
        Form { by: &["zero_loss"], with: &[] },
    ]),
    Replace::Stated(&["shared", "per_queue", "push_out"], &["at", "rate"]),
    Replace::Stated(&["dynamic"], &["capacity"]),
]);

/// Alternative keys of a NIC. A new limit also replaces the rate that the old one is for.
pub(super) const NIC_MERGE: Merge = Merge {
    rules: &[
        Replace::OneOf(&[
            Form { by: &["queue"], with: &["limit", "rate", "ecn"] },
            Form { by: &["port"], with: &["map"] },
        ]),
        Replace::Stated(&["limit"], &["rate"]),
    ],
    inner: &[("port", &MERGE)],
    each: None,
};

//! The rows port and nic: what replaces what where one is laid over another.

use priolane_core::part::Row;
use priolane_source::{Form, Merge, Own, Replace, Shared};

use super::row::same_group;

/// What is an alternative of what: a kind keeps what all ports have, and the keys that it has in common with the old kind.
pub(super) const MERGE: Merge = Merge {
    rules: &[Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&["buffer", "ecn", "pfc"]),
        shared: Shared::By(|old, new, key| same_group(Row::Port, [old, new], key)),
    }],
    inner: &[("buffer", &BUFFER)],
    each: None,
};

/// Which keys of a buffer are alternatives. Another room takes the place of those of ports of other rates too.
pub(crate) const BUFFER: Merge = Merge::of(&[
    Replace::OneOf(&[
        Form { by: &["shared"], with: &["at"] },
        Form { by: &["per_queue"], with: &["at"] },
        Form { by: &["push_out"], with: &["at"] },
        Form { by: &["dynamic"], with: &["alpha"] },
        Form { by: &["zero_loss"], with: &[] },
    ]),
    Replace::Stated(&["shared", "per_queue", "push_out"], &["at"]),
]);

/// What is an alternative of what at a NIC.
pub(super) const NIC_MERGE: Merge = Merge {
    rules: &[Replace::OneOf(&[
        Form { by: &["queue"], with: &["limit", "ecn"] },
        Form { by: &["port"], with: &["map"] },
    ])],
    inner: &[("port", &MERGE)],
    each: None,
};

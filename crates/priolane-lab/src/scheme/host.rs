//! The host row: what replaces what where one order is laid over another.

use priolane_core::host::Order;
use priolane_core::keys::Keys;
use priolane_core::part::Row;
use priolane_source::{Field, InputError, Merge, Own, Replace, Shared};

use super::assign::THRESHOLDS;
use super::groups::same_group;

/// Reads `host = { kind = "mlfq", levels = 8, ... }`.
pub(super) fn read(field: &Field<'_>) -> Result<Order, InputError> {
    let mut keys = field.table()?;
    let order = Order::read(&mut keys)?;
    keys.finish()?;
    Ok(order)
}

pub(super) const MERGE: Merge = Merge {
    rules: &[Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&[]),
        shared: Shared::By(|old, new, key| same_group(Row::Host, [old, new], key)),
    }],
    inner: &[("thresholds", &THRESHOLDS)],
    each: None,
};

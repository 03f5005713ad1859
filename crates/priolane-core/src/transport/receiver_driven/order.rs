//! The order in which a host serves its flows.

use std::collections::BTreeSet;

/// The position of a flow in an order: packets left, then order of arrival; and its slot in the table.
pub(in crate::transport) type OrderKey = (u64, u64, u32);

/// Moves a flow from `at`, its current position in `order` if any, to `place`; `None` removes it.
pub(in crate::transport) fn replace(
    order: &mut BTreeSet<OrderKey>,
    at: &mut Option<OrderKey>,
    place: Option<OrderKey>,
) {
    if *at == place {
        return;
    }
    if let Some(old) = at.take() {
        order.remove(&old);
    }
    order.extend(place);
    *at = place;
}

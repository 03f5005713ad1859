//! Which flow of a host goes first.

use std::collections::BTreeSet;

/// A flow in an order: packets left, then who came first; and its place in the table.
pub(in crate::transport) type Place = (u64, u64, u32);

/// Moves a flow from where it is in `order`, or from nowhere, to `place`, or to nowhere.
pub(in crate::transport) fn replace(
    order: &mut BTreeSet<Place>,
    at: &mut Option<Place>,
    place: Option<Place>,
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

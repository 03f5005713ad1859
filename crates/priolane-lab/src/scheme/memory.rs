//! Fits the memory of switches to their capacity, and the headroom of lossless classes to links.

use priolane_core::port::pfc::PauseLink;
use priolane_source::quantity::{show_bytes, show_rate};

use super::{Fabric, Scheme};

/// Derives the memory of the switches of `fabric` where `scheme` states it for another capacity, and writes headroom in
/// bytes where all links need the same; returns a warning if the memory differs from that of the scheme.
pub(super) fn complete(scheme: &mut Scheme, fabric: &Fabric) -> Option<String> {
    headroom_in_bytes(scheme, fabric);
    let capacity = fabric.switch_capacity?;
    let (size, stated) = scheme.port.buffer.fit(capacity)?;
    let (size, stated, capacity) = (show_bytes(size), show_bytes(stated), show_rate(capacity));
    Some(format!(
        "switches have {size} of memory for {capacity}, in proportion to the {stated} of the scheme"
    ))
}

fn headroom_in_bytes(scheme: &mut Scheme, fabric: &Fabric) {
    let Some(pfc) = &mut scheme.port.pfc else { return };
    let of_link = |link: &PauseLink| link.round_trips(pfc.headroom_round_trips);
    let mut all = fabric.pause_links.iter().flatten().map(of_link);
    let Some(first) = all.next() else { return };
    if all.all(|other| other == first) {
        pfc.headroom_least = pfc.headroom_least.max(first);
        pfc.headroom_round_trips = 0;
    }
}

//! Timers and windows of receiver-driven transports that do not go together with the empty path.

use crate::finding::{Finding, NetworkFacts, Severity};
use crate::quantity::{about_bytes, about_span};
use crate::units::Span;

/// A timer of a transport that must outlast a round trip.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct RoundTripTimer {
    /// Its key.
    pub(in crate::transport) key: &'static str,
    /// Its length.
    pub(in crate::transport) lasts: Span,
    /// The messages that the transport repeats when the timer expires.
    pub(in crate::transport) repeats: &'static str,
}

impl RoundTripTimer {
    /// A timer that expires before any reply can arrive. Each expiry adds packets, without end if it is far below the
    /// round trip.
    pub(in crate::transport) fn finding(self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let Self { key, lasts, repeats } = self;
        let (path, severity) = network.worst(|path| lasts <= path.path.data.round_trip)?;
        let round_trip = path.path.data.round_trip;
        let what = format!(
            "{key} is {}, but on {} a round trip takes {} when nothing waits: {repeats} again before any reply can \
             arrive",
            about_span(lasts),
            path.name(),
            about_span(round_trip)
        );
        let fix = format!("{key} = {:?}, or longer", about_span(round_trip.times(10)));
        Some(Finding::new(severity, key, what, fix))
    }
}

/// A number of bytes that is to fill a path, and does not.
pub(in crate::transport) fn too_few(
    key: &'static str,
    payload: u64,
    network: &NetworkFacts<'_>,
) -> Option<Finding> {
    let frame = &network.frame;
    // A window of n packets that are sent back to back also covers the round trip of the last one.
    let covers = frame.stream_wire(payload);
    let (path, _) = network.worst(|path| covers < path.path.bdp())?;
    let bdp = path.path.bdp();
    let what = format!(
        "{key} is {} on the wire, below the {} that fill {}: a message alone uses {:.0} % of the rate",
        about_bytes(covers),
        about_bytes(bdp),
        path.name(),
        100.0 * covers as f64 / bdp as f64
    );
    Some(Finding::new(Severity::Warning, key, what, format!("{key} = \"auto\", or a larger value")))
}

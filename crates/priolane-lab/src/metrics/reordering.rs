//! Packets that arrive out of order (docs/assumptions.md#reordering).

use super::metric::{Metric, SHARE, Scope, Unit};

/// Reordering, over all flows.
pub(super) const METRICS: &[Metric] = &[Metric {
    name: "reordering",
    meaning: "Part of the packets with new payload that arrived out of order (RFC 4737)",
    unit: Unit::Part,
    range: SHARE,
    scope: Scope::Run,
    eval: |c| {
        c.of_run(|run| {
            let new = run.received.new_packets;
            (new > 0).then(|| run.received.reordered as f64 / new as f64)
        })
    },
    ..Metric::OF_FLOWS
}];

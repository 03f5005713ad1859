//! Packets that arrive out of order (docs/assumptions.md#reordering).

use super::metric::{Metric, SHARE, Scope};

/// Reordering, over all flows.
pub(super) const METRICS: &[Metric] = &[
    // Reordered packets divided by packets with new payload; no value if no payload arrived.
    Metric {
        name: "reordering",
        range: SHARE,
        scope: Scope::Run,
        eval: |c| {
            c.of_run(|run| {
                let new = run.received.new_packets;
                (new > 0).then(|| run.received.reordered as f64 / new as f64)
            })
        },
        ..Metric::OF_FLOWS
    },
];

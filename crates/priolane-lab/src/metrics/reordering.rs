//! Packets that arrive out of order (docs/assumptions.md#reordering).

use super::metric::{Metric, SHARE, Scope};

/// Reordering, of all flows.
pub(super) const METRICS: &[Metric] = &[
    // Packets that arrived reordered over those that brought new payload; none where no payload arrived.
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

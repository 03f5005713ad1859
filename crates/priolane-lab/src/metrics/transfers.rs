//! The rate at which flows bring their payload, and their retransmission timeouts.

use super::fct::of;
use super::metric::{Metric, SHARE, Scope, Unit, gbps};

const OF_CLASSES: Metric = Metric { scope: Scope::Classes, ..Metric::OF_FLOWS };

/// Goodput and timeouts of flows by class.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "goodput",
        meaning: "Payload of the flows that finished over the sum of their completion times",
        unit: Unit::Gbps,
        eval: |c| of(c, |s| gbps(s.goodput_bps)),
        of_flow: Some(|flow| {
            let (bytes, fct) = (flow.bytes?, flow.fct_ps.filter(|&fct| fct > 0)?);
            // Bits per picosecond are thousands of Gbit/s.
            Some(8e3 * bytes.saturating_sub(flow.missing_bytes) as f64 / fct as f64)
        }),
        ..OF_CLASSES
    },
    Metric {
        name: "timeouts",
        meaning: "Retransmission timeouts of all flows",
        eval: |c| of(c, |s| s.timeouts.map(|n| n as f64)),
        of_flow: Some(|flow| Some(f64::from(flow.timeouts))),
        tuned: Some(|s| s.timeouts.map(|n| n as f64)),
        ..OF_CLASSES
    },
    Metric {
        name: "timed_out",
        meaning: "Part of the flows that had a retransmission timeout",
        range: SHARE,
        eval: |c| of(c, |s| s.timed_out),
        tuned: Some(|s| s.timed_out),
        ..OF_CLASSES
    },
    Metric {
        name: "tail_timed_out",
        meaning: "The same of the flows from the 99th percentile of completion times on",
        range: SHARE,
        eval: |c| of(c, |s| s.tail_timed_out),
        tuned: Some(|s| s.tail_timed_out),
        ..OF_CLASSES
    },
];

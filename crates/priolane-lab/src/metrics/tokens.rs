//! Metrics of tokens, and of the payload that hosts receive (see `results::tokens`).

use super::metric::{Context, Metric, Missing, SHARE, Scope, Unit, gbps};
use priolane_results::tokens::TokenRecord;

/// Fractions of the tokens sent.
const PART: Metric = Metric { unit: Unit::Part, range: SHARE, ..OF_RUN };

const OF_RUN: Metric = Metric { scope: Scope::Run, ..Metric::OF_FLOWS };

/// Tokens and payload, over all flows.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "token_used",
        meaning: "Part of the tokens sent that called for a packet",
        eval: |c| of(c, |t| t.share(t.used)),
        ..PART
    },
    Metric {
        name: "token_wasted",
        meaning: "Part that found nothing to send",
        eval: |c| of(c, |t| t.share(t.wasted)),
        ..PART
    },
    Metric {
        name: "token_dropped",
        meaning: "Part that was dropped at a full queue",
        eval: |c| of(c, |t| t.share(t.dropped)),
        ..PART
    },
    Metric {
        name: "token_expired",
        meaning: "Part that waited too long",
        eval: |c| of(c, |t| t.share(t.expired_at_hosts + t.expired_at_ports)),
        ..PART
    },
    Metric {
        name: "token_wire_share",
        meaning: "Bytes of tokens over all bytes sent",
        eval: |c| of(c, |t| t.wire_share),
        ..PART
    },
    Metric {
        name: "data_wait",
        meaning: "Mean time that a payload packet waited at switches on its way",
        unit: Unit::Seconds,
        eval: |c| c.of_run(|run| run.received.wait_s),
        ..OF_RUN
    },
    Metric {
        name: "throughput",
        meaning: "Payload received by all hosts, up to the planned start of the last flow",
        unit: Unit::Gbps,
        eval: |c| c.of_run(|run| gbps(run.received.throughput_bps)),
        ..OF_RUN
    },
    Metric {
        name: "loss",
        meaning: "Bytes dropped or trimmed at ports over bytes given to the network, without tokens",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| c.of_run(|run| run.received.loss),
        ..OF_RUN
    },
];

fn of(context: &Context, value: fn(&TokenRecord) -> Option<f64>) -> Result<f64, Missing> {
    context.of_run(|run| value(run.tokens.as_ref()?))
}

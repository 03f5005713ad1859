//! Metrics of tokens, and of the payload that hosts receive (see `results::tokens`).

use super::metric::{Context, Metric, Missing, SHARE, Scope, Unit, gbps};
use priolane_results::tokens::TokenRecord;

/// Fractions of the tokens sent.
const PART: Metric = Metric { range: SHARE, ..OF_RUN };

const OF_RUN: Metric = Metric { scope: Scope::Run, ..Metric::OF_FLOWS };

/// Tokens and payload, over all flows.
pub(super) const METRICS: &[Metric] = &[
    // Tokens in response to which a packet was sent.
    Metric { name: "token_used", eval: |c| of(c, |t| t.share(t.used)), ..PART },
    // Tokens for which there was nothing to send.
    Metric { name: "token_wasted", eval: |c| of(c, |t| t.share(t.wasted)), ..PART },
    // Tokens dropped at a full queue.
    Metric { name: "token_dropped", eval: |c| of(c, |t| t.share(t.dropped)), ..PART },
    // Tokens that expired, at ports or at senders.
    Metric {
        name: "token_expired",
        eval: |c| of(c, |t| t.share(t.expired_at_hosts + t.expired_at_ports)),
        ..PART
    },
    // Bytes of tokens divided by all bytes transmitted by ports.
    Metric { name: "token_wire_share", eval: |c| of(c, |t| t.wire_share), ..PART },
    // Mean waiting time of a data packet at the switches of its path.
    Metric {
        name: "data_wait",
        unit: Unit::Seconds,
        eval: |c| c.of_run(|run| run.received.wait_s),
        ..OF_RUN
    },
    // Total payload received by all hosts while flows start.
    Metric {
        name: "throughput",
        unit: Unit::Gbps,
        eval: |c| c.of_run(|run| gbps(run.received.throughput_bps)),
        ..OF_RUN
    },
    // Bytes dropped or trimmed at ports divided by bytes sent into the network, without tokens.
    Metric { name: "loss", range: SHARE, eval: |c| c.of_run(|run| run.received.loss), ..OF_RUN },
];

fn of(context: &Context, value: fn(&TokenRecord) -> Option<f64>) -> Result<f64, Missing> {
    context.of_run(|run| value(run.tokens.as_ref()?))
}

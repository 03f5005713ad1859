//! What became of tokens, and what payload that reached hosts adds up to (see `results::tokens`).

use super::metric::{Context, Metric, Missing, SHARE, Scope, Unit, gbps};
use priolane_results::tokens::TokenRecord;

/// Parts of the tokens sent.
const PART: Metric = Metric { range: SHARE, ..OF_RUN };

const OF_RUN: Metric = Metric { scope: Scope::Run, ..Metric::OF_FLOWS };

/// Tokens and payload, of all flows.
pub(super) const METRICS: &[Metric] = &[
    // Those that sent a packet.
    Metric { name: "token_used", eval: |c| of(c, |t| t.share(t.used)), ..PART },
    // Those that found nothing to send.
    Metric { name: "token_wasted", eval: |c| of(c, |t| t.share(t.wasted)), ..PART },
    // Those that found a queue full.
    Metric { name: "token_dropped", eval: |c| of(c, |t| t.share(t.dropped)), ..PART },
    // Those that were too old, at ports or at senders.
    Metric {
        name: "token_expired",
        eval: |c| of(c, |t| t.share(t.expired_at_hosts + t.expired_at_ports)),
        ..PART
    },
    // Bytes of tokens over all bytes that ports sent.
    Metric { name: "token_wire_share", eval: |c| of(c, |t| t.wire_share), ..PART },
    // Time that a packet of payload waited at switches on its way, mean.
    Metric {
        name: "data_wait",
        unit: Unit::Seconds,
        eval: |c| c.of_run(|run| run.received.wait_s),
        ..OF_RUN
    },
    // Payload that arrived at all hosts together while flows started.
    Metric {
        name: "throughput",
        unit: Unit::Gbps,
        eval: |c| c.of_run(|run| gbps(run.received.throughput_bps)),
        ..OF_RUN
    },
    // Bytes dropped or cut off at ports over bytes given to the network, tokens aside.
    Metric { name: "loss", range: SHARE, eval: |c| c.of_run(|run| run.received.loss), ..OF_RUN },
];

fn of(context: &Context, value: fn(&TokenRecord) -> Option<f64>) -> Result<f64, Missing> {
    context.of_run(|run| value(run.tokens.as_ref()?))
}

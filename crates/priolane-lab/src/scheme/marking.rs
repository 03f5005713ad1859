//! Completes ECN thresholds and buffers for links whose rate has none.

use priolane_core::port::DerivedLimit;
use priolane_source::quantity::{show_limit, show_rate};

use super::{Fabric, Scheme};

/// Adds thresholds and buffers for the rates of `fabric` at which `scheme` states none; returns a warning for each.
pub(super) fn complete(scheme: &mut Scheme, fabric: &Fabric) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut report = |kind, whose, new: Vec<DerivedLimit>| {
        warnings.extend(new.iter().map(|new| text(kind, whose, new)));
    };
    report(Kind::Capacity, "switch ports", scheme.port.buffer.complete(&fabric.switch_rates));
    if let Some(ecn) = &mut scheme.port.ecn {
        report(Kind::Threshold, "switch ports", ecn.complete(&fabric.switch_rates));
    }
    // All transmit queues are equal: hosts with links of several rates have one limit.
    let [rate] = fabric.host_rates[..] else { return warnings };
    let nic = scheme.nic.part_mut();
    if let Some(queue) = nic.queue_mut() {
        report(Kind::Capacity, "hosts", queue.complete(rate).into_iter().collect());
    }
    if let Some(port) = nic.port_mut() {
        report(Kind::Capacity, "hosts", port.buffer.complete(&fabric.host_rates));
    }
    if let Some(ecn) = nic.ecn_mut() {
        report(Kind::Threshold, "hosts", ecn.complete(&fabric.host_rates));
    }
    warnings
}

/// A limit of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Capacity,
    Threshold,
}

fn text(kind: Kind, whose: &str, new: &DerivedLimit) -> String {
    let (does, what) = match kind {
        Kind::Capacity => ("hold", "capacity"),
        Kind::Threshold => ("mark above", "threshold"),
    };
    let (rate, from, limit) = (show_rate(new.rate), show_rate(new.from), show_limit(new.limit));
    format!("{whose} {does} {limit} at {rate}, in proportion to the {what} at {from}")
}

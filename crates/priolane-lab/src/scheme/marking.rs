//! Completes ECN thresholds for links whose rate has none.

use priolane_core::port::{DerivedThreshold, Ecn};
use priolane_core::units::Rate;
use priolane_source::quantity::{show_limit, show_rate};

use super::{Fabric, Scheme};

/// Adds thresholds for the rates of `fabric` at which `scheme` states none; returns a warning for each.
pub(super) fn complete(scheme: &mut Scheme, fabric: &Fabric) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(ecn) = &mut scheme.port.ecn {
        warnings.extend(completed(ecn, &fabric.switch_rates, "switch ports"));
    }
    // All transmit queues are equal: hosts with links of several rates cannot mark.
    if let [_] = &fabric.host_rates[..]
        && let Some(ecn) = scheme.nic.part_mut().ecn_mut()
    {
        warnings.extend(completed(ecn, &fabric.host_rates, "hosts"));
    }
    warnings
}

fn completed(ecn: &mut Ecn, rates: &[Rate], at: &str) -> Vec<String> {
    let text = |new: DerivedThreshold| {
        let (rate, from, limit) = (show_rate(new.rate), show_rate(new.from), show_limit(new.limit));
        format!("{at} mark above {limit} at {rate}, in proportion to the threshold at {from}")
    };
    ecn.complete(rates).into_iter().map(text).collect()
}

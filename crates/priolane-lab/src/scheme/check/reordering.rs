//! Warns of transports that take packets for lost because sprayed packets arrive out of order.

use priolane_core::transport::tokens::Paths;
use priolane_core::transport::window::LossRecovery;

use super::tokens::Tokens;
use crate::scheme::Scheme;
use crate::scheme::fabric::{Fabric, Routing};

/// The `dup_threshold` of standard TCP (RFC 5681 §3.2), chosen for packets that are seldom reordered.
const STANDARD_DUP_THRESHOLD: u32 = 3;

/// The default of `reordering`, chosen for the packets of one path.
const REORDERING_OF_ONE_PATH: u32 = 3;

/// Warns if the transport of `scheme` treats the reordering of sprayed packets as loss.
pub(super) fn warning(scheme: &Scheme, fabric: &Fabric) -> Option<String> {
    let (setting, rest) = of_window(scheme, fabric).or_else(|| of_tokens(scheme))?;
    Some(format!(
        "packets are sprayed and reordered, and transport.{setting} treats reordering as loss, which causes \
         spurious retransmissions{rest}"
    ))
}

/// Returns the setting of a window transport that is too small, and what else the user must know.
fn of_window(scheme: &Scheme, fabric: &Fabric) -> Option<(String, &'static str)> {
    let window = scheme.transport.window().filter(|window| window.recovery != LossRecovery::Trims)?;
    let dup_threshold = window.dup_threshold;
    (fabric.routing == Routing::PerPacket && dup_threshold <= STANDARD_DUP_THRESHOLD)
        .then(|| (format!("dup_threshold = {dup_threshold}"), " (simulations of PIAS spray with 1000000)"))
}

/// Returns the setting of a token transport that is too small, and what else the user must know.
fn of_tokens(scheme: &Scheme) -> Option<(String, &'static str)> {
    let tokens = Tokens::of(&scheme.transport)?;
    let reordering = tokens.machine.reordering;
    (tokens.paths != Paths::Symmetric && reordering <= REORDERING_OF_ONE_PATH).then(|| {
        let rest = ", and signals beside full links (TOP's Fig. 14 sprays with 500)";
        (format!("reordering = {reordering}"), rest)
    })
}

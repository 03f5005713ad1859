//! Checks that a transport which hears of losses by trimmed headers has ports that trim.

use priolane_core::part::{Capability, Row};
use priolane_core::scheme::{ENTRIES, find};
use priolane_core::transport::window::LossRecovery;

use crate::scheme::Scheme;
use crate::scheme::fabric::Fault;

/// Rejects `recovery = "trims"` at ports that drop packets: each loss would wait for a timeout.
pub(super) fn check(scheme: &Scheme) -> Result<(), Fault> {
    let gives = |entry: &priolane_core::part::Entry| {
        entry.provides.iter().any(|given| given.capability == Capability::Trimming)
    };
    let by_trims = scheme.transport.window().is_some_and(|window| window.recovery == LossRecovery::Trims);
    if !by_trims || find(Row::Port, scheme.port.kind.name()).is_some_and(gives) {
        return Ok(());
    }
    let what = format!(
        "recovery = \"trims\" requires {}, and port `{}` drops them whole",
        Capability::Trimming.clause(),
        scheme.port.kind.name()
    );
    let kinds = ENTRIES.iter().filter(|entry| entry.row == Row::Port && gives(entry));
    let kinds: Vec<String> = kinds.map(|entry| format!("port = {{ kind = {:?} }}", entry.name)).collect();
    Err(Fault::new("transport.recovery", what, format!("{}, or recovery = \"sack\"", kinds.join(" or "))))
}

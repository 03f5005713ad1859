//! Checks that exactly one row of a scheme uses what the experiment's groups pay for, or none if the file says so.
//!
//! | who reads (theta, w) | how |
//! |---|---|
//! | a transport that provides weights, such as `paccp` | flows share by them |
//! | `assign = { kind = "paid_weight" }` | larger weights are better classes |
//! | `pay = "ignored"` | nobody |
//!
//! None of them, or two, is refused: what is paid for would be ignored unasked, or count twice.

use priolane_core::part::{Capability, Entry, Row};
use priolane_core::scheme::{ENTRIES, find};

use super::super::fabric::{Fabric, Fault};
use super::super::{Pay, Scheme};

/// Checks that exactly one row uses what is paid for, or none if `pay = "ignored"`.
pub(super) fn check(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let transport = find(Row::Transport, scheme.transport.name());
    let assign = find(Row::Assign, scheme.assign.name());
    match (scheme.pay, transport.filter(|&entry| reads(entry)), assign.filter(|&entry| reads(entry))) {
        (Pay::Honoured, Some(transport), Some(assign)) => {
            let what = format!(
                "`{}` goes by what flows pay for, and so does the transport `{}`",
                assign.name, transport.name
            );
            Err(Fault::new("assign", what, "one of them: another transport, or assign = { kind = \"none\" }"))
        }
        (Pay::Honoured, _, Some(assign)) => by_class(assign, fabric),
        (Pay::Honoured, transport, None) => honours(scheme, transport, fabric),
        (Pay::Ignored, None, None) => Ok(()),
        (Pay::Ignored, Some(entry), _) | (Pay::Ignored, None, Some(entry)) => {
            let what = format!("{} `{}` goes by what flows pay for", entry.row.key(), entry.name);
            Err(Fault::new("pay", what, "another one of that row, or leave the key out"))
        }
    }
}

/// Whether a row uses the weights or minimum rates that flows pay for.
fn reads(entry: &Entry) -> bool {
    gives(entry, Capability::Weights) || gives(entry, Capability::MinimumRates)
}

fn gives(entry: &Entry, capability: Capability) -> bool {
    entry.provides.iter().any(|given| given.capability == capability)
}

/// What is paid for must be what the transport gives.
fn honours(scheme: &Scheme, transport: Option<&Entry>, fabric: &Fabric) -> Result<(), Fault> {
    let ignored = fabric.asks.iter().find(|&&asked| !transport.is_some_and(|entry| gives(entry, asked)));
    let Some(&capability) = ignored else { return Ok(()) };
    let what = format!(
        "the experiment's groups pay for {}, which the transport `{}` ignores",
        capability.clause(),
        scheme.transport.name()
    );
    let givers = ENTRIES.iter().filter(|entry| entry.row == Row::Transport && gives(entry, capability));
    let names: Vec<String> = givers.map(|entry| format!("`{}`", entry.name)).collect();
    let fix = format!(
        "the transport {}, assign = {{ kind = \"paid_weight\", weights = [2] }}, pay = \"ignored\", or groups without cos, \
         theta, w, mix and plan",
        names.join(" or ")
    );
    Err(Fault::new("transport", what, fix))
}

/// Classes by weight need weights, that stay, and no minimum rates.
fn by_class(assign: &Entry, fabric: &Fabric) -> Result<(), Fault> {
    let fault = |what: String, fix: &str| Err(Fault::new("assign", what, fix));
    let name = assign.name;
    if fabric.asks.contains(&Capability::MinimumRates) {
        let what = format!("`{name}` gives classes by weight, and groups pay for minimum rates");
        return fault(what, "groups without theta, or pay = \"ignored\" with another rule");
    }
    if fabric.pairs_change {
        let what = format!(
            "`{name}` gives a flow its class at its start, and what flows pay for changes while they run"
        );
        return fault(what, "groups with plan = \"fbp\", and no [[control]] that sets pay");
    }
    if fabric.asks.is_empty() {
        let what = format!("`{name}` gives classes by weight, and no group pays for one");
        return fault(what, "w = 2 in a group, or another rule");
    }
    Ok(())
}

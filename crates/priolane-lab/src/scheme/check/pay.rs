//! Checks that exactly one row of a scheme uses what the experiment's groups pay for, or none if the file says so.
//!
//! | row that uses (theta, w) | how |
//! |---|---|
//! | a transport that provides weights, such as `paccp` | flows share the bandwidth by weight |
//! | `assign = { kind = "paid_weight" }` | higher weights get better classes |
//! | `pay = "ignored"` | no row |
//!
//! Anything else is rejected: payments would be ignored without notice, or count twice.

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
                "both `{}` and the transport `{}` use what flows pay for",
                assign.name, transport.name
            );
            Err(Fault::new("assign", what, "another transport, or assign = { kind = \"none\" }"))
        }
        (Pay::Honoured, _, Some(assign)) => by_class(assign, fabric),
        (Pay::Honoured, transport, None) => honours(scheme, transport, fabric),
        (Pay::Ignored, None, None) => Ok(()),
        (Pay::Ignored, Some(entry), _) | (Pay::Ignored, None, Some(entry)) => {
            let what = format!("{} `{}` uses what flows pay for", entry.row.key(), entry.name);
            Err(Fault::new("pay", what, "another entry of that row, or remove pay"))
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

/// Checks that the transport provides what is paid for.
fn honours(scheme: &Scheme, transport: Option<&Entry>, fabric: &Fabric) -> Result<(), Fault> {
    let ignored = fabric.asks.iter().find(|&&asked| !transport.is_some_and(|entry| gives(entry, asked)));
    let Some(&capability) = ignored else { return Ok(()) };
    let what = format!(
        "the groups of the experiment pay for {}, which the transport `{}` ignores",
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

/// Checks that classes by weight are used with weights that do not change, and without minimum rates.
fn by_class(assign: &Entry, fabric: &Fabric) -> Result<(), Fault> {
    let fault = |what: String, fix: &str| Err(Fault::new("assign", what, fix));
    let name = assign.name;
    if fabric.asks.contains(&Capability::MinimumRates) {
        let what = format!("`{name}` assigns classes by weight, but groups pay for minimum rates");
        return fault(what, "groups without theta, or pay = \"ignored\" with another rule");
    }
    if fabric.pairs_change {
        let what = format!(
            "`{name}` assigns the class of a flow at its start, but its weight or minimum rate changes \
             while it is active"
        );
        return fault(what, "groups with plan = \"fbp\", without [[control]] that sets pay");
    }
    if fabric.asks.is_empty() {
        let what = format!("`{name}` assigns classes by weight, but no group pays for a weight");
        return fault(what, "w = 2 in a group, or another rule");
    }
    Ok(())
}

//! Connections that flows share: which transports have them, and the path that their flows take.

use std::collections::HashMap;

use priolane_core::admit::Interval;
use priolane_core::flows::FlowList;
use priolane_core::part::{Capability, Row};
use priolane_core::scheme::{ENTRIES, find};

use crate::experiment::{Experiment, Group};
use crate::scheme::{Fault, Scheme};

/// Checks that the transport of each group whose flows share connections has them, and that nothing asks for the rates of
/// flows, of which a connection reports only the end.
pub(super) fn check(experiment: &Experiment, scheme: &Scheme) -> Result<(), Fault> {
    let mut sharing =
        experiment.groups.iter().filter(|group| group.app.part().shares_connections()).peekable();
    if sharing.peek().is_none() {
        return Ok(());
    }
    if experiment.rates_every.is_some() {
        let what = "flows share connections, whose senders do not report on active flows";
        return Err(Fault::new(
            "transport",
            what.to_owned(),
            "an experiment without rates_every, or without connections",
        ));
    }
    if scheme.admit.part().interval() != Interval::Rpc {
        let what = "flows share connections, whose senders do not report on active flows";
        return Err(Fault::new("admit.mi", what.to_owned(), "mi = \"rpc\", or a list without connections"));
    }
    sharing.try_for_each(|group| has_connections(group, scheme))
}

fn has_connections(group: &Group, scheme: &Scheme) -> Result<(), Fault> {
    let transport = group.flows.transport.as_ref().unwrap_or(&scheme.transport);
    let gives = |entry: &priolane_core::part::Entry| {
        entry.provides.iter().any(|given| given.capability == Capability::Connections)
    };
    if find(Row::Transport, transport.name()).is_some_and(gives) {
        return Ok(());
    }
    let what = format!(
        "flows of the group {} share connections, but `{}` sends each flow by itself",
        group.name,
        transport.name()
    );
    let names: Vec<&str> = ENTRIES
        .iter()
        .filter(|entry| entry.row == Row::Transport && gives(entry))
        .map(|entry| entry.name)
        .collect();
    let fix = format!("one of {}, or flows without connections", names.join(", "));
    Err(Fault::new("transport", what, fix))
}

/// Gives all flows of a connection the path of its first one.
pub(super) fn set_paths(flows: &mut FlowList) {
    if flows.iter().all(|flow| flow.connection.is_none()) {
        return;
    }
    let mut first = HashMap::new();
    flows.edit_all(|flow| {
        if let Some(connection) = flow.connection {
            let key = (flow.src, flow.dst, flow.group, connection);
            flow.entropy = *first.entry(key).or_insert(flow.entropy);
        }
    });
}

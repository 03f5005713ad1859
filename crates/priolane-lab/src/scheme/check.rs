//! Checks that the rows of a scheme are compatible with each other, with packet sizes and with links.

mod pay;
mod pfc;
mod reordering;
mod tokens;
mod trims;

use priolane_core::admit::Interval;
use priolane_core::assign::Assign;
use priolane_core::host::Order;
use priolane_core::keys::KeyConflict;
use priolane_core::nic::Nic;
use priolane_core::part::{Capability, Row};
use priolane_core::port::{BufferSpec, ClassMap, PortKeys, PortKind, QueueOf};
use priolane_core::scheme::{Choice, find, unmet};
use priolane_core::transport::{Spec, ndp};
use priolane_core::units::Limit;
use priolane_source::quantity::{show_limit, show_span};

use super::Scheme;
use super::fabric::{Coverage, Fabric, Fault, Routing};

/// Checks `scheme` on `fabric`; returns warnings if it can run, else the fault.
pub fn check(scheme: &Scheme, fabric: &Fabric) -> Result<Vec<String>, Fault> {
    rows(scheme)?;
    trims::check(scheme)?;
    own_order(scheme, fabric)?;
    pay::check(scheme, fabric)?;
    room(scheme, fabric)?;
    transmit_queue(scheme)?;
    limits_of_hosts(scheme, fabric)?;
    classes(scheme, fabric)?;
    queues(scheme, fabric)?;
    deadlines(scheme, fabric)?;
    intervals(scheme, fabric)?;
    pfc::check(scheme, fabric)?;
    tokens::check(scheme, fabric)?;
    messages(scheme, fabric)?;
    packet_sizes(scheme, fabric)?;
    routes(scheme, fabric)?;
    Ok(warnings(scheme, fabric))
}

/// Checks that the requirements of each row are met by the other rows.
fn rows(scheme: &Scheme) -> Result<(), Fault> {
    let port_set = if scheme.port.ecn.is_some() { vec!["buffer", "ecn"] } else { vec!["buffer"] };
    let chosen = [
        (Row::Transport, scheme.transport.name(), vec![]),
        (Row::Assign, scheme.assign.name(), vec![]),
        (Row::Admit, scheme.admit.name(), vec![]),
        (Row::Host, scheme.host.name(), vec![]),
        (Row::Nic, scheme.nic.name(), vec![]),
        (Row::Port, scheme.port.kind.name(), port_set),
    ];
    let choices: Vec<Choice> = chosen
        .into_iter()
        .filter_map(|(row, name, set)| find(row, name).map(|entry| Choice { entry, set }))
        .collect();
    let Some((entry, capability, givers)) = unmet(&choices) else { return Ok(()) };
    let what = format!(
        "{} `{}` requires {}, which nothing in this scheme provides",
        entry.row.key(),
        entry.name,
        capability.clause()
    );
    let way = |giver: &&'static priolane_core::part::Entry| {
        let p = giver.provides.iter().find(|p| p.capability == capability);
        let with = p.and_then(|p| p.if_set).map_or(String::new(), |key| format!(" with `{key}`"));
        format!("{} `{}`{with}", giver.row.key(), giver.name)
    };
    let ways: Vec<String> = givers.iter().map(way).collect();
    let fix = if ways.is_empty() {
        format!("another {}: nothing in this version provides it", entry.row.key())
    } else {
        ways.join(" or ")
    };
    Err(Fault::new(entry.row.key(), what, fix))
}

/// Checks that each buffer can hold at least one packet of maximum size.
fn room(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let largest = u64::from(fabric.frame.max_wire());
    let too_small = |limit: Limit| limit.is_exceeded(1, largest);
    let fix = format!("at least 1pkt or {largest}B, the largest packet on the wire");
    let of_port = |port: &PortKeys, within: &'static str| {
        let mut limits = port.buffer.at().iter().map(|&(_, limit)| limit).chain([port.buffer.limit()]);
        if let Some(limit) = limits.find(|&limit| too_small(limit)) {
            let what = format!("a buffer of {} cannot hold one packet", show_limit(limit));
            return Err(Fault::new(format!("{within}.buffer"), what, fix.clone()));
        }
        port.kind.part().check_frame(&fabric.frame).map_err(|misfit| misfit_in(within, misfit))
    };
    of_port(&scheme.port, "port")?;
    if let Some(own) = scheme.nic.part().port() {
        return of_port(own.keys, "nic.port");
    }
    match scheme.nic.part().queue() {
        Some(queue) if too_small(queue.limit) => {
            let what = format!("a transmit queue of {} cannot hold one packet", show_limit(queue.limit));
            Err(Fault::new("nic.limit", what, fix))
        }
        _ => Ok(()),
    }
}

/// Converts a misfit among the keys of the table `within`.
fn misfit_in(within: &'static str, KeyConflict { key, what, fix }: KeyConflict) -> Fault {
    match key {
        Some(key) => Fault::new(format!("{within}.{key}"), what, fix),
        None => Fault::new(within, what, fix),
    }
}

/// Checks the requirements of a transmit queue that uses a switch port discipline.
fn transmit_queue(scheme: &Scheme) -> Result<(), Fault> {
    match &scheme.nic {
        Nic::Port(own) => {
            let kind = own.port.keys.kind.name();
            let sorts = find(Row::Port, kind).is_some_and(|e| e.requires.contains(&Capability::Ranks));
            let transport = find(Row::Transport, scheme.transport.name());
            if !sorts
                || transport.is_some_and(|e| e.provides.iter().any(|p| p.capability == Capability::Ranks))
            {
                return Ok(());
            }
            let name = scheme.transport.name();
            let what = format!("a port of kind {kind} sorts by ranks, but `{name}` writes no ranks");
            Err(Fault::new("nic.port", what, "a kind that sorts by class, or another transport"))
        }
        Nic::Ports(own) => {
            let (name, kind) = (scheme.port.kind.name(), scheme.port.kind.part());
            let fault = |what, fix: &str| Fault::new("nic.queue", what, fix);
            let other = "queue = \"fifo\", or nic = { port = { ... } } for its own port";
            kind.check_at_host().map_err(|misfit| fault(misfit.what, other))?;
            let buffer = BufferSpec::of(own.queue.limit);
            let limit = "nic = { queue = \"ports\", limit = \"240pkt\" }";
            kind.check_buffer(name, &buffer).map_err(|misfit| fault(misfit.what, limit))
        }
        _ => Ok(()),
    }
}

/// Checks that all transmit queues have the same limits.
fn limits_of_hosts(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    if fabric.host_rates.len() <= 1 {
        return Ok(());
    }
    let nic = scheme.nic.part();
    if nic.port().is_some_and(|own| own.keys.ecn.is_some() || own.keys.buffer.depends_on_rate()) {
        let what = "hosts have links of several rates, but all transmit queues are equal".to_owned();
        return Err(Fault::new("nic.port", what, "one limit without ecn, or host links of one rate"));
    }
    if nic.queue().is_some_and(|queue| queue.ecn.is_some()) {
        let what = "hosts have links of several rates, but all transmit queues have one marking threshold"
            .to_owned();
        return Err(Fault::new("nic.ecn", what, "ecn = false, or host links of one rate"));
    }
    if nic.queue().is_some_and(|queue| queue.rate.is_some()) {
        let what = "hosts have links of several rates, but all transmit queues have one capacity".to_owned();
        return Err(Fault::new("nic.rate", what, "a limit without rate, or host links of one rate"));
    }
    Ok(())
}

/// Checks that messages of a controller are no faster than a packet on one link.
fn messages(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    match scheme.assign.controller() {
        Some(controller) if controller.delay < fabric.lookahead => {
            let shortest = show_span(fabric.lookahead);
            let what = format!("the delay of messages is below that of a packet on one link, {shortest}");
            Err(Fault::new("assign.controller.delay", what, format!("at least {shortest}")))
        }
        _ => Ok(()),
    }
}

/// Checks that packet-based parameters of the transport fit the packet sizes.
fn packet_sizes(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    scheme.transport.fits(&fabric.frame).map_err(|misfit| misfit_in("transport", misfit))
}

/// Rejects paths given by flows under token transports, which select paths themselves.
fn routes(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    if fabric.routing != Routing::Stated || !scheme.transport.has_tokens() {
        return Ok(());
    }
    let what =
        format!("flows have their own paths, but `{}` chooses the paths itself", scheme.transport.name());
    Err(Fault::new("transport", what, "another transport, or flows without paths"))
}

/// Checks that the host, admit and assign rows suit a transport that schedules the flows of a host itself, or does not.
fn own_order(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let name = scheme.transport.name();
    if !scheme.transport.schedules_itself() {
        let what = format!("`{name}` does not schedule the flows of a host itself");
        let own = matches!(scheme.host, Order::Own(_));
        return if own {
            Err(Fault::new("host", what, "host = { kind = \"round_robin\" }, or another of its kinds"))
        } else {
            Ok(())
        };
    }
    if !matches!(scheme.host, Order::Own(_)) {
        let what = format!("`{name}` schedules the flows of a host itself");
        return Err(Fault::new("host", what, "host = { kind = \"own\" }, or remove host"));
    }
    let silent = || format!("senders of `{name}` do not report on active flows");
    if scheme.admit.part().interval() != Interval::Rpc {
        return Err(Fault::new("admit.mi", silent(), "mi = \"rpc\", or admit = { kind = \"none\" }"));
    }
    if fabric.rates_every.is_some() {
        return Err(Fault::new("transport", silent(), "another transport, or remove rates_every"));
    }
    let by_class = matches!(&scheme.transport, Spec::Ndp(keys) if keys.pull == ndp::PullOrder::ByClass);
    let given = !matches!(scheme.assign, Assign::None(_)) || scheme.admit.part().levels().is_some();
    let asks = given || fabric.top_class > 0;
    if by_class && !matches!(scheme.assign, Assign::BytesSent(_)) || !asks {
        return Ok(());
    }
    let what = format!("flows have their own classes, but `{name}` ignores classes");
    let fix = match &scheme.transport {
        Spec::Ndp(_) => "pull = \"by_class\" with classes of whole flows, or flows of class 0",
        _ => "assign = { kind = \"none\" } and flows of class 0",
    };
    Err(Fault::new("transport", what, fix))
}

/// Checks that one row sets the classes that flows request, and that the admit row supports all of them.
fn classes(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let top = fabric.top_class;
    if let Assign::ByFlow(rule) = &scheme.assign
        && top > 0
    {
        let what = format!(
            "`{}` assigns the class of each flow, but flows of the experiment request classes up to {top}",
            rule.name()
        );
        return Err(Fault::new("assign", what, "assign = { kind = \"none\" }, or flows of class 0"));
    }
    let asked = scheme.classes_given(top);
    match scheme.admit.part().levels() {
        Some(levels) if asked > levels => {
            let what = format!("flows request {asked} classes, but admission has {levels}");
            Err(Fault::new("admit.levels", what, format!("levels = {asked}")))
        }
        _ => Ok(()),
    }
}

/// Checks that rows that use deadlines get some.
fn deadlines(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    if fabric.deadlines != Coverage::None {
        return Ok(());
    }
    let fix = "a group with deadline = \"2ms\", or a list with a column `deadline_ns`";
    match (&scheme.assign, scheme.admit.part().without_deadlines()) {
        (Assign::ByFlow(rule), _) if rule.part().reads_deadlines() => {
            let what = format!("`{}` orders flows by deadlines, but no flow has one", rule.name());
            Err(Fault::new("assign", what, fix))
        }
        (_, Some(what)) => Err(Fault::new("admit", what.to_owned(), fix)),
        _ => Ok(()),
    }
}

/// Checks that the transport has a single monitor interval.
fn intervals(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let Some(own) = scheme.admit.part().interval().length(fabric.round_trip) else { return Ok(()) };
    match fabric.rates_every {
        Some(every) if every != own => {
            let (own, every) = (show_span(own), show_span(every));
            let what =
                format!("flows would report every {own} for admission, but every {every} for rates_every");
            Err(Fault::new("admit.mi", what, format!("mi = {every:?}, or rates_every = {own:?}")))
        }
        _ => Ok(()),
    }
}

/// Checks that all classes have queues at switches and hosts, and that the maps refer to existing queues.
fn queues(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let control = scheme.transport.window().and_then(|window| window.control_class.fixed()).unwrap_or(0);
    let others = u32::from(control.max(fabric.other_class)) + 1;
    let classes = scheme.classes_carried(fabric.top_class).max(others).min(16) as u8;
    mapped(&scheme.port.kind, &scheme.map, classes, ["map", "map.class"])?;
    let Some(own) = scheme.nic.part().port() else { return Ok(()) };
    let keys = if own.map.is_some() { ["nic.map", "nic.map.class"] } else { ["nic.port", "nic.port"] };
    mapped(&own.keys.kind, own.map.unwrap_or(&scheme.map), classes, keys).map_err(|fault| Fault {
        what: format!("at hosts, {}", fault.what),
        fix: format!("{} (in nic)", fault.fix),
        ..fault
    })
}

/// Checks that `classes` classes have queues at a port of this kind; `keys` are those of the map and of its list.
fn mapped(kind: &PortKind, map: &ClassMap, classes: u8, keys: [&'static str; 2]) -> Result<(), Fault> {
    let queues = kind.part().queues();
    if let QueueOf::List(list) = &map.class {
        if let Some(queue) = list.iter().find(|&&q| q >= queues) {
            let what = format!("queue {queue} does not exist: the port has {}", show_queues(queues));
            return Err(Fault::new(keys[1], what, format!("queues from 0 to {}", queues - 1)));
        }
        if list.len() < usize::from(classes) {
            let what = format!("{} classes are mapped, but packets carry {classes}", list.len());
            return Err(Fault::new(keys[1], what, format!("a list of {classes} queues, one per class")));
        }
        return Ok(());
    }
    if !kind.part().is_by_class() || classes <= queues {
        return Ok(());
    }
    let what = format!("packets carry {classes} classes, but the port has {}", show_queues(queues));
    let fold: Vec<String> = (0..classes).map(|c| c.min(queues - 1).to_string()).collect();
    let fix = format!(
        "port = {{ kind = \"strict\", queues = {classes} }}, or fold classes with map = {{ class = [{}] }}",
        fold.join(", ")
    );
    Err(Fault::new(keys[0], what, fix))
}

fn show_queues(count: u8) -> String {
    format!("{count} {}", if count == 1 { "queue" } else { "queues" })
}

fn warnings(scheme: &Scheme, fabric: &Fabric) -> Vec<String> {
    let mut all: Vec<String> = reordering::warning(scheme, fabric).into_iter().collect();
    if scheme.port.buffer.limit() == Limit::Unlimited && scheme.port.ecn.is_none() {
        all.push(
            "switch buffers are unbounded and ports do not mark packets, so only windows limit the queues"
                .to_owned(),
        );
    }
    if fabric.deadlines == Coverage::Some {
        all.extend(scheme.admit.part().with_some_deadlines().map(str::to_owned));
    }
    all.extend(scheme.host.part().warning().map(str::to_owned));
    all
}

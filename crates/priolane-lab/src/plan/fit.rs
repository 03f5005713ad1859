//! Checks at planning time that traffic fits the network and figures fit the sweep, and reports the line at fault.

use priolane_sim::topology::Topology;
use priolane_source::quantity::show_rate;
use priolane_source::{InputError, Mistakes, Node, Origin, Table, Value, nearest};
use priolane_workload::LoadOf;

use super::offers::{GroupOffer, Offered, offered};
use super::steady::SteadyNeeds;
use super::{failures, observed_port, size, traffic};
use crate::experiment::{Claim, Experiment, Group, Test, TrendTest, overlay};
use crate::panels::TIME;

/// The amount of an experiment's traffic.
pub(super) struct FittedTraffic {
    /// Warnings about overloaded links, and about what a claimed steady state lacks.
    pub(super) warnings: Vec<String>,
    /// Approximate number of flows per run.
    pub(super) flows: u64,
    /// The needs of the steady state of each open-loop group.
    pub(super) steady: Vec<SteadyNeeds>,
    /// The load that each group with a stated load offers.
    pub(super) offers: Vec<GroupOffer>,
}

/// Checks that each group's traffic can be generated on `topology`.
///
/// # Errors
/// Returns the first mistake of each group, or an error if there are too many flows.
pub(super) fn traffic(
    experiment: &Experiment,
    topology: &Topology,
    root: &Table,
) -> Result<FittedTraffic, InputError> {
    let located = |error: InputError| match overlay::locate(root, &error.key) {
        Some(origin) if error.line.is_none() => {
            InputError { file: origin.file.to_string(), line: origin.line, ..error }
        }
        _ => error,
    };
    let mut found = Mistakes::new(experiment.sources.experiment());
    found.keep(traffic::check_start(experiment).map_err(located));
    let mut warnings = Vec::new();
    let means = found.keep(traffic::along_paths(experiment, topology).map_err(located));
    let flows = found.each(experiment.groups.iter().enumerate(), |(number, group)| {
        let first = traffic::probe(experiment, topology, number).map_err(located)?;
        let under_way = means.as_ref().map(|means| traffic::under_way(experiment, topology, number, means));
        let under_way = under_way.transpose().map_err(located)?.unwrap_or(0);
        let flows = size::flows(experiment, group, first) + under_way as f64;
        promised(experiment, topology, group).map_err(located)?;
        let hosts = traffic::hosts(experiment, topology, group)?.len() as u32;
        let notes = group.app.part().notes(hosts)?;
        warnings.extend(notes.into_iter().map(|what| format!("group {}: {what}", group.name)));
        one_rate(experiment, topology, group).map_err(located)?;
        Ok(flows)
    });
    found.keep(observed_port::observed_port(experiment, topology).map_err(located));
    found.finish()?;
    let flows = size::check(experiment, &flows).map_err(located)?;
    let Offered { warnings: full, steady, offers } = offered(experiment, topology).map_err(located)?;
    warnings.extend(full);
    if experiment.time.steady_window().is_some() {
        warnings.extend(steady.iter().flat_map(SteadyNeeds::warnings));
    }
    Ok(FittedTraffic { warnings, flows, steady, offers })
}

/// Checks that the load of hosts is a single number: the links of a group with such a load have one rate.
fn one_rate(experiment: &Experiment, topology: &Topology, group: &Group) -> Result<(), InputError> {
    let Some((load, _)) = group.app.part().load() else { return Ok(()) };
    let hosts = traffic::hosts(experiment, topology, group)?;
    let mut rates = hosts.iter().map(|&host| topology.host_capacity(host));
    let first = rates.next();
    if load.of == LoadOf::Core || rates.all(|rate| Some(rate) == first) {
        return Ok(());
    }
    Err(InputError::new(
        experiment.sources.experiment(),
        None,
        format!("group.{}.load.of", group.name),
        "the links of this group's hosts have different rates, so the load of hosts is not a single number",
        "a group for each rate, or of = \"core\"",
    ))
}

/// Checks that all failing elements exist in the network, and that no host is cut off permanently.
pub(super) fn failures(experiment: &Experiment, topology: &Topology, root: &Table) -> Result<(), InputError> {
    let Err(fault) = failures::outages(experiment, topology) else { return Ok(()) };
    // Events are sorted by time, so the item of the file is found by its content.
    let fails = experiment.events[fault.event].fails().unwrap_or_default();
    let is_it = |item: &Node| match &item.value {
        Value::Table(table) => {
            matches!(table.get("fail").map(|node| &node.value), Some(Value::Text(text)) if text == fails)
        }
        _ => false,
    };
    let place = match root.get("event").map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().position(is_it).unwrap_or(0),
        _ => 0,
    };
    let origin = item_field(root, "event", place, "fail");
    let error = fault.error(experiment);
    Err(match origin.line {
        None => error,
        line => InputError { file: origin.file.to_string(), line, ..error },
    })
}

/// Checks that no minimum rate exceeds the link rate of a host that pays for it.
fn promised(experiment: &Experiment, topology: &Topology, group: &Group) -> Result<(), InputError> {
    let hosts = traffic::hosts(experiment, topology, group)?;
    let slowest = hosts.iter().map(|&host| topology.host_capacity(host)).min();
    let theta = group.flows.service.pairs().filter_map(|pair| pair.theta).max();
    match (theta, slowest) {
        (Some(theta), Some(rate)) if theta > rate => {
            let key = if group.flows.service.mix.is_empty() { "theta" } else { "mix" };
            let what =
                format!("the minimum rate {} is above the link rate {}", show_rate(theta), show_rate(rate));
            let fix = "at most the rate of the hosts' links";
            let file = experiment.sources.experiment();
            Err(InputError::new(file, None, format!("group.{}.{key}", group.name), what, fix))
        }
        _ => Ok(()),
    }
}

/// Checks that panels and claims refer to keys that the file sweeps and does not average over.
pub(super) fn figures(experiment: &Experiment, swept: &[String], root: &Table) -> Result<(), InputError> {
    let averaged = experiment.metrics.averaged_keys();
    if let Some((index, key)) = averaged.iter().enumerate().find(|(_, key)| !swept.contains(key)) {
        let (what, fix) = not_swept(key, swept);
        let origin = field_of(root.get("metrics"), "average_over");
        return Err(origin.error(&format!("metrics.average_over[{index}]"), what, fix));
    }
    let visible_keys: Vec<String> = swept.iter().filter(|key| !averaged.contains(key)).cloned().collect();
    let check = |list: &str, index: usize, field: &str, key: &str| {
        if visible_keys.iter().any(|axis| axis == key) {
            return Ok(());
        }
        let (what, fix) = match averaged.iter().any(|axis| axis == key) {
            true => (
                format!("metrics are means over {key:?}"),
                "remove the key here or from metrics.average_over".to_owned(),
            ),
            false => not_swept(key, &visible_keys),
        };
        let origin = item_field(root, list, index, field);
        Err(origin.error(&format!("{list}[{index}].{field}"), what, fix))
    };
    for (i, panel) in experiment.panels.iter().enumerate() {
        panel.x.iter().filter(|x| *x != TIME).try_for_each(|x| check("panel", i, "x", x))?;
        panel.at.keys().try_for_each(|key| check("panel", i, "at", key))?;
        panel.x_at.keys().try_for_each(|key| check("panel", i, "x_at", key))?;
        panel.y_at.keys().try_for_each(|key| check("panel", i, "y_at", key))?;
    }
    for (i, claim) in experiment.claims.iter().enumerate() {
        claim.at.keys().try_for_each(|key| check("claim", i, "at", key))?;
        let moved = claim.test.metrics().into_iter().flat_map(|metric| metric.at.keys());
        moved.into_iter().try_for_each(|key| check("claim", i, claim.test.name(), key))?;
        if let Test::Trend(TrendTest { along, .. }) = &claim.test {
            check("claim", i, "trend", along)?;
        }
        if claim.most && !visible_keys.iter().any(|key| is_free(claim, key)) {
            let what = "the claim has one point, so that more than half of its points are all of them";
            let fix = "a [sweep] with a key that the claim does not set, or remove the key here";
            return Err(item_field(root, "claim", i, "most").error(&format!("claim[{i}].most"), what, fix));
        }
    }
    Ok(())
}

/// Returns whether a claim has a point for each value of a swept key.
fn is_free(claim: &Claim, key: &str) -> bool {
    let is_trend = matches!(&claim.test, Test::Trend(TrendTest { along, .. }) if along == key);
    !is_trend && !claim.at.contains_key(key)
}

/// Returns what is wrong with a key that the file does not sweep, and what to write instead.
fn not_swept(key: &str, swept: &[String]) -> (String, String) {
    let fix = match nearest(key, swept.iter().map(String::as_str)) {
        Some(near) => format!("Did you mean {near:?}?"),
        None if swept.is_empty() => "a [sweep] with this key, or remove the key here".to_owned(),
        None => format!("one of {}", swept.join(", ")),
    };
    (format!("the key {key:?} is not swept"), fix)
}

/// Returns the origin of the `field` of the `index`-th item in the `list` of tables.
pub(super) fn item_field(root: &Table, list: &str, index: usize, field: &str) -> Origin {
    let item = match root.get(list).map(|node| &node.value) {
        Some(Value::List(items)) => items.get(index),
        _ => None,
    };
    field_of(item, field)
}

/// Returns the origin of a field of a table, or of the table without it.
fn field_of(item: Option<&Node>, field: &str) -> Origin {
    let inner = item.and_then(|item| match &item.value {
        Value::Table(table) => table.get(field),
        _ => None,
    });
    let node = inner.or(item);
    node.map_or(Origin { file: "".into(), line: None }, |node| node.origin.clone())
}

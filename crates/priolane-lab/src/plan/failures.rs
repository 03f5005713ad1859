//! Maps the failures of an experiment to links and switches of its network.

use priolane_core::ids::{LinkId, NodeId};
use priolane_core::units::Time;
use priolane_sim::outage::{FailedElement, Failure, Outages};
use priolane_sim::topology::Topology;
use priolane_source::{InputError, nearest};

use crate::experiment::{EventKind, Experiment};

/// An invalid failure: its event, what is wrong, and what would be right.
pub(super) struct Fault {
    pub(super) event: usize,
    what: String,
    fix: String,
}

impl Fault {
    /// Converts to an error of an experiment file.
    pub(super) fn error(self, experiment: &Experiment) -> InputError {
        let key = format!("event[{}].fail", self.event);
        InputError::new(experiment.sources.experiment(), None, key, self.what, self.fix)
    }
}

/// Returns all outages of `experiment`.
pub(super) fn outages(experiment: &Experiment, topology: &Topology) -> Result<Outages, Fault> {
    let mut failures = Vec::new();
    let mut last = 0;
    for (event, fail) in experiment.events.iter().enumerate() {
        let EventKind::Fail { fail: element, until, reconvergence } = &fail.what else { continue };
        last = event;
        let (at, until, reconvergence) = (fail.at, *until, *reconvergence);
        let cuts = cuts(topology, element).map_err(|(what, fix)| Fault { event, what, fix })?;
        failures.extend(cuts.into_iter().map(|cut| Failure {
            cut,
            from: Time(at.0),
            until: until.map(|until| Time(until.0)),
            reconvergence,
        }));
    }
    let fault = |what: String, fix: &str| Fault { event: last, what, fix: fix.to_owned() };
    let outages = Outages::new(topology, &failures)
        .map_err(|problem| fault(problem.to_string(), "fewer failures, or a smaller network"))?;
    match outages.unreachable_node(topology) {
        Some(name) => {
            let what = format!("{name} is disconnected forever, and flows to it could never end");
            Err(fault(what, "until = \"...\", the time of the repair"))
        }
        None => Ok(outages),
    }
}

type UnknownElement = (String, String);

/// Parses `link:A-B`, `link:A-B#2` or `switch:A`.
fn cuts(topology: &Topology, text: &str) -> Result<Vec<FailedElement>, UnknownElement> {
    let shown: String = text.chars().take(80).collect();
    let fix = "link:A-B or switch:A with names of nodes".to_owned();
    match text.split_once(':') {
        Some(("link", ends)) => link(topology, ends),
        Some(("switch", name)) => match topology.find_node(name) {
            Some(node) if node.0 >= topology.hosts => Ok(vec![FailedElement::Switch(node)]),
            Some(_) => {
                Err((format!("{name:?} is a host"), "a switch, or link:A-B for the link of the host".into()))
            }
            None => Err((format!("unknown switch {name:?}"), known(topology, name))),
        },
        _ => Err((format!("{shown:?} is neither a link nor a switch"), fix)),
    }
}

/// Returns the links between two nodes, whose names may contain dashes; with `#n`, only the n-th.
fn link(topology: &Topology, text: &str) -> Result<Vec<FailedElement>, UnknownElement> {
    let (ends, number) = match text.split_once('#') {
        Some((ends, number)) => (ends, Some(number)),
        None => (text, None),
    };
    let splits = || ends.match_indices('-').map(|(at, _)| (&ends[..at], &ends[at + 1..]));
    let mut links = splits().map(|(a, b)| topology.links_between(a, b)).find(|links| !links.is_empty());
    if let (Some(all), Some(number)) = (&mut links, number) {
        let chosen = number.parse::<usize>().ok().and_then(|n| all.get(n.checked_sub(1)?).copied());
        let Some(chosen) = chosen else {
            let what = format!("there is no link {number:?} between these nodes");
            return Err((what, format!("#1 to #{}, or no number for all of them", all.len())));
        };
        *all = vec![chosen];
    }
    match links {
        Some(links) => Ok(links.into_iter().map(|link: LinkId| FailedElement::Link(link)).collect()),
        None => {
            let unknown = splits().flat_map(|(a, b)| [a, b]).find(|name| topology.find_node(name).is_none());
            let fix = unknown.map_or("two nodes that are linked".to_owned(), |name| known(topology, name));
            Err((format!("unknown link {ends:?}"), fix))
        }
    }
}

/// Suggests the name of a node.
fn known(topology: &Topology, name: &str) -> String {
    let switches = (topology.hosts..topology.nodes() as u32).map(NodeId);
    let names = topology.names.iter().map(String::as_str);
    match nearest(name, names) {
        Some(near) => format!("Did you mean {near:?}?"),
        None => {
            let first: Vec<&str> =
                switches.take(8).map(|node| topology.names[node.index()].as_str()).collect();
            format!("names of nodes such as {}", first.join(", "))
        }
    }
}

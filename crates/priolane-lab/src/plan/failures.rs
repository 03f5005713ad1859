//! From the failures that an experiment names to the links and switches of its network.

use priolane_core::ids::{LinkId, NodeId};
use priolane_core::units::Time;
use priolane_sim::outage::{Cut, Failure, Outages};
use priolane_sim::topology::Topology;
use priolane_source::{InputError, nearest};

use crate::experiment::{Event, Experiment, FailEvent};

/// Why the failures cannot be: the event that is to blame, what is wrong, and what would be right.
pub(super) struct Fault {
    pub(super) event: usize,
    what: String,
    fix: String,
}

impl Fault {
    /// This fault as an error of an experiment file.
    pub(super) fn error(self, experiment: &Experiment) -> InputError {
        let key = format!("event[{}].fail", self.event);
        InputError::new(experiment.sources.experiment(), None, key, self.what, self.fix)
    }
}

/// All that fails in `experiment`.
pub(super) fn outages(experiment: &Experiment, topology: &Topology) -> Result<Outages, Fault> {
    let mut failures = Vec::new();
    let mut last = 0;
    for (event, fail) in experiment.events.iter().enumerate() {
        let Event::Fail(fail) = fail else { continue };
        last = event;
        let FailEvent { at, until, reconvergence, .. } = *fail;
        let cuts = cuts(topology, &fail.fail).map_err(|(what, fix)| Fault { event, what, fix })?;
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
    match outages.cut_off(topology) {
        Some(name) => {
            let what = format!("{name} is cut off for ever, and flows to it could never end");
            Err(fault(what, "until = \"...\", the instant of the repair"))
        }
        None => Ok(outages),
    }
}

type Refusal = (String, String);

/// What `link:A-B`, `link:A-B#2` or `switch:A` names.
fn cuts(topology: &Topology, text: &str) -> Result<Vec<Cut>, Refusal> {
    let shown: String = text.chars().take(80).collect();
    let fix = "link:A-B or switch:A, with names of nodes".to_owned();
    match text.split_once(':') {
        Some(("link", ends)) => link(topology, ends),
        Some(("switch", name)) => match topology.find_node(name) {
            Some(node) if node.0 >= topology.hosts => Ok(vec![Cut::Switch(node)]),
            Some(_) => Err((format!("{name:?} is a host"), "a switch, or the host's link: link:A-B".into())),
            None => Err((format!("there is no switch {name:?}"), known(topology, name))),
        },
        _ => Err((format!("{shown:?} is neither a link nor a switch"), fix)),
    }
}

/// The links between two nodes, whose names may themselves have dashes; with `#n` only the n-th.
fn link(topology: &Topology, text: &str) -> Result<Vec<Cut>, Refusal> {
    let (ends, number) = match text.split_once('#') {
        Some((ends, number)) => (ends, Some(number)),
        None => (text, None),
    };
    let splits = || ends.match_indices('-').map(|(at, _)| (&ends[..at], &ends[at + 1..]));
    let mut links = splits().map(|(a, b)| topology.links_between(a, b)).find(|links| !links.is_empty());
    if let (Some(all), Some(number)) = (&mut links, number) {
        let chosen = number.parse::<usize>().ok().and_then(|n| all.get(n.checked_sub(1)?).copied());
        let Some(chosen) = chosen else {
            let what = format!("there is no link {number:?} between those nodes");
            return Err((what, format!("#1 to #{}, or none for all of them", all.len())));
        };
        *all = vec![chosen];
    }
    match links {
        Some(links) => Ok(links.into_iter().map(|link: LinkId| Cut::Link(link)).collect()),
        None => {
            let unknown = splits().flat_map(|(a, b)| [a, b]).find(|name| topology.find_node(name).is_none());
            let fix = unknown.map_or("two nodes that are linked".to_owned(), |name| known(topology, name));
            Err((format!("there is no link {ends:?}"), fix))
        }
    }
}

/// The name of a node that is meant, perhaps.
fn known(topology: &Topology, name: &str) -> String {
    let switches = (topology.hosts..topology.nodes() as u32).map(NodeId);
    let names = topology.names.iter().map(String::as_str);
    match nearest(name, names) {
        Some(near) => format!("did you mean {near:?}?"),
        None => {
            let first: Vec<&str> =
                switches.take(8).map(|node| topology.names[node.index()].as_str()).collect();
            format!("names of nodes such as {}", first.join(", "))
        }
    }
}

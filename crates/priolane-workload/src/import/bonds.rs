//! Hosts with several links, of which a host of priolane has one.
//!
//! Parallel links of a host to one switch can be one link of their summed rate: a flow may then be faster than one of
//! them. Links to two switches have no sum, since each leads to other ports.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use priolane_core::units::Rate;
use priolane_sim::topology::text;
use priolane_source::InputError;
use serde::Deserialize;

/// The treatment of a host's links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bond {
    /// Links to the same switch are one link of their summed rate.
    Sum,
    /// The first link of each host is kept.
    First,
}

/// A node, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    Host(u64),
    Switch(u64),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(number) => write!(f, "h{number}"),
            Self::Switch(number) => write!(f, "s{number}"),
        }
    }
}

/// A link as the file has it, with units.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) ends: [Node; 2],
    pub(super) rate: String,
    pub(super) delay: String,
    pub(super) loss: String,
    pub(super) line: usize,
}

impl Link {
    /// Returns whether both links have the same delay and loss, however these are written.
    fn is_alike(&self, other: &Self) -> bool {
        let delays = [&self.delay, &other.delay].map(|delay| text::span(delay).ok());
        let losses = [&self.loss, &other.loss].map(|loss| text::probability(loss).ok());
        delays[0] == delays[1] && losses[0] == losses[1]
    }

    /// Returns the ends that are hosts, each with the other end.
    fn hosts(&self) -> impl Iterator<Item = (u64, Node)> + '_ {
        let [a, b] = self.ends;
        [(a, b), (b, a)].into_iter().filter_map(|(end, peer)| match end {
            Node::Host(host) => Some((host, peer)),
            Node::Switch(_) => None,
        })
    }
}

/// Returns the links of which each host has one, if `bond` makes it so.
///
/// # Errors
/// Returns an error for the first host that has several links and keeps them.
pub(super) fn joined(
    file: &str,
    links: Vec<Link>,
    bond: Option<Bond>,
    notes: &mut Vec<String>,
) -> Result<Vec<Link>, InputError> {
    let mut of_host: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, link) in links.iter().enumerate() {
        for (host, _) in link.hosts() {
            of_host.entry(host).or_default().push(place);
        }
    }
    let several = of_host.iter().filter(|(_, places)| places.len() > 1);
    let mut links = links;
    let mut gone = BTreeSet::new();
    let mut hosts = 0u64;
    for (&host, places) in several {
        hosts += 1;
        match bond {
            Some(Bond::First) => {}
            Some(Bond::Sum) => sum(file, &mut links, host, places)?,
            None => return Err(refused(file, &links, host, places)),
        }
        gone.extend(places[1..].iter().copied());
    }
    match bond {
        Some(Bond::Sum) if hosts > 0 => {
            notes.push(format!("{hosts} hosts have one link of the summed rate of several (--bond sum)"));
        }
        Some(Bond::First) if hosts > 0 => notes.push(format!(
            "{hosts} hosts keep the first of several links, {} links were dropped (--bond first)",
            gone.len()
        )),
        _ => {}
    }
    let kept = links.into_iter().enumerate().filter(|(place, _)| !gone.contains(place));
    Ok(kept.map(|(_, link)| link).collect())
}

/// Returns the other ends of a host's links.
fn peers(links: &[Link], host: u64, places: &[usize]) -> BTreeSet<Node> {
    let of = |&place: &usize| links[place].hosts().find(|&(end, _)| end == host).map(|(_, peer)| peer);
    places.iter().filter_map(of).collect()
}

/// Returns the error for a host that has several links.
fn refused(file: &str, links: &[Link], host: u64, places: &[usize]) -> InputError {
    let peers = peers(links, host, places);
    let shown: Vec<String> = peers.iter().take(4).map(ToString::to_string).collect();
    let line = Some(links[places[1]].line);
    let count = places.len();
    let (what, fix) = if peers.iter().any(|peer| matches!(peer, Node::Host(_))) {
        let what =
            format!("host h{host} has links to {}, but hosts do not pass packets on here", shown.join(", "));
        (what, "a network in which switches connect the hosts")
    } else if peers.len() == 1 {
        let what = format!("host h{host} has {count} links to {}, and a host has one here", shown.join(", "));
        (what, "--bond sum to join them to one link of their summed rate")
    } else {
        let what = format!(
            "host h{host} has links to {}, and a host has one here: links to several switches have no sum",
            shown.join(", ")
        );
        (what, "--bond first to keep the first link of each host, which halves what hosts with two can send")
    };
    InputError::new(file, line, "", what, fix)
}

/// Gives the first link of `host` the summed rate of all of them.
fn sum(file: &str, links: &mut [Link], host: u64, places: &[usize]) -> Result<(), InputError> {
    if peers(links, host, places).len() > 1 {
        return Err(refused(file, links, host, places));
    }
    let first = links[places[0]].clone();
    let mut total = 0u64;
    for &place in places {
        let link = &links[place];
        let bad = |what: String, fix: &str| InputError::new(file, Some(link.line), "", what, fix);
        if !link.is_alike(&first) {
            let what = format!("parallel links of host h{host} differ in delay or error rate");
            return Err(bad(what, "equal ones, or --bond first"));
        }
        let rate =
            text::rate(&link.rate).map_err(|problem| bad(problem.to_string(), "a rate such as 25Gbps"))?;
        let summed = total.checked_add(rate.bps()).and_then(Rate::from_bps);
        total = summed.ok_or_else(|| bad("the summed rate is too large".to_owned(), "lower rates"))?.bps();
    }
    links[places[0]].rate = format!("{total}bps");
    Ok(())
}

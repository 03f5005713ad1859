//! Topologies from text, with one node or link per line.
//!
//! ```text
//! # anything after a number sign is a comment; blank lines are skipped
//! node,h0,host
//! node,h1,host
//! node,tor,switch
//! link,h0,tor,10Gbps,1us
//! link,h1,tor,2.5Gbps,1.5us,0.001
//! ```
//!
//! `link,A,B,RATE,DELAY[,LOSS]` is a link in both directions, between nodes declared before or after it. Spaces around
//! fields are ignored. Hosts are numbered in order of their lines. Switches with hosts come before other switches,
//! each in order of their lines.

use std::sync::Arc;

use priolane_core::keys::Keys;
use priolane_core::part::Part;

use super::error::{Problem, TopologyError, quote};
use super::graph::{Graph, LinkSpec, Place};
use super::limits::MAX_LINKS;
use super::network::NodeKind;
use super::network::Topology;
use super::text;

const NODE_FORM: &str = "node,NAME,host|switch";
const LINK_FORM: &str = "link,A,B,RATE,DELAY[,LOSS]";

/// A link as written, with unresolved node names.
struct LinkLine<'a> {
    line: usize,
    ends: [&'a str; 2],
    spec: LinkSpec,
}

enum Record<'a> {
    Node(NodeKind, &'a str),
    Link([&'a str; 2], LinkSpec),
}

/// A network of nodes and links that a file lists.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "file")]
#[part(name = "file", summary = "nodes and links from a file", source = "docs/experiments.md")]
pub struct File {
    /// Its path, relative to the experiment file.
    #[key(required = "path = \"network.csv\"")]
    pub path: String,
    /// Its text; empty until the experiment is read.
    #[keys(skip = "".into())]
    pub text: Arc<str>,
}

impl File {
    /// Builds the topology; fails as [`parse`] does.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        parse(&self.text)
    }
}

/// Returns the topology that `text` describes; fails with the first error and its line.
///
/// Memory is bounded by the limits in `limits.rs`, whatever the text.
pub fn parse(text: &str) -> Result<Topology, TopologyError> {
    let mut graph = Graph::new();
    let mut node_lines = Vec::new();
    let mut links = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, content) in text.lines().enumerate() {
        let line = index + 1;
        let at = |problem| TopologyError::Line { line, problem };
        match record(content).map_err(at)? {
            Some(Record::Node(kind, name)) => {
                graph.node(kind, name).map_err(at)?;
                node_lines.push(line);
            }
            Some(Record::Link(..)) if links.len() as u64 == MAX_LINKS => {
                return Err(at(Problem::TooManyLinks { found: MAX_LINKS + 1 }));
            }
            Some(Record::Link(ends, spec)) => links.push(LinkLine { line, ends, spec }),
            None => {}
        }
    }
    for LinkLine { line, ends, spec } in links {
        let at = |problem| TopologyError::Line { line, problem };
        let find = |name| graph.find(name).ok_or_else(|| at(Problem::UnknownNode { name: quote(name) }));
        let (a, b) = (find(ends[0])?, find(ends[1])?);
        graph.link(a, b, spec).map_err(at)?;
    }
    graph.build().map_err(|fault| match fault.place {
        Place::Node(vertex) => {
            TopologyError::Line { line: node_lines[vertex.index()], problem: fault.problem }
        }
        Place::Whole => TopologyError::Network(fault.problem),
    })
}

/// Parses the record of one line; `None` if it has none.
fn record(line: &str) -> Result<Option<Record<'_>>, Problem> {
    let content = line.split('#').next().unwrap_or_default().trim();
    if content.is_empty() {
        return Ok(None);
    }
    let mut fields = [""; 6];
    let mut found = 0;
    for field in content.split(',') {
        if let Some(slot) = fields.get_mut(found) {
            *slot = field.trim();
        }
        found += 1;
    }
    match (fields, found) {
        (["node", name, kind, ..], 3) => Ok(Some(Record::Node(node_kind(kind)?, name))),
        (["link", a, b, rate, delay, loss], 5 | 6) => {
            let loss = if found == 6 { text::probability(loss)? } else { 0.0 };
            let spec = LinkSpec { rate: text::rate(rate)?, delay: text::span(delay)?, loss };
            Ok(Some(Record::Link([a, b], spec)))
        }
        (["node", ..], _) => Err(Problem::Fields { found, form: NODE_FORM }),
        (["link", ..], _) => Err(Problem::Fields { found, form: LINK_FORM }),
        ([other, ..], _) => Err(Problem::UnknownRecord { found: quote(other) }),
    }
}

fn node_kind(text: &str) -> Result<NodeKind, Problem> {
    match text {
        "host" => Ok(NodeKind::Host),
        "switch" => Ok(NodeKind::Switch),
        _ => Err(Problem::UnknownKind { found: quote(text) }),
    }
}

#[cfg(test)]
mod tests;

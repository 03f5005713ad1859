//! Converts `topology.txt` of HPCC's ns-3 and its relatives to a topology file of priolane.
//!
//! ```text
//! 4 1 3
//! 0
//! 0 1 100Gbps 0.001ms 0
//! 0 2 100Gbps 0.001ms 0
//! 0 3 100Gbps 0.001ms 0
//! ```
//!
//! Numbers of nodes, switches and links; the switches; `a b rate delay error_rate` per link. An error rate is used
//! as the packet loss probability. Lines after the stated number of links are dropped, because the simulators never read
//! them. As ns-3 reads them, rates without a unit are bits per second and delays without one are seconds.
//!
//! Relatives have more numbers in the first line ([`Counts`]).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::BufRead;

use priolane_sim::topology::{TopologyError, file};
use priolane_source::InputError;
use priolane_source::csv::Lines;

use super::bonds::{self, Bond, Link, Node};
use super::collect::{MAX_HOSTS, digits, whole};
use super::decimal;
use super::network::Network;
use super::options::Text;

/// The counts of the first line, by the number of its cells:
///
/// ```text
/// nodes switches links                                       HPCC, ConWeave, astra-sim
/// nodes switches tors links                                  PowerTCP
/// nodes switches tors links rate rate                        Reverie
/// nodes gpus_per_server nvswitches switches links gpu_name   SimAI
/// ```
struct Counts {
    nodes: u64,
    switches: u64,
    links: u64,
}

/// Reads a `topology.txt` called `name` in messages; `bond` says what becomes of hosts with several links.
///
/// # Errors
/// Fails if the text is not a topology, its counts are wrong, or priolane does not support the network.
pub(super) fn read(text: &mut dyn BufRead, name: &str, bond: Option<Bond>) -> Result<Network, InputError> {
    let mut lines: Text<'_> = Lines::new(text, name);
    let (counts, head) = counts(&mut lines)?;
    let switches = switches(&mut lines, &counts)?;
    let hosts: Vec<u32> = (0..counts.nodes as u32).filter(|node| !switches.contains(node)).collect();
    let (mut line, mut links, mut rest) = (String::new(), Vec::new(), 0u64);
    while lines.next(&mut line)? {
        if links.len() as u64 == counts.links {
            rest += 1;
        } else {
            links.push(link(&lines, &line, &switches)?);
        }
    }
    if (links.len() as u64) < counts.links {
        let what = format!("the first line states {} links, but there are {}", counts.links, links.len());
        return Err(lines.whole(what, "Check that the file is complete"));
    }
    let mut notes = Vec::new();
    if rest > 0 {
        notes.push(format!(
            "{rest} lines of the topology after the stated number of links were dropped, as its simulator does"
        ));
    }
    let links = bonds::joined(name, links, bond, &mut notes)?;
    let text = written(&lines, head, (&hosts, &switches), &links)?;
    Ok(Network { hosts, text, notes })
}

/// Returns the topology file of nodes and links, or the error of one of them at its line.
fn written(
    lines: &Text<'_>,
    head: usize,
    (hosts, switches): (&[u32], &BTreeSet<u32>),
    links: &[Link],
) -> Result<String, InputError> {
    let mut made = String::from("# nodes and links of an ns-3 RDMA topology\n");
    let mut origin = vec![head; 1 + hosts.len() + switches.len()];
    for host in hosts {
        let _ = writeln!(made, "node,h{host},host");
    }
    for switch in switches {
        let _ = writeln!(made, "node,s{switch},switch");
    }
    for link in links {
        let _ = writeln!(
            made,
            "link,{},{},{},{},{}",
            link.ends[0], link.ends[1], link.rate, link.delay, link.loss
        );
        origin.push(link.line);
    }
    file::parse(&made).map_err(|error| refused(lines, &origin, error))?;
    Ok(made)
}

/// Returns true if the line is a link: `a b rate delay error_rate`.
pub(super) fn is_link(line: &str) -> bool {
    let cells: Vec<&str> = line.split_whitespace().collect();
    matches!(cells[..], [a, b, rate, delay, _] if digits(a).is_some() && digits(b).is_some()
        && rate.starts_with(|c: char| c.is_ascii_digit()) && delay.ends_with('s')
        && delay.starts_with(|c: char| c.is_ascii_digit()))
}

fn counts(lines: &mut Text<'_>) -> Result<(Counts, usize), InputError> {
    let mut line = String::new();
    if !lines.next(&mut line)? {
        return Err(
            lines.whole("the topology is empty", "Begin with the numbers of nodes, switches and links")
        );
    }
    let cells: Vec<&str> = line.split_whitespace().collect();
    let number = |cell: &str, what: &str| whole(lines, cell, what);
    let (nodes, switches, links) = match cells[..] {
        [nodes, switches, links] | [nodes, switches, _, links] => {
            (nodes, number(switches, "a number of switches")?, links)
        }
        [nodes, switches, _, links, a, b] if bare(a, 0).is_some() && bare(b, 0).is_some() => {
            (nodes, number(switches, "a number of switches")?, links)
        }
        [nodes, _, nvswitches, switches, links, _] => {
            let of_servers = number(nvswitches, "a number of switches")?;
            (nodes, of_servers.saturating_add(number(switches, "a number of switches")?), links)
        }
        _ => {
            let what = format!("the first line has {} numbers", cells.len());
            let fix = "the numbers of nodes, switches and links, or a form of docs/importing.md";
            return Err(lines.error("", what, fix));
        }
    };
    let counts = Counts {
        nodes: number(nodes, "a number of nodes")?,
        switches,
        links: number(links, "a number of links")?,
    };
    if counts.nodes > 2 * MAX_HOSTS || counts.switches > counts.nodes {
        let fix = "at most 65536 hosts and 65536 switches, and no more switches than nodes";
        let what = format!("there are {nodes} nodes, {switches} of them switches");
        return Err(lines.error("", what, fix));
    }
    Ok((counts, lines.number()))
}

/// Reads the switches, which may extend over several lines.
fn switches(lines: &mut Text<'_>, counts: &Counts) -> Result<BTreeSet<u32>, InputError> {
    let (mut line, mut switches) = (String::new(), BTreeSet::new());
    while (switches.len() as u64) < counts.switches {
        if !lines.next(&mut line)? {
            let what = format!("only {} of {} switches are listed", switches.len(), counts.switches);
            return Err(lines.whole(what, "Check that the file is complete"));
        }
        for cell in line.split_whitespace() {
            let node = whole(lines, cell, "a node")?;
            if node >= counts.nodes || !switches.insert(node as u32) {
                let fix = "each switch once, by its number from 0";
                return Err(lines.error("", format!("switch {node} is listed twice or is not a node"), fix));
            }
        }
        if switches.len() as u64 > counts.switches {
            return Err(lines.error(
                "",
                "there are more switches than in the first line",
                "Correct the first line",
            ));
        }
    }
    Ok(switches)
}

fn link(lines: &Text<'_>, line: &str, switches: &BTreeSet<u32>) -> Result<Link, InputError> {
    let cells: Vec<&str> = line.split_whitespace().collect();
    let &[a, b, rate, delay, loss] = &cells[..] else {
        let what = format!("the link has {} parts", cells.len());
        return Err(lines.error("", what, "a b rate delay error_rate"));
    };
    // Commas and number signs have a meaning in the generated file.
    if [rate, delay, loss].iter().any(|cell| cell.contains([',', '#'])) {
        return Err(lines.error(
            "",
            "a part of the link is not a quantity",
            "rate, delay and error rate, such as 100Gbps 0.001ms 0",
        ));
    }
    let rate = bare(rate, 0).map_or_else(|| rate.to_owned(), |bits| format!("{bits}bps"));
    let delay = bare(delay, 12).map_or_else(|| delay.to_owned(), |ps| format!("{ps}ps"));
    let ends = [end(lines, a, switches)?, end(lines, b, switches)?];
    Ok(Link { ends, rate, delay, loss: loss.to_owned(), line: lines.number() })
}

/// Returns a number without a unit in units of `10^-power`, if it is one and a whole number of them.
fn bare(cell: &str, power: i32) -> Option<u128> {
    decimal::scaled(cell, power).filter(|scaled| scaled.exact).map(|scaled| scaled.value)
}

fn end(lines: &Text<'_>, cell: &str, switches: &BTreeSet<u32>) -> Result<Node, InputError> {
    let node = whole(lines, cell, "a node")?;
    let is_switch = u32::try_from(node).is_ok_and(|node| switches.contains(&node));
    Ok(if is_switch { Node::Switch(node) } else { Node::Host(node) })
}

/// Returns the error of the generated file at the source line.
fn refused(lines: &Text<'_>, origin: &[usize], error: TopologyError) -> InputError {
    let fix = "Correct this link or node; h is a host, s is a switch";
    match error {
        TopologyError::Line { line, problem } => {
            let line = origin.get(line.saturating_sub(1)).copied();
            InputError::new(lines.file(), line, "", problem.to_string(), fix)
        }
        other => lines.whole(other.to_string(), fix),
    }
}

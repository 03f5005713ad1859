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
//! as the packet loss probability.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::BufRead;

use priolane_sim::topology::{TopologyError, file};
use priolane_source::InputError;
use priolane_source::csv::Lines;

use super::collect::{MAX_HOSTS, whole};
use super::options::Text;

/// The network of an HPCC simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The nodes that are hosts, in order: their indices are priolane's hosts.
    pub hosts: Vec<u32>,
    /// The topology file: host k is called `h<k>`, switch k `s<k>`, where k is the node.
    pub text: String,
}

struct Sizes {
    nodes: u64,
    switches: u64,
    links: u64,
}

/// Reads a `topology.txt` called `name` in messages.
///
/// # Errors
/// Fails if the text is not a topology, its counts are wrong, or priolane does not support the network.
pub fn read(text: &mut dyn BufRead, name: &str) -> Result<Network, InputError> {
    let mut lines: Text<'_> = Lines::new(text, name);
    let (sizes, head) = sizes(&mut lines)?;
    let switches = switches(&mut lines, &sizes)?;
    let hosts: Vec<u32> = (0..sizes.nodes as u32).filter(|node| !switches.contains(node)).collect();
    let mut made = String::from("# nodes and links of an ns-3 RDMA topology\n");
    let mut origin = vec![head];
    for &host in &hosts {
        made += &format!("node,h{host},host\n");
        origin.push(head);
    }
    for &switch in &switches {
        made += &format!("node,s{switch},switch\n");
        origin.push(head);
    }
    let (mut line, mut links) = (String::new(), 0);
    while lines.next(&mut line)? {
        link(&lines, &line, &switches, &mut made)?;
        origin.push(lines.number());
        links += 1;
    }
    if links != sizes.links {
        let what = format!("the first line states {} links, but there are {links}", sizes.links);
        return Err(lines.whole(what, "Check that the file is complete"));
    }
    file::parse(&made).map_err(|error| refused(&lines, &origin, error))?;
    Ok(Network { hosts, text: made })
}

fn sizes(lines: &mut Text<'_>) -> Result<(Sizes, usize), InputError> {
    let mut line = String::new();
    if !lines.next(&mut line)? {
        return Err(
            lines.whole("the topology is empty", "Begin with the numbers of nodes, switches and links")
        );
    }
    let cells: Vec<&str> = line.split_whitespace().collect();
    let &[nodes, switches, links] = &cells[..] else {
        let what = format!("the first line has {} numbers", cells.len());
        return Err(lines.error("", what, "the numbers of nodes, switches and links"));
    };
    let number = |cell: &str, what: &str| whole(lines, cell, what);
    let sizes = Sizes {
        nodes: number(nodes, "a number of nodes")?,
        switches: number(switches, "a number of switches")?,
        links: number(links, "a number of links")?,
    };
    if sizes.nodes > 2 * MAX_HOSTS || sizes.switches > sizes.nodes {
        let fix = "at most 65536 hosts and 65536 switches, and no more switches than nodes";
        return Err(lines.error("", format!("there are {nodes} nodes, {switches} of them switches"), fix));
    }
    Ok((sizes, lines.number()))
}

/// Reads the switches, which may extend over several lines.
fn switches(lines: &mut Text<'_>, sizes: &Sizes) -> Result<BTreeSet<u32>, InputError> {
    let (mut line, mut switches) = (String::new(), BTreeSet::new());
    while (switches.len() as u64) < sizes.switches {
        if !lines.next(&mut line)? {
            let what = format!("only {} of {} switches are listed", switches.len(), sizes.switches);
            return Err(lines.whole(what, "Check that the file is complete"));
        }
        for cell in line.split_whitespace() {
            let node = whole(lines, cell, "a node")?;
            if node >= sizes.nodes || !switches.insert(node as u32) {
                let fix = "each switch once, by its number from 0";
                return Err(lines.error("", format!("switch {node} is listed twice or is not a node"), fix));
            }
        }
        if switches.len() as u64 > sizes.switches {
            return Err(lines.error(
                "",
                "there are more switches than in the first line",
                "Correct the first line",
            ));
        }
    }
    Ok(switches)
}

fn link(lines: &Text<'_>, line: &str, switches: &BTreeSet<u32>, made: &mut String) -> Result<(), InputError> {
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
    let (a, b) = (end(lines, a, switches)?, end(lines, b, switches)?);
    let _ = writeln!(made, "link,{a},{b},{rate},{delay},{loss}");
    Ok(())
}

fn end(lines: &Text<'_>, cell: &str, switches: &BTreeSet<u32>) -> Result<String, InputError> {
    let node = whole(lines, cell, "a node")?;
    let is_switch = u32::try_from(node).is_ok_and(|node| switches.contains(&node));
    Ok(format!("{}{node}", if is_switch { 's' } else { 'h' }))
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

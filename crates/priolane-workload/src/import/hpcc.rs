//! `flow.txt` of HPCC's ns-3 and its relatives.
//!
//! ```text
//! 2
//! 2 1 3 100 200000000 2.000000000
//! 1 2 3 100 1000 2.000001
//! ```
//!
//! The number of flows, then `src dst pg dport bytes start_s`. `pg` and `dport` are ignored. With the topology,
//! hosts are its nodes that are not switches, in order; without it, node k is host k. Rows and text beyond the stated
//! number of rows are dropped, because the simulator never reads them.

use priolane_source::InputError;

use super::collect::{Collector, ParsedFlow, digits, whole};
use super::decimal;
use super::network::Network;
use super::options::Text;

pub(super) fn read(
    lines: &mut Text<'_>,
    into: &mut Collector<'_>,
    network: Option<&Network>,
) -> Result<(), InputError> {
    if let Some(network) = network {
        into.set_hosts(network.hosts.clone());
        into.notes.extend(network.notes.iter().cloned());
    } else {
        into.notes.push("there is no topology, so node k is host k".to_owned());
    }
    let mut line = String::new();
    if !lines.next(&mut line)? {
        return Err(lines.whole("the file is empty", "Begin with the number of flows"));
    }
    let stated = whole(lines, &line, "a number of flows")?;
    let mut text = 0u64;
    while lines.next(&mut line)? {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let &[src, dst, _, _, bytes, start] = &cells[..] else {
            if into.rows >= stated {
                text += 1;
                continue;
            }
            let what = format!("the row has {} numbers", cells.len());
            return Err(lines.error("", what, "src dst pg dport bytes start_s"));
        };
        if into.rows >= stated {
            match digits(bytes) {
                Some(bytes) if digits(src).is_some() && digits(dst).is_some() => {
                    into.rows += 1;
                    into.drop("the flow is beyond the number in the first line", bytes);
                }
                _ => text += 1,
            }
            continue;
        }
        into.rows += 1;
        if is_of_packets([bytes, start]) {
            let what = "the flows are of ns3-rdma, which state packets, a start and an end";
            return Err(lines.error("", what, "src dst pg dport bytes start_s"));
        }
        let bytes = whole(lines, bytes, "a number of bytes")?;
        let (src, dst) = (into.host(lines, src)?, into.host(lines, dst)?);
        let start = into.time(lines, start, 12)?;
        into.take(lines, ParsedFlow { src, dst, size: Some(bytes), start, class: 0, coflow: None })?;
    }
    if text > 0 {
        into.notes.push(format!("{text} lines of text after the stated number of flows were dropped"));
    }
    if into.rows < stated {
        let what = format!("the first line states {stated} flows, but there are {}", into.rows);
        return Err(lines.whole(what, "Check that the file is complete"));
    }
    Ok(())
}

/// Whether the last two cells are a start and a later end, as in flows of the older ns3-rdma, and not bytes and a start.
fn is_of_packets(cells: [&str; 2]) -> bool {
    let [start, end] = cells.map(|cell| decimal::scaled(cell, 12).map(|time| time.value));
    cells[0].contains('.') && start.zip(end).is_some_and(|(start, end)| start < end)
}

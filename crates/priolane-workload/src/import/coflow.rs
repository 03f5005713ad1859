//! The trace of the coflow benchmark (FB2010): `ports coflows`, then one coflow per line.
//!
//! ```text
//! 150 526
//! 1 0 1 22 1 65:1.0
//! ```
//!
//! `id arrival_ms mappers port... reducers port:MB...`. Each mapper sends to each reducer; a reducer's megabytes
//! are divided evenly among the mappers, and remaining bytes are added one each to the first mappers
//! (docs/assumptions.md#import-coflow-split). Port p is host p mod n.

use std::collections::BTreeSet;

use priolane_core::ids::CoflowId;
use priolane_source::InputError;
use priolane_source::csv::shown;

use super::collect::{Collector, MAX_HOSTS, Name, ParsedFlow, whole};
use super::decimal;
use super::options::Text;

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let mut line = String::new();
    if !lines.next(&mut line)? {
        return Err(lines.whole("the file is empty", "Begin with the numbers of ports and coflows"));
    }
    let cells: Vec<&str> = line.split_whitespace().collect();
    let &[ports, coflows] = &cells[..] else {
        return Err(lines.error("", "the first line is not two numbers", "the numbers of ports and coflows"));
    };
    let (ports, stated) = (whole(lines, ports, "a number of ports")?, whole(lines, coflows, "a number")?);
    if ports == 0 || ports > MAX_HOSTS {
        return Err(lines.error("", format!("there are {ports} ports"), "1 to 65536 ports"));
    }
    into.set_hosts((0..ports as u32).collect());
    let megabyte = into.options().megabyte.unwrap_or(1 << 20);
    into.notes
        .push(format!("a megabyte is {megabyte} bytes; the bytes of a reducer are the sum over its mappers"));
    let mut seen = ReadProgress { ports, ids: BTreeSet::new(), first: false, last: false };
    while lines.next(&mut line)? {
        into.rows += 1;
        coflow(lines, into, &line, &mut seen)?;
    }
    if into.rows != stated {
        let what = format!("the first line states {stated} coflows, but there are {}", into.rows);
        return Err(lines.whole(what, "Check that the file is complete"));
    }
    Ok(())
}

/// The ports and coflows read so far.
struct ReadProgress {
    ports: u64,
    ids: BTreeSet<u32>,
    first: bool,
    last: bool,
}

impl ReadProgress {
    /// Returns the port as a number below the number of ports; in traces that count from 1, `ports` itself is 0.
    fn port(&mut self, lines: &Text<'_>, cell: &str) -> Result<u32, InputError> {
        let port = whole(lines, cell, "a port")?;
        self.first |= port == 0;
        self.last |= port == self.ports;
        if port > self.ports {
            let fix = format!("one of the {} ports of the first line", self.ports);
            return Err(lines.error("", format!("unknown port {port}"), fix));
        }
        if self.first && self.last {
            let fix = "Count ports either from 0 or from 1";
            return Err(lines.error("", format!("there are port 0 and port {}", self.ports), fix));
        }
        Ok((port % self.ports) as u32)
    }
}

fn coflow(
    lines: &Text<'_>,
    into: &mut Collector<'_>,
    line: &str,
    seen: &mut ReadProgress,
) -> Result<(), InputError> {
    let mut cells = line.split_whitespace();
    let mut cell = || cells.next().ok_or_else(|| short(lines));
    let id = whole(lines, cell()?, "a coflow")?;
    let id = u32::try_from(id).ok().filter(|&id| id < u32::MAX && seen.ids.insert(id)).ok_or_else(|| {
        lines.error(
            "",
            format!("coflow {id} appears twice or is not below 2^32 - 1"),
            "a different number for each coflow",
        )
    })?;
    let start = into.time(lines, cell()?, 9)?;
    let mut mappers = Vec::new();
    for _ in 0..whole(lines, cell()?, "a number of mappers")? {
        let port = seen.port(lines, cell()?)?;
        mappers.push(into.end(lines, Name::Number(port))?);
    }
    for _ in 0..whole(lines, cell()?, "a number of reducers")? {
        let (port, bytes) = reducer(lines, cell()?, into)?;
        let port = seen.port(lines, port)?;
        let dst = into.end(lines, Name::Number(port))?;
        let count = mappers.len() as u64;
        for (nth, &src) in (0..).zip(&mappers) {
            let bytes = bytes / count + u64::from(nth < bytes % count);
            into.take(
                lines,
                ParsedFlow { src, dst, size: Some(bytes), start, class: 0, coflow: CoflowId::new(id) },
            )?;
        }
        if mappers.is_empty() {
            into.drop("the reducer has no mappers", bytes);
        }
    }
    match cells.next() {
        Some(_) => Err(lines.error(
            "",
            "the coflow has more cells after its reducers",
            "Correct the number of reducers",
        )),
        None => Ok(()),
    }
}

/// Returns port and bytes of `port:MB`.
fn reducer<'c>(lines: &Text<'_>, cell: &'c str, into: &Collector<'_>) -> Result<(&'c str, u64), InputError> {
    let megabyte = u128::from(into.options().megabyte.unwrap_or(1 << 20));
    let parts = cell.split_once(':').and_then(|(port, size)| {
        let millionths = decimal::scaled(size, 6)?.value.checked_mul(megabyte)?;
        Some((port, u64::try_from((millionths + 500_000) / 1_000_000).ok()?))
    });
    parts.ok_or_else(|| {
        lines.error("", format!("{} is not port:MB", shown(cell)), "a port and megabytes, such as 65:1.0")
    })
}

fn short(lines: &Text<'_>) -> InputError {
    lines.error("", "the coflow is incomplete", "id arrival_ms mappers port... reducers port:MB...")
}

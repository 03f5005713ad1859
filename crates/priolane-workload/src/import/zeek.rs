//! `conn.log` of Zeek, as TSV.
//!
//! ```text
//! #separator \x09
//! #fields ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto service duration orig_bytes resp_bytes ...
//! ```
//!
//! Columns are found by name in `#fields`, which may occur again. Each direction with payload is a flow, both
//! starting at `ts` (docs/assumptions.md#import-zeek-directions), because the log does not state when the responder
//! began. Bytes are already payload; `-` means no bytes. Rows to multicast and broadcast addresses are dropped.

use std::net::IpAddr;

use priolane_source::InputError;

use super::collect::{Collector, Name, ParsedFlow, digits};
use super::options::Text;

const COLUMNS: [&str; 5] = ["ts", "id.orig_h", "id.resp_h", "orig_bytes", "resp_bytes"];

type Places = [usize; COLUMNS.len()];

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let (mut line, mut header) = (String::new(), None);
    while lines.next_raw(&mut line)? {
        if let Some(fields) = line.strip_prefix("#fields\t") {
            header = Some(places(lines, fields)?);
        } else if let Some(separator) = line.strip_prefix("#separator") {
            if !matches!(separator, " \\x09" | " \t" | "\t\\x09") {
                return Err(lines.error(
                    "",
                    "cells are not separated by tabs",
                    "the default TSV format of Zeek",
                ));
            }
        } else if line.starts_with('#') || line.trim().is_empty() {
            continue;
        } else {
            let Some(places) = &header else {
                let fix = "Keep the lines with # above the rows; JSON is not supported";
                return Err(lines.error("", "there is no #fields line above the row", fix));
            };
            into.rows += 1;
            let cells: Vec<&str> = line.split('\t').collect();
            match parsed(into, places, &cells) {
                Ok(parsed) => store(lines, into, &parsed)?,
                Err(reason) => into.drop(reason, 0),
            }
        }
    }
    match header {
        Some(_) => Ok(()),
        None => Err(lines.whole("there is no #fields line", "a conn.log with its header")),
    }
}

fn places(lines: &Text<'_>, fields: &str) -> Result<Places, InputError> {
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = fields.split('\t').position(|field| field == column).ok_or_else(|| {
            lines.error(column, "the field is missing", "a conn.log with times, addresses and bytes")
        })?;
    }
    Ok(places)
}

struct Parsed {
    start: u128,
    ends: [IpAddr; 2],
    bytes: [u64; 2],
}

/// Parses the connection of a row, or returns why there is none.
fn parsed(into: &mut Collector<'_>, places: &Places, cells: &[&str]) -> Result<Parsed, &'static str> {
    let cell =
        |column: usize| cells.get(places[column]).map(|cell| cell.trim()).ok_or("the row is incomplete");
    let bytes = |column: usize| match cell(column)? {
        "-" | "(empty)" => Ok(0),
        cell => digits(cell).filter(|_| !cell.is_empty()).ok_or("a number is unreadable"),
    };
    let bytes = [bytes(3)?, bytes(4)?];
    let ends = [address(cell(1)?)?, address(cell(2)?)?];
    if is_group(ends[1]) {
        return Err("the destination is a multicast or broadcast address");
    }
    let start = into.try_time(cell(0)?, 12).ok_or("the time is unreadable")?;
    Ok(Parsed { start, ends, bytes })
}

fn store(lines: &Text<'_>, into: &mut Collector<'_>, parsed: &Parsed) -> Result<(), InputError> {
    if parsed.bytes == [0, 0] {
        into.drop("no payload in either direction", 0);
        return Ok(());
    }
    let [orig, resp] = parsed.ends;
    let [orig, resp] = [into.end(lines, Name::Address(orig))?, into.end(lines, Name::Address(resp))?];
    for ([src, dst], bytes) in [[orig, resp], [resp, orig]].into_iter().zip(parsed.bytes) {
        if bytes > 0 {
            let start = parsed.start;
            into.take(lines, ParsedFlow { src, dst, bytes, start, class: 0, coflow: None })?;
        }
    }
    Ok(())
}

/// Parses the address in a cell.
pub(super) fn address(cell: &str) -> Result<IpAddr, &'static str> {
    cell.parse().map_err(|_| "an address is unreadable")
}

/// Returns true for a multicast or broadcast address.
pub(super) fn is_group(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_multicast(),
    }
}

//! `conn.log` of Zeek, as TSV.
//!
//! ```text
//! #separator \x09
//! #fields ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto service duration orig_bytes resp_bytes ...
//! ```
//!
//! Columns are found by name in `#fields`, which may occur again. Each direction with payload is a flow, both
//! starting at `ts` (docs/assumptions.md#import-zeek-directions), because the log does not state when the responder
//! began. Bytes are already payload; `-` means no bytes. Rows to multicast and broadcast addresses are dropped. TCP in
//! the state `OTH` began before the log.

use std::net::IpAddr;

use priolane_source::InputError;

use super::collect::{Collector, Name, ParsedFlow, digits};
use super::columns::{Names, Places};
use super::imported::Opening;
use super::options::Text;
use super::records::{address, destination};

const COLUMNS: [Names; 7] =
    [&["ts"], &["id.orig_h"], &["id.resp_h"], &["orig_bytes"], &["resp_bytes"], &["proto"], &["conn_state"]];
const REQUIRED: usize = 5;

type Fields = Places<{ COLUMNS.len() }>;

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
            match parse_record(into, places, &cells) {
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

fn places(lines: &Text<'_>, fields: &str) -> Result<Fields, InputError> {
    let places = Places::find(&COLUMNS, fields.split('\t'));
    match (0..REQUIRED).find(|&column| !places.has(column)) {
        None => Ok(places),
        Some(column) => Err(lines.error(
            COLUMNS[column][0],
            "the field is missing",
            "a conn.log with times, addresses and bytes",
        )),
    }
}

struct ParsedRecord {
    start: u128,
    ends: [IpAddr; 2],
    bytes: [u64; 2],
    opening: Opening,
}

/// Parses the connection of a row, or returns why there is none.
fn parse_record(
    into: &mut Collector<'_>,
    fields: &Fields,
    cells: &[&str],
) -> Result<ParsedRecord, &'static str> {
    let cell = |column: usize| fields.cell(cells, column).map(str::trim).ok_or("the row is incomplete");
    let bytes = |column: usize| match cell(column)? {
        "-" | "(empty)" => Ok(0),
        cell => digits(cell).filter(|_| !cell.is_empty()).ok_or("a number is unreadable"),
    };
    let bytes = [bytes(3)?, bytes(4)?];
    let ends = [address(cell(1)?)?, destination(cell(2)?)?];
    let start = into.try_time(cell(0)?, 12).ok_or("the time is unreadable")?;
    let opening = match (fields.value(cells, 5), fields.value(cells, 6)) {
        (Some("tcp"), Some("OTH")) => Opening::Missing,
        (Some("tcp"), Some(_)) => Opening::Seen,
        _ => Opening::Unstated,
    };
    Ok(ParsedRecord { start, ends, bytes, opening })
}

fn store(lines: &Text<'_>, into: &mut Collector<'_>, parsed: &ParsedRecord) -> Result<(), InputError> {
    if parsed.bytes == [0, 0] {
        into.drop("no payload in either direction", 0);
        return Ok(());
    }
    let [orig, resp] = parsed.ends;
    let [orig, resp] = [into.end(lines, Name::Address(orig))?, into.end(lines, Name::Address(resp))?];
    for ([src, dst], bytes) in [[orig, resp], [resp, orig]].into_iter().zip(parsed.bytes) {
        if bytes > 0 {
            let start = parsed.start;
            let listed =
                into.take(lines, ParsedFlow { src, dst, size: Some(bytes), start, class: 0, coflow: None })?;
            if listed.is_some() {
                into.opened(parsed.opening);
            }
        }
    }
    Ok(())
}

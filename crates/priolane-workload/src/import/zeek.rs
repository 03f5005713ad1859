//! `conn.log` of Zeek, as TSV or as JSON lines.
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
//!
//! Bytes are counted by sequence numbers, so that a wrong one makes a flow of gigabytes. Where they are more than the IP
//! packets of the direction carried, the flow has the bytes that were seen: without `missed_bytes` if that is possible,
//! else those of its packets without headers (docs/assumptions.md#import-zeek-missed).

use std::net::IpAddr;

use priolane_source::InputError;

use super::collect::{Collector, Name, ParsedFlow, digits};
use super::columns::{Names, Places};
use super::imported::Opening;
use super::instant::instant;
use super::json;
use super::options::Text;
use super::records::{Protocol, address, destination};

const COLUMNS: [Names; 12] = [
    &["ts"],
    &["id.orig_h"],
    &["id.resp_h"],
    &["orig_bytes"],
    &["resp_bytes"],
    &["proto"],
    &["conn_state"],
    &["missed_bytes"],
    &["orig_pkts"],
    &["orig_ip_bytes"],
    &["resp_pkts"],
    &["resp_ip_bytes"],
];
const REQUIRED: usize = 5;
const MISSED: usize = 7;
/// Packets and bytes of IP in each direction.
const SEEN: [[usize; 2]; 2] = [[8, 9], [10, 11]];

type Fields = Places<{ COLUMNS.len() }>;

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let (mut line, mut header) = (String::new(), None);
    let mut unseen = Unseen::default();
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
        } else if json::is_object(line.trim()) {
            into.rows += 1;
            let places = header.insert(Places::in_order());
            match json::object(line.trim()) {
                Ok(object) => {
                    let cells = json::cells(&object, &COLUMNS);
                    let cells = cells.each_ref().map(String::as_str);
                    match parse_record(into, places, &cells, &mut unseen) {
                        Ok(parsed) => store(lines, into, &parsed)?,
                        Err(reason) => into.drop(reason, 0),
                    }
                }
                Err(reason) => into.drop(reason, 0),
            }
        } else {
            let Some(places) = &header else {
                let fix = "Keep the lines with # above the rows";
                return Err(lines.error("", "there is no #fields line above the row", fix));
            };
            into.rows += 1;
            let cells: Vec<&str> = line.split('\t').collect();
            match parse_record(into, places, &cells, &mut unseen) {
                Ok(parsed) => store(lines, into, &parsed)?,
                Err(reason) => into.drop(reason, 0),
            }
        }
    }
    unseen.note(into);
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

/// Flows whose stated bytes were not seen.
#[derive(Default)]
struct Unseen {
    flows: u64,
    bytes: u128,
}

impl Unseen {
    fn note(&self, into: &mut Collector<'_>) {
        if self.flows > 0 {
            into.notes.push(format!(
                "{} flows state more bytes than their packets carried: they have those that were seen, {} bytes less \
                 (missed_bytes)",
                self.flows, self.bytes
            ));
        }
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
    unseen: &mut Unseen,
) -> Result<ParsedRecord, &'static str> {
    let cell = |column: usize| fields.cell(cells, column).map(str::trim).ok_or("the row is incomplete");
    let bytes = |column: usize| match cell(column)? {
        "-" | "(empty)" => Ok(0),
        cell => digits(cell).filter(|_| !cell.is_empty()).ok_or("a number is unreadable"),
    };
    let bytes = [bytes(3)?, bytes(4)?];
    let ends = [address(cell(1)?)?, destination(cell(2)?)?];
    let start = instant(into, cell(0)?).ok_or("the time is unreadable")?;
    let protocol = Protocol::of(fields.value(cells, 5));
    let number = |column: usize| fields.value(cells, column).and_then(|cell| digits(cell.trim()));
    let missed = number(MISSED).unwrap_or(0);
    let mut bytes = bytes;
    for (stated, [packets, volume]) in bytes.iter_mut().zip(SEEN) {
        let (Some(packets), Some(volume)) = (number(packets), number(volume)) else { continue };
        let header = protocol.header(ends[0]).unsigned_abs();
        let seen = match stated.checked_sub(missed).filter(|&seen| 0 < seen && seen <= volume) {
            Some(seen) if missed > 0 => seen,
            _ => volume.saturating_sub(packets.saturating_mul(header)),
        };
        if *stated > volume {
            unseen.flows += 1;
            unseen.bytes += u128::from(*stated - seen);
            *stated = seen;
        }
    }
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

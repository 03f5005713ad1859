//! VPC Flow Logs of AWS, as text or as JSON lines.
//!
//! ```text
//! version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status
//! 2 123456789010 eni-0a 10.0.0.1 10.0.0.5 40122 5001 6 100 150000 1714521600 1714521660 ACCEPT OK
//! ```
//!
//! Fields are those of the last header above a row, in any order, `_` as `-`; without a header they are those of the
//! default format. `pkt-srcaddr` and `pkt-dstaddr` precede `srcaddr` and `dstaddr`, which are those of an interface.
//! An object of JSON has fields as members, or a record as its member `message`.
//! Records are merged and lose their headers as in `records.rs`; a flow between two interfaces is recorded at both.
//! Starts are whole seconds, and up to 60 s late (docs/assumptions.md#import-vpc-starts).

use std::net::IpAddr;

use priolane_source::InputError;
use serde_json::Value;

use super::clocks::Instant;
use super::collect::{Collector, Name, digits};
use super::columns::{Names, Places};
use super::imported::Opening;
use super::json;
use super::options::Text;
use super::records::{self, Key, Observers, Protocol, Record, Records, SYN_OPTIONS, count};
use crate::context::LATEST_START;

/// The largest delay of a start: the time that a packet may take to be recorded, in picoseconds.
const LATE_PS: u64 = 60_000_000_000_000;

/// The fields of the default format, in order.
const DEFAULT: &str = "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start \
                       end action log-status";

const COLUMNS: [Names; 15] = [
    &["srcaddr"],
    &["pkt-srcaddr"],
    &["dstaddr"],
    &["pkt-dstaddr"],
    &["bytes"],
    &["start"],
    &["end"],
    &["packets"],
    &["protocol"],
    &["srcport"],
    &["dstport"],
    &["action"],
    &["log-status"],
    &["interface-id"],
    &["tcp-flags"],
];

/// The fields that are read, in the order of [`COLUMNS`].
#[derive(Clone, Copy)]
enum Field {
    Source,
    PacketSource,
    Destination,
    PacketDestination,
    Bytes,
    Start,
    End,
    Packets,
    Protocol,
    SourcePort,
    DestinationPort,
    Action,
    Status,
    Interface,
    Flags,
}

/// The bit of a SYN in `tcp-flags`.
const SYN: u64 = 2;

/// Fields of which a header has at least one.
const HEADER: [&str; 6] = ["srcaddr", "pkt-srcaddr", "dstaddr", "log-status", "interface-id", "account-id"];

#[derive(Clone, Copy)]
struct Fields {
    places: Places<{ COLUMNS.len() }>,
    count: usize,
}

impl Fields {
    /// Returns the fields of rows that have all of [`COLUMNS`] in order.
    fn in_order() -> Self {
        Self { places: Places::in_order(), count: COLUMNS.len() }
    }
}

/// Returns true if the line names fields.
pub(super) fn is_header(line: &str) -> bool {
    let same = |word: &str, name: &str| {
        word.len() == name.len()
            && word
                .bytes()
                .zip(name.bytes())
                .all(|(byte, wanted)| byte == wanted || (byte, wanted) == (b'_', b'-'))
    };
    line.split_whitespace().any(|word| HEADER.iter().any(|name| same(word, name)))
}

/// Returns true if the line is a record of the default format.
pub(super) fn is_default_record(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.len() == DEFAULT.split(' ').count()
        && digits(words[0]).is_some()
        && matches!(words[words.len() - 1], "OK" | "NODATA" | "SKIPDATA")
}

/// Returns true if the line is a record of fields that are not the default ones, without a header.
pub(super) fn is_record(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let any = |of: &[&str]| words.iter().any(|word| of.contains(word));
    words.len() >= 8 && any(&["ACCEPT", "REJECT"]) && any(&["OK", "NODATA", "SKIPDATA"])
}

fn fields(header: &str) -> Fields {
    let names: Vec<String> = header.split_whitespace().map(|word| word.replace('_', "-")).collect();
    let places = Places::find(&COLUMNS, names.iter().map(String::as_str));
    Fields { places, count: names.len() }
}

/// Returns the fields that a header names, or an error for one that is needed.
fn named(lines: &Text<'_>, header: &str) -> Result<Fields, InputError> {
    let fields = fields(header);
    let needed: [&[Field]; 4] = [
        &[Field::Source, Field::PacketSource],
        &[Field::Destination, Field::PacketDestination],
        &[Field::Bytes],
        &[Field::Start],
    ];
    for either in needed {
        if !either.iter().any(|&column| fields.places.has(column as usize)) {
            let name = COLUMNS[either[0] as usize][0];
            return Err(lines.error(name, "the field is missing", "a flow log that has it"));
        }
    }
    Ok(fields)
}

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let (mut line, mut header) = (String::new(), None);
    let mut log = Log { records: Records::new(into), interfaces: Observers::default(), uncounted: false };
    into.recording.late_ps = LATE_PS;
    while lines.next(&mut line)? {
        if json::is_object(&line) {
            match json::object(&line) {
                Ok(object) => match object.get("message").and_then(Value::as_str) {
                    Some(message) => {
                        let message = message.trim().to_owned();
                        line.replace_range(.., &message);
                    }
                    None => {
                        into.rows += 1;
                        let cells = json::cells(&object, &COLUMNS);
                        log.record(lines, into, &Fields::in_order(), &cells.each_ref().map(String::as_str))?;
                        continue;
                    }
                },
                Err(reason) => {
                    into.rows += 1;
                    into.drop(reason, 0);
                    continue;
                }
            }
        }
        if is_header(&line) {
            header = Some(named(lines, &line)?);
            continue;
        }
        let cells: Vec<&str> = line.split_whitespace().collect();
        let fields = match header {
            Some(fields) => fields,
            None if is_default_record(&line) => *header.insert(fields(DEFAULT)),
            None => {
                let what =
                    format!("no header names the {} fields, which are not the default ones", cells.len());
                let fix = format!("Put a line with their names above the rows, such as {DEFAULT}");
                return Err(lines.error("", what, fix));
            }
        };
        into.rows += 1;
        log.record(lines, into, &fields, &cells)?;
    }
    log.records.once = if log.uncounted { 0 } else { SYN_OPTIONS };
    log.records.flows(lines, into)?;
    if log.uncounted {
        into.notes.push("the log has no packets, so bytes include headers".to_owned());
    }
    Ok(())
}

/// Checks that a row has accepted traffic; an error is why not, and the bytes of rejected traffic.
fn refused(fields: &Fields, cells: &[&str]) -> Result<(), (&'static str, u64)> {
    if cells.len() < fields.count {
        return Err(("the row is incomplete", 0));
    }
    match fields.places.cell(cells, Field::Status as usize) {
        Some("NODATA") => return Err(("no traffic in the interval (NODATA)", 0)),
        Some("SKIPDATA") => return Err(("records were skipped in the interval (SKIPDATA)", 0)),
        _ => {}
    }
    match fields.places.cell(cells, Field::Action as usize) {
        Some("REJECT") => {
            let bytes = fields
                .places
                .cell(cells, Field::Bytes as usize)
                .and_then(|cell| count(cell).ok())
                .unwrap_or(0);
            Err(("the traffic was rejected (REJECT)", bytes as u64))
        }
        _ => Ok(()),
    }
}

struct ParsedRecord<'a> {
    ends: [IpAddr; 2],
    ports: [u16; 2],
    protocol: Protocol,
    start: u128,
    end: u128,
    bytes: i64,
    packets: Option<i64>,
    interface: Option<&'a str>,
    opening: Opening,
}

/// Parses the record of a row, or returns why there is none.
fn parse_record<'a>(
    into: &mut Collector<'_>,
    places: &Places<{ COLUMNS.len() }>,
    cells: &[&'a str],
) -> Result<ParsedRecord<'a>, &'static str> {
    let value = |field: Field| places.value(cells, field as usize);
    let src = value(Field::PacketSource).or(value(Field::Source)).ok_or("an address is unreadable")?;
    let dst =
        value(Field::PacketDestination).or(value(Field::Destination)).ok_or("an address is unreadable")?;
    let ends = [records::address(src)?, records::destination(dst)?];
    let bytes = count(value(Field::Bytes).unwrap_or(""))?;
    let packets = value(Field::Packets).map(count).transpose()?;
    records::carried(bytes, packets)?;
    let ports = [records::port(value(Field::SourcePort))?, records::port(value(Field::DestinationPort))?];
    let protocol = Protocol::of(value(Field::Protocol));
    let flags = value(Field::Flags).filter(|_| protocol == Protocol::Tcp);
    let opening = match flags.map(|flags| digits(flags).ok_or("a number is unreadable")).transpose()? {
        None => Opening::Unstated,
        Some(flags) if flags & SYN == 0 => Opening::Missing,
        Some(_) => Opening::Seen,
    };
    let mut time = |cell| into.try_time(cell, 12).ok_or("the time is unreadable");
    let start = time(value(Field::Start).unwrap_or(""))?;
    let end = value(Field::End).map_or(Ok(start), time)?.max(start);
    if end - start > u128::from(LATEST_START.0) {
        return Err("the time is unreadable");
    }
    Ok(ParsedRecord {
        ends,
        ports,
        protocol,
        start,
        end,
        bytes,
        packets,
        interface: value(Field::Interface),
        opening,
    })
}

struct Log {
    records: Records,
    interfaces: Observers,
    uncounted: bool,
}

impl Log {
    /// Stores the record of a row, or counts why it is not listed.
    fn record(
        &mut self,
        lines: &Text<'_>,
        into: &mut Collector<'_>,
        fields: &Fields,
        cells: &[&str],
    ) -> Result<(), InputError> {
        if let Err((reason, bytes)) = refused(fields, cells) {
            into.drop(reason, bytes);
            return Ok(());
        }
        match parse_record(into, &fields.places, cells) {
            Ok(parsed) => self.store(lines, into, &parsed)?,
            Err(reason) => into.drop(reason, 0),
        }
        Ok(())
    }

    fn store(
        &mut self,
        lines: &Text<'_>,
        into: &mut Collector<'_>,
        parsed: &ParsedRecord<'_>,
    ) -> Result<(), InputError> {
        let ParsedRecord { ports, protocol, opening, .. } = *parsed;
        let [src, dst] = parsed.ends;
        let payload = parsed.bytes - parsed.packets.unwrap_or(0).saturating_mul(protocol.header(src));
        self.uncounted |= parsed.packets.is_none();
        let [src, dst] = [into.end(lines, Name::Address(src))?, into.end(lines, Name::Address(dst))?];
        let observer = self.interfaces.number(lines, parsed.interface)?;
        let Instant { base, apart: start } = into.instant(lines, parsed.start)?;
        let key = Key { src, dst, ports, protocol, base, observer };
        let end = start.saturating_add_unsigned((parsed.end - parsed.start) as u64);
        self.records.push(lines, Record { key, start, end, payload, opening })
    }
}

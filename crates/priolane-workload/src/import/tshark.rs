//! Packets of a capture, as `tshark -T fields` prints them with a header.
//!
//! ```text
//! frame.time_epoch,ip.src,ip.dst,tcp.srcport,tcp.dstport,tcp.len,tcp.flags.syn,tcp.analysis.retransmission
//! 1714521600.000301000,10.0.0.1,10.0.0.5,40122,5001,100,0,
//! ```
//!
//! Columns are found by name, and the separator is what follows the first name. Each direction with payload is a
//! flow from its first packet with payload; a pause above `gap` ends it. The payload is `tcp.len`, or `udp.length`
//! without the header's 8 bytes. Segments that `tcp.analysis.retransmission` marks are dropped.

use std::collections::BTreeSet;
use std::net::IpAddr;

use priolane_source::InputError;

use super::clocks::Instant;
use super::collect::{Collector, Name};
use super::columns::{Names, Places};
use super::imported::Opening;
use super::instant::instant;
use super::options::Text;
use super::records::{self, Key, Protocol, Record, Records, count};

const TIME_NAME: &str = "frame.time_epoch";

const COLUMNS: [Names; 13] = [
    &[TIME_NAME],
    &["ip.src"],
    &["ip.dst"],
    &["ipv6.src"],
    &["ipv6.dst"],
    &["tcp.srcport"],
    &["tcp.dstport"],
    &["tcp.len"],
    &["udp.srcport"],
    &["udp.dstport"],
    &["udp.length"],
    &["tcp.flags.syn"],
    &["tcp.analysis.retransmission"],
];

/// The fields that are read, in the order of [`COLUMNS`].
#[derive(Clone, Copy)]
enum Field {
    Time,
    Source,
    Destination,
    Source6,
    Destination6,
    TcpSource,
    TcpDestination,
    TcpLength,
    UdpSource,
    UdpDestination,
    UdpLength,
    Syn,
    Retransmission,
}

/// Groups of fields of which one is needed whole.
const NEEDED: [&[&[Field]]; 3] = [
    &[&[Field::Time]],
    &[&[Field::Source, Field::Destination], &[Field::Source6, Field::Destination6]],
    &[
        &[Field::TcpSource, Field::TcpDestination, Field::TcpLength],
        &[Field::UdpSource, Field::UdpDestination, Field::UdpLength],
    ],
];

const COMMAND: &str = "the command of docs/importing.md, with -E header=y";

/// Bytes of a UDP header, which `udp.length` includes.
const UDP_HEADER: i64 = 8;

struct Fields {
    places: Places<{ COLUMNS.len() }>,
    separator: char,
    count: usize,
}

/// Returns true if the line names fields of packets.
pub(super) fn is_header(line: &str) -> bool {
    line.contains(TIME_NAME)
        && separator(line).is_some_and(|separator| line.split(separator).any(|cell| cell == TIME_NAME))
}

/// Returns the first character of a header that is not of a field's name.
fn separator(line: &str) -> Option<char> {
    line.chars().find(|char| !char.is_ascii_alphanumeric() && !matches!(char, '.' | '_' | '-'))
}

fn fields(lines: &Text<'_>, line: &str) -> Result<Fields, InputError> {
    let separator = separator(line).unwrap_or('\t');
    let places = Places::find(&COLUMNS, line.split(separator));
    for either in NEEDED {
        if !either.iter().any(|fields| fields.iter().all(|&column| places.has(column as usize))) {
            let lacks =
                either[0].iter().find(|&&column| !places.has(column as usize)).unwrap_or(&either[0][0]);
            return Err(lines.error(COLUMNS[*lacks as usize][0], "the field is missing", COMMAND));
        }
    }
    Ok(Fields { places, separator, count: line.split(separator).count() })
}

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let (mut line, mut header) = (String::new(), None);
    let mut capture = Capture { records: Records::new(into), opened: BTreeSet::new() };
    while lines.next_raw(&mut line)? {
        if line.trim().is_empty() {
            continue;
        }
        if is_header(&line) {
            header = Some(fields(lines, &line)?);
            continue;
        }
        let Some(fields) = &header else {
            return Err(lines.error("", "no header names the fields", COMMAND));
        };
        into.rows += 1;
        let cells: Vec<&str> =
            line.split(fields.separator).map(|cell| cell.trim().trim_matches('"')).collect();
        match parse_record(into, fields, &cells) {
            Ok(parsed) => capture.store(lines, into, &parsed)?,
            Err(reason) => into.drop(reason, 0),
        }
    }
    match header {
        Some(_) => capture.records.flows(lines, into).map(drop),
        None => Err(lines.whole("the file is empty", COMMAND)),
    }
}

struct ParsedRecord {
    ends: [IpAddr; 2],
    ports: [u16; 2],
    protocol: Protocol,
    time: u128,
    payload: i64,
    /// Whether the packet is a SYN, if it says so.
    syn: Option<bool>,
}

/// Parses the packet of a row, or returns why the packet belongs to no flow.
fn parse_record(
    into: &mut Collector<'_>,
    fields: &Fields,
    cells: &[&str],
) -> Result<ParsedRecord, &'static str> {
    if cells.len() != fields.count {
        return Err("the row has another number of cells than the header");
    }
    let value = |field: Field| fields.places.value(cells, field as usize);
    let (src, dst) = match (
        (value(Field::Source), value(Field::Destination)),
        (value(Field::Source6), value(Field::Destination6)),
    ) {
        ((Some(_), _), (Some(_), _)) => return Err("the packet has addresses of IPv4 and of IPv6"),
        ((Some(src), Some(dst)), _) | (_, (Some(src), Some(dst))) => (src, dst),
        _ => return Err("the packet is not IP"),
    };
    let (protocol, ports, length) = if let Some(length) = value(Field::TcpLength) {
        (Protocol::Tcp, [value(Field::TcpSource), value(Field::TcpDestination)], count(length)?)
    } else if let Some(length) = value(Field::UdpLength) {
        (Protocol::Udp, [value(Field::UdpSource), value(Field::UdpDestination)], count(length)? - UDP_HEADER)
    } else {
        return Err("the packet is neither TCP nor UDP");
    };
    let ends = [records::address(src)?, records::destination(dst)?];
    let ports = [records::port(ports[0])?, records::port(ports[1])?];
    if value(Field::Retransmission).is_some() {
        return Err("the segment is a retransmission");
    }
    let syn = match value(Field::Syn).filter(|_| protocol == Protocol::Tcp) {
        Some("1" | "True") => Some(true),
        Some("0" | "False") => Some(false),
        _ => None,
    };
    let time = instant(into, value(Field::Time).unwrap_or("")).ok_or("the time is unreadable")?;
    Ok(ParsedRecord { ends, ports, protocol, time, payload: length, syn })
}

struct Capture {
    records: Records,
    /// The directions of connections whose SYN was captured.
    opened: BTreeSet<Key>,
}

impl Capture {
    fn store(
        &mut self,
        lines: &Text<'_>,
        into: &mut Collector<'_>,
        parsed: &ParsedRecord,
    ) -> Result<(), InputError> {
        let ParsedRecord { ports, protocol, payload, .. } = *parsed;
        let [src, dst] = parsed.ends;
        let [src, dst] = [into.end(lines, Name::Address(src))?, into.end(lines, Name::Address(dst))?];
        let Instant { base, apart: start } = into.instant(lines, parsed.time)?;
        let key = Key { src, dst, ports, protocol, base, observer: 0 };
        if parsed.syn == Some(true) {
            self.opened.insert(key);
        }
        if payload <= 0 {
            into.drop("no payload", 0);
            return Ok(());
        }
        let opening = match parsed.syn {
            None => Opening::Unstated,
            Some(_) if self.opened.contains(&key) => Opening::Seen,
            Some(_) => Opening::Missing,
        };
        self.records.push_packet(lines, into, Record { key, start, end: start, payload, opening })
    }
}

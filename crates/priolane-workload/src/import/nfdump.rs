//! CSV of nfdump: records of NetFlow and IPFIX, with old columns (`ts,te,td,sa,da,...`) or new ones
//! (`firstSeen,...`).
//!
//! ```text
//! firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows
//! 2024-05-01 12:00:00.100,3.012,TCP,10.0.0.1,40122,10.0.0.5,5001,812,1183402,1
//! ```
//!
//! Columns are found by name; everything from `Summary` to the next header is skipped. Records with equal
//! addresses, ports and protocol are one flow if the next starts at most `gap` after the end of the previous ones
//! (default 15 s, docs/assumptions.md#import-netflow-merge). Headers are subtracted from the bytes if packets are
//! counted:
//!
//! ```text
//! payload = bytes - packets * (IP + transport header) - 8 once (TCP, the SYN's options)
//! header  = 20 (IPv4) or 40 (IPv6) + 32 (TCP with time stamps), 8 (UDP) or 0
//! ```
//!
//! Therefore pure acknowledgements are no flow (docs/assumptions.md#import-netflow-payload). `sampling` multiplies
//! the remaining bytes. Records with bytes in both directions (`obyt`) become two flows.

use std::net::IpAddr;

use priolane_source::InputError;

use super::collect::{Collector, End, MAX_IMPORTED, Name, ParsedFlow, digits, too_many};
use super::options::Text;
use super::zeek;
use crate::context::LATEST_START;

/// Maximum gap within a flow: the default inactive timeout of exporters.
const GAP_PS: u64 = 15_000_000_000_000;

/// The columns, each with its possible names.
const COLUMNS: [&[&str]; 12] = [
    &["ts", "firstseen"],
    &["sa", "srcaddr"],
    &["da", "dstaddr"],
    &["ibyt", "byt", "bytes", "inbytes"],
    &["td", "duration"],
    &["pr", "proto"],
    &["sp", "srcport"],
    &["dp", "dstport"],
    &["ipkt", "pkt", "packets", "inpackets"],
    &["obyt", "outbytes"],
    &["opkt", "outpackets"],
    &["te", "lastseen"],
];
const REQUIRED: usize = 4;

/// The positions of the columns.
type Places = [Option<usize>; COLUMNS.len()];

fn places(line: &str) -> Option<Places> {
    let mut places: Places = [None; COLUMNS.len()];
    for (place, cell) in line.split(',').enumerate() {
        let cell = cell.trim().to_ascii_lowercase();
        if let Some(column) = COLUMNS.iter().position(|names| names.contains(&cell.as_str())) {
            places[column].get_or_insert(place);
        }
    }
    if places[..REQUIRED].iter().all(Option::is_some) { Some(places) } else { None }
}

/// Returns true if this is the header line.
pub(super) fn is_header(line: &str) -> bool {
    places(line).is_some()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Protocol {
    Tcp,
    Udp,
    Other,
}

/// The fields by which records belong to the same flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    src: End,
    dst: End,
    ports: [u16; 2],
    protocol: Protocol,
}

struct Record {
    key: Key,
    start: i64,
    end: i64,
    /// Bytes without headers; negative if the assumed headers were too long.
    payload: i64,
}

#[derive(Default)]
struct Records {
    list: Vec<Record>,
    uncounted: bool,
}

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let (mut line, mut header, mut seen) = (String::new(), None, false);
    let mut records = Records::default();
    while lines.next(&mut line)? {
        if let Some(places) = places(&line) {
            (header, seen) = (Some(places), true);
        } else if line.starts_with("Summary") || line.starts_with("No matching flows") {
            header = None;
        } else if let Some(places) = &header {
            into.rows += 1;
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            match parsed(into, &Row { places, cells: &cells }) {
                Ok(parsed) => store(lines, into, &parsed, &mut records)?,
                Err(reason) => into.drop(reason, 0),
            }
        } else if !seen {
            return Err(lines.error(
                "",
                "the header is missing",
                "Begin with ts,te,td,sa,da,... or firstSeen,...",
            ));
        }
    }
    if !seen {
        return Err(lines.whole("the file is empty", "Begin with ts,te,td,sa,da,... or firstSeen,..."));
    }
    flows(lines, into, records)
}

struct Row<'a> {
    places: &'a Places,
    cells: &'a [&'a str],
}

impl<'a> Row<'a> {
    fn cell(&self, column: usize) -> Option<&'a str> {
        self.places[column].and_then(|place| self.cells.get(place)).copied()
    }
}

/// A parsed record.
struct Parsed {
    ends: [IpAddr; 2],
    ports: [u16; 2],
    protocol: Protocol,
    start: u128,
    duration: u128,
    /// The volume from source to destination, and that in the reverse direction, if any.
    ways: (Volume, Option<Volume>),
}

#[derive(Clone, Copy)]
struct Volume {
    bytes: i64,
    packets: Option<i64>,
}

/// Parses the record of a row, or returns why there is none.
fn parsed(into: &mut Collector<'_>, row: &Row<'_>) -> Result<Parsed, &'static str> {
    let required = |column| row.cell(column).ok_or("the row is incomplete");
    let (ts, src, dst, bytes) = (required(0)?, required(1)?, required(2)?, required(3)?);
    let ends = [zeek::address(src)?, zeek::address(dst)?];
    if zeek::is_group(ends[1]) {
        return Err("the destination is a multicast or broadcast address");
    }
    let start = instant(into, ts).ok_or("the time is unreadable")?;
    if start == 0 {
        return Err("the time is zero");
    }
    let duration = match (row.cell(4), row.cell(11)) {
        (Some(cell), _) => into.try_time(cell, 12).ok_or("the duration is unreadable")?,
        (None, Some(cell)) => instant(into, cell).ok_or("the time is unreadable")?.saturating_sub(start),
        (None, None) => 0,
    };
    if duration > u128::from(LATEST_START.0) {
        return Err("the duration is unreadable");
    }
    let count = |cell: &str| digits(cell).filter(|&n| n < 1 << 47).map(|n| n as i64);
    let counted =
        |column| row.cell(column).map(|cell| count(cell).ok_or("a number is unreadable")).transpose();
    let there = Volume { bytes: count(bytes).ok_or("a number is unreadable")?, packets: counted(8)? };
    let back = counted(9)?.filter(|&bytes| bytes > 0);
    let packets = counted(10)?;
    let back = back.map(|bytes| Volume { bytes, packets });
    let port = |column| row.cell(column).map_or(Some(0), port).ok_or("a port is unreadable");
    let protocol = match row.cell(5).map(str::to_ascii_uppercase).as_deref() {
        Some("TCP" | "6") => Protocol::Tcp,
        Some("UDP" | "17") => Protocol::Udp,
        _ => Protocol::Other,
    };
    Ok(Parsed { ends, ports: [port(6)?, port(7)?], protocol, start, duration, ways: (there, back) })
}

/// Parses a port, or ICMP's `type.code` as one number.
fn port(cell: &str) -> Option<u16> {
    match cell.split_once('.') {
        Some((kind, code)) => Some(u16::from_be_bytes([kind.parse().ok()?, code.parse().ok()?])),
        None => cell.parse().ok(),
    }
}

fn store(
    lines: &Text<'_>,
    into: &mut Collector<'_>,
    parsed: &Parsed,
    records: &mut Records,
) -> Result<(), InputError> {
    let [src, dst] = parsed.ends;
    let [src, dst] = [into.end(lines, Name::Address(src))?, into.end(lines, Name::Address(dst))?];
    let start = into.relative(lines, parsed.start)?;
    let end = into.relative(lines, parsed.start.saturating_add(parsed.duration))?;
    let [sp, dp] = parsed.ports;
    let header = header(parsed.ends[0], parsed.protocol);
    let (there, back) = parsed.ways;
    for (src, dst, ports, volume) in [(src, dst, [sp, dp], Some(there)), (dst, src, [dp, sp], back)] {
        let Some(volume) = volume else { continue };
        if records.list.len() == MAX_IMPORTED {
            return Err(too_many(lines));
        }
        records.uncounted |= volume.packets.is_none();
        let payload = volume.bytes - volume.packets.unwrap_or(0).saturating_mul(header);
        let key = Key { src, dst, ports, protocol: parsed.protocol };
        records.list.push(Record { key, start, end, payload });
    }
    Ok(())
}

fn header(source: IpAddr, protocol: Protocol) -> i64 {
    let ip = if source.is_ipv6() { 40 } else { 20 };
    ip + match protocol {
        Protocol::Tcp => 32,
        Protocol::Udp => 8,
        Protocol::Other => 0,
    }
}

/// Merges records into flows.
fn flows(lines: &Text<'_>, into: &mut Collector<'_>, records: Records) -> Result<(), InputError> {
    let gap = into.options().gap.map_or(GAP_PS, |gap| gap.0).min(i64::MAX as u64) as i64;
    let sampling = into.options().sampling.unwrap_or(1);
    let mut list = records.list;
    list.sort_by_key(|record| (record.key, record.start, record.end));
    let mut rest = &list[..];
    while let Some(first) = rest.first() {
        let (mut end, mut length) = (first.end, 1);
        while let Some(next) = rest.get(length) {
            if next.key != first.key || next.start.saturating_sub(end) > gap {
                break;
            }
            (end, length) = (end.max(next.end), length + 1);
        }
        let syn = if first.key.protocol == Protocol::Tcp && !records.uncounted { 8 } else { 0 };
        let payload: i128 =
            rest[..length].iter().map(|record| i128::from(record.payload)).sum::<i128>() - syn;
        let bytes = u64::try_from(payload.max(0) * i128::from(sampling)).unwrap_or(u64::MAX);
        into.merged += length as u64 - 1;
        let (Key { src, dst, .. }, start) = (first.key, into.absolute(first.start));
        if payload <= 0 {
            into.drop("no payload", 0);
        } else {
            into.take(lines, ParsedFlow { src, dst, bytes, start, class: 0, coflow: None })?;
        }
        rest = &rest[length..];
    }
    if records.uncounted {
        into.notes.push("some records have no packet count, so bytes include headers".to_owned());
    }
    if sampling > 1 {
        into.notes.push(format!("bytes are multiplied by {sampling}: sampling misses many small flows"));
    }
    Ok(())
}

/// Parses `2024-05-01 12:00:00.125`, or seconds since an epoch; returns picoseconds since the Unix epoch or that
/// epoch.
fn instant(into: &mut Collector<'_>, text: &str) -> Option<u128> {
    let Some((date, time)) = text.split_once([' ', 'T']) else { return into.try_time(text, 12) };
    let mut date = date.split('-').map(digits);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut clock = time.splitn(3, ':');
    let (hour, minute) = (digits(clock.next()?)?, digits(clock.next()?)?);
    let seconds = into.try_time(clock.next()?, 12)?;
    let legal = date.next().is_none()
        && (1970..10_000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && seconds < 61_000_000_000_000;
    if !legal {
        return None;
    }
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute;
    Some(u128::from(minutes) * 60_000_000_000_000 + seconds)
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar, in or after 1970.
fn days(year: u64, month: u64, day: u64) -> u64 {
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days() {
        assert_eq!((days(1970, 1, 1), days(1970, 3, 1), days(2000, 2, 29)), (0, 59, 11_016));
        // 2024-05-01 00:00:00 UTC is 1714521600.
        assert_eq!(days(2024, 5, 1) * 86_400, 1_714_521_600);
    }

    #[test]
    fn instants_have_a_legal_date_and_clock() {
        let options = crate::import::Options::default();
        let mut into = Collector::new(&options);
        let mut at = |text: &str| instant(&mut into, text);
        assert_eq!(at("1970-01-02 00:00:01.5"), Some(86_401_500_000_000_000));
        assert_eq!(at("1714521600.25"), Some(1_714_521_600_250_000_000_000));
        let never = [
            "1970-01-01 18446744073709551615:0:0",
            "1970-01-01 24:00:00",
            "1969-12-31 00:00:00",
            "1970-00-01 0:0:0",
        ];
        let odd = [
            "1970-1 0:0:0",
            "1970-01-01 0:0",
            "1970-01-01 0:0:62",
            "99999-01-01 0:0:0",
            "1970-01-01-01 0:0:0",
            "",
        ];
        assert!(never.into_iter().chain(odd).all(|text| at(text).is_none()));
    }

    #[test]
    fn columns_are_found_by_name() {
        assert!(is_header("ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt"));
        assert!(is_header("firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows"));
        assert!(!is_header("flows,bytes,packets,avg_bps,avg_pps,avg_bpp"));
    }
}

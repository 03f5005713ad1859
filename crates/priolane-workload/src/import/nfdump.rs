//! CSV of nfdump: records of NetFlow and IPFIX, with old columns (`ts,te,td,sa,da,...`) or new ones
//! (`firstSeen,...`).
//!
//! ```text
//! firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows
//! 2024-05-01 12:00:00.100,3.012,TCP,10.0.0.1,40122,10.0.0.5,5001,812,1183402,1
//! ```
//!
//! Cells end with commas, semicolons or tabs, as in the header. Columns are found by name, also by the names that collectors
//! and tables of scripts give them (`start_time`, `src_ip`, ...); everything from `Summary` to the next header is skipped. Headers are subtracted from the
//! bytes if packets are counted, and records are merged as in `records.rs`. Therefore pure acknowledgements are not a flow
//! (docs/assumptions.md#import-netflow-payload). `sampling` multiplies the remaining bytes. Records with bytes in both
//! directions (`obyt`) become two flows. If a column names the router (`ra`), a flow that several routers recorded is
//! taken from the one with most bytes; without it, records of a flow that overlap in time are counted and noted.

use std::net::IpAddr;

use priolane_source::InputError;

use super::clocks::Instant;
use super::collect::{Collector, Name};
use super::columns::{Names, Places};
use super::imported::Opening;
use super::instant::instant;
use super::options::Text;
use super::records::{self, Key, Observers, Protocol, Record, Records, SYN_OPTIONS, count};
use crate::context::LATEST_START;

/// The columns, each with its possible names.
const COLUMNS: [Names; 14] = [
    &["ts", "firstseen", "first_seen", "start_time", "starttime", "timestamp_start"],
    &["sa", "srcaddr", "src_addr", "src_ip", "srcip", "ip_src", "sourceipv4address"],
    &["da", "dstaddr", "dst_addr", "dst_ip", "dstip", "ip_dst", "destinationipv4address"],
    &["ibyt", "byt", "bytes", "inbytes", "octetdeltacount"],
    &["td", "duration"],
    &["pr", "proto", "protocol", "ip_proto", "protocolidentifier"],
    &["sp", "srcport", "src_port", "port_src", "sourcetransportport"],
    &["dp", "dstport", "dst_port", "port_dst", "destinationtransportport"],
    &["ipkt", "pkt", "packets", "inpackets", "packetdeltacount"],
    &["obyt", "outbytes"],
    &["opkt", "outpackets"],
    &["te", "lastseen", "last_seen", "end_time", "endtime", "timestamp_end"],
    &["flg", "flags"],
    &["ra", "routerip"],
];
/// The header that a table needs.
const NEEDS: &str = "Begin with a header: ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt, firstSeen,duration,srcAddr,dstAddr,packets,bytes, \
    or start_time,duration,src_ip,dst_ip,packets,bytes";
const ROUTER: usize = 13;
const REQUIRED: usize = 4;

/// The characters that may end cells.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// A header line.
struct Header {
    places: Places<{ COLUMNS.len() }>,
    separator: char,
    /// The number of its cells.
    width: usize,
}

impl Header {
    /// Reads the columns of `line`; `None` if it is no header.
    fn of(line: &str) -> Option<Self> {
        SEPARATORS.into_iter().find_map(|separator| {
            let places = Places::find(&COLUMNS, line.split(separator));
            let width = line.split(separator).count();
            (0..REQUIRED).all(|column| places.has(column)).then_some(Self { places, separator, width })
        })
    }

    /// Splits a row into cells. Lines come without white space at their ends: in a table with tabs, a row with one cell more
    /// than the header begins with an index whose column has no name.
    fn cells<'a>(&self, row: &'a str) -> Vec<&'a str> {
        let mut cells: Vec<&str> = row.split(self.separator).map(str::trim).collect();
        if self.separator == '\t' && cells.len() == self.width + 1 {
            cells.remove(0);
        }
        cells
    }
}

/// Returns true if this is the header line.
pub(super) fn is_header(line: &str) -> bool {
    Header::of(line).is_some()
}

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let (mut line, mut header, mut seen) = (String::new(), None, false);
    let sampling = into.options().sampling.unwrap_or(1);
    let mut records = Records::new(into);
    let mut routers = Observers::default();
    let mut uncounted = false;
    while lines.next(&mut line)? {
        if let Some(found) = Header::of(&line) {
            (header, seen) = (Some(found), true);
        } else if line.starts_with("Summary") || line.starts_with("No matching flows") {
            header = None;
        } else if let Some(header) = &header {
            into.rows += 1;
            let cells = header.cells(&line);
            let row = Row { places: &header.places, cells: &cells };
            match parse_record(into, &row) {
                Ok(parsed) => {
                    uncounted |= parsed.uncounted();
                    let router = row.cell(ROUTER).filter(|name| !name.is_empty());
                    let observer = routers.number(lines, router)?;
                    store(lines, into, (&parsed, observer), &mut records)?;
                }
                Err(reason) => into.drop(reason, 0),
            }
        } else if !seen {
            return Err(lines.error(
                "",
                "no header names the start, the source, the destination and the bytes of records",
                NEEDS,
            ));
        }
    }
    if !seen {
        return Err(lines.whole("the file is empty", NEEDS));
    }
    records.once = if uncounted { 0 } else { SYN_OPTIONS };
    records.factor = sampling;
    let overlapping = records.flows(lines, into)?;
    if overlapping > 0 {
        into.notes.push(format!(
            "{overlapping} records overlap in time with another of the same addresses and ports: if several routers \
             recorded them, bytes count several times; print the router's address (column ra), or the records of one \
             router"
        ));
    }
    if uncounted {
        into.notes.push("some records have no packet count, so bytes include headers".to_owned());
    }
    if sampling > 1 {
        into.notes.push(format!("bytes are multiplied by {sampling}: sampling misses many small flows"));
    }
    Ok(())
}

struct Row<'a> {
    places: &'a Places<{ COLUMNS.len() }>,
    cells: &'a [&'a str],
}

impl<'a> Row<'a> {
    fn cell(&self, column: usize) -> Option<&'a str> {
        self.places.cell(self.cells, column)
    }
}

/// A parsed record.
struct ParsedRecord {
    ends: [IpAddr; 2],
    ports: [u16; 2],
    protocol: Protocol,
    start: u128,
    duration: u128,
    opening: Opening,
    /// The volume from source to destination, and that in the reverse direction, if any.
    ways: (Volume, Option<Volume>),
}

impl ParsedRecord {
    fn uncounted(&self) -> bool {
        let (there, back) = self.ways;
        there.packets.is_none() || back.is_some_and(|back| back.packets.is_none())
    }
}

#[derive(Clone, Copy)]
struct Volume {
    bytes: i64,
    packets: Option<i64>,
}

/// Parses the record of a row, or returns why there is none.
fn parse_record(into: &mut Collector<'_>, row: &Row<'_>) -> Result<ParsedRecord, &'static str> {
    let required = |column| row.cell(column).ok_or("the row is incomplete");
    let (ts, src, dst, bytes) = (required(0)?, required(1)?, required(2)?, required(3)?);
    let ends = [records::address(src)?, records::destination(dst)?];
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
    let counted = |column| row.cell(column).map(count).transpose();
    let there = Volume { bytes: count(bytes)?, packets: counted(8)? };
    records::carried(there.bytes, there.packets)?;
    let back = counted(9)?.filter(|&bytes| bytes > 0);
    let packets = counted(10)?;
    let back = back.map(|bytes| Volume { bytes, packets });
    let port = |column| row.cell(column).map_or(Some(0), port).ok_or("a port is unreadable");
    let protocol = Protocol::of(row.cell(5));
    let opening = opening(into, row.cell(12));
    let ports = [port(6)?, port(7)?];
    Ok(ParsedRecord { ends, ports, protocol, start, duration, opening, ways: (there, back) })
}

/// Parses a port, or ICMP's `type.code` as one number.
fn port(cell: &str) -> Option<u16> {
    match cell.split_once('.') {
        Some((kind, code)) => Some(u16::from_be_bytes([kind.parse().ok()?, code.parse().ok()?])),
        None => cell.parse().ok(),
    }
}

/// Parses TCP flags such as `...AP.SF`, which say nothing if packets were sampled, nor if there are none at all.
fn opening(into: &Collector<'_>, flags: Option<&str>) -> Opening {
    let whole = into.options().sampling.is_none_or(|sampling| sampling == 1);
    let stated = |flags: &&str| {
        let known = flags.bytes().all(|byte| b".CEUAPRSF".contains(&byte));
        whole && known && flags.bytes().any(|byte| byte != b'.')
    };
    match flags.filter(stated) {
        None => Opening::Unstated,
        Some(flags) if flags.contains('S') => Opening::Seen,
        Some(_) => Opening::Missing,
    }
}

fn store(
    lines: &Text<'_>,
    into: &mut Collector<'_>,
    (parsed, observer): (&ParsedRecord, u32),
    records: &mut Records,
) -> Result<(), InputError> {
    let [src, dst] = parsed.ends;
    let [src, dst] = [into.end(lines, Name::Address(src))?, into.end(lines, Name::Address(dst))?];
    let Instant { base, apart: start } = into.instant(lines, parsed.start)?;
    let end = start.saturating_add_unsigned(parsed.duration as u64);
    let [sp, dp] = parsed.ports;
    let ParsedRecord { protocol, opening, .. } = *parsed;
    let header = protocol.header(parsed.ends[0]);
    let (there, back) = parsed.ways;
    for (src, dst, ports, volume) in [(src, dst, [sp, dp], Some(there)), (dst, src, [dp, sp], back)] {
        let Some(volume) = volume else { continue };
        let payload = volume.bytes - volume.packets.unwrap_or(0).saturating_mul(header);
        let key = Key { src, dst, ports, protocol, base, observer };
        let opening = if protocol == Protocol::Tcp { opening } else { Opening::Unstated };
        records.push(lines, Record { key, start, end, payload, opening })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        assert!(is_header("ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt"));
        assert!(is_header("firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows"));
        assert!(!is_header("flows,bytes,packets,avg_bps,avg_pps,avg_bpp"));
    }
}

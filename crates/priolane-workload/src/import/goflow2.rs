//! JSON lines of goflow2: records of NetFlow and IPFIX, samples of sFlow.
//!
//! ```text
//! {"type":"NETFLOW_V9","sampling_rate":1,"sampler_address":"10.255.0.1","time_flow_start_ns":1714521600250000000,
//!  "time_flow_end_ns":1714521603000000000,"bytes":1183402,"packets":812,"src_addr":"10.0.0.1","dst_addr":"10.0.0.5",
//!  "proto":"TCP","src_port":40122,"dst_port":5001}
//! ```
//!
//! Older versions state seconds (`time_flow_start`). Records are merged and lose their headers as in `records.rs`, and
//! `sampling_rate`, or `--sampling` in its place, multiplies their bytes. Of a flow that several exporters recorded, the
//! records of the one with most bytes are kept.

use std::net::IpAddr;

use priolane_source::InputError;

use super::clocks::Instant;
use super::collect::{Collector, Name, digits};
use super::columns::Names;
use super::imported::Opening;
use super::json;
use super::options::Text;
use super::records::{self, Key, Observers, Protocol, Record, Records, count};
use crate::context::LATEST_START;

const COLUMNS: [Names; 13] = [
    &["time_flow_start_ns"],
    &["time_flow_start"],
    &["time_flow_end_ns"],
    &["time_flow_end"],
    &["src_addr"],
    &["dst_addr"],
    &["bytes"],
    &["packets"],
    &["proto"],
    &["src_port"],
    &["dst_port"],
    &["sampling_rate"],
    &["sampler_address"],
];

/// The members that are read, in the order of [`COLUMNS`].
#[derive(Clone, Copy)]
enum Field {
    Start,
    StartSeconds,
    End,
    EndSeconds,
    Source,
    Destination,
    Bytes,
    Packets,
    Protocol,
    SourcePort,
    DestinationPort,
    Rate,
    Exporter,
}

type Cells = [String; COLUMNS.len()];

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let mut log = Log { records: Records::new(into), exporters: Observers::default(), highest: 1 };
    let mut line = String::new();
    while lines.next(&mut line)? {
        if into.rows == 0 && !json::is_object(&line) {
            return Err(lines.error("", "the row is not a JSON object", "goflow2 -format json"));
        }
        into.rows += 1;
        let parsed = json::object(&line).and_then(|object| {
            let cells = json::cells(&object, &COLUMNS);
            parse_record(into, &cells).map(|parsed| (parsed, cells))
        });
        match parsed {
            Ok((parsed, cells)) => log.store(lines, into, &parsed, value(&cells, Field::Exporter))?,
            Err(reason) => into.drop(reason, 0),
        }
    }
    log.records.flows(lines, into)?;
    if log.highest > 1 {
        into.recording.sampling = Some(log.highest);
        into.notes.push("bytes are multiplied by sampling_rate: sampling misses many small flows".to_owned());
    }
    Ok(())
}

struct ParsedRecord {
    ends: [IpAddr; 2],
    ports: [u16; 2],
    protocol: Protocol,
    start: u128,
    duration: u64,
    payload: i64,
    rate: u32,
}

fn value(cells: &Cells, field: Field) -> Option<&str> {
    Some(cells[field as usize].as_str()).filter(|cell| !matches!(*cell, "" | "-"))
}

/// Parses the record of a row, or returns why there is none.
fn parse_record(into: &mut Collector<'_>, cells: &Cells) -> Result<ParsedRecord, &'static str> {
    let required = |field: Field| value(cells, field).ok_or("the row is incomplete");
    let ends =
        [records::address(required(Field::Source)?)?, records::destination(required(Field::Destination)?)?];
    let bytes = count(required(Field::Bytes)?)?;
    let packets = value(cells, Field::Packets).map(count).transpose()?;
    records::carried(bytes, packets)?;
    let ports = [
        records::port(value(cells, Field::SourcePort))?,
        records::port(value(cells, Field::DestinationPort))?,
    ];
    let protocol = Protocol::of(value(cells, Field::Protocol));
    let mut time = |nanoseconds: Field, seconds: Field| match value(cells, nanoseconds) {
        Some(cell) => into.try_time(cell, 3),
        None => value(cells, seconds).and_then(|cell| into.try_time(cell, 12)),
    };
    let start = time(Field::Start, Field::StartSeconds).ok_or("the time is unreadable")?;
    if start == 0 {
        return Err("the time is zero");
    }
    let end = time(Field::End, Field::EndSeconds).unwrap_or(start).max(start);
    let duration = u64::try_from(end - start).ok().filter(|&duration| duration <= LATEST_START.0);
    let stated = value(cells, Field::Rate).and_then(digits).unwrap_or(1).max(1);
    let rate = into.options().sampling.map_or_else(|| u32::try_from(stated).ok(), Some);
    Ok(ParsedRecord {
        ends,
        ports,
        protocol,
        start,
        duration: duration.ok_or("the duration is unreadable")?,
        payload: bytes - packets.unwrap_or(0).saturating_mul(protocol.header(ends[0])),
        rate: rate.ok_or("the sampling rate is unreadable")?,
    })
}

struct Log {
    records: Records,
    exporters: Observers,
    /// The highest sampling rate.
    highest: u32,
}

impl Log {
    fn store(
        &mut self,
        lines: &Text<'_>,
        into: &mut Collector<'_>,
        parsed: &ParsedRecord,
        exporter: Option<&str>,
    ) -> Result<(), InputError> {
        let ParsedRecord { ports, protocol, rate, .. } = *parsed;
        let [src, dst] = parsed.ends;
        let [src, dst] = [into.end(lines, Name::Address(src))?, into.end(lines, Name::Address(dst))?];
        let Instant { base, apart: start } = into.instant(lines, parsed.start)?;
        let key = Key { src, dst, ports, protocol, base, observer: self.exporters.number(lines, exporter)? };
        self.highest = self.highest.max(rate);
        let end = start.saturating_add_unsigned(parsed.duration);
        let payload = parsed.payload.saturating_mul(i64::from(rate));
        self.records.push(lines, Record { key, start, end, payload, opening: Opening::Unstated })
    }
}

//! Sampled packets of sFlow, as `sflowtool -L` prints them, below a line with the fields that it was given.
//!
//! ```text
//! unixSecondsUTC,unixSecondsUTC_uS,agent,srcIP,dstIP,IPProtocol,TCPSrcPort,TCPDstPort,IPSize,meanSkipCount
//! 1714521600,250125,10.255.0.1,10.0.0.1,10.0.0.5,6,40122,5001,1500,1000
//! ```
//!
//! `sflowtool -l` prints no times and is refused. A packet stands for `meanSkipCount` packets: its payload, without
//! headers as in `records.rs`, counts that often. Packets are merged into flows as records are, so a flow starts with
//! its first sampled packet. Times are those at which the collector received samples, up to a second late
//! (docs/assumptions.md#import-sflow-starts), or `timestamp_nS` where switches send it.

use std::net::IpAddr;

use priolane_source::InputError;

use super::clocks::Instant;
use super::collect::{Collector, Name, digits};
use super::columns::{Names, Places};
use super::imported::Opening;
use super::instant::instant;
use super::options::Text;
use super::records::{self, Key, Observers, Protocol, Record, Records, count};

/// The longest time for which a switch keeps a sample before it sends the sample, in picoseconds.
const LATE_PS: u64 = 1_000_000_000_000;

const COLUMNS: [Names; 17] = [
    &["timestamp_ns"],
    &["unixsecondsutc"],
    &["unixsecondsutc_us"],
    &["pcaptimestamp"],
    &["pcaptimestamp_us"],
    &["srcip"],
    &["srcip6"],
    &["dstip"],
    &["dstip6"],
    &["ipprotocol"],
    &["tcpsrcport"],
    &["tcpdstport"],
    &["udpsrcport"],
    &["udpdstport"],
    &["ipsize"],
    &["meanskipcount"],
    &["agent"],
];

/// The fields that are read, in the order of [`COLUMNS`].
#[derive(Clone, Copy)]
enum Field {
    Stamp,
    Seconds,
    Micros,
    Captured,
    CapturedMicros,
    Source,
    Source6,
    Destination,
    Destination6,
    Protocol,
    TcpSource,
    TcpDestination,
    UdpSource,
    UdpDestination,
    Size,
    Rate,
    Agent,
}

/// Fields that are needed, of each row one, with the name that messages have.
const NEEDED: [(&[Field], &str); 5] = [
    (&[Field::Stamp, Field::Seconds, Field::Captured], "unixSecondsUTC"),
    (&[Field::Source, Field::Source6], "srcIP"),
    (&[Field::Destination, Field::Destination6], "dstIP"),
    (&[Field::Size], "IPSize"),
    (&[Field::Rate], "meanSkipCount"),
];

const COMMAND: &str = "Run sflowtool -L unixSecondsUTC,unixSecondsUTC_uS,agent,srcIP,dstIP,srcIP6,dstIP6,IPProtocol,\
                       TCPSrcPort,TCPDstPort,UDPSrcPort,UDPDstPort,IPSize,meanSkipCount and put these names above \
                       its output";

struct Fields {
    places: Places<{ COLUMNS.len() }>,
    count: usize,
}

/// Returns true if the line names fields of sampled packets, or is one that `sflowtool -l` prints.
pub(super) fn is_sflow(line: &str) -> bool {
    is_header(line) || is_untimed(line)
}

fn is_header(line: &str) -> bool {
    line.split(',').any(|cell| matches!(cell.trim(), "meanSkipCount" | "IPSize" | "unixSecondsUTC"))
}

fn is_untimed(line: &str) -> bool {
    line.starts_with("FLOW,") || line.starts_with("CNTR,")
}

fn fields(lines: &Text<'_>, line: &str) -> Result<Fields, InputError> {
    let places = Places::find(&COLUMNS, line.split(','));
    for (either, name) in NEEDED {
        if !either.iter().any(|&column| places.has(column as usize)) {
            return Err(lines.error(name, "the field is missing", COMMAND));
        }
    }
    Ok(Fields { places, count: line.split(',').count() })
}

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let (mut line, mut header) = (String::new(), None);
    let mut samples =
        Samples { records: Records::new(into), agents: Observers::default(), rates: None, late: false };
    while lines.next(&mut line)? {
        if is_header(&line) {
            header = Some(fields(lines, &line)?);
            continue;
        }
        if is_untimed(&line) {
            return Err(lines.error("", "lines of sflowtool -l have no times", COMMAND));
        }
        let Some(fields) = &header else {
            return Err(lines.error("", "no header names the fields", COMMAND));
        };
        into.rows += 1;
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        match parse_record(into, fields, &cells) {
            Ok(parsed) => samples.store(lines, into, &parsed)?,
            Err(reason) => into.drop(reason, 0),
        }
    }
    if header.is_none() {
        return Err(lines.whole("the file is empty", COMMAND));
    }
    samples.finish(lines, into)
}

struct ParsedRecord<'a> {
    ends: [IpAddr; 2],
    ports: [u16; 2],
    protocol: Protocol,
    time: u128,
    /// Whether the time is the collector's, not the switch's.
    late: bool,
    payload: i64,
    rate: u32,
    agent: Option<&'a str>,
}

/// Parses the sampled packet of a row, or returns why the packet belongs to no flow.
fn parse_record<'a>(
    into: &mut Collector<'_>,
    fields: &Fields,
    cells: &[&'a str],
) -> Result<ParsedRecord<'a>, &'static str> {
    if cells.len() != fields.count {
        return Err("the row has another number of cells than the header");
    }
    let value = |field: Field| fields.places.value(cells, field as usize);
    let (Some(src), Some(dst)) = (
        value(Field::Source).or(value(Field::Source6)),
        value(Field::Destination).or(value(Field::Destination6)),
    ) else {
        return Err("the packet is not IP");
    };
    let ends = [records::address(src)?, records::destination(dst)?];
    let protocol = Protocol::of(value(Field::Protocol));
    let ports = match protocol {
        Protocol::Tcp => [value(Field::TcpSource), value(Field::TcpDestination)],
        Protocol::Udp => [value(Field::UdpSource), value(Field::UdpDestination)],
        Protocol::Other => [None, None],
    };
    let ports = [records::port(ports[0])?, records::port(ports[1])?];
    let size = count(value(Field::Size).unwrap_or(""))?;
    let rate = value(Field::Rate)
        .and_then(digits)
        .and_then(|rate| u32::try_from(rate).ok())
        .filter(|&rate| rate > 0);
    let rate = rate.ok_or("the sampling rate is unreadable")?;
    let (time, late) = time(into, fields, cells).ok_or("the time is unreadable")?;
    if time == 0 {
        return Err("the time is zero");
    }
    let payload = size - protocol.header(ends[0]);
    if payload <= 0 {
        return Err("no payload");
    }
    Ok(ParsedRecord { ends, ports, protocol, time, late, payload, rate, agent: value(Field::Agent) })
}

/// Returns the time of a row, and whether it is that of the sample's arrival.
fn time(into: &mut Collector<'_>, fields: &Fields, cells: &[&str]) -> Option<(u128, bool)> {
    let set = |field: Field| fields.places.value(cells, field as usize).filter(|cell| *cell != "0");
    if let Some(nanoseconds) = set(Field::Stamp) {
        return Some((into.try_time(nanoseconds, 3)?, false));
    }
    let (whole, micros) = match set(Field::Seconds) {
        Some(seconds) => (into.try_time(seconds, 12)?, set(Field::Micros)),
        None => {
            (set(Field::Captured).map_or(Some(0), |cell| instant(into, cell))?, set(Field::CapturedMicros))
        }
    };
    let micros = micros.map_or(Some(0), |cell| into.try_time(cell, 6))?;
    Some((whole + micros, true))
}

struct Samples {
    records: Records,
    agents: Observers,
    /// The lowest and the highest sampling rate.
    rates: Option<(u32, u32)>,
    late: bool,
}

impl Samples {
    fn store(
        &mut self,
        lines: &Text<'_>,
        into: &mut Collector<'_>,
        parsed: &ParsedRecord<'_>,
    ) -> Result<(), InputError> {
        let ParsedRecord { ports, protocol, rate, .. } = *parsed;
        let [src, dst] = parsed.ends;
        let [src, dst] = [into.end(lines, Name::Address(src))?, into.end(lines, Name::Address(dst))?];
        let observer = self.agents.number(lines, parsed.agent)?;
        let Instant { base, apart: start } = into.instant(lines, parsed.time)?;
        let key = Key { src, dst, ports, protocol, base, observer };
        let (low, high) = self.rates.unwrap_or((rate, rate));
        self.rates = Some((low.min(rate), high.max(rate)));
        self.late |= parsed.late;
        let payload = parsed.payload.saturating_mul(i64::from(rate));
        let packet = Record { key, start, end: start, payload, opening: Opening::Unstated };
        self.records.push_packet(lines, into, packet)
    }

    fn finish(self, lines: &Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
        self.records.flows(lines, into)?;
        if self.late {
            into.recording.late_ps = LATE_PS;
        }
        let Some((low, high)) = self.rates else { return Ok(()) };
        into.recording.sampling = Some(high);
        if low < high {
            into.notes.push(format!("sampling rates are from 1 in {low} to 1 in {high} packets"));
        }
        into.notes.push(
            "sampling misses most small flows, and a flow starts with its first sampled packet".to_owned(),
        );
        if self.agents.len() > 1 {
            into.notes.push(format!(
                "{} switches sampled: packets that cross several of them are counted more than once, unless only ports \
                 to hosts are sampled",
                self.agents.len()
            ));
        }
        Ok(())
    }
}

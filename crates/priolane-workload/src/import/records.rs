//! Records of parts of flows, as exporters and captures write them: addresses, headers, merging.
//!
//! Records with equal addresses, ports and protocol are one flow if the next starts at most `gap` after the end of
//! the previous ones (default 15 s, docs/assumptions.md#import-netflow-merge). Headers are subtracted from the bytes
//! of IP packets:
//!
//! ```text
//! payload = bytes - packets * (IP + transport header) - 8 once (TCP, the SYN's options)
//! header  = 20 (IPv4) or 40 (IPv6) + 32 (TCP with time stamps), 8 (UDP) or 0
//! ```
//!
//! If several interfaces or switches recorded a flow, the records of the one with most bytes are kept
//! (docs/assumptions.md#import-observers).

use std::collections::BTreeMap;
use std::net::IpAddr;

use priolane_source::InputError;

use super::clocks::Instant;
use super::collect::{Collector, End, MAX_IMPORTED, ParsedFlow, digits, too_many};
use super::imported::Opening;
use super::options::Text;

/// Maximum gap within a flow: the default inactive timeout of exporters.
const GAP_PS: u64 = 15_000_000_000_000;

/// Options that a SYN has and other segments lack, in bytes.
pub(super) const SYN_OPTIONS: i64 = 8;

/// Maximum number of interfaces or switches in a file.
const MAX_OBSERVERS: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Protocol {
    Tcp,
    Udp,
    Other,
}

impl Protocol {
    /// Parses a protocol's name or number; what is not TCP or UDP is [`Self::Other`].
    pub(super) fn of(cell: Option<&str>) -> Self {
        match cell.map(str::to_ascii_uppercase).as_deref() {
            Some("TCP" | "6") => Self::Tcp,
            Some("UDP" | "17") => Self::Udp,
            _ => Self::Other,
        }
    }

    /// Returns the bytes of headers of an IP packet from `source`.
    pub(super) fn header(self, source: IpAddr) -> i64 {
        let ip = if source.is_ipv6() { 40 } else { 20 };
        ip + match self {
            Self::Tcp => 32,
            Self::Udp => 8,
            Self::Other => 0,
        }
    }
}

/// The fields by which records belong to the same flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) src: End,
    pub(super) dst: End,
    pub(super) ports: [u16; 2],
    pub(super) protocol: Protocol,
    /// The number of the base of the record's times.
    pub(super) base: u8,
    /// The interface or switch that recorded the flow; 0 if the file does not say.
    pub(super) observer: u32,
}

impl Key {
    fn same_flow(&self, other: &Self) -> bool {
        Self { observer: 0, ..*self } == Self { observer: 0, ..*other }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) key: Key,
    /// Picoseconds after the base.
    pub(super) start: i64,
    pub(super) end: i64,
    /// Bytes without headers; negative if the assumed headers were too long.
    pub(super) payload: i64,
    pub(super) opening: Opening,
}

/// The records of a file.
#[derive(Debug)]
pub(super) struct Records {
    list: Vec<Record>,
    /// The index of the last record of each key, if records are packets.
    last: BTreeMap<Key, u32>,
    gap: i64,
    /// Bytes that a TCP flow loses once.
    pub(super) once: i64,
    /// Factor for the bytes of all flows.
    pub(super) factor: u32,
}

impl Records {
    pub(super) fn new(into: &Collector<'_>) -> Self {
        let gap = into.options().gap.map_or(GAP_PS, |gap| gap.0).min(i64::MAX as u64) as i64;
        Self { list: Vec::new(), last: BTreeMap::new(), gap, once: 0, factor: 1 }
    }

    pub(super) fn push(&mut self, lines: &Text<'_>, record: Record) -> Result<(), InputError> {
        if self.list.len() == MAX_IMPORTED {
            return Err(too_many(lines));
        }
        self.list.push(record);
        Ok(())
    }

    /// As [`Self::push`] for a packet: one that continues the last record of its key is merged into that at once, so
    /// that memory depends on flows and not on packets.
    pub(super) fn push_packet(
        &mut self,
        lines: &Text<'_>,
        into: &mut Collector<'_>,
        packet: Record,
    ) -> Result<(), InputError> {
        if let Some(&place) = self.last.get(&packet.key) {
            let last = &mut self.list[place as usize];
            let (earlier, later) =
                if last.start <= packet.start { (last.end, packet.start) } else { (packet.end, last.start) };
            if later.saturating_sub(earlier) <= self.gap {
                (last.start, last.end) = (last.start.min(packet.start), last.end.max(packet.end));
                last.payload = last.payload.saturating_add(packet.payload);
                if packet.opening == Opening::Seen {
                    last.opening = Opening::Seen;
                }
                into.merged += 1;
                return Ok(());
            }
        }
        self.push(lines, packet)?;
        self.last.insert(packet.key, self.list.len() as u32 - 1);
        Ok(())
    }

    /// Merges all records into flows. Returns how many records began before the one that they continue had ended.
    pub(super) fn flows(mut self, lines: &Text<'_>, into: &mut Collector<'_>) -> Result<u64, InputError> {
        drop(std::mem::take(&mut self.last));
        let mut list = std::mem::take(&mut self.list);
        list.sort_unstable_by_key(|record| (record.key, record.start, record.end));
        let mut overlapping = 0;
        for recorded in list.chunk_by(|a, b| a.key.same_flow(&b.key)) {
            let kept = most_bytes(recorded);
            for one in recorded.chunk_by(|a, b| a.key == b.key) {
                if one[0].key == kept {
                    overlapping += one.windows(2).filter(|pair| pair[1].start < pair[0].end).count() as u64;
                    self.merge(lines, into, one)?;
                } else {
                    let why = "another interface, switch or router recorded the flow too";
                    one.iter().for_each(|record| into.drop(why, record.payload.max(0) as u64));
                }
            }
        }
        Ok(overlapping)
    }

    /// Merges records of one key, in order of start, into its flows.
    fn merge(
        &self,
        lines: &Text<'_>,
        into: &mut Collector<'_>,
        records: &[Record],
    ) -> Result<(), InputError> {
        let mut rest = records;
        while let Some(first) = rest.first() {
            let (mut end, mut length) = (first.end, 1);
            while let Some(next) = rest.get(length) {
                if next.start.saturating_sub(end) > self.gap {
                    break;
                }
                (end, length) = (end.max(next.end), length + 1);
            }
            into.merged += length as u64 - 1;
            let opening =
                if rest.len() == records.len() { opening(&rest[..length]) } else { Opening::Unstated };
            self.take(lines, into, &rest[..length], opening)?;
            rest = &rest[length..];
        }
        Ok(())
    }

    fn take(
        &self,
        lines: &Text<'_>,
        into: &mut Collector<'_>,
        records: &[Record],
        opening: Opening,
    ) -> Result<(), InputError> {
        let Key { src, dst, protocol, base, .. } = records[0].key;
        let once = if protocol == Protocol::Tcp { self.once } else { 0 };
        let payload =
            records.iter().map(|record| i128::from(record.payload)).sum::<i128>() - i128::from(once);
        if payload <= 0 {
            into.drop("no payload", 0);
            return Ok(());
        }
        let bytes = u64::try_from(payload * i128::from(self.factor)).unwrap_or(u64::MAX);
        let start = into.absolute(Instant { base, apart: records[0].start });
        let listed =
            into.take(lines, ParsedFlow { src, dst, size: Some(bytes), start, class: 0, coflow: None })?;
        if listed.is_some() {
            into.opened(opening);
        }
        Ok(())
    }
}

/// Returns the key of the interface or switch with most bytes among the records of one flow, the first of equal ones.
fn most_bytes(records: &[Record]) -> Key {
    let mut best = (records[0].key, i128::MIN);
    for one in records.chunk_by(|a, b| a.key == b.key) {
        let bytes = one.iter().map(|record| i128::from(record.payload)).sum();
        if bytes > best.1 {
            best = (one[0].key, bytes);
        }
    }
    best.0
}

/// Returns whether the first flow of a key contains its connection's first packet.
fn opening(records: &[Record]) -> Opening {
    let any = |opening| records.iter().any(|record| record.opening == opening);
    if any(Opening::Seen) {
        Opening::Seen
    } else if any(Opening::Unstated) {
        Opening::Unstated
    } else {
        Opening::Missing
    }
}

/// Numbers of the interfaces or switches of a file, from 1.
#[derive(Debug, Default)]
pub(super) struct Observers(BTreeMap<String, u32>);

impl Observers {
    pub(super) fn number(&mut self, lines: &Text<'_>, name: Option<&str>) -> Result<u32, InputError> {
        let Some(name) = name else { return Ok(0) };
        if let Some(&number) = self.0.get(name) {
            return Ok(number);
        }
        if self.0.len() == MAX_OBSERVERS {
            let what = format!("there are more than {MAX_OBSERVERS} interfaces or switches");
            return Err(lines.error("", what, "Import a part of the file"));
        }
        let number = self.0.len() as u32 + 1;
        self.0.insert(name.to_owned(), number);
        Ok(number)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Parses the address in a cell.
pub(super) fn address(cell: &str) -> Result<IpAddr, &'static str> {
    cell.parse().map_err(|_| "an address is unreadable")
}

/// Parses the address of a destination, or returns why flows to it are not listed.
pub(super) fn destination(cell: &str) -> Result<IpAddr, &'static str> {
    let address = address(cell)?;
    let group = match address {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_multicast(),
    };
    if group { Err("the destination is a multicast or broadcast address") } else { Ok(address) }
}

/// Parses a number of bytes or packets, below 2^47.
pub(super) fn count(cell: &str) -> Result<i64, &'static str> {
    let number = digits(cell).filter(|&number| number < 1 << 47);
    number.map(|number| number as i64).ok_or("a number is unreadable")
}

/// Checks that packets can have carried the bytes of a record: at most 65535 each.
pub(super) fn carried(bytes: i64, packets: Option<i64>) -> Result<(), &'static str> {
    match packets {
        Some(packets) if packets.saturating_mul(65_535) < bytes => {
            Err("the bytes are more than its packets can carry")
        }
        _ => Ok(()),
    }
}

/// Parses the port in a cell, 0 if there is none.
pub(super) fn port(cell: Option<&str>) -> Result<u16, &'static str> {
    cell.map_or(Ok(0), |cell| cell.parse().map_err(|_| "a port is unreadable"))
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;

    use super::*;
    use crate::import::Options;

    #[test]
    fn packets_of_a_flow_take_the_memory_of_one() {
        let options = Options::default();
        let mut into = Collector::new(&options);
        let mut records = Records::new(&into);
        let mut none: &[u8] = b"";
        let text: &mut dyn BufRead = &mut none;
        let lines = Text::new(text, "x");
        let ends =
            Key { src: End(0), dst: End(1), ports: [1, 2], protocol: Protocol::Tcp, base: 0, observer: 0 };
        let gap = GAP_PS as i64;
        // 1000 packets a gap apart, one that comes late, and one a picosecond too far away.
        let starts = (0..1000).map(|nth| nth * gap).chain([gap / 2, 1000 * gap + 1]);
        for start in starts {
            let packet = Record { key: ends, start, end: start, payload: 10, opening: Opening::Missing };
            records.push_packet(&lines, &mut into, packet).unwrap();
        }
        let kept: Vec<(i64, i64, i64)> =
            records.list.iter().map(|record| (record.start, record.end, record.payload)).collect();
        let last = 1000 * gap + 1;
        assert_eq!(kept, [(0, 999 * gap, 10_010), (last, last, 10)]);
        assert_eq!(into.merged, 1000);
    }
}

//! The rows of a trace: one per packet and hop, one per reading of the sender's state.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use priolane_core::packet::{Kind, Marks};
use priolane_sim::trace::{Fate, Hop, Loss, Marking, Service, Trace, TracedPacket, Turn};

use crate::results::columns::{Column, known, maybe};
use crate::results::rows::{bools, f64s, texts, u8s, u32s, u64s};

static HOPS: [Column; 28] = [
    known(
        "packet",
        DataType::UInt32,
        "1",
        "number of the packet, in the order in which the hosts' transports made them",
    ),
    known("hop", DataType::UInt8, "1", "number of the port on the packet's way, 0 at the host that sends it"),
    known("kind", DataType::Utf8, "", "data, ack, syn, syn_ack, credit, probe or signal"),
    known("src", DataType::UInt32, "1", "the host that sent the packet"),
    known("dst", DataType::UInt32, "1", "the host it goes to"),
    known(
        "offset",
        DataType::UInt64,
        "B",
        "offset of its payload in the flow's stream; of an ack: first byte not yet received",
    ),
    known("payload", DataType::UInt32, "B", "its payload"),
    known("wire", DataType::UInt32, "B", "what it takes on a link, with every header, padding and gap"),
    known(
        "again",
        DataType::Boolean,
        "",
        "whether any of its payload, or a packet of its kind in the handshake, was sent before",
    ),
    known("made_ps", DataType::UInt64, "ps", "when the sending host's transport made it"),
    known("port", DataType::Utf8, "", "the port of this hop, named as in ports.parquet"),
    known("link", DataType::UInt32, "1", "the link that leaves the port, its number in the topology"),
    known("class", DataType::UInt8, "1", "its class on the wire, 0 is served first"),
    known("host_level", DataType::UInt8, "1", "its level inside the sending host, 0 is served first"),
    known(
        "queue",
        DataType::UInt8,
        "1",
        "the queue of the port that its class goes to; at a host, its level",
    ),
    known("queued_ps", DataType::UInt64, "ps", "when it came to the port"),
    known(
        "ahead_packets",
        DataType::UInt32,
        "1",
        "packets it found waiting in the port, the one on the line not counted",
    ),
    known(
        "ahead_bytes",
        DataType::UInt64,
        "B",
        "bytes it found waiting in the port, on the wire, the packet on the line not counted",
    ),
    maybe("start_ps", DataType::UInt64, "ps", "when its first bit was sent; null if it was not"),
    maybe(
        "end_ps",
        DataType::UInt64,
        "ps",
        "when its last bit was sent and the line was free again; null if it was not sent",
    ),
    maybe(
        "arrived_ps",
        DataType::UInt64,
        "ps",
        "when its last bit arrived at the other end of the link; null if it did not",
    ),
    known("ecn", DataType::Boolean, "", "whether its sender understands marks"),
    known("congested", DataType::Boolean, "", "whether it left the port with the congestion mark"),
    known("marked", DataType::Boolean, "", "whether this port set the congestion mark"),
    known("echo", DataType::Boolean, "", "of an ack: whether it tells the sender of a mark"),
    known(
        "fate",
        DataType::Utf8,
        "",
        "arrived, dropped, lost; sent (on the link) or waiting (in the port) at the end of the run",
    ),
    maybe(
        "reason",
        DataType::Utf8,
        "",
        "why it came no further: no room in the port, random loss of the link, end of the run; null if it did",
    ),
    maybe(
        "delivered_ps",
        DataType::UInt64,
        "ps",
        "when the receiving host's transport was given it, its processing included; null if it was not",
    ),
];

static STATE: [Column; 3] = [
    known("t_ps", DataType::UInt64, "ps", "instant of the reading, since the start of the run"),
    known(
        "metric",
        DataType::Utf8,
        "",
        "what the flow's sender knew, the unit in the name: acked_bytes, cwnd_bytes, in_flight_bytes, srtt_ps, rto_ps, \
         ssthresh_bytes, alpha (1), as far as its transport has it",
    ),
    known(
        "value",
        DataType::Float64,
        "see metric",
        "the reading: after each packet from the receiver, and whenever it had changed",
    ),
];

/// The rows of hops, by packet and hop; `about` goes into the schema's metadata.
pub(super) fn hops(trace: &Trace, ports: &[String], about: &BTreeMap<String, String>) -> RecordBatch {
    let mut rows: Vec<Row> = Vec::with_capacity(trace.hops.len());
    let mut taken = vec![0u8; trace.packets.len()];
    for hop in &trace.hops {
        let place = &mut taken[hop.packet as usize];
        rows.push(Row { packet: &trace.packets[hop.packet as usize], place: *place, hop });
        *place = place.saturating_add(1);
    }
    rows.sort_by_key(|row| (row.hop.packet, row.place));
    let port = |row: &Row| ports.get(row.hop.link.index()).map(String::as_str);
    let mut arrays = packet_columns(&rows);
    arrays.push(texts(rows.iter().map(port)));
    arrays.extend(hop_columns(&rows));
    RecordBatch::try_new(schema(&HOPS, about), arrays).expect("invariant: HOPS and the arrays here agree")
}

/// The rows of state, in order of time.
pub(super) fn state(trace: &Trace, about: &BTreeMap<String, String>) -> RecordBatch {
    let rows = &trace.state;
    let arrays = vec![
        u64s(rows.iter().map(|r| Some(r.at.0))),
        texts(rows.iter().map(|r| Some(r.metric))),
        f64s(rows.iter().map(|r| Some(r.value))),
    ];
    RecordBatch::try_new(schema(&STATE, about), arrays).expect("invariant: STATE and the arrays here agree")
}

fn schema(columns: &[Column], about: &BTreeMap<String, String>) -> SchemaRef {
    let fields: Vec<Field> = columns.iter().map(Column::field).collect();
    Arc::new(Schema::new_with_metadata(fields, about.clone()))
}

/// A hop with its packet and its place on the packet's way.
#[derive(Clone, Copy)]
struct Row<'a> {
    packet: &'a TracedPacket,
    place: u8,
    hop: &'a Hop,
}

impl Row<'_> {
    fn service(&self) -> Option<Service> {
        self.hop.fate.service()
    }
}

/// Columns up to `made_ps`.
fn packet_columns(rows: &[Row]) -> Vec<ArrayRef> {
    let header = |row: &Row| row.packet.header;
    vec![
        u32s(rows.iter().map(|r| Some(r.hop.packet))),
        u8s(rows.iter().map(|r| Some(r.place))),
        texts(rows.iter().map(|r| Some(kind(header(r).kind)))),
        u32s(rows.iter().map(|r| Some(u32::from(header(r).src.0)))),
        u32s(rows.iter().map(|r| Some(u32::from(header(r).dst.0)))),
        u64s(rows.iter().map(|r| Some(header(r).offset.get()))),
        u32s(rows.iter().map(|r| Some(u32::from(header(r).payload)))),
        u32s(rows.iter().map(|r| Some(u32::from(header(r).wire)))),
        bools(rows.iter().map(|r| Some(r.packet.turn == Turn::Again))),
        u64s(rows.iter().map(|r| Some(r.packet.made.0))),
    ]
}

/// Columns from `link` on.
fn hop_columns(rows: &[Row]) -> Vec<ArrayRef> {
    let header = |row: &Row| row.packet.header;
    let hops = || rows.iter().map(|row| row.hop);
    vec![
        u32s(hops().map(|h| Some(h.link.0))),
        u8s(rows.iter().map(|r| Some(header(r).class))),
        u8s(rows.iter().map(|r| Some(header(r).host_level))),
        u8s(hops().map(|h| Some(h.queue))),
        u64s(hops().map(|h| Some(h.queued.0))),
        u32s(hops().map(|h| Some(h.ahead.packets))),
        u64s(hops().map(|h| Some(h.ahead.bytes))),
        u64s(rows.iter().map(|r| r.service().map(|s| s.start.0))),
        u64s(rows.iter().map(|r| r.service().map(|s| s.end.0))),
        u64s(hops().map(|h| h.fate.arrived().map(|at| at.0))),
        bools(hops().map(|h| Some(h.marks.has(Marks::ECN_CAPABLE)))),
        bools(hops().map(|h| Some(h.marks.has(Marks::CONGESTED)))),
        bools(hops().map(|h| Some(h.marking == Marking::Marked))),
        bools(hops().map(|h| Some(h.marks.has(Marks::ECHO)))),
        texts(hops().map(|h| Some(fate(&h.fate).0))),
        texts(hops().map(|h| fate(&h.fate).1)),
        u64s(rows.iter().map(|r| r.packet.delivered.map(|at| at.0))),
    ]
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Data => "data",
        Kind::Ack => "ack",
        Kind::Syn => "syn",
        Kind::SynAck => "syn_ack",
        Kind::Credit => "credit",
        Kind::Probe => "probe",
        Kind::Signal => "signal",
        Kind::Pause => "pause",
    }
}

/// A fate and its reason.
fn fate(fate: &Fate) -> (&'static str, Option<&'static str>) {
    match fate {
        Fate::Arrived { .. } => ("arrived", None),
        Fate::Dropped => ("dropped", Some("no room in the port")),
        Fate::Expired => ("expired", Some("waited too long in the port")),
        Fate::Lost { by: Loss::Chance, .. } => ("lost", Some("random loss of the link")),
        Fate::Lost { by: Loss::Down, .. } => ("lost", Some("the link was down")),
        Fate::Sent(_) => ("sent", Some("end of the run")),
        Fate::Waiting => ("waiting", Some("end of the run")),
    }
}

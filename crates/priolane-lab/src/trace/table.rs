//! The rows of a trace: one per packet and hop, and one per sample of a sender's state.

use std::collections::BTreeMap;

use priolane_core::packet::{Kind, Marks};
use priolane_sim::trace::{Fate, Hop, Loss, Marking, Reading, Trace, TracedPacket, Transmission};

use priolane_results::{RecordBatch, column, row};

row! {
    /// A row of a trace: a packet at a port.
    pub(super) struct HopRow<'a> {
        flow: u32, "1", "flow of the packet: its line in flows.parquet";
        packet: u32, "1",
            "number of the packet, in the order in which the transports of the hosts created them";
        hop: u8, "1",
            "number of the port on the path of the packet; 0 at the sending host";
        kind: &'a str, "", "data, ack, syn, syn_ack, credit, probe or signal";
        src: u32, "1", "host that sent the packet";
        dst: u32, "1", "destination host";
        offset: u64, "B",
            "offset of its payload in the stream of the flow; for an ack, the first byte not yet received";
        payload: u32, "B", "payload bytes";
        wire: u32, "B",
            "bytes on a link, including all headers, padding and gap";
        again: bool, "",
            "whether it is a retransmission: any of its payload, or the same packet of the handshake, was \
             sent before";
        made_ps: u64, "ps", "when the transport of the sending host created it";
        port: &'a str, "", "port of this hop, named as in ports.parquet";
        link: u32, "1", "number of the port's link in the topology";
        class: u8, "1", "class on the wire; 0 is served first";
        host_level: u8, "1", "level inside the sending host; 0 is served first";
        queue: u8, "1",
            "queue of the port for its class; at a host, its level";
        queued_ps: u64, "ps", "when it arrived at the port";
        ahead_packets: u32, "1",
            "packets in the queue of the port at its arrival, without the packet in transmission";
        ahead_bytes: u64, "B",
            "bytes on the wire in the queue of the port at its arrival, without the packet in transmission";
        start_ps: Option<u64>, "ps", "when its first bit was sent; null if it was not";
        end_ps: Option<u64>, "ps",
            "when its last bit was sent and the link was free again; null if it was not sent";
        arrived_ps: Option<u64>, "ps",
            "when its last bit arrived at the other end of the link; null if it did not";
        removed_ps: Option<u64>, "ps",
            "when it was dropped or expired in the port; null if it was sent, or waited at the end of the run";
        ecn: bool, "", "whether its sender supports ECN marks";
        congested: bool, "", "whether it left the port with the congestion mark";
        marked: bool, "", "whether this port set the congestion mark";
        echo: bool, "", "for an ack, whether it echoes a mark to the sender";
        fate: &'a str, "",
            "arrived, dropped, expired, lost; sent (on the link) or waiting (in the port) at the end of the run";
        reason: Option<&'a str>, "",
            "why it did not reach the next node: no room in the port, random loss of the link, end of the \
             run; null if it did";
        delivered_ps: Option<u64>, "ps",
            "when it was delivered to the transport of the receiving host, after processing; null if it was \
             not";
    }
}

row! {
    /// A sample of the state of a flow's sender.
    pub(super) struct StateRow<'a> {
        flow: u32, "1", "flow: its line in flows.parquet";
        t_ps: u64, "ps", "time of the reading, since the start of the run";
        metric: &'a str, "",
            "state variable of the flow's sender, with the unit in its name: acked_bytes, cwnd_bytes, \
             in_flight_bytes, srtt_ps, rto_ps, timeouts (1), ssthresh_bytes, alpha (1), if its transport has \
             it";
        value: f64, "see metric",
            "value of the reading: after each packet from the receiver, and after each change";
    }
}

/// Returns the rows of hops, by packet and hop; `about` goes into the schema's metadata.
pub(super) fn hops(trace: &Trace, ports: &[String], about: &BTreeMap<String, String>) -> RecordBatch {
    let mut rows: Vec<HopRow> = Vec::with_capacity(trace.hops.len());
    let mut taken = vec![0u8; trace.packets.len()];
    for hop in &trace.hops {
        let place = &mut taken[hop.packet as usize];
        let port = ports.get(hop.link.index()).map_or("", String::as_str);
        rows.push(HopRow { hop: *place, port, ..hop_row(&trace.packets[hop.packet as usize], hop) });
        *place = place.saturating_add(1);
    }
    rows.sort_by_key(|row| (row.packet, row.hop));
    column::batch(&rows, about.clone())
}

/// Returns the rows of state, in order of time.
pub(super) fn state(trace: &Trace, about: &BTreeMap<String, String>) -> RecordBatch {
    let row = |reading: &Reading| StateRow {
        flow: reading.flow.0,
        t_ps: reading.at.0,
        metric: reading.metric,
        value: reading.value,
    };
    column::batch(&trace.state.iter().map(row).collect::<Vec<_>>(), about.clone())
}

/// Returns the row of a packet's hop, without its hop number and port.
fn hop_row(packet: &TracedPacket, hop: &Hop) -> HopRow<'static> {
    let (header, service) = (packet.header, hop.fate.service());
    let (fate, reason) = fate(&hop.fate);
    HopRow {
        flow: header.flow.0,
        packet: hop.packet,
        hop: 0,
        kind: kind(header.kind),
        src: header.src.0.into(),
        dst: header.dst.0.into(),
        offset: header.offset.get(),
        payload: header.payload.into(),
        wire: header.wire.into(),
        again: packet.turn == Transmission::Again,
        made_ps: packet.made.0,
        port: "",
        link: hop.link.0,
        class: header.class,
        host_level: header.host_level,
        queue: hop.queue,
        queued_ps: hop.queued.0,
        ahead_packets: hop.ahead.packets,
        ahead_bytes: hop.ahead.bytes,
        start_ps: service.map(|service| service.start.0),
        end_ps: service.map(|service| service.end.0),
        arrived_ps: hop.fate.arrived().map(|at| at.0),
        removed_ps: hop.removed.map(|at| at.0),
        ecn: hop.marks.has(Marks::ECN_CAPABLE),
        congested: hop.marks.has(Marks::CONGESTED),
        marked: hop.marking == Marking::Marked,
        echo: hop.marks.has(Marks::ECHO),
        fate,
        reason,
        delivered_ps: packet.delivered.map(|at| at.0),
    }
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

/// Returns the name and reason of a fate.
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

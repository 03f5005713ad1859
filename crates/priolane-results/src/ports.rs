//! `ports.parquet`: one row per egress port, class and queue that saw a packet.

use std::collections::BTreeMap;

use priolane_sim::outcome::PortClassRecord;
use priolane_sim::topology::Topology;

use crate::row;

row! {
    /// A row of `ports.parquet`: an egress port, class and queue that saw a packet.
    pub struct PortRow<'a> {
        port: &'a str, "",
            "the egress port, named by the nodes its link joins: leaf0->spine1";
        link: u32, "1", "the link's number in the topology";
        class: u8, "1", "class on the wire, 0 is served first";
        queue: u8, "1", "queue of the port that served the class";
        packets: u64, "1", "packets served";
        bytes: u64, "B", "bytes served, on the wire";
        dropped: u64, "1", "packets dropped for want of room";
        marked: u64, "1", "packets marked with congestion experienced";
        lost: u64, "1", "packets lost on the link after they were served";
        inversions: u64, "1",
            "packets served while a packet of a better (smaller) class waited in the same port";
        waited_mean_ps: Option<f64>, "ps",
            "mean time from arrival at the port to start of service; null if no packet was served";
        trimmed: u64, "1",
            "packets whose payload was cut off here; they go on as headers";
        expired: u64, "1",
            "packets (tokens) discarded here as they had waited too long";
        paused_ps: u64, "ps", "how long the next switch held the class back here (PFC)";
    }
}

/// The row of `record`; `ports` are names by link.
pub(crate) fn row_of<'a>(record: &PortClassRecord, ports: &'a [String]) -> PortRow<'a> {
    let served = record.packets;
    PortRow {
        port: &ports[record.link.index()],
        link: record.link.0,
        class: record.class,
        queue: record.queue,
        packets: served,
        bytes: record.bytes,
        dropped: record.dropped,
        marked: record.marked,
        lost: record.lost,
        inversions: record.inversions,
        waited_mean_ps: (served > 0).then(|| record.waited as f64 / served as f64),
        trimmed: record.trimmed,
        expired: record.expired,
        paused_ps: record.paused.0,
    }
}

/// The name of every egress port, by link: `leaf0->spine1`; a second link between the same nodes is
/// `leaf0->spine1#2`.
pub fn port_names(topology: &Topology) -> Vec<String> {
    let mut seen: BTreeMap<_, u32> = BTreeMap::new();
    let name = |node: u32| topology.names.get(node as usize).cloned().unwrap_or_else(|| format!("n{node}"));
    let named = |link: &priolane_sim::topology::Link| {
        let count = seen.entry((link.from, link.to)).or_default();
        *count += 1;
        let plain = format!("{}->{}", name(link.from.0), name(link.to.0));
        if *count == 1 { plain } else { format!("{plain}#{count}") }
    };
    topology.links.iter().map(named).collect()
}

//! `ports.parquet`: one row per egress port, class and queue with packets.

use std::collections::BTreeMap;

use priolane_sim::outcome::PortClassRecord;
use priolane_sim::topology::Topology;

use crate::row;

row! {
    /// A row of `ports.parquet`: an egress port, class and queue with packets.
    pub struct PortRow<'a> {
        port: &'a str, "",
            "egress port, named by the two nodes of its link: leaf0->spine1";
        link: u32, "1", "number of the link in the topology";
        class: u8, "1", "class on the wire; 0 is served first";
        queue: u8, "1", "queue of the port that served the class";
        packets: u64, "1", "packets served";
        bytes: u64, "B", "bytes served, as on the wire";
        dropped: u64, "1", "packets dropped because the buffer was full";
        marked: u64, "1", "packets marked with congestion experienced";
        lost: u64, "1", "packets lost on the link after service";
        inversions: u64, "1",
            "packets served while a packet of a higher-priority (smaller) class was queued in the same port";
        waited_mean_ps: Option<f64>, "ps",
            "mean time from arrival at the port to start of service; null if no packet was served";
        trimmed: u64, "1",
            "packets whose payload was trimmed here; they continue as headers";
        expired: u64, "1",
            "packets (tokens) discarded here because they expired";
        paused_ps: u64, "ps", "time for which the next switch paused the class here (PFC)";
    }
}

/// Returns the row of `record`; `ports` are names by link.
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

/// Returns the names of all egress ports, by link: `leaf0->spine1`; a second link between the same nodes is
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

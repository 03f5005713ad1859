//! `run.json`: what a run was, what it counted, and what its flows add up to.
//!
//! No clock time and no engine is in it: the same run gives the same bytes anywhere. Its last member is a checksum of
//! the file (`checksum`).

use std::collections::BTreeMap;
use std::io;

use priolane_core::ids::{CLASSES, Class};
use priolane_sim::outcome::{Ledger, Outcome, PacketCount, PortClassRecord};
use priolane_sim::scenario::ScenarioSpec;
use priolane_workload::{Counts, LoadOf};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::admission::AdmissionRecord;
use crate::checksum::with_checksum;
use crate::summary::{
    CoflowSummary, EffectiveRecord, OrderRecord, PortSet, PortSummary, RateRecord, Summary,
};
use crate::tokens::{ReceivedRecord, TokenRecord};

/// The name of the file that makes a run whole: it is written last.
pub const FILE: &str = "run.json";

/// A run as `run.json` tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run's id, which is also its directory's name.
    pub run: String,
    /// Version of priolane and of its results.
    pub version: String,
    /// Title of the experiment.
    pub title: String,
    /// The scheme that was run.
    pub scheme: String,
    /// The sweep point: value by dotted key.
    pub point: BTreeMap<String, Value>,
    /// The seed of its random streams.
    pub seed: u64,
    /// The merged experiment.
    pub merged: Value,
    /// The digest of its tables (see `digest`).
    pub digest: String,
    /// When the run stopped, in picoseconds.
    pub stopped_at_ps: u64,
    /// Totals over the run.
    pub counters: Counters,
    /// Load asked for and offered.
    pub load: LoadRecord,
    /// What to check before trusting the run.
    pub warnings: Vec<String>,
    /// "Are my priorities honoured?": over all ports, by class and serving queue.
    pub priorities: Vec<PriorityRow>,
    /// What admission did; null without an admission policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionRecord>,
    /// Packets and bytes by class, from making to end; classes that saw no packet are left out.
    pub ledger: Vec<LedgerRow>,
    /// What the measured flows add up to, by size class; `all` always exists.
    pub summary: BTreeMap<String, Summary>,
    /// What the measured coflows add up to, by class; left out where no flow belongs to one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coflows: BTreeMap<String, CoflowSummary>,
    /// Rates of flows without end, where senders report them (`rates_every`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<RateRecord>,
    /// What timely flows bring through the declared bottleneck (`metrics.effective`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<EffectiveRecord>,
    /// What priorities cost at a port, where ports are read (`sample_every`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderRecord>,
    /// What sets of ports add up to.
    #[serde(default)]
    pub ports: BTreeMap<PortSet, PortSummary>,
    /// Payload that reached hosts.
    #[serde(default)]
    pub received: ReceivedRecord,
    /// What became of tokens; null where the transport has none that ports limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenRecord>,
    /// The other files of the run's directory.
    pub files: Vec<FileRecord>,
}

impl RunRecord {
    /// The text of `run.json`, its checksum included.
    ///
    /// # Errors
    /// A value has no form in JSON.
    pub fn to_text(&self) -> io::Result<String> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        with_checksum(&text).ok_or_else(|| io::Error::other("a run's record is a JSON object"))
    }
}

/// A file of a run's directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its content, as 64 hexadecimal digits.
    pub sha256: String,
}

/// Totals over a run. None depends on the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets put on a link.
    pub packet_hops: u64,
    /// Packets dropped for want of room.
    pub drops: u64,
    /// Packets marked with congestion experienced, once per marking port.
    pub marks: u64,
    /// Packets lost on links.
    pub lost: u64,
    /// Packets sent again.
    pub retransmits: u64,
    /// Packets that a switch had no way for, as links had failed.
    #[serde(default)]
    pub unrouted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Flows of the run.
    pub flows: u64,
    /// Flows that were delivered whole.
    pub completed: u64,
    /// Flows without end.
    pub endless: u64,
}

impl Counters {
    /// The totals of `outcome`.
    pub fn of(scenario: &ScenarioSpec, outcome: &Outcome) -> Self {
        let ports = |value: fn(&PortClassRecord) -> u64| outcome.ports.iter().map(value).sum();
        let flows = &outcome.flows;
        Self {
            packet_hops: outcome.work.packet_hops,
            drops: outcome.ledger.dropped.iter().map(|t| t.packets).sum(),
            marks: ports(|p| p.marked),
            lost: outcome.ledger.lost.iter().map(|t| t.packets).sum(),
            unrouted: outcome.ledger.unrouted.iter().map(|t| t.packets).sum(),
            retransmits: flows.iter().map(|f| u64::from(f.retransmits)).sum(),
            timeouts: flows.iter().map(|f| u64::from(f.timeouts)).sum(),
            flows: flows.len() as u64,
            completed: flows.iter().filter(|f| f.fct.is_some()).count() as u64,
            endless: scenario.flows.iter().filter(|f| f.size.is_none()).count() as u64,
        }
    }
}

/// Load as a fraction of capacity: asked for by the experiment and offered by the flow list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// Asked for; null unless exactly one group asks for a load.
    pub asked: Option<f64>,
    /// Payload offered to the hosts' links.
    pub offered_host: Option<f64>,
    /// Payload offered to the core.
    pub offered_core: Option<f64>,
    /// Asked and offered load of the groups that ask for one, measured as they ask for it: one entry for each way of
    /// measuring. Groups whose load changes are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<Demand>,
}

/// A load that groups ask for together, and what their flows offer in the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// What it is a share of: the links of the groups' hosts, or the core.
    pub of: LoadOf,
    /// Which bytes count.
    pub counts: Counts,
    /// The load asked for, mean over the window.
    pub asked: f64,
    /// The load offered.
    pub offered: f64,
}

/// How one queue served one class, over all ports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorityRow {
    /// The class on the wire, 0 is served first.
    pub asked: Class,
    /// The queue that served it.
    pub served: u8,
    /// Flows that asked for this class (the same in every row of the class).
    pub flows: u64,
    /// Packets served.
    pub packets: u64,
    /// Bytes served.
    pub bytes: u64,
    /// Packets served while a packet of a better class waited in the same port.
    pub inversions: u64,
    /// `inversions / packets`; 0 where no packet was served.
    pub share: f64,
}

/// The "are my priorities honoured?" table, by class, then queue.
pub fn priorities(outcome: &Outcome) -> Vec<PriorityRow> {
    let mut flows = [0_u64; CLASSES];
    for flow in &outcome.flows {
        flows[usize::from(flow.class.asked) % CLASSES] += 1;
    }
    let mut rows: BTreeMap<(Class, u8), PriorityRow> = BTreeMap::new();
    for port in &outcome.ports {
        let flows = flows[usize::from(port.class) % CLASSES];
        let (asked, served) = (port.class, port.queue);
        let fresh = PriorityRow { asked, served, flows, packets: 0, bytes: 0, inversions: 0, share: 0.0 };
        let row = rows.entry((asked, served)).or_insert(fresh);
        row.packets += port.packets;
        row.bytes += port.bytes;
        row.inversions += port.inversions;
    }
    let mut rows: Vec<PriorityRow> = rows.into_values().collect();
    for row in rows.iter_mut().filter(|row| row.packets > 0) {
        row.share = row.inversions as f64 / row.packets as f64;
    }
    rows
}

/// Packets and bytes of one class. `made` is the sum of the others, or the run would have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The class on the wire.
    pub class: Class,
    /// Given to the network by transports.
    pub made: Count,
    /// Taken by transports.
    pub delivered: Count,
    /// Dropped at ports.
    pub dropped: Count,
    /// Dropped at switches that had no way to their destination, as links had failed.
    #[serde(default)]
    pub unrouted: Count,
    /// Lost on links.
    pub lost: Count,
    /// In queues or on links at the end.
    pub resident: Count,
    /// Trimmed at ports: packets, which count in one of the other ways besides, and the bytes cut off them.
    #[serde(default, skip_serializing_if = "Count::is_zero")]
    pub trimmed: Count,
    /// Discarded at ports as they had waited too long.
    #[serde(default, skip_serializing_if = "Count::is_zero")]
    pub expired: Count,
}

/// A number of packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Count {
    fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl From<PacketCount> for Count {
    fn from(tally: PacketCount) -> Self {
        Self { packets: tally.packets, bytes: tally.bytes }
    }
}

impl LedgerRow {
    /// Whether what was made is what was delivered, dropped, lost, left and, of bytes, cut off.
    pub fn conserved(&self) -> bool {
        let cut = Count { packets: 0, ..self.trimmed };
        let ends = [self.delivered, self.dropped, self.unrouted, self.lost, self.expired, self.resident, cut];
        let sum = |value: fn(&Count) -> u64| ends.iter().map(|c| u128::from(value(c))).sum::<u128>();
        sum(|c| c.packets) == u128::from(self.made.packets) && sum(|c| c.bytes) == u128::from(self.made.bytes)
    }
}

/// The ledger by class, classes that saw no packet left out.
pub fn ledger(ledger: &Ledger) -> Vec<LedgerRow> {
    let row = |class: usize| LedgerRow {
        class: class as Class,
        made: ledger.made[class].into(),
        delivered: ledger.delivered[class].into(),
        dropped: ledger.dropped[class].into(),
        unrouted: ledger.unrouted[class].into(),
        lost: ledger.lost[class].into(),
        resident: ledger.resident[class].into(),
        trimmed: ledger.trimmed[class].into(),
        expired: ledger.expired[class].into(),
    };
    let used = |row: &LedgerRow| {
        [row.made, row.delivered, row.dropped, row.unrouted, row.lost, row.resident]
            .iter()
            .any(|&c| c != Count::default())
    };
    (0..CLASSES).map(row).filter(used).collect()
}

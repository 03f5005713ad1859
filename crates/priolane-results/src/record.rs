//! `run.json`: the identity of a run, its counters, and the summary of its flows.
//!
//! It contains no clock time and no engine: the same run yields the same bytes anywhere. Its last member is a checksum
//! of the file (`checksum`).

use std::collections::BTreeMap;
use std::io;

use priolane_core::ids::{CLASSES, Class};
use priolane_sim::outcome::{Ledger, Outcome, PacketCount, PortClassRecord, StormRecord};
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::Topology;
use priolane_workload::{Counts, LoadOf};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::admission::AdmissionRecord;
use crate::checksum::with_checksum;
use crate::jobs::JobRecord;
use crate::ports::port_names;
use crate::steady::SteadySummary;
use crate::summary::{
    CoflowSummary, EffectiveRecord, OrderRecord, PortSet, PortSummary, RateRecord, Summary,
};
use crate::tokens::{ReceivedRecord, TokenRecord};

/// The name of the file that marks a run as complete: it is written last.
pub const FILE: &str = "run.json";

/// The record of a run in `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run's id, which is also its directory's name.
    pub run: String,
    /// Version of priolane and of its results.
    pub version: String,
    /// Title of the experiment.
    pub title: String,
    /// The scheme of the run.
    pub scheme: String,
    /// The sweep point: values by dotted key.
    pub point: BTreeMap<String, Value>,
    /// The seed of its random streams.
    pub seed: u64,
    /// The merged experiment.
    pub merged: Value,
    /// The digest of its tables (see `digest`).
    pub digest: String,
    /// The time at which the run stopped, in picoseconds.
    pub stopped_at_ps: u64,
    /// Totals over the run.
    pub counters: Counters,
    /// Requested and offered load.
    pub load: LoadRecord,
    /// Settings of the scheme that may not be meant on the network of the run; the report shows them as warnings of the
    /// experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Warnings about the run.
    pub warnings: Vec<String>,
    /// Service of priorities over all ports, by class and queue.
    pub priorities: Vec<PriorityRow>,
    /// Results of admission control; null without an admission policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionRecord>,
    /// Conservation of packets and bytes by class; classes without packets are omitted.
    pub ledger: Vec<LedgerRow>,
    /// Summary of the measured flows, by size class; `all` always exists.
    pub summary: BTreeMap<String, Summary>,
    /// The flows in the measured window, by size class, if arrivals continue; means in `summary` are then these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steady: BTreeMap<String, SteadySummary>,
    /// Summary of the measured coflows, by class; omitted if no flow belongs to one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coflows: BTreeMap<String, CoflowSummary>,
    /// Times of jobs, by class that states groups; omitted if no group is a job.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, JobRecord>,
    /// Rates of endless flows, if senders report them (`rates_every`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<RateRecord>,
    /// Throughput of flows that meet their deadlines at the declared bottleneck (`metrics.effective`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<EffectiveRecord>,
    /// Cost of priorities at a port, if ports are sampled (`sample_every`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderRecord>,
    /// Summaries of sets of ports.
    #[serde(default)]
    pub ports: BTreeMap<PortSet, PortSummary>,
    /// Storms that watchdogs of lossless classes found (PFC), by port and class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storms: Vec<StormRow>,
    /// Payload that reached hosts.
    #[serde(default)]
    pub received: ReceivedRecord,
    /// Outcomes of tokens; null if the transport has no tokens that ports limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenRecord>,
    /// The place where the run was measured; null if it was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredRecord>,
    /// The other files of the run's directory.
    pub files: Vec<FileRecord>,
}

impl RunRecord {
    /// Returns the text of `run.json`, including its checksum.
    ///
    /// # Errors
    /// A value cannot be represented in JSON.
    pub fn to_text(&self) -> io::Result<String> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        with_checksum(&text).ok_or_else(|| io::Error::other("the record of a run must be a JSON object"))
    }
}

/// The way in which a run was measured on real hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredRecord {
    /// The kind of the hosts: `linux` for network namespaces of one machine, `machines` for several machines.
    pub on: String,
    /// Rates were divided, and times multiplied, by this. Times in tables are divided again.
    pub scale: u64,
    /// The machines, if they are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<MachineRecord>,
}

/// A machine of a run on several, and its clock in the machine's time, which `scale` does not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// Its name.
    pub name: String,
    /// The hosts that it ran.
    pub hosts: Vec<u16>,
    /// The time by which the machine's clock was ahead of that of the machine that controlled the run, before the run,
    /// in nanoseconds.
    pub clock_offset_ns: i64,
    /// The same after the run.
    pub clock_offset_after_ns: i64,
    /// The largest error of each offset: half of its round trip, the larger of both, in nanoseconds.
    pub clock_uncertainty_ns: u64,
}

/// A file of a run's directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its name.
    pub name: String,
    /// Its length, in bytes.
    pub bytes: u64,
    /// SHA-256 of its content, as 64 hexadecimal digits.
    pub sha256: String,
}

/// Totals over a run, independent of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets transmitted, counted once per link.
    pub packet_hops: u64,
    /// Packets dropped for lack of room; null where nobody counts them: on real hosts behind a network that is not of the run.
    pub drops: Option<u64>,
    /// Packets marked CE, counted once per marking port.
    pub marks: u64,
    /// Packets lost on links.
    pub lost: u64,
    /// Retransmitted packets.
    pub retransmits: u64,
    /// Packets without a route at a switch, because links had failed.
    #[serde(default)]
    pub unrouted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Number of flows of the run.
    pub flows: u64,
    /// Number of flows that were fully delivered.
    pub completed: u64,
    /// Number of endless flows.
    pub endless: u64,
}

impl Counters {
    /// Returns the totals of `outcome`.
    pub fn of(scenario: &ScenarioSpec, outcome: &Outcome) -> Self {
        let ports = |value: fn(&PortClassRecord) -> u64| outcome.ports.iter().map(value).sum();
        let flows = &outcome.flows;
        Self {
            packet_hops: outcome.work.packet_hops,
            drops: Some(outcome.ledger.dropped.iter().map(|t| t.packets).sum()),
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

/// Load as a fraction of capacity: requested by the experiment and offered by the flow list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// Requested load; null unless exactly one group requests a load.
    pub asked: Option<f64>,
    /// Load offered to the hosts' links.
    pub offered_host: Option<f64>,
    /// Load offered to the core.
    pub offered_core: Option<f64>,
    /// Requested and offered load of the groups that request one, by definition of load. Groups with varying load are
    /// omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<Demand>,
}

/// A load that groups request together, and the load that their flows offer in the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The capacity that it relates to: the links of the groups' hosts, or the core.
    pub of: LoadOf,
    /// The bytes that count.
    pub counts: Counts,
    /// The requested load, averaged over the window.
    pub asked: f64,
    /// The load offered.
    pub offered: f64,
}

/// Service of one class by one queue, over all ports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorityRow {
    /// The class on the wire, 0 is served first.
    pub asked: Class,
    /// The queue of the class.
    pub served: u8,
    /// Flows that requested this class (the same in every row of the class).
    pub flows: u64,
    /// Packets served.
    pub packets: u64,
    /// Bytes served.
    pub bytes: u64,
    /// Packets served while a packet of a better class waited in the same port.
    pub inversions: u64,
    /// `inversions / packets`; 0 without packets.
    pub share: f64,
}

/// Returns the service of priorities, by class, then queue.
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

/// Storms of one class at one egress port, which its watchdog found (PFC).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StormRow {
    /// The egress port, named by the two nodes of its link.
    pub port: String,
    /// The class.
    pub class: Class,
    /// The number of storms.
    pub storms: u64,
    /// Packets that the watchdog dropped, which are among those dropped there.
    pub dropped: u64,
}

/// Returns the storms of an outcome in the network of `topology`.
pub fn storms(outcome: &Outcome, topology: &Topology) -> Vec<StormRow> {
    if outcome.storms.is_empty() {
        return Vec::new();
    }
    let ports = port_names(topology);
    let row = |of: &StormRecord| StormRow {
        port: ports[of.link.index()].clone(),
        class: of.class,
        storms: of.storms,
        dropped: of.dropped.packets,
    };
    outcome.storms.iter().map(row).collect()
}

/// Conservation of the packets and bytes of one class. `made` is the sum of the others, otherwise the run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The class on the wire.
    pub class: Class,
    /// Sent by transports.
    pub made: Count,
    /// Received by transports.
    pub delivered: Count,
    /// Dropped at ports.
    pub dropped: Count,
    /// Dropped at switches without a route to the destination, because links had failed.
    #[serde(default)]
    pub unrouted: Count,
    /// Lost on links.
    pub lost: Count,
    /// In queues or on links at the end.
    pub resident: Count,
    /// Trimmed at ports: packets, which also count in one of the other members, and the trimmed bytes.
    #[serde(default, skip_serializing_if = "Count::is_zero")]
    pub trimmed: Count,
    /// Expired at ports.
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
    /// Returns whether packets and bytes are conserved: the sent ones equal those delivered, dropped, unrouted, lost,
    /// expired and resident, and for bytes also trimmed.
    pub fn is_conserved(&self) -> bool {
        let cut = Count { packets: 0, ..self.trimmed };
        let ends = [self.delivered, self.dropped, self.unrouted, self.lost, self.expired, self.resident, cut];
        let sum = |value: fn(&Count) -> u64| ends.iter().map(|c| u128::from(value(c))).sum::<u128>();
        sum(|c| c.packets) == u128::from(self.made.packets) && sum(|c| c.bytes) == u128::from(self.made.bytes)
    }
}

/// Returns the ledger by class, without classes that have no packets.
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

//! Commands to a host process and its answers: one JSON object per line.
//!
//! ```text
//! stdin    HostJob       greet         start NANOSECONDS (CLOCK_REALTIME)       stop
//! stdout          ready       greeted        done (all sent has an outcome)          HostReport
//! ```

use std::collections::BTreeMap;
use std::net::SocketAddr;

use priolane_core::assign::{Count, DemotionThresholds};
use priolane_core::endpoint::{BaseDelay, PathInfo};
use priolane_core::units::{Rate, Span};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::admission_job::{AdmissionEvent, AdmissionJob, AdmittedFlow};
use crate::plan::Plan;

/// The UDP port of all hosts of a testbed, and the usual first one of a machine that runs several.
pub const PORT: u16 = 7_077;

/// How long a flow lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowKind {
    /// Until it is delivered.
    #[default]
    Message,
    /// Until the run ends or it is aborted: it has more bytes than can arrive until then. Its receiver counts it and keeps nothing.
    Endless,
}

/// A message of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its number, unique in the run.
    pub id: u32,
    /// The host that sends it.
    pub src: u16,
    /// The host that receives it.
    pub dst: u16,
    /// Its bytes, at least 1.
    pub bytes: u64,
    /// How long it lasts.
    #[serde(default)]
    pub kind: FlowKind,
    /// When it is sent, in nanoseconds since the start of the run.
    pub start_ns: u64,
    /// The class that it asks for, 0 to 15: its class, but under admission.
    pub class: u8,
    /// The time within which it should arrive, in nanoseconds.
    pub deadline_ns: Option<u64>,
    /// The group of the experiment that it is of.
    #[serde(default)]
    pub group: u16,
    /// Its minimum rate in bit/s.
    pub theta_bps: Option<u64>,
    /// Its weight in thousandths, at least 1.
    pub w_milli: u32,
}

/// A change to a flow that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Its class from now on, 0 to 15.
    Class(u8),
    /// What it pays for from now on.
    Weights {
        /// Its minimum rate in bit/s.
        theta_bps: Option<u64>,
        /// Its weight in thousandths, at least 1.
        w_milli: u32,
    },
    /// Nothing more of it is sent.
    Abort,
}

/// A change to a flow at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowChange {
    /// When, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// The flow.
    pub flow: u32,
    /// The change.
    pub change: Change,
}

/// Bins of time, from the start of a run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bins {
    /// How long each is, in nanoseconds, at least 1.
    pub every_ns: u64,
    /// How many there are; what arrives later is not counted.
    pub count: u32,
}

/// Levels by bytes sent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// Thresholds in bytes; none for one level.
    pub thresholds: Vec<u64>,
    /// Whether retransmissions count as well.
    pub count_retransmissions: bool,
}

impl Ladder {
    /// As the endpoints have it; `None` if there are more than 15 thresholds, or one is below the one before.
    pub fn demotion(&self) -> Option<DemotionThresholds> {
        let count = if self.count_retransmissions { Count::BytesSent } else { Count::StreamOffset };
        DemotionThresholds::new(&self.thresholds, count)
    }
}

/// The order in which a host sends its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One packet of each in turn.
    RoundRobin,
    /// By levels.
    Mlfq,
    /// The one with the fewest bytes left first.
    Srpt,
    /// The one with the fewest bytes sent first.
    Las,
}

/// What hosts speak.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemeJob {
    /// The `transport` row of a scheme: `kind` and its keys.
    pub transport: Map<String, Value>,
    /// The order of messages.
    pub order: Order,
    /// What is added to a message's class.
    pub class: Ladder,
    /// The level inside the host, for `mlfq`.
    pub host_level: Ladder,
    /// Whether packets carry their rank, for switches that sort by it.
    pub ranks: bool,
    /// What decides at each host which class a message gets; `None` if it gets the one that it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionJob>,
}

/// What a host knows of the path to any other: that to the farthest, on an idle network, with the wake-ups of processes on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathJob {
    /// Its cables.
    pub hops: u32,
    /// The rate of its slowest cable, in bit/s.
    pub rate_bps: u64,
    /// One way for a full packet, in nanoseconds.
    pub data_ns: u64,
    /// One way for a packet without payload, in nanoseconds.
    pub control_ns: u64,
}

impl PathJob {
    /// As transports have it.
    pub fn info(&self) -> PathInfo {
        let [data, control] = [self.data_ns, self.control_ns].map(Span::from_ns);
        let delay = |one_way| BaseDelay { one_way, round_trip: one_way + control };
        PathInfo {
            hops: Some(self.hops),
            rate: Rate::from_bps(self.rate_bps),
            data: Some(delay(data)),
            control: Some(delay(control)),
            send_jitter: Span::ZERO,
        }
    }
}

/// The job of a host process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostJob {
    /// The host.
    pub host: u16,
    /// Where each host is bound.
    pub addresses: Vec<SocketAddr>,
    /// By host, for how long its datagrams are held back: the propagation delay from there, in nanoseconds.
    pub delays_ns: Vec<u64>,
    /// What all speak.
    pub scheme: SchemeJob,
    /// The rate of the host's line, in bit/s.
    pub line_bps: u64,
    /// What is known of paths; `None` if transports are to measure what they need.
    pub path: Option<PathJob>,
    /// Bytes of the largest IP packet.
    pub mtu: u16,
    /// The real-time priority of its threads, if the system permits one.
    pub real_time: Option<u8>,
    /// The messages that it sends or receives.
    pub flows: Vec<Flow>,
    /// Changes of those that it sends.
    #[serde(default)]
    pub changes: Vec<FlowChange>,
    /// By which it counts the endless flows that it receives; `None` if nobody asks.
    #[serde(default)]
    pub bins: Option<Bins>,
}

/// A message that was sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentMessage {
    /// The message.
    pub id: u32,
    /// When it was handed over, or first held back, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// What it got of admission; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admitted: Option<AdmittedFlow>,
    /// When its sender knew that it had arrived; `None` if it did not.
    pub acked_ns: Option<u64>,
    /// Packets that were sent again.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Changes that were applied to it: of its class, its weights, or its abort.
    #[serde(default)]
    pub changes: u32,
    /// Why it failed, if it did; not if the run aborted it.
    pub failed: Option<String>,
}

/// A message that arrived.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrivedMessage {
    /// The message.
    pub id: u32,
    /// When its last byte came, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Bytes that its sender gave up.
    pub missing: u64,
}

/// How much of an endless flow arrived.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowProgress {
    /// The flow.
    pub id: u32,
    /// Bytes that came for the first time, by bin.
    pub bytes: Vec<u64>,
}

/// What a host process answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostReport {
    /// The host.
    pub host: u16,
    /// Messages that it sent, in order of their starts.
    pub sent: Vec<SentMessage>,
    /// Messages that arrived, in order of arrival.
    pub arrived: Vec<ArrivedMessage>,
    /// Endless flows that it received, if bins were asked for.
    #[serde(default)]
    pub progress: Vec<FlowProgress>,
    /// Messages that arrived with other bytes than were sent, or that no flow is.
    pub wrong: u64,
    /// Whether its threads were real-time, and why not: `None` if they were.
    pub not_real_time: Option<String>,
    /// What the host counted.
    pub counts: BTreeMap<String, u64>,
    /// What its admission was asked and told, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub admission: Vec<AdmissionEvent>,
}

impl HostReport {
    /// Of a host that sent and received nothing.
    pub fn empty(host: u16) -> Self {
        Self {
            host,
            sent: Vec::new(),
            arrived: Vec::new(),
            progress: Vec::new(),
            wrong: 0,
            not_real_time: None,
            counts: BTreeMap::new(),
            admission: Vec::new(),
        }
    }
}

impl HostJob {
    /// Where host `host` is bound in the testbeds of this crate.
    pub fn testbed_address(host: u16) -> SocketAddr {
        SocketAddr::new(Plan::address(host).into(), PORT)
    }

    /// Where host `host` is bound.
    pub fn socket(&self, host: u16) -> Option<SocketAddr> {
        self.addresses.get(usize::from(host)).copied()
    }
}

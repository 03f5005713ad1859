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
use crate::plan::TestbedPlan;

/// The UDP port of all hosts of a testbed, and the default first port on a machine with several hosts.
pub const PORT: u16 = 7_077;

/// The duration of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowKind {
    /// The flow lasts until it is delivered.
    #[default]
    Message,
    /// The flow lasts until the run ends or the flow is aborted, because it has more bytes than can arrive until then.
    /// The receiver counts the bytes and keeps none.
    Endless,
}

/// A message of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The number of the flow, unique in the run.
    pub id: u32,
    /// The host that sends the flow.
    pub src: u16,
    /// The host that receives the flow.
    pub dst: u16,
    /// The length in bytes, at least 1.
    pub bytes: u64,
    /// The duration of the flow.
    #[serde(default)]
    pub kind: FlowKind,
    /// The time at which the flow is sent, in nanoseconds since the start of the run.
    pub start_ns: u64,
    /// The class that the flow asks for, 0 to 15. Without admission, the flow gets this class.
    pub class: u8,
    /// The time within which the flow should arrive, in nanoseconds; `None` for no deadline.
    pub deadline_ns: Option<u64>,
    /// The index of the flow's group in the experiment.
    #[serde(default)]
    pub group: u16,
    /// The minimum rate in bit/s; `None` for none.
    pub theta_bps: Option<u64>,
    /// The weight in thousandths, at least 1.
    pub w_milli: u32,
}

/// A change to a flow that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The class from now on, 0 to 15.
    Class(u8),
    /// The minimum rate and weight from now on.
    Weights {
        /// The minimum rate in bit/s; `None` for none.
        theta_bps: Option<u64>,
        /// The weight in thousandths, at least 1.
        w_milli: u32,
    },
    /// Aborts the flow: no further bytes are sent.
    Abort,
}

/// A change to a flow at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowChange {
    /// The time of the change, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// The number of the flow.
    pub flow: u32,
    /// The change that is made.
    pub change: Change,
}

/// Time bins that follow one another from the start of a run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bins {
    /// The length of a bin in nanoseconds, at least 1.
    pub every_ns: u64,
    /// The number of bins. Bytes that arrive after the last bin are not counted.
    pub count: u32,
}

/// Levels of a message by its bytes sent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// The thresholds in bytes, in ascending order, at most 15. An empty list makes a single level.
    pub thresholds: Vec<u64>,
    /// Whether retransmissions count as well.
    pub count_retransmissions: bool,
}

impl Ladder {
    /// Returns the thresholds in the form that endpoints use, or `None` if there are more than 15, or if they do not
    /// ascend.
    pub fn demotion(&self) -> Option<DemotionThresholds> {
        let count = if self.count_retransmissions { Count::BytesSent } else { Count::StreamOffset };
        DemotionThresholds::new(&self.thresholds, count)
    }
}

/// The order in which a host sends its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Sends one packet of each message in turn.
    RoundRobin,
    /// Sends messages by their levels.
    Mlfq,
    /// Sends the message with the fewest remaining bytes first.
    Srpt,
    /// Sends the message with the fewest bytes sent first.
    Las,
}

/// The scheme of all hosts: the transport, and how hosts order and classify messages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemeJob {
    /// The `transport` part of a scheme: `kind` and its keys.
    pub transport: Map<String, Value>,
    /// The order in which messages are sent.
    pub order: Order,
    /// The increment of a message's class by its bytes sent.
    pub class: Ladder,
    /// The level of a message inside the host, for `mlfq`.
    pub host_level: Ladder,
    /// Whether packets carry their rank, for switches that sort by rank.
    pub ranks: bool,
    /// The admission policy that decides the class of each message; `None` if each message gets the class that it asks
    /// for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionJob>,
}

/// The properties of a path that a host is given for all other hosts: those of the path to the farthest one, on an idle
/// network, including the wake-ups of processes on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathJob {
    /// The number of cables on the path.
    pub hops: u32,
    /// The rate of the slowest cable, in bit/s.
    pub rate_bps: u64,
    /// The one-way delay of a full packet, in nanoseconds.
    pub data_ns: u64,
    /// The one-way delay of a packet without payload, in nanoseconds.
    pub control_ns: u64,
}

impl PathJob {
    /// Returns the path in the form that transports use.
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
    /// The number of the host.
    pub host: u16,
    /// The address of each host.
    pub addresses: Vec<SocketAddr>,
    /// The time for which datagrams of each host are held back, by host: the propagation delay from that host, in
    /// nanoseconds.
    pub delays_ns: Vec<u64>,
    /// The scheme of all hosts.
    pub scheme: SchemeJob,
    /// The rate of the host's line, in bit/s.
    pub line_bps: u64,
    /// The known properties of paths; `None` if transports are to measure them.
    pub path: Option<PathJob>,
    /// The size of the largest IP packet in bytes.
    pub mtu: u16,
    /// The real-time priority of the host's threads, if the system permits one; `None` for none.
    pub real_time: Option<u8>,
    /// The messages that the host sends or receives.
    pub flows: Vec<Flow>,
    /// The changes of the messages that the host sends.
    #[serde(default)]
    pub changes: Vec<FlowChange>,
    /// The time bins in which the endless flows that the host receives are counted; `None` to count none.
    #[serde(default)]
    pub bins: Option<Bins>,
}

/// A message that was sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentMessage {
    /// The number of the message.
    pub id: u32,
    /// The time at which the message was handed over, or first held back, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// The outcome of admission; `None` without admission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admitted: Option<AdmittedFlow>,
    /// The time at which the sender knew that the message had arrived; `None` if it did not learn that.
    pub acked_ns: Option<u64>,
    /// The number of packets that were retransmitted.
    pub retransmits: u32,
    /// The number of retransmission timeouts.
    pub timeouts: u32,
    /// The number of changes that were applied to the message, including its abort.
    #[serde(default)]
    pub changes: u32,
    /// The reason why the message failed; `None` if it did not fail, or was aborted by the run.
    pub failed: Option<String>,
}

/// A message that arrived.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrivedMessage {
    /// The number of the message.
    pub id: u32,
    /// The time at which the last byte arrived, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// The number of bytes that the sender gave up.
    pub missing: u64,
}

/// The progress of an endless flow at its receiver.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowProgress {
    /// The number of the flow.
    pub id: u32,
    /// The number of bytes that arrived for the first time, by bin.
    pub bytes: Vec<u64>,
}

/// The report of a host process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostReport {
    /// The number of the host.
    pub host: u16,
    /// The messages that the host sent, in order of their starts.
    pub sent: Vec<SentMessage>,
    /// The messages that the host received, in order of arrival.
    pub arrived: Vec<ArrivedMessage>,
    /// The endless flows that the host received, if bins were requested.
    #[serde(default)]
    pub progress: Vec<FlowProgress>,
    /// The number of messages that arrived with other bytes than were sent, or that match no flow.
    pub wrong: u64,
    /// The reason why the host's threads were not real-time; `None` if they were.
    pub not_real_time: Option<String>,
    /// The counters of the host, by name.
    pub counts: BTreeMap<String, u64>,
    /// The calls of the host's admission policy, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub admission: Vec<AdmissionEvent>,
}

impl HostReport {
    /// Returns the report of a host that sent and received nothing.
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
    /// Returns the address of host `host` in the testbeds of this crate.
    pub fn testbed_address(host: u16) -> SocketAddr {
        SocketAddr::new(TestbedPlan::address(host).into(), PORT)
    }

    /// Returns the address of host `host`.
    pub fn socket(&self, host: u16) -> Option<SocketAddr> {
        self.addresses.get(usize::from(host)).copied()
    }
}

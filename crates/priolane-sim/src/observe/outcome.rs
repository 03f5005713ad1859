//! What a run leaves: one record per flow and per (port, class), samples, counters.

use priolane_core::admit::AdmissionState;
use priolane_core::endpoint::{CreditStats, PayloadStats, ThresholdSet};
use priolane_core::ids::{CLASSES, Class, FlowId, HostId, LinkId};
use priolane_core::units::{Span, Time};

use crate::observe::records::FlowRecords;
pub use crate::observe::records::{ClassSpan, FlowRecord, StartTime};

/// What the applications of a host were told of the classes of their flows, and what they did about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// Notices of a lower class than asked for, those that were answered by asking again included.
    pub downgraded: u64,
    /// Notices of a higher one.
    pub upgraded: u64,
    /// How often a flow was held back.
    pub deferrals: u64,
    /// How long altogether.
    pub held: Span,
    /// Flows that asked for a lower class than they would have, after a notice.
    pub reclassified: u64,
}

/// What one class saw at one egress port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortClassRecord {
    /// The port, named by the link that leaves it.
    pub link: LinkId,
    /// The class the packets carried.
    pub class: Class,
    /// The queue that served them.
    pub queue: u8,
    /// Packets served.
    pub packets: u64,
    /// Bytes served.
    pub bytes: u64,
    /// Packets dropped for want of room.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets lost on the link after they were served, by chance or because it was down.
    pub lost: u64,
    /// Packets whose payload was cut off here; they go on and may be served here.
    pub trimmed: u64,
    /// Packets (tokens) discarded here as they had waited too long.
    pub expired: u64,
    /// How long the next switch held the class back here (PFC).
    pub paused: Span,
    /// Packets served while a packet of a better (smaller) class waited in the same port.
    pub inversions: u64,
    /// Sum over packets of the time from arrival at the port to start of service.
    pub waited: u64,
}

/// What of payload waited at one egress port, over all classes. Ports where none waited have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortQueue {
    /// The port, named by the link that leaves it.
    pub link: LinkId,
    /// The most bytes that waited at once in the queues in which payload waits, the packet on the line not counted, up to
    /// 4 GB; 0 at hosts, where it is not asked.
    pub peak_bytes: u64,
    /// Sum over packets of payload, trimmed ones too, of the time from arrival at the port to start of service, in
    /// picoseconds.
    pub waited: u64,
}

/// Payload that reached the transports of hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Packets, whether they were new there or not, trimmed ones too.
    pub packets: u64,
    /// Payload bytes that arrived up to the planned start of the last flow of the list.
    pub early_bytes: u64,
    /// What the transports counted of it.
    pub stats: PayloadStats,
}

/// A reading of a port at one instant; a port that holds nothing and sent nothing since the last instant leaves none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// The port, named by its link.
    pub link: LinkId,
    /// Bytes queued, the packet on the line not counted.
    pub queued_bytes: u64,
    /// Packets queued, the packet on the line not counted.
    pub queued_packets: u32,
    /// Bytes on the wire of the packets put on the line since the instant of the last sample, that one left out and
    /// this one included.
    pub sent_bytes: u64,
}

/// What of the bytes of a [`Sample`] is of one class above 0; what is of none is class 0's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSample {
    /// When.
    pub at: Time,
    /// The port, named by its link.
    pub link: LinkId,
    /// The class.
    pub class: Class,
    /// Its bytes, above 0.
    pub sent_bytes: u64,
}

/// Readings of ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// Port by port.
    pub ports: Vec<Sample>,
    /// Class by class.
    pub classes: Vec<ClassSample>,
}

impl Readings {
    /// Takes all that is in `other`.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.ports.append(&mut other.ports);
        self.classes.append(&mut other.classes);
    }

    /// In canonical order.
    pub(crate) fn sort(&mut self) {
        self.ports.sort_by_key(|s| (s.at, s.link));
        self.classes.sort_by_key(|s| (s.at, s.link, s.class));
    }
}

/// What of a flow was acknowledged by an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// When its sender reports it.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// Payload bytes acknowledged since its start, by SACK blocks too.
    pub acked_bytes: u64,
}

/// New thresholds of all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdChange {
    /// When the hosts take them.
    pub at: Time,
    /// Of which ladder.
    pub of: ThresholdSet,
    /// In bytes.
    pub bytes: Vec<u64>,
}

/// Packets and bytes of one class, from making to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Given to the network by transports.
    pub made: [PacketCount; CLASSES],
    /// Taken by transports.
    pub delivered: [PacketCount; CLASSES],
    /// Dropped at ports.
    pub dropped: [PacketCount; CLASSES],
    /// Dropped at switches that had no way to their destination, as links had failed.
    pub unrouted: [PacketCount; CLASSES],
    /// Lost on links.
    pub lost: [PacketCount; CLASSES],
    /// Trimmed at ports: packets, each of which is delivered, dropped, lost or resident besides, and the bytes that
    /// were cut off.
    pub trimmed: [PacketCount; CLASSES],
    /// Discarded at ports as they had waited too long.
    pub expired: [PacketCount; CLASSES],
    /// In queues or on links at the end.
    pub resident: [PacketCount; CLASSES],
}

/// A number of packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCount {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// How much work a run was. `events` depends on the engine; nothing else here does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Packets put on a link.
    pub packet_hops: u64,
    /// Events the engine handled.
    pub events: u64,
}

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One record per flow, in the order of the flow list.
    pub flows: FlowRecords,
    /// Records of ports and classes that saw a packet, sorted by link, then class.
    pub ports: Vec<PortClassRecord>,
    /// Ports where payload waited, sorted by link.
    pub queues: Vec<PortQueue>,
    /// Payload that reached hosts.
    pub received: Received,
    /// What became of tokens at hosts, where the transport has tokens.
    pub tokens: Option<CreditStats>,
    /// Samples, sorted by instant, then link.
    pub samples: Readings,
    /// Reports of flows, sorted by instant, then flow; where the scenario asks for them.
    pub reports: Vec<FlowSample>,
    /// What the threshold controller told the hosts, in order of time.
    pub thresholds: Vec<ThresholdChange>,
    /// What the admission policy of each host that opened a flow has come to, in order of hosts; empty without one.
    pub admission: Vec<(HostId, AdmissionState)>,
    /// What the applications of each host and group were told of their flows' classes, in that order; empty without an
    /// admission policy.
    pub notices: Vec<(HostId, u16, Notices)>,
    /// Accounting by class.
    pub ledger: Ledger,
    /// Pauses (PFC) that wait for each other and will never end, as the links and classes held back, each waiting for
    /// the next and the last for the first; empty if there are none.
    pub deadlock: Vec<(LinkId, Class)>,
    /// Work done.
    pub work: Work,
    /// When the run stopped.
    pub stopped_at: Time,
}

/// Why a run cannot be trusted, or was not finished.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// An invariant does not hold: a defect of priolane or of a transport.
    #[error("{what} at {at:?}, {place}")]
    Violation {
        /// What is wrong.
        what: String,
        /// When.
        at: Time,
        /// Where.
        place: String,
    },
    /// The caller asked to stop.
    #[error("stopped by request")]
    Interrupted,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Flows completed.
    pub completed: u32,
    /// The last flow opened, as a measure of how far the flow list has been worked through.
    pub total: u32,
}

impl Received {
    /// One more packet, of which so many payload bytes were early.
    #[inline]
    pub(crate) fn add(&mut self, early: u16) {
        self.packets += 1;
        self.early_bytes += u64::from(early);
    }

    /// Adds `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.early_bytes += other.early_bytes;
        self.stats.merge(&other.stats);
    }
}

impl Ledger {
    /// Every packet made was delivered, dropped, lost or is still there: class by class, to the byte, those cut off
    /// included.
    pub(crate) fn check(&self, at: Time) -> Result<(), RunError> {
        for class in 0..CLASSES {
            let mut ended = PacketCount::default();
            let ways =
                [&self.delivered, &self.dropped, &self.unrouted, &self.lost, &self.expired, &self.resident];
            for part in ways {
                ended.packets += part[class].packets;
                ended.bytes += part[class].bytes;
            }
            ended.bytes += self.trimmed[class].bytes;
            if ended != self.made[class] {
                return Err(RunError::Violation {
                    what: format!(
                        "packets are not conserved: {:?} made, {ended:?} accounted for",
                        self.made[class]
                    ),
                    at,
                    place: format!("class {class}"),
                });
            }
        }
        Ok(())
    }
}

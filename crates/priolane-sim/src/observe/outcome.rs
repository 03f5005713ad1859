//! The outcome of a run: one record per flow and per (port, class), samples, counters.

use priolane_core::admit::AdmissionState;
pub use priolane_core::admit::Notices;
use priolane_core::endpoint::{CreditStats, PayloadStats, ThresholdSet};
use priolane_core::ids::{CLASSES, Class, FlowId, HostId, LinkId};
use priolane_core::units::{Span, Time};

use crate::observe::records::FlowRecords;
pub use crate::observe::records::{ClassSpan, FlowRecord, StartTime};

/// Counters of one class at one egress port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortClassRecord {
    /// The port, named by its link.
    pub link: LinkId,
    /// The class of the packets.
    pub class: Class,
    /// The queue of the class.
    pub queue: u8,
    /// Packets served.
    pub packets: u64,
    /// Bytes served.
    pub bytes: u64,
    /// Packets dropped for lack of room.
    pub dropped: u64,
    /// Packets marked (CE).
    pub marked: u64,
    /// Packets lost on the link after service, at random or because the link was down.
    pub lost: u64,
    /// Packets trimmed here; they continue and may be served here.
    pub trimmed: u64,
    /// Packets (tokens) that expired here.
    pub expired: u64,
    /// Total time for which the next switch paused the class here (PFC).
    pub paused: Span,
    /// Packets served while a packet of a better (smaller) class waited in the same port.
    pub inversions: u64,
    /// Sum over packets of the time from arrival at the port to start of service, in picoseconds.
    pub waited: u64,
}

/// Storms of one class at one egress port: pauses that lasted until its watchdog acted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StormRecord {
    /// The port, named by its link.
    pub link: LinkId,
    /// The class.
    pub class: Class,
    /// The number of storms.
    pub storms: u64,
    /// Packets that the watchdog dropped, which are among those dropped there.
    pub dropped: PacketCount,
}

/// Queueing of payload at one egress port, over all classes. Ports where no payload waited have no entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortQueue {
    /// The port, named by its link.
    pub link: LinkId,
    /// Peak bytes in the queues of payload, without the packet in transmission, up to 4 GB; 0 at hosts, where it is
    /// not measured.
    pub peak_bytes: u64,
    /// Sum over payload packets, including trimmed ones, of the time from arrival at the port to start of service, in
    /// picoseconds.
    pub waited: u64,
}

/// Payload that reached the transports of hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceivedPayload {
    /// Packets, including duplicates and trimmed packets.
    pub packets: u64,
    /// Payload bytes that arrived up to the planned start of the last flow of the list.
    pub early_bytes: u64,
    /// Counters of the transports.
    pub stats: PayloadStats,
}

/// A sample of a port. Ports without queued packets and without transmissions since the last sample have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The sample instant.
    pub at: Time,
    /// The port, named by its link.
    pub link: LinkId,
    /// Bytes queued, without the packet in transmission.
    pub queued_bytes: u64,
    /// Packets queued, without the packet in transmission.
    pub queued_packets: u32,
    /// Bytes on the wire of the packets whose transmission started after the last sample, up to and including this
    /// instant.
    pub sent_bytes: u64,
}

/// The bytes of a [`Sample`] that belong to one class above 0; the rest belongs to class 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSample {
    /// The sample instant.
    pub at: Time,
    /// The port, named by its link.
    pub link: LinkId,
    /// The class.
    pub class: Class,
    /// Its bytes, above 0.
    pub sent_bytes: u64,
}

/// Samples of ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// Samples by port.
    pub ports: Vec<Sample>,
    /// Samples by port and class.
    pub classes: Vec<ClassSample>,
}

impl Readings {
    /// Moves all samples of `other` here.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.ports.append(&mut other.ports);
        self.classes.append(&mut other.classes);
    }

    /// Sorts the samples into canonical order.
    pub(crate) fn sort(&mut self) {
        self.ports.sort_by_key(|s| (s.at, s.link));
        self.classes.sort_by_key(|s| (s.at, s.link, s.class));
    }
}

/// Acknowledged bytes of a flow at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// The time at which the sender reports the event.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// Payload bytes acknowledged since its start, including SACK blocks.
    pub acked_bytes: u64,
}

/// A change of the thresholds of all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdChange {
    /// The time at which hosts apply the change.
    pub at: Time,
    /// The set of thresholds.
    pub of: ThresholdSet,
    /// The thresholds in bytes.
    pub bytes: Vec<u64>,
}

/// Conservation of packets and bytes, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Sent by transports.
    pub made: [PacketCount; CLASSES],
    /// Received by transports.
    pub delivered: [PacketCount; CLASSES],
    /// Dropped at ports.
    pub dropped: [PacketCount; CLASSES],
    /// Dropped at switches without a route to the destination, because links had failed.
    pub unrouted: [PacketCount; CLASSES],
    /// Lost on links.
    pub lost: [PacketCount; CLASSES],
    /// Trimmed at ports: the packets, each of which is also delivered, dropped, lost or resident, and the trimmed
    /// bytes.
    pub trimmed: [PacketCount; CLASSES],
    /// Expired at ports.
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

/// The amount of work of a run. Only `events` depends on the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Packets put on a link.
    pub packet_hops: u64,
    /// Events the engine handled.
    pub events: u64,
}

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One record per flow, in the order of the flow list.
    pub flows: FlowRecords,
    /// Records of ports and classes that saw a packet, sorted by link, then class.
    pub ports: Vec<PortClassRecord>,
    /// Ports where payload waited, sorted by link.
    pub queues: Vec<PortQueue>,
    /// Payload that reached hosts.
    pub received: ReceivedPayload,
    /// Outcomes of tokens at hosts, if the transport has tokens.
    pub tokens: Option<CreditStats>,
    /// Samples, sorted by instant, then link.
    pub samples: Readings,
    /// Reports of flows, sorted by instant, then flow; empty unless the scenario requests them.
    pub flow_samples: Vec<FlowSample>,
    /// Updates of the threshold controller, in order of time.
    pub thresholds: Vec<ThresholdChange>,
    /// Final state of the admission policy of each host that opened a flow, in order of hosts; empty without a policy.
    pub admission: Vec<(HostId, AdmissionState)>,
    /// Notifications to the applications of each host and group, in that order; empty without an admission policy.
    pub notices: Vec<(HostId, u16, Notices)>,
    /// Accounting by class.
    pub ledger: Ledger,
    /// A cycle of pauses (PFC) that will never end, as paused links and classes, each waiting for the next and the
    /// last for the first; empty if there is none.
    pub deadlock: Vec<(LinkId, Class)>,
    /// Storms that watchdogs of lossless classes found (PFC), sorted by link, then class.
    pub storms: Vec<StormRecord>,
    /// Work done.
    pub work: Work,
    /// The time at which the run stopped.
    pub stopped_at: Time,
}

/// The reason why a run is invalid or was not finished.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// An invariant was violated: a defect of priolane or of a transport.
    #[error("{what} at {at:?}, {place}")]
    Violation {
        /// The mistake.
        what: String,
        /// The time at which the mistake was detected.
        at: Time,
        /// The place where the mistake was detected.
        place: String,
    },
    /// The caller requested a stop.
    #[error("the run was stopped by request")]
    Interrupted,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Flows completed.
    pub completed: u32,
    /// Number of finite flows.
    pub total: u32,
}

impl ReceivedPayload {
    /// Adds a packet of which `early` payload bytes are counted as early.
    #[inline]
    pub(crate) fn add(&mut self, early: u16) {
        self.packets += 1;
        self.early_bytes += u64::from(early);
    }

    /// Adds the counts of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.early_bytes += other.early_bytes;
        self.stats.merge(&other.stats);
    }
}

impl Ledger {
    /// Checks that every sent packet was delivered, dropped, lost or is resident, by class and to the byte, including
    /// trimmed bytes.
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
                        "packets are not conserved: {:?} created, {ended:?} accounted for",
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A ledger in which every count of every class is another one, and which is complete.
    fn complete() -> Ledger {
        let mut ledger = Ledger::default();
        for class in 0..CLASSES {
            let of = |n: u64| PacketCount {
                packets: 100 * n + class as u64,
                bytes: 90_000 * n + 7 * class as u64,
            };
            let [delivered, dropped, unrouted, lost, expired, resident, trimmed] =
                [1, 2, 3, 4, 5, 6, 7].map(of);
            ledger.delivered[class] = delivered;
            ledger.dropped[class] = dropped;
            ledger.unrouted[class] = unrouted;
            ledger.lost[class] = lost;
            ledger.expired[class] = expired;
            ledger.resident[class] = resident;
            ledger.trimmed[class] = trimmed;
            let ended = [delivered, dropped, unrouted, lost, expired, resident];
            ledger.made[class] = PacketCount {
                packets: ended.iter().map(|count| count.packets).sum(),
                bytes: ended.iter().map(|count| count.bytes).sum::<u64>() + trimmed.bytes,
            };
        }
        ledger
    }

    #[test]
    fn a_ledger_is_complete_to_the_packet_and_the_byte_of_every_class() {
        type Part = fn(&mut Ledger) -> &mut [PacketCount; CLASSES];
        let parts: [Part; 7] = [
            |ledger| &mut ledger.made,
            |ledger| &mut ledger.delivered,
            |ledger| &mut ledger.dropped,
            |ledger| &mut ledger.unrouted,
            |ledger| &mut ledger.lost,
            |ledger| &mut ledger.expired,
            |ledger| &mut ledger.resident,
        ];
        assert_eq!(complete().check(Time(9)), Ok(()));
        let is_refused = |ledger: Ledger, class: usize| match ledger.check(Time(9)) {
            Err(RunError::Violation { at, place, .. }) => (at, place) == (Time(9), format!("class {class}")),
            other => panic!("{other:?}"),
        };
        for class in 0..CLASSES {
            for part in parts {
                let mut ledger = complete();
                part(&mut ledger)[class].packets += 1;
                assert!(is_refused(ledger, class));
                let mut ledger = complete();
                part(&mut ledger)[class].bytes -= 1;
                assert!(is_refused(ledger, class));
            }
            let mut ledger = complete();
            ledger.trimmed[class].bytes += 1;
            assert!(is_refused(ledger, class));
        }
    }
}

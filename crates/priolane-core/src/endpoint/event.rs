//! Events that an endpoint reports to the applications and controllers of its host.

use crate::ids::{Class, FlowId, HostId};
use crate::units::{Span, Time};

/// An event that an endpoint reports to the host's applications and controllers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The last payload byte of a flow arrived at this endpoint, its receiver, or the endpoint learned that the last
    /// missing bytes will not arrive.
    Delivered {
        /// The sender of the flow.
        src: HostId,
        /// The flow, by its sender's identifier.
        flow: FlowId,
        /// The time at which the packet that completed the flow arrived (the rx stamp).
        at: Time,
        /// Payload bytes that the sender gave up; 0 for reliable transports.
        missing: u64,
    },
    /// This receiving host has more contiguous bytes from the start of a flow: all before `bytes`, except those that
    /// an unreliable sender gave up. The last such event precedes `Delivered`. Only on real hosts.
    Readable {
        /// The sender of the flow.
        src: HostId,
        /// The flow, by its sender's identifier.
        flow: FlowId,
        /// Payload bytes from the start of the flow; strictly increasing.
        bytes: u64,
    },
    /// A packet of payload arrived that this receiving host already had: a needless retransmission. Only of transports
    /// whose senders cannot tell a late packet from a lost one (pHost, NDP, Homa, and token transports).
    Duplicate {
        /// The flow, by its sender's identifier.
        flow: FlowId,
    },
    /// The state of an incoming flow was dropped: no data of it arrived for [`RealHost::idle`](super::RealHost::idle), or
    /// its sender does not send it any more. It will not be delivered. Only on real hosts.
    Forgotten {
        /// The sender of the flow.
        src: HostId,
        /// The flow, by its sender's identifier.
        flow: FlowId,
    },
    /// A packet of a flow that this host does not receive arrived. The driver tells the sender, which would otherwise
    /// retransmit for ever. Only on real hosts.
    Rejected {
        /// The sender of the flow.
        src: HostId,
        /// The flow, by its sender's identifier.
        flow: FlowId,
        /// The reason.
        why: Rejection,
    },
    /// This host has asked a sender for two bandwidth-delay products of data and received none. It asks for no more until
    /// data arrives. Only on real hosts.
    Unanswered {
        /// The sender.
        src: HostId,
    },
    /// The receiver of a flow has more contiguous bytes from its start; the sender will not retransmit those before
    /// `bytes`. Only on real hosts, and not for transports that acknowledge whole flows (pHost, Homa). The end of a
    /// flow is reported only by `Completed`.
    Acked {
        /// The flow.
        flow: FlowId,
        /// Payload bytes from the start of the flow; strictly increasing.
        bytes: u64,
    },
    /// The sender knows that a flow is fully delivered (or has stopped an unreliable flow).
    Completed(FlowReport),
    /// A monitor interval of a flow ended at its sender.
    Report(FlowReport),
    /// Admission changed the class of a flow's new packets.
    ClassChanged {
        /// The flow.
        flow: FlowId,
        /// The new class.
        class: Class,
    },
}

/// The reason why a host does not receive a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// The flow is longer than [`RealHost::longest`](super::RealHost::longest).
    TooLong,
    /// The flow was idle for too long, or was given up.
    GivenUp,
}

/// The properties of a flow that its *sender* can observe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowReport {
    /// The flow.
    pub flow: FlowId,
    /// Payload bytes acknowledged so far. Includes SACK blocks if the transport uses them, so that the repair of a
    /// loss causes no jump, and bytes that an unreliable transport gave up.
    pub bytes: u64,
    /// Payload bytes not yet acknowledged; 0 at completion, `u64::MAX` for an endless flow.
    pub remaining: u64,
    /// Mean goodput since the flow started, in bits per second.
    pub rate_bps: u64,
    /// Retransmitted payload bytes.
    pub retransmitted: u64,
    /// Retransmitted packets.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Those of them before the first sample of the round-trip time, which waited for the key `initial_rto`; 255 if
    /// there are more. 0 for transports without that key.
    pub initial_timeouts: u32,
    /// Those of them after which the reply to the original packet arrived (Eifel detection, RFC 3522): the packet was
    /// late and not lost. 0 for transports whose replies do not tell; see [`Event::Duplicate`].
    pub spurious: u32,
    /// Smoothed round-trip time; zero before the first sample.
    pub rtt: Span,
    /// Time since the application started the flow; at completion this is `fct_acked`.
    pub elapsed: Span,
    /// The class of the first payload packet.
    pub class_first: Class,
    /// The class of the payload packet sent last.
    pub class_last: Class,
}

/// Counters of an endpoint since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Credits of its flows; `None` for transports whose credits no port limits.
    pub credits: Option<CreditStats>,
    /// Payload that arrived at this host.
    pub payload: PayloadStats,
    /// Incoming flows that are not complete now; 0 in a simulator.
    pub receiving: u32,
}

/// Counts payload packets by order of arrival.
///
/// A packet is *reordered* if it begins before the end of the highest payload of its flow that arrived earlier
/// (Type-P-Reordered, RFC 4737 §3.3, with the packet's first byte, or its number in the flow, as the sequence number).
/// Only packets with new payload count: neither number includes duplicates, trimmed packets, or packets that the
/// receiver discards (out of order at a go-back-N receiver). A receiver cannot tell a late packet from a
/// retransmission, so a retransmission that fills a gap counts as reordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadStats {
    /// Packets with new payload.
    pub packets: u64,
    /// Packets with new payload that arrived reordered.
    pub reordered: u64,
}

impl PayloadStats {
    /// Counts a packet with new payload that begins at `start`. `highest` is the end of the highest payload of its
    /// flow that arrived earlier. Both are in bytes, or both in packets.
    #[inline]
    pub(crate) fn count(&mut self, start: u64, highest: u64) {
        self.packets += 1;
        self.reordered += u64::from(start < highest);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.reordered += other.reordered;
    }
}

/// Counts credits (tokens) by outcome: `issued` at the receivers of this host, the others at its senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditStats {
    /// Credits that receivers sent.
    pub issued: u64,
    /// Credits for which a sender sent a packet.
    pub used: u64,
    /// Credits that arrived when there was nothing to send.
    pub wasted: u64,
    /// Credits that expired before they arrived.
    pub expired: u64,
}

impl CreditStats {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.issued += other.issued;
        self.used += other.used;
        self.wasted += other.wasted;
        self.expired += other.expired;
    }
}

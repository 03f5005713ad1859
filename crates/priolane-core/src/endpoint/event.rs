//! What an endpoint tells the applications and controllers of its host.

use crate::ids::{Class, FlowId, HostId};
use crate::units::{Span, Time};

/// What an endpoint tells the host's applications and controllers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The last payload byte of a flow arrived at this, the receiving, endpoint, or it learned of the last that
    /// will not.
    Delivered {
        /// Its sender.
        src: HostId,
        /// The flow, as its sender calls it.
        flow: FlowId,
        /// When the packet that completed it arrived (the rx stamp).
        at: Time,
        /// Payload bytes that were given up before they arrived; 0 for reliable transports.
        missing: u64,
    },
    /// More bytes from the start of a flow are here, the receiving host: all before `bytes`, but for those that an
    /// unreliable sender gave up. The last one comes before `Delivered`. Only on real hosts.
    Readable {
        /// Its sender.
        src: HostId,
        /// The flow, as its sender calls it.
        flow: FlowId,
        /// Payload bytes from its start, more than ever before.
        bytes: u64,
    },
    /// State of a flow to this host was dropped for a new flow of the same sender: no packet of it came for
    /// [`RealHost::idle`](super::RealHost::idle). It will not be delivered. Only on real hosts.
    Forgotten {
        /// Its sender.
        src: HostId,
        /// The flow, as its sender calls it.
        flow: FlowId,
    },
    /// The receiver of a flow has more bytes from its start: its sender will not send those before `bytes` again. Only on
    /// real hosts, and not of transports that acknowledge whole flows (pHost, Homa). At the end only `Completed` says it.
    Acked {
        /// The flow.
        flow: FlowId,
        /// Payload bytes from its start, more than ever before.
        bytes: u64,
    },
    /// The sender of a flow knows all of it delivered (or stopped an unreliable one).
    Completed(FlowReport),
    /// A monitor interval of a flow ended at its sender.
    Report(FlowReport),
    /// The class a flow's new packets carry changed by admission.
    ClassChanged {
        /// The flow.
        flow: FlowId,
        /// The class from now on.
        class: Class,
    },
}

/// What the *sender* of a flow can observe of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowReport {
    /// The flow.
    pub flow: FlowId,
    /// Payload bytes acknowledged so far, by SACK blocks too where the transport uses them, so that the repair of a
    /// loss does not make them jump; those that an unreliable transport gave up included.
    pub bytes: u64,
    /// Payload bytes still to be acknowledged; 0 at completion, `u64::MAX` for a flow without end.
    pub remaining: u64,
    /// Mean goodput since the flow started, in bits per second.
    pub rate_bps: u64,
    /// Payload bytes sent again.
    pub retransmitted: u64,
    /// Packets sent again.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Smoothed round-trip time; zero before the first sample.
    pub rtt: Span,
    /// Time since the application started the flow; at completion this is `fct_acked`.
    pub elapsed: Span,
    /// The class of the first payload packet.
    pub class_first: Class,
    /// The class of the payload packet sent last.
    pub class_last: Class,
}

/// What an endpoint has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Credits of its flows; `None` for transports whose credits no port limits.
    pub credits: Option<CreditStats>,
    /// Payload that arrived here.
    pub payload: PayloadStats,
}

/// Packets of payload by the order in which they arrive.
///
/// A packet is *reordered* if it begins before the end of the highest payload of its flow that arrived before it
/// (Type-P-Reordered, RFC 4737 §3.3, with the packet's first byte, or its number in the flow, as the sequence number). Only
/// packets that bring new payload count: duplicates, trimmed packets, and packets that the receiver discards (out of order
/// at a go-back-N receiver) are in neither number. A receiver cannot tell a late packet from one that was sent again, so
/// a retransmission that fills a gap is reordered too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadStats {
    /// Packets that brought new payload.
    pub packets: u64,
    /// Those of them that arrived reordered.
    pub reordered: u64,
}

impl PayloadStats {
    /// Counts a packet with new payload that begins at `start`, where the highest payload of its flow that arrived before
    /// ends at `highest`: both in bytes, or both in packets.
    #[inline]
    pub(crate) fn count(&mut self, start: u64, highest: u64) {
        self.packets += 1;
        self.reordered += u64::from(start < highest);
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.reordered += other.reordered;
    }
}

/// Credits (tokens) by what became of them: those issued by receivers here, the others at senders here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditStats {
    /// Credits that receivers gave to the network.
    pub issued: u64,
    /// Credits on which a sender sent a packet.
    pub used: u64,
    /// Credits that found nothing to send.
    pub wasted: u64,
    /// Credits that arrived too old to be used.
    pub expired: u64,
}

impl CreditStats {
    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.issued += other.issued;
        self.used += other.used;
        self.wasted += other.wasted;
        self.expired += other.expired;
    }
}

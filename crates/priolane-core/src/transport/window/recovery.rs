//! What a sender knows of losses: which bytes are lost, and which of those were sent again. How ACKs and timeouts
//! change it is in `acks`.

use crate::transport::common::{Interval, Ranges};

/// Where a sender stands.
#[derive(Debug)]
pub(super) enum State {
    /// SYN sent, SYN/ACK awaited.
    Handshake,
    /// Nothing is known to be lost.
    Open,
    /// Losses are being repaired. Few flows are here at once, so that all others have no room for it.
    Recovery(Box<Recovery>),
}

/// A repair under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// It ends when everything below is acknowledged.
    pub(super) recover: u64,
    pub(super) kind: Kind,
    /// Everything lost below was sent again.
    pub(super) rexmit_next: u64,
    /// Everything missing below is lost.
    pub(super) edge: u64,
    /// Bytes missing in `rexmit_next..edge`: lost and not sent again.
    pub(super) lost_left: u64,
    /// Bytes that duplicate ACKs say have left the network (RFC 6582 §3.2); 0 with selective ACKs.
    pub(super) inflation: u64,
    first: First,
}

/// What began a repair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Fast,
    Timeout,
}

/// The retransmission that goes out whatever the window says (RFC 6675 §5 step 4.3, RFC 6582 §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum First {
    Due,
    Sent,
}

impl Recovery {
    pub(super) fn new(kind: Kind, recover: u64, una: u64) -> Self {
        Self { recover, kind, rexmit_next: una, edge: una, lost_left: 0, inflation: 0, first: First::Due }
    }

    /// Whether its next retransmission does not wait for the window.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.first == First::Due
    }

    /// Its next retransmission does not wait for the window.
    pub(super) fn send_at_once(&mut self) {
        self.first = First::Due;
    }

    /// A hole was sent again.
    pub(super) fn sent_again(&mut self, sent: Interval, sacked: &Ranges) {
        self.first = First::Sent;
        let Interval { start, end } = sent;
        self.lost_left -= sacked.missing(Interval { start, end: end.min(self.edge) });
        self.rexmit_next = end;
        self.edge = self.edge.max(end);
    }

    /// Whether the running count of lost bytes is what a recount finds.
    pub(super) fn counts_right(&self, sacked: &Ranges) -> bool {
        self.lost_left == sacked.missing(Interval { start: self.rexmit_next, end: self.edge })
    }

    /// `bytes` that were missing arrived.
    #[inline]
    pub(super) fn arrived(&mut self, bytes: Interval) {
        let open = Interval { start: self.rexmit_next, end: self.edge };
        self.lost_left -= bytes.overlap(open);
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn acknowledged(&mut self, una: u64) {
        self.rexmit_next = self.rexmit_next.max(una);
        self.edge = self.edge.max(una);
    }

    /// What is missing below `edge` is lost.
    pub(super) fn lose_to(&mut self, edge: u64, sacked: &Ranges) {
        let edge = edge.min(self.recover);
        if edge > self.edge {
            self.lost_left += sacked.missing(Interval { start: self.edge.max(self.rexmit_next), end: edge });
            self.edge = edge;
        }
    }
}

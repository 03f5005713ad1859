//! Loss state of a sender: which bytes are lost, and which of those were retransmitted. Module `acks` defines how
//! ACKs and timeouts change it.

use crate::transport::common::{Interval, Ranges};

/// The state of a sender.
#[derive(Debug)]
pub(super) enum State {
    /// SYN sent, SYN/ACK awaited.
    Handshake,
    /// No known losses.
    Open,
    /// Losses are being repaired. Boxed because few flows are in recovery at the same time.
    Recovery(Box<Recovery>),
}

/// A recovery in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// The recovery ends when everything below this is acknowledged.
    pub(super) recover: u64,
    pub(super) kind: Kind,
    /// Everything lost below this was retransmitted.
    pub(super) rexmit_next: u64,
    /// Everything missing below this is lost.
    pub(super) edge: u64,
    /// Bytes missing in `rexmit_next..edge`: lost and not retransmitted.
    pub(super) lost_left: u64,
    /// Bytes that left the network according to duplicate ACKs (RFC 6582 §3.2); 0 with selective ACKs.
    pub(super) inflation: u64,
    first: First,
}

/// The cause of a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Fast,
    Timeout,
}

/// Whether the retransmission that ignores the window was sent (RFC 6675 §5 step 4.3, RFC 6582 §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum First {
    Due,
    Sent,
}

impl Recovery {
    pub(super) fn new(kind: Kind, recover: u64, una: u64) -> Self {
        Self { recover, kind, rexmit_next: una, edge: una, lost_left: 0, inflation: 0, first: First::Due }
    }

    /// Returns true if the next retransmission ignores the window.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.first == First::Due
    }

    /// Lets the next retransmission ignore the window.
    pub(super) fn send_at_once(&mut self) {
        self.first = First::Due;
    }

    /// Records the retransmission of a hole.
    pub(super) fn sent_again(&mut self, sent: Interval, sacked: &Ranges) {
        self.first = First::Sent;
        let Interval { start, end } = sent;
        self.lost_left -= sacked.missing(Interval { start, end: end.min(self.edge) });
        self.rexmit_next = end;
        self.edge = self.edge.max(end);
    }

    /// Returns true if the running count of lost bytes matches a recount.
    pub(super) fn counts_right(&self, sacked: &Ranges) -> bool {
        self.lost_left == sacked.missing(Interval { start: self.rexmit_next, end: self.edge })
    }

    /// Records the arrival of `bytes`, which were missing.
    #[inline]
    pub(super) fn arrived(&mut self, bytes: Interval) {
        let open = Interval { start: self.rexmit_next, end: self.edge };
        self.lost_left -= bytes.overlap(open);
    }

    /// Records that everything below `una` is acknowledged.
    pub(super) fn acknowledged(&mut self, una: u64) {
        self.rexmit_next = self.rexmit_next.max(una);
        self.edge = self.edge.max(una);
    }

    /// Marks everything missing below `edge` as lost.
    pub(super) fn lose_to(&mut self, edge: u64, sacked: &Ranges) {
        let edge = edge.min(self.recover);
        if edge > self.edge {
            self.lost_left += sacked.missing(Interval { start: self.edge.max(self.rexmit_next), end: edge });
            self.edge = edge;
        }
    }
}

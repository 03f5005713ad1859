//! Loss state of a sender: which bytes are lost, and which of those were retransmitted. Module `acks` defines how
//! ACKs and timeouts change it.

use crate::transport::common::{Interval, Ranges, Stamp};
use crate::units::Time;

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
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    /// The recovery ends when everything below this is acknowledged.
    pub(super) recover: u64,
    pub(super) kind: Kind,
    /// Everything lost below this was retransmitted.
    pub(super) rexmit_next: u64,
    /// Everything missing below this is lost.
    pub(super) edge: u64,
    /// Bytes missing in `rexmit_next..edge`: lost and not retransmitted.
    lost_left: u64,
    /// Segments whose payload was trimmed, and which were not retransmitted since; none of them in `rexmit_next..edge`.
    trimmed: Ranges,
    /// Bytes that left the network according to duplicate ACKs (RFC 6582 §3.2); 0 with selective ACKs.
    pub(super) inflation: u64,
    /// Timeouts since data was last acknowledged; 0 once it is known whether they were spurious.
    expiries: u32,
    /// The time at which the first retransmission after those timeouts left; `Time::NEVER` before.
    resent_at: Time,
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
        Self {
            recover,
            kind,
            rexmit_next: una,
            edge: una,
            lost_left: 0,
            trimmed: Ranges::default(),
            inflation: 0,
            expiries: 0,
            resent_at: Time::NEVER,
            first: First::Due,
        }
    }

    /// Records the timeout that began this recovery, and those before it that `state` waits to judge.
    pub(super) fn expired_after(&mut self, state: &State) {
        let (before, resent_at) = match state {
            State::Recovery(earlier) if earlier.expiries > 0 => (earlier.expiries, earlier.resent_at),
            _ => (0, Time::NEVER),
        };
        (self.expiries, self.resent_at) = (before.saturating_add(1), resent_at);
    }

    /// Judges the timeouts by the first ACK of new data, which answers a packet that was sent at `sent_at`: they were
    /// spurious if that is the original packet (Eifel detection, RFC 3522 §3.2). Returns the number of spurious ones.
    pub(super) fn spurious_timeouts(&mut self, sent_at: Time) -> u32 {
        let expiries = std::mem::take(&mut self.expiries);
        // Stamps are rounded to ticks; the original left at least a timeout earlier.
        if sent_at + Stamp::TICK.times(2) < self.resent_at { expiries } else { 0 }
    }

    /// Returns the bytes that are lost and not retransmitted.
    #[inline(always)]
    pub(super) fn lost(&self) -> u64 {
        self.lost_left + self.trimmed.bytes()
    }

    /// Returns where the next retransmission begins.
    pub(super) fn next_hole(&self, sacked: &Ranges) -> u64 {
        self.trimmed.lowest().map_or_else(|| sacked.next_gap(self.rexmit_next), |first| first.start)
    }

    /// Records that the payload of `segment` was trimmed. Returns false if the segment was known to be lost.
    pub(super) fn trim(&mut self, segment: Interval) -> bool {
        let is_awaited = (self.rexmit_next..self.edge).contains(&segment.start);
        let is_new = !is_awaited && self.trimmed.holding(segment.start).is_none();
        if is_new {
            self.trimmed.insert(segment, |_| ());
        }
        is_new
    }

    /// Takes the segments whose payload was trimmed, which outlast the recovery.
    pub(super) fn take_trimmed(&mut self) -> Ranges {
        std::mem::take(&mut self.trimmed)
    }

    /// Lets retransmissions wait for the window, and begins with the segments `trimmed`.
    pub(super) fn repair_trimmed(&mut self, trimmed: Ranges) {
        self.first = First::Sent;
        self.trimmed = trimmed;
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
    pub(super) fn sent_again(&mut self, sent: Interval, now: Time, sacked: &Ranges) {
        self.first = First::Sent;
        self.resent_at = self.resent_at.min(now);
        let Interval { start, end } = sent;
        if self.trimmed.holding(start).is_some() {
            self.trimmed.remove(sent);
            return;
        }
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
        self.trimmed.remove(bytes);
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

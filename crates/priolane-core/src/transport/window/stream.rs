//! Connections: flows that a sender sends one after the other, as one stream of bytes with one congestion window.
//!
//! ```text
//!   open            all bytes before are sent        all bytes are acknowledged
//!  (none) ──▶ waiting ──────────────────▶ under way ────────────────────────▶ completed
//!
//! stream offset   begin of the flow + offset in the flow; a flow begins where the one before ends
//! segment         bytes of one flow
//! ACK             of the first flow under way: its cumulative offset and its SACKs
//!                 of a later one: a SACK of the bytes that arrived of it
//! ```
//!
//! Sequence numbers, loss recovery, round-trip estimate and controller belong to the stream, so they go on from flow to
//! flow. Packets carry the flow and the offset in it, so that receivers, switches and measurements see flows. If no data was
//! sent for longer than the retransmission timeout, the controller restarts (RFC 5681 §4.1).

use std::collections::VecDeque;

use super::classes::Classes;
use crate::endpoint::FlowRequest;
use crate::ids::FlowId;
use crate::transport::common::Interval;
use crate::units::Time;

/// Payload of the ACK of a flow, or of the stream: the cumulative offset, and SACK blocks as offsets from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acked {
    pub(super) cumulative: u64,
    pub(super) sack: [(u32, u32); 2],
}

/// A flow of a stream of which bytes may have been sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streamed {
    pub(super) id: FlowId,
    pub(super) start: Time,
    /// Its bytes in the stream.
    pub(super) bytes: Interval,
    /// Bytes that have arrived in order, as its receiver acknowledged.
    arrived: u64,
    /// The classes of its data, once all of it was sent.
    pub(super) classes: Classes,
    pub(super) end: End,
}

/// The way in which a flow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is reported once all its bytes are acknowledged.
    Completed,
    /// It was aborted, and is not reported.
    Aborted,
}

/// Counters of a connection that reports of its flows share out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) retransmitted: u64,
    pub(super) retransmits: u32,
    pub(super) timeouts: u32,
    pub(super) initial_timeouts: u32,
    pub(super) spurious: u32,
}

/// The flows of a connection at its sender.
#[derive(Debug)]
pub(super) struct Stream {
    /// The first flow, which names the connection.
    first: FlowId,
    /// Flows that have not begun, in the order in which they were opened.
    pub(super) waiting: VecDeque<FlowRequest>,
    /// Flows that have begun and are not completed, in the order of their bytes.
    pub(super) under_way: VecDeque<Streamed>,
    /// The counters as of the last report.
    pub(super) reported: Counted,
    /// The time at which data was sent last.
    pub(super) last_sent: Time,
}

impl Stream {
    /// Creates a connection that begins with `flow` at `now`.
    pub(super) fn of(flow: &FlowRequest, now: Time) -> Self {
        let mut stream = Self {
            first: flow.id,
            waiting: VecDeque::new(),
            under_way: VecDeque::new(),
            reported: Counted::default(),
            last_sent: now,
        };
        stream.begin(flow, 0);
        stream
    }

    /// Returns the number of `flow` above that of the first one, as data carries it.
    #[inline]
    pub(super) fn above_first(&self, flow: FlowId) -> u32 {
        flow.0.wrapping_sub(self.first.0)
    }

    pub(super) fn begin(&mut self, flow: &FlowRequest, at: u64) {
        self.under_way.push_back(Streamed {
            id: flow.id,
            start: flow.start,
            bytes: Interval { start: at, end: at.saturating_add(flow.size.unwrap_or(u64::MAX)) },
            arrived: 0,
            classes: Classes::asked(flow.class),
            end: End::Completed,
        });
    }

    /// Returns the flow under way that has the byte at stream offset `at`.
    #[inline]
    pub(super) fn holding(&self, at: u64) -> Option<&Streamed> {
        match self.under_way.back() {
            Some(last) if last.bytes.start <= at => Some(last),
            _ => self.under_way.get(self.under_way.partition_point(|flow| flow.bytes.end <= at)),
        }
    }

    /// Returns the flow under way with this id.
    pub(super) fn find(&self, id: FlowId) -> Option<&Streamed> {
        self.under_way.iter().find(|flow| flow.id == id)
    }

    /// Returns the ACK `acked` of the flow `id` as an ACK of the stream; `None` if the flow is not under way.
    pub(super) fn acknowledged(&mut self, id: FlowId, acked: Acked) -> Option<Acked> {
        let flow = self.under_way.iter_mut().find(|flow| flow.id == id)?;
        let (start, len) = (flow.bytes.start, flow.bytes.len());
        flow.arrived = flow.arrived.max(acked.cumulative.min(len));
        let cumulative = self.in_order();
        if cumulative >= start && acked.cumulative >= len {
            return Some(Acked { cumulative, sack: [(0, 0); 2] });
        }
        if cumulative >= start {
            // Below `una` if the ACK was overtaken by a later one.
            return Some(Acked { cumulative: start + acked.cumulative, sack: acked.sack });
        }
        let block = |from: u64, to: u64| {
            let offset = |at: u64| u32::try_from(at - cumulative).ok();
            offset(start + from).zip(offset(start + to)).filter(|(from, to)| from < to).unwrap_or((0, 0))
        };
        let [(from, to), _] = acked.sack;
        let beyond = |offset: u32| acked.cumulative + u64::from(offset);
        Some(Acked { cumulative, sack: [block(0, acked.cumulative), block(beyond(from), beyond(to))] })
    }

    /// Returns the stream offset below which all bytes have arrived.
    fn in_order(&self) -> u64 {
        let incomplete = self.under_way.iter().find(|flow| flow.arrived < flow.bytes.len());
        let last = || self.under_way.back().map_or(0, |flow| flow.bytes.end);
        incomplete.map_or_else(last, |flow| flow.bytes.start + flow.arrived)
    }

    /// Returns the request of a waiting flow; `None` if no waiting flow has this id.
    pub(super) fn waiting(&mut self, id: FlowId) -> Option<&mut FlowRequest> {
        self.waiting.iter_mut().find(|flow| flow.id == id)
    }
}

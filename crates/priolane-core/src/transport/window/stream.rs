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

use super::config::Config;
use super::controller::CongestionControl;
use super::sender::{Classes, Sender};
use crate::endpoint::{FlowReport, FlowRequest};
use crate::ids::{Class, FlowId};
use crate::transport::common::Interval;
use crate::units::{Time, bits_per_second};

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
    start: Time,
    /// Its bytes in the stream.
    pub(super) bytes: Interval,
    /// Bytes that have arrived in order, as its receiver acknowledged.
    arrived: u64,
    /// The classes of its data, once all of it was sent.
    classes: Classes,
    end: End,
}

/// The way in which a flow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It is reported once all its bytes are acknowledged.
    Completed,
    /// It was aborted, and is not reported.
    Aborted,
}

/// Counters of a connection that reports of its flows share out.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    retransmitted: u64,
    retransmits: u32,
    timeouts: u32,
    initial_timeouts: u32,
    spurious: u32,
}

/// The flows of a connection at its sender.
#[derive(Debug)]
pub(super) struct Stream {
    /// Flows that have not begun, in the order in which they were opened.
    waiting: VecDeque<FlowRequest>,
    /// Flows that have begun and are not completed, in the order of their bytes.
    under_way: VecDeque<Streamed>,
    /// The counters as of the last report.
    reported: Counted,
    /// The time at which data was sent last.
    last_sent: Time,
}

impl Stream {
    /// Creates a connection that begins with `flow` at `now`.
    pub(super) fn of(flow: &FlowRequest, now: Time) -> Self {
        let mut stream = Self {
            waiting: VecDeque::new(),
            under_way: VecDeque::new(),
            reported: Counted::default(),
            last_sent: now,
        };
        stream.begin(flow, 0);
        stream
    }

    fn begin(&mut self, flow: &FlowRequest, at: u64) {
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

    /// Returns the request of a flow that has not begun.
    fn waiting(&mut self, id: FlowId) -> Option<&mut FlowRequest> {
        self.waiting.iter_mut().find(|flow| flow.id == id)
    }
}

impl<C: CongestionControl> Sender<C> {
    /// Adds a flow to a connection. It begins at once if all bytes before it are sent.
    pub(super) fn append(&mut self, flow: FlowRequest, now: Time, config: &Config) {
        let Some(stream) = &mut self.stream else { return };
        stream.waiting.push_back(flow);
        self.begin_next(now, config);
    }

    /// Records that a connection sent data, and begins its next flow if that was the end of one.
    #[inline]
    pub(super) fn streamed(&mut self, now: Time, config: &Config) {
        if let Some(stream) = &mut self.stream {
            stream.last_sent = now;
            self.begin_next(now, config);
        }
    }

    /// Begins the next flow of a connection of which all bytes are sent, if there is one.
    fn begin_next(&mut self, now: Time, config: &Config) {
        let Some(stream) = self.stream.as_mut().filter(|_| self.next == self.size) else { return };
        let Some(flow) = stream.waiting.pop_front() else { return };
        if let Some(last) = stream.under_way.back_mut().filter(|last| last.id == self.id) {
            last.classes = self.classes;
        }
        stream.begin(&flow, self.next);
        let idle = now.since(stream.last_sent);
        if self.una == self.next && idle > self.rto.timeout(config) {
            self.controller.restart(config.first_window());
        }
        self.follow(&flow);
    }

    /// Completes the flows of a connection that are acknowledged up to their end, and passes their reports on.
    pub(super) fn complete_streamed(&mut self, now: Time, mut report: impl FnMut(FlowReport)) {
        let total = self.counted();
        let Some(stream) = &mut self.stream else { return };
        while let Some(done) = stream.under_way.front().filter(|flow| flow.bytes.end <= self.una).copied() {
            stream.under_way.pop_front();
            if done.end == End::Aborted {
                continue;
            }
            let before = std::mem::replace(&mut stream.reported, total);
            let classes = if done.id == self.id { self.classes } else { done.classes };
            let (bytes, elapsed) = (done.bytes.len(), now.since(done.start));
            report(FlowReport {
                flow: done.id,
                bytes,
                remaining: 0,
                rate_bps: bits_per_second(bytes, elapsed),
                retransmitted: total.retransmitted - before.retransmitted,
                retransmits: total.retransmits - before.retransmits,
                timeouts: total.timeouts - before.timeouts,
                initial_timeouts: total.initial_timeouts - before.initial_timeouts,
                spurious: total.spurious - before.spurious,
                rtt: self.rto.srtt(),
                elapsed,
                class_first: classes.first.unwrap_or(classes.last),
                class_last: classes.last,
            });
        }
    }

    fn counted(&self) -> Counted {
        Counted {
            retransmitted: self.sent.retransmitted,
            retransmits: self.sent.retransmits,
            timeouts: self.sent.timeouts,
            initial_timeouts: self.rto.initial_expiries(),
            spurious: self.rto.spurious(),
        }
    }

    /// Aborts a flow of a connection: none of its bytes that were not sent is sent, and it is not reported.
    pub(super) fn abort_streamed(&mut self, id: FlowId, now: Time, config: &Config) {
        let Some(stream) = &mut self.stream else { return };
        stream.waiting.retain(|flow| flow.id != id);
        if let Some(flow) = stream.under_way.iter_mut().find(|flow| flow.id == id) {
            flow.end = End::Aborted;
            if self.next < flow.bytes.end {
                flow.bytes.end = self.next;
                self.size = self.next;
            }
        }
        self.begin_next(now, config);
    }

    /// Sets the class of a flow of a connection that has not begun; returns false if there is no such flow.
    pub(super) fn set_waiting_class(&mut self, id: FlowId, class: Class) -> bool {
        let flow = self.stream.as_mut().and_then(|stream| stream.waiting(id));
        flow.is_some_and(|flow| {
            flow.class = class;
            true
        })
    }
}

//! The sender of a connection that several flows share.

use super::config::Config;
use super::controller::CongestionControl;
use super::sender::Sender;
use super::stream::{Counted, End};
use crate::endpoint::{FlowReport, FlowRequest};
use crate::ids::{Class, FlowId};
use crate::units::{Time, bits_per_second};

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

    /// Sets the class of a flow that waits in a connection; returns false if no waiting flow has this id.
    pub(super) fn set_waiting_class(&mut self, id: FlowId, class: Class) -> bool {
        let flow = self.stream.as_mut().and_then(|stream| stream.waiting(id));
        flow.is_some_and(|flow| {
            flow.class = class;
            true
        })
    }
}

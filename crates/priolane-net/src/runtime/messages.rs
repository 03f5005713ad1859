//! Messages of this host: the orders of applications, and the outcomes.

use priolane_core::endpoint::{Command, Control, Endpoint, FlowReport, FlowRequest, Weights};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::Time;

use super::driver::{Driver, Turn};
use super::flow::Flow;
use crate::clock::{duration_of, span_of};
use crate::error::SendError;
use crate::message::{Delivery, MessageId, Outcome, Request};
use crate::shared::{Order, Outgoing};

impl<E: Endpoint> Driver<E> {
    /// Carries out the orders of applications. Returns `None` if the thread is to stop.
    pub(super) fn take_orders(&mut self, now: Time) -> Option<Turn> {
        let mut orders = std::mem::take(&mut self.orders);
        self.shared.take_orders(&mut orders);
        let turn = if orders.is_empty() { Turn::Idle } else { Turn::Busy };
        let mut stop = false;
        for order in orders.drain(..) {
            match order {
                Order::Send(outgoing) => self.send(outgoing, now),
                Order::Abort(id) => self.abort(id, now),
                Order::Weights(id, Weights { theta, w_milli }) => {
                    self.control(id, Control::Weights { theta, w_milli }, now);
                }
                Order::Class(id, class) => self.control(id, Control::Class(class), now),
                Order::Stop => stop = true,
            }
        }
        self.orders = orders;
        (!stop).then_some(turn)
    }

    /// Returns the flow of a message.
    fn flow_of(&self, id: MessageId) -> FlowId {
        FlowId(self.setup.first_flow.wrapping_add(id.0 as u32))
    }

    fn send(&mut self, outgoing: Outgoing, now: Time) {
        let Outgoing { id, request, content, receipt } = outgoing;
        let (flow, host) = (self.flow_of(id), self.peers.greet(request.to, now));
        let host = match host {
            // A name comes again after 2^32 messages.
            Ok(host) if !self.flows.contains_key(&flow) => host,
            _ => {
                self.stats.failed += 1;
                self.publish();
                return self.shared.settle(content.kept(), receipt.as_deref(), Err(SendError::Peers));
            }
        };
        self.flows.insert(flow, Flow { id, host, request, content, receipt, asked: now, open: false });
        self.lanes.entry(host).or_default().waiting.insert((request.class, id), flow);
        self.fill(host, now);
    }

    /// Opens as many flows to a host as its limit permits.
    pub(super) fn fill(&mut self, host: HostId, now: Time) {
        if !self.peers.is_known(host) {
            return;
        }
        while let Some(lane) = self.lanes.get_mut(&host)
            && lane.open < self.setup.limits.flows
            && let Some((_, flow)) = lane.waiting.pop_first()
        {
            lane.open += 1;
            self.open(flow, now);
        }
        self.note_under_way(host, now);
    }

    fn open(&mut self, id: FlowId, now: Time) {
        let path = self.setup.path;
        let Some(flow) = self.flows.get_mut(&id) else { return };
        flow.open = true;
        let Request { class, deadline, weights, .. } = flow.request;
        let request = FlowRequest {
            class,
            deadline: deadline.map(|within| flow.asked + span_of(within)),
            weights,
            start: flow.asked,
            ..FlowRequest::new(id, flow.host, Some(flow.content.len()), now)
        };
        self.call(now, |endpoint, cx| endpoint.open(cx, request, &|| path));
    }

    /// Reports to the table of peers how much is under way with a host, so that the host is checked for silence meanwhile.
    pub(super) fn note_under_way(&mut self, host: HostId, now: Time) {
        let sent = self.lanes.get(&host).map_or(0, |lane| lane.open + lane.waiting.len() as u32);
        if sent == 0 {
            self.lanes.remove(&host);
        }
        self.peers.set_under_way(host, (sent, self.assembly.messages_of(host)), now);
    }

    /// Changes a message that is under way or waits.
    fn control(&mut self, id: MessageId, control: Control, now: Time) {
        let flow = self.flow_of(id);
        let Some(message) = self.flows.get_mut(&flow).filter(|message| message.id == id) else { return };
        if message.open {
            return self.call(now, |endpoint, cx| endpoint.control(cx, Command::Flow(flow, control)));
        }
        let before = message.request.class;
        match control {
            Control::Weights { theta, w_milli } => message.request.weights = Weights { theta, w_milli },
            Control::Class(class) => message.request.class = class,
            Control::Promote(_) | Control::Abort | _ => {}
        }
        let (host, class) = (message.host, message.request.class);
        if let Some(lane) = self.lanes.get_mut(&host)
            && let Some(flow) = lane.waiting.remove(&(before, id))
        {
            lane.waiting.insert((class, id), flow);
        }
    }

    fn abort(&mut self, id: MessageId, now: Time) {
        let flow = self.flow_of(id);
        let Some(message) = self.flows.get(&flow).filter(|message| message.id == id) else { return };
        let (host, open) = (message.host, message.open);
        if open {
            self.call(now, |endpoint, cx| endpoint.control(cx, Command::Flow(flow, Control::Abort)));
            self.peers.tell_aborted(host, flow.0);
        }
        self.finish(flow, Err(SendError::Aborted));
    }

    /// Handles the report that a message was delivered.
    pub(super) fn completed(&mut self, report: &FlowReport) {
        let Some(flow) = self.flows.get(&report.flow) else { return };
        let delivery = Delivery {
            id: flow.id,
            elapsed: duration_of(report.elapsed),
            rtt: duration_of(report.rtt),
            retransmitted: report.retransmitted,
            retransmits: report.retransmits,
            timeouts: report.timeouts,
        };
        self.stats.delivered += 1;
        self.stats.delivered_bytes += flow.content.len();
        let (host, now) = (flow.host, self.given);
        self.peers.note_exchanged(host, now);
        self.finish(report.flow, Ok(delivery));
    }

    /// Removes a message that has ended, and reports its outcome.
    pub(super) fn finish(&mut self, flow: FlowId, outcome: Outcome) {
        let Some(message) = self.flows.remove(&flow) else { return };
        let host = message.host;
        if let Some(lane) = self.lanes.get_mut(&host) {
            if message.open {
                lane.open -= 1;
            } else {
                lane.waiting.remove(&(message.request.class, message.id));
            }
        }
        self.stats.failed += u64::from(outcome.is_err());
        self.publish();
        message.settle(&self.shared, outcome);
        self.to_fill.push(host);
    }

    /// Opens flows that waited for others to end.
    pub(super) fn fill_lanes(&mut self) {
        let now = self.given;
        while let Some(host) = self.to_fill.pop() {
            self.fill(host, now);
        }
    }
}

//! A message at its sender: what may be sent, and what must be retransmitted.

use std::collections::VecDeque;

use super::levels::Levels;
use crate::endpoint::FlowRequest;
use crate::ids::Class;
use crate::packet::{Frame, Packet};
use crate::transport::common::FlowTimer;
use crate::transport::receiver_driven::{ControlMessage, OrderKey, Outgoing, Transmission, has_outgoing};

/// The class of retransmissions: the best.
const AGAIN: Class = 0;

/// Maximum number of queued retransmission ranges; further requests are ignored, and the receiver repeats them.
const MAX_AGAIN: usize = 256;

/// A message that this host sends, in units of packets.
#[derive(Debug)]
pub(super) struct SenderFlow {
    pub(super) out: Outgoing,
    pub(super) order: u64,
    /// Its position in the host's order of messages that may send.
    pub(super) place: Option<OrderKey>,
    pub(super) alarm: FlowTimer,
    /// The number of unscheduled packets as announced; the end of the unscheduled packets and their class.
    window: u16,
    unscheduled: (u64, Class),
    /// The first packet never sent.
    next: u64,
    /// The first packet not granted, and the class of granted packets.
    granted: (u64, Class),
    /// Ranges to retransmit: the first packet and the end of each.
    again: VecDeque<(u64, u64)>,
}

has_outgoing!(SenderFlow);

impl SenderFlow {
    /// Creates a message with `window` unscheduled packets, the `order`-th of its host.
    pub(super) fn new(spec: FlowRequest, window: u16, order: u64, frame: &Frame, levels: &Levels) -> Self {
        let out = Outgoing::new(spec, frame);
        let class = levels.unscheduled_class(out.packets.size());
        let blind = u64::from(window).min(out.packets.count());
        Self {
            out,
            order,
            place: None,
            alarm: FlowTimer::OFF,
            window,
            unscheduled: (blind, class),
            next: 0,
            granted: (blind, class),
            again: VecDeque::new(),
        }
    }

    /// Returns the number of packets never sent.
    pub(super) fn left(&self) -> u64 {
        self.out.packets.count() - self.next
    }

    pub(super) fn may_send(&self) -> bool {
        !self.again.is_empty() || self.next < self.granted.0
    }

    /// Handles a grant, possibly an old one.
    pub(super) fn take_grant(&mut self, packet: &Packet<ControlMessage>) {
        let offset = packet.header.offset.get();
        let up_to = if offset >= self.out.packets.size() {
            self.out.packets.count()
        } else {
            self.out.packets.at(offset)
        };
        if up_to > self.granted.0 {
            self.granted = (up_to, packet.body.class);
        }
    }

    /// Handles a RESEND; returns true if some of the range had been sent and will be retransmitted.
    pub(super) fn take_resend(&mut self, packet: &Packet<ControlMessage>) -> bool {
        let packets = self.out.packets;
        let first = packets.at(packet.header.offset.get());
        let asked = packet.body.size.div_ceil(packets.offset(1)).min(packets.count());
        // A requested range counts as granted, in case the grant was lost.
        self.granted.0 = self.granted.0.max(asked);
        let end = asked.min(self.next);
        if first >= end {
            return false;
        }
        if self.again.len() < MAX_AGAIN && !self.again.contains(&(first, end)) {
            self.again.push_back((first, end));
        }
        true
    }

    /// Handles a timeout: if nothing may be sent, retransmits the first packet.
    pub(super) fn time_out(&mut self) {
        if !self.may_send() {
            self.out.timeouts += 1;
            self.again.push_back((0, 1));
        }
    }

    /// Returns the packet to send now.
    pub(super) fn next_data(&mut self, frame: &Frame) -> Option<Packet<ControlMessage>> {
        let (n, class, transmission) = match self.again.front_mut() {
            Some((first, end)) => {
                let n = *first;
                *first += 1;
                if first == end {
                    self.again.pop_front();
                }
                (n, AGAIN, Transmission::Again)
            }
            None if self.next < self.granted.0 => {
                let n = self.next;
                self.next += 1;
                let class = if n < self.unscheduled.0 { self.unscheduled.1 } else { self.granted.1 };
                (n, class, Transmission::First)
            }
            None => return None,
        };
        let mut packet = self.out.data(n, class, transmission, frame);
        packet.body.window = self.window;
        Some(packet)
    }

    /// Passes the state of the message to `see`, for traces.
    pub(super) fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("sent_packets", self.next as f64);
        see("granted_packets", self.granted.0 as f64);
    }
}

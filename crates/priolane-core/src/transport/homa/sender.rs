//! A message at its sender: what may go, and what has to go again.

use std::collections::VecDeque;

use super::levels::Levels;
use crate::endpoint::FlowRequest;
use crate::ids::Class;
use crate::packet::{Frame, Packet};
use crate::transport::common::FlowTimer;
use crate::transport::receiver_driven::{ControlMessage, Outgoing, Place, Transmission, has_outgoing};

/// The class of what is sent again: the best.
const AGAIN: Class = 0;

/// Ranges that wait to go again; a receiver that asks for more is not heard, and asks again.
const MAX_AGAIN: usize = 256;

/// A message that this host sends; it is counted in packets.
#[derive(Debug)]
pub(super) struct SenderFlow {
    pub(super) out: Outgoing,
    pub(super) order: u64,
    /// Where it is in the order of those that may send.
    pub(super) place: Option<Place>,
    pub(super) alarm: FlowTimer,
    /// What is sent unasked, and its class.
    window: u16,
    unscheduled: (u64, Class),
    /// The first packet never sent.
    next: u64,
    /// The first packet that may not be sent, and the class of granted ones.
    granted: (u64, Class),
    /// What goes again, in ranges: the first packet and the end of each.
    again: VecDeque<(u64, u64)>,
}

has_outgoing!(SenderFlow);

impl SenderFlow {
    /// A message of which `window` packets go unasked, the `order`-th of its host.
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

    /// Packets never sent.
    pub(super) fn left(&self) -> u64 {
        self.out.packets.count() - self.next
    }

    pub(super) fn may_send(&self) -> bool {
        !self.again.is_empty() || self.next < self.granted.0
    }

    /// A grant arrived, perhaps an old one.
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

    /// The receiver misses a range; whether all of it had been sent, and goes again.
    pub(super) fn take_resend(&mut self, packet: &Packet<ControlMessage>) -> bool {
        let packets = self.out.packets;
        let first = packets.at(packet.header.offset.get());
        let asked = packet.body.size.div_ceil(packets.offset(1)).min(packets.count());
        // What is asked for was granted: a grant that was lost is made good.
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

    /// Nothing was heard: if all that may go went, the first packet goes again.
    pub(super) fn time_out(&mut self) {
        if !self.may_send() {
            self.out.timeouts += 1;
            self.again.push_back((0, 1));
        }
    }

    /// The packet that goes now.
    pub(super) fn next_data(&mut self, frame: &Frame) -> Option<Packet<ControlMessage>> {
        let (n, class, turn) = match self.again.front_mut() {
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
        let mut packet = self.out.data(n, class, turn, frame);
        packet.body.window = self.window;
        Some(packet)
    }

    /// What the sender knows of the message, for traces.
    pub(super) fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("sent_packets", self.next as f64);
        see("granted_packets", self.granted.0 as f64);
    }
}

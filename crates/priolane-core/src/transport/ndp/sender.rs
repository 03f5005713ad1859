//! A flow at its sender: which packets are in flight, which must be retransmitted, and how many were pulled.

use std::collections::VecDeque;

use crate::endpoint::FlowRequest;
use crate::packet::{Frame, Packet};
use crate::transport::common::FlowTimer;
use crate::transport::receiver_driven::{ControlMessage, MessageType, Outgoing, Transmission, has_outgoing};
use crate::units::{Span, Time};

/// Maximum number of doublings of the time that a sender waits without replies.
const MAX_DOUBLINGS: u32 = 10;

/// The state of a sent packet at or after the first one not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// In flight since this time.
    Flying(Time),
    /// Trimmed or lost: to be retransmitted.
    Due,
    /// It has arrived.
    Acked,
}

/// A flow that this host sends.
#[derive(Debug)]
pub(super) struct SenderFlow {
    pub(super) out: Outgoing,
    /// Its turn among the flows of the host that may send.
    pub(super) transmission: Option<u64>,
    alarm: FlowTimer,
    window: u16,
    /// The first packet never sent.
    next: u64,
    /// All packets before `base` have arrived; the states of the packets from `base` to `next`.
    base: u64,
    states: VecDeque<State>,
    /// Trimmed packets, which need a pull.
    trimmed: VecDeque<u64>,
    /// Packets presumed lost, which need no pull.
    given_up: VecDeque<u64>,
    /// All transmissions in order, including obsolete ones.
    flights: VecDeque<(u64, Time)>,
    /// Unused pulls, and the total number of pulls.
    credits: u32,
    pulled: u32,
    /// Returned packets that need pulls which the receiver does not know of.
    returned: u32,
    /// Packets of which the receiver got only the header.
    nacks: u64,
    /// Time of the last packet from the receiver, and the number of timeouts since.
    heard: Time,
    silences: u32,
}

has_outgoing!(SenderFlow);

impl SenderFlow {
    /// Creates a flow that sends `window` packets without pulls from `now` on.
    pub(super) fn new(spec: FlowRequest, window: u16, now: Time, frame: &Frame) -> Self {
        Self {
            out: Outgoing::new(spec, frame),
            transmission: None,
            alarm: FlowTimer::OFF,
            window,
            next: 0,
            base: 0,
            states: VecDeque::new(),
            trimmed: VecDeque::new(),
            given_up: VecDeque::new(),
            flights: VecDeque::new(),
            credits: 0,
            pulled: 0,
            returned: 0,
            nacks: 0,
            heard: now,
            silences: 0,
        }
    }

    /// Returns the number of bytes from the start that have arrived.
    pub(super) fn acked(&self) -> u64 {
        self.out.packets.bytes(self.base)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.base == self.out.packets.count()
    }

    fn state(&mut self, n: u64) -> Option<&mut State> {
        self.states.get_mut(usize::try_from(n.checked_sub(self.base)?).ok()?)
    }

    fn is_due(&self, n: u64) -> bool {
        let place = n.checked_sub(self.base).and_then(|i| usize::try_from(i).ok());
        place.and_then(|i| self.states.get(i)) == Some(&State::Due)
    }

    /// Returns true if a packet may be sent now. Drops queued packets that have arrived meanwhile.
    pub(super) fn may_send(&mut self) -> bool {
        while self.given_up.front().is_some_and(|&n| !self.is_due(n)) {
            self.given_up.pop_front();
        }
        while self.trimmed.front().is_some_and(|&n| !self.is_due(n)) {
            self.trimmed.pop_front();
        }
        let fresh = self.next < self.out.packets.count();
        !self.given_up.is_empty()
            || fresh && self.next < u64::from(self.window)
            || self.credits > 0 && (fresh || !self.trimmed.is_empty())
    }

    /// Returns the packet to send now: first lost packets, then the first window, then a packet for a pull.
    pub(super) fn next_data(&mut self, now: Time, frame: &Frame) -> Option<Packet<ControlMessage>> {
        if !self.may_send() {
            return None;
        }
        let n = match self.given_up.pop_front() {
            Some(n) => n,
            None if self.next < u64::from(self.first_window()) => self.next,
            None => {
                self.credits -= 1;
                self.trimmed.pop_front().unwrap_or(self.next)
            }
        };
        let transmission = if n < self.next { Transmission::Again } else { Transmission::First };
        match transmission {
            Transmission::Again => *self.state(n)? = State::Flying(now),
            Transmission::First => {
                self.next += 1;
                self.states.push_back(State::Flying(now));
            }
        }
        self.flights.push_back((n, now));
        let class = self.out.spec.class;
        let mut packet = self.out.data(n, class, transmission, frame);
        packet.body.window = self.first_window();
        packet.body.count = self.returned;
        Some(packet)
    }

    /// Returns the number of packets sent without pulls.
    fn first_window(&self) -> u16 {
        u64::from(self.window).min(self.out.packets.count()) as u16
    }

    /// Handles an ACK, NACK or pull.
    pub(super) fn on_feedback(&mut self, now: Time, packet: &Packet<ControlMessage>) {
        (self.heard, self.silences) = (now, 0);
        let pulls = packet.body.count.wrapping_sub(self.pulled);
        if pulls.cast_signed() > 0 {
            self.pulled = packet.body.count;
            self.credits = self.credits.saturating_add(pulls);
        }
        let n = self.out.packets.at(packet.header.offset.get());
        match packet.body.message_type {
            MessageType::Ack => {
                if let Some(state) = self.state(n) {
                    *state = State::Acked;
                }
                while self.states.front() == Some(&State::Acked) {
                    self.states.pop_front();
                    self.base += 1;
                }
            }
            MessageType::Nack => {
                self.nacks += 1;
                if let Some(state @ State::Flying(_)) = self.state(n) {
                    *state = State::Due;
                    self.trimmed.push_back(n);
                }
            }
            _ => {}
        }
        self.go_on();
    }

    /// Sends a returned packet that needs a pull without one if no pull is expected.
    fn go_on(&mut self) {
        let beyond = self.out.packets.count() - u64::from(self.first_window());
        let expected = u64::from(self.pulled) < beyond + self.nacks;
        if expected || self.returned == 0 || self.credits > 0 || self.oldest().is_some() {
            return;
        }
        while let Some(n) = self.trimmed.pop_front() {
            if self.is_due(n) {
                return self.given_up.push_back(n);
            }
        }
    }

    /// Handles the return of packet `n` without its payload. It is sent immediately if nothing is in flight that
    /// would be answered with a pull; otherwise it needs a pull.
    pub(super) fn came_back(&mut self, now: Time, packet: &Packet<ControlMessage>) {
        (self.heard, self.silences) = (now, 0);
        let n = self.out.packets.at(packet.header.offset.get());
        let Some(state @ State::Flying(_)) = self.state(n) else { return };
        *state = State::Due;
        if self.credits == 0 && self.oldest().is_none() {
            self.given_up.push_back(n);
        } else {
            self.trimmed.push_back(n);
            self.returned += 1;
        }
    }

    /// Returns the oldest transmission without a reply.
    fn oldest(&mut self) -> Option<(u64, Time)> {
        while let Some(&(n, at)) = self.flights.front() {
            if self.state(n) == Some(&mut State::Flying(at)) {
                return Some((n, at));
            }
            self.flights.pop_front();
        }
        None
    }

    /// Returns the maximum time without replies.
    fn patience(&self, rto: Span) -> Span {
        rto.times(1 << self.silences).min(Span::LONGEST)
    }

    /// Sets the timer. While a packet may be sent, the time without replies does not count.
    pub(super) fn set_alarm(&mut self, now: Time, rto: Span) {
        self.alarm.due = match self.oldest() {
            Some((_, at)) => at + rto,
            None if self.transmission.is_some() => now + rto,
            None => self.heard + self.patience(rto),
        };
        self.alarm.due = self.alarm.due.max(now + Span(1));
    }

    /// Handles an expiry of the timer.
    pub(super) fn time_out(&mut self, now: Time, rto: Span) {
        while let Some((n, at)) = self.oldest().filter(|&(_, at)| at + rto <= now) {
            self.flights.pop_front();
            if let Some(state) = self.state(n)
                && *state == State::Flying(at)
            {
                *state = State::Due;
                self.given_up.push_back(n);
                self.out.timeouts += 1;
            }
        }
        let silent = self.heard + self.patience(rto) <= now;
        if silent && self.oldest().is_none() && !self.may_send() {
            self.silences = (self.silences + 1).min(MAX_DOUBLINGS);
            self.heard = now;
            self.credits = self.credits.saturating_add(1);
            self.out.timeouts += 1;
        }
    }

    /// Passes the state of the flow to `see`, for traces.
    pub(super) fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("sent_packets", self.next as f64);
        see("all_arrived_packets", self.base as f64);
        see("pulls", f64::from(self.pulled));
    }
}

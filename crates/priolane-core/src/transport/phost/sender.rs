//! A flow at its sender: the tokens it holds.

use std::collections::VecDeque;

use crate::endpoint::FlowRequest;
use crate::ids::Class;
use crate::packet::{Frame, Header, Kind, Packet};
use crate::transport::common::FlowTimer;
use crate::transport::receiver_driven::{
    ControlMessage, MessageType, OrderKey, Outgoing, Transmission, has_outgoing,
};
use crate::units::Time;

/// Classes of data packets.
const SHORT: Class = 1;
const LONG: Class = 2;

/// Maximum number of tokens that a flow holds, expired ones included; an honest receiver sends at most one BDP.
const MAX_TOKENS: usize = 1 << 17;

/// Permission to send a packet.
#[derive(Clone, Copy, Debug)]
struct Token {
    packet: u64,
    /// The number that the receiver gave it; 0 for a free token.
    number: u32,
    /// The last time at which it may be used.
    expires: Time,
}

/// A flow that this host sends.
#[derive(Debug)]
pub(super) struct SenderFlow {
    pub(super) out: Outgoing,
    pub(super) order: u64,
    /// Its position in the order of flows that hold tokens.
    pub(super) hold_position: Option<OrderKey>,
    pub(super) alarm: FlowTimer,
    /// The time by which the free tokens keep the link busy for longer than a token takes to arrive, in nanoseconds.
    pub(super) ahead_ns: u32,
    bdp: u16,
    class: Class,
    /// The receiver's tokens, all with the same lifetime: the first expires first.
    tokens: VecDeque<Token>,
    /// Free tokens: the first packet that has one, the first that has none, when they expire.
    free: (u64, u64, Time),
    /// The first packet such that neither it nor any later one was sent.
    next: u64,
}

has_outgoing!(SenderFlow);

impl SenderFlow {
    /// Creates a flow whose path has a BDP of `bdp` packets, the `order`-th of its host.
    pub(super) fn new(spec: FlowRequest, bdp: u16, order: u64, frame: &Frame) -> Self {
        let out = Outgoing::new(spec, frame);
        let class = if out.packets.count() <= u64::from(bdp) { SHORT } else { LONG };
        Self {
            out,
            order,
            hold_position: None,
            alarm: FlowTimer::OFF,
            ahead_ns: 0,
            bdp,
            class,
            tokens: VecDeque::new(),
            free: (0, 0, Time::ZERO),
            next: 0,
        }
    }

    /// Lets the first `packets` packets be sent without a token until `expires`.
    pub(super) fn give_free(&mut self, packets: u64, expires: Time) {
        self.free = (0, packets, expires);
    }

    /// Returns the RTS.
    pub(super) fn request(&self) -> (Header, ControlMessage) {
        let size = self.out.packets.size();
        let body = ControlMessage {
            size,
            count: self.ahead_ns,
            window: self.bdp,
            message_type: MessageType::Request,
            ..ControlMessage::default()
        };
        (self.out.header(Kind::Syn), body)
    }

    /// Returns the number of packets never sent.
    pub(super) fn left(&self) -> u64 {
        self.out.packets.count() - self.next
    }

    /// Returns the number of tokens held, expired ones included.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens.len() as u64 + (self.free.1 - self.free.0)
    }

    pub(super) fn has_token(&self) -> bool {
        self.tokens() > 0
    }

    /// Stores a token that is valid until `expires`.
    pub(super) fn take_token(&mut self, packet: &Packet<ControlMessage>, expires: Time) {
        let number = packet.body.count;
        let packet = self.out.packets.at(packet.header.offset.get());
        if packet < self.out.packets.count() && self.tokens.len() < MAX_TOKENS {
            self.tokens.push_back(Token { packet, number, expires });
        }
    }

    /// Returns the packet of the token that expires first, and discards expired tokens.
    pub(super) fn next_data(&mut self, now: Time, frame: &Frame) -> Option<Packet<ControlMessage>> {
        let token = self.next_token(now)?;
        let transmission = if token.packet < self.next { Transmission::Again } else { Transmission::First };
        self.next = self.next.max(token.packet + 1);
        let mut packet = self.out.data(token.packet, self.class, transmission, frame);
        packet.body.count = token.number;
        packet.body.window = self.bdp;
        Some(packet)
    }

    fn next_token(&mut self, now: Time) -> Option<Token> {
        while self.tokens.front().is_some_and(|token| token.expires < now) {
            self.tokens.pop_front();
        }
        let (first, end, expires) = &mut self.free;
        if *expires < now {
            *first = *end;
        }
        if *first == *end || self.tokens.front().is_some_and(|token| token.expires < *expires) {
            return self.tokens.pop_front();
        }
        let packet = *first;
        *first += 1;
        Some(Token { packet, number: 0, expires: *expires })
    }
}

//! A flow at its sender: the tokens it holds.

use std::collections::VecDeque;

use crate::endpoint::FlowRequest;
use crate::ids::Class;
use crate::packet::{Frame, Header, Kind, Packet};
use crate::transport::common::FlowTimer;
use crate::transport::receiver_driven::{
    ControlMessage, MessageType, Outgoing, Place, Transmission, has_outgoing,
};
use crate::units::Time;

/// Classes of payload.
const SHORT: Class = 1;
const LONG: Class = 2;

/// Tokens that a flow holds, expired ones included; an honest receiver gives no more than fill the path.
const MAX_TOKENS: usize = 1 << 17;

/// Permission to send a packet.
#[derive(Clone, Copy, Debug)]
struct Token {
    packet: u64,
    /// What the receiver counts it as; 0 of a free one.
    number: u32,
    /// The last instant at which it may be used.
    expires: Time,
}

/// A flow that this host sends.
#[derive(Debug)]
pub(super) struct SenderFlow {
    pub(super) out: Outgoing,
    pub(super) order: u64,
    /// Where it is in the order of those that hold tokens.
    pub(super) held: Option<Place>,
    pub(super) alarm: FlowTimer,
    /// How much longer free tokens keep the line busy than a token takes to come, in nanoseconds.
    pub(super) ahead_ns: u32,
    bdp: u16,
    class: Class,
    /// Those of the receiver, which all hold equally long: the first expires first.
    tokens: VecDeque<Token>,
    /// Free tokens: the first packet that has one, the first that has none, when they expire.
    free: (u64, u64, Time),
    /// The first packet that was never sent, nor any after it.
    next: u64,
}

has_outgoing!(SenderFlow);

impl SenderFlow {
    /// A flow whose path `bdp` packets fill, the `order`-th of its host.
    pub(super) fn new(spec: FlowRequest, bdp: u16, order: u64, frame: &Frame) -> Self {
        let out = Outgoing::new(spec, frame);
        let class = if out.packets.count() <= u64::from(bdp) { SHORT } else { LONG };
        Self {
            out,
            order,
            held: None,
            alarm: FlowTimer::OFF,
            ahead_ns: 0,
            bdp,
            class,
            tokens: VecDeque::new(),
            free: (0, 0, Time::ZERO),
            next: 0,
        }
    }

    /// The first `packets` packets need no token until `expires`.
    pub(super) fn give_free(&mut self, packets: u64, expires: Time) {
        self.free = (0, packets, expires);
    }

    /// The RTS.
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

    /// Packets never sent.
    pub(super) fn left(&self) -> u64 {
        self.out.packets.count() - self.next
    }

    /// Tokens held, expired ones included.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens.len() as u64 + (self.free.1 - self.free.0)
    }

    pub(super) fn has_token(&self) -> bool {
        self.tokens() > 0
    }

    /// A token arrived that holds until `expires`.
    pub(super) fn take_token(&mut self, packet: &Packet<ControlMessage>, expires: Time) {
        let number = packet.body.count;
        let packet = self.out.packets.at(packet.header.offset.get());
        if packet < self.out.packets.count() && self.tokens.len() < MAX_TOKENS {
            self.tokens.push_back(Token { packet, number, expires });
        }
    }

    /// The packet that the token that expires first is for; tokens that have expired are thrown away.
    pub(super) fn next_data(&mut self, now: Time, frame: &Frame) -> Option<Packet<ControlMessage>> {
        let token = self.next_token(now)?;
        let turn = if token.packet < self.next { Transmission::Again } else { Transmission::First };
        self.next = self.next.max(token.packet + 1);
        let mut packet = self.out.data(token.packet, self.class, turn, frame);
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

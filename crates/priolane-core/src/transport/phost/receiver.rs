//! A flow at its receiver: which packet is given a token next.

use crate::endpoint::PayloadStats;
use crate::packet::{Header, Kind, Offset, Packet};
use crate::transport::common::FlowTimer;
use crate::transport::receiver_driven::{ControlMessage, Inbound, MessageType, Place, has_inbound};
use crate::units::{Span, Time};

/// Whether a flow may be given tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenEligibility {
    /// It may.
    Ready,
    /// Not before this instant, or a packet on one of those that it has: it leaves them unused.
    Downgraded(Time),
    /// Not before this instant: all that is missing has been given one, or is on its way without.
    Pause(Time),
}

/// A flow that this host receives.
#[derive(Debug)]
pub(super) struct ReceiverFlow {
    pub(super) order: u64,
    /// Packets missing.
    pub(super) left: u64,
    pub(super) turn: TokenEligibility,
    /// Where it is in the order of those that may be given tokens.
    pub(super) asked: Option<Place>,
    pub(super) alarm: FlowTimer,
    inbound: Inbound,
    window: u16,
    /// Tokens given, and the last of them on which a packet came, or that is taken for lost.
    issued: u32,
    used: u32,
    /// The first packet that may be given one in this round.
    next: u64,
}

has_inbound!(ReceiverFlow);

impl ReceiverFlow {
    /// The flow of `packet`, the `order`-th of its host, which sends the packets before `next` without tokens.
    pub(super) fn new(packet: &Packet<ControlMessage>, inbound: Inbound, next: u64, order: u64) -> Self {
        Self {
            order,
            left: inbound.packets.count(),
            turn: TokenEligibility::Ready,
            asked: None,
            alarm: FlowTimer::OFF,
            inbound,
            window: packet.body.window.max(1),
            issued: 0,
            used: 0,
            next,
        }
    }

    /// A packet of the flow is here; `stats` counts it if it is new.
    pub(super) fn arrived(&mut self, packet: &Packet<ControlMessage>, stats: &mut PayloadStats) {
        self.left -= u64::from(self.inbound.insert(&packet.header, stats));
        self.used = self.used.max(packet.body.count.min(self.issued));
        if matches!(self.turn, TokenEligibility::Downgraded(_))
            && self.issued - self.used < u32::from(self.window)
        {
            self.turn = TokenEligibility::Ready;
        }
    }

    /// No tokens yet: the free ones keep the sender busy, for `ahead` longer than a token takes to be answered, and
    /// what is free as a whole takes twice its packet times to be all here.
    pub(super) fn wait_for_free(&mut self, now: Time, ahead: Span, slot: Span) {
        let whole = self.next >= self.inbound.packets.count();
        let pause = if whole { slot.times(2 * self.next) } else { ahead };
        self.turn =
            if pause == Span::ZERO { TokenEligibility::Ready } else { TokenEligibility::Pause(now + pause) };
    }

    /// A pause is over: what was given tokens and has not come is given some once more.
    pub(super) fn new_round(&mut self) {
        if self.issued > 0 || self.next >= self.inbound.packets.count() {
            self.next = 0;
        }
        self.used = self.issued;
        self.turn = TokenEligibility::Ready;
    }

    /// The token that goes at `now`, or none and why; with a packet time and the thousandths of BDP packet times that a
    /// flow is downgraded for.
    pub(super) fn next_token(
        &mut self,
        now: Time,
        (slot, relax): (Span, u64),
    ) -> Option<(Header, ControlMessage)> {
        let bdp = u64::from(self.window);
        if self.issued - self.used >= u32::from(self.window) {
            self.turn = TokenEligibility::Downgraded(now + part(slot, bdp.saturating_mul(relax)));
            return None;
        }
        let n = self.inbound.got.first_missing(self.next);
        if n >= self.inbound.packets.count() {
            self.turn = TokenEligibility::Pause(now + slot.times(bdp + 1));
            return None;
        }
        self.next = n + 1;
        self.issued += 1;
        let offset = Offset::new(self.inbound.packets.offset(n));
        let header = Header { offset, ..self.inbound.header(Kind::Credit) };
        Some((
            header,
            ControlMessage {
                size: self.left,
                count: self.issued,
                message_type: MessageType::Token,
                ..ControlMessage::default()
            },
        ))
    }
}

/// `slot` times a number of thousandths.
pub(super) fn part(slot: Span, milli: u64) -> Span {
    Span((u128::from(slot.0) * u128::from(milli) / 1_000).min(u128::from(u64::MAX / 4)) as u64)
}

//! A flow at its receiver: which packet gets a token next.

use crate::endpoint::{LocalHost, PayloadStats};
use crate::packet::{Header, Kind, Offset, Packet};
use crate::transport::common::{FlowKey, FlowTimer};
use crate::transport::receiver_driven::{ControlMessage, Inbound, MessageType, OrderKey, has_inbound};
use crate::units::{Span, Time};

/// Whether a flow may get tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenEligibility {
    /// Tokens may be sent.
    Ready,
    /// It left its tokens unused: no tokens before this time, unless a packet for one of its tokens arrives.
    Downgraded(Time),
    /// All missing packets have a token or were sent without one: no tokens before this time.
    Pause(Time),
    /// Its sender does not answer, and gets no tokens until it does.
    Unanswered,
}

/// The treatment by a receiver of flows whose senders do not answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unanswered {
    /// A packet time.
    pub(super) slot: Span,
    /// The downgrade time in thousandths of BDP packet times.
    pub(super) relax: u64,
    /// Maximum BDP, in packets, that a sender may state.
    pub(super) max_window: u16,
    /// The number of times that downgrade times and pauses double, in a row without an arrival. On a real host a sender
    /// may be gone, and four of its flows in turn would take all tokens.
    pub(super) max_doublings: u32,
    /// Minimum pause, and minimum downgrade time, before a flow gets tokens again. A real host and its peer are late by more
    /// than a BDP of packet times, and would receive every packet many times.
    pub(super) min_pause: Span,
}

impl Unanswered {
    /// Longest round trip, in time, of which a real host takes a BDP from a sender.
    const LONGEST_RTT: Span = Span::from_ms(10);

    pub(super) fn new(host: &LocalHost, slot: Span, relax: u64) -> Self {
        let (max_window, max_doublings) = match host.real {
            Some(_) => (u16::try_from(Self::LONGEST_RTT.0 / slot.0.max(1)).unwrap_or(u16::MAX), 10),
            None => (u16::MAX, 0),
        };
        Self { slot, relax, max_window: max_window.max(1), max_doublings, min_pause: host.catch_up() }
    }
}

/// A flow that this host receives.
#[derive(Debug)]
pub(super) struct ReceiverFlow {
    pub(super) order: u64,
    /// Number of missing packets.
    pub(super) left: u64,
    pub(super) eligibility: TokenEligibility,
    /// Its position in the order of flows that may get tokens.
    pub(super) token_position: Option<OrderKey>,
    pub(super) alarm: FlowTimer,
    inbound: Inbound,
    window: u16,
    /// Number of downgrades and pauses since its last packet arrived.
    silences: u32,
    /// Number of tokens sent, and the number of the last token that was used or counts as lost.
    issued: u32,
    used: u32,
    /// The first packet that may get a token in this round.
    next: u64,
}

has_inbound!(ReceiverFlow);

impl ReceiverFlow {
    /// Creates the flow of `packet`, the `order`-th of its host, whose sender sends the packets before `next`
    /// without tokens.
    pub(super) fn new(
        packet: &Packet<ControlMessage>,
        inbound: Inbound,
        (next, order): (u64, u64),
        unanswered: &Unanswered,
    ) -> Self {
        Self {
            order,
            left: inbound.packets.count(),
            eligibility: TokenEligibility::Ready,
            token_position: None,
            alarm: FlowTimer::OFF,
            inbound,
            window: packet.body.window.clamp(1, unanswered.max_window),
            silences: 0,
            issued: 0,
            used: 0,
            next,
        }
    }

    /// Returns the key of the flow.
    pub(super) fn key(&self) -> FlowKey {
        self.inbound.key()
    }

    /// Records a packet of the flow; `stats` counts it if it is new.
    pub(super) fn arrived(&mut self, packet: &Packet<ControlMessage>, stats: &mut PayloadStats) {
        self.silences = 0;
        self.left -= u64::from(self.inbound.insert(&packet.header, stats));
        self.used = self.used.max(packet.body.count.min(self.issued));
        if self.eligibility == TokenEligibility::Unanswered {
            self.eligibility = TokenEligibility::Ready;
        }
        if matches!(self.eligibility, TokenEligibility::Downgraded(_))
            && self.issued - self.used < u32::from(self.window)
        {
            self.eligibility = TokenEligibility::Ready;
        }
    }

    /// Pauses while the sender uses its free tokens: for `ahead`, the time by which they last longer than a token's
    /// round trip. If all packets are free, pauses for twice their packet times.
    pub(super) fn wait_for_free(&mut self, now: Time, ahead: Span, unanswered: &Unanswered) {
        let whole = self.next >= self.inbound.packets.count();
        let pause =
            if whole { unanswered.slot.times(2 * self.next).max(unanswered.min_pause) } else { ahead };
        self.eligibility =
            if pause == Span::ZERO { TokenEligibility::Ready } else { TokenEligibility::Pause(now + pause) };
    }

    /// Ends a pause: missing packets get tokens again.
    pub(super) fn new_round(&mut self) {
        if self.issued > 0 || self.next >= self.inbound.packets.count() {
            self.next = 0;
        }
        self.used = self.issued;
        self.eligibility = TokenEligibility::Ready;
    }

    /// Returns the token to send at `now`; `None` changes the eligibility.
    pub(super) fn next_token(
        &mut self,
        now: Time,
        unanswered: &Unanswered,
    ) -> Option<(Header, ControlMessage)> {
        let &Unanswered { slot, relax, max_doublings, min_pause, .. } = unanswered;
        let bdp = u64::from(self.window);
        if self.issued - self.used >= u32::from(self.window) {
            let until = now + part(slot, (bdp << self.silences).saturating_mul(relax)).max(min_pause);
            self.silences = max_doublings.min(self.silences + 1);
            self.eligibility = TokenEligibility::Downgraded(until);
            return None;
        }
        let n = self.inbound.got.first_missing(self.next);
        if n >= self.inbound.packets.count() {
            let until = now + slot.times((bdp + 1) << self.silences).max(min_pause);
            self.silences = max_doublings.min(self.silences + 1);
            self.eligibility = TokenEligibility::Pause(until);
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

/// Returns `slot` times a number of thousandths.
pub(super) fn part(slot: Span, milli: u64) -> Span {
    Span((u128::from(slot.0) * u128::from(milli) / 1_000).min(u128::from(u64::MAX / 4)) as u64)
}

//! Ports that limit tokens (TOP, ExpressPass) as queues of HTB.
//!
//! ```text
//! queue 0            signals, and control messages that have their class
//! queues 1 to K      classes of tokens, in strict priority, room for `depth` each, one limiter for all: s / (s + F) of the line
//! queue K + 1        data, with the port's room and marks
//! queue K + 2        data without a token, if it has a class of its own; room for few packets, served last
//! ```
//!
//! Here s is the size of a token on the wire, and F is that of the frame that the token requests.

use priolane_core::ids::{CLASSES, Class};
use priolane_core::port::{TokenGroupSpec, TokenMode, TokenOrder};
use serde::{Deserialize, Serialize};

/// The number of levels of strict priority in HTB (`TC_HTB_NUMPRIO`).
pub const STRICT_LEVELS: u8 = 8;

/// The size in bytes of a token of real hosts on the wire: the smallest frame, with preamble and gap.
pub const TOKEN_WIRE: u16 = 84;

/// The classes of packets other than tokens, as hosts of token transports send them.
const SIGNALS: Class = 15;
const DATA: Class = 13;

/// The service of tokens, and of the data that they request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenService {
    /// The number of classes of tokens, 1 to 8 (K).
    pub classes: u8,
    /// The number of tokens of a class that may wait.
    pub depth: u32,
    /// The number of tokens that may be sent at once after a pause.
    pub burst: u32,
    /// The bytes on the wire of the frame that a token requests (F).
    pub data_wire: u16,
    /// The number of packets of data without a token that may wait; `None` if these packets share the queue of data.
    pub unscheduled: Option<u32>,
    /// The part of the line that data may use.
    pub data: DataLimit,
}

/// The part of the line that data may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataLimit {
    /// The part that tokens leave: F / (s + F).
    Rest,
    /// The whole line.
    Line,
}

/// The purpose of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenQueue {
    Signals,
    /// Tokens of this class.
    Tokens(u8),
    Data,
    Unscheduled,
}

impl TokenService {
    /// Returns the service that is nearest to a port of the simulator, or a text that says why there is none.
    pub(crate) fn of(spec: &TokenGroupSpec) -> Result<Self, String> {
        let unfit = |what: &str| Err(what.to_owned());
        if spec.expiry.is_some() {
            return unfit(
                "ports where tokens expire: no qdisc drops a packet for its age (with expiry = 0 there and \
                 transport.expiry = \"end_host\" hosts do)",
            );
        }
        if spec.order == TokenOrder::Rank || spec.data_queues > 1 {
            return unfit(
                "ports that sort tokens or their data by rank: no qdisc reads the rank of a packet",
            );
        }
        if spec.detour.is_some() {
            return unfit("ports whose tokens take a detour through another switch: there is none");
        }
        if spec.classes > STRICT_LEVELS {
            let classes = spec.classes;
            return Err(format!(
                "{classes} classes of tokens in strict priority: HTB has {STRICT_LEVELS} levels"
            ));
        }
        let data = match spec.mode {
            TokenMode::B => DataLimit::Rest,
            TokenMode::UnlimitedDataLow => DataLimit::Line,
            TokenMode::A | TokenMode::UnlimitedDataHigh => {
                return unfit("ports that serve data before tokens: HTB would give both more than the line");
            }
            TokenMode::PerClassSplit | TokenMode::IngressBlind => {
                return unfit(
                    "limiters of tokens by class or at arrival, which TOP rejects: they are not built of HTB",
                );
            }
        };
        Ok(Self {
            classes: spec.classes,
            depth: spec.depth,
            burst: spec.burst,
            data_wire: spec.data_wire,
            unscheduled: spec.unscheduled.map(|own| own.room.unwrap_or(u32::MAX)),
            data,
        })
    }

    /// Returns the number of queues.
    pub(crate) fn queues(&self) -> u8 {
        self.classes + 2 + u8::from(self.unscheduled.is_some())
    }

    /// Returns the purpose of a queue.
    pub(crate) fn queue(&self, queue: u8) -> TokenQueue {
        match queue {
            0 => TokenQueue::Signals,
            tokens if tokens <= self.classes => TokenQueue::Tokens(tokens - 1),
            data if data == self.classes + 1 => TokenQueue::Data,
            _ => TokenQueue::Unscheduled,
        }
    }

    /// Returns the rate of all tokens on a line of `line_bps`, in bit/s.
    pub(crate) fn token_bps(&self, line_bps: u64) -> u64 {
        self.part(line_bps, TOKEN_WIRE)
    }

    /// Returns the rate that tokens leave, in bit/s.
    pub(crate) fn rest_bps(&self, line_bps: u64) -> u64 {
        self.part(line_bps, self.data_wire)
    }

    fn part(&self, line_bps: u64, bytes: u16) -> u64 {
        let whole = u128::from(TOKEN_WIRE) + u128::from(self.data_wire);
        (u128::from(line_bps) * u128::from(bytes) / whole) as u64
    }

    /// Returns the number of bytes by which tokens may be ahead of their rate. HTB sends while nothing is owed, and so
    /// sends one token more.
    pub(crate) fn ahead(&self) -> u64 {
        (u64::from(self.burst.saturating_sub(1)) * u64::from(TOKEN_WIRE)).max(1)
    }

    /// Returns true if HTB has enough levels for the classes, and all sizes are above zero.
    pub(crate) fn is_consistent(&self) -> bool {
        (1..=STRICT_LEVELS).contains(&self.classes) && self.depth > 0 && self.data_wire > 0
    }

    /// Returns the queue of each class of packets.
    pub(crate) fn of_class(&self) -> [u8; CLASSES] {
        let data = self.classes + 1;
        std::array::from_fn(|class| match class as Class {
            SIGNALS => 0,
            DATA => data,
            unscheduled if unscheduled > DATA => data + u8::from(self.unscheduled.is_some()),
            token => 1 + token.min(self.classes - 1),
        })
    }
}

/// Returns the differences between such a port and that of the simulator, in words.
pub(crate) fn differences() -> Vec<String> {
    vec![
        format!("tokens have {TOKEN_WIRE} B on the wire, and their share of the line follows from that"),
        "a class of tokens may send one or two at once after a minute's pause, whatever the rate of all"
            .to_owned(),
        "messages by which hosts greet each other count as tokens of the best class".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::port::UnscheduledData;
    use priolane_core::units::Span;

    const AT_HOSTS: TokenGroupSpec = TokenGroupSpec { expiry: None, ..TokenGroupSpec::TOP };

    #[test]
    fn signals_tokens_and_data_have_queues_of_their_own() {
        let unscheduled = Some(UnscheduledData { class: 14, room: Some(1) });
        let service = TokenService::of(&TokenGroupSpec { unscheduled, ..AT_HOSTS }).unwrap();
        assert_eq!((service.queues(), service.unscheduled), (9, Some(1)));
        // Six classes of tokens, of which the last takes those that are worse; data, data without tokens, signals.
        assert_eq!(service.of_class(), [1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 8, 0]);
        assert!(service.is_consistent());
        let plain = TokenService::of(&AT_HOSTS).unwrap();
        assert_eq!((plain.queues(), &plain.of_class()[13..]), (8, &[7, 7, 0][..]));
    }

    #[test]
    fn rates_are_the_shares_of_a_token_and_its_frame() {
        let service = TokenService::of(&AT_HOSTS).unwrap();
        // 84 and 1538 of 1622 bytes.
        assert_eq!(service.token_bps(100_000_000), 5_178_791);
        assert_eq!(service.rest_bps(100_000_000), 94_821_208);
        assert_eq!(service.ahead(), 84);
    }

    #[test]
    fn what_htb_cannot_do_with_tokens_is_refused_with_a_reason() {
        let why = |spec: TokenGroupSpec| TokenService::of(&spec).unwrap_err();
        assert!(why(TokenGroupSpec::TOP).contains("transport.expiry = \"end_host\""));
        assert!(why(TokenGroupSpec { order: TokenOrder::Rank, ..AT_HOSTS }).contains("by rank"));
        assert!(why(TokenGroupSpec { data_queues: 2, ..AT_HOSTS }).contains("by rank"));
        assert!(why(TokenGroupSpec { detour: Some(Span::from_us(1)), ..AT_HOSTS }).contains("detour"));
        assert!(why(TokenGroupSpec { mode: TokenMode::IngressBlind, ..AT_HOSTS }).contains("rejects"));
        assert!(why(TokenGroupSpec { mode: TokenMode::A, ..AT_HOSTS }).contains("data before tokens"));
        let why = why(TokenGroupSpec { classes: 9, ..AT_HOSTS });
        assert_eq!(why, "9 classes of tokens in strict priority: HTB has 8 levels");
    }
}

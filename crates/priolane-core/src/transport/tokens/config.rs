//! Parameters of token transports.

use super::feedback;
use super::priority::Priority;
use crate::packet::Frame;
use crate::units::{Rate, Span};

/// Sizes of tokens on the wire: each one's is drawn evenly, so that flows in step do not lose the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSize {
    /// The smallest, in bytes, above 0.
    pub least: u16,
    /// The largest, in bytes.
    pub most: u16,
}

impl TokenSize {
    /// s, the mean, in bytes.
    pub fn mean(self) -> f64 {
        (f64::from(self.least) + f64::from(self.most)) / 2.0
    }
}

/// Who ends the flow of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The sender: as it has sent all, or a round trip's tokens are as many as its packets left (ExpressPass).
    Sender,
    /// The receiver, when all arrived (TOP).
    Complete,
    /// As `Complete`, but no more tokens are under way than missing packets call for at the target's loss.
    NeedCap,
}

/// What carries the ranks that receivers give flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranked {
    /// Tokens, data goes as it comes (TOP).
    Tokens,
    /// Data: tokens are all of one class, and ports with several queues of data rank it; what TOP §3.1 rejects.
    Data,
}

/// How what was lost is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// What is missing.
    Selective,
    /// Everything from the first missing packet on (ExpressPass's published code).
    GoBackN,
}

/// A token transport.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Packet sizes; tokens aside, control packets are as large as ACKs.
    pub frame: Frame,
    /// Sizes of tokens.
    pub token: TokenSize,
    /// How a flow's rate of tokens follows their fate.
    pub feedback: feedback::Config,
    /// j: gaps between tokens vary evenly by this part to both sides, 0 to below 1.
    pub jitter: f64,
    /// How receivers rank their flows.
    pub priority: Priority,
    /// What carries these ranks.
    pub ranked: Ranked,
    /// T: the age at which a sender takes a token no more, by the clocks of the two hosts; `None` where only ports
    /// let tokens expire.
    pub expiry: Option<Span>,
    /// Who ends the flow of tokens.
    pub stop: Stop,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// m: flows of at most so many packets are sent at once, without tokens; 0 for none.
    pub unscheduled: u16,
    /// How many packets must arrive beyond a missing one for it to be missed.
    pub reordering: u32,
    /// The least time without a word from the other end after which a host asks again.
    pub min_rto: Span,
    /// How often senders report; `None` for never.
    pub monitor: Option<Span>,
}

impl Config {
    /// ExpressPass for packets of `frame`, tokens of 84 to 92 B.
    pub fn expresspass(frame: Frame) -> Self {
        Self {
            frame,
            token: TokenSize { least: 84, most: 92 },
            feedback: feedback::Config::DEFAULT,
            jitter: 0.1,
            priority: Priority::Single,
            ranked: Ranked::Tokens,
            expiry: None,
            stop: Stop::Sender,
            recovery: Recovery::GoBackN,
            unscheduled: 0,
            reordering: 3,
            min_rto: Span::from_ms(1),
            monitor: None,
        }
    }

    /// TOP for packets of `frame`, with tokens of 84 B.
    pub fn top(frame: Frame, priority: Priority) -> Self {
        Self {
            token: TokenSize { least: 84, most: 84 },
            priority,
            stop: Stop::Complete,
            recovery: Recovery::Selective,
            ..Self::expresspass(frame)
        }
    }

    /// Tokens per second that fill a line of `rate`: each takes its own time and that of its frame.
    pub fn max_rate(&self, rate: Rate) -> f64 {
        let slot = self.token.mean() + f64::from(self.frame.max_wire());
        rate.bps() as f64 / (8.0 * slot)
    }
}

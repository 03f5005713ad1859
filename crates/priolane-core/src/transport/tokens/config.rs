//! Parameters of token transports.

use super::feedback;
use super::priority::Priority;
use crate::keys::{Bytes, Keys, Misfit, Words};
use crate::packet::Frame;
use crate::units::{Rate, Span};

/// Sizes of tokens on the wire: each one's is drawn evenly, so that flows in step do not lose the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "tokens", check = Self::check)]
pub struct TokenSize {
    /// Smallest token on the wire.
    #[key(
        name = "token_min",
        default = 84,
        form = Bytes,
        range = "[1, 9999]",
        source = "ExpressPass (SIGCOMM 2017) §3.1"
    )]
    pub least: u16,
    /// Largest token on the wire; the mean of both is the port's s.
    #[key(
        name = "token_max",
        default = 84,
        form = Bytes,
        range = "[1, 9999]",
        source = "ExpressPass §3.1; docs/assumptions.md#token-feedback"
    )]
    pub most: u16,
}

impl TokenSize {
    fn check(&mut self) -> Result<(), Misfit> {
        if self.least <= self.most {
            return Ok(());
        }
        Err(Misfit::new("token_min is above token_max", "token_min = \"84B\", token_max = \"92B\""))
    }

    /// s, the mean, in bytes.
    pub fn mean(self) -> f64 {
        (f64::from(self.least) + f64::from(self.most)) / 2.0
    }
}

/// Who ends the flow of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Stop {
    /// The sender: as it has sent all, or a round trip's tokens are as many as its packets left (ExpressPass).
    Sender,
    /// The receiver, when all arrived (TOP).
    Complete,
    /// As `complete`, but no more tokens are under way than missing packets call for at the target's loss.
    #[word("token_need_cap")]
    NeedCap,
}

/// What carries the ranks that receivers give flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Ranked {
    /// Tokens, data goes as it comes (TOP).
    Tokens,
    /// Data: tokens are all of one class, and ports with several queues of data rank it; what TOP §3.1 rejects.
    Data,
}

/// How what was lost is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Recovery {
    /// What is missing.
    Selective,
    /// Everything from the first missing packet on (ExpressPass's published code).
    #[word("gbn")]
    GoBackN,
}

/// Parameters of a token transport; the defaults are TOP's.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "tokens")]
pub struct Config {
    /// Sizes of tokens.
    #[keys(flatten)]
    pub token: TokenSize,
    /// How a flow's rate of tokens follows their fate.
    #[keys(flatten)]
    pub feedback: feedback::Config,
    /// j: gaps between tokens vary evenly by this part to both sides.
    #[key(default = 0.1, range = "[0, 0.9]", source = "docs/assumptions.md#token-feedback")]
    pub jitter: f64,
    /// Who ends a flow's tokens.
    #[key(default = Stop::Complete, source = "docs/assumptions.md#token-end")]
    pub stop: Stop,
    /// What is sent again after a loss.
    #[key(default = Recovery::Selective, source = "TOP §3.1; docs/assumptions.md#token-loss")]
    pub recovery: Recovery,
    /// How many packets must arrive beyond a missing one for it to be missed.
    #[key(default = 3, range = "[1, 1000000]", unit = "pkt", source = "docs/assumptions.md#token-loss")]
    pub reordering: u32,
    /// The least time without a word from the other end after which a host asks again; three round trips if that is more.
    #[key(default = Span::from_ms(1), range = "(0, )", source = "docs/assumptions.md#token-loss")]
    pub min_rto: Span,
    /// How receivers rank their flows.
    #[keys(skip = Priority::Single)]
    pub priority: Priority,
    /// What carries these ranks.
    #[keys(skip = Ranked::Tokens)]
    pub ranked: Ranked,
    /// T: the age at which a sender takes a token no more, by the clocks of the two hosts; `None` where only ports
    /// let tokens expire.
    #[keys(skip)]
    pub expiry: Option<Span>,
    /// m: flows of at most so many packets are sent at once, without tokens; 0 for none.
    #[keys(skip)]
    pub unscheduled: u16,
    /// Packet sizes; tokens aside, control packets are as large as ACKs.
    #[keys(skip = Frame::ETHERNET)]
    pub frame: Frame,
    /// How often senders report; `None` for never.
    #[keys(skip)]
    pub monitor: Option<Span>,
}

impl Config {
    /// TOP for packets of `frame`, with tokens of 84 B.
    pub fn top(frame: Frame, priority: Priority) -> Self {
        Self { priority, frame, ..Self::default() }
    }

    /// Tokens per second that fill a line of `rate`: each takes its own time and that of its frame.
    pub(crate) fn max_rate(&self, rate: Rate) -> f64 {
        let slot = self.token.mean() + f64::from(self.frame.max_wire());
        rate.bps() as f64 / (8.0 * slot)
    }
}

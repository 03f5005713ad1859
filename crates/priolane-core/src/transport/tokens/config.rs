//! Parameters of token transports.

use super::feedback;
use super::priority::Priority;
use crate::keys::{Bytes, KeyConflict, Keys, Words};
use crate::packet::Frame;
use crate::units::{Rate, Span};

/// Token sizes on the wire, drawn uniformly per token, so that synchronized flows do not lose the same tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "tokens", check = Self::check)]
pub struct TokenSize {
    /// Minimum size of a token on the wire.
    #[key(
        name = "token_min",
        default = 84,
        form = Bytes,
        range = "[1, 9999]",
        source = "ExpressPass (SIGCOMM 2017) §3.1"
    )]
    pub least: u16,
    /// Maximum size of a token on the wire; the mean of minimum and maximum is the port's s.
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
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.least <= self.most {
            return Ok(());
        }
        Err(KeyConflict::new("token_min is above token_max", "token_min = \"84B\", token_max = \"92B\""))
    }

    /// Checks that no token is smaller than packets can be: the engines rely on that size.
    ///
    /// # Errors
    /// Returns `token_min` if it is below the least size on the wire.
    pub(super) fn fits(self, frame: &Frame) -> Result<(), KeyConflict> {
        let least = frame.least_wire();
        if self.least >= least {
            return Ok(());
        }
        let what = format!("a token of {}B is smaller than the smallest packet, {least}B", self.least);
        Err(KeyConflict::of("token_min", what, format!("at least {least}B")))
    }

    /// Returns s, the mean, in bytes.
    pub fn mean(self) -> f64 {
        (f64::from(self.least) + f64::from(self.most)) / 2.0
    }
}

/// The host that ends the tokens of a flow, and its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Stop {
    /// The sender: when it has sent all, or when the tokens of a round trip cover its remaining packets
    /// (ExpressPass).
    Sender,
    /// The receiver, when all data has arrived (TOP).
    Complete,
    /// As `complete`, but tokens in flight are limited to the missing packets divided by 1 - target loss.
    #[word("token_need_cap")]
    NeedCap,
}

/// The packets that carry the ranks that receivers assign to flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum RankedPackets {
    /// Tokens; data is served in FIFO order (TOP).
    Tokens,
    /// Data: all tokens have one class, and ports with several data queues rank the data; TOP §3.1 rejects this.
    Data,
}

/// The way in which lost data is retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Recovery {
    /// Only missing packets are retransmitted.
    Selective,
    /// Everything from the first missing packet on is retransmitted (ExpressPass's published code).
    #[word("gbn")]
    GoBackN,
}

/// Parameters of a token transport; the defaults are TOP's.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "tokens")]
pub struct Config {
    /// Token sizes.
    #[keys(flatten)]
    pub token: TokenSize,
    /// The feedback that adapts a flow's token rate to token losses.
    #[keys(flatten)]
    pub feedback: feedback::Config,
    /// j: gaps between tokens vary uniformly by up to this fraction in both directions.
    #[key(default = 0.1, range = "[0, 0.9]", source = "docs/assumptions.md#token-feedback")]
    pub jitter: f64,
    /// Who ends the tokens of a flow.
    #[key(default = Stop::Complete, source = "docs/assumptions.md#token-end")]
    pub stop: Stop,
    /// What is retransmitted after a loss.
    #[key(default = Recovery::Selective, source = "TOP §3.1; docs/assumptions.md#token-loss")]
    pub recovery: Recovery,
    /// Number of later packets that must arrive before a missing packet counts as lost.
    #[key(default = 3, range = "[1, 1000000]", unit = "pkt", source = "docs/assumptions.md#token-loss")]
    pub reordering: u32,
    /// Minimum time without packets from the other host before a retry; at least three round-trip times.
    #[key(default = Span::from_ms(1), range = "(0, )", source = "docs/assumptions.md#token-loss")]
    pub min_rto: Span,
    /// The way in which receivers rank their flows.
    #[keys(skip = Priority::Single)]
    pub priority: Priority,
    /// The packets that carry these ranks.
    #[keys(skip = RankedPackets::Tokens)]
    pub ranked: RankedPackets,
    /// T: the age from which a sender rejects a token, by the clocks of the two hosts; `None` if only ports let
    /// tokens expire.
    #[keys(skip)]
    pub expiry: Option<Span>,
    /// m: flows of at most this many packets are sent immediately, without tokens; 0 for none.
    #[keys(skip)]
    pub unscheduled: u16,
    /// Packet sizes; control packets other than tokens have the size of ACKs.
    #[keys(skip = Frame::ETHERNET)]
    pub frame: Frame,
    /// Interval between the reports of a sender; `None` for no reports.
    #[keys(skip)]
    pub monitor: Option<Span>,
}

impl Config {
    /// Returns TOP's parameters for packets of `frame`, with tokens of 84 B.
    pub fn top(frame: Frame, priority: Priority) -> Self {
        Self { priority, frame, ..Self::default() }
    }

    /// Returns the tokens per second that fill a link of `rate`: each takes the time of the token and of its data
    /// packet.
    pub(crate) fn max_rate(&self, rate: Rate) -> f64 {
        let slot = self.token.mean() + f64::from(self.frame.max_wire());
        rate.bps() as f64 / (8.0 * slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_smaller_than_any_packet_are_refused() {
        let fits = |least: u16, frame: &Frame| TokenSize { least, most: 92 }.fits(frame);
        assert_eq!(fits(64, &Frame::ETHERNET), Ok(()));
        let refusal = fits(63, &Frame::ETHERNET).unwrap_err();
        assert_eq!(refusal.key, Some("token_min"));
        assert_eq!(refusal.what, "a token of 63B is smaller than the smallest packet, 64B");
        // Frames without a minimum have packets of 40 bytes: 20 of each header, and none of the link.
        let small = Frame { minimum: 0, gap: 0, link: 0, ..Frame::ETHERNET };
        assert_eq!(fits(40, &small), Ok(()));
        assert!(fits(39, &small).is_err());
    }
}

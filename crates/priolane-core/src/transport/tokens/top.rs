//! TOP: the token machine whose receivers rank their flows (TOP §3).

use super::{Config, RankBy, Ranked, Stop, Tokens};
use crate::keys::{Keys, Misfit, Words};
use crate::part::Part;
use crate::transport::{Setup, TransportKeys};
use crate::units::Span;

/// Parameters of TOP.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "top", check = Self::check)]
#[part(
    name = "top",
    summary = "TOP: ExpressPass whose tokens have priorities",
    source = "TOP §3",
    requires = [TokenPorts, TokenQueue]
)]
pub struct Top {
    /// Those of the token machine.
    #[keys(flatten)]
    pub tokens: Config,
    /// Where old tokens are dropped.
    #[keys(flatten)]
    pub expiry: Expiry,
    /// m: flows of at most so many packets go at once, in a one-packet queue served last.
    #[key(
        default = 0,
        range = "[0, 1000]",
        unit = "pkt",
        source = "TOP §3.3; docs/assumptions.md#top-unscheduled"
    )]
    pub unscheduled: u16,
    /// The ways of packets.
    #[key(default = Paths::Symmetric, source = "TOP §3.3; docs/assumptions.md#spray")]
    pub paths: Paths,
    /// What receivers rank flows by.
    #[keys(flatten)]
    pub priority: RankBy,
    /// What carries these ranks, where they are classes.
    #[key(default = Ranked::Tokens, skip_default, source = "TOP §3.1")]
    pub ranks: Ranked,
}

impl Top {
    fn check(&mut self) -> Result<(), Misfit> {
        if self.unscheduled > 0 && self.tokens.stop == Stop::Sender {
            return Err(Misfit::of(
                "unscheduled",
                "senders that end their tokens wait for one first, and unscheduled packets need none",
                "stop = \"complete\", or unscheduled = 0",
            ));
        }
        if self.ranks == Ranked::Data && self.priority.is_exact() {
            return Err(Misfit::of(
                "ranks",
                "data carries classes, and flows are ranked exactly",
                "ranks = \"tokens\", or a priority with classes",
            ));
        }
        Ok(())
    }
}

impl TransportKeys for Top {
    type Machine = Tokens;

    fn config(&self, setup: &Setup) -> Config {
        Config {
            priority: self.priority.rule(),
            ranked: self.ranks,
            expiry: self.expiry.lifetime(),
            unscheduled: self.unscheduled,
            frame: setup.frame,
            monitor: setup.monitor,
            ..self.tokens.clone()
        }
    }
}

/// Where tokens expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(tag = "expiry", default = "switch", source = "TOP §3.1, §4.2")]
pub enum Expiry {
    /// At the ports, as these say.
    Switch,
    /// At the sender.
    EndHost(Lifetime),
}

/// How long tokens live where they expire at hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
pub struct Lifetime {
    /// T = d + |P| th (+ D), from when a token leaves its NIC.
    #[key(
        required = "lifetime = \"45us\"",
        range = "(0, )",
        source = "TOP §4.2; docs/assumptions.md#top-lifetime"
    )]
    pub lifetime: Span,
}

impl Expiry {
    /// T, where tokens expire at hosts.
    pub fn lifetime(&self) -> Option<Span> {
        match self {
            Self::Switch => None,
            Self::EndHost(Lifetime { lifetime }) => Some(*lifetime),
        }
    }
}

/// The ways of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Paths {
    /// Data takes the way of its tokens.
    Symmetric,
    /// Each packet by itself, at random.
    Spray,
    /// Each packet by itself, in turns.
    RoundRobin,
    /// Each packet by itself, by what waits at ports.
    Drill,
}

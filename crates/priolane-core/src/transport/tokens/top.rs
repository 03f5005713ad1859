//! TOP: the token transport whose receivers rank their flows (TOP §3).

use super::{Config, RankBy, RankedPackets, Stop, Tokens};
use crate::finding::{Finding, NetworkFacts, Severity};
use crate::keys::{KeyConflict, Keys, Words};
use crate::packet::Frame;
use crate::part::Part;
use crate::quantity::show_span;
use crate::transport::{Setup, TransportKeys};
use crate::units::Span;

/// Parameters of TOP.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "top", check = Self::check)]
#[part(
    name = "top",
    summary = "TOP: ExpressPass with token priorities",
    source = "TOP §3",
    requires = [TokenPorts, TokenQueue],
    findings = Self::findings,
    deploy = [TokenLimiter, KernelModule, SizesKnown],
    paths = Whole,
    on_hosts = ["min_rto = 5ms"],
    beside = r#"host = "fifo", nic = "tokens", port = "tokens""#,
    variant = r#"priority = "asked", classes = 3"#
)]
pub struct Top {
    /// The parameters of the token transport.
    #[keys(flatten)]
    pub tokens: Config,
    /// The place where old tokens are dropped.
    #[keys(flatten)]
    pub expiry: Expiry,
    /// m: flows of at most this many packets are sent immediately, through a one-packet queue served last.
    #[key(
        default = 0,
        range = "[0, 1000]",
        unit = "pkt",
        source = "TOP §3.3; docs/assumptions.md#top-unscheduled"
    )]
    pub unscheduled_packets: u16,
    /// How packets are routed.
    #[key(default = Paths::Symmetric, source = "TOP §3.3; docs/assumptions.md#spray")]
    pub paths: Paths,
    /// The property by which receivers rank flows.
    #[keys(flatten)]
    pub priority: RankBy,
    /// Which packets carry these ranks if they are classes.
    #[key(default = RankedPackets::Tokens, skip_default, source = "TOP §3.1")]
    pub ranks: RankedPackets,
}

impl Top {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.unscheduled_packets > 0 && self.tokens.stop == Stop::Sender {
            return Err(KeyConflict::of(
                "unscheduled_packets",
                "a sender that stops its tokens waits for a first token, but unscheduled packets need none",
                "stop = \"complete\", or unscheduled_packets = 0",
            ));
        }
        if self.ranks == RankedPackets::Data && self.priority.is_exact() {
            return Err(KeyConflict::of(
                "ranks",
                "data packets carry classes, but flows are ranked exactly",
                "ranks = \"tokens\", or a priority with classes",
            ));
        }
        Ok(())
    }

    /// A lifetime below the time of a token from the receiver to the sender: every token expires.
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let too_short = |lifetime: &Span| lifetime.times(2) < network.round_trip;
        let Some(lifetime) = self.expiry.lifetime().filter(too_short) else { return Vec::new() };
        let what = format!(
            "the lifetime of tokens is {}, below half of the base RTT, {}",
            show_span(lifetime),
            show_span(Span(network.round_trip.0 / 2))
        );
        let fix = "T = d + |P| th, which includes the queueing time of tokens";
        vec![Finding::new(Severity::Error, "lifetime", what, fix)]
    }
}

impl TransportKeys for Top {
    type Machine = Tokens;

    fn config(&self, setup: &Setup) -> Config {
        Config {
            priority: self.priority.rule(),
            ranked: self.ranks,
            expiry: self.expiry.lifetime(),
            unscheduled: self.unscheduled_packets,
            frame: setup.frame,
            monitor: setup.monitor,
            ..self.tokens.clone()
        }
    }

    fn fits(&self, frame: &Frame) -> Result<(), KeyConflict> {
        self.tokens.token.fits(frame)
    }
}

/// Where tokens expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(tag = "expiry", default = "switch", source = "TOP §3.1, §4.2")]
pub enum Expiry {
    /// At ports, as configured there.
    Switch,
    /// At the sender.
    EndHost(Lifetime),
}

/// The lifetime of tokens that expire at hosts.
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
    /// Returns T if tokens expire at hosts.
    pub fn lifetime(&self) -> Option<Span> {
        match self {
            Self::Switch => None,
            Self::EndHost(Lifetime { lifetime }) => Some(*lifetime),
        }
    }
}

/// The way in which packets are routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Paths {
    /// Data takes the path of its tokens.
    Symmetric,
    /// Each packet independently, at random.
    Spray,
    /// Each packet independently, in round robin.
    RoundRobin,
    /// Each packet independently, by queue lengths at ports.
    Drill,
}

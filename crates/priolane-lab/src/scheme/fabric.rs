//! What a scheme runs on, and what does not fit it.

use std::borrow::Cow;

use priolane_core::packet::Frame;
use priolane_core::part::Capability;
use priolane_core::port::pfc::class_headroom;
use priolane_core::units::{Rate, Span};

/// What a scheme runs on.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Packet sizes.
    pub frame: Frame,
    /// Rates of the links that leave switches, each once, in order.
    pub switch_rates: Vec<Rate>,
    /// Rates of the links that leave hosts, each once, in order.
    pub host_rates: Vec<Rate>,
    /// The largest class a flow asks for.
    pub top_class: u8,
    /// The shortest time from the start of a transmission to its arrival.
    pub lookahead: Span,
    /// What its groups pay for, that transports must honour.
    pub asks: Vec<Capability>,
    /// Whether what a flow pays for may change while it runs.
    pub pairs_change: bool,
    /// What 99.85 % of the errors in measured delays do not exceed; `None` where delays are exact.
    pub noise: Option<Span>,
    /// Who chooses among equal-cost paths.
    pub routing: Routing,
    /// Whether paths can be chosen so that packets of both directions meet.
    pub symmetric: bool,
    /// By switch, and link to it: bytes that a lossless class may still send once it is to be paused.
    pub headroom: Vec<Vec<u64>>,
    /// Which flows have deadlines.
    pub deadlines: Coverage,
    /// How often flows are asked to report for the tables.
    pub rates_every: Option<Span>,
    /// The round trip that is a monitor interval of `mi = "rtt"`.
    pub round_trip: Span,
}

/// Who chooses among equal-cost paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// The network, one for each flow.
    PerFlow,
    /// The experiment, for flows that state a path.
    Stated,
    /// The network chooses a path for each packet.
    PerPacket,
}

/// Which flows of an experiment have deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// None.
    None,
    /// Some do, or a list's may.
    Some,
    /// All do.
    All,
}

impl Fabric {
    /// What a lossless class reserves at the switch with most, `least` bytes for each link at least.
    pub fn headroom(&self, least: u64) -> u64 {
        let of_switch = |links: &Vec<u64>| class_headroom(links.iter().copied(), least);
        self.headroom.iter().map(of_switch).max().unwrap_or(0)
    }
}

/// What does not fit: the dotted key within the scheme, what is wrong, what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key.
    pub key: Cow<'static, str>,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub fix: String,
}

impl Fault {
    pub(super) fn new(key: impl Into<Cow<'static, str>>, what: String, fix: impl Into<String>) -> Self {
        Self { key: key.into(), what, fix: fix.into() }
    }
}

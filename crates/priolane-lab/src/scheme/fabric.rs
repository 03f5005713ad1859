//! The network and traffic on which a scheme is checked, and the fault if it does not fit.

use std::borrow::Cow;

use priolane_core::endpoint::Path;
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::part::Capability;
use priolane_core::port::pfc::{Frames, PauseLink, PfcSpec};
use priolane_core::units::{Rate, Span};

/// The network and traffic on which a scheme is checked.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Packet sizes.
    pub frame: Frame,
    /// Rates of the links that leave switches, distinct and sorted.
    pub switch_rates: Vec<Rate>,
    /// Rates of the links that leave hosts, distinct and sorted.
    pub host_rates: Vec<Rate>,
    /// The highest class number that a flow of the scheme's transport requests.
    pub top_class: u8,
    /// The highest class number that a flow of a group with a transport of its own requests.
    pub other_class: u8,
    /// The lookahead: minimum delay from the start of a transmission to its arrival.
    pub lookahead: Span,
    /// The capabilities that groups pay for, which the transport must provide.
    pub asks: Vec<Capability>,
    /// Whether payments of a flow may change during its lifetime.
    pub pairs_change: bool,
    /// The 99.85th percentile of the errors of measured delays; `None` if delays are exact.
    pub noise: Option<Span>,
    /// The component that selects among equal-cost paths.
    pub routing: Routing,
    /// Whether paths can be chosen such that both directions use the same links.
    pub symmetric: bool,
    /// By switch and ingress link: what the headroom of a lossless class depends on.
    pub pause_links: Vec<Vec<PauseLink>>,
    /// The frames that headroom depends on.
    pub pause_frames: Frames,
    /// The largest capacity of a switch, the sum of the rates of the links that leave it; `None` without switches.
    pub switch_capacity: Option<Rate>,
    /// The flows that have deadlines.
    pub deadlines: Coverage,
    /// Interval of reports requested for the tables.
    pub rates_every: Option<Span>,
    /// The round-trip time used as the monitor interval of `mi = "rtt"`.
    pub round_trip: Span,
    /// Paths between hosts that may exchange flows, from the shortest to the longest empty round trip.
    pub paths: Vec<EmptyPath>,
}

/// A path between two hosts that may exchange flows.
#[derive(Clone, Copy, Debug)]
pub struct EmptyPath {
    /// The two hosts.
    pub between: (HostId, HostId),
    /// Its delays and rate.
    pub path: Path,
    /// The rate of the sender's link.
    pub line: Rate,
    /// The rate of its slowest switch port; `None` if the sender's own link is slower.
    pub bottleneck: Option<Rate>,
}

/// The component that selects among equal-cost paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// The network, once per flow.
    PerFlow,
    /// The experiment, for flows with a given path.
    Stated,
    /// The network, for each packet.
    PerPacket,
}

/// The flows of an experiment that have deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// None.
    None,
    /// Some, or those of a flow list possibly.
    Some,
    /// All.
    All,
}

impl Fabric {
    /// Returns the maximum over the switches of the headroom reserved for a lossless class.
    pub fn headroom(&self, spec: &PfcSpec) -> u64 {
        let of_link = |link: &PauseLink| spec.headroom_at(link, self.pause_frames);
        self.pause_links.iter().map(|links| links.iter().map(of_link).sum()).max().unwrap_or(0)
    }
}

/// A fault: the dotted key within the scheme, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key.
    pub key: Cow<'static, str>,
    /// The mistake.
    pub what: String,
    /// The value or setting to use.
    pub fix: String,
}

impl Fault {
    pub(crate) fn new(key: impl Into<Cow<'static, str>>, what: String, fix: impl Into<String>) -> Self {
        Self { key: key.into(), what, fix: fix.into() }
    }
}

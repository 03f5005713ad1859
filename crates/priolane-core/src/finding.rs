//! Settings that do not go together on the network of an experiment: what each part declares about its own keys.
//!
//! A part reads the [`NetworkFacts`] and returns a [`Finding`] for each pair of settings that cannot work, or that may
//! not be meant. A check of the whole experiment collects the findings of all parts, shows them before a run, and
//! rejects the experiment if any is an error.

use crate::endpoint::Path;
use crate::ids::HostId;
use crate::keys::KeyConflict;
use crate::packet::Frame;
use crate::row::Row;
use crate::units::{Limit, Rate, Span};

/// The certainty that the settings are wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Severity {
    /// The settings cannot work together: the experiment is rejected.
    Error,
    /// The settings may be meant: the experiment runs, and its output says what they cause.
    Warning,
}

/// Settings of a part that do not go together on the network of an experiment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The certainty that the settings are wrong.
    pub severity: Severity,
    /// The row whose key is at fault; `None` if it is the part's own.
    pub row: Option<Row>,
    /// The key of the part at fault, what is wrong, and what to write instead.
    pub conflict: KeyConflict,
}

impl Finding {
    /// Creates a finding about the value of `key`.
    pub fn new(
        severity: Severity,
        key: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { severity, row: None, conflict: KeyConflict::of(key, what, fix) }
    }

    /// Returns the finding with its key in `row`: another part of the scheme has to change.
    #[must_use]
    pub fn in_row(self, row: Row) -> Self {
        Self { row: Some(row), ..self }
    }

    /// Creates a finding about settings that may be meant.
    pub fn warning(key: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(Severity::Warning, key, what, fix)
    }
}

/// The facts about a network that settings of parts depend on.
#[derive(Clone, Copy, Debug)]
pub struct NetworkFacts<'a> {
    /// Packet sizes.
    pub frame: Frame,
    /// Paths between hosts that may exchange flows, from the shortest to the longest empty round trip.
    pub paths: &'a [PathFacts],
    /// The ports of switches, one for each rate of the links that leave switches, in ascending order.
    pub switch_ports: &'a [QueueFacts],
    /// The rates of the links that leave hosts, in ascending order.
    pub host_rates: &'a [Rate],
    /// The number of classes that packets of the scheme carry, at least 1.
    pub classes: u32,
    /// The 99.85th percentile of the errors of measured delays; `None` if delays are exact.
    pub noise: Option<Span>,
    /// The empty round trip of a packet with one byte of payload between the first and the last host.
    pub round_trip: Span,
    /// Whether the transport of the scheme reacts to congestion marks.
    pub marks: MarkUse,
    /// The memory of the switches that is left beside the headroom of lossless classes; `None` without such classes.
    pub lossless: Option<LosslessFacts>,
}

/// The use that a transport makes of congestion marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkUse {
    /// It relies on them.
    Required,
    /// It ignores them.
    Ignored,
}

/// The queues of ports on links of one rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueFacts {
    /// The rate of the links.
    pub rate: Rate,
    /// The most that may wait in one queue of such a port if all others are empty.
    pub holds: Limit,
    /// The memory in bytes that all ports of a switch share; `None` if ports have buffers of their own.
    pub memory: Option<u64>,
    /// The backlog above which packets are marked; `None` if they are never marked.
    pub marks_above: Option<Limit>,
}

/// The memory of switches with lossless classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LosslessFacts {
    /// The largest memory of a switch, in bytes.
    pub memory: u64,
    /// The bytes of it that are reserved as headroom for all lossless classes.
    pub reserved: u64,
}

/// A path between two hosts that may exchange flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathFacts {
    /// The two hosts.
    pub between: (HostId, HostId),
    /// Delays and rate of the empty path.
    pub path: Path,
    /// The rate of the sender's link.
    pub line: Rate,
    /// The switch port with the lowest rate on the path; `None` if no switch is slower than or as slow as the path.
    pub bottleneck: Option<QueueFacts>,
}

impl QueueFacts {
    /// Returns the bytes that may wait in front of the link, as full packets of `frame`; `None` for no limit.
    pub fn room(&self, frame: &Frame) -> Option<u64> {
        bytes(self.holds, frame)
    }
}

/// Returns `limit` in bytes, packets as full packets of `frame`; `None` for no limit.
pub fn bytes(limit: Limit, frame: &Frame) -> Option<u64> {
    match limit {
        Limit::Packets(n) => Some(u64::from(n) * u64::from(frame.max_wire())),
        Limit::Bytes(n) => Some(n),
        Limit::Unlimited => None,
    }
}

impl PathFacts {
    /// Returns the longest time that a packet waits in the full queue of the bottleneck; `None` if it has no limit or
    /// if no switch is the bottleneck.
    pub fn full_queue(&self, frame: &Frame) -> Option<Span> {
        let bottleneck = self.bottleneck?;
        bottleneck.room(frame).map(|bytes| bottleneck.rate.serialize(bytes))
    }

    /// Returns how messages name the path.
    pub fn name(&self) -> String {
        let (from, to) = self.between;
        format!("the path from host {} to host {}", from.0, to.0)
    }
}

impl<'a> NetworkFacts<'a> {
    /// Returns the path with the longest empty round trip that `is_wrong` holds for, and whether it holds for all
    /// paths: then no flow can work. `None` if it holds for none.
    pub fn worst(&self, is_wrong: impl Fn(&PathFacts) -> bool) -> Option<(&'a PathFacts, Severity)> {
        let wrong: Vec<&PathFacts> = self.paths.iter().filter(|path| is_wrong(path)).collect();
        let severity = if wrong.len() == self.paths.len() { Severity::Error } else { Severity::Warning };
        wrong.last().map(|&path| (path, severity))
    }
}

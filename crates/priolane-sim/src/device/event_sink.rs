//! The interface from nodes to the engine: packets on links, completed flows, violated invariants.

use priolane_core::ids::{FlowId, NodeId};
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use crate::device::messages::{DependencySignal, ScheduledReport};
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::RunError;
use crate::observe::trace::TraceEvent;

/// The ingress of a link: its node, the rank of the link in that node's order of simultaneous arrivals, and the node's
/// part of the network. It is one word, because every transmitter has one.
///
/// ```text
/// part (24) | rank (17) | node (23)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ingress(u64);

impl Ingress {
    /// Bits of the node.
    const NODE_BITS: u32 = 23;
    /// Bits of the rank: host identifiers have 16 bits, and switches also have links to each other.
    pub(crate) const RANK_BITS: u32 = 17;
    /// Bits of both.
    const PLACE_BITS: u32 = Self::NODE_BITS + Self::RANK_BITS;

    /// # Panics
    /// If there are more nodes or links than the word holds.
    pub(crate) fn new(node: NodeId, rank: u32, part: usize) -> Self {
        assert!(
            node.0 >> Self::NODE_BITS == 0 && rank >> Self::RANK_BITS == 0,
            "a network beyond all bounds"
        );
        Self((part as u64) << Self::PLACE_BITS | u64::from(rank) << Self::NODE_BITS | u64::from(node.0))
    }

    #[inline]
    pub(crate) fn node(self) -> NodeId {
        NodeId((self.0 & ((1 << Self::NODE_BITS) - 1)) as u32)
    }

    #[inline]
    pub(crate) fn rank(self) -> u32 {
        (self.0 >> Self::NODE_BITS) as u32 & ((1 << Self::RANK_BITS) - 1)
    }

    #[inline]
    pub(crate) fn part(self) -> usize {
        (self.0 >> Self::PLACE_BITS) as usize
    }
}

/// A packet that arrives at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a, B> {
    pub(crate) at: Time,
    /// The rank of the ingress link in the node's order.
    pub(crate) from: u32,
    pub(crate) packet: &'a Packet<B>,
}

/// The time at which an engine serves queues whose departures only put packets on links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// Every departure is an event.
    Eager,
    /// Due departures are served when the node is touched.
    Lazy,
}

/// The engine's interface for everything except packets.
pub(crate) trait ControlSink {
    /// Returns the flow records of the run.
    fn flow_log(&mut self) -> &mut FlowLog;

    /// Sends a report to the threshold controller.
    fn send_report(&mut self, report: ScheduledReport);

    /// Sends a signal about a delivered flow to another host.
    fn send_signal(&mut self, signal: DependencySignal);

    /// Reports that a finite dependent flow will start at `start`, which is now known.
    fn dependent_scheduled(&mut self, flow: FlowId, start: Time);

    /// Reports that a finite flow of the node ended at `at`.
    fn flow_done(&mut self, flow: FlowId, at: Time);

    /// Reports a violated invariant.
    fn violated(&mut self, error: RunError);
}

/// The engine's interface to nodes.
pub(crate) trait EventSink<B: Body>: ControlSink {
    /// The time at which this engine serves queues.
    const SERVICE: Service;

    /// Schedules the arrival of `packet` at `to` at the instant `at`. `stamp` modifies the stored packet in place.
    fn emit(&mut self, to: Ingress, at: Time, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>));

    /// Reports a trace event. `seen` is evaluated only while tracing; an engine that cannot trace compiles as without
    /// this call.
    #[inline]
    fn observe<'s>(&mut self, seen: impl FnOnce() -> TraceEvent<'s, B>) {
        let _ = seen;
    }
}

/// The kind of an event at a node, in the order of simultaneous events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The port may start the next packet.
    Departure,
    /// A packet arrives.
    Arrival,
    /// A control message takes effect.
    Control,
    /// The application starts a flow.
    Open,
    /// A timer of the transport is due.
    Timer,
}

/// The time and kind of an event in one word, ordered by time, then kind.
///
/// Stores times below 2^61 ps, and so every instant of a run ([`Time::LATEST`]); later times mean never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventKey(u64);

const _: () = assert!(Time::LATEST.0 < 1 << 61);

impl EventKey {
    /// No event.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    #[inline]
    pub(crate) fn new(at: Time, kind: Kind) -> Self {
        if at.0 < 1 << 61 { Self(at.0 << 3 | kind as u64) } else { Self::NEVER }
    }

    /// As [`Self::new`], for an instant that is not later than the end of a window.
    #[inline]
    pub(crate) fn within(at: Time, kind: Kind) -> Self {
        debug_assert!(at.0 < 1 << 61, "a window beyond all runs");
        Self(at.0 << 3 | kind as u64)
    }

    /// Returns the time.
    #[inline]
    pub(crate) fn at(self) -> Time {
        if self == Self::NEVER { Time::NEVER } else { Time(self.0 >> 3) }
    }

    /// Returns the kind.
    #[inline]
    pub(crate) fn kind(self) -> Kind {
        match self.0 & 7 {
            0 => Kind::Departure,
            1 => Kind::Arrival,
            2 => Kind::Control,
            3 => Kind::Open,
            _ => Kind::Timer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_and_its_kind_survive_and_order_as_a_pair() {
        let kinds = [Kind::Departure, Kind::Arrival, Kind::Control, Kind::Open, Kind::Timer];
        let times = [Time(0), Time(1), Time(123_456_789), Time((1 << 61) - 1)];
        let pairs: Vec<_> = times.iter().flat_map(|&at| kinds.map(|kind| (at, kind))).collect();
        assert!(
            pairs.is_sorted()
                && pairs.iter().all(|&(at, kind)| {
                    let due = EventKey::new(at, kind);
                    (due.at(), due.kind()) == (at, kind)
                })
        );
        assert!(pairs.windows(2).all(|w| EventKey::new(w[0].0, w[0].1) < EventKey::new(w[1].0, w[1].1)));
        assert_eq!(EventKey::new(Time(1 << 61), Kind::Open).at(), Time::NEVER);
    }
}

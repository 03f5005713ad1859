//! What nodes hand to the engine that drives them: packets on links, finished flows, broken invariants.

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use crate::device::messages::{DependencySignal, ScheduledReport};
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::RunError;
use crate::observe::trace::TraceEvent;

/// Where a link ends: the node, the place the link has in that node's order of simultaneous arrivals, and the part of
/// the network that the node belongs to. One word, as every line has one.
///
/// ```text
/// part (24) | rank (17) | node (23)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ingress(u64);

impl Ingress {
    /// Bits of a node.
    const NODE_BITS: u32 = 23;
    /// Bits of a rank: hosts have names of 16 bits, and switches links to each other besides.
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
    /// The place of the ingress link in the node's order.
    pub(crate) from: u32,
    pub(crate) packet: &'a Packet<B>,
}

/// When an engine serves queues whose departures have no effect but the packet on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// Every departure is an event.
    Eager,
    /// What is due is served when the node is touched.
    Lazy,
}

/// The engine as nodes see it, apart from packets.
pub(crate) trait ControlSink {
    /// What the run records of flows.
    fn flow_log(&mut self) -> &mut FlowLog;

    /// The node sends a report to the threshold controller.
    fn send_report(&mut self, report: ScheduledReport);

    /// The node signals a delivered flow to another host.
    fn send_signal(&mut self, signal: DependencySignal);

    /// The start of a finite flow that depended on others is known now.
    fn dependent_scheduled(&mut self);

    /// A finite flow of the node came to its end at `at`.
    fn flow_done(&mut self, at: Time);

    /// The run cannot be trusted.
    fn violated(&mut self, error: RunError);
}

/// The engine as nodes see it.
pub(crate) trait EventSink<B: Body>: ControlSink {
    /// When this engine serves queues.
    const SERVICE: Service;

    /// `packet` will arrive at `to` at the instant `at`, as `stamp` leaves it: where it travels it is written to in place.
    fn emit(&mut self, to: Ingress, at: Time, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>));

    /// Something a traced run keeps. `seen` says what, and is not even asked where nobody traces: an engine that
    /// cannot trace compiles to what it would be without this call.
    #[inline]
    fn observe<'s>(&mut self, seen: impl FnOnce() -> TraceEvent<'s, B>) {
        let _ = seen;
    }
}

/// What happens at a node at one instant, in the order in which simultaneous things happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The line may start the next packet.
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

/// An instant at which something happens, ordered by time, then by what: one word.
///
/// Holds times below 2^61 ps, and so every instant of a run ([`Time::LATEST`]); later ones count as never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventKey(u64);

const _: () = assert!(Time::LATEST.0 < 1 << 61);

impl EventKey {
    /// Nothing will happen.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    #[inline]
    pub(crate) fn new(at: Time, kind: Kind) -> Self {
        if at.0 < 1 << 61 { Self(at.0 << 3 | kind as u64) } else { Self::NEVER }
    }

    /// When.
    #[inline]
    pub(crate) fn at(self) -> Time {
        if self == Self::NEVER { Time::NEVER } else { Time(self.0 >> 3) }
    }

    /// What.
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

//! The life of one flow: every packet of it, hop by hop, and what its sender knew.
//!
//! Only the wheel engine traces. Its wire tells the [`Tracer`] what nodes do ([`Wire::observe`]); the window
//! engine's does not ask them, so that tracing costs its packets nothing. Both leave the same outcome, so what is
//! traced is what an untraced run did.
//!
//! ```text
//! Made      a host's transport made a packet ............................. a new packet of the trace
//! Offered   it came to a port; Admitted: kept, marked or dropped ......... a new hop
//! Started   the port's line began to send it ............................. Sent, or Lost if nothing follows
//! emitted   its link did not lose it
//! begin     its arrival at the other end of the link is being handled .... Arrived
//! Called    a host's transport was called ................................ readings of its state
//! ```
//!
//! A packet has no name of its own. On links it is known by the engine's event; in a port by its header, and equal
//! headers leave in the order in which they came, as they do in every discipline.
//!
//! [`Wire::observe`]: crate::wire::Wire::observe

mod tracer;

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::ids::{FlowId, LinkId};
use priolane_core::packet::{Header, Marks};
use priolane_core::transport::EndpointUser;
use priolane_core::units::Time;

use crate::OnProgress;
use crate::engine::network::Network;
use crate::engine::partition::Partition;
use crate::node::fabric::Fabric;
use crate::outcome::{Outcome, RunError};
use crate::scenario::Scenario;
pub(crate) use tracer::{Passage, Seen, Tracer};

/// What was seen of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Its packets, both ways, in the order in which they were made.
    pub packets: Vec<TracedPacket>,
    /// Their hops, in the order in which they came to ports.
    pub hops: Vec<Hop>,
    /// The sender's state, in order of time: after every packet from the receiver all of it, after any other
    /// call of the transport what had changed.
    pub state: Vec<Reading>,
}

/// A packet of the flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedPacket {
    /// Its header as it was made.
    pub header: Header,
    /// Of an ACK: blocks received above the cumulative ACK, as (start, end) offsets from it; (0, 0) is none.
    pub blocks: [(u32, u32); 2],
    /// When its host's transport made it.
    pub made: Time,
    /// Whether it repeats what was sent before.
    pub turn: Turn,
    /// When the other host's transport was given it; `None` if it was not.
    pub delivered: Option<Time>,
}

/// Whether a packet repeats what was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Its payload (or its part of the handshake) was not sent before; any ACK.
    First,
    /// Some of its payload, or a packet of its kind in the handshake, was sent before.
    Again,
}

/// A packet's way through one port and over the link that leaves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The packet, by its place in [`Trace::packets`].
    pub packet: u32,
    /// The port, named by its link.
    pub link: LinkId,
    /// The queue of the port that its class (at a host, its level) goes to.
    pub queue: u8,
    /// When it came to the port.
    pub queued: Time,
    /// What it found waiting there.
    pub ahead: Backlog,
    /// Its marks when it left the port.
    pub marks: Marks,
    /// Whether this port marked it.
    pub marking: Marking,
    /// How far it came.
    pub fate: Fate,
}

/// What waits in a port, all its queues together, the packet on the line not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// Whether a port set the congestion mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// It did not.
    Unmarked,
    /// It did.
    Marked,
}

/// What became of a packet on a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The port had no room for it, though its header may go back to its sender.
    Dropped,
    /// It waited too long in the port.
    Expired,
    /// It waited there when the run ended.
    Waiting,
    /// It was sent, and its link lost it.
    Lost {
        /// How it was sent.
        service: Service,
        /// How it was lost.
        by: Loss,
    },
    /// It was sent, and on the link when the run ended.
    Sent(Service),
    /// It arrived at the other end of the link.
    Arrived {
        /// How it was sent.
        service: Service,
        /// When its last bit arrived; a host's processing comes after that.
        at: Time,
    },
}

/// How a link loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// By its dice.
    Chance,
    /// It was down.
    Down,
}

/// A packet's time on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When its first bit was sent.
    pub start: Time,
    /// When the line was free again.
    pub end: Time,
}

/// One thing that the sender of the flow knew at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// When.
    pub at: Time,
    /// What: a name that ends in its unit, as the transport calls it.
    pub metric: &'static str,
    /// Its value.
    pub value: f64,
}

impl Fate {
    /// How the packet was sent, if it was.
    pub fn service(&self) -> Option<Service> {
        match *self {
            Self::Dropped | Self::Expired | Self::Waiting => None,
            Self::Lost { service, .. } | Self::Sent(service) | Self::Arrived { service, .. } => Some(service),
        }
    }

    /// When the packet arrived at the other end of the link, if it did.
    pub fn arrived(&self) -> Option<Time> {
        if let Self::Arrived { at, .. } = *self { Some(at) } else { None }
    }
}

/// Runs `scenario` on the wheel engine with its transport and keeps what happens to `flow`; of a flow that the
/// scenario does not have, nothing is seen.
///
/// # Errors
/// As [`crate::run`].
pub fn run(scenario: &Scenario, flow: FlowId, progress: OnProgress) -> Result<(Outcome, Trace), RunError> {
    scenario.transport.with_endpoints(Runner { scenario, flow, progress })
}

struct Runner<'a> {
    scenario: &'a Scenario,
    flow: FlowId,
    progress: OnProgress<'a>,
}

impl EndpointUser for Runner<'_> {
    type Out = Result<(Outcome, Trace), RunError>;

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out {
        run_with(self.scenario, self.flow, &make, self.progress)
    }
}

/// As [`run`], with the transport that `make` makes at each host.
///
/// # Errors
/// As [`crate::run_with`].
pub fn run_with<E: Endpoint + 'static>(
    scenario: &Scenario,
    flow: FlowId,
    make: &dyn Fn(LocalHost) -> E,
    progress: OnProgress,
) -> Result<(Outcome, Trace), RunError> {
    crate::node::held::check(scenario)?;
    let mut fabric = Fabric::new(scenario, Partition::WHOLE);
    let mut tracer = Some(Box::new(Tracer::new(scenario, flow)));
    let mut network = Network::whole(&fabric, make);
    let outcome = crate::engine::wheel::run(&mut network, &mut fabric, &mut tracer, progress)?;
    let trace = tracer.map(|tracer| tracer.into_trace(scenario)).unwrap_or_default();
    Ok((outcome, trace))
}

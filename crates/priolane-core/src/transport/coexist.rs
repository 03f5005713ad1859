//! Several transports in one network: each group of flows has its own.
//!
//! ```text
//!            open(flow of group g)            packet with number n
//!                    │ number(g)                      │
//!                    ▼                                ▼
//!   Coexisting ── transport 0   transport 1   transport 2 ...      each a complete endpoint of the host
//!                    └───────────┬─┴─────────────┘
//!                                ▼ control packets first, then one packet per flow in turn
//!                        the host's link or transmit queue, packets with the number of their transport
//! ```
//!
//! The transports of a host share its link and nothing else, as two stacks of a machine do. A packet carries the number of its
//! transport in the two bits of its marks that are not flags. The receiving host passes it to the transport of that
//! number, which answers with its own settings (delayed ACKs, class of ACKs, go-back-N). All transports have the packet
//! body of the window transport without telemetry.
//!
//! Hosts send round robin over flows, whichever transport they belong to: the turn of a transport has as many packets
//! as it had flows with data to send when the turn began.

use std::any::Any;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::window::{self, Segment};
use super::{EndpointUser, RegisteredController};
use crate::endpoint::{
    Command, Cx, Departure, Endpoint, Event, FlowRequest, LocalHost, PathInfo, RxMeta, SendId, Stats, Tx,
    Waiting,
};
use crate::host::SchedulerKind;
use crate::ids::{FlowId, HostId};
use crate::packet::{Marks, Packet};
use crate::units::{Rate, Time};

/// The endpoint of one transport of a host.
pub(super) type Stack = Box<dyn Endpoint<Body = Segment>>;

/// A transport that may share a network with others.
pub trait Coexists {
    /// Builds the endpoint of `host`, of a type that only its packet body names; `None` for a controller of another crate.
    fn boxed(&self, host: LocalHost) -> Option<Box<dyn Any>>;

    /// Returns true if the transport can share a network with others ([`TransportsByGroup`]).
    fn can_coexist(&self) -> bool {
        stack(self, LocalHost::simulated(HostId(0), Rate::from_gbps(1))).is_some()
    }
}

/// Builds the endpoint of `host`; `None` if its packets have another body than [`Segment`].
fn stack(transport: &(impl Coexists + ?Sized), host: LocalHost) -> Option<Stack> {
    transport.boxed(host)?.downcast::<Stack>().ok().map(|stack| *stack)
}

/// The transports of a run in which groups have their own.
#[derive(Clone, Debug)]
pub struct TransportsByGroup<T> {
    transports: Vec<T>,
    /// By group, the index of its transport.
    of_group: Arc<[u8]>,
}

/// The reason why transports cannot share a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CoexistenceError {
    /// There are too many of them.
    #[error("at most {} transports can share a network", Marks::TRANSPORTS)]
    TooMany,
    /// The transport with this index has packets that the others cannot read: it is receiver-driven, collects telemetry, or
    /// is a controller of another crate.
    #[error("transport {0} has packets of its own kind")]
    OtherPackets(usize),
    /// A group has the index of a transport that does not exist.
    #[error("group {0} has no transport")]
    NoTransport(usize),
}

impl<T: Coexists> TransportsByGroup<T> {
    /// Creates the choice of `transports`, 1 to 4, by group: `of_group` has the index of a transport for each. Groups that
    /// it does not list have the first.
    ///
    /// # Errors
    /// Fails as [`CoexistenceError`] describes.
    pub fn new(transports: Vec<T>, of_group: &[u8]) -> Result<Self, CoexistenceError> {
        if transports.len() > Marks::TRANSPORTS || transports.is_empty() {
            return Err(CoexistenceError::TooMany);
        }
        if let Some(group) = of_group.iter().position(|&index| usize::from(index) >= transports.len()) {
            return Err(CoexistenceError::NoTransport(group));
        }
        if let Some(index) = transports.iter().position(|transport| !transport.can_coexist()) {
            return Err(CoexistenceError::OtherPackets(index));
        }
        Ok(Self { transports, of_group: of_group.into() })
    }

    /// Returns the transports.
    pub fn transports(&self) -> &[T] {
        &self.transports
    }

    /// Returns the transport of groups that have none of their own.
    pub(super) fn first(&self) -> &T {
        &self.transports[0]
    }

    /// Builds the endpoint of `host`.
    pub(super) fn endpoint(&self, host: LocalHost) -> Coexisting {
        let stack = |transport: &T| stack(transport, host).expect("invariant: checked by `new`");
        Coexisting {
            stacks: self.transports.iter().map(stack).collect(),
            of_group: Arc::clone(&self.of_group),
            turn: Turn { of: 0, left: 0 },
        }
    }
}

/// Builds an endpoint of a type that only its packet body names.
pub(super) struct Boxed(pub(super) LocalHost);

impl EndpointUser for Boxed {
    type Out = Option<Box<dyn Any>>;

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out {
        let endpoint: Box<dyn Endpoint<Body = E::Body>> = Box::new(make(self.0));
        Some(Box::new(endpoint))
    }

    fn run_registered(
        self,
        _: &dyn RegisteredController,
        _: Arc<window::Config>,
        _: SchedulerKind,
    ) -> Self::Out {
        None
    }
}

/// The transport whose flows send now, and the packets that its turn has left.
#[derive(Clone, Copy, Debug)]
struct Turn {
    of: usize,
    left: usize,
}

/// The transports of one host.
pub(super) struct Coexisting {
    stacks: Vec<Stack>,
    of_group: Arc<[u8]>,
    turn: Turn,
}

impl std::fmt::Debug for Coexisting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coexisting").field("turn", &self.turn).finish_non_exhaustive()
    }
}

/// The first bit of a [`SendId`] that holds the number of a transport: slots of flows stay far below 2^30.
const SEND_ID_SHIFT: u32 = 62;

fn numbered<B>(tx: Tx<B>, number: usize) -> Tx<B> {
    match tx {
        Tx::Send { mut packet, id } => {
            packet.header.marks = packet.header.marks.of_transport(number as u8);
            let named = |SendId(bits)| SendId(bits | (number as u64) << SEND_ID_SHIFT);
            Tx::Send { packet, id: id.map(named) }
        }
        other => other,
    }
}

impl Coexisting {
    /// Returns what the transport `number` sends now.
    fn poll(&mut self, number: usize, cx: &mut Cx) -> Tx<Segment> {
        numbered(self.stacks[number].poll_transmit(cx), number)
    }

    /// Begins the turn of the next transport that has flows with data to send; returns false if none has.
    fn pass_turn(&mut self) -> bool {
        let count = self.stacks.len();
        let next = (1..=count).map(|step| (self.turn.of + step) % count);
        let found =
            next.map(|of| Turn { of, left: self.stacks[of].waiting().flows }).find(|turn| turn.left > 0);
        self.turn = found.unwrap_or(Turn { left: 0, ..self.turn });
        found.is_some()
    }
}

impl Endpoint for Coexisting {
    type Body = Segment;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        let number = self.of_group.get(usize::from(flow.group)).copied().unwrap_or(0);
        self.stacks[usize::from(number)].open(cx, flow, path);
    }

    fn control(&mut self, cx: &mut Cx, command: Command) {
        // The stack that sends a flow changes it, and the others ignore it. Thresholds are those of the first.
        let count = if matches!(command, Command::Thresholds(_)) { 1 } else { self.stacks.len() };
        self.stacks[..count].iter_mut().for_each(|stack| stack.control(cx, command));
    }

    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Segment>) {
        // A packet of a transport that does not exist is no packet of this run.
        if let Some(stack) = self.stacks.get_mut(usize::from(packet.header.marks.transport())) {
            stack.on_packet(cx, meta, packet);
        }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        self.stacks.iter_mut().for_each(|stack| stack.on_timer(cx));
    }

    fn next_timeout(&self) -> Option<Time> {
        self.stacks.iter().filter_map(|stack| stack.next_timeout()).min()
    }

    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<Segment> {
        if let Some(number) = self.stacks.iter().position(|stack| stack.waiting().control) {
            return self.poll(number, cx);
        }
        loop {
            if self.turn.left == 0 && !self.pass_turn() {
                return Tx::Idle;
            }
            match self.poll(self.turn.of, cx) {
                Tx::Idle => self.turn.left = 0,
                sent => {
                    self.turn.left -= 1;
                    return sent;
                }
            }
        }
    }

    fn may_transmit(&self) -> bool {
        self.stacks.iter().any(|stack| stack.may_transmit())
    }

    fn waiting(&self) -> Waiting {
        self.stacks.iter().map(|stack| stack.waiting()).fold(
            Waiting { control: false, flows: 0 },
            |all, one| Waiting { control: all.control || one.control, flows: all.flows + one.flows },
        )
    }

    fn on_departure(&mut self, cx: &mut Cx, SendId(bits): SendId, departure: Departure) {
        let number = (bits.get() >> SEND_ID_SHIFT) as usize;
        let own = NonZeroU64::new(bits.get() & !(u64::MAX << SEND_ID_SHIFT));
        if let (Some(stack), Some(own)) = (self.stacks.get_mut(number), own) {
            stack.on_departure(cx, SendId(own), departure);
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.stacks.iter_mut().find_map(|stack| stack.poll_event())
    }

    fn is_receiving(&self, src: HostId, flow: FlowId) -> bool {
        self.stacks.iter().any(|stack| stack.is_receiving(src, flow))
    }

    fn stats(&self) -> Stats {
        let mut all = Stats::default();
        for stats in self.stacks.iter().map(|stack| stack.stats()) {
            all.payload.merge(&stats.payload);
            all.receiving += stats.receiving;
        }
        all
    }

    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        self.stacks.iter().for_each(|stack| stack.inspect(flow, see));
    }
}

#[cfg(test)]
mod tests;

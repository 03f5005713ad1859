//! The state and the loop of a host's thread.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use priolane_core::endpoint::{Cx, Endpoint, Event, LocalClock, PathInfo};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::rng::Stream;
use priolane_core::units::Time;
use priolane_core::wire::PacketCodec;
use rustc_hash::FxHashMap;

use super::flow::{Flow, Lane};
use super::held::Held;
use crate::assembly::Assembly;
use crate::clock::{Clock, duration_of};
use crate::config::{Limits, Patience};
use crate::dscp::Dscp;
use crate::error::RecvError;
use crate::meter::Meter;
use crate::nic::Nic;
use crate::peers::{Peers, Speaks};
use crate::scheme::Sealed;
use crate::shared::{Order, SharedState};
use crate::socket::{RecvBatch, SendBatch, UdpSocket, WaitFor, wait};
use crate::stats::Stats;

/// The result of a step of the loop: whether work was done or is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    Idle,
    Busy,
}

impl Turn {
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Busy { self } else { other }
    }
}

/// The configuration of a host, as far as its thread needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) limits: Limits,
    pub(super) patience: Patience,
    pub(super) dscp: Dscp,
    pub(super) sealed: Sealed,
    pub(super) spin: Duration,
    /// Whether messages may arrive with bytes missing.
    pub(super) unreliable: bool,
    /// The flow of the first message.
    pub(super) first_flow: u32,
    /// The known properties of all paths.
    pub(super) path: PathInfo,
    pub(super) speaks: Speaks,
}

/// The state of a host's thread.
pub(super) struct Driver<E: Endpoint> {
    pub(super) setup: Setup,
    pub(super) endpoint: E,
    pub(super) codec: Box<dyn PacketCodec<E::Body>>,
    pub(super) nic: Nic<E::Body>,
    pub(super) socket: UdpSocket,
    pub(super) peers: Peers,
    pub(super) assembly: Assembly,
    pub(super) meter: Option<Arc<dyn Meter>>,
    /// The messages of this host.
    pub(super) flows: FxHashMap<FlowId, Flow>,
    pub(super) lanes: HashMap<HostId, Lane>,
    /// The hosts to which flows have ended, so that other flows may start.
    pub(super) to_fill: Vec<HostId>,
    pub(super) shared: Arc<SharedState>,
    pub(super) clock: Clock,
    /// The latest instant that was passed to the endpoint.
    pub(super) given: Time,
    pub(super) rng: Stream,
    pub(super) arriving: RecvBatch,
    /// The datagrams that are held back.
    pub(super) held: Held,
    pub(super) leaving: SendBatch,
    /// Whether the socket's send buffer is full.
    pub(super) blocked: bool,
    /// The time at which the line may send again, if it waits for that.
    pub(super) line_at: Time,
    /// The time at which work was last done.
    pub(super) active: Time,
    pub(super) orders: Vec<Order>,
    pub(super) scratch: Vec<u8>,
    pub(super) stats: Stats,
}

impl<E: Endpoint> Driver<E> {
    /// Drives the host until a stop command.
    pub(super) fn run(&mut self) {
        loop {
            let now = self.now();
            let Some(turn) = self.take_orders(now) else { return };
            let turn = turn.or(self.receive());
            let now = self.now();
            self.peers.look(now);
            self.apply_changes();
            let turn = turn.or(self.serve_timer()).or(self.free());
            self.fill_lanes();
            let turn = turn.or(self.transmit());
            if turn == Turn::Busy {
                self.active = self.given;
                self.publish();
            } else {
                self.sleep();
            }
        }
    }

    /// Returns the time, which is never before the latest instant passed to the endpoint.
    pub(super) fn now(&mut self) -> Time {
        self.given = self.given.max(self.clock.now());
        self.given
    }

    /// Calls the endpoint at `now`, and handles the events that it reports.
    pub(super) fn call<T>(&mut self, now: Time, call: impl FnOnce(&mut E, &mut Cx<'_>) -> T) -> T {
        let mut cx = Cx { now, clock: LocalClock::default(), rng: &mut self.rng };
        let answer = call(&mut self.endpoint, &mut cx);
        self.tell();
        answer
    }

    /// Passes the events of the endpoint to applications.
    pub(super) fn tell(&mut self) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Readable { src, flow, bytes } => self.assembly.readable(src, flow, bytes),
                Event::Delivered { src, flow, missing, .. } => self.deliver((src, flow), missing),
                Event::Forgotten { src, flow } => self.drop_partial(src, flow),
                Event::Rejected { src, flow, why } => self.reject((src, flow), why),
                Event::Unanswered { src } => {
                    self.stats.unanswered += 1;
                    self.peers.ping(src, self.given);
                }
                Event::Completed(report) => self.completed(&report),
                _ => {}
            }
        }
    }

    pub(super) fn serve_timer(&mut self) -> Turn {
        let now = self.now();
        if self.endpoint.next_timeout().is_none_or(|due| due > now) {
            return Turn::Idle;
        }
        self.call(now, Endpoint::on_timer);
        Turn::Busy
    }

    /// Frees some of the messages that were dropped.
    fn free(&mut self) -> Turn {
        if self.assembly.free_some() { Turn::Busy } else { Turn::Idle }
    }

    /// Publishes the counters, before applications learn of the events that were counted.
    pub(super) fn publish(&mut self) {
        self.stats.peers = self.peers.count() as u64;
        self.stats.receiving = u64::from(self.endpoint.stats().receiving);
        self.stats.receiving_bytes = self.assembly.bytes();
        self.stats.tokens_dropped = self.nic.dropped();
        let groups = self.leaving.counts();
        (self.stats.segments, self.stats.segmentation_refused) = (groups.segments, groups.refused);
        self.shared.publish(&self.stats);
    }

    /// Sleeps until there may be work.
    pub(super) fn sleep(&mut self) {
        let now = self.now();
        let timer = self.endpoint.next_timeout().unwrap_or(Time::NEVER);
        // A line that the system holds up waits for that alone.
        let line = if self.blocked { Time::NEVER } else { self.line_at };
        let next = timer.min(line).min(self.peers.next_look()).min(self.held.next());
        if next <= now {
            return;
        }
        if now.since(self.active) < crate::clock::span_of(self.setup.spin) {
            return std::hint::spin_loop();
        }
        if self.shared.may_sleep() {
            let most = (next != Time::NEVER).then(|| duration_of(next.since(now)));
            let wanted = if self.blocked { WaitFor::Room } else { WaitFor::Datagrams };
            wait(&self.socket, self.shared.wakeup(), wanted, most);
            self.shared.awake();
            self.stats.wakeups += 1;
        }
    }
}

impl<E: Endpoint> Drop for Driver<E> {
    fn drop(&mut self) {
        let closed = if std::thread::panicking() { RecvError::Panicked } else { RecvError::Dropped };
        self.shared.close(closed);
        for (_, flow) in self.flows.drain() {
            flow.settle(&self.shared, Err(closed.into()));
        }
        let orders = std::mem::take(&mut self.orders);
        orders.into_iter().for_each(|order| self.shared.order(order));
    }
}

//! The contract between a host's transport and whatever drives it: simulated time or real sockets.
//!
//! One endpoint per host. It is *given* time, packets and a random stream, and *asked* what to send.
//! It owns no clock, no socket and no randomness, so the same compiled code runs anywhere and a test
//! can drive two of them by hand.

mod control;
mod event;
mod flow;
mod local_host;
mod path;

use std::num::NonZeroU64;

use crate::ids::FlowId;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Span, Time};
pub use control::{Command, Control, ThresholdSet, Thresholds};
pub use event::{CreditStats, Event, FlowReport, PayloadStats, Stats};
pub use flow::{FlowRequest, FlowSpec, Weights};
pub use local_host::{Clocks, LocalHost, RealHost};
pub use path::{BaseDelay, Path, PathInfo};

/// A host's own clock: what it reads when the true time is `now`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LocalClock {
    /// What is added to true time, in picoseconds (may be negative).
    pub offset_ps: i64,
}

impl LocalClock {
    /// The reading of this clock at the true instant `now`, not below zero.
    pub fn read(&self, now: Time) -> Time {
        Time(now.0.saturating_add_signed(self.offset_ps))
    }
}

/// What an endpoint is given with every call.
#[derive(Debug)]
pub struct Cx<'a> {
    /// The instant of this call, by the driver's clock: true time in a simulator, a monotonic clock on a real host, from
    /// whatever start. It never goes back from call to call; it may be later than a due timer.
    pub now: Time,
    /// What the host's own clock reads when the driver's reads `now`, for protocols that compare stamps of two hosts. On a
    /// real host they are one clock: the default.
    pub clock: LocalClock,
    /// The host's random stream.
    pub rng: &'a mut Stream,
}

/// What the host knows of a packet's arrival besides the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxMeta {
    /// When the packet's last bit arrived at the host; `Cx::now` may be later. The time between them is the host's delay. It is
    /// part of round-trip times, which end at `Cx::now`, and not of one-way delays, which end at the stamp. Controllers that
    /// tell hosts from the network are given it separately (Swift's endpoint window). A real host may pass the stamp as
    /// `Cx::now`, unless time would go back: round-trip times are then without the delay of this host, which is 0.
    pub stamp: Time,
    /// What the host adds by mistake to the delays that it measures with this packet.
    pub noise: Span,
}

/// A name an endpoint gives a packet whose true transmission time it wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SendId(pub NonZeroU64);

/// An endpoint's answer when it is asked what to send.
// A tag of its own: in a corner of the packet, as the compiler would have it, it keeps processors from copying the packet
// as it is.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Tx<B> {
    /// This packet, now. The endpoint fills all of the header but `entropy` where paths are per packet.
    Send {
        /// The packet.
        packet: Packet<B>,
        /// Where the true transmission time is wanted: the name `on_departure` will give.
        id: Option<SendId>,
    },
    /// Nothing before this instant, however the pacing decides; ask again then or after any other call.
    NotBefore(Time),
    /// Nothing until another call changes that.
    Idle,
}

/// What became of a packet that was sent with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Its transmission began at this instant.
    Sent(Time),
    /// It found no room in the host's transmit queue, or was pushed out of it.
    Dropped,
}

/// A host's transport: one state machine for all flows that start or end there.
///
/// The driver calls in any order, with `Cx::now` never going back, and after *every* call asks
/// `poll_event` until `None` and, whenever it can take a packet, `poll_transmit`.
pub trait Endpoint: Send {
    /// What this transport writes in its packets.
    type Body: crate::packet::Body;

    /// The application starts `flow` here, its source. Called once per flow; its id is of no flow that this host sends, nor
    /// of one to the same host that ended less than [`RealHost::time_wait`] ago. `path` says what the driver knows of
    /// the flow's path; transports that do not start from it never call it.
    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo);

    /// Something changes in mid-life: a flow, or a setting of all flows.
    fn control(&mut self, cx: &mut Cx, command: Command);

    /// A packet for this host arrived. Any packet that [`crate::wire`] decodes is legal: duplicates, strays of finished
    /// flows, old ones, and those that no honest peer sends. A driver that carries bytes stores those of payload by
    /// source, flow and offset before this call, and reads them as [`Event::Readable`] tells.
    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Self::Body>);

    /// The instant of `next_timeout` has come. May be late, and may find that nothing is due. What goes at a rate counts
    /// from when it was due, so that late calls cost no rate as far as [`RealHost::catch_up`] goes.
    fn on_timer(&mut self, cx: &mut Cx);

    /// When `on_timer` wants to be called; `None` for never. May be earlier than needed, never later.
    fn next_timeout(&self) -> Option<Time>;

    /// The line (or the transmit queue) takes a packet: which? A packet given away counts as sent.
    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<Self::Body>;

    /// The packet named `id` left the host's transmit queue. Only called for packets sent with a name. Default: nothing.
    fn on_departure(&mut self, cx: &mut Cx, id: SendId, departure: Departure) {
        let _ = (cx, id, departure);
    }

    /// The next thing the host's applications should know.
    fn poll_event(&mut self) -> Option<Event>;

    /// What the endpoint has counted so far. Default: nothing.
    fn stats(&self) -> Stats {
        Stats::default()
    }

    /// Tells `see` what this endpoint, the sender of `flow`, knows of it: a name and a value each, the unit in
    /// the name (`cwnd_bytes`, `srtt_ps`; none for plain numbers), names in an order that never changes.
    /// Changes nothing; called only when a flow is traced. Says nothing of flows that it does not send, or sends
    /// no more. Default: nothing.
    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        let _ = (flow, see);
    }
}

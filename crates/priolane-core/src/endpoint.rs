//! The contract between a host's transport and its driver: a simulator or real sockets.
//!
//! Each host has one endpoint. The driver passes it time, packets and a random stream, and polls it for packets to
//! send. The endpoint owns no clock, no socket and no randomness, so the same compiled code runs anywhere, and a test
//! can drive two endpoints directly.

mod control;
mod event;
mod flow;
mod local_host;
mod path;

use std::num::NonZeroU64;

use crate::ids::{FlowId, HostId};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Span, Time};
pub use control::{Command, Control, ThresholdSet, Thresholds};
pub use event::{CreditStats, Event, FlowReport, PayloadStats, Rejection, Stats};
pub use flow::{FlowRequest, FlowSpec, Weights};
pub use local_host::{Clocks, LocalHost, RealHost};
pub use path::{BaseDelay, Path, PathInfo};

/// A host's own clock: maps true time to the host's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LocalClock {
    /// Offset from true time, in picoseconds (may be negative).
    pub offset_ps: i64,
}

impl LocalClock {
    /// Returns the reading of this clock at the true instant `now`, at least zero.
    pub fn read(&self, now: Time) -> Time {
        Time(now.0.saturating_add_signed(self.offset_ps))
    }
}

/// Context that a driver passes to every call of an endpoint.
#[derive(Debug)]
pub struct Cx<'a> {
    /// Time of this call, by the driver's clock: true time in a simulator, a monotonic clock with any origin on a real
    /// host. It never decreases from call to call. It may be later than a timer that is due.
    pub now: Time,
    /// The host's own clock, for protocols that compare timestamps of two hosts. On a real host it equals the driver's
    /// clock: the default.
    pub clock: LocalClock,
    /// The host's random stream.
    pub rng: &'a mut Stream,
}

/// The properties of a packet's arrival that the host knows in addition to the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxMeta {
    /// The time at which the packet's last bit arrived at the host; `Cx::now` may be later. The difference is the host
    /// delay. Round-trip times end at `Cx::now` and include it; one-way delays end at the stamp and do not. Controllers
    /// that separate host from network delay receive it separately (Swift's endpoint window). A real host may pass the
    /// stamp as `Cx::now`, unless time would go back: round-trip times then have a host delay of 0.
    pub stamp: Time,
    /// Measurement error the host adds to delays sampled from this packet.
    pub noise: Span,
}

/// Identifies a packet whose actual transmission time the endpoint wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SendId(pub NonZeroU64);

/// Reply of an endpoint to `poll_transmit`.
// A tag of its own: by default the compiler stores it in a niche of the packet, which keeps processors from copying
// the packet as one block.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Tx<B> {
    /// Sends this packet now. The endpoint fills the whole header, except `entropy` if paths are chosen per packet.
    Send {
        /// The packet.
        packet: Packet<B>,
        /// Set if the transmission time is wanted: the identifier that `on_departure` receives.
        id: Option<SendId>,
    },
    /// Sends nothing before this instant, because of pacing. Poll again then, or after any other call.
    NotBefore(Time),
    /// Sends nothing until another call changes the state.
    Idle,
}

/// The packets that an endpoint waits to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Whether a control packet, which leaves before data, waits.
    pub control: bool,
    /// The number of flows with data to send, or more if the endpoint does not know.
    pub flows: usize,
}

/// Outcome of a packet that was sent with a `SendId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Its transmission began at this instant.
    Sent(Time),
    /// The host's transmit queue had no room for it, or evicted it.
    Dropped,
}

/// A host's transport: one state machine for all flows that start or end at the host.
///
/// The driver calls the methods in any order; `Cx::now` never decreases. After *every* call it polls `poll_event`
/// until `None` and, whenever it can take a packet, `poll_transmit`.
pub trait Endpoint: Send {
    /// The body of this transport's packets.
    type Body: crate::packet::Body;

    /// Starts `flow`, whose source is this host. Called once per flow. The id belongs to no flow that this host sends,
    /// and to none to the same host that ended less than [`RealHost::time_wait`] ago. `path` returns what the driver
    /// knows of the flow's path; only transports that start from it call it.
    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, path: &dyn Fn() -> PathInfo);

    /// Changes a running flow, or a setting of all flows.
    fn control(&mut self, cx: &mut Cx, command: Command);

    /// Processes a packet for this host. Any packet that [`crate::wire`] decodes is valid: duplicates, packets of
    /// finished flows, old packets, and packets that no honest peer sends. A driver that carries bytes stores the
    /// payload by source, flow and offset before this call, and reads it as [`Event::Readable`] reports.
    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Self::Body>);

    /// Processes a packet as `on_packet` does. May also answer the poll that follows: `Some` is the answer of
    /// `poll_transmit`, and no event is left to be polled before it. Only for a driver that would poll now. Default:
    /// `on_packet`, without an answer.
    #[inline]
    fn respond(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Self::Body>) -> Option<Tx<Self::Body>> {
        self.on_packet(cx, meta, packet);
        None
    }

    /// Prefetches the state of a packet's flow before the packet is processed. Default: nothing.
    #[inline]
    fn prefetch(&self, header: &crate::packet::Header) {
        let _ = header;
    }

    /// Handles the timer set by `next_timeout`. The call may be late, and may find that nothing is due. Paced packets
    /// count from their due time, so late calls cost no rate, up to [`RealHost::catch_up`].
    fn on_timer(&mut self, cx: &mut Cx);

    /// Returns when to call `on_timer`; `None` for never. The instant may be earlier than needed, never later.
    fn next_timeout(&self) -> Option<Time>;

    /// Returns the next packet for the link (or the transmit queue). A returned packet counts as sent.
    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<Self::Body>;

    /// Returns false only if `poll_transmit` would return `Idle` and change nothing. Default: true.
    #[inline]
    fn may_transmit(&self) -> bool {
        true
    }

    /// Returns what waits to be sent. Default: one flow, if `may_transmit` is true.
    fn waiting(&self) -> Waiting {
        Waiting { control: false, flows: usize::from(self.may_transmit()) }
    }

    /// Reports that the packet `id` left the host's transmit queue. Called only for packets sent with a `SendId`.
    /// Default: does nothing.
    fn on_departure(&mut self, cx: &mut Cx, id: SendId, departure: Departure) {
        let _ = (cx, id, departure);
    }

    /// Returns the next event for the host's applications and controllers.
    fn poll_event(&mut self) -> Option<Event>;

    /// Returns true while `flow` from `src` is being received and is incomplete: a driver stores bytes of such flows only.
    /// Default: yes.
    fn is_receiving(&self, src: HostId, flow: FlowId) -> bool {
        let _ = (src, flow);
        true
    }

    /// Returns the counters of the endpoint. Default: none.
    fn stats(&self) -> Stats {
        Stats::default()
    }

    /// Calls `see` with each state variable that this endpoint, the sender of `flow`, has for it. The unit is in the
    /// name (`cwnd_bytes`, `srtt_ps`; none for plain numbers), and the order of names never changes. Changes no state,
    /// and is called only when a flow is traced. Reports nothing for flows that it does not send or no longer sends.
    /// Default: reports nothing.
    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        let _ = (flow, see);
    }
}

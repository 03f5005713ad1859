//! The contract between a host's transport and whatever drives it: simulated time or real sockets.
//!
//! One endpoint per host. It is *given* time, packets and a random stream, and *asked* what to send.
//! It owns no clock, no socket and no randomness, so the same compiled code runs anywhere and a test
//! can drive two of them by hand.

mod event;
mod flow;
mod path;

use std::num::NonZeroU64;

use crate::assign::control::Thresholds;
use crate::ids::FlowId;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::transport::tokens::Account;
use crate::units::{Rate, Span, Time};
pub use event::{Event, FlowReport};
pub use flow::{Control, FlowSpec, Weights};
pub use path::{BaseDelay, Path};

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
    /// The instant of this call. It never goes back from call to call; it may be later than a due timer.
    pub now: Time,
    /// The host's own clock, for protocols that compare stamps of two hosts.
    pub clock: LocalClock,
    /// The host's random stream.
    pub rng: &'a mut Stream,
}

/// What the host knows of a packet's arrival besides the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxMeta {
    /// When the packet's last bit arrived at the host; `Cx::now` may be later.
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
        /// Where the true transmission time is wanted: the name `on_sent` will give.
        id: Option<SendId>,
    },
    /// Nothing before this instant, however the pacing decides; ask again then or after any other call.
    NotBefore(Time),
    /// Nothing until another call changes that.
    Idle,
}

/// A host's transport: one state machine for all flows that start or end there.
///
/// The driver calls in any order, with `Cx::now` never going back, and after *every* call asks
/// `poll_event` until `None` and, whenever it can take a packet, `poll_transmit`.
pub trait Endpoint: Send {
    /// What this transport writes in its packets.
    type Body: crate::packet::Body;

    /// The host's line has this rate. Called once, before any other call, by drivers that know it. Default: nothing.
    fn attach(&mut self, line: Rate) {
        let _ = line;
    }

    /// The application starts `flow` here. Called once per flow, at its source (or [`Self::open_on`] is).
    fn open(&mut self, cx: &mut Cx, flow: FlowSpec);

    /// As [`Self::open`], by a driver that knows the network: `path` finds the flow's way through it, for transports
    /// that start from that. Default: `open`.
    fn open_on(&mut self, cx: &mut Cx, flow: FlowSpec, path: &dyn Fn() -> Path) {
        let _ = path;
        self.open(cx, flow);
    }

    /// Something changes a flow in mid-life. Unknown or finished flows are ignored.
    fn control(&mut self, cx: &mut Cx, id: FlowId, control: Control);

    /// The host's ladder of demotion thresholds changes, for flows under way too. A transport that assigns nothing by
    /// bytes sent has none; experiments refuse to adapt what such a transport does not have.
    fn set_thresholds(&mut self, cx: &mut Cx, thresholds: &Thresholds) {
        let _ = (cx, thresholds);
    }

    /// A packet for this host arrived. Any packet is legal: duplicates, strays of finished flows, old ones.
    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<Self::Body>);

    /// The instant of `next_timeout` has come. May be late, and may find that nothing is due.
    fn on_timer(&mut self, cx: &mut Cx);

    /// When `on_timer` wants to be called; `None` for never. May be earlier than needed, never later.
    fn next_timeout(&self) -> Option<Time>;

    /// The line (or the transmit queue) takes a packet: which? A packet given away counts as sent.
    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<Self::Body>;

    /// The packet named `id` began its transmission at `at`. Only called for packets sent with a name.
    fn on_sent(&mut self, cx: &mut Cx, id: SendId, at: Time) {
        let _ = (cx, id, at);
    }

    /// The packet named `id` found no room in the host's transmit queue, or was pushed out of it. Only called for
    /// packets sent with a name.
    fn on_refused(&mut self, cx: &mut Cx, id: SendId) {
        let _ = (cx, id);
    }

    /// The next thing the host's applications should know.
    fn poll_event(&mut self) -> Option<Event>;

    /// What became of tokens here so far; `None` if the transport has none that ports limit. Default: none.
    fn token_account(&self) -> Option<Account> {
        None
    }

    /// Tells `see` what this endpoint, the sender of `flow`, knows of it: a name and a value each, the unit in
    /// the name (`cwnd_bytes`, `srtt_ps`; none for plain numbers), names in an order that never changes.
    /// Changes nothing; called only when a flow is traced. Says nothing of flows that it does not send, or sends
    /// no more. Default: nothing.
    fn inspect(&self, flow: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        let _ = (flow, see);
    }
}

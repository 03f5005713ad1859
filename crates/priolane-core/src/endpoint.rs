//! The contract between a host's transport and whatever drives it: simulated time or real sockets.
//!
//! One endpoint per host. It is *given* time, packets and a random stream, and *asked* what to send.
//! It owns no clock, no socket and no randomness, so the same compiled code runs anywhere and a test
//! can drive two of them by hand.

use std::num::NonZeroU64;

use crate::assign::control::Thresholds;
use crate::ids::{Class, CoflowId, FlowId, HostId};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::transport::tokens::Account;
use crate::units::{Rate, Span, Time};

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

/// What is known of a flow when the application starts it at its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSpec {
    /// The flow's name, unique in the run.
    pub id: FlowId,
    /// The sending host.
    pub src: HostId,
    /// The receiving host; never `src`.
    pub dst: HostId,
    /// Payload bytes, at least 1; `None` for a flow without end.
    pub size: Option<u64>,
    /// When the application starts it.
    pub start: Time,
    /// The class it asks for before any admission or assignment by bytes, 0 first.
    pub class: Class,
    /// When its last byte should have arrived, if it has a deadline.
    pub deadline: Option<Time>,
    /// The group of the experiment it belongs to.
    pub group: u16,
    /// What its path is a function of, besides switch and destination.
    pub entropy: u16,
    /// The coflow of its group that it belongs to, if any.
    pub coflow: Option<CoflowId>,
    /// The place of its coflow among all by bytes, the smallest 0, where the scheme has applications tell hosts; else 0.
    pub coflow_place: u32,
    /// Its minimum rate and weight at the start, for transports that honour them.
    pub weights: Weights,
}

/// The way between the two ends of a flow, while nothing else is on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Links from the source to the destination.
    pub hops: u32,
    /// The rate of the slowest of them: how fast a flow alone can be.
    pub rate: Rate,
    /// What a full data packet and its answer take.
    pub data: BaseDelay,
    /// What a control packet, such as a probe, and its answer take.
    pub control: BaseDelay,
}

/// What a packet takes on an empty network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseDelay {
    /// From the start of its transmission to the arrival of its last bit at the other end.
    pub one_way: Span,
    /// From the start of its transmission until its sender has processed the answer, a control packet.
    pub round_trip: Span,
}

impl Path {
    /// Two links of 10 Gbps and 10 us there and back, whatever the packet: what drivers that know nothing of paths stand
    /// for, such as tests.
    pub const NOMINAL: Self = {
        let delay = BaseDelay { one_way: Span::from_us(5), round_trip: Span::from_us(10) };
        Self { hops: 2, rate: Rate::from_gbps(10), data: delay, control: delay }
    };

    /// Bytes that fill the path: its rate times its round-trip time, at least 1.
    pub fn bdp(&self) -> u64 {
        self.rate.bytes_in(self.data.round_trip).max(1)
    }
}

/// What a flow (or a virtual machine) pays for: a minimum rate theta and a weight w (PACCP §III).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Minimum rate; `None` asks for none.
    pub theta: Option<Rate>,
    /// Share of what is left, relative to a best-effort flow's 1, in thousandths; at least 1.
    pub w_milli: u32,
}

impl Weights {
    /// Best effort: (theta, w) = (0, 1).
    pub const BEST_EFFORT: Self = Self { theta: None, w_milli: 1_000 };

    /// w as a number.
    pub fn w(self) -> f64 {
        f64::from(self.w_milli) / 1e3
    }

    /// theta in bits per second; 0 without one.
    pub fn theta_bps(self) -> u64 {
        self.theta.map_or(0, Rate::bps)
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self::BEST_EFFORT
    }
}

/// A change of a flow in mid-life, from an application, an admission policy or a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Control {
    /// The flow's class from now on, 0 first.
    Class(Class),
    /// The flow's class from the moment on at which nothing of it is on its way, so that it overtakes none of its own
    /// packets; until then it sends nothing new (PASE, SIGCOMM 2014). A later `Class` or `Promote` replaces it.
    Promote(Class),
    /// The flow's minimum rate and weight from now on (PACCP).
    Weights {
        /// Minimum rate; `None` asks for none.
        theta: Option<Rate>,
        /// Share of what is left, relative to a best-effort flow's 1, in thousandths.
        w_milli: u32,
    },
    /// Stop the flow and forget it; it never completes.
    Abort,
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

/// What an endpoint tells the host's applications and controllers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The last payload byte of a flow arrived at this, the receiving, endpoint, or it learned of the last that
    /// will not.
    Delivered {
        /// The flow.
        flow: FlowId,
        /// When the packet that completed it arrived (the rx stamp).
        at: Time,
        /// Payload bytes that were given up before they arrived; 0 for reliable transports.
        missing: u64,
    },
    /// The sender of a flow knows all of it delivered (or stopped an unreliable one).
    Completed(FlowReport),
    /// A monitor interval of a flow ended at its sender.
    Report(FlowReport),
    /// The class a flow's new packets carry changed by admission.
    ClassChanged {
        /// The flow.
        flow: FlowId,
        /// The class from now on.
        class: Class,
    },
}

/// What the *sender* of a flow can observe of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowReport {
    /// The flow.
    pub flow: FlowId,
    /// Payload bytes acknowledged so far, by SACK blocks too where the transport uses them, so that the repair of a
    /// loss does not make them jump; those that an unreliable transport gave up included.
    pub bytes: u64,
    /// Payload bytes still to be acknowledged; 0 at completion, `u64::MAX` for a flow without end.
    pub remaining: u64,
    /// Mean goodput since the flow started, in bits per second.
    pub rate_bps: u64,
    /// Payload bytes sent again.
    pub retransmitted: u64,
    /// Packets sent again.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Smoothed round-trip time; zero before the first sample.
    pub rtt: Span,
    /// Time since the application started the flow; at completion this is `fct_acked`.
    pub elapsed: Span,
    /// The class of the first payload packet.
    pub class_first: Class,
    /// The class of the payload packet sent last.
    pub class_last: Class,
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

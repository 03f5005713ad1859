//! What controllers that go by delay have in common: the delay, sizes in packets or in paths, pacing below a packet.

use super::common::paced_from;
use super::window::{AckSeen, Gate, ProbeSeen};
use crate::endpoint::{BaseDelay, Path};
use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, Words, Written};
use crate::units::{Span, Time};

/// Which delay a controller goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Signal {
    /// From the transmission of a packet to the processing of its ACK.
    #[default]
    Rtt,
    /// From the transmission of a packet to its arrival, by the clocks of its two ends.
    OneWay,
}

impl Signal {
    /// The delay that `ack` reports, in picoseconds; below zero only where clocks differ.
    #[inline]
    pub(super) fn of(self, ack: &AckSeen) -> Option<f64> {
        match self {
            Self::Rtt => ack.rtt.map(|rtt| rtt.0 as f64),
            Self::OneWay => Some(ack.one_way_ps as f64),
        }
    }

    /// The delay that a probe found.
    pub(super) fn of_probe(self, answer: &ProbeSeen) -> f64 {
        match self {
            Self::Rtt => answer.rtt.0 as f64,
            Self::OneWay => answer.one_way_ps as f64,
        }
    }

    /// This delay on an empty path, in picoseconds.
    pub(super) fn base(self, delay: &BaseDelay) -> f64 {
        match self {
            Self::Rtt => delay.round_trip.0 as f64,
            Self::OneWay => delay.one_way.0 as f64,
        }
    }
}

/// A number of bytes, by what it is a multiple of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Size {
    /// So many full packets.
    Packets(f64),
    /// So many times what fills the flow's path, its rate times its round-trip time.
    Bdp(f64),
}

/// `"0.1pkt"`, `"1bdp"`.
impl KeyValue for Size {
    const UNIT: &'static str = "pkt or bdp";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        let Value::Text(text) = value else { return Err(value.unfit("a string in quotes")) };
        let units = [("pkt", Self::Packets as fn(f64) -> Self), ("bdp", Self::Bdp)];
        let found = units.iter().find_map(|(unit, of)| Some((text.trim().strip_suffix(unit)?.trim(), of)));
        let number = found.and_then(|(digits, of)| Some((digits.parse::<f64>().ok()?, of)));
        match number {
            Some((n, _)) if n == 0.0 && !bounds.has(n) => {
                Err(KeyError::new("this is zero", "such as \"0.001pkt\""))
            }
            Some((n, of)) if n.is_finite() && n >= 0.0 => Ok(of(n)),
            _ => Err(KeyError::new(
                "this is no window",
                "packets such as \"0.1pkt\", or paths such as \"1bdp\"",
            )),
        }
    }

    fn write(&self) -> Written {
        Written::Text(match self {
            Self::Packets(n) => format!("{n}pkt"),
            Self::Bdp(n) => format!("{n}bdp"),
        })
    }

    fn schema() -> Schema {
        Schema::Quantity("1bdp")
    }
}

impl Size {
    /// It in bytes, for packets of `mss` bytes on `path`.
    pub(super) fn bytes(self, mss: u64, path: &Path) -> f64 {
        match self {
            Self::Packets(n) => n * mss as f64,
            Self::Bdp(n) => n * path.bdp() as f64,
        }
    }
}

/// The channels of delay that classes have (PrioPlus §4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channels {
    /// Number of channels.
    pub priorities: u8,
    /// The highest D_limit of a class that yields, above the delay of the empty path.
    pub limit: Span,
    /// A: what the controller makes the delay vary by.
    pub fluctuation: Span,
    /// B: what hosts may get wrong of the delay.
    pub noise: Span,
}

/// A controller that keeps the delay of its packets about a target: what PrioPlus is laid around.
pub trait DelayBased: super::window::CongestionControl {
    /// Which delay it goes by.
    fn signal(config: &Self::Config) -> Signal;

    /// The congestion window in bytes, perhaps less than a segment.
    fn cwnd(&self) -> f64;

    /// Sets the congestion window, in bytes.
    fn set_cwnd(&mut self, bytes: f64);

    /// Keeps the delay about `aim` from now on, instead of a target of its own.
    fn set_aim(&mut self, aim: Aim);

    /// Bytes that a round trip below the target adds to a window of a segment or more.
    fn step(&self) -> f64;

    /// Sets [`Self::step`].
    fn set_step(&mut self, bytes: f64);
}

/// A fixed target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Aim {
    /// The target, in picoseconds.
    pub target: f64,
    /// The delay on an empty path, in picoseconds, below the target.
    pub base: f64,
    /// The least time between two decreases; `None` for the round-trip time at the second.
    pub decrease_every: Option<Span>,
}

/// When the last packet of a paced flow was sent, or should have been: lateness is made up, as far as a real host says.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastSent {
    /// `Time::NEVER` before the first.
    at: Time,
    catch_up: Span,
}

impl LastSent {
    pub(super) const NEVER: Self = Self::with(Span::ZERO);

    /// Before the first packet; up to `catch_up` of lateness is made up.
    pub(super) const fn with(catch_up: Span) -> Self {
        Self { at: Time::NEVER, catch_up }
    }

    /// Whether lateness is made up, so that [`Self::sent`] must know the gate.
    #[inline]
    pub(super) fn makes_up(&self) -> bool {
        self.catch_up > Span::ZERO
    }

    /// A packet was sent; `gate` is what held it back until then.
    #[inline]
    pub(super) fn sent(&mut self, now: Time, gate: Gate) {
        self.at = match gate {
            Gate::NotBefore(due) => paced_from(due, now, self.catch_up),
            _ => now,
        };
    }

    /// When that was, if ever.
    #[inline]
    pub(super) fn at(&self) -> Option<Time> {
        (self.at != Time::NEVER).then_some(self.at)
    }
}

/// Pacing of windows below a packet: one in each round trip over the window (Swift §3.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    last: LastSent,
}

impl Pacer {
    pub(super) const NEW: Self = Self { last: LastSent::NEVER };

    /// A pacer that makes up `catch_up` of lateness.
    pub(super) const fn with(catch_up: Span) -> Self {
        Self { last: LastSent::with(catch_up) }
    }

    /// A packet was sent, with a window of `cwnd` of `mss` bytes and this round-trip time.
    #[inline]
    pub(super) fn sent(&mut self, now: Time, (cwnd, mss, rtt): (f64, u64, Span)) {
        let gate = if self.last.makes_up() { self.gate(cwnd, mss, rtt) } else { Gate::Open };
        self.last.sent(now, gate);
    }

    /// When the next packet of a flow with a window of `cwnd` of `mss` bytes and this round-trip time may go.
    #[inline]
    pub(super) fn gate(&self, cwnd: f64, mss: u64, rtt: Span) -> Gate {
        match self.last.at() {
            Some(last) if cwnd < mss as f64 => {
                // Casts saturate.
                let gap = (rtt.0 as f64 * mss as f64 / cwnd) as u64;
                Gate::NotBefore(Time(last.0.saturating_add(gap)))
            }
            _ => Gate::Open,
        }
    }
}

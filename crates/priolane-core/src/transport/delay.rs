//! What controllers that go by delay have in common: the delay, sizes in packets or in paths.

use super::window::{AckEvent, ProbeReply};
use crate::endpoint::{BaseDelay, Path};
use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, Words, Written};
use crate::units::Span;

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
    pub(super) fn of(self, ack: &AckEvent) -> Option<f64> {
        match self {
            Self::Rtt => ack.rtt.map(|rtt| rtt.0 as f64),
            Self::OneWay => Some(ack.one_way_ps as f64),
        }
    }

    /// The delay that a probe found.
    pub(super) fn of_probe(self, answer: &ProbeReply) -> f64 {
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

    /// Keeps the delay about `fixed_target` from now on, instead of a target of its own.
    fn set_fixed_target(&mut self, fixed_target: FixedTarget);

    /// Bytes that a round trip below the target adds to a window of a segment or more.
    fn step(&self) -> f64;

    /// Sets [`Self::step`].
    fn set_step(&mut self, bytes: f64);
}

/// A fixed target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FixedTarget {
    /// The target, in picoseconds.
    pub target: f64,
    /// The delay on an empty path, in picoseconds, below the target.
    pub base: f64,
    /// The least time between two decreases; `None` for the round-trip time at the second.
    pub decrease_every: Option<Span>,
}

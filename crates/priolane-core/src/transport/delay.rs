//! Types shared by delay-based controllers: the delay signal, window sizes in packets or path BDPs.

use super::window::{AckEvent, ProbeReply};
use crate::endpoint::{BaseDelay, Path};
use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, Words, WrittenValue};
use crate::units::Span;

/// The delay that a controller uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Signal {
    /// From the transmission of a packet to the processing of its ACK.
    #[default]
    Rtt,
    /// From the transmission of a packet to its arrival, by the clocks of the two hosts.
    OneWay,
}

impl Signal {
    /// Returns the delay that `ack` reports, in picoseconds; negative only if the clocks differ.
    #[inline]
    pub(super) fn of(self, ack: &AckEvent) -> Option<f64> {
        match self {
            Self::Rtt => ack.rtt.map(|rtt| rtt.0 as f64),
            Self::OneWay => Some(ack.one_way_ps as f64),
        }
    }

    /// Returns the delay measured by a probe, in picoseconds.
    pub(super) fn of_probe(self, answer: &ProbeReply) -> f64 {
        match self {
            Self::Rtt => answer.rtt.0 as f64,
            Self::OneWay => answer.one_way_ps as f64,
        }
    }

    /// Returns this delay on an empty path, in picoseconds.
    pub(super) fn base(self, delay: &BaseDelay) -> f64 {
        match self {
            Self::Rtt => delay.round_trip.0 as f64,
            Self::OneWay => delay.one_way.0 as f64,
        }
    }
}

/// A number of bytes in units of packets or of the path's bandwidth-delay product.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Size {
    /// A multiple of the maximum segment size.
    Packets(f64),
    /// A multiple of the bandwidth-delay product of the flow's path: its rate times its round-trip time.
    Bdp(f64),
}

/// Written as `"0.1pkt"` or `"1bdp"`.
impl KeyValue for Size {
    const UNIT: &'static str = "pkt or bdp";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        let Value::Text(text) = value else { return Err(value.unfit("a string in quotes")) };
        let units = [("pkt", Self::Packets as fn(f64) -> Self), ("bdp", Self::Bdp)];
        let found = units.iter().find_map(|(unit, of)| Some((text.trim().strip_suffix(unit)?.trim(), of)));
        let number = found.and_then(|(digits, of)| Some((digits.parse::<f64>().ok()?, of)));
        match number {
            Some((n, _)) if n == 0.0 && !bounds.has(n) => {
                Err(KeyError::new("the window is zero", "a window above zero, such as \"0.001pkt\""))
            }
            Some((n, of)) if n.is_finite() && n >= 0.0 => Ok(of(n)),
            _ => Err(KeyError::new(
                "the value is not a window",
                "packets, such as \"0.1pkt\", or bandwidth-delay products, such as \"1bdp\"",
            )),
        }
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Text(match self {
            Self::Packets(n) => format!("{n}pkt"),
            Self::Bdp(n) => format!("{n}bdp"),
        })
    }

    fn schema() -> Schema {
        Schema::Quantity("1bdp")
    }
}

impl Size {
    /// Returns the size in bytes, for packets of `mss` bytes on `path`.
    pub(super) fn bytes(self, mss: u64, path: &Path) -> f64 {
        match self {
            Self::Packets(n) => n * mss as f64,
            Self::Bdp(n) => n * path.bdp() as f64,
        }
    }
}

/// A controller that keeps the delay of its packets near a target; PrioPlus wraps one.
pub trait DelayBased: super::window::CongestionControl {
    /// Returns the delay signal that it uses.
    fn signal(config: &Self::Config) -> Signal;

    /// Returns the congestion window in bytes, which may be less than a segment.
    fn cwnd(&self) -> f64;

    /// Sets the congestion window, in bytes.
    fn set_cwnd(&mut self, bytes: f64);

    /// Replaces the controller's own target by `fixed_target` from now on.
    fn set_fixed_target(&mut self, fixed_target: FixedTarget);

    /// Returns the bytes that a round trip below the target adds to a window of at least one segment.
    fn step(&self) -> f64;

    /// Whether the controller itself divides what an ACK adds by more than the window, as PrioPlus's simulator does.
    fn divides_by_more(&self) -> bool {
        false
    }

    /// Sets [`Self::step`].
    fn set_step(&mut self, bytes: f64);

    /// Returns the bytes that an acknowledged segment adds to a window of at most one segment, at a delay in
    /// picoseconds below the target. By default [`Self::step`].
    fn growth(&self, delay: f64) -> f64 {
        let _ = delay;
        self.step()
    }
}

/// A fixed delay target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FixedTarget {
    /// The target, in picoseconds.
    pub target: f64,
    /// The delay on an empty path, in picoseconds, below the target.
    pub base: f64,
    /// The minimum time between two decreases; `None` for the round-trip time at the second.
    pub decrease_every: Option<Span>,
}

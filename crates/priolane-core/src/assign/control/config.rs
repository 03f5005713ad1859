//! Keys of `controller`.

use crate::keys::{Bounds, ByteList, Bytes, Form, KeyError, KeyValue, Keys, Schema, Value, WrittenValue};
use crate::units::Span;

/// The recomputation of thresholds every period: those with `from = "local"` by each host from its own flows, all
/// others by a controller from the reports of all hosts.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
pub struct Config {
    /// Time between two reports of a host.
    #[key(required = "period = \"50ms\"", range = "(0, )", source = "NOS2 (GLOBECOM 2019) §IV")]
    pub period: Span,
    /// One-way delay of a message between host and controller, at least the engine's lookahead window.
    #[key(required = "delay = \"1ms\"", range = "(0, )", source = "docs/assumptions.md#controller")]
    pub delay: Span,
    /// Number of flows in a host's estimate.
    #[key(default = 1_000, range = "[1, 1000000]", source = "docs/assumptions.md#controller")]
    pub window: u32,
    /// Minimum number of flows for new thresholds: of one host for its own, of all hosts for those of switches.
    #[key(default = 100, range = "[1, 1000000]", source = "docs/assumptions.md#controller")]
    pub min_samples: u32,
    /// Periods after which a report expires.
    #[key(default = 4, range = "[1, 1000000]", source = "docs/assumptions.md#controller")]
    pub max_age: u32,
    /// The smallest and the largest threshold.
    #[key(default = ThresholdRange { min: 1_000, max: 1_000_000_000 }, source = "docs/assumptions.md#controller")]
    pub bounds: ThresholdRange,
    /// Probability that a report is lost.
    #[key(default = 0.0, range = "[0, 1]", source = "docs/assumptions.md#controller")]
    pub report_loss: f64,
    /// Maximum extra delay of a report, uniformly distributed.
    #[key(default = Span::ZERO, source = "docs/assumptions.md#controller")]
    pub report_jitter: Span,
    /// Load that solvers assume; by default that of the traffic, computed when the experiment is planned.
    #[key(optional, range = "[0.001, 0.999]", source = "docs/assumptions.md#controller")]
    pub load: Option<f64>,
}

/// The range of thresholds that a controller sets, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdRange {
    /// The smallest threshold.
    pub min: u64,
    /// The largest threshold, not below `min`.
    pub max: u64,
}

impl ThresholdRange {
    /// Returns `threshold` clamped to the range.
    pub fn clamp(&self, threshold: u64) -> u64 {
        threshold.min(self.max).max(self.min)
    }
}

impl KeyValue for ThresholdRange {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        const FIX: &str = "bounds = [\"1kB\", \"1GB\"]: the smallest and the largest threshold";
        match ByteList::read(value, bounds)?[..] {
            [min, max] if min > max => Err(KeyError::new("the smallest threshold is above the largest", FIX)),
            [min, max] => Ok(Self { min, max }),
            _ => Err(KeyError::new("the list does not have two sizes", FIX)),
        }
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::List([self.min, self.max].iter().map(Bytes::write).collect())
    }

    fn schema() -> Schema {
        ByteList::schema()
    }
}

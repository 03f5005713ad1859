//! Keys shared by several apps: the size of a flow, and start times.

use priolane_core::keys::{Bounds, Form, KeyError, Keys, Schema, Value, WrittenValue};
use priolane_core::quantity::{self, show_bytes};
use priolane_core::rng::Stream;
use priolane_core::units::{Span, Time};

use super::error::AppError;
use super::flow_factory::jittered;

/// Payload bytes of a flow, at least 1: `"64kB"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload;

impl Form<u64> for Payload {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<u64, KeyError> {
        match quantity::bytes(value.quantity("1.5MB")?)? {
            0 => Err(KeyError::new("the flow has no bytes", "at least \"1B\"")),
            bytes => Ok(bytes),
        }
    }

    fn write(value: &u64) -> WrittenValue {
        WrittenValue::Text(show_bytes(*value))
    }

    fn schema() -> Schema {
        Schema::Quantity("64kB")
    }
}

/// Payload bytes of a flow, or `"endless"` for one without end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadOrEndless;

impl Form<Option<u64>> for PayloadOrEndless {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Option<u64>, KeyError> {
        match value {
            Value::Text("endless") => Ok(None),
            _ => Payload::read(value, bounds).map(Some),
        }
    }

    fn write(value: &Option<u64>) -> WrittenValue {
        value.as_ref().map_or_else(|| "endless".into(), Payload::write)
    }

    fn schema() -> Schema {
        Schema::Quantity("1MB")
    }
}

/// The start times of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "starts")]
pub struct Starts {
    /// The earliest start.
    #[key(default = Span::ZERO)]
    pub start: Span,
    /// Maximum additional delay of a flow's start, drawn uniformly.
    #[key(default = Span::ZERO)]
    pub jitter: Span,
}

impl Starts {
    /// Returns starts from time 0 to `jitter`.
    pub const fn within(jitter: Span) -> Self {
        Self { start: Span::ZERO, jitter }
    }

    /// Returns the earliest start.
    pub(crate) fn first(&self) -> Time {
        Time(self.start.0)
    }

    /// Draws the start of a flow.
    pub(crate) fn draw(&self, stream: &mut Stream) -> Result<Time, AppError> {
        jittered(self.first(), self.jitter, stream)
    }
}

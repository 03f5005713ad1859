//! Thresholds that follow the workload: how hosts report and the controller answers.

use priolane_core::units::Span;
use serde::Serialize;

use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError};

/// Thresholds found again every period: those `from = "local"` by each host from its own flows, all others by a
/// controller from the reports of all hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Controller {
    /// Time between two reports of a host, above zero.
    #[serde(serialize_with = "as_text::span")]
    pub period: Span,
    /// One-way time of a message between host and controller.
    #[serde(serialize_with = "as_text::span")]
    pub delay: Span,
    /// Flows that a host remembers.
    pub window: u32,
    /// Flows without which thresholds stay as they are.
    pub min_samples: u32,
    /// Periods after which a report no longer counts.
    pub max_age: u32,
    /// Smallest and largest threshold, in bytes.
    #[serde(serialize_with = "bounds")]
    pub bounds: (u64, u64),
    /// Probability that a report is lost.
    pub report_loss: f64,
    /// How much longer than the delay a report takes at most.
    #[serde(serialize_with = "as_text::span")]
    pub report_jitter: Span,
    /// The load solvers are told; where the file states none, that of the traffic, found when planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
}

fn bounds<S: serde::Serializer>(bounds: &(u64, u64), s: S) -> Result<S::Ok, S::Error> {
    as_text::many_bytes(&[bounds.0, bounds.1], s)
}

const BOUNDS_FIX: &str = "bounds = [\"1kB\", \"1GB\"]: the smallest and the largest threshold";

/// Reads `controller = { period = "50ms", delay = "1ms", ... }`.
pub(super) fn read(field: &Field<'_>) -> Result<Controller, InputError> {
    let mut keys = field.table()?;
    let period = keys.need("period", "period = \"50ms\"")?.positive_span()?;
    let delay = keys.need("delay", "delay = \"1ms\"")?.positive_span()?;
    let mut count = |key, default: u32| -> Result<u32, InputError> {
        keys.take(key).map_or(Ok(default), |f| Ok(f.integer(1, 1_000_000)? as u32))
    };
    let window = count("window", 1_000)?;
    let min_samples = count("min_samples", 100)?;
    let max_age = count("max_age", 4)?;
    let bounds = keys.take("bounds").map_or(Ok((1_000, 1_000_000_000)), |f| between(&f))?;
    let report_loss = keys.take("report_loss").map_or(Ok(0.0), |f| f.number(0.0, 1.0))?;
    let report_jitter = keys.span_or("report_jitter", Span::ZERO)?;
    let load = keys.take("load").map(|f| f.number(0.001, 0.999)).transpose()?;
    keys.finish()?;
    Ok(Controller { period, delay, window, min_samples, max_age, bounds, report_loss, report_jitter, load })
}

fn between(field: &Field<'_>) -> Result<(u64, u64), InputError> {
    match field.list()?.as_slice() {
        [low, high] => {
            let bounds = (low.bytes()?, high.bytes()?);
            if bounds.0 > bounds.1 {
                return Err(field.error("the smallest threshold is above the largest", BOUNDS_FIX));
            }
            Ok(bounds)
        }
        _ => Err(field.error("these are not two sizes", BOUNDS_FIX)),
    }
}

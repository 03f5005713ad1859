//! The thresholds of a run, as planned.

use priolane_core::units::{Span, Time};

/// One threshold of a run, as planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Initial value in bytes; `None` if the scheme has no such threshold.
    pub start: Option<f64>,
    /// Period of the controller that changes it, if any.
    pub period: Option<Span>,
    /// Whether each host computes its own.
    pub own: bool,
    /// The measured window.
    pub window: (Time, Time),
}

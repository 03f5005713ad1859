//! The thresholds of a run, as planned.

use priolane_core::units::{Span, Time};

/// Whose thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemotionThresholds {
    /// Those between classes.
    Class,
    /// Those between levels inside hosts.
    Host,
}

/// One threshold of a run, as planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Its bytes at the start; `None` where the scheme has no such threshold.
    pub start: Option<f64>,
    /// The period of the controller that changes it.
    pub period: Option<Span>,
    /// Whether each host finds its own.
    pub own: bool,
    /// The measured window.
    pub window: (Time, Time),
}

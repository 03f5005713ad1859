//! The activity of the thread that simulates, for a profiler that looks from another thread.
//!
//! ```text
//! Setup ──▶ Engine ◀──▶ Hosts ◀──▶ Transport      each phase is set when it begins; the inner one sets the outer one
//!             ▲                                   again when it ends
//!             └───────▶ Switches ──▶ ... ──▶ Results
//! ```
//!
//! Runs that are not profiled have no marker, and hosts test for it at each call of a transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The activity of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Creates flows, routes and nodes.
    Setup,
    /// The engine: sorts packets into windows and looks for the next one.
    Engine,
    /// Hosts without their transports: schedules, transmit queues and links.
    Hosts,
    /// Transports, with their congestion control and host scheduling.
    Transport,
    /// Switches with their ports and links.
    Switches,
    /// Collects, checks, summarizes and writes results.
    Results,
}

impl Phase {
    /// All phases, in the order in which a report lists them.
    pub const ALL: [Self; 6] =
        [Self::Transport, Self::Hosts, Self::Switches, Self::Engine, Self::Setup, Self::Results];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Engine => "engine",
            Self::Hosts => "hosts",
            Self::Transport => "transport",
            Self::Switches => "switches",
            Self::Results => "results",
        }
    }
}

/// The present phase of a run. The thread that runs sets it, any other may read it.
#[derive(Debug)]
pub struct PhaseMarker(AtomicU8);

impl PhaseMarker {
    /// Creates a marker in [`Phase::Setup`].
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU8::new(Phase::Setup as u8)))
    }

    /// Sets the phase.
    #[inline]
    pub fn enter(&self, phase: Phase) {
        // Nothing is read through it, so that no order with other accesses matters.
        self.0.store(phase as u8, Ordering::Relaxed);
    }

    /// Returns the present phase.
    pub fn phase(&self) -> Phase {
        let now = self.0.load(Ordering::Relaxed);
        Phase::ALL.into_iter().find(|&phase| phase as u8 == now).unwrap_or(Phase::Setup)
    }
}

/// Calls a transport of a host whose run has this marker, if any.
#[inline(always)]
pub(crate) fn in_transport<R>(marker: &Option<Arc<PhaseMarker>>, call: impl FnOnce() -> R) -> R {
    enter(marker, Phase::Transport);
    let answer = call();
    enter(marker, Phase::Hosts);
    answer
}

/// Shows that this phase begins, in a run that has a marker.
#[inline(always)]
pub(crate) fn enter(marker: &Option<Arc<PhaseMarker>>, phase: Phase) {
    if let Some(marker) = marker {
        marker.enter(phase);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_has_the_phase_that_was_entered_last() {
        let marker = PhaseMarker::new();
        assert_eq!(marker.phase(), Phase::Setup);
        for phase in Phase::ALL {
            marker.enter(phase);
            assert_eq!(marker.phase(), phase);
        }
        let during = in_transport(&Some(marker.clone()), || marker.phase());
        assert_eq!((during, marker.phase()), (Phase::Transport, Phase::Hosts));
    }
}

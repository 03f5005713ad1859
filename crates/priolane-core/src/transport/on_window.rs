//! The interface between the parameters of a congestion controller and those of the window transport.

use std::sync::Arc;

use super::window;
use crate::ids::FlowId;
use crate::keys::KeyConflict;
use crate::units::Time;

/// The parameters of a congestion controller, as the window transport needs them.
pub trait ControllerParams {
    /// Sets the initial window, `bytes` in segments of `mss`. Default: ignored; the controller has a rule of
    /// its own.
    fn start_with(&mut self, bytes: u64, mss: u64) {
        let _ = (bytes, mss);
    }

    /// Checks that the parameters of the window transport suit this controller. Default: all do.
    ///
    /// # Errors
    /// Returns the first parameter that does not suit.
    fn fits(&self, window: &window::Config) -> Result<(), KeyConflict> {
        let _ = window;
        Ok(())
    }

    /// Returns the instructions per packet-hop relative to DCTCP, for the same traffic (docs/performance.md).
    /// Default: 1.
    fn cost(&self) -> f64 {
        1.0
    }

    /// Returns what keeps the queues of its flows short. Default: marks, delays or other signals of the network.
    fn queues(&self) -> QueueLimit {
        QueueLimit::Signals
    }

    /// Returns the path of the file that contains the controller's code, relative to the experiment. Default: none, the
    /// code is compiled.
    fn source(&self) -> Option<String> {
        None
    }

    /// Takes the text of the file at [`Self::source`]. Default: ignored.
    ///
    /// # Errors
    /// Returns the first mistake in the text.
    fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict> {
        let _ = text;
        Ok(())
    }

    /// Returns true if all flows of a run must be on the thread that starts the run. Default: false.
    fn is_single_threaded(&self) -> bool {
        false
    }

    /// Returns the failure of the controller's code in the run that has just ended on this thread, and forgets it. The
    /// outcome of that run is void. Default: none, compiled code does not fail.
    fn take_failure(&self) -> Option<ControllerFailure> {
        None
    }
}

/// A failure of a controller's code in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControllerFailure {
    /// The failure, as a clause.
    pub what: String,
    /// The simulated time of the failure.
    pub at: Time,
    /// The flow whose controller failed.
    pub flow: FlowId,
}

/// The mechanism that keeps short the queues that the flows of a controller build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// Signals that arrive before a queue is full.
    Signals,
    /// Only losses: each flow fills the queue at its bottleneck.
    Losses,
}

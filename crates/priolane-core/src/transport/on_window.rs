//! The interface between the parameters of a congestion controller and those of the window transport.

use super::window;
use crate::file_code::FileCode;
use crate::keys::KeyConflict;
use crate::units::Span;

/// The parameters of a congestion controller, as the window transport needs them.
pub trait ControllerParams {
    /// Sets the initial window, `bytes` in segments of `mss`. Default: ignored; the controller has a rule of
    /// its own.
    fn start_with(&mut self, bytes: u64, mss: u64) {
        let _ = (bytes, mss);
    }

    /// Sets what depends on the longest round trip of an idle network on which paths differ, `longest`, of a full data
    /// packet with the random times before packets leave. Default: nothing does.
    fn share_longest_round_trip(&mut self, longest: Span) {
        let _ = longest;
    }

    /// Checks that the parameters of the window transport suit this controller. Default: all do.
    ///
    /// # Errors
    /// Returns the first parameter that does not suit.
    fn fits(&self, window: &window::Config) -> Result<(), KeyConflict> {
        let _ = window;
        Ok(())
    }

    /// Returns the number of classes that packets carry independently of the class of their flow and of that of ACKs.
    /// Default: 1.
    fn classes(&self) -> u8 {
        1
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

    /// Returns its code that is in a file. Default: none, the code is compiled.
    fn file_code(&self) -> Option<&dyn FileCode> {
        None
    }

    /// As [`Self::file_code`].
    fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        None
    }
}

/// The mechanism that keeps short the queues that the flows of a controller build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// Signals that arrive before a queue is full.
    Signals,
    /// Only losses: each flow fills the queue at its bottleneck.
    Losses,
}

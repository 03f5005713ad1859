//! What the parameters of a congestion controller have to do with those of the window machine.

use super::delay::Channels;
use super::window;
use crate::keys::Misfit;

/// What the parameters of a controller have to do with those of the window machine.
pub trait OnWindow {
    /// Sets the window of a new flow, `bytes` in segments of `mss`. Default: the controller has one of its own.
    fn start_with(&mut self, bytes: u64, mss: u64) {
        let _ = (bytes, mss);
    }

    /// Checks the parameters of the window machine. Default: all fit.
    ///
    /// # Errors
    /// What does not fit.
    fn fits(&self, window: &window::Config) -> Result<(), Misfit> {
        let _ = window;
        Ok(())
    }

    /// Instructions of a packet-hop over those with DCTCP, for the same traffic (docs/performance.md). Default: as many.
    fn cost(&self) -> f64 {
        1.0
    }

    /// The channels of delay that classes have. Default: none.
    fn channels(&self) -> Option<Channels> {
        None
    }
}

//! Controllers that grow their window and reduce it for losses; DCTCP wraps one.

use super::controller::CongestionControl;

/// A controller that reacts to losses only.
pub trait LossBased: CongestionControl<Telemetry = ()> {
    /// Returns the bytes per segment.
    fn mss(&self) -> u64;

    /// Returns the fraction by which a loss would reduce the window now, before floors: 1/2 for NewReno. In [0, 1].
    fn loss_cut(&self) -> f64;

    /// Sets ssthresh to `ssthresh` bytes and lowers the window to it; ends slow start.
    fn reduce_to(&mut self, ssthresh: u64);
}

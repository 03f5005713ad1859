//! Controllers that grow their window by themselves and cut it for losses: what DCTCP wraps.

use super::controller::CongestionControl;

/// A controller that goes by losses alone.
pub trait LossBased: CongestionControl<Telemetry = ()> {
    /// Bytes per segment.
    fn mss(&self) -> u64;

    /// The part of the window that a loss would take now, before floors: 1/2 for NewReno. In [0, 1].
    fn loss_cut(&self) -> f64;

    /// Sets threshold and window to `ssthresh` bytes, the window never upwards: the end of slow start.
    fn reduce_to(&mut self, ssthresh: u64);
}

//! Meters, which count messages as they arrive.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::time::Instant;

/// Counts messages as they arrive instead of keeping them, for measurements with messages that exceed the memory.
///
/// The host's thread calls a meter for packets, so a meter should neither wait nor allocate.
pub trait Meter: Debug + Send + Sync {
    /// Returns the place at which a new message is counted, or `None` if the message is to be kept. A counted message
    /// is never received. The choice is made from the first payload to arrive, which starts at `offset`, and from the
    /// address of its sender.
    fn place(&self, from: SocketAddr, offset: u64, payload: &[u8]) -> Option<u32>;

    /// Counts `bytes` of the message at `place` that arrived for the first time at the instant `at`, by the kernel's
    /// receive time.
    fn count(&self, place: u32, bytes: u64, at: Instant);
}

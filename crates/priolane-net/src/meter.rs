//! Messages that are counted as they arrive.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::time::Instant;

/// Counts messages as they arrive in place of keeping them: for measurements with messages that no memory has room for.
///
/// The host's thread calls it for packets. It should neither wait nor allocate.
pub trait Meter: Debug + Send + Sync {
    /// The place at which a message is counted that is not kept, and never received; `None` for one that is kept. It is chosen by
    /// the payload that comes first, from `offset` on, of the host at `from`.
    fn place(&self, from: SocketAddr, offset: u64, payload: &[u8]) -> Option<u32>;

    /// `bytes` of the message at `place` came at this instant, by the kernel, for the first time.
    fn count(&self, place: u32, bytes: u64, at: Instant);
}

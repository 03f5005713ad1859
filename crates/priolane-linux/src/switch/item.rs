//! What waits in a port: the header of a packet and where its bytes are.

use priolane_core::packet::{Header, QueueItem};
use priolane_core::units::Time;

/// A packet that waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Item {
    pub(super) header: Header,
    /// Where its frame is.
    pub(super) slot: u32,
    /// When it came.
    pub(super) at: Time,
}

impl QueueItem for Item {
    fn header(&self) -> &Header {
        &self.header
    }

    fn header_mut(&mut self) -> &mut Header {
        &mut self.header
    }
}

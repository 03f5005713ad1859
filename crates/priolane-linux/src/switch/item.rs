//! The entry of a packet in a queue: the header, and the position of the frame.

use priolane_core::packet::{Header, QueueItem};
use priolane_core::units::Time;

/// A packet that waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Item {
    pub(super) header: Header,
    /// The slot of the frame.
    pub(super) slot: u32,
    /// The time at which the packet arrived.
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

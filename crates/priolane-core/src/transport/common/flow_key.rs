//! Identifies a flow at its receiver.

use crate::ids::{FlowId, HostId};
use crate::packet::Header;

/// The sender of a flow and the id that the sender chose; two senders may use the same id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::transport) struct FlowKey(u64);

impl FlowKey {
    /// Creates the key of flow `flow` of sender `src`.
    #[inline]
    pub(in crate::transport) fn new(src: HostId, flow: FlowId) -> Self {
        Self(u64::from(src.0) << 32 | u64::from(flow.0))
    }

    /// Returns the key as a word of less than 64 bits.
    #[inline]
    pub(super) fn word(self) -> u64 {
        self.0
    }

    /// Returns the sender.
    pub(in crate::transport) fn src(self) -> HostId {
        HostId((self.0 >> 32) as u16)
    }

    /// Returns the id that the sender chose.
    pub(in crate::transport) fn flow(self) -> FlowId {
        FlowId(self.0 as u32)
    }

    /// Returns the key of the flow of a packet that its sender sent.
    #[inline]
    pub(in crate::transport) fn of(header: &Header) -> Self {
        Self::new(header.src, header.flow)
    }
}

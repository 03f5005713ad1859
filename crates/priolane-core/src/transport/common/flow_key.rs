//! The name of a flow at its receiver.

use crate::ids::{FlowId, HostId};
use crate::packet::Header;

/// The sender of a flow and the id that it chose: two senders may use the same id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::transport) struct FlowKey(u64);

impl FlowKey {
    /// The flow that `src` calls `flow`.
    #[inline]
    pub(in crate::transport) fn new(src: HostId, flow: FlowId) -> Self {
        Self(u64::from(src.0) << 32 | u64::from(flow.0))
    }

    /// The sender.
    pub(in crate::transport) fn src(self) -> HostId {
        HostId((self.0 >> 32) as u16)
    }

    /// The id that it chose.
    pub(in crate::transport) fn flow(self) -> FlowId {
        FlowId(self.0 as u32)
    }

    /// The flow of a packet from its sender.
    #[inline]
    pub(in crate::transport) fn of(header: &Header) -> Self {
        Self::new(header.src, header.flow)
    }
}

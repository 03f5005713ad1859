//! The part of a run that a trace follows: one flow, or all packets of a part of a run.

use priolane_core::ids::FlowId;
use priolane_core::packet::{Header, Kind, Marks};
use priolane_core::units::Time;

/// The part of a run that is traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Following {
    /// The packets of this flow and the state of its sender, during the whole run.
    Flow(FlowId),
    /// The packets of all flows in a part of the run.
    Network(Extent),
}

/// The part of a run that a trace of all flows covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Packets that were sent before are not traced: queues that they are in then look shorter than they are.
    pub from: Time,
    /// Packets that are sent from then on are not traced.
    pub until: Time,
    /// The number of hops at which the trace is full: no further packet is traced.
    pub most_hops: usize,
    /// Flows whose senders' state is read within the extent.
    pub senders: Vec<FlowId>,
}

impl Following {
    /// Returns the flows whose senders' state is read.
    pub(super) fn senders(&self) -> &[FlowId] {
        match self {
            Self::Flow(flow) => std::slice::from_ref(flow),
            Self::Network(extent) => &extent.senders,
        }
    }

    /// Returns whether the trace covers an instant.
    pub(super) fn covers(&self, at: Time) -> bool {
        match self {
            Self::Flow(_) => true,
            Self::Network(extent) => (extent.from..extent.until).contains(&at),
        }
    }

    /// Returns whether a packet belongs to a flow that is traced and is not being returned by a switch.
    pub(super) fn has(&self, header: &Header) -> bool {
        let of_flow = match self {
            Self::Flow(flow) => header.flow == *flow,
            Self::Network(_) => header.kind != Kind::Pause,
        };
        of_flow && !header.marks.has(Marks::RETURNED)
    }

    /// Returns whether a trace with this number of hops takes no further packet.
    pub(super) fn is_full(&self, hops: usize) -> bool {
        match self {
            Self::Flow(_) => false,
            Self::Network(extent) => hops >= extent.most_hops,
        }
    }
}

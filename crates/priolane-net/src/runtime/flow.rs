//! Messages of this host, as its thread keeps them.

use std::collections::BTreeMap;
use std::sync::Arc;

use priolane_core::ids::{Class, FlowId, HostId};
use priolane_core::units::Time;

use crate::content::Content;
use crate::message::{MessageId, Outcome, Pending, Request};
use crate::shared::SharedState;

/// A message of this host.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) id: MessageId,
    pub(super) host: HostId,
    pub(super) request: Request,
    pub(super) content: Content,
    pub(super) receipt: Option<Arc<Pending>>,
    pub(super) asked: Time,
    /// Whether the endpoint has the flow. Otherwise the flow waits in its lane.
    pub(super) open: bool,
}

impl Flow {
    /// Reports the outcome of the message.
    pub(super) fn settle(self, shared: &SharedState, outcome: Outcome) {
        shared.settle(self.content.kept(), self.receipt.as_deref(), outcome);
    }
}

/// The messages to one peer.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// The number of messages that the endpoint has.
    pub(super) open: u32,
    /// The messages that wait until the peer is known, or other messages end: the best class first, then in order of
    /// their calls.
    pub(super) waiting: BTreeMap<(Class, MessageId), FlowId>,
}

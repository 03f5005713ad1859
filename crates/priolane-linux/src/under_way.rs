//! Messages that a host of a run has handed over, and what becomes of them.

use priolane_core::endpoint::Weights;
use priolane_core::units::Rate;
use priolane_net::{Host, Receipt, SendError};

use crate::job::{Change, FlowKind, SentMessage};

/// How a message is to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// By its delivery.
    Delivery,
    /// By the end of the run, or its abort.
    Stop,
}

/// A message that was handed over.
#[derive(Debug)]
pub(crate) struct UnderWay {
    sent: SentMessage,
    receipt: Option<Receipt>,
    ending: Ending,
}

impl UnderWay {
    /// Message `id` that was handed over at `at_ns`, with what the host said to it.
    pub(crate) fn new((id, kind): (u32, FlowKind), at_ns: u64, taken: Result<Receipt, SendError>) -> Self {
        let (receipt, failed) = match taken {
            Ok(receipt) => (Some(receipt), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let sent = SentMessage { id, at_ns, acked_ns: None, retransmits: 0, timeouts: 0, failed };
        let ending = match kind {
            FlowKind::Message => Ending::Delivery,
            FlowKind::Endless => Ending::Stop,
        };
        Self { sent, receipt, ending }
    }

    /// Whether its delivery is waited for.
    pub(crate) fn is_waited_for(&self) -> bool {
        let is_open = |receipt: &Receipt| receipt.outcome().is_none();
        self.ending == Ending::Delivery && self.receipt.as_ref().is_some_and(is_open)
    }

    /// Changes it.
    ///
    /// # Errors
    /// A class or a weight that is out of range.
    pub(crate) fn change(&mut self, host: &Host, change: Change) -> Result<(), SendError> {
        let Some(id) = self.receipt.as_ref().map(Receipt::id) else { return Ok(()) };
        match change {
            Change::Class(class) => host.set_class(id, class),
            Change::Weights { theta_bps, w_milli } => {
                host.set_weights(id, Weights { theta: theta_bps.and_then(Rate::from_bps), w_milli })
            }
            Change::Abort => {
                self.ending = Ending::Stop;
                host.abort(id);
                Ok(())
            }
        }
    }

    /// What became of it.
    pub(crate) fn end(self) -> SentMessage {
        let Self { sent, receipt, ending } = self;
        match (receipt.and_then(|receipt| receipt.outcome()), ending) {
            (None, _) | (Some(Err(SendError::Aborted)), Ending::Stop) => sent,
            (Some(Ok(delivery)), _) => {
                let elapsed = u64::try_from(delivery.elapsed.as_nanos()).unwrap_or(u64::MAX >> 1);
                SentMessage {
                    acked_ns: Some(sent.at_ns + elapsed),
                    retransmits: delivery.retransmits,
                    timeouts: delivery.timeouts,
                    ..sent
                }
            }
            (Some(Err(error)), _) => SentMessage { failed: Some(error.to_string()), ..sent },
        }
    }
}

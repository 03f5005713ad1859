//! Messages that a host of a run has handed over, and their outcomes.

use std::time::Duration;

use priolane_core::endpoint::Weights;
use priolane_core::text::printable;
use priolane_core::units::Rate;
use priolane_net::{Host, Receipt, SendError};

use crate::admission_job::{AdmittedFlow, EndOfMessage};
use crate::job::{Change, FlowKind, SentMessage};
use crate::limits::FAILURE_SHOWN;

/// The intended end of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// The message ends with its delivery.
    Delivery,
    /// The message ends with the run, or with its abort.
    Stop,
}

/// The actual end of a message, for admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MessageEnd {
    /// The message was delivered, as known to its sender at `at_ns`.
    Delivered { at_ns: u64, end: EndOfMessage },
    /// The message has failed, or was aborted.
    Failed,
}

/// Returns the nanoseconds of a duration, limited to half of the largest number, so that a sum with an instant does not
/// overflow.
fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX >> 1)
}

/// Returns the reason why a message failed, as reports show it.
fn reason(error: &SendError) -> String {
    printable(&error.to_string(), FAILURE_SHOWN)
}

/// A message that was handed over.
#[derive(Debug)]
pub(crate) struct UnderWay {
    sent: SentMessage,
    receipt: Option<Receipt>,
    ending: Ending,
}

impl UnderWay {
    /// Creates the record of message `id`, which was handed over at `at_ns`, with its admission and the answer of the
    /// host.
    pub(crate) fn new(
        (id, kind): (u32, FlowKind),
        (at_ns, admitted): (u64, Option<AdmittedFlow>),
        taken: Result<Receipt, SendError>,
    ) -> Self {
        let (receipt, failed) = match taken {
            Ok(receipt) => (Some(receipt), None),
            Err(error) => (None, Some(reason(&error))),
        };
        let at_ns = at_ns.saturating_sub(admitted.map_or(0, |admitted| admitted.held_ns));
        let sent = SentMessage {
            id,
            at_ns,
            admitted,
            acked_ns: None,
            retransmits: 0,
            timeouts: 0,
            changes: 0,
            failed,
        };
        let ending = match kind {
            FlowKind::Message => Ending::Delivery,
            FlowKind::Endless => Ending::Stop,
        };
        Self { sent, receipt, ending }
    }

    /// Returns the number of the message.
    pub(crate) fn id(&self) -> u32 {
        self.sent.id
    }

    /// Returns the time at which the message was handed over, in nanoseconds.
    fn handed_over_ns(&self) -> u64 {
        self.sent.at_ns + self.sent.admitted.map_or(0, |admitted| admitted.held_ns)
    }

    /// Returns the end of the message, if it has ended.
    pub(crate) fn outcome(&self) -> Option<MessageEnd> {
        let Some(receipt) = &self.receipt else { return Some(MessageEnd::Failed) };
        let Ok(delivery) = receipt.outcome()? else { return Some(MessageEnd::Failed) };
        let end = EndOfMessage {
            elapsed_ns: ns(delivery.elapsed),
            rtt_ns: ns(delivery.rtt),
            retransmitted: delivery.retransmitted,
            retransmits: delivery.retransmits,
            timeouts: delivery.timeouts,
        };
        Some(MessageEnd::Delivered { at_ns: self.handed_over_ns() + end.elapsed_ns, end })
    }

    /// Returns whether the run waits for the delivery of the message.
    pub(crate) fn is_waited_for(&self) -> bool {
        let is_open = |receipt: &Receipt| receipt.outcome().is_none();
        self.ending == Ending::Delivery && self.receipt.as_ref().is_some_and(is_open)
    }

    /// Applies a change to the message.
    ///
    /// # Errors
    /// Returns an error if a class or a weight is out of range.
    pub(crate) fn change(&mut self, host: &Host, change: Change) -> Result<(), SendError> {
        let Some(id) = self.receipt.as_ref().map(Receipt::id) else { return Ok(()) };
        match change {
            Change::Class(class) => host.set_class(id, class)?,
            Change::Weights { theta_bps, w_milli } => {
                host.set_weights(id, Weights { theta: theta_bps.and_then(Rate::from_bps), w_milli })?;
            }
            Change::Abort => {
                self.ending = Ending::Stop;
                host.abort(id);
            }
        }
        self.sent.changes += 1;
        Ok(())
    }

    /// Returns the outcome of the message.
    pub(crate) fn end(self) -> SentMessage {
        let handed_over_ns = self.handed_over_ns();
        let Self { sent, receipt, ending } = self;
        match (receipt.and_then(|receipt| receipt.outcome()), ending) {
            (None, _) | (Some(Err(SendError::Aborted)), Ending::Stop) => sent,
            (Some(Ok(delivery)), _) => SentMessage {
                acked_ns: Some(handed_over_ns + ns(delivery.elapsed)),
                retransmits: delivery.retransmits,
                timeouts: delivery.timeouts,
                ..sent
            },
            (Some(Err(error)), _) => SentMessage { failed: Some(reason(&error)), ..sent },
        }
    }
}

#[cfg(test)]
mod tests {
    use priolane_net::{Config, Request, Scheme};

    use super::*;

    #[test]
    fn changes_go_to_the_host_and_those_that_it_refuses_are_errors() {
        let [sender, receiver] =
            [(); 2].map(|()| Host::bind(Config::new(Scheme::of_row("paccp", &[]).unwrap())).unwrap());
        let receipt = sender.try_send_repeated(Request::to(receiver.address()), b"endless", 1 << 30).unwrap();
        let mut message = UnderWay::new((0, FlowKind::Endless), (0, None), Ok(receipt));
        let weights = |w_milli| Change::Weights { theta_bps: Some(1_000_000), w_milli };
        assert_eq!(message.change(&sender, weights(0)), Err(SendError::Weight));
        assert_eq!(message.change(&sender, weights(2_500)), Ok(()));
        assert_eq!(message.change(&sender, Change::Class(16)), Err(SendError::Class(16)));
        assert_eq!(message.change(&sender, Change::Class(15)), Ok(()));
        assert!(message.outcome().is_none());
        assert_eq!(message.change(&sender, Change::Abort), Ok(()));
        assert!(sender.flush(Duration::from_secs(60)));
        assert_eq!(message.outcome(), Some(MessageEnd::Failed));
        let ended = message.end();
        assert_eq!((ended.changes, ended.failed), (3, None), "an abort is no failure");
    }

    #[test]
    fn times_of_a_message_that_was_held_back_begin_when_it_was_first_held() {
        let [sender, receiver] =
            [(); 2].map(|()| Host::bind(Config::new(Scheme::of_row("dctcp", &[]).unwrap())).unwrap());
        let send = || sender.send_with_receipt(Request::to(receiver.address()), &b"message"[..]);
        let admitted = Some(AdmittedFlow { class: 2, held_ns: 400 });
        let message = UnderWay::new((7, FlowKind::Message), (1_000, admitted), send());
        assert!(sender.flush(Duration::from_secs(60)));
        let Some(MessageEnd::Delivered { at_ns, end }) = message.outcome() else { panic!("{message:?}") };
        // Handed over at 1 us, after 400 ns.
        assert_eq!(at_ns, 1_000 + end.elapsed_ns);
        let sent = message.end();
        assert_eq!((sent.at_ns, sent.acked_ns), (600, Some(1_000 + end.elapsed_ns)));
        let refused = UnderWay::new((7, FlowKind::Message), (1_000, None), Err(SendError::Empty));
        assert_eq!(refused.outcome(), Some(MessageEnd::Failed));
        assert!(!refused.is_waited_for());
        assert_eq!(refused.end().failed.as_deref(), Some("a message has at least one byte"));
    }
}

//! Messages as applications send and receive them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use event_listener::{Event, Listener, listener};
use priolane_core::endpoint::Weights;
use priolane_core::ids::Class;

use crate::clock;
use crate::error::SendError;
use crate::process::Process;

/// The identifier of a message that this host sends. A host never uses an identifier twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId(pub u64);

/// The receiver of a message, and how the message is sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request {
    /// The address of the receiving host.
    pub to: SocketAddr,
    /// The class of the message, from 0, which is served first, to 15.
    pub class: Class,
    /// The time within which the message should arrive, counted from the call, for transports that honour deadlines
    /// (D2TCP, TOP). Default: none.
    pub deadline: Option<Duration>,
    /// The minimum rate and the weight of the message, for transports that honour them (PACCP).
    pub weights: Weights,
}

impl Request {
    /// Creates a best-effort request to the host at `to`: class 0, without a deadline.
    pub fn to(to: SocketAddr) -> Self {
        Self { to, class: 0, deadline: None, weights: Weights::BEST_EFFORT }
    }

    /// Sets the class.
    #[must_use]
    pub fn class(self, class: Class) -> Self {
        Self { class, ..self }
    }

    /// Sets the time within which the message should arrive.
    #[must_use]
    pub fn deadline(self, within: Duration) -> Self {
        Self { deadline: Some(within), ..self }
    }

    /// Sets the minimum rate and the weight.
    #[must_use]
    pub fn weights(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }
}

/// A message that arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The address of the sending host.
    pub from: SocketAddr,
    /// The bytes of the message.
    pub bytes: Vec<u8>,
    /// The number of bytes that the sender gave up, which are zeros in `bytes`. Above 0 only with an unreliable
    /// transport (`reliable = false`).
    pub missing: u64,
    /// The instant at which the last byte arrived, by the kernel's receive time.
    pub arrived: Instant,
}

/// A delivered message as seen by its sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delivery {
    /// The identifier of the message.
    pub id: MessageId,
    /// The time from the call that sent the message to the news that all bytes had arrived.
    pub elapsed: Duration,
    /// The smoothed round-trip time at the end; zero if the transport does not measure one.
    pub rtt: Duration,
    /// The number of bytes that were retransmitted.
    pub retransmitted: u64,
    /// The number of packets that were retransmitted.
    pub retransmits: u32,
    /// The number of retransmission timeouts.
    pub timeouts: u32,
}

/// The outcome of a message.
pub(crate) type Outcome = Result<Delivery, SendError>;

/// The place where the thread stores the outcome of a message for its receipt.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    outcome: Mutex<Option<Outcome>>,
    known: Event,
}

impl Pending {
    pub(crate) fn get(&self) -> Option<Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, outcome: Outcome) {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(outcome);
        self.known.notify(usize::MAX);
    }
}

/// A receipt, by which an application waits for the outcome of a message or polls it. Dropping a receipt has no effect
/// on the message.
#[derive(Clone, Debug)]
pub struct Receipt {
    pub(crate) id: MessageId,
    pub(crate) pending: Arc<Pending>,
    /// The process of the host.
    pub(crate) process: Process,
}

impl Receipt {
    /// Returns the identifier of the message.
    pub fn id(&self) -> MessageId {
        self.id
    }

    /// Returns the outcome of the message, if it is known. In a process that was forked from that of the host, the
    /// outcome is [`RecvError::Forked`](crate::RecvError::Forked).
    pub fn outcome(&self) -> Option<Result<Delivery, SendError>> {
        self.process.check().map_or_else(|forked| Some(Err(forked.into())), |()| self.pending.get())
    }

    /// Waits until the message is delivered.
    ///
    /// # Errors
    /// Returns the reason why the message was not delivered.
    pub fn wait(&self) -> Result<Delivery, SendError> {
        loop {
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            listener!(self.pending.known => news);
            if self.pending.get().is_none() {
                news.wait();
            }
        }
    }

    /// As [`Self::wait`], but waits at most `most`. Returns `None` if the outcome is not known within that time.
    pub fn wait_for(&self, most: Duration) -> Option<Result<Delivery, SendError>> {
        let deadline = clock::deadline(most);
        loop {
            if let Some(outcome) = self.outcome() {
                return Some(outcome);
            }
            listener!(self.pending.known => news);
            if let Some(outcome) = self.pending.get() {
                return Some(outcome);
            }
            match deadline {
                Some(deadline) => news.wait_deadline(deadline).is_some().then_some(())?,
                None => news.wait(),
            }
        }
    }

    /// As [`Self::wait`], for asynchronous code of any runtime.
    ///
    /// # Errors
    /// As [`Self::wait`].
    pub async fn delivered(&self) -> Result<Delivery, SendError> {
        loop {
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            let news = self.pending.known.listen();
            if let Some(outcome) = self.pending.get() {
                return outcome;
            }
            news.await;
        }
    }
}

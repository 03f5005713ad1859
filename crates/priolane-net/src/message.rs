//! Messages, as applications send and receive them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use event_listener::{Event, Listener, listener};
use priolane_core::endpoint::Weights;
use priolane_core::ids::Class;

use crate::clock;
use crate::error::SendError;
use crate::process::Process;

/// The name of a message that this host sends, never used twice by one host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId(pub u64);

/// Where a message goes, and how.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request {
    /// The address of the receiving host.
    pub to: SocketAddr,
    /// Its class, 0 served first, at most 15.
    pub class: Class,
    /// The time within which it should arrive, from the call on; for transports that honour deadlines (D2TCP, TOP).
    pub deadline: Option<Duration>,
    /// Its minimum rate and weight, for transports that honour them (PACCP).
    pub weights: Weights,
}

impl Request {
    /// To the host at `to`, best effort: of class 0, without a deadline.
    pub fn to(to: SocketAddr) -> Self {
        Self { to, class: 0, deadline: None, weights: Weights::BEST_EFFORT }
    }

    /// In this class.
    #[must_use]
    pub fn class(self, class: Class) -> Self {
        Self { class, ..self }
    }

    /// To arrive within this time.
    #[must_use]
    pub fn deadline(self, within: Duration) -> Self {
        Self { deadline: Some(within), ..self }
    }

    /// With this minimum rate and weight.
    #[must_use]
    pub fn weights(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }
}

/// A message that arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The address of the host that sent it.
    pub from: SocketAddr,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Bytes of it that its sender gave up; they are zeros here. Above 0 only with an unreliable transport
    /// (`reliable = false`).
    pub missing: u64,
    /// When the last of its bytes came, by the kernel.
    pub arrived: Instant,
}

/// A message that was delivered, as its sender saw that.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delivery {
    /// The message.
    pub id: MessageId,
    /// From the call that sent it to the news that all had arrived.
    pub elapsed: Duration,
    /// Smoothed round-trip time at the end; zero if the transport measures none.
    pub rtt: Duration,
    /// Bytes of it that were sent again.
    pub retransmitted: u64,
    /// Packets that were sent again.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

/// What became of a message.
pub(crate) type Outcome = Result<Delivery, SendError>;

/// Where the outcome of a message appears.
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

/// The outcome of a message, to be waited for or polled. Dropping it changes nothing for the message.
#[derive(Clone, Debug)]
pub struct Receipt {
    pub(crate) id: MessageId,
    pub(crate) pending: Arc<Pending>,
    /// The process of the host.
    pub(crate) process: Process,
}

impl Receipt {
    /// The message.
    pub fn id(&self) -> MessageId {
        self.id
    }

    /// What became of the message, if that is known; [`RecvError::Forked`](crate::RecvError::Forked) in a process that was
    /// forked from that of the host.
    pub fn outcome(&self) -> Option<Result<Delivery, SendError>> {
        self.process.check().map_or_else(|forked| Some(Err(forked.into())), |()| self.pending.get())
    }

    /// Waits until the message is delivered.
    ///
    /// # Errors
    /// Why it was not.
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

    /// As [`Self::wait`], for at most `most`; `None` if the outcome is not known by then.
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

//! The host as seen by applications.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use event_listener::{Listener, listener};
use priolane_core::endpoint::Weights;
use priolane_core::ids::CLASSES;

use crate::clock;
use crate::config::{Config, Limits};
use crate::content::Content;
use crate::error::{BindError, RecvError, SendError};
use crate::message::{Message, MessageId, Pending, Receipt, Request};
use crate::process::Process;
use crate::runtime;
use crate::scheduling::Scheduling;
use crate::shared::{Order, Outgoing, SharedState};
use crate::stats::Stats;

/// A host, which sends messages to other hosts and receives messages from them by one transport, over one UDP socket
/// that is driven by a thread of the host. The methods may be called from any thread.
///
/// Dropping a host ends its thread. Undelivered messages are lost then; `flush` waits for their delivery.
///
/// A process that was forked from the one that bound the host has neither the thread nor the socket. In such a process,
/// calls that can fail return [`RecvError::Forked`], and `abort`, `close` and drop have no effect.
#[derive(Debug)]
pub struct Host {
    process: Process,
    shared: Arc<SharedState>,
    address: SocketAddr,
    limits: Limits,
    next: AtomicU64,
    scheduling: Scheduling,
    thread: Option<JoinHandle<()>>,
}

impl Host {
    /// Binds a host and starts its thread.
    ///
    /// # Errors
    /// Returns an error if `config` is not valid, or if the system refuses the address, the thread or random numbers.
    pub fn bind(config: Config) -> Result<Self, BindError> {
        let limits = config.limits;
        Ok(Self::of(runtime::start(config)?, limits))
    }

    /// Creates the host of a thread that was started.
    pub(crate) fn of(started: runtime::HostThread, limits: Limits) -> Self {
        let runtime::HostThread { shared, address, scheduling, thread } = started;
        let (process, next, thread) = (Process::current(), AtomicU64::new(0), Some(thread));
        Self { process, shared, address, limits, next, scheduling, thread }
    }

    /// Returns the address to which the host is bound, and to which other hosts send.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns how the system schedules the host's thread.
    pub fn scheduling(&self) -> &Scheduling {
        &self.scheduling
    }

    /// Returns the counters of the host, which are all zero in a forked process.
    pub fn stats(&self) -> Stats {
        self.check_process().map_or_else(|_| Stats::default(), |()| self.shared.stats())
    }

    /// Checks that this process is the one that bound the host.
    ///
    /// # Errors
    /// Returns [`RecvError::Forked`] if this process was forked from the one that bound the host.
    pub fn check_process(&self) -> Result<(), RecvError> {
        self.process.check()
    }

    fn check(&self, request: &Request, content: &Content) -> Result<(), SendError> {
        let Request { to, class, weights, .. } = *request;
        let len = content.len();
        if len == 0 {
            return Err(SendError::Empty);
        }
        if len > self.limits.message {
            return Err(SendError::TooLong { bytes: len, most: self.limits.message });
        }
        if usize::from(class) >= CLASSES {
            return Err(SendError::Class(class));
        }
        if weights.w_milli == 0 {
            return Err(SendError::Weight);
        }
        if to == self.address {
            return Err(SendError::ToItself(to));
        }
        if to.is_ipv4() != self.address.is_ipv4() {
            return Err(SendError::Family { from: self.address, to });
        }
        Ok(())
    }

    /// Reserves memory for a message, and returns the identifier of the message.
    fn reserve(&self, request: &Request, content: &Content) -> Result<MessageId, SendError> {
        self.check_process()?;
        self.check(request, content)?;
        let Limits { queued, messages, .. } = self.limits;
        self.shared.reserve(content.kept(), (queued, messages))?;
        Ok(MessageId(self.next.fetch_add(1, Ordering::Relaxed)))
    }

    fn hand_over(&self, id: MessageId, request: Request, content: Content, receipt: Option<Arc<Pending>>) {
        self.shared.order(Order::Send(Outgoing { id, request, content, receipt }));
    }

    /// Waits until there is memory for a message, and reserves that memory.
    fn wait_for_room(&self, request: &Request, content: &Content) -> Result<MessageId, SendError> {
        loop {
            match self.reserve(request, content) {
                Err(SendError::Full { .. }) => {}
                other => return other,
            }
            listener!(self.shared.room() => room);
            match self.reserve(request, content) {
                Err(SendError::Full { .. }) => room.wait(),
                other => return other,
            }
        }
    }

    async fn room_for(&self, request: &Request, content: &Content) -> Result<MessageId, SendError> {
        self.check_process()?;
        loop {
            let room = self.shared.room().listen();
            match self.reserve(request, content) {
                Err(SendError::Full { .. }) => room.await,
                other => return other,
            }
        }
    }

    fn with_receipt(&self, id: MessageId, request: Request, content: Content) -> Receipt {
        let pending = Arc::new(Pending::default());
        self.hand_over(id, request, content, Some(Arc::clone(&pending)));
        Receipt { id, pending, process: self.process }
    }

    /// Sends a message, and waits while the limit on undelivered messages is reached. The outcome of the message is
    /// only counted in [`Host::stats`].
    ///
    /// # Errors
    /// Returns the reason why the message was not accepted.
    pub fn send(&self, request: Request, bytes: impl Into<Bytes>) -> Result<MessageId, SendError> {
        let content = Content::Whole(bytes.into());
        let id = self.wait_for_room(&request, &content)?;
        self.hand_over(id, request, content, None);
        Ok(id)
    }

    /// As [`Host::send`], but returns a receipt that reports the outcome of the message.
    ///
    /// # Errors
    /// Returns the reason why the message was not accepted.
    pub fn send_with_receipt(&self, request: Request, bytes: impl Into<Bytes>) -> Result<Receipt, SendError> {
        let content = Content::Whole(bytes.into());
        let id = self.wait_for_room(&request, &content)?;
        Ok(self.with_receipt(id, request, content))
    }

    /// As [`Host::send_with_receipt`], but never waits.
    ///
    /// # Errors
    /// Returns the reason why the message was not accepted; [`SendError::Full`] if the limit on undelivered messages is
    /// reached.
    pub fn try_send(&self, request: Request, bytes: impl Into<Bytes>) -> Result<Receipt, SendError> {
        let content = Content::Whole(bytes.into());
        let id = self.reserve(&request, &content)?;
        Ok(self.with_receipt(id, request, content))
    }

    /// As [`Host::try_send`], for a message of `len` bytes that repeats `pattern`. The sender keeps little of a message
    /// of any length, so that a message can be sent until [`Host::abort`]; a [`Meter`](crate::Meter) counts the message
    /// at the receiver.
    ///
    /// # Errors
    /// As [`Host::try_send`]; also [`SendError::Empty`] if the pattern is empty.
    pub fn try_send_repeated(
        &self,
        request: Request,
        pattern: &[u8],
        len: u64,
    ) -> Result<Receipt, SendError> {
        let content = Content::repeated(pattern, len);
        let id = self.reserve(&request, &content)?;
        Ok(self.with_receipt(id, request, content))
    }

    /// As [`Host::send_with_receipt`], but waits at most `most`.
    ///
    /// # Errors
    /// Returns the reason why the message was not accepted; [`SendError::Full`] if the limit on undelivered messages
    /// was still reached after `most`.
    pub fn send_timeout(
        &self,
        request: Request,
        bytes: impl Into<Bytes>,
        most: Duration,
    ) -> Result<Receipt, SendError> {
        self.check_process()?;
        let (content, deadline) = (Content::Whole(bytes.into()), clock::deadline(most));
        loop {
            listener!(self.shared.room() => room);
            match self.reserve(&request, &content) {
                Ok(id) => return Ok(self.with_receipt(id, request, content)),
                Err(SendError::Full { bytes, messages }) => {
                    let in_time = match deadline {
                        Some(deadline) => room.wait_deadline(deadline).is_some(),
                        None => {
                            room.wait();
                            true
                        }
                    };
                    if !in_time {
                        return Err(SendError::Full { bytes, messages });
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// As [`Host::send_with_receipt`], for asynchronous code of any runtime. Dropping the future before it is ready sends
    /// nothing.
    ///
    /// # Errors
    /// Returns the reason why the message was not accepted.
    pub async fn send_async(&self, request: Request, bytes: impl Into<Bytes>) -> Result<Receipt, SendError> {
        let content = Content::Whole(bytes.into());
        let id = self.room_for(&request, &content).await?;
        Ok(self.with_receipt(id, request, content))
    }

    /// Returns the message that arrived first among those not yet received, and waits until there is one.
    ///
    /// # Errors
    /// Returns an error if no further message can arrive.
    pub fn recv(&self) -> Result<Message, RecvError> {
        self.check_process()?;
        loop {
            if let Some(message) = self.shared.take_message()? {
                return Ok(message);
            }
            listener!(self.shared.arrival() => arrival);
            if let Some(message) = self.shared.take_message()? {
                return Ok(message);
            }
            arrival.wait();
        }
    }

    /// As [`Host::recv`], but waits at most `most`. Returns `None` if no message arrived within that time.
    ///
    /// # Errors
    /// Returns an error if no further message can arrive.
    pub fn recv_timeout(&self, most: Duration) -> Result<Option<Message>, RecvError> {
        self.check_process()?;
        let deadline = clock::deadline(most);
        loop {
            listener!(self.shared.arrival() => arrival);
            if let Some(message) = self.shared.take_message()? {
                return Ok(Some(message));
            }
            match deadline {
                Some(deadline) => {
                    if arrival.wait_deadline(deadline).is_none() {
                        return self.shared.take_message();
                    }
                }
                None => arrival.wait(),
            }
        }
    }

    /// As [`Host::recv`], but never waits. Returns `None` if no message has arrived.
    ///
    /// # Errors
    /// Returns an error if no further message can arrive.
    pub fn try_recv(&self) -> Result<Option<Message>, RecvError> {
        self.check_process()?;
        self.shared.take_message()
    }

    /// As [`Host::recv`], for asynchronous code of any runtime. Dropping the future loses no message.
    ///
    /// # Errors
    /// Returns an error if no further message can arrive.
    pub async fn recv_async(&self) -> Result<Message, RecvError> {
        self.check_process()?;
        loop {
            let arrival = self.shared.arrival().listen();
            if let Some(message) = self.shared.take_message()? {
                return Ok(message);
            }
            arrival.await;
        }
    }

    /// Aborts a message of this host: no further bytes of the message are sent. A message that was delivered stays
    /// delivered.
    pub fn abort(&self, id: MessageId) {
        self.order(Order::Abort(id));
    }

    /// Sets the minimum rate and the weight of a message of this host from now on, for transports that honour them
    /// (PACCP).
    ///
    /// # Errors
    /// Returns an error if the weight is 0.
    pub fn set_weights(&self, id: MessageId, weights: Weights) -> Result<(), SendError> {
        if weights.w_milli == 0 {
            return Err(SendError::Weight);
        }
        self.check_process()?;
        self.order(Order::Weights(id, weights));
        Ok(())
    }

    /// Sets the class of a message of this host from now on, for transports that do not choose classes themselves.
    ///
    /// # Errors
    /// Returns an error if the class is above 15.
    pub fn set_class(&self, id: MessageId, class: u8) -> Result<(), SendError> {
        if usize::from(class) >= CLASSES {
            return Err(SendError::Class(class));
        }
        self.check_process()?;
        self.order(Order::Class(id, class));
        Ok(())
    }

    /// Ends the host's thread soon after this call. Undelivered messages are lost, and all calls that wait, or that are
    /// made later, return [`RecvError`]. Dropping the host also waits for the thread.
    pub fn close(&self) {
        self.order(Order::Stop);
    }

    /// Sends an order to the thread. A forked process has no thread, so the order is dropped there.
    fn order(&self, order: Order) {
        if self.check_process().is_ok() {
            self.shared.order(order);
        }
    }

    /// Waits at most `most` until every message that was sent is delivered or has failed, and returns whether that is
    /// so. A forked process does not know, so `false` is returned there at once.
    pub fn flush(&self, most: Duration) -> bool {
        if self.check_process().is_err() {
            return false;
        }
        let deadline = clock::deadline(most);
        loop {
            listener!(self.shared.room() => room);
            if self.shared.is_flushed() || self.shared.closed().is_some() {
                return self.shared.is_flushed();
            }
            match deadline {
                Some(deadline) => {
                    if room.wait_deadline(deadline).is_none() {
                        return self.shared.is_flushed();
                    }
                }
                None => room.wait(),
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.close();
        let Some(thread) = self.thread.take() else { return };
        if self.check_process().is_ok() {
            // A panic was reported to all that waited.
            let _ = thread.join();
        } else {
            // The handle is of a thread that does not exist here: it can be neither joined nor detached.
            std::mem::forget(thread);
        }
    }
}

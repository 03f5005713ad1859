//! What a host's thread and its applications share.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use event_listener::{Event, IntoNotification};
use priolane_core::endpoint::Weights;

use crate::content::Content;
use crate::error::{RecvError, SendError};
use crate::message::{Message, MessageId, Outcome, Pending, Request};
use crate::parts::Parts;
use crate::socket::Wakeup;
use crate::stats::Stats;

/// What an application asks the thread.
#[derive(Debug)]
pub(crate) enum Order {
    Send(Outgoing),
    Abort(MessageId),
    Weights(MessageId, Weights),
    Class(MessageId, u8),
    Stop,
}

/// A message that is to be sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) id: MessageId,
    pub(crate) request: Request,
    pub(crate) content: Content,
    pub(crate) receipt: Option<Arc<Pending>>,
}

/// Messages that are sent and not yet delivered.
#[derive(Debug, Default)]
pub(crate) struct PendingMessages {
    pub(crate) bytes: u64,
    pub(crate) messages: usize,
}

/// A message that arrived and waits for an application.
#[derive(Debug)]
pub(crate) struct ArrivedMessage {
    pub(crate) from: SocketAddr,
    pub(crate) parts: Parts,
    /// Its bytes, of which some may not be among the parts.
    pub(crate) len: usize,
    pub(crate) missing: u64,
    pub(crate) arrived: Instant,
}

impl ArrivedMessage {
    /// The memory that it takes, so that short messages are bounded too.
    fn kept(&self) -> u64 {
        self.parts.kept() + size_of::<Self>() as u64
    }

    /// Puts the message together.
    fn into_message(self) -> Message {
        let Self { from, parts, len, missing, arrived } = self;
        Message { from, bytes: parts.into_bytes(len), missing, arrived }
    }
}

#[derive(Debug, Default)]
struct Inbox {
    messages: VecDeque<ArrivedMessage>,
    bytes: u64,
}

/// Locks what no panic leaves in disorder.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What both share.
#[derive(Debug)]
pub(crate) struct SharedState {
    orders: Mutex<Vec<Order>>,
    wakeup: Wakeup,
    /// Whether the thread sleeps, or is about to.
    asleep: AtomicBool,
    queued: Mutex<PendingMessages>,
    room: Event,
    inbox: Mutex<Inbox>,
    /// Bytes in the inbox, for the thread.
    arrived_bytes: AtomicU64,
    arrived: Event,
    closed: Mutex<Option<RecvError>>,
    stats: Mutex<Stats>,
}

impl SharedState {
    pub(crate) fn new(wakeup: Wakeup) -> Self {
        Self {
            orders: Mutex::default(),
            wakeup,
            asleep: AtomicBool::new(false),
            queued: Mutex::default(),
            room: Event::new(),
            inbox: Mutex::default(),
            arrived_bytes: AtomicU64::new(0),
            arrived: Event::new(),
            closed: Mutex::default(),
            stats: Mutex::default(),
        }
    }

    pub(crate) fn wakeup(&self) -> &Wakeup {
        &self.wakeup
    }

    pub(crate) fn order(&self, order: Order) {
        {
            let mut orders = lock(&self.orders);
            if let Some(closed) = self.closed() {
                drop(orders);
                return self.turn_down(order, closed);
            }
            orders.push(order);
        }
        if self.asleep.swap(false, Ordering::SeqCst) {
            self.wakeup.wake();
        }
    }

    /// Nobody will do what is asked.
    fn turn_down(&self, order: Order, closed: RecvError) {
        if let Order::Send(Outgoing { content, receipt, .. }) = order {
            self.settle(content.kept(), receipt.as_deref(), Err(closed.into()));
        }
    }

    /// Takes what applications ask, in place of `orders`, which is empty.
    pub(crate) fn take_orders(&self, orders: &mut Vec<Order>) {
        std::mem::swap(&mut *lock(&self.orders), orders);
    }

    /// The thread is about to sleep: whether it may.
    pub(crate) fn may_sleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        let may = lock(&self.orders).is_empty();
        if !may {
            self.asleep.store(false, Ordering::SeqCst);
        }
        may
    }

    /// The thread is awake.
    pub(crate) fn awake(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }

    pub(crate) fn closed(&self) -> Option<RecvError> {
        *lock(&self.closed)
    }

    /// No more comes of this host.
    pub(crate) fn close(&self, closed: RecvError) {
        lock(&self.closed).get_or_insert(closed);
        let orders = std::mem::take(&mut *lock(&self.orders));
        orders.into_iter().for_each(|order| self.turn_down(order, closed));
        self.arrived.notify(usize::MAX);
        self.room.notify(usize::MAX);
    }

    /// Takes room for a message of `bytes`, if there is any. One that is longer than all room has it alone.
    pub(crate) fn reserve(&self, bytes: u64, (most_bytes, most): (u64, usize)) -> Result<(), SendError> {
        if let Some(closed) = self.closed() {
            return Err(closed.into());
        }
        let mut queued = lock(&self.queued);
        let fits = queued.bytes.saturating_add(bytes) <= most_bytes || queued.bytes == 0;
        if !fits || queued.messages >= most {
            return Err(SendError::Full { bytes: queued.bytes, messages: queued.messages });
        }
        queued.bytes += bytes;
        queued.messages += 1;
        Ok(())
    }

    /// Tells when there is more room, or none is needed any more.
    pub(crate) fn room(&self) -> &Event {
        &self.room
    }

    /// Whether no message is on its way.
    pub(crate) fn is_flushed(&self) -> bool {
        lock(&self.queued).messages == 0
    }

    /// A message is no more on its way.
    pub(crate) fn settle(&self, bytes: u64, receipt: Option<&Pending>, outcome: Outcome) {
        {
            let mut queued = lock(&self.queued);
            queued.bytes = queued.bytes.saturating_sub(bytes);
            queued.messages = queued.messages.saturating_sub(1);
        }
        if let Some(receipt) = receipt {
            receipt.set(outcome);
        }
        self.room.notify(usize::MAX);
    }

    pub(crate) fn arrived_bytes(&self) -> u64 {
        self.arrived_bytes.load(Ordering::Relaxed)
    }

    /// A message arrived.
    pub(crate) fn deliver(&self, message: ArrivedMessage) {
        {
            let mut inbox = lock(&self.inbox);
            inbox.bytes += message.kept();
            self.arrived_bytes.store(inbox.bytes, Ordering::Relaxed);
            inbox.messages.push_back(message);
        }
        self.arrived.notify(1.additional());
    }

    /// The message that arrived first of those that wait. It is put together here, on the thread of the application.
    pub(crate) fn take_message(&self) -> Result<Option<Message>, RecvError> {
        match self.take_arrived() {
            Some(message) => Ok(Some(message.into_message())),
            None => self.closed().map_or(Ok(None), Err),
        }
    }

    fn take_arrived(&self) -> Option<ArrivedMessage> {
        let mut inbox = lock(&self.inbox);
        let message = inbox.messages.pop_front()?;
        inbox.bytes -= message.kept();
        self.arrived_bytes.store(inbox.bytes, Ordering::Relaxed);
        Some(message)
    }

    /// Tells when a message arrives.
    pub(crate) fn arrival(&self) -> &Event {
        &self.arrived
    }

    pub(crate) fn stats(&self) -> Stats {
        *lock(&self.stats)
    }

    pub(crate) fn publish(&self, stats: &Stats) {
        *lock(&self.stats) = *stats;
    }
}

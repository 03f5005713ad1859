//! The state that a host's thread shares with its applications.

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

/// An order of an application to the thread.
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

/// The number and size of messages that were sent and are not yet delivered.
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
    /// The length of the message in bytes. Some of the bytes may be missing from the parts.
    pub(crate) len: usize,
    pub(crate) missing: u64,
    pub(crate) arrived: Instant,
}

impl ArrivedMessage {
    /// Returns the memory of the message, with a constant part so that short messages are bounded too.
    fn kept(&self) -> u64 {
        self.parts.kept() + size_of::<Self>() as u64
    }

    /// Assembles the message from its parts.
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

/// Locks a mutex, also after a panic, because no panic leaves the data inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state that both share.
#[derive(Debug)]
pub(crate) struct SharedState {
    orders: Mutex<Vec<Order>>,
    wakeup: Wakeup,
    /// Whether the thread sleeps, or is about to sleep.
    asleep: AtomicBool,
    queued: Mutex<PendingMessages>,
    room: Event,
    inbox: Mutex<Inbox>,
    /// The number of bytes in the inbox, which the thread reads.
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

    /// Fails an order, because the thread has ended.
    fn turn_down(&self, order: Order, closed: RecvError) {
        if let Order::Send(Outgoing { content, receipt, .. }) = order {
            self.settle(content.kept(), receipt.as_deref(), Err(closed.into()));
        }
    }

    /// Fetches the orders of applications into `orders`, which must be empty.
    pub(crate) fn take_orders(&self, orders: &mut Vec<Order>) {
        std::mem::swap(&mut *lock(&self.orders), orders);
    }

    /// Records that the thread is about to sleep, and returns whether it may.
    pub(crate) fn may_sleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        let may = lock(&self.orders).is_empty();
        if !may {
            self.asleep.store(false, Ordering::SeqCst);
        }
        may
    }

    /// Records that the thread is awake.
    pub(crate) fn awake(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }

    pub(crate) fn closed(&self) -> Option<RecvError> {
        *lock(&self.closed)
    }

    /// Closes the host, and fails the waiting orders.
    pub(crate) fn close(&self, closed: RecvError) {
        lock(&self.closed).get_or_insert(closed);
        let orders = std::mem::take(&mut *lock(&self.orders));
        orders.into_iter().for_each(|order| self.turn_down(order, closed));
        self.arrived.notify(usize::MAX);
        self.room.notify(usize::MAX);
    }

    /// Reserves memory for a message of `bytes`, if there is any. A message that exceeds the limit is accepted while no
    /// other message is queued.
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

    /// Returns the event that is signalled when memory was freed or the host was closed.
    pub(crate) fn room(&self) -> &Event {
        &self.room
    }

    /// Returns whether no message is on its way.
    pub(crate) fn is_flushed(&self) -> bool {
        lock(&self.queued).messages == 0
    }

    /// Records that a message has ended, and reports its outcome.
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

    /// Passes a message that arrived to applications.
    pub(crate) fn deliver(&self, message: ArrivedMessage) {
        {
            let mut inbox = lock(&self.inbox);
            inbox.bytes += message.kept();
            self.arrived_bytes.store(inbox.bytes, Ordering::Relaxed);
            inbox.messages.push_back(message);
        }
        self.arrived.notify(1.additional());
    }

    /// Returns the message that arrived first among those that wait. The message is assembled here, on the thread of
    /// the application.
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

    /// Returns the event that is signalled when a message arrives.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> SharedState {
        SharedState::new(Wakeup::new().unwrap())
    }

    fn outgoing(bytes: &'static [u8]) -> (Order, Arc<Pending>) {
        let receipt = Arc::new(Pending::default());
        let (content, request) = (Content::Whole(bytes.into()), Request::to("127.0.0.1:9".parse().unwrap()));
        let order = Outgoing { id: MessageId(1), request, content, receipt: Some(Arc::clone(&receipt)) };
        (Order::Send(order), receipt)
    }

    #[test]
    fn messages_find_room_up_to_both_limits_and_a_long_one_only_alone() {
        let state = state();
        let limits = (10, 3);
        let full = |bytes, messages| Err(SendError::Full { bytes, messages });
        assert!(state.is_flushed());
        assert_eq!(state.reserve(11, limits), Ok(()), "it is alone");
        assert_eq!(state.reserve(1, limits), full(11, 1));
        state.settle(11, None, Err(SendError::Aborted));
        for bytes in [4, 6] {
            assert_eq!(state.reserve(bytes, limits), Ok(()));
        }
        assert_eq!(state.reserve(1, limits), full(10, 2));
        state.settle(6, None, Err(SendError::Aborted));
        assert!(!state.is_flushed());
        for bytes in [1, 1] {
            assert_eq!(state.reserve(bytes, limits), Ok(()));
        }
        assert_eq!(state.reserve(1, limits), full(6, 3));
        // More than was reserved frees no more than all.
        (0..4).for_each(|_| state.settle(7, None, Err(SendError::Aborted)));
        assert!(state.is_flushed());
        assert_eq!(state.reserve(10, limits), Ok(()));
    }

    #[test]
    fn a_closed_state_takes_nothing_and_fails_what_was_asked_before() {
        let state = state();
        let (order, before) = outgoing(b"ab");
        state.reserve(2, (9, 9)).unwrap();
        state.order(order);
        state.order(Order::Stop);
        state.close(RecvError::Dropped);
        let closed = SendError::Closed(RecvError::Dropped);
        assert_eq!((before.get(), state.is_flushed()), (Some(Err(closed.clone())), true));
        let mut orders = Vec::new();
        state.take_orders(&mut orders);
        assert!(orders.is_empty());
        let (order, after) = outgoing(b"cd");
        state.order(order);
        assert_eq!(after.get(), Some(Err(closed.clone())));
        assert_eq!(state.reserve(1, (9, 9)), Err(closed));
        assert_eq!(state.take_message().unwrap_err(), RecvError::Dropped);
        // The first reason stays.
        state.close(RecvError::Panicked);
        assert_eq!(state.closed(), Some(RecvError::Dropped));
    }

    #[test]
    fn a_thread_sleeps_only_while_nothing_is_asked() {
        let state = state();
        assert!(state.may_sleep());
        state.order(Order::Stop);
        assert!(!state.asleep.load(Ordering::SeqCst), "the order wakes it");
        assert!(!state.may_sleep());
        assert!(!state.asleep.load(Ordering::SeqCst));
        let mut orders = Vec::new();
        state.take_orders(&mut orders);
        assert!(matches!(orders[..], [Order::Stop]));
        assert!(state.may_sleep());
        state.awake();
        assert!(!state.asleep.load(Ordering::SeqCst));
    }

    #[test]
    fn messages_are_taken_in_the_order_in_which_they_arrived_and_their_memory_is_counted() {
        let state = state();
        let from = "127.0.0.1:9".parse().unwrap();
        let each = size_of::<ArrivedMessage>() as u64;
        let arrived = |len: usize, missing| {
            let mut parts = Parts::default();
            parts.write(0, &vec![7; len]);
            let message = ArrivedMessage {
                from,
                parts,
                len,
                missing,
                arrived: crate::clock::deadline(std::time::Duration::ZERO).unwrap(),
            };
            let kept = message.kept();
            state.deliver(message);
            kept
        };
        let kept = [arrived(3, 0), arrived(500, 2)];
        assert!(kept[0] > each + 3 && kept[1] > each + 500);
        assert_eq!(state.arrived_bytes(), kept[0] + kept[1]);
        let first = state.take_message().unwrap().unwrap();
        assert_eq!((first.bytes, first.missing, first.from), (vec![7; 3], 0, from));
        assert_eq!(state.arrived_bytes(), kept[1]);
        let second = state.take_message().unwrap().unwrap();
        assert_eq!((second.bytes.len(), second.missing, state.arrived_bytes()), (500, 2, 0));
        assert_eq!(state.take_message(), Ok(None));
    }
}

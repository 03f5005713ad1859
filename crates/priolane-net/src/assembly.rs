//! Bytes of messages that are being received, by sender, flow and offset.
//!
//! An endpoint knows which bytes have come; here they are kept until all have. A sender has so many bytes here, and of each
//! message so many beyond what can be read; its oldest message may go beyond its share, so that one always ends. What finds no
//! room is not shown to the endpoint, and so is sent again.

use std::collections::{HashMap, VecDeque};

use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes of the longest message.
    pub(crate) message: u64,
    /// Bytes of one sender.
    pub(crate) sender: u64,
    /// Bytes of a message beyond those that can be read.
    pub(crate) ahead: u64,
}

/// What became of payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreOutcome {
    /// It is here.
    Yes,
    /// It is here, the first of its message.
    First,
    /// There is no room for it now.
    NoRoom,
    /// Its message is longer than any may be.
    TooLong,
}

/// A message of which not all has come.
#[derive(Debug)]
struct Partial {
    /// None of one that is counted.
    bytes: Vec<u8>,
    readable: u64,
    heard: Time,
    /// Where it is counted, if it is not kept.
    counted: Option<u32>,
}

#[derive(Debug, Default)]
struct Sender {
    bytes: u64,
    messages: u32,
    /// Its messages, the oldest first; some are no more.
    order: VecDeque<FlowId>,
}

/// The messages that are being received. Names are chosen by others: the tables hash with secrets of their own.
#[derive(Debug)]
pub(crate) struct Assembly {
    room: Room,
    partial: HashMap<(HostId, FlowId), Partial>,
    senders: HashMap<HostId, Sender>,
    bytes: u64,
}

/// A message that is taken out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TakenMessage {
    pub(crate) bytes: Vec<u8>,
    /// How many of its bytes can be read; `bytes` may be fewer, or more.
    pub(crate) readable: u64,
    /// Where it was counted, if it was not kept.
    pub(crate) counted: Option<u32>,
}

impl Assembly {
    pub(crate) fn new(room: Room) -> Self {
        Self { room, partial: HashMap::new(), senders: HashMap::new(), bytes: 0 }
    }

    /// Keeps `payload` at `offset` of a message. `counted` tells where a new one is counted, if it is not to be kept.
    pub(crate) fn store(
        &mut self,
        (src, flow): (HostId, FlowId),
        offset: u64,
        payload: &[u8],
        now: Time,
        counted: impl FnOnce() -> Option<u32>,
    ) -> StoreOutcome {
        let Some(end) = offset.checked_add(payload.len() as u64).filter(|&end| end <= self.room.message)
        else {
            return StoreOutcome::TooLong;
        };
        let (len, readable, counted) = match self.partial.get(&(src, flow)) {
            Some(Partial { bytes, readable, counted, .. }) => (bytes.len() as u64, *readable, *counted),
            None => (0, 0, counted()),
        };
        let is_kept = counted.is_none();
        let more = if is_kept { end.saturating_sub(len) } else { 0 };
        if is_kept && (end > readable.saturating_add(self.room.ahead) || !self.has_room(src, flow, more)) {
            return StoreOutcome::NoRoom;
        }
        let sender = self.senders.entry(src).or_default();
        sender.bytes += more;
        self.bytes += more;
        let mut stored = StoreOutcome::Yes;
        let partial = self.partial.entry((src, flow)).or_insert_with(|| {
            stored = StoreOutcome::First;
            sender.messages += 1;
            sender.order.push_back(flow);
            Partial { bytes: Vec::new(), readable: 0, heard: now, counted }
        });
        partial.heard = now;
        if !is_kept {
            return stored;
        }
        if offset == len {
            partial.bytes.extend_from_slice(payload);
        } else {
            // No longer than the room: it fits an usize.
            let (start, end) = (offset as usize, end as usize);
            if partial.bytes.len() < end {
                partial.bytes.resize(end, 0);
            }
            partial.bytes[start..end].copy_from_slice(payload);
        }
        stored
    }

    /// Whether a sender may have `more` bytes here, of its message `flow`.
    fn has_room(&mut self, src: HostId, flow: FlowId, more: u64) -> bool {
        let Some(sender) = self.senders.get_mut(&src) else { return true };
        if more == 0 || sender.bytes.saturating_add(more) <= self.room.sender {
            return true;
        }
        while let Some(oldest) = sender.order.front() {
            if self.partial.contains_key(&(src, *oldest)) {
                return *oldest == flow;
            }
            sender.order.pop_front();
        }
        true
    }

    /// All before `bytes` of a message can be read.
    pub(crate) fn readable(&mut self, src: HostId, flow: FlowId, bytes: u64) {
        if let Some(partial) = self.partial.get_mut(&(src, flow)) {
            partial.readable = bytes;
        }
    }

    /// Where a message is counted, if it is.
    pub(crate) fn counted(&self, src: HostId, flow: FlowId) -> Option<u32> {
        self.partial.get(&(src, flow))?.counted
    }

    /// Takes a message out.
    pub(crate) fn take(&mut self, src: HostId, flow: FlowId) -> Option<TakenMessage> {
        let partial = self.partial.remove(&(src, flow))?;
        self.bytes -= partial.bytes.len() as u64;
        if let Some(sender) = self.senders.get_mut(&src) {
            sender.bytes -= partial.bytes.len() as u64;
            sender.messages -= 1;
            if sender.messages == 0 {
                self.senders.remove(&src);
            } else if sender.order.front() == Some(&flow) {
                sender.order.pop_front();
            } else if sender.order.len() > 64 + 2 * sender.messages as usize {
                sender.order.retain(|flow| self.partial.contains_key(&(src, *flow)));
            }
        }
        let Partial { bytes, readable, counted, .. } = partial;
        Some(TakenMessage { bytes, readable, counted })
    }

    /// Drops all messages of a sender.
    pub(crate) fn forget(&mut self, src: HostId) {
        if let Some(sender) = self.senders.remove(&src) {
            self.bytes -= sender.bytes;
            sender.order.iter().for_each(|&flow| drop(self.partial.remove(&(src, flow))));
        }
    }

    /// Messages of a sender that are being received.
    pub(crate) fn messages_of(&self, src: HostId) -> u32 {
        self.senders.get(&src).map_or(0, |sender| sender.messages)
    }

    /// Whether nothing is being received.
    pub(crate) fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// The messages that `is_wanted` says nothing of, or of which nothing came for `idle`.
    pub(crate) fn stale(
        &self,
        (idle, now): (Span, Time),
        is_wanted: impl Fn(HostId, FlowId) -> bool,
    ) -> Vec<(HostId, FlowId)> {
        let is_stale =
            |(src, flow), partial: &Partial| now.since(partial.heard) >= idle || !is_wanted(src, flow);
        let stale = self.partial.iter().filter(|&(&key, partial)| is_stale(key, partial));
        stale.map(|(&key, _)| key).collect()
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { message: 1_000, sender: 300, ahead: 200 };
    const A: (HostId, FlowId) = (HostId(1), FlowId(1));
    const B: (HostId, FlowId) = (HostId(1), FlowId(2));
    const NOW: Time = Time(5);

    fn kept() -> Option<u32> {
        None
    }

    #[test]
    fn bytes_are_put_together_in_whatever_order_they_come() {
        let mut assembly = Assembly::new(ROOM);
        let came = [(100, 50, 3), (0, 50, 1), (50, 50, 2), (0, 50, 1)];
        let stored = came.map(|(at, len, byte)| assembly.store(A, at, &vec![byte; len], NOW, kept));
        assert_eq!(stored, [StoreOutcome::First, StoreOutcome::Yes, StoreOutcome::Yes, StoreOutcome::Yes]);
        assert_eq!((assembly.bytes(), assembly.messages_of(A.0)), (150, 1));
        let expected: Vec<u8> = [1u8, 2, 3].into_iter().flat_map(|byte| [byte; 50]).collect();
        assembly.readable(A.0, A.1, 150);
        assert_eq!(
            assembly.take(A.0, A.1),
            Some(TakenMessage { bytes: expected, readable: 150, counted: None })
        );
        assert_eq!((assembly.take(A.0, A.1), assembly.bytes(), assembly.is_empty()), (None, 0, true));
    }

    #[test]
    fn no_message_is_longer_than_it_may_be_and_none_far_beyond_what_can_be_read() {
        let mut assembly = Assembly::new(Room { sender: 5_000, ..ROOM });
        assert_eq!(assembly.store(A, 999, &[0; 2], NOW, kept), StoreOutcome::TooLong);
        assert_eq!(assembly.store(A, u64::MAX, &[0; 2], NOW, kept), StoreOutcome::TooLong);
        assert_eq!(assembly.store(A, 150, &[0; 51], NOW, kept), StoreOutcome::NoRoom);
        assert!(assembly.is_empty());
        assert_eq!(assembly.store(A, 150, &[0; 50], NOW, kept), StoreOutcome::First);
        assembly.readable(A.0, A.1, 1);
        assert_eq!(assembly.store(A, 150, &[0; 51], NOW, kept), StoreOutcome::Yes);
    }

    #[test]
    fn only_the_oldest_message_of_a_sender_goes_beyond_its_share() {
        let mut assembly = Assembly::new(ROOM);
        assert_eq!(assembly.store(A, 0, &[0; 150], NOW, kept), StoreOutcome::First);
        assert_eq!(assembly.store(B, 0, &[0; 150], NOW, kept), StoreOutcome::First);
        assert_eq!(assembly.store(B, 150, &[0; 1], NOW, kept), StoreOutcome::NoRoom);
        assert_eq!(
            assembly.store(B, 0, &[0; 150], NOW, kept),
            StoreOutcome::Yes,
            "what is here needs no room"
        );
        assert_eq!(assembly.store(A, 150, &[0; 50], NOW, kept), StoreOutcome::Yes);
        // Another sender has a share of its own.
        assert_eq!(assembly.store((HostId(2), A.1), 0, &[0; 150], NOW, kept), StoreOutcome::First);
        assembly.take(A.0, A.1);
        assert_eq!(
            assembly.store(B, 150, &[0; 50], NOW, kept),
            StoreOutcome::Yes,
            "B is the oldest now, within its share"
        );
        assembly.readable(B.0, B.1, 200);
        assert_eq!(assembly.store(B, 200, &[0; 200], NOW, kept), StoreOutcome::Yes, "and beyond");
        assembly.forget(B.0);
        assert_eq!((assembly.messages_of(B.0), assembly.bytes()), (0, 150));
    }

    #[test]
    fn messages_that_nobody_waits_for_are_found() {
        let mut assembly = Assembly::new(ROOM);
        assembly.store(A, 0, &[0; 1], Time(100), kept);
        assembly.store(B, 0, &[0; 1], Time(200), kept);
        let stale = |now, wanted: bool| {
            let mut stale = assembly.stale((Span(100), Time(now)), |_, _| wanted);
            stale.sort_unstable();
            stale
        };
        assert_eq!((stale(199, true), stale(200, true), stale(0, false)), (vec![], vec![A], vec![A, B]));
    }

    #[test]
    fn of_a_message_that_is_counted_nothing_is_kept_and_no_room_is_taken() {
        let mut assembly = Assembly::new(Room { message: 10_000, ..ROOM });
        assert_eq!(assembly.store(A, 0, &[1; 150], NOW, || Some(7)), StoreOutcome::First);
        // Beyond the room of a message and of its sender; where it is counted is asked once.
        assert_eq!(assembly.store(A, 9_000, &[1; 900], NOW, || None), StoreOutcome::Yes);
        assert_eq!((assembly.bytes(), assembly.messages_of(A.0)), (0, 1));
        assert_eq!(assembly.store(B, 0, &[1; 150], NOW, kept), StoreOutcome::First);
        assert_eq!((assembly.counted(A.0, A.1), assembly.counted(B.0, B.1)), (Some(7), None));
        assembly.readable(A.0, A.1, 10_000);
        let expected = TakenMessage { bytes: Vec::new(), readable: 10_000, counted: Some(7) };
        assert_eq!(assembly.take(A.0, A.1), Some(expected));
        assert_eq!((assembly.bytes(), assembly.messages_of(A.0)), (150, 1));
    }
}

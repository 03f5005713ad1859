//! Datagrams that are held back on arrival, as if the line from their sender were longer.
//!
//! Datagrams of one sender keep their order: each is due after the one before.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::Duration;

use priolane_core::units::{Span, Time};

use crate::clock::span_of;

/// A datagram that is held back.
#[derive(Debug)]
pub(super) struct Datagram {
    pub(super) bytes: Vec<u8>,
    pub(super) from: SocketAddr,
    pub(super) tos: u8,
    /// The time at which the datagram is released.
    pub(super) due: Time,
}

/// The memory that counts for a datagram in addition to its bytes.
const DATAGRAM: u64 = 128;

/// The outcome of holding a datagram back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hold {
    /// The sender has no delay.
    No,
    Yes,
    /// There is no room for the datagram, which is lost.
    NoRoom,
}

/// The datagrams that are held back, in order of the times at which they are due, then of arrival.
#[derive(Debug)]
pub(super) struct Held {
    delays: HashMap<SocketAddr, Span>,
    waiting: BTreeMap<(Time, u64), Datagram>,
    /// The number of datagrams that were held back so far.
    count: u64,
    /// The memory of waiting datagrams, and its limit (`most`), in bytes.
    kept: u64,
    most: u64,
}

impl Held {
    pub(super) fn new(delays: &HashMap<SocketAddr, Duration>, most: u64) -> Self {
        let delays = delays.iter().filter(|(_, delay)| !delay.is_zero());
        let delays = delays.map(|(&from, &delay)| (from, span_of(delay))).collect();
        Self { delays, waiting: BTreeMap::new(), count: 0, kept: 0, most }
    }

    /// Holds back a datagram that arrived at `at`, if its sender has a delay.
    pub(super) fn hold(&mut self, bytes: &[u8], from: SocketAddr, (tos, at): (u8, Time)) -> Hold {
        let Some(&delay) = self.delays.get(&from) else { return Hold::No };
        let more = DATAGRAM + bytes.len() as u64;
        if self.kept + more > self.most {
            return Hold::NoRoom;
        }
        let due = at + delay;
        self.count += 1;
        self.kept += more;
        self.waiting.insert((due, self.count), Datagram { bytes: bytes.to_vec(), from, tos, due });
        Hold::Yes
    }

    /// Returns the time at which the next datagram is due.
    pub(super) fn next(&self) -> Time {
        self.waiting.first_key_value().map_or(Time::NEVER, |(&(due, _), _)| due)
    }

    /// Removes the next datagram that is due at `now` and returns it.
    pub(super) fn pop(&mut self, now: Time) -> Option<Datagram> {
        if self.next() > now {
            return None;
        }
        let (_, datagram) = self.waiting.pop_first()?;
        self.kept -= DATAGRAM + datagram.bytes.len() as u64;
        Some(datagram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_arrive_so_much_later_and_in_the_order_in_which_they_came() {
        let [near, far, other] = [1, 2, 3].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let delays = [(near, Duration::from_micros(10)), (far, Duration::from_micros(30))];
        let mut held = Held::new(&delays.into(), 1_000);
        let at = |us| Time(Span::from_us(us).0);
        assert_eq!(held.hold(b"a", far, (0, at(0))), Hold::Yes);
        assert_eq!(held.hold(b"b", near, (0, at(5))), Hold::Yes);
        assert_eq!(held.hold(b"c", near, (0, at(5))), Hold::Yes);
        assert_eq!(held.hold(b"d", other, (0, at(5))), Hold::No, "no delay from there");
        assert_eq!(held.next(), at(15));
        assert!(held.pop(at(14)).is_none());
        let mut popped = |us| held.pop(at(us)).map(|datagram| datagram.bytes);
        assert_eq!(popped(15), Some(b"b".to_vec()));
        assert_eq!(popped(15), Some(b"c".to_vec()));
        assert_eq!((popped(29), popped(30)), (None, Some(b"a".to_vec())));
        assert_eq!(held.next(), Time::NEVER);
    }

    #[test]
    fn datagrams_that_are_held_back_take_no_more_memory_than_they_may() {
        let near = SocketAddr::from(([127, 0, 0, 1], 1));
        let mut held = Held::new(&[(near, Duration::from_micros(10))].into(), 3 * (DATAGRAM + 100));
        let hold = |held: &mut Held| held.hold(&[0; 100], near, (0, Time::ZERO));
        let held_back = [(); 4].map(|()| hold(&mut held));
        assert_eq!(held_back, [Hold::Yes, Hold::Yes, Hold::Yes, Hold::NoRoom]);
        assert!(held.pop(Time::NEVER).is_some());
        assert_eq!([(); 2].map(|()| hold(&mut held)), [Hold::Yes, Hold::NoRoom], "room for as many as went");
    }
}
